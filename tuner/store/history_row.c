/* tuner/store/history_row: points and replays as rows; what a row says is checked like any input. */
#include "tuner/store/history_row.h"

#include "tuner/session/warnings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGEST 1e18
/* That a row of a summary may stand for, far more than a run can have. */
#define REPLAYS_MOST 1000000
/* 33 numbers of at most 19 digits; every code of a warning once. */
#define QUANTILES_SIZE ((size_t)LATENCY_QUANTILES_N * 21)
#define WARNINGS_SIZE  ((size_t)WARNING_N * 64)

#define CONDITIONS_AT 25
#define POINT_AT      28

size_t history_row_name(const char *text, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(text, names[i]) != 0)
        i++;
    return i;
}

#define POINT_VALUES(point)                                                                                  \
    (int64_t)(point)->request_size_bytes, (int64_t)(point)->write_size_bytes, (int64_t)(point)->queue_depth, \
        (int64_t)(point)->direct, api_names[(point)->api], (int64_t)(point)->threads,                        \
        sync_names[(point)->sync]

int history_row_point_id(struct sql *db, const struct point *point, int64_t *ret_id, struct err *err)
{
    return sql_find_or_add(
        db, ret_id, err,
        "SELECT id FROM points WHERE request_size = ? AND write_request_size = ? AND queue_depth = ? AND "
        "direct = ? AND api = ? AND threads = ? AND sync = ?",
        HISTORY_ROW_POINT_COLUMNS,
        "INSERT INTO points(request_size, write_request_size, queue_depth, direct, api, threads, sync) "
        "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        "iiiitit", POINT_VALUES(point));
}

bool history_row_point(struct sql_rows *rows, int first, struct point *ret_point)
{
    /* As POINT_VALUES has them. */
    static const enum factor columns[HISTORY_ROW_POINT_COLUMNS] = {
        FACTOR_REQUEST_SIZE, FACTOR_WRITE_SIZE, FACTOR_QUEUE_DEPTH, FACTOR_DIRECT,
        FACTOR_API,          FACTOR_THREADS,    FACTOR_SYNC};
    uint64_t levels[FACTOR_N];
    for (int i = 0; i < HISTORY_ROW_POINT_COLUMNS; i++) {
        char name[16];
        sql_text(rows, first + i, name, sizeof name);
        levels[columns[i]] = columns[i] == FACTOR_API    ? history_row_name(name, api_names, API_N)
                             : columns[i] == FACTOR_SYNC ? history_row_name(name, sync_names, SYNC_N)
                                                         : (uint64_t)sql_int64(rows, first + i);
    }
    return factors_read(levels, ret_point) == 0;
}

static void write_warnings(uint64_t warning_set, char text[WARNINGS_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < WARNING_N && length < WARNINGS_SIZE; i++) {
        if ((warning_set & WARNINGS_BIT(i)) != 0)
            length += (size_t)snprintf(text + length, WARNINGS_SIZE - length, "%s%s", length > 0 ? "," : "",
                                       warnings_table[i].code);
    }
}

/* A code that this fstune does not know is a newer one's: it is left out. */
static uint64_t read_warnings(const char *text)
{
    uint64_t warning_set = 0;
    while (*text != '\0') {
        char code[64];
        size_t length = strcspn(text, ",");
        snprintf(code, sizeof code, "%.*s", (int)(length < sizeof code ? length : 0), text);
        enum warning warning = warnings_find(code);
        if (warning != WARNING_N)
            warning_set |= WARNINGS_BIT(warning);
        text += length + (text[length] == ',');
    }
    return warning_set;
}

static void write_quantiles(const struct latency_quantiles *quantiles, char text[QUANTILES_SIZE])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < LATENCY_QUANTILES_N && quantiles->n > 0; i++)
        length += (size_t)snprintf(text + length, QUANTILES_SIZE - length, "%s%" PRIu64, i > 0 ? "," : "",
                                   quantiles->ns[i]);
}

/* One number of a list; -1 where there is none. */
static int64_t take_number(const char **text)
{
    int64_t number = 0;
    size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 18)
        return -1;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + ((*text)[i] - '0');
    *text += digits + ((*text)[digits] == ',');
    return number;
}

static bool read_latency_quantiles(int64_t n, const char *text, struct latency_quantiles *quantiles)
{
    int64_t last = 0;
    *quantiles = (struct latency_quantiles){0};
    if (n <= 0)
        return n == 0;
    for (size_t i = 0; i < LATENCY_QUANTILES_N; i++) {
        int64_t ns = take_number(&text);
        if (ns < last)
            return false;
        quantiles->ns[i] = (uint64_t)ns;
        last = ns;
    }
    quantiles->n = (uint64_t)n;
    return *text == '\0';
}

