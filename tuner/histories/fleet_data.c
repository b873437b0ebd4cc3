/* tuner/histories/fleet_data: reading runs, their rates and what their systems are. */
#include "tuner/histories/fleet_data.h"

#include "tuner/base/json.h"
#include "tuner/store/history_row.h"

#include <errno.h>
#include <math.h>
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
    if (names->n == names->capacity) {
        size_t capacity = names->capacity == 0 ? 16 : 2 * names->capacity;
        void *grown = realloc(names->text, capacity * sizeof *names->text);
        if (grown == NULL)
            return -ENOMEM;
        names->text = grown;
        names->capacity = capacity;
    }
    snprintf(names->text[names->n], sizeof names->text[0], "%.95s", text);
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

/* What both queries read: runs that have an end, of a pattern. */
#define FROM_RUNS                                                                                            \
    "FROM runs u JOIN targets t ON t.id = u.target_id WHERE u.status IN ('done', 'inconclusive') AND "       \
    "(u.pattern = ? OR ? = '') AND u.started_s >= ? "

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
    const struct fleet_rate *found = bsearch(&key, data->rates, data->n_rates, sizeof key, by_run_id);
    if (found == NULL)
        return;
    run->first = (size_t)(found - data->rates);
    while (run->first > 0 && data->rates[run->first - 1].run_id == run->id)
        run->first--;
    while (run->first + run->n < data->n_rates && data->rates[run->first + run->n].run_id == run->id)
        run->n++;
}

int fleet_data_load(struct fleet_data *data, struct history *history, const char *pattern, double since_s,
                    struct err *err)
{
    static const char runs[] =
        "SELECT u.id, u.host_id, t.fingerprint, u.pattern, u.started_s, u.system, t.identity " FROM_RUNS
        "ORDER BY u.pattern, u.host_id, t.fingerprint, u.started_s, u.id";
    static const char rates[] = "SELECT r.run_id, avg(r.throughput_bps), " HISTORY_ROW_POINT(
        "p") " FROM replays r JOIN points p ON p.id = r.point_id WHERE r.aside = 0 AND r.cut = 0 AND "
             "r.conditions = '' AND "
             "r.run_id IN (SELECT u.id " FROM_RUNS ") GROUP BY r.run_id, p.id ORDER BY r.run_id";
    struct sql_rows *rows;
    void *list = NULL;
    *data = (struct fleet_data){0};
    int result = sql_query(&history->db, &rows, err, runs, "ttd", pattern, pattern, since_s);
    result = sql_list(rows, result, sizeof *data->runs, read_run, data, &list, &data->n_runs, err);
    data->runs = list;
    list = NULL;
    if (result == 0) {
        result = sql_query(&history->db, &rows, err, rates, "ttd", pattern, pattern, since_s);
        result = sql_list(rows, result, sizeof *data->rates, read_rate, NULL, &list, &data->n_rates, err);
        data->rates = list;
    }
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
