/* bench/offsets: where the next request of each kind goes.
 *
 * Offsets are 64-bit multiples of the unit (the request size, or a whole pvec call). Sequential streams walk
 * their region and wrap; random ones visit every unit of the region exactly once per pass (a keyed bijection
 * of a counter in the next power of two, skipping what lies past the region), in another order on every pass.
 * Random reads and random writes draw from one such walk, so that a mix never reads what it has just written
 * within a pass. With both sequential kinds the write stream starts half a region ahead. */
#ifndef FSTUNE_BENCH_OFFSETS_H
#define FSTUNE_BENCH_OFFSETS_H

#include "bench/pattern.h"

#include <stdint.h>

#define OFFSETS_N_AHEAD  8
#define OFFSETS_N_ROUNDS 4

struct offsets_round {
    uint64_t key, factor;
};

struct offsets {
    uint64_t base_bytes; /* start of the region */
    uint64_t unit_bytes;
    uint64_t n_units;     /* units in the region, >= 1 */
    uint64_t next_seq[2]; /* unit index of the next sequential read, write */
    uint64_t n_random;    /* random units handed out in this pass */
    uint64_t counter;     /* position of the walk in its power-of-two domain */
    uint64_t key;         /* of the present pass, and what its rounds make of it: */
    struct offsets_round rounds[OFFSETS_N_ROUNDS];
    uint32_t domain_log2;
    uint32_t next_ahead, n_ahead;    /* of the units that the walk is ahead ... */
    uint64_t ahead[OFFSETS_N_AHEAD]; /* ... of the requests */
};

/* Region [base_bytes, base_bytes + region_bytes); a tail shorter than a unit is left out. base must be a
 * multiple of 512. 0, or -EINVAL when the region holds no unit or passes 2^64. */
int offsets_init(struct offsets *offsets, const struct pattern *pattern, uint64_t base_bytes,
                 uint64_t region_bytes, uint64_t unit_bytes, uint64_t seed);

/* Offset in bytes from the start of the file. */
uint64_t offsets_next(struct offsets *offsets, enum pattern_kind kind);

#endif
