/* tests/tuner/store/history_rig: histories made to order, with a clock that the test sets. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/session/warnings.h"
#include "tuner/store/history.h"
#include "tuner/store/journal.h"

#include <sqlite3.h>

#define SECONDS_OF_A_DAY 86400.0

static struct history history;
static struct err err;
static double now_s;

static inline double told_now_s(void *context)
{
    (void)context;
    return now_s;
}

static inline int open_at(struct history *opened, const char *path, bool write)
{
    const struct history_place place = {.path = path, .write = write, .now_s = told_now_s};
    memset(&err, 0, sizeof err);
    return history_open(opened, &place, &err);
}

static inline void begin_history(const char *path)
{
    history_close(&history);
    unlink(path);
    now_s = 1.8e9;
    if (open_at(&history, path, true) != 0)
        fail_msg("%s", err.text);
}

/* Every test begins with an empty history in h.db. */
static inline int fresh_history(void **state)
{
    (void)state;
    begin_history("h.db");
    return 0;
}

static inline int drop_history(void **state)
{
    (void)state;
    history_close(&history);
    return 0;
}

/* The one that is there, closed before. */
static inline void reopen_history(const char *path, bool write)
{
    history_close(&history);
    if (open_at(&history, path, write) != 0)
        fail_msg("%s", err.text);
}

static const struct point fast = {65536, 8, 1, API_IO_URING, 1, SYNC_END, 8192, 0};
static const struct point slow = {4096, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};

static inline struct history_replay replay_of(uint64_t number, const struct point *point, double bps)
{
    struct history_replay replay = {
        .number = number,
        .at_seconds = 0.25 * (double)number,
        .point = *point,
        .sample = {.throughput_bps = bps,
                   .iops = bps / (double)point->request_size_bytes,
                   .latency_mean_ns = 1.5e6,
                   .latency_p99_ns = NAN,
                   .achieved_depth = 7.75,
                   .seconds = 0.1,
                   .warmup_seconds = 0.02,
                   .bytes = 1 << 20,
                   .moved_bytes = 1 << 21,
                   .warmup = MEASURE_WARMUP_LIMIT,
                   .sampled = true,
                   .confirming = number % 2 == 1,
                   .warning_set = WARNINGS_BIT(WARNING_WARMUP_NOT_STABLE)},
        .windows = {.n = 100,
                    .seconds = 0.001,
                    .mean_bps = bps,
                    .std_bps = bps / 10,
                    .least_bps = 0,
                    .most_bps = 2 * bps},
    };
    replay.sample.latency_quantiles.n = 100;
    for (uint64_t i = 0; i < LATENCY_QUANTILES_N; i++)
        replay.sample.latency_quantiles.ns[i] = 1000000 + 1000 * i;
    return replay;
}

/* What is written of a sample is read. */
static inline void check_same(const struct history_replay *got, const struct history_replay *made)
{
    const struct sample *a = &got->sample, *b = &made->sample;
    assert_int_equal(got->number, made->number);
    assert_true(factors_equal(&got->point, &made->point));
    assert_true(got->at_seconds == made->at_seconds && a->throughput_bps == b->throughput_bps &&
                a->iops == b->iops && a->latency_mean_ns == b->latency_mean_ns && isnan(a->latency_p99_ns) &&
                a->achieved_depth == b->achieved_depth && a->seconds == b->seconds &&
                a->warmup_seconds == b->warmup_seconds);
    assert_true(a->bytes == b->bytes && a->moved_bytes == b->moved_bytes && a->warmup == b->warmup &&
                a->sampled == b->sampled && a->confirming == b->confirming &&
                a->warning_set == b->warning_set);
    assert_memory_equal(&a->latency_quantiles, &b->latency_quantiles, sizeof a->latency_quantiles);
}

static const char identity[] = "{\"file_system\":\"ext4\",\"mount_source\":\"/dev/sda1\"}";

/* Changes of a kind, from slow to fast where they are made. */
static inline struct history_change change_of(enum history_kind kind, int64_t run_id, const char *text)
{
    struct history_change change = {.host = "alpha",
                                    .target = "vms",
                                    .kind = kind,
                                    .has_from = true,
                                    .has_to = kind == HISTORY_CHANGE_MADE,
                                    .from = slow,
                                    .to = fast,
                                    .run_ids = {run_id, 0}};
    snprintf(change.text, sizeof change.text, "%s", text);
    return change;
}

static inline void add_decision(enum history_kind kind, int64_t run_id, const char *text)
{
    const struct history_change change = change_of(kind, run_id, text);
    if (history_add_change(&history, &change, &err) != 0)
        fail_msg("%s", err.text);
    now_s += SECONDS_OF_A_DAY;
}

