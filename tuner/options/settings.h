/* tuner/options/settings: what the user asked for, after command line and configuration file, before anything
 * is opened. */
#ifndef FSTUNE_TUNER_OPTIONS_SETTINGS_H
#define FSTUNE_TUNER_OPTIONS_SETTINGS_H

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/run/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_TEXT_SIZE    4096
#define SETTINGS_NAME_SIZE    32
#define SETTINGS_MAX_LEVELS   64
#define SETTINGS_MAX_PRIORS   4
#define SETTINGS_MAX_ANSWERS  4
#define SETTINGS_MAX_OPERANDS 8
#define SETTINGS_MAX_PATTERNS 32
#define SETTINGS_MAX_TESTS    16
#define SETTINGS_TEST_SIZE    64

/* Of predict --validate. */
#define SETTINGS_REPETITIONS_DEFAULT 3
#define SETTINGS_REPETITIONS_MAX     1000

enum objective { OBJECTIVE_THROUGHPUT, OBJECTIVE_IOPS, OBJECTIVE_LATENCY, OBJECTIVE_P99, OBJECTIVE_N };

/* As --objective has them. */
extern const char *const settings_objective_names[OBJECTIVE_N];

enum profile { PROFILE_MAX_THROUGHPUT, PROFILE_BALANCED, PROFILE_LOW_LATENCY, PROFILE_N };

/* Levels of one factor, ascending, distinct; enums by value. n = 0: not given, the command's default applies.
 */
struct levels {
    size_t n;
    uint64_t value[SETTINGS_MAX_LEVELS];
};

/* --current: keys that are not given take the baseline's default. */
struct current {
    bool given[FACTOR_N];
    uint64_t value[FACTOR_N];
};

/* Conditions that only `experiment` varies; other commands take one value. */
enum condition {
    CONDITION_PATTERN,
    CONDITION_CACHE,
    CONDITION_FILE_SIZE,
    CONDITION_FILES,     /* that the data are spread over */
    CONDITION_ALIGNMENT, /* 0: the request size */
    CONDITION_N
};

/* One of several tests of an experiment, each a design of its own; what it does not give, the experiment
 * does. */
struct settings_test {
    char name[SETTINGS_TEST_SIZE]; /* for people; "" */
    struct levels levels[FACTOR_N], conditions[CONDITION_N];
};

/* Of `experiment`. */
struct settings_experiment {
    bool on; /* the command is `experiment`: options take several values where it varies them */
    char name[SETTINGS_TEXT_SIZE];                  /* ""; then the file's */
    char design[SETTINGS_NAME_SIZE];                /* "full", "sobol", ... */
    uint32_t design_points;                         /* of a design that takes a number */
    bool ask;                                       /* --ask */
    char import[SETTINGS_NAME_SIZE];                /* --import; "" */
    uint32_t batches;                               /* 0: by time */
    struct levels conditions[CONDITION_N];          /* n = 0: not given; pattern: its number in patterns */
    struct pattern patterns[SETTINGS_MAX_PATTERNS]; /* all that were named */
    size_t n_patterns;
    struct settings_test tests[SETTINGS_MAX_TESTS];
    size_t n_tests;
    unsigned char order[FACTOR_N + CONDITION_N]; /* factors, then conditions, as they were first given */
    size_t n_order;
};

/* Of `predict` and `advise`: the machine, the writes, and where the model goes beyond the paper's. */
enum settings_model { SETTINGS_MODEL_PAPER, SETTINGS_MODEL_LINUX };

struct settings_prediction {
    bool on;                        /* the command is one of them: options are taken as they take them */
    char host[SETTINGS_TEXT_SIZE];  /* --host; "" */
    unsigned mode;                  /* enum cawl_mode */
    char trace[SETTINGS_TEXT_SIZE]; /* --trace; "" */
    bool random;                    /* --pattern randwrite; else write */
    bool pattern_given;
    uint64_t total_bytes, request_size_bytes, delay_ns; /* 0: not given; of the delay also none */
    double rewrite_share;

    bool close;
    unsigned model;                      /* enum settings_model */
    char extensions[SETTINGS_TEXT_SIZE]; /* --extensions, which tuner/writes/extensions reads; "" */

    bool validate;
    uint32_t repetitions;
    bool repetitions_given;
    char csv[SETTINGS_TEXT_SIZE];     /* --csv; "-": standard output; "" */
    char picture[SETTINGS_TEXT_SIZE]; /* --plot; "-": letters on standard output; "" */
};

/* Loads that come in bursts. */
struct settings_burst {
    uint64_t bytes;       /* 0: none */
    uint64_t interval_ns; /* from the end of one to the beginning of the next, also of `advise`; 0: none */
};

struct settings {
    struct pattern pattern;
    bool pattern_given;
    struct levels levels[FACTOR_N];
    bool split_sizes; /* --split-sizes */

