/* tuner/picture/plot_data: measured points and runs, as pictures need them, from whatever file holds them.
 *
 * What is read is untrusted: counts are limited, every number is checked, every text is of limited length and
 * may hold any character. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"
#include "models/profile/blocks.h"
#include "models/statistics/student.h"
#include "tuner/options/settings.h"
#include "tuner/store/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLOT_LEVEL_SIZE 80
#define PLOT_TEXT_SIZE  256
#define PLOT_MAX_POINTS 20000
#define PLOT_MAX_RUNS   JOURNAL_MAX_RUNS
#define PLOT_MAX_LEVELS 1024
#define PLOT_MAX_NIGHTS 4000 /* the newest */
#define PLOT_MAX_SERIES 8
#define PLOT_NO_LEVEL   UINT16_MAX /* the point says nothing about this factor */

/* What can vary. A new factor is a row. */
enum plot_scale { PLOT_WORDS, PLOT_COUNT, PLOT_SIZE };

struct plot_factor {
    const char *key, *title;
    enum plot_scale scale;
    const char *before; /* a level in a list of levels; NULL: levels are counted, as in "4 threads" */
};

enum {
    PLOT_FACTOR_RESULT, /* of several results: which */
    PLOT_FACTOR_PATTERN,
    PLOT_FACTOR_REQUEST_SIZE,
    PLOT_FACTOR_WRITE_REQUEST_SIZE,
    PLOT_FACTOR_QUEUE_DEPTH,
    PLOT_FACTOR_DIRECT,
    PLOT_FACTOR_API,
    PLOT_FACTOR_THREADS,
    PLOT_FACTOR_SYNC,
    PLOT_FACTOR_FILE_SIZE,
    PLOT_FACTOR_FILES,
    PLOT_FACTOR_CACHE,
    PLOT_FACTOR_ALIGNMENT,
    PLOT_FACTOR_N
};

extern const struct plot_factor plot_factors[PLOT_FACTOR_N];

/* PLOT_FACTOR_N where there is none of that key; underscores or dashes. */
size_t plot_factor_find(const char *key);

struct plot_level {
    double number; /* to sort by; of PLOT_SIZE and PLOT_COUNT the value itself */
    char text[PLOT_LEVEL_SIZE];
};

struct plot_levels {
    struct plot_level *level; /* ascending once the data are read */
    size_t n, capacity;
};

enum { PLOT_BEST = 1, PLOT_RECOMMENDED = 2, PLOT_EQUIVALENT = 4, PLOT_BASELINE = 8, PLOT_DISTRUSTED = 16 };

struct plot_quantile {
    double ns, low_ns, high_ns;
};

/* Figures that are not known are NaN. */
struct plot_point {
    uint16_t level[PLOT_FACTOR_N]; /* index, or PLOT_NO_LEVEL */
    double mean_bps, ci_low_bps, ci_high_bps, std_bps;
    double latency_mean_ns, replays;
    struct plot_quantile p50, p99, p999; /* of latency */
    struct moments bps;                  /* of single runs or rows, where the file holds those */
    unsigned marks;
};

struct plot_run {
    size_t point;
    double start_seconds, warmup_seconds, seconds; /* start: of the warm-up */
    double bps, latency_mean_ns;
    bool stable; /* the warm-up ended because the rate was stable, or there was none */
    struct latency_quantiles quantiles;
};

/* Throughput of the current setting in one run of a history. */
struct plot_night {
    int64_t run_id;
    double at_s; /* since 1970, when it began */
    size_t point;
    double mean_bps, ci_low_bps, ci_high_bps; /* the bounds NaN where they are not known */
};

enum plot_event_kind { PLOT_EVENT_CHANGE, PLOT_EVENT_ROLLBACK, PLOT_EVENT_SKIPPED, PLOT_EVENT_ALARM };

struct plot_event {
    enum plot_event_kind kind;
    double at_s;
    int64_t run_id; /* of the night it belongs to; 0: none */
    bool has_point; /* of changes and rollbacks: the settings that came into force */
    size_t point;
};

/* A setting under an offered rate. */
struct plot_rate {
    double offered_bps, achieved_bps;
    double mean_ns, p50_ns, p90_ns, p99_ns, p999_ns;
    double p99_low_ns, p99_high_ns; /* of single runs */
};

/* The requests of a recording. Index of [2]: reads, writes. */
#define PLOT_LOAD_SHOWN     6000
#define PLOT_LOAD_BINS      150
#define PLOT_LOAD_SIZES     41 /* powers of two; the first is for 1 byte */
#define PLOT_LOAD_KINDS     4
#define PLOT_LOAD_INTERVALS 64
#define PLOT_LOAD_PHASES    16
struct plot_load {
    struct plot_load_request {
        double at_s, place_bytes;
        bool writes;
    } shown[PLOT_LOAD_SHOWN]; /* a sample, where there are more */
    size_t n_shown;
    double seconds, span_bytes;
    uint64_t n[2], n_by_size[2][PLOT_LOAD_SIZES];
    double bytes[2][PLOT_LOAD_BINS]; /* in equal parts of the time */
    struct blocks_cache caches[BINS_N];
    size_t n_caches;
    /* Of a document, which has no single requests: requests a second of the four kinds, sequential reads and
     * random ones, writes the same, and bytes. */
    struct plot_load_interval {
        double from_s, to_s, per_s[PLOT_LOAD_KINDS], bps;
    } intervals[PLOT_LOAD_INTERVALS];
    size_t n_intervals;
    double phase_s[PLOT_LOAD_PHASES]; /* where another mix of requests begins */
    size_t n_phases;
};