/* Of a child that writes, and may not end by a failed check. */
static const struct history_header child_header = {
    .command = "measure", .target = "", .pattern = "read", .hostname = "h", .identity = identity};

static inline int64_t begin_run(const char *command, const char *target, const char *host)
{
    int64_t run_id = 0;
    json_t *settings = json_pack("{s:s}", "budget", "60s"), *system = json_pack("{s:s}", "kernel", "6.1");
    const struct history_header header = {.command = command,
                                          .target = target,
                                          .pattern = "randwrite",
                                          .hostname = host,
                                          .identity = identity,
                                          .settings = settings,
                                          .system = system,
                                          .seed = 7};
    if (history_begin_run(&history, &header, &run_id, &err) != 0)
        fail_msg("%s", err.text);
    json_decref(settings);
    json_decref(system);
    return run_id;
}

static inline void add_replays(int64_t run_id, const struct point *point, const double *bps, size_t n,
                               uint64_t first)
{
    for (size_t i = 0; i < n; i++) {
        struct history_replay replay = replay_of(first + i, point, bps[i]);
        if (history_add_replay(&history, run_id, &replay, &err) != 0)
            fail_msg("%s", err.text);
    }
}

static inline json_t *answer_of(double mean_bps)
{
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:i, s:i, s:i, s:s, s:i, s:s}, s:{s:f, s:f, s:f, s:i}, s:b}",
                     "schema", "fstune/recommendation/1", "version", "0.1.0", "pattern", "name", "randwrite",
                     "recommendation", "request_size", 65536, "queue_depth", 8, "direct", 1, "api",
                     "io_uring", "threads", 1, "sync", "end", "throughput", "mean", mean_bps, "ci_low",
                     mean_bps * 0.9, "ci_high", mean_bps * 1.1, "replays", 5, "conclusive", 1);
}

static inline void finish_run(int64_t run_id, double mean_bps)
{
    json_auto_t *answer = answer_of(mean_bps);
    if (history_finish_run(&history, run_id, HISTORY_DONE, 0, answer, &err) != 0)
        fail_msg("%s", err.text);
}

/* A finished run of `recommend` with three replays of each point. */
static inline int64_t add_whole_run(double bps)
{
    int64_t run_id = begin_run("recommend", "vms", "alpha");
    add_replays(run_id, &fast, (const double[]){bps, bps * 1.01, bps * 0.99}, 3, 0);
    add_replays(run_id, &slow, (const double[]){bps / 2, bps / 2.1, bps / 1.9}, 3, 3);
    finish_run(run_id, bps);
    return run_id;
}

static inline struct history_info info_of(int64_t run_id)
{
    struct history_info info;
    if (history_find_run(&history, run_id, &info, &err) != 0)
        fail_msg("%s", err.text);
    return info;
}

static inline int64_t count_rows(const char *path, const char *table)
{
    char sql[64];
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

static inline void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    sqlite3_close(db);
}

/* As schema 1 was. */
static inline void make_first_schema(const char *path)
{
    run_sql(path, "ALTER TABLE replays DROP COLUMN n_windows; ALTER TABLE replays DROP COLUMN window_seconds;"
                  "ALTER TABLE replays DROP COLUMN window_mean_bps;"
                  "ALTER TABLE replays DROP COLUMN window_std_bps;"
                  "ALTER TABLE replays DROP COLUMN window_least_bps;"
                  "ALTER TABLE replays DROP COLUMN window_most_bps;"
                  "ALTER TABLE replays DROP COLUMN conditions; ALTER TABLE replays DROP COLUMN n_replays;"
                  "ALTER TABLE replays DROP COLUMN std_bps; DROP INDEX runs_whole;"
                  "ALTER TABLE runs DROP COLUMN summarised; PRAGMA user_version = 1");
}

/* The bytes of a file, and a 0 behind them; the caller frees. Inline, gcc 12 would take the result for a
 * pointer to the local variable. */
__attribute__((noinline, unused)) static char *bytes_of(const char *path, size_t *ret_size)
{
    int fd = -1;
    char *bytes = NULL;
    if (journal_load(path, 0, &fd, &bytes, ret_size, &err) != 0)
        fail_msg("%s", err.text);
    close(fd);
    return bytes;
}

/* Are they still these? */
static inline void check_bytes(const char *path, const char *expected, size_t size)
{
    size_t size_now = 0;
    AUTO(auto_free) char *bytes = bytes_of(path, &size_now);
    assert_int_equal(size_now, size);
    assert_memory_equal(bytes, expected, size);
}

static inline void count_finding(void *context, const char *text)
{
    (void)text;
    ++*(size_t *)context;
}

static inline size_t n_findings(void)
{
    size_t count = 0;
    if (history_verify(&history, count_finding, &count, &err) != 0)
        fail_msg("%s", err.text);
    return count;
}
