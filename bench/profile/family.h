/* bench/profile/family: which processes and threads belong to a process that runs already. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Numbers of the children of its first thread, which has them all in most programs. Returns how many. */
size_t family_children(pid_t pid, pid_t *children, size_t room);

/* Numbers of the threads that it has now; its own is one of them. Returns how many. */
size_t family_threads(pid_t pid, pid_t *threads, size_t room);
