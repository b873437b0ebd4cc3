/* bench/observe/disturber: the command whose cost is measured. It runs in a process group of its own for as
 * long as it is needed: one that ends is started again, and at the end the whole group is ended. */
#pragma once

#include "bench/base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* What it did meanwhile, as far as the kernel tells. */
struct disturber_work {
    double completed;  /* how often it ran to its end */
    double cpu_s;      /* user and system time */
    double read_bytes; /* from storage and to it */
    double written_bytes;
};

struct disturber {
    const char *const *argv; /* borrowed */
    pid_t pid;               /* 0: it does not run */
    pid_t guard;
    int pid_fd;
    pid_t kept[2];              /* children of the caller that are not the command's; 0: none */
    struct disturber_work work; /* of what has ended */
};

/* Until disturber_stop what the command leaves without a parent is our child, and ends with it; so other
 * children of ours with groups of their own have to stand in `kept`. 0; -ENOENT: there is no such program;
 * other negative errno. */
int disturber_start(struct disturber *disturber, const char *const *argv, struct err *err);

/* To be called when disturber->pid_fd is readable: the command has ended. It is started again. -ECANCELED
 * with one line where it failed. */
int disturber_again(struct disturber *disturber, struct err *err);

/* What it has done up to now, descendants included. */
struct disturber_work disturber_work_now(const struct disturber *disturber);

/* Ends the group: it is asked first, and killed when it does not obey. */
void disturber_stop(struct disturber *disturber);
