/* bench/observe/reference_internal: what the two kinds of reference share. */
#pragma once

#include "bench/observe/reference.h"

#include <stdatomic.h>

/* One step of our own program, number `step` of a run; what it sums up is added to *sum. */
int reference_step(const struct reference *reference, size_t step, uint64_t *sum);

/* Bytes that it writes. */
uint64_t reference_step_bytes(const struct reference *reference);

/* What was read before would otherwise be read from memory again. */
void reference_drop_files(const struct reference *reference);

/* In the child: notes the time and becomes the shell that runs the command. Does not return. */
void reference_become_command(const char *command, struct reference_board *board);

/* Runs the command once and picks its observation points: its start, files that it opens, and its end. Where
 * opens cannot be seen (fanotify needs root) only start and end are left. 0; -ECANCELED: it failed; -EINTR;
 * other negative errno. */
int reference_survey(struct reference *reference, size_t n_points, const atomic_int *interrupted,
                     struct err *err);
