/* tuner/base/interrupt: signals, as a flag that the measurement reads and a descriptor that the waiting
 * thread polls. */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>

/* In interrupt_signal when no signal came, but the time of the command is over and the kernel still holds a
 * request. */
#define INTERRUPT_LATE (-1)

/* Number of the signal that asked the program to end, or INTERRUPT_LATE; 0 before. Read by the pumps. */
extern atomic_int interrupt_signal;

/* Whatever the caller left: nothing is blocked; SIGINT, SIGTERM and SIGHUP are caught, and a second one of
 * them, a tenth of a second later at least, ends the process at once; SIGPIPE and SIGXFSZ are ignored (their
 * system calls fail with an errno instead); SIGCHLD is not, because the ends of children would be lost.
 * SIGINT and SIGHUP stay ignored where they are, as below nohup or in the background of a script. Call once,
 * from main. */
int interrupt_setup(struct err *err);

/* Another signal that asks the program to end, before or after the above. 0 or a negative errno. */
int interrupt_catch_too(int number);

/* In a process forked by one that did the above, and that passes its signals on: one may come twice here, and
 * only the first counts. */
int interrupt_setup_below(struct err *err);

/* While true, a signal ends the process at once, with 128 + its number: for work that is long and leaves
 * nothing behind. One that came before does as well. */
void interrupt_end_at_once(bool at_once);

/* Becomes readable when a signal arrived. */
int interrupt_descriptor(void);

/* Waits so long, or less where the process was stopped and continued. False: fd became readable (-1: there is
 * none), a signal arrived, or nothing can be waited for. */
bool interrupt_wait(int fd, int timeout_ms);

/* How often the process was continued after a stop (Ctrl-Z): a run in which this changes is void. */
int interrupt_n_continued(void);
