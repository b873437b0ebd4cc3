/* tuner/profile/record_trace: a recording by the kernel, without a part in the program. */
#pragma once

#include "tuner/profile/record.h"

#include <sys/types.h>

/* As record_program, for programs that no library can be loaded into, too. */
int record_trace_program(struct recording *recording, const char *const *command,
                         const struct record_options *options, struct err *err);

/* A process that runs already, with its children, until it ends, the time is over or a signal comes. */
int record_trace_process(struct recording *recording, pid_t pid, const struct record_options *options,
                         struct err *err);
