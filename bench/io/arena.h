/* bench/io/arena: user buffers, allocated and faulted in once and reused by every run, so that no run pays
 * for first touches. */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct arena {
    unsigned char *memory; /* page aligned; NULL while empty */
    size_t size;
};

/* Makes at least `size` bytes available, filled with random data; keeps what is there. Pointers into it
 * become invalid when it grows. 0; -ENOMEM, also for more than half of the memory that may be used. */
int arena_reserve(struct arena *arena, uint64_t size, uint64_t seed, struct err *err);

/* Anonymous memory; MAP_FAILED too where a 32-bit process has no addresses for so much. flags: MAP_NORESERVE
 * or 0. */
void *arena_map(uint64_t size, int flags);

/* Accepts a zeroed arena. */
void arena_free(struct arena *arena);
