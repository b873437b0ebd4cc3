/* tuner/commands/command: the commands of fstune. Adding one: a file that ends in its row, the row in
 * main's table, and a bit in tuner/options/options.h. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct session;
struct settings;

struct command {
    const char *name;
    const char *summary; /* one line, for the program's own help */
    /* Words without dashes that follow the name, "FORMAT", or the choices "list|show"; NULL for none. For the
     * manual page and the completion. */
    const char *operands;
    const char *usage; /* what stands behind the name in its help, "[FILE]"; NULL: nothing */
    size_t n_operands; /* at most */
    /* argv[0] is the command's own name. Returns the exit code. */
    int (*run)(const struct command *command, int argc, char **argv);

    /* For its help, the manual page and the completion: */
    const char *description, *example;
    unsigned options;                   /* its bit of the option table */
    void (*print_more_help)(FILE *out); /* behind the options; may be NULL */

    /* For command_run, NULL elsewhere. An exit code, or a negative errno for command_explain. */
    int (*act)(const struct settings *settings, struct err *err);

    /* For command_run_measuring, NULL elsewhere: */
    bool no_pattern; /* it has a workload of its own */
    /* Completes what was parsed; may be NULL. 0 or a negative errno. */
    int (*settle)(struct settings *settings, struct err *err);
    /* Refuses what can be refused before a byte is written and prints the plan. 0 or a negative errno. */
    int (*plan)(struct session *session, struct err *err);
    /* Measures and prints. An exit code, or a negative errno. */
    int (*measure)(struct session *session, struct err *err);
};

/* A command that does not measure: its options, then `act`. */
int command_run(const struct command *command, int argc, char **argv);

/* A command that measures: options, session, plan, measurement. */
int command_run_measuring(const struct command *command, int argc, char **argv);

/* The same from settings on, which stay where they are until the process ends. */
int command_run_session(const struct command *command, const struct settings *settings);

/* 0, or -EINVAL where no pattern was given; for a command's own `settle`. */
int command_check_pattern(const struct settings *settings, struct err *err);

/* Prints its --help, which is OPTIONS_HELP or OPTIONS_HELP_ALL. Returns EXIT_DONE. */
int command_print_help(const struct command *command, int which);

/* Where a command's plan goes: standard output with --dry-run, else standard error; NULL with --quiet. */
FILE *command_plan_stream(const struct settings *settings);

/* The code; 128 + its number where a signal ended the command. */
int command_code(int code);

/* Says what went wrong; returns the exit code. `code` is EXIT_FAILED where nothing that the user wrote can be
 * the reason, else EXIT_USAGE, and then the errno decides (fail_refused). */
int command_explain(int result, int code, const char *text);

/* Refuses a name that cannot become the picture of --plot, "" for the terminal, before anything is
 * calculated. 0 or a negative errno. */
int command_check_picture(const struct settings *settings, const char *name, struct err *err);

/* The history that --db names, else the usual one. */
int command_history_path(const struct settings *settings, char *path, size_t size, struct err *err);

/* Seconds since 1970 that --since goes back to; 0 without. */
double command_since_s(const struct settings *settings);

/* The manual page fstune(1) as roff. What no table knows - exit codes, files, examples over several commands
 * - stands in its source. A write that failed is left in ferror(out). */
void manual_print(FILE *out);

/* The script that completes the command line for a shell: "bash", "zsh" or "fish". 0, or -EINVAL for another
 * one. */
int completion_print(FILE *out, const char *shell);

/* The whole program, for a main: from its arguments to its exit code, signals and output included. */
int program_run(int argc, char **argv);

/* The commands one by one, in the order of the program's help; NULL behind the last. */
const struct command *command_row(size_t i);

extern const struct command command_recommend, command_measure, command_doctor, command_emit, command_history,
    command_retune, command_plot, command_report, command_experiment, command_calibrate, command_predict,
    command_advise, command_cost, command_atoms, command_profile, command_replay, command_analyse,
    command_watch, command_fleet, command_manager;
