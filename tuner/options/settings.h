/* tuner/options/settings: what the user asked for, after command line and configuration file, before anything
 * is opened. */
#pragma once

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/run/measure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SETTINGS_TEXT_SIZE       4096
#define SETTINGS_NAME_SIZE       32
#define SETTINGS_MAX_LEVELS      64
#define SETTINGS_MAX_FILES       4
#define SETTINGS_MAX_OPERANDS    1024
#define SETTINGS_MAX_PATTERNS    32
#define SETTINGS_MAX_TESTS       16
#define SETTINGS_TEST_SIZE       64
#define SETTINGS_REPETITIONS_MAX 1000 /* of predict --validate */

enum objective { OBJECTIVE_THROUGHPUT, OBJECTIVE_IOPS, OBJECTIVE_LATENCY, OBJECTIVE_P99, OBJECTIVE_N };

/* As --objective has them. */
extern const char *const settings_objective_names[OBJECTIVE_N];

enum prefers { PREFERS_CHEAPEST, PREFERS_FASTEST };

/* What an answer is printed as; a command has some of them. */
enum settings_format {
    FORMAT_TEXT,
    FORMAT_JSON,
    FORMAT_MARKDOWN,
    FORMAT_CSV,
    FORMAT_CSV_WIDE,
    FORMAT_CSV_MATRIX,
    FORMAT_EROFEEV,
    FORMAT_N
};

/* As --format has them. */
extern const char *const settings_format_names[FORMAT_N];

enum profile { PROFILE_MAX_THROUGHPUT, PROFILE_BALANCED, PROFILE_LOW_LATENCY, PROFILE_N };

/* Files that an option names when it is repeated, in the order given. */
struct settings_files {
    char path[SETTINGS_MAX_FILES][SETTINGS_TEXT_SIZE];
    size_t n;
};

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

/* Of `predict vm`. */
#define SETTINGS_MAX_ACTIVITY_RUNS 100

struct settings_vm {
    char host_atoms[SETTINGS_TEXT_SIZE], guest_atoms[SETTINGS_TEXT_SIZE]; /* "" */
    char activity[SETTINGS_TEXT_SIZE];                                    /* --activity; "" */
    char train[SETTINGS_TEXT_SIZE], predict[SETTINGS_TEXT_SIZE];          /* of the regression; "" */
    unsigned method;                                                      /* enum regression_method */
    uint32_t runs;
};

/* Of `predict task`. */
struct settings_task {
    char task[SETTINGS_TEXT_SIZE], system[SETTINGS_TEXT_SIZE]; /* "" */
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
    struct settings_vm vm;
    struct settings_task task;
    char csv[SETTINGS_TEXT_SIZE];     /* --csv; "-": standard output; "" */
    char picture[SETTINGS_TEXT_SIZE]; /* --plot; "-": letters on standard output; "" */
};

/* Loads that come in bursts. */
struct settings_burst {
    uint64_t bytes;       /* 0: none */
    uint64_t interval_ns; /* from the end of one to the beginning of the next, also of `advise`; 0: none */
};

#define SETTINGS_BESIDE_SIZE 160

/* Loads that run beside the one that is measured. */
struct settings_beside {
    size_t n;
    struct beside_load load[BESIDE_MOST];
    char text[BESIDE_MOST][SETTINGS_BESIDE_SIZE]; /* as given */
    uint64_t limit_p99_ns;                        /* of each of them; 0: none */
};

/* Rates at which requests are offered, whatever came back. */
enum settings_rate_unit { SETTINGS_RATE_SHARE, SETTINGS_RATE_BPS, SETTINGS_RATE_IOPS };

#define SETTINGS_MAX_RATES 32

struct settings_rates {
    size_t n;                         /* 0: requests are sent as fast as they come back */
    double value[SETTINGS_MAX_RATES]; /* ascending, distinct; a share is one of the rate without this */
    enum settings_rate_unit unit;
};

/* What is measured; of the commands that make runs. */
struct settings_workload {
    struct pattern pattern;
    bool pattern_given;
    struct levels levels[FACTOR_N];
    struct levels clients; /* --clients: how many of several work at once; n = 0: all, always */
    bool split_sizes;      /* --split-sizes */
    enum measure_cache cache;
    bool cache_given;
    uint64_t alignment_bytes; /* 0: the request size */
    bool verify, advise, shared_region;
    unsigned io_uring_ring; /* 0: modern, 1: plain; see settings_wants_modern_ring */
    bool io_uring_ring_given;
    struct skew skew;       /* --skew */
    struct content content; /* --compressible, --dedupe */
    struct settings_rates rates;
    unsigned rate_process; /* 0: at equal distances, 1: at random ones */
};

