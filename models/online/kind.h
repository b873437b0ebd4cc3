/* models/online/kind: what kind of load a slice of time has held: its order, its direction, its size. */
#pragma once

#include "models/profile/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_N    18     /* 2 orders, 3 directions, 3 sizes */
#define KIND_NONE KIND_N /* too few requests to tell */

#define KIND_LEAST_REQUESTS 16
#define KIND_SMALL_BYTES    (32U << 10)  /* requests smaller than this on average are small */
#define KIND_LARGE_BYTES    (128U << 10) /* those of this and more are large */
#define KIND_PURE_SHARE     0.9          /* of the requests in one direction; else the load is mixed */

struct kind_counts {
    uint64_t n[PROFILE_N_DIRECTIONS], n_bytes, n_sequential;
};

unsigned kind_of(const struct kind_counts *counts);

/* "seq-read-large"; "none". */
const char *kind_name(unsigned kind);
/* KIND_NONE: no kind has that name. */
unsigned kind_find(const char *name);

bool kind_is_sequential(unsigned kind);
bool kind_is_large(unsigned kind);
bool kind_only_reads(unsigned kind);
bool kind_only_writes(unsigned kind);
