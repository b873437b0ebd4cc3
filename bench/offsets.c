/* bench/offsets: sequential streams, and a random walk without memory of where it has been. */
#include "bench/offsets.h"

#include "bench/rng.h"

#include <errno.h>
#include <stdbool.h>

/* The smallest k >= 1 with 2^k >= n. At least 1, so that the shifts below stay inside 1..63. */
static uint32_t log2_ceil(uint64_t n)
{
    return n <= 2 ? 1U : 64U - (uint32_t)__builtin_clzll(n - 1);
}

/* A bijection of the numbers of k bits: each step (xor of a key, product with an odd number, xor of the own
 * upper half) can be undone in k bits. Products carry only upwards and the shifts bring it down again; with
 * three rounds the distances of neighbours still show a pattern where k is small, with four they do not. */
static inline uint64_t mix(uint64_t x, const struct offsets_round *round, uint64_t mask, uint32_t half)
{
    x = ((x ^ round->key) * round->factor) & mask;
    return x ^ x >> half;
}

/* Written out: a loop would add half as many instructions again. */
static inline uint64_t permute(uint64_t x, const struct offsets_round *rounds, uint64_t mask, uint32_t half)
{
    x = mix(x, &rounds[0], mask, half);
    x = mix(x, &rounds[1], mask, half);
    x = mix(x, &rounds[2], mask, half);
    return mix(x, &rounds[3], mask, half);
}

/* What the rounds of a pass have in common, so that a step does not make it anew. */
static void set_key(struct offsets *offsets, uint64_t key)
{
    offsets->key = key;
    for (int round = 0; round < OFFSETS_N_ROUNDS; round++) {
        offsets->rounds[round] = (struct offsets_round){key, 0xff51afd7ed558ccdULL + (key >> 31 << 1)};
        key = key >> 16 | key << 48;
    }
}

/* Several steps of the walk at once: the products of one wait for each other, those of several overlap, and a
 * step is a part of what every request costs. What lies past the region, less than half of the domain, is
 * left out. Steps past the end of the domain begin it again, but the pass is over before they are handed out.
 */
__attribute__((noinline)) static void walk_ahead(struct offsets *offsets)
{
    const uint64_t mask = UINT64_MAX >> (64 - offsets->domain_log2);
    const uint32_t half = (offsets->domain_log2 + 1) / 2;
    uint32_t n = 0;
    for (int i = 0; i < OFFSETS_N_AHEAD; i++) {
        offsets->ahead[n] = permute(offsets->counter++, offsets->rounds, mask, half);
        n += offsets->ahead[n] < offsets->n_units;
    }
    offsets->n_ahead = n;
    offsets->next_ahead = 0;
}

__attribute__((noinline)) static void begin_pass(struct offsets *offsets)
{
    offsets->n_random = 0;
    offsets->counter = 0;
    offsets->n_ahead = offsets->next_ahead = 0;
    set_key(offsets, rng_derive(offsets->key, 1));
}

/* What is seldom done stays out of line, so that the usual step saves no registers. */
static uint64_t next_random_unit(struct offsets *offsets)
{
    if (offsets->n_random == offsets->n_units)
        begin_pass(offsets);
    while (offsets->next_ahead == offsets->n_ahead)
        walk_ahead(offsets);
    offsets->n_random++;
    return offsets->ahead[offsets->next_ahead++];
}

int offsets_init(struct offsets *offsets, const struct pattern *pattern, uint64_t base_bytes,
                 uint64_t region_bytes, uint64_t unit_bytes, uint64_t seed)
{
    if (unit_bytes == 0 || region_bytes < unit_bytes || base_bytes % 512 != 0 ||
        base_bytes > UINT64_MAX - region_bytes)
        return -EINVAL;
    uint64_t n_units = region_bytes / unit_bytes;
    bool both = pattern->percent[PATTERN_SEQ_READ] > 0 && pattern->percent[PATTERN_SEQ_WRITE] > 0;
    *offsets = (struct offsets){
        .base_bytes = base_bytes,
        .unit_bytes = unit_bytes,
        .n_units = n_units,
        .next_seq = {[PATTERN_SEQ_WRITE] = both ? n_units / 2 : 0},
        .domain_log2 = log2_ceil(n_units),
    };
    set_key(offsets, rng_derive(seed, 0));
    return 0;
}

uint64_t offsets_next(struct offsets *offsets, enum pattern_kind kind)
{
    uint64_t unit;
    if (kind == PATTERN_SEQ_READ || kind == PATTERN_SEQ_WRITE) {
        uint64_t *next = &offsets->next_seq[kind];
        unit = *next;
        *next = unit + 1 < offsets->n_units ? unit + 1 : 0;
    } else {
        unit = next_random_unit(offsets);
    }
    return offsets->base_bytes + unit * offsets->unit_bytes;
}
