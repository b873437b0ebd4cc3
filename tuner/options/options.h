/* tuner/options/options: every option, declared once. The parser, the configuration reader, --help and the
 * manual page read these rows. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Commands that know an option; a mask. */
enum {
    OPTIONS_RECOMMEND = 1,
    OPTIONS_MEASURE = 2,
    OPTIONS_DOCTOR = 4,
    OPTIONS_EMIT = 8,
    OPTIONS_HISTORY = 16,
    OPTIONS_RETUNE = 32,
    OPTIONS_PLOT = 64,
    OPTIONS_REPORT = 128,
    OPTIONS_EXPERIMENT = 256,
    OPTIONS_CALIBRATE = 512,
    OPTIONS_PREDICT = 1024,
    OPTIONS_ADVISE = 2048,
    OPTIONS_COST = 4096,
    OPTIONS_ATOMS = 8192,
    OPTIONS_PROFILE = 16384,
    OPTIONS_REPLAY = 32768,
    OPTIONS_ANALYSE = 65536,
    OPTIONS_WATCH = 131072,
    OPTIONS_FLEET = 262144,
    OPTIONS_MANAGER = 524288
};

/* Under which heading --help prints an option, in this order. Those that few need come last, and where a
 * command has many options only on request. */
enum option_group {
    OPTIONS_EXPERT, /* 0, so that a row which says nothing is one of them */
    OPTIONS_WORKLOAD,
    OPTIONS_WHERE,
    OPTIONS_ANSWER,
    OPTIONS_LIMITS,
    OPTIONS_OUTPUT,
    OPTIONS_N_GROUPS
};

/* More rows than the table will have. */
#define OPTIONS_MAX_ROWS 192

struct option_row;

/* Reads the text (NULL for a flag) into settings. 0 or -EINVAL with what is wrong and what to write instead,
 * without the option's name; settings are untouched then. */
typedef int option_setter(struct settings *settings, const struct option_row *row, const char *text,
                          struct err *err);

struct option_row {
    const char *name; /* without dashes: "request-size"; the configuration key has underscores */
    /* "SIZE" in --help, or the choices "cold|warm"; "[SIZE]": it may be left out, and `set` is not called
     * then; NULL for a flag. */
    const char *argument;
    const char *range;           /* "512..512m, a multiple of 512", read by `set` too; "" for none */
    const char *default_text;    /* the default, as text; "" for none */
    const char *default_measure; /* the default of `measure` where it is another one, else NULL */
    const char *default_doctor;  /* the same for `doctor` */
    const char *default_experiment;
    const char *default_calibrate;
    const char *help;
    const char *needs; /* names of options, with commas between, without any of which this one does nothing;
                          NULL: none */
    const char *alias_of; /* name of the option whose place it writes, and which cannot stand beside it; NULL:
                             none */
    enum option_group group;
    unsigned commands;
    bool in_config; /* may stand in a configuration file */
    option_setter *set;
    /* The same for `experiment`, where it takes several values and others take one; NULL: set. */
    option_setter *set_experiment;
    enum condition condition; /* that set_experiment sets */
    /* The same for `predict` and `advise`, which know writes of any size; NULL: as the others. */
    const char *range_prediction, *default_prediction;
    option_setter *set_prediction;
    size_t place; /* offset in struct settings, or the factor's number, for `set` */
    size_t given; /* offset of the bool that says that the option was given; 0: there is none */
};

/* The options one by one, in the order of --help; NULL behind the last. */
const struct option_row *options_row(size_t i);

/* What options_parse returns when --help, or --help all, was asked for. */
enum { OPTIONS_HELP = 1, OPTIONS_HELP_ALL = 2 };

/* Reads argv[1..] for a command into settings, which settings_init has filled and which stay untouched on
 * failure. Words without dashes are operands, as many as settings->operands_allowed, and of commands that
 * run a program its words follow `--`. --config is read first,
 * then the rest of the command line over it; `measure` gets its own defaults of duration and warm-up,
 * `doctor` one of the file's size. 0; OPTIONS_HELP or OPTIONS_HELP_ALL; or -EINVAL (and other negative errno
 * for an unreadable configuration) with one line; unknown options are answered with the nearest name, and one
 * that is given twice is refused unless it collects what it is given (options_set_files). */
int options_parse(struct settings *settings, unsigned command, int argc, char **argv, struct err *err);

/* The same for a command whose configuration is not named by --config: path and text as for
 * config_read_settings, or NULL, read after the command's own defaults and before the command line, which
 * wins. */
int options_parse_configured(struct settings *settings, unsigned command, int argc, char **argv,
                             const char *path, const char *text, struct err *err);

/* Whether [OPTION...] stands behind what a command's usage says, NULL for nothing: behind the words of a
 * program no option is ours. */
bool options_stand_last(const char *usage);

/* Prints usage, options with units, ranges and defaults, and `example`; the options for experts of a command
 * with many only with `all`. */
void options_print_help(FILE *out, const char *command_name, const char *summary, unsigned command,
                        const char *example, bool all);

/* Whether this is the row's name, as an option or as a configuration key. */
bool options_is_named(const char *name, const char *row_name);

/* Whether one of the two is another name of the other. */
bool options_are_names_of_one(const struct option_row *a, const struct option_row *b);

/* NULL or the row that one of the commands in the mask knows; by option name or by configuration key. */
const struct option_row *options_find(const char *name, unsigned command);

/* The row's default and limits for a command, as text. */
const char *options_default_text(const struct option_row *row, unsigned command);
const char *options_range(const struct option_row *row, unsigned command);

/* Takes the defaults that the rows state into settings; those which only `command` has, or, where it is 0,
 * all others. A default that is words, as "none", leaves what is there. */
void options_take_defaults(struct settings *settings, unsigned command);

/* row->set, and the mark that the option was given. */
int options_set(struct settings *settings, const struct option_row *row, const char *text, struct err *err);

/* Nearest of the names to `text` by edit distance, NULL when none is near; the beginning of a name is near
 * it. Used for commands too. */
const char *options_nearest(const char *text, const char *const *names, size_t n);

/* -EINVAL: "'TEXT' is WHAT; did you mean NAME?", or the hint where no name is near. */
int options_refuse(const char *text, const char *what, const char *const *names, size_t n, const char *hint,
                   struct err *err);