/* Further places than the first, in the order given. */
struct settings_more {
    char place[MEMBERS_MOST - 1][SETTINGS_TEXT_SIZE];
    size_t n;
};

/* Where it is measured. */
struct settings_file {
    char path[SETTINGS_TEXT_SIZE];                  /* --path; "." */
    char existing[SETTINGS_TEXT_SIZE];              /* --existing, a file or a block device; "" */
    struct settings_more more_paths, more_existing; /* loaded together with the first */
    bool shared;                                    /* --shared-file: one for all clients */
    bool one_more; /* the option that is being set stands there again, and adds to what it was given */
    char simulate[SETTINGS_TEXT_SIZE]; /* --simulate; "" */
    char prepare[SETTINGS_TEXT_SIZE];  /* --prepare; "" */
    uint64_t prepare_timeout_ns;
    bool overwrite, ignore_signature, no_lock;
    uint64_t destroy_device_bytes[MEMBERS_MOST]; /* --destroy-device, of each device in turn; 0: not given */
    size_t n_destroy_device;
    uint64_t size_bytes;
    bool size_given;
    uint32_t n; /* that the target is spread over */
};

/* What the command may cost. */
struct settings_limits {
    uint64_t budget_ns, max_write_bytes;
    bool max_write_given;
    double max_cost_share; /* of all runs together, to the neighbours; 0: none */
};

/* How runs are made and judged. */
struct settings_runs {
    uint32_t replays; /* measure, experiment */
    bool replays_given;
    bool until_steady; /* measure: rounds until steady_rule is met, for max_duration_ns at most */
    char steady_rule[SETTINGS_NAME_SIZE];
    uint64_t max_duration_ns;
    uint64_t duration_ns; /* timed part of a run; 0: chosen from the budget (recommend) */
    double warmup_coef_share;
    uint64_t warmup_limit_ns; /* UINT64_MAX: as long as a run (recommend) */
    uint32_t warmup_window, batch_requests;
    double confidence_share;
    uint64_t accept;                      /* warnings that do not disqualify */
    char cross_check[SETTINGS_NAME_SIZE]; /* --cross-check; "" */
    bool fio_job;
};

/* What `recommend` looks for; `experiment` knows the tolerance and --resume too. */
struct settings_search {
    double tolerance_share;
    enum prefers prefers; /* of the settings within the tolerance */
    enum objective objective;
    enum profile profile; /* that is the answer */
    bool profile_given;
    bool profiles, pareto;        /* report the three profiles, the table of points that are not dominated */
    double rate_floor_share;      /* of the highest rate, for low-latency */
    uint64_t max_latency_p99_ns;  /* 0: none */
    double neighbour_limit_share; /* 0: none */
    char method[SETTINGS_NAME_SIZE];
    struct current current;
    bool current_given;
    char resume[SETTINGS_TEXT_SIZE];       /* --resume; "" */
    struct settings_files priors;          /* --prior */
    char fleet[SETTINGS_TEXT_SIZE];        /* --fleet; "" */
    bool fleet_given;                      /* of `advise`, with an address or without */
    char profile_path[SETTINGS_TEXT_SIZE]; /* --for; "" */
    double wait_share;                     /* of the program's time, in I/O; 0: unknown, or no --for */
};

/* What the lines to paste are about. */
struct settings_snippet {
    char format[SETTINGS_NAME_SIZE]; /* --emit; "" */
    char image[SETTINGS_TEXT_SIZE];  /* --image; "" */
    unsigned image_format, bus;      /* of tuner/emit/snippet */
    unsigned target_version[2];      /* major, minor; 0.0: not given */
    bool directsync, self_tuning, list;
};

/* Where runs are kept, and which of them are meant. */
struct settings_history {
    char save[SETTINGS_TEXT_SIZE]; /* --save; "" */
    char db[SETTINGS_TEXT_SIZE];   /* --db; "" */
    char to[SETTINGS_TEXT_SIZE];   /* --to; "" */
    bool identify;
    uint32_t run_id; /* 0: not given, as all of these */
    uint32_t keep_runs, limit;
    uint64_t older_than_ns, summarise_ns, since_ns;
};

struct settings_retune {
    char target[SETTINGS_TEXT_SIZE];     /* --target; "" */
    char prometheus[SETTINGS_TEXT_SIZE]; /* --prometheus; "" */
    bool force, online;
};

struct settings_report {
    char html[SETTINGS_TEXT_SIZE];    /* --html; "" */
    char journal[SETTINGS_TEXT_SIZE]; /* --journal; "" */
};

struct settings_plot {
    unsigned terminal;                                 /* without --output: 0 dumb, 1 sixel */
    unsigned size[2];                                  /* width, height; 0: not given */
    char x[SETTINGS_TEXT_SIZE], y[SETTINGS_TEXT_SIZE]; /* "" */
    char where[SETTINGS_TEXT_SIZE];                    /* "" */
    char title[SETTINGS_TEXT_SIZE];                    /* "" */
    bool script;
};

