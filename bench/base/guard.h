/* bench/base/guard: a process of ours that ends a process group when we are gone, however we ended. The
 * kernel does so only for the group's leader (PR_SET_PDEATHSIG), not for what that one started. */
#pragma once

#include "bench/base/err.h"

#include <sys/types.h>

/* Returns the guard's number, or a negative errno. */
pid_t guard_start(pid_t group, struct err *err);

/* The group is left alone from now on. Nothing happens without a guard (0 or negative). */
void guard_stop(pid_t guard);