enum plot_source {
    PLOT_RECOMMENDATION,
    PLOT_MEASUREMENT,
    PLOT_EXPERIMENT,
    PLOT_TABLE,
    PLOT_JOURNAL,
    PLOT_HISTORY,
    PLOT_PREDICTION,
    PLOT_ATOMS,
    PLOT_COST,
    PLOT_EVENTS,
    PLOT_PROFILE
};

/* Predicted writes. */
struct plot_writes {
    struct cawl_prediction prediction; /* n > 0; without the times of their ends */
    char mode[PLOT_LEVEL_SIZE], load[PLOT_TEXT_SIZE];
    double naive_s;                          /* mean cost of a write by the naive model; 0: not known */
    double limit_bg_bytes, limit_hard_bytes; /* of dirty memory; 0: not known */
};

/* A figure of `atoms` in seconds, of `cost` in per cent. Bounds that are not known are NaN. */
struct plot_figure {
    char name[PLOT_LEVEL_SIZE];
    size_t series;
    double value, low, high;
};

struct plot_data {
    enum plot_source source;
    struct plot_levels levels[PLOT_FACTOR_N];
    struct plot_point *points;
    size_t n_points, points_capacity;
    uint32_t *slots;       /* where to find a point by its levels; number + 1, 0: free */
    struct plot_run *runs; /* in the order of time */
    size_t n_runs, runs_capacity;
    bool has_front; /* front: numbers of points of the file's own Pareto table */
    size_t *front;
    size_t n_front;
    bool lower_is_better;    /* the search was for latency */
    double confidence_share; /* of the intervals */
    uint16_t pattern;        /* of the points that do not name one */
    double burst_seconds;    /* of timed parts, after which a burst ended; NaN: none was seen */
    double burst_bps, after_bps;
    struct plot_night *nights; /* of a history, in the order of time */
    size_t n_nights, nights_capacity;
    struct plot_event *events; /* the same */
    size_t n_events, events_capacity;
    struct plot_rate rates[SETTINGS_MAX_RATES]; /* of a measurement */
    size_t n_rates;
    struct plot_load *load;      /* of a recording, which has no points */
    struct plot_writes writes;   /* of a prediction, which has no points */
    struct plot_figure *figures; /* of `atoms` and `cost`, which have no points */
    size_t n_figures, n_series;
    char series[PLOT_MAX_SERIES][PLOT_LEVEL_SIZE]; /* names of machines or references */
    bool is_newest_target;                         /* of a history: its newest run is one of these */
    size_t n_targets, n_elsewhere; /* of a history; and runs of the target that do not compare with these */
    char target[PLOT_TEXT_SIZE];   /* "": runs without a target */
    char verdict[PLOT_TEXT_SIZE];  /* whether the rate lasts; "" */
    char place[PLOT_TEXT_SIZE];    /* where and when it was measured; "" */
    char ignored[PLOT_LEVEL_SIZE]; /* the first column of a table that means nothing here; "" */
};

/* Reads a file ("-": standard input): JSON of recommend, measure, experiment or predict, the journal of
 * --resume, or CSV with a header. 0; -EINVAL where it is none of them or damaged, -ENODATA where it holds no
 * figure, -EFBIG, -ENOMEM or the errno of what failed, with the words. plot_data_done frees it, also after an
 * error. */
int plot_data_load(struct plot_data *data, const char *path, struct err *err);

/* A setting of each of several files, as a point that only differs in PLOT_FACTOR_RESULT: the one that where
 * ("KEY=VALUE,...") names, else the recommended or the fastest. -EINVAL also for what is drawn alone. */
int plot_data_several(struct plot_data *data, const struct settings_files *files, const char *where,
                      struct err *err);
int plot_data_read(struct plot_data *data, const char *text, size_t size, struct err *err);
void plot_data_done(struct plot_data *data);

/* The runs of a target of a history ("": those of the newest run), and what was decided about it. Only runs
 * that compare with its newest one: of the same command, pattern, host and storage. -ENODATA where none has a
 * figure. Else as plot_data_load. */
struct history;
int plot_data_history(struct plot_data *data, struct history *history, const char *target, struct err *err);

/* A recording in a database of events, as fstune profile --save-events made it; 0: the newest. */
int plot_data_events(struct plot_data *data, const char *path, int64_t run_id, struct err *err);

/* For the readers of one format each. */

/* Readers: 0 or as plot_data_read. `text` ends in a 0. */
int plot_data_json(struct plot_data *data, const char *text, struct err *err);
int plot_data_journal(struct plot_data *data, const char *text, size_t size, struct err *err);
int plot_data_csv(struct plot_data *data, const char *text, struct err *err);

/* Sets one factor of a point from text as people or JSON write it; -EINVAL where it cannot be one. */
int plot_data_level(struct plot_data *data, size_t factor, const char *text, uint16_t *ret_level);

/* The number of the point with these levels, made where it is missing, with nothing known. */
int plot_data_point(struct plot_data *data, const uint16_t level[PLOT_FACTOR_N], size_t *ret_point);

/* A document of `predict write`. */
int plot_data_prediction(struct plot_data *data, const json_t *document, struct err *err);

/* A document of `atoms` or `cost`. */
int plot_data_figures(struct plot_data *data, const json_t *document, struct err *err);

/* A document of `profile`. */
int plot_data_profile(struct plot_data *data, const json_t *document, struct err *err);

/* Atomic tests of several files, each a series. As plot_data_load. */
int plot_data_figures_several(struct plot_data *data, const struct settings_files *files, struct err *err);

/* The point of a JSON row. */
int plot_data_point_json(struct plot_data *data, const json_t *row, size_t *ret_point);

int plot_data_add_run(struct plot_data *data, const struct plot_run *run);
int plot_data_add_night(struct plot_data *data, const struct plot_night *night);
int plot_data_add_event(struct plot_data *data, const struct plot_event *event);
