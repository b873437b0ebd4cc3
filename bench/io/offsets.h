/* bench/io/offsets: where the next request of each kind goes.
 *
 * Offsets are 64-bit multiples of the unit (the request size, or a whole pvec call). Sequential streams walk
 * their region and wrap; random ones visit every unit of the region exactly once per pass (a keyed bijection
 * of a counter in the next power of two, skipping what lies past the region), in another order on every pass.
 * Random reads and random writes draw from one such walk, so that a mix never reads what it has just written
 * within a pass. With both sequential kinds the write stream starts half a region ahead.
 *
 * Reads and writes may have units of their own size. Each stream then counts in its own units, and random
 * reads and random writes, which can no longer share a walk, keep apart in another way: the region is cut
 * into blocks of the larger unit, of which the reads have the even ones and the writes the odd ones, each
 * kind with a walk of its own over all units of its blocks.
 *
 * With a skew, random requests go to some units more often than to others, and come back to them within a
 * pass. The units that zipf wants most lie all over the region, those of hot at its beginning; they are the
 * same for every seed. */
#pragma once

#include "bench/base/pattern.h"
#include "bench/io/skew.h"

#include <stddef.h>
#include <stdint.h>

#define OFFSETS_N_AHEAD  8
#define OFFSETS_N_ROUNDS 4

struct offsets_round {
    uint64_t key, factor;
};

/* A random order of the numbers below n_units, another one on every pass. */
struct offsets_walk {
    uint64_t n_units;  /* >= 1 */
    uint64_t n_random; /* handed out in this pass */
    uint64_t counter;  /* position of the walk in its power-of-two domain */
    uint64_t key;      /* of the present pass, and what its rounds make of it: */
    struct offsets_round rounds[OFFSETS_N_ROUNDS];
    uint32_t domain_log2;
    uint32_t next_ahead, n_ahead;    /* of the units that the walk is ahead ... */
    uint64_t ahead[OFFSETS_N_AHEAD]; /* ... of the requests */
    struct skew_draw skewed;         /* instead of all this, unless its kind is none */
};

/* Pairs: of reads, of writes. */
struct offsets {
    uint64_t base_bytes; /* start of the region */
    uint64_t unit_bytes[2];
    uint64_t n_units[2];  /* whole units in the region, >= 1 */
    uint64_t next_seq[2]; /* unit index of the next sequential request */
    uint64_t block_bytes; /* of the blocks that alternate between the two walks; 0: each has all blocks */
    bool own_walks;       /* writes have the second walk; else all share the first */
    struct offsets_walk walk[2];
};

/* Region [base_bytes, base_bytes + region_bytes); a tail shorter than a unit is left out. base must be a
 * multiple of 512. Units of reads and of writes, the larger a multiple of the smaller. 0, or -EINVAL, also
 * when the region holds no unit for one of the kinds or passes 2^64. */
int offsets_init(struct offsets *offsets, const struct pattern *pattern, uint64_t base_bytes,
                 uint64_t region_bytes, const uint64_t unit_bytes[2], uint64_t seed);

/* From here on random requests are skewed. */
void offsets_skew(struct offsets *offsets, const struct skew *skew, uint64_t seed);

/* Offset in bytes from the start of the file. */
uint64_t offsets_next(struct offsets *offsets, enum pattern_kind kind);

/* The next n at once. */
void offsets_fill(struct offsets *offsets, enum pattern_kind kind, uint64_t *ret_offsets_bytes, size_t n);
