/* tuner/nightly/retune_online: a program that re-reads its settings is tuned while it works.
 *
 * The program's time is cut into slices. What it has done by then, a counter of its own, tells the rate of
 * each; models/online says which setting the next one has. Settings are put into force by a file of values
 * and a command (see configs/online.conf). The first error ends it, with the first setting back in force; a
 * signal ends it with the best one that is known. */
#pragma once

#include "bench/base/err.h"
#include "models/online/online.h"
#include "tuner/nightly/disk_history.h"
#include "tuner/nightly/retune_config.h"

#include <jansson.h>
#include <stdio.h>

/* --- retune_online_config: what is tuned, and how (libconfig) --- */

#define RETUNE_ONLINE_MOST_VALUES   32    /* of one setting */
#define RETUNE_ONLINE_MOST_SETTINGS 1000U /* all combinations */
#define RETUNE_ONLINE_VALUE_SIZE    64

struct retune_online_factor {
    char name[RETUNE_CONFIG_NAME_SIZE];
    char values[RETUNE_ONLINE_MOST_VALUES][RETUNE_ONLINE_VALUE_SIZE];
    size_t n;        /* 2 or more */
    size_t first;    /* the one that runs first */
    bool is_ordered; /* the values are sizes or durations that ascend: neighbours are alike */
};

struct retune_online_config {
    /* First, because the setters of options find their places from it. Only those of the command count. */
    struct settings settings;
    char value_file[SETTINGS_TEXT_SIZE]; /* an absolute path */
    char template[SETTINGS_TEXT_SIZE];   /* of that file, with {NAME} for values; "": lines NAME=VALUE */
    char hook[SETTINGS_TEXT_SIZE];       /* for /bin/sh, makes the program read the file; "": none */
    char counter[SETTINGS_TEXT_SIZE];    /* a file, or "" and the next one is a command for /bin/sh */
    char counter_command[SETTINGS_TEXT_SIZE];
    char history[SETTINGS_TEXT_SIZE]; /* ""; nothing is kept */
    uint64_t hook_timeout_ns;         /* of the commands */
    uint64_t slice_ns;
    uint64_t settle_ns;   /* from the end of the hook until the new setting counts */
    uint64_t duration_ns; /* 0: until a signal */
    double regret_share;
    struct retune_online_factor factors[ONLINE_FACTORS];
    size_t n_factors; /* 1 or more */
};

/* As retune_config_read. */
int retune_online_config_read(struct retune_online_config *config, const char *path, struct err *err);
/* The keys with their defaults, in the layout of --help. */
void retune_online_config_print_keys(FILE *out);

/* A setting's values are numbers of values of the factors, from 0. */
struct online_setting retune_online_config_first(const struct retune_online_config *config);
/* "block=64k,sync=none", and back: 0, or -EINVAL for what is no such setting. */
const char *retune_online_config_write(const struct retune_online_config *config,
                                       const struct online_setting *setting,
                                       char buffer[static DISK_HISTORY_SETTING_SIZE]);
int retune_online_config_parse(const struct retune_online_config *config, const char *words,
                               struct online_setting *ret_setting);
/* What the file of values holds for a setting; the caller frees it. NULL: no memory. */
char *retune_online_config_text(const struct retune_online_config *config,
                                const struct online_setting *setting);

/* --- the loop --- */

/* What the program has done so far. */
struct retune_online_count {
    uint64_t n;                         /* bytes, requests or whatever; never less than before, below 2^63 */
    char kind[RETUNE_CONFIG_NAME_SIZE]; /* of the load, the program's own word; "": there is none */
    uint64_t at_ns;                     /* on the clock that `wait` follows */
    unsigned n_stops;                   /* how often we were stopped (Ctrl-Z) */
};

/* What the loop needs of the outside. Functions return 0 or a negative errno. */
struct retune_online_world {
    int (*count)(void *context, struct retune_online_count *ret_count, struct err *err);
    /* After a failure the program may run with either setting. */
    int (*put)(void *context, const struct online_setting *setting, struct err *err);
    /* False: it is time to end. */
    bool (*wait)(void *context, uint64_t until_ns);
    void *context;
    FILE *out; /* for lines that say what was found; NULL: there are none */
};

struct retune_online {
    const struct retune_online_config *config;
    struct retune_online_world world;
    struct online online;
    char kinds[KIND_N][RETUNE_CONFIG_NAME_SIZE]; /* the words that came, by their numbers */
    unsigned n_kinds;
    bool is_full;                     /* another word than these came, which was said */
    unsigned n_strange;               /* slices of such a load since one of these went on */
    struct online_setting current;    /* in force */
    bool is_unsure;                   /* a change failed: `current` need not be what runs */
    struct retune_online_count begin; /* of the slice that goes on */
    uint64_t start_ns;
    bool interrupted;      /* `wait` ended it */
    double switch_seconds; /* before it, for which nothing was done */
};

/* Reads the history and the counter, and puts a setting into force: the first one, or what the history knows
 * to be the best for the load that goes on. 0 or a negative errno, after which it is closed, too. */
int retune_online_open(struct retune_online *tuned, const struct retune_online_config *config,
                       const struct retune_online_world *world, struct err *err);
/* What retune_online_open would put into force for a program whose counter says this. Nothing is changed, and
 * there is nothing to close. 0, or why the history cannot be taken. */
int retune_online_plan(struct retune_online *tuned, const struct retune_online_config *config,
                       const struct retune_online_count *now, struct online_setting *ret_setting,
                       struct err *err);
/* Until `wait` says so or the duration is over: the best setting that is known for the load is in force then.
 * Negative errno: the first error, after which the first setting is in force if it can be, and the text says
 * which is. */
int retune_online_run(struct retune_online *tuned, struct err *err);
/* Keeps what was learnt. */
void retune_online_close(struct retune_online *tuned);

/* What was found, of one that was not closed yet: fstune/online/1; or lines. NULL: no memory. */
json_t *retune_online_document(const struct retune_online *tuned);
void retune_online_print(FILE *out, const struct retune_online *tuned);

/* --- retune_online_program: the program's counter, its file of values and its hook --- */

struct retune_online_program {
    const struct retune_online_config *config;
    int lock_fd; /* nobody else tunes in the file's directory */
};

/* The world of a real program. 0; -EBUSY: another fstune works in the directory of the file of values; or why
 * nobody can write there. The context is `program`, which retune_online_program_close ends. */
int retune_online_program_open(struct retune_online_program *program,
                               const struct retune_online_config *config,
                               struct retune_online_world *ret_world, struct err *err);
void retune_online_program_close(struct retune_online_program *program);
/* The counter as it is now: for who changes nothing. */
int retune_online_program_count(const struct retune_online_config *config,
                                struct retune_online_count *ret_count, struct err *err);
