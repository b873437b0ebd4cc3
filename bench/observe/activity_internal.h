/* bench/observe/activity_internal: what the ways to run a program share. */
#pragma once

#include "bench/base/err.h"

/* In the child: becomes the command. Does not return. */
void activity_become(const char *const *argv);

/* What the status of its end means. */
int activity_check(const char *name, int status, struct err *err);