    char path[SETTINGS_TEXT_SIZE];     /* --path; "." */
    char existing[SETTINGS_TEXT_SIZE]; /* --existing; "" */
    char simulate[SETTINGS_TEXT_SIZE]; /* --simulate; "" */
    char prepare[SETTINGS_TEXT_SIZE];  /* --prepare; "" */
    char config[SETTINGS_TEXT_SIZE];   /* --config; "" */
    uint64_t prepare_timeout_ns;
    bool overwrite;
    uint64_t file_size_bytes;
    bool file_size_given;
    enum measure_cache cache;
    bool cache_given;
    bool verify;
    uint32_t files;           /* that the target is spread over */
    uint64_t alignment_bytes; /* 0: the request size */
    bool advise, shared_region, no_lock, io_uring_cooperative;

    uint64_t budget_ns;
    double tolerance_share, confidence_share;
    enum objective objective;
    enum profile profile; /* that is the answer */
    bool profile_given;
    bool profiles, pareto;       /* report the three profiles, the table of points that are not dominated */
    double rate_floor_share;     /* of the highest rate, for low-latency */
    uint64_t max_latency_p99_ns; /* 0: none */
    uint64_t max_write_bytes;
    bool max_write_given;
    char method[SETTINGS_NAME_SIZE];
    struct current current;
    bool current_given;

    uint32_t replays;  /* measure */
    bool until_steady; /* measure: rounds until steady_rule is met, for max_duration_ns at most */
    char steady_rule[SETTINGS_NAME_SIZE];
    uint64_t max_duration_ns;
    uint64_t duration_ns; /* timed part of a run; 0: chosen from the budget (recommend) */
    double warmup_coef_share;
    uint64_t warmup_limit_ns; /* UINT64_MAX: as long as a run (recommend) */
    uint32_t warmup_window, batch_requests;

    uint64_t seed;
    bool seed_given;
    char cross_check[SETTINGS_NAME_SIZE]; /* --cross-check; "" */
    bool fio_job;
    bool dry_run, json, quiet;
    char resume[SETTINGS_TEXT_SIZE];                     /* --resume; "" */
    char prior[SETTINGS_MAX_PRIORS][SETTINGS_TEXT_SIZE]; /* --prior, in the order given */
    size_t n_priors;
    char operands[SETTINGS_MAX_OPERANDS][SETTINGS_TEXT_SIZE]; /* words without dashes */
    size_t n_operands, operands_allowed;

    char emit[SETTINGS_NAME_SIZE];                       /* --emit; "" */
    char from[SETTINGS_MAX_ANSWERS][SETTINGS_TEXT_SIZE]; /* --from, in the order given; the first is "-" */
    size_t n_from;                                       /* 0: standard input */
    char image[SETTINGS_TEXT_SIZE];                      /* --image; "" */
    unsigned image_format, bus;                          /* of tuner/emit/snippet */
    unsigned target_version[2];                          /* major, minor; 0.0: not given */
    bool directsync, list;

    char save[SETTINGS_TEXT_SIZE]; /* --save; "" */
    char db[SETTINGS_TEXT_SIZE];   /* --db; "" */
    uint32_t run_id;               /* 0: not given, as all of these */
    uint32_t keep_runs, limit;
    uint64_t older_than_ns;
    unsigned export_format; /* of --format */

    char target[SETTINGS_TEXT_SIZE];     /* --target; "" */
    char prometheus[SETTINGS_TEXT_SIZE]; /* --prometheus; "" */
    bool force;

    char html[SETTINGS_TEXT_SIZE];                               /* --html; "" */
    char journal[SETTINGS_TEXT_SIZE];                            /* --journal; "" */
    char output[SETTINGS_TEXT_SIZE];                             /* --output; "" */
    unsigned plot_terminal;                                      /* without --output: 0 dumb, 1 sixel */
    unsigned plot_size[2];                                       /* width, height; 0: not given */
    char plot_x[SETTINGS_TEXT_SIZE], plot_y[SETTINGS_TEXT_SIZE]; /* "" */
    char plot_where[SETTINGS_TEXT_SIZE];                         /* "" */
    char plot_title[SETTINGS_TEXT_SIZE];                         /* "" */
    bool plot_script;

    bool calibrate_limits_given;
    uint64_t calibrate_limits_bytes[2]; /* --set-dirty-limits: background, hard */

    uint64_t accept; /* warnings that do not disqualify */

    struct settings_experiment experiment;
    struct settings_prediction prediction;
    struct settings_burst burst;
};

/* The defaults of `recommend`, as the table of options states them. */
void settings_init(struct settings *settings);

/* Reads and writes may get request sizes of their own. */
bool settings_splits_sizes(const struct settings *settings);

/* 0; -EINVAL where two sizes are asked for and the pattern has one kind only. */
int settings_check_split(const struct settings *settings, struct err *err);

#endif
