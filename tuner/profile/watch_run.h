/* tuner/profile/watch_run: the kernel's records of a directory or a control group, cut into slices. */
#pragma once

#include "bench/base/err.h"

#include <stdint.h>

struct watch;

struct watch_options {
    const char *directory, *group; /* one of them; the other NULL */
    uint64_t slice_ns;             /* slices begin at whole multiples of it since 1970 */
    uint64_t duration_ns;          /* 0: until a signal comes */
    uint64_t store_bytes;
};

/* 0 when the time is over or a signal came; a negative errno. ret_lost: records that found no room. */
int watch_run(struct watch *watch, const struct watch_options *options, uint64_t *ret_lost, struct err *err);
