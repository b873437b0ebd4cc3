/* bench/observe/beside: the command whose cost is measured. It runs in a process group of its own for as long
 * as it is needed: one that ends is started again, and at the end the whole group is ended. */
#pragma once

#include "bench/base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* What it did meanwhile, as far as the kernel tells. */
struct beside_work {
    double completed;  /* how often it ran to its end */
    double cpu_s;      /* user and system time */
    double read_bytes; /* from storage and to it */
    double written_bytes;
};

struct beside {
    const char *const *argv; /* borrowed */
    pid_t pid;               /* 0: it does not run */
    int pid_fd;
    struct beside_work work; /* of what has ended */
};

/* 0; -ENOENT: there is no such program; other negative errno. */
int beside_start(struct beside *beside, const char *const *argv, struct err *err);

/* To be called when beside->pid_fd is readable: the command has ended. It is started again. -ECANCELED with
 * one line where it failed. */
int beside_again(struct beside *beside, struct err *err);

/* What it has done up to now, descendants included. */
struct beside_work beside_work_now(const struct beside *beside);

/* Ends the group: it is asked first, and killed when it does not obey. */
void beside_stop(struct beside *beside);