int history_row_add_replay(struct sql *db, int64_t run_id, const struct history_replay *replay,
                           struct err *err)
{
    const struct sample *sample = &replay->sample;
    const struct history_windows *windows = &replay->windows;
    char warning_set[WARNINGS_SIZE], quantiles[QUANTILES_SIZE];
    int64_t point_id;
    int result = history_row_point_id(db, &replay->point, &point_id, err);
    if (result < 0)
        return result;
    write_warnings(sample->warning_set, warning_set);
    write_quantiles(&sample->latency_quantiles, quantiles);
    return sql_do(db, err,
                  "INSERT INTO replays(run_id, point_id, " HISTORY_ROW_REPLAY ") "
                  "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                  "iiiddddddddiitiiiititidddddtid", run_id, point_id, (int64_t)replay->number,
                  replay->at_seconds, sample->throughput_bps, sample->iops, sample->latency_mean_ns,
                  sample->latency_p99_ns, sample->achieved_depth, sample->seconds, sample->warmup_seconds,
                  (int64_t)sample->bytes, (int64_t)sample->moved_bytes, measure_warmup_names[sample->warmup],
                  (int64_t)sample->sampled, (int64_t)sample->confirming, (int64_t)sample->cut,
                  (int64_t)replay->aside, warning_set, (int64_t)sample->latency_quantiles.n, quantiles,
                  (int64_t)windows->n, windows->seconds, windows->mean_bps, windows->std_bps,
                  windows->least_bps, windows->most_bps, replay->conditions,
                  (int64_t)(replay->n_replays > 0 ? replay->n_replays : 1),
                  replay->n_replays > 0 ? replay->std_bps : NAN);
}

static bool is_figure(double value)
{
    return value > 0 && value <= LARGEST;
}

/* A standard deviation is not known of a replay that was not summarised. */
static bool read_summary(struct sql_rows *rows, struct history_replay *replay)
{
    int64_t n = sql_int64(rows, CONDITIONS_AT + 1);
    replay->n_replays = n > 0 ? (size_t)n : 0;
    replay->std_bps = sql_double(rows, CONDITIONS_AT + 2);
    return n > 0 && n <= REPLAYS_MOST &&
           (isnan(replay->std_bps) ? n == 1 : replay->std_bps >= 0 && replay->std_bps <= LARGEST);
}

/* Unknown is NaN; what is out of range counts as unknown where that is allowed. */
static double optional(struct sql_rows *rows, int column)
{
    double value = sql_double(rows, column);
    return is_figure(value) ? value : NAN;
}

static void read_windows(struct sql_rows *rows, struct history_windows *windows)
{
    int64_t n = sql_int64(rows, 19);
    *windows = (struct history_windows){
        .n = n > 0 && n <= PUMP_N_WINDOWS ? (size_t)n : 0,
        .seconds = optional(rows, 20),
        .mean_bps = optional(rows, 21),
        .std_bps = sql_double(rows, 22),
        .least_bps = sql_double(rows, 23),
        .most_bps = optional(rows, 24),
    };
}

static void read_sample(struct sql_rows *rows, struct sample *sample)
{
    char warning_set[WARNINGS_SIZE];
    sql_text(rows, 16, warning_set, sizeof warning_set);
    *sample = (struct sample){
        .throughput_bps = sql_double(rows, 2),
        .iops = sql_double(rows, 3),
        .latency_mean_ns = optional(rows, 4),
        .latency_p99_ns = optional(rows, 5),
        .achieved_depth = optional(rows, 6),
        .seconds = sql_double(rows, 7),
        .warmup_seconds = sql_double(rows, 8),
        .bytes = (uint64_t)sql_int64(rows, 9),
        .moved_bytes = (uint64_t)sql_int64(rows, 10),
        .sampled = sql_int64(rows, 12) != 0,
        .confirming = sql_int64(rows, 13) != 0,
        .cut = sql_int64(rows, 14) != 0,
        .warning_set = read_warnings(warning_set),
    };
}

int history_row_read_replay(struct sql_rows *rows, struct history_replay *ret_replay, struct err *err)
{
    char warmup[16], quantiles[QUANTILES_SIZE];
    struct history_replay replay = {.number = (uint64_t)sql_int64(rows, 0),
                                    .at_seconds = sql_double(rows, 1),
                                    .aside = sql_int64(rows, 15) != 0};
    struct sample *sample = &replay.sample;
    read_sample(rows, sample);
    read_windows(rows, &replay.windows);
    sql_text(rows, CONDITIONS_AT, replay.conditions, sizeof replay.conditions);
    sql_text(rows, 11, warmup, sizeof warmup);
    sql_text(rows, 18, quantiles, sizeof quantiles);
    size_t name = history_row_name(warmup, measure_warmup_names, MEASURE_WARMUP_N);
    if (!history_row_point(rows, POINT_AT, &replay.point) || !read_summary(rows, &replay) ||
        name == MEASURE_WARMUP_N || !is_figure(sample->throughput_bps) || !is_figure(sample->iops) ||
        !is_figure(sample->seconds) || !(sample->warmup_seconds >= 0 && sample->warmup_seconds <= LARGEST) ||
        !(replay.at_seconds >= 0) || sql_int64(rows, 9) < 0 || sql_int64(rows, 10) < 0 ||
        !read_latency_quantiles(sql_int64(rows, 17), quantiles, &sample->latency_quantiles))
        return err_set(err, -EBADMSG, "replay %" PRIu64 " is damaged", replay.number);
    sample->warmup = (enum measure_warmup)name;
    *ret_replay = replay;
    return 0;
}
