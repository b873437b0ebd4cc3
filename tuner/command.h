/* tuner/command: the commands of fstune. Adding one: a file that ends in its row, and the row in main's
 * table. */
#ifndef FSTUNE_TUNER_COMMAND_H
#define FSTUNE_TUNER_COMMAND_H

/* Exit codes (interfaces, section 1). */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INCONCLUSIVE = 3,
    EXIT_NOTHING = 5,
    EXIT_SIGNAL = 128 /* plus the signal's number */
};

struct command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's own name. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

extern const struct command command_recommend, command_measure;

/* Prints "fstune: TEXT" on stderr. Returns code. */
int command_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
