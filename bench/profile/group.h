/* bench/profile/group: the processes of a control group and of those below it, in both versions of cgroups.
 */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>
#include <sys/types.h>

/* The group's directory: by itself, or as /proc/PID/cgroup and systemd name it ("/system.slice/db.service").
 * 0; -ENOENT where there is none. */
int group_find(const char *name, char *path, size_t size, struct err *err);

/* Each process that is there now; take: 0, or a negative errno that ends it. 0; -ENOENT: the group is gone.
 */
int group_each(const char *path, int (*take)(void *data, pid_t pid, struct err *err), void *data,
               struct err *err);
