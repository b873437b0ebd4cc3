/* tuner/histories/fleet_data: reading runs, their rates and what their systems are. */
#include "tuner/histories/fleet_data.h"

#include "tuner/base/grow.h"
#include "tuner/base/json.h"
#include "tuner/store/history_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fleet_feature_names[FLEET_N_FEATURES] = {
    [FLEET_FILE_SYSTEM] = "file_system", [FLEET_DEVICE] = "device",
    [FLEET_ROTATIONAL] = "rotational",   [FLEET_VIRTUALISATION] = "virtualisation",
    [FLEET_SCHEDULER] = "scheduler",     [FLEET_CAPPED] = "capped",
    [FLEET_KERNEL] = "kernel",           [FLEET_OPTIONS] = "mount_options",
};

static int number_of(struct fleet_names *names, const char *text, uint32_t *ret_number)
{
    *ret_number = 0;
    if (text[0] == '\0')
        return 0;
    for (size_t i = 0; i < names->n; i++) {
        if (strncmp(names->text[i], text, sizeof names->text[i] - 1) == 0) {
            *ret_number = (uint32_t)i + 1;
            return 0;
        }
    }
    char *added = grow_array(&names->text, names->n, &names->capacity, sizeof names->text[0]);
    if (added == NULL)
        return -ENOMEM;
    snprintf(added, sizeof names->text[0], "%.95s", text);
    *ret_number = (uint32_t)++names->n;
    return 0;
}

/* "nvme0n1" is an nvme: the letters before the first digit; of sda and vda without the last one, which
 * counts. */
static void device_class(const char *device, char *text, size_t size)
{
    size_t length = strcspn(device, "0123456789-");
    bool counts = length == 3 && (strncmp(device, "sd", 2) == 0 || strncmp(device, "vd", 2) == 0);
    snprintf(text, size, "%.*s", (int)(counts ? 2 : length), device);
}

static bool is_limit(const json_t *system, const char *key)
{
    const char *text = json_read_text(system, key, "");
    return text[0] != '\0' && strcmp(text, "none") != 0;
}

static void read_rotational(const json_t *system, char *text, size_t size)
{
    const json_t *value = json_object_get(system, "rotational");
    bool yes = json_is_true(value) || json_integer_value(value) != 0;
    snprintf(text, size, "%s", value == NULL ? "" : yes ? "yes" : "no");
}

