/* tuner/interrupt: signals, as a flag that the measurement reads and a descriptor that the waiting thread
 * polls. */
#ifndef FSTUNE_TUNER_INTERRUPT_H
#define FSTUNE_TUNER_INTERRUPT_H

#include "bench/err.h"

#include <stdatomic.h>
#include <stdbool.h>

/* In interrupt_signal when no signal came, but the time of the command is over and the kernel still holds a
 * request. */
#define INTERRUPT_LATE (-1)

/* Number of the signal that asked the program to end, or INTERRUPT_LATE; 0 before. Read by the pumps. */
extern atomic_int interrupt_signal;

/* Catches SIGINT, SIGTERM, SIGHUP; ignores SIGPIPE and SIGXFSZ (their system calls fail with an errno
 * instead). A second signal of the first three ends the process at once. Call once, from main. */
int interrupt_setup(struct err *err);

/* While true, a signal ends the process at once, with 128 + its number: for work that is long and leaves
 * nothing behind. One that came before does as well. */
void interrupt_end_at_once(bool at_once);

/* Becomes readable when a signal arrived. */
int interrupt_descriptor(void);

/* How often the process was continued after a stop (Ctrl-Z): a run in which this changes is void. */
int interrupt_n_continued(void);

#endif
