/* tuner/base/fail: how a command fails: its exit code, and one line on stderr. */
#pragma once

/* Exit codes. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_INCONCLUSIVE = 3,
    EXIT_FINDINGS = 3, /* of doctor */
    EXIT_BEHIND = 4,   /* of retune: the current setting, or the throughput, has fallen behind */
    EXIT_NOTHING = 5,
    EXIT_SIGNAL = 128 /* plus the signal's number */
};

/* Prints "fstune: TEXT" on stderr. Returns code. */
int fail_with(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What it printed last with a code other than EXIT_DONE; "" for nothing. */
const char *fail_text(void);

/* The same for what was refused before anything was done: exit code 1 where the machine is the reason (no
 * space, read-only, no memory), 2 where the user's words are. */
int fail_refused(int result, const char *text);