int fleet_features(struct fleet_data *data, const json_t *system, const json_t *identity,
                   uint32_t ret_values[FLEET_N_FEATURES])
{
    char texts[FLEET_N_FEATURES][96] = {{0}};
    static const struct {
        enum fleet_feature feature;
        const char *key;
    } plain[] = {{FLEET_FILE_SYSTEM, "file_system"},
                 {FLEET_VIRTUALISATION, "virtualisation"},
                 {FLEET_SCHEDULER, "scheduler"},
                 {FLEET_KERNEL, "kernel"},
                 {FLEET_OPTIONS, "mount_options"}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        snprintf(texts[plain[i].feature], sizeof texts[0], "%s", json_read_text(system, plain[i].key, ""));
    if (texts[FLEET_FILE_SYSTEM][0] == '\0')
        snprintf(texts[FLEET_FILE_SYSTEM], sizeof texts[0], "%s", json_read_text(identity, "surface", ""));
    device_class(json_read_text(system, "device", ""), texts[FLEET_DEVICE], sizeof texts[0]);
    read_rotational(system, texts[FLEET_ROTATIONAL], sizeof texts[0]);
    snprintf(texts[FLEET_CAPPED], sizeof texts[0], "%s",
             is_limit(system, "cgroup_v2_io_max") || is_limit(system, "cgroup_v1_blkio_throttle") ? "yes"
                                                                                                  : "no");
    int result = 0;
    for (size_t i = 0; i < FLEET_N_FEATURES && result == 0; i++)
        result = number_of(&data->names[i], texts[i], &ret_values[i]);
    return result;
}

const char *fleet_value_name(const struct fleet_data *data, size_t feature, uint32_t value)
{
    return value > 0 && value <= data->names[feature].n ? data->names[feature].text[value - 1] : "";
}

static int read_run(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct fleet_data *data = context;
    struct fleet_run *run = row;
    const char *system = sql_string(rows, 5), *identity = sql_string(rows, 6);
    *run = (struct fleet_run){
        .id = sql_int64(rows, 0), .host_id = sql_int64(rows, 1), .started_s = sql_double(rows, 4)};
    sql_text(rows, 2, run->fingerprint, sizeof run->fingerprint);
    sql_text(rows, 3, run->pattern, sizeof run->pattern);
    json_t *objects[2] = {system != NULL ? json_loads(system, 0, NULL) : NULL,
                          identity != NULL ? json_loads(identity, 0, NULL) : NULL};
    int result = fleet_features(data, objects[0], objects[1], run->values);
    json_decref(objects[0]);
    json_decref(objects[1]);
    return result < 0 ? err_set(err, result, "no memory") : 0;
}

static int read_rate(void *context, struct sql_rows *rows, void *row, struct err *err)
{
    struct fleet_rate *rate = row;
    (void)context;
    *rate = (struct fleet_rate){.run_id = sql_int64(rows, 0), .bps = sql_double(rows, 1)};
    bool is_sound = history_row_point(rows, 2, &rate->point) && rate->bps > 0;
    return is_sound ? 0 : err_set(err, -EBADMSG, "a replay of run %lld is damaged", (long long)rate->run_id);
}

static int by_run_id(const void *a, const void *b)
{
    const struct fleet_rate *x = a, *y = b;
    return x->run_id < y->run_id ? -1 : x->run_id > y->run_id;
}

/* Where the rates of a run begin. */
static void find_rates(const struct fleet_data *data, struct fleet_run *run)
{
    const struct fleet_rate key = {.run_id = run->id};
    const struct fleet_rate *found = NULL;
    if (data->n_rates > 0)
        found = bsearch(&key, data->rates, data->n_rates, sizeof key, by_run_id);
    if (found == NULL)
        return;
    run->first = (size_t)(found - data->rates);
    while (run->first > 0 && data->rates[run->first - 1].run_id == run->id)
        run->first--;
    while (run->first + run->n < data->n_rates && data->rates[run->first + run->n].run_id == run->id)
        run->n++;
}

static int load_runs(struct fleet_data *data, struct history *history, enum fleet_which which,
                     const char *pattern, double since_s, struct err *err)
{
#define COLUMNS                                                                                              \
    "SELECT u.id, u.host_id, t.fingerprint, u.pattern, u.started_s, u.system, t.identity FROM runs u "
#define TARGETS "JOIN targets t ON t.id = u.target_id "
#define ASKED   "status IN ('done', 'inconclusive') AND (pattern = ? OR ? = '') AND started_s >= ? "
#define ORDER   "ORDER BY u.pattern, u.host_id, t.fingerprint, u.started_s, u.id"
    /* A run of `measure` has one setting. */
    static const char newest[] = COLUMNS
        "JOIN (SELECT id, row_number() OVER (PARTITION BY host_id, target_id, pattern ORDER BY started_s "
        "DESC, id DESC) AS place FROM runs WHERE command <> 'measure' AND " ASKED
        ") n ON n.id = u.id AND n.place <= ? " TARGETS ORDER;
    static const char all[] = COLUMNS TARGETS "WHERE " ASKED ORDER;
    struct sql_rows *rows;
    void *list = NULL;
    int result = which == FLEET_NEWEST
                     ? sql_query(&history->db, &rows, err, newest, "ttdi", pattern, pattern, since_s,
                                 (int64_t)FLEET_NEWEST_RUNS)
                     : sql_query(&history->db, &rows, err, all, "ttd", pattern, pattern, since_s);
    result = sql_list(rows, result, sizeof *data->runs, read_run, data, &list, &data->n_runs, err);
    data->runs = list;
    return result;
}

static bool is_changed(const struct fleet_run *before, const struct fleet_run *after)
{
    return fleet_same_host(before, after) && memcmp(before->values, after->values, sizeof after->values) != 0;
}

/* Whether the rates of a run can be of interest: see enum fleet_which. */
static bool is_needed(const struct fleet_data *data, enum fleet_which which, size_t i)
{
    const struct fleet_run *run = &data->runs[i];
    return which == FLEET_NEWEST || (i > 0 && is_changed(run - 1, run)) ||
           (i + 1 < data->n_runs && is_changed(run, run + 1));
}

/* The ids of needed runs between brackets; NULL when memory ran out. */
static char *list_needed(const struct fleet_data *data, enum fleet_which which, char open, char close)
{
    char *text = NULL;
    size_t size, n = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fputc(open, out);
    for (size_t i = 0; i < data->n_runs; i++) {
        if (is_needed(data, which, i))
            fprintf(out, "%s%lld", n++ > 0 ? "," : "", (long long)data->runs[i].id);
    }
    fputc(close, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int load_rates(struct fleet_data *data, struct history *history, enum fleet_which which,
                      struct err *err)
{
#define RATES                                                                                                \
    "SELECT r.run_id, sum(r.n_replays * r.throughput_bps) / nullif(sum(r.n_replays), "                       \
    "0), " HISTORY_ROW_POINT("p") " FROM "
    /* A join: PostgreSQL may look at every row for `= ANY` of so many, and compare it with all of them. */
#define GROUPED                                                                                              \
    " n JOIN replays r ON r.run_id = n.id JOIN points p ON p.id = r.point_id WHERE r.aside = 0 AND "         \
    "r.cut = 0 AND r.conditions = '' GROUP BY r.run_id, p.id ORDER BY r.run_id"
    bool is_server = sql_is_server(&history->db);
    char *ids = is_server ? list_needed(data, which, '{', '}') : list_needed(data, which, '[', ']');
    struct sql_rows *rows;
    void *list = NULL;
    if (ids == NULL)
        return err_set(err, -ENOMEM, "no memory for the rates");
    int result = sql_query(&history->db, &rows, err,
                           is_server ? RATES "(SELECT unnest(?::bigint[]) AS id)" GROUPED
                                     : RATES "(SELECT value AS id FROM json_each(?))" GROUPED,
                           "t", ids);
    result = sql_list(rows, result, sizeof *data->rates, read_rate, NULL, &list, &data->n_rates, err);
    data->rates = list;
    free(ids);
    return result;
}

int fleet_data_load(struct fleet_data *data, struct history *history, enum fleet_which which,
                    const char *pattern, double since_s, struct err *err)
{
    *data = (struct fleet_data){0};
    int result = load_runs(data, history, which, pattern, since_s, err);
    if (result == 0)
        result = load_rates(data, history, which, err);
    for (size_t i = 0; i < data->n_runs && result == 0; i++)
        find_rates(data, &data->runs[i]);
    return result;
}

void fleet_data_done(struct fleet_data *data)
{
    free(data->runs);
    free(data->rates);
    for (size_t i = 0; i < FLEET_N_FEATURES; i++)
        free(data->names[i].text);
    *data = (struct fleet_data){0};
}

bool fleet_same_host(const struct fleet_run *a, const struct fleet_run *b)
{
    return a->host_id == b->host_id && strcmp(a->fingerprint, b->fingerprint) == 0 &&
           strcmp(a->pattern, b->pattern) == 0;
}