struct settings_calibrate {
    bool limits_given;
    uint64_t limits_bytes[2]; /* --set-dirty-limits: background, hard */
};

/* Of `cost`. */
struct settings_cost {
    char base[SETTINGS_TEXT_SIZE], delayed[SETTINGS_TEXT_SIZE]; /* --base, --delayed; "" */
    struct settings_files references;                           /* --reference */
    uint32_t points, runs;
    uint64_t run_ns, settle_ns;
    char loads[SETTINGS_TEXT_SIZE]; /* --load; "" */
    unsigned observe;               /* 0: the first that works, else 1 + enum observer_kind */
};

/* Of `atoms`. */
struct settings_atoms {
    char only[SETTINGS_TEXT_SIZE]; /* --only; "" */
    uint32_t rounds, queue_depth;
    uint64_t budget_ns; /* 0: the rounds alone */
    bool check_linear, storage;
};

/* Of `profile` and its kin. */
struct settings_profile {
    uint64_t store_bytes;
    uint64_t duration_ns;                                          /* 0: as long as the program runs */
    char import[SETTINGS_NAME_SIZE];                               /* --import; "" */
    char source[SETTINGS_NAME_SIZE];                               /* --source: auto, preload or trace */
    uint32_t pid;                                                  /* --pid; 0: none */
    char events[SETTINGS_TEXT_SIZE];                               /* --save-events; "" */
    char analysis[SETTINGS_NAME_SIZE], object[SETTINGS_TEXT_SIZE]; /* --as, --object of `analyse` */
    bool memory;                                                   /* --memory */
    char hardware_events[SETTINGS_TEXT_SIZE];                      /* --hardware-events; "" */
    bool live;                                                     /* --live */
    char listen[SETTINGS_TEXT_SIZE];                               /* --listen; "" */
    uint64_t wait_ns;                                              /* --wait */
    bool timed, untimed; /* --timed, --as-fast-as-possible of `replay` */
};

struct settings_watch {
    char directory[SETTINGS_TEXT_SIZE], group[SETTINGS_TEXT_SIZE]; /* --path, --cgroup; "" */
    uint64_t slice_ns, duration_ns;                                /* duration_ns 0: until a signal */
};

struct settings {
    /* Of every command. */
    bool dry_run, quiet, verbose;
    enum settings_format format;
    bool json; /* the format is JSON */
    uint64_t seed;
    bool seed_given;
    char config[SETTINGS_TEXT_SIZE]; /* --config; "" */
    /* Words without dashes, below SETTINGS_TEXT_SIZE each; "" behind the last. Borrowed from the command
     * line. */
    const char *operands[SETTINGS_MAX_OPERANDS];
    size_t n_operands, operands_allowed;
    const char *const *words;   /* the command and its words as given, NULL last; NULL: not kept. Borrowed */
    const char *const *program; /* the words behind --, NULL last; NULL: there are none. Borrowed */
    char output[SETTINGS_TEXT_SIZE]; /* --output of plot, calibrate, atoms, profile and replay; "" */
    struct settings_files answers;   /* --from; the first path is "-" where none is given */

    struct settings_workload workload;
    struct settings_file file;
    struct settings_limits limits;
    struct settings_runs runs;
    struct settings_search search;
    struct settings_burst burst;
    struct settings_snippet snippet;
    struct settings_history history;
    struct settings_retune retune;
    struct settings_report report;
    struct settings_plot plot;
    struct settings_beside beside;
    struct settings_calibrate calibrate;
    struct settings_experiment experiment;
    struct settings_prediction prediction;
    struct settings_cost cost;
    struct settings_atoms atoms;
    struct settings_profile profile;
    struct settings_watch watch;
};

/* The defaults of `recommend`, as the table of options states them. */
void settings_init(struct settings *settings);

/* The existing file or device, else the directory. Borrowed. */
const char *settings_place(const struct settings *settings);

/* Places that are loaded together, and each of them; the first is settings_place. */
size_t settings_n_places(const struct settings *settings);
const char *settings_nth_place(const struct settings *settings, size_t i);

/* Whether io_uring's ring has the flags that a modern program sets, as asked for; where nothing was asked
 * for, it has, but for a snippet for a virtual machine, whose ring is a plain one. */
bool settings_wants_modern_ring(const struct settings *settings);

/* Reads and writes may get request sizes of their own. */
bool settings_splits_sizes(const struct settings *settings);

/* 0; -EINVAL where two sizes are asked for and the pattern has one kind only. */
int settings_check_split(const struct settings *settings, struct err *err);
