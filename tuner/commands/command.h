/* tuner/commands/command: the commands of fstune. Adding one: a file that ends in its row, and the row in
 * main's table. */
#ifndef FSTUNE_TUNER_COMMANDS_COMMAND_H
#define FSTUNE_TUNER_COMMANDS_COMMAND_H

#include "bench/base/err.h"

#include <stdbool.h>

struct session;

struct command {
    const char *name;
    const char *summary; /* one line, for the program's own help */
    /* Words without dashes that follow the name, "FORMAT", or the choices "list|show"; NULL for none. For the
     * manual page and the completion. */
    const char *operands;
    /* argv[0] is the command's own name. Returns the exit code. */
    int (*run)(const struct command *command, int argc, char **argv);

    /* For its help, the manual page and the completion; command_run_measuring needs them: */
    const char *description, *example;
    unsigned options; /* its bit of the option table */

    /* For command_run_measuring, NULL elsewhere: */
    bool no_pattern; /* it has a workload of its own */
    /* Refuses what can be refused before a byte is written and prints the plan. 0 or a negative errno. */
    int (*plan)(struct session *session, struct err *err);
    /* Measures and prints. An exit code, or a negative errno. */
    int (*measure)(struct session *session, struct err *err);
};

/* A command that measures: options, session, plan, measurement. */
int command_run_measuring(const struct command *command, int argc, char **argv);

struct settings;

/* The same from settings on, which stay where they are until the process ends. */
int command_run_session(const struct command *command, const struct settings *settings);

extern const struct command command_recommend, command_measure, command_doctor, command_emit, command_history,
    command_retune, command_plot, command_report, command_experiment, command_calibrate, command_predict,
    command_advise;

#endif
