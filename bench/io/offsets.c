/* bench/io/offsets: sequential streams, and a random walk without memory of where it has been. */
#include "bench/io/offsets.h"

#include "bench/base/rng.h"

#include <errno.h>
#include <stdbool.h>

/* Of the places that are wanted most, the same in every run. */
#define PLACES_KEY 0x5bf03635f0a31b2dULL

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

/* Each step is written out, because a loop would add half as many instructions again. */
static inline uint64_t permute(uint64_t x, const struct offsets_round *rounds, uint64_t mask, uint32_t half)
{
    x = mix(x, &rounds[0], mask, half);
    x = mix(x, &rounds[1], mask, half);
    x = mix(x, &rounds[2], mask, half);
    return mix(x, &rounds[3], mask, half);
}

/* What the rounds of a pass have in common, so that a step does not make it anew. */
static void set_key(struct offsets_walk *walk, uint64_t key)
{
    walk->key = key;
    for (int round = 0; round < OFFSETS_N_ROUNDS; round++) {
        walk->rounds[round] = (struct offsets_round){key, 0xff51afd7ed558ccdULL + (key >> 31 << 1)};
        key = key >> 16 | key << 48;
    }
}

/* Several steps of the walk at once: the products of one wait for each other, those of several overlap, and a
 * step is a part of what every request costs. What lies past the region, less than half of the domain, is
 * left out. Steps past the end of the domain begin it again, but the pass is over before they are handed out.
 */
__attribute__((noinline)) static void walk_ahead(struct offsets_walk *walk)
{
    const uint64_t mask = UINT64_MAX >> (64 - walk->domain_log2);
    const uint32_t half = (walk->domain_log2 + 1) / 2;
    uint32_t n = 0;
    for (int i = 0; i < OFFSETS_N_AHEAD; i++) {
        walk->ahead[n] = permute(walk->counter++, walk->rounds, mask, half);
        n += walk->ahead[n] < walk->n_units;
    }
    walk->n_ahead = n;
    walk->next_ahead = 0;
}

__attribute__((noinline)) static void begin_pass(struct offsets_walk *walk)
{
    walk->n_random = 0;
    walk->counter = 0;
    walk->n_ahead = walk->next_ahead = 0;
    set_key(walk, rng_derive(walk->key, 1));
}

/* Ranks are spread over the units by the bijection of the walk; a number past the last unit leads to another
 * one, until one is below. */
__attribute__((noinline)) static uint64_t next_skewed_unit(struct offsets_walk *walk)
{
    const uint64_t mask = UINT64_MAX >> (64 - walk->domain_log2);
    const uint32_t half = (walk->domain_log2 + 1) / 2;
    uint64_t unit = skew_draw_next(&walk->skewed);
    if (walk->skewed.skew.kind != SKEW_ZIPF)
        return unit;
    do
        unit = permute(unit, walk->rounds, mask, half);
    while (unit >= walk->n_units);
    return unit;
}

/* What is seldom done stays out of line, so that the usual step saves no registers. */
static uint64_t next_random_unit(struct offsets_walk *walk)
{
    if (walk->skewed.skew.kind != SKEW_NONE)
        return next_skewed_unit(walk);
    if (walk->n_random == walk->n_units)
        begin_pass(walk);
    while (walk->next_ahead == walk->n_ahead)
        walk_ahead(walk);
    walk->n_random++;
    return walk->ahead[walk->next_ahead++];
}

/* Units of one kind in the region: all of them, or those of every second block. */
static uint64_t count_units(uint64_t region_bytes, uint64_t unit_bytes, uint64_t block_bytes, bool odd)
{
    if (block_bytes == 0)
        return region_bytes / unit_bytes;
    return (region_bytes / block_bytes + (odd ? 0 : 1)) / 2 * (block_bytes / unit_bytes);
}

static void walk_init(struct offsets_walk *walk, uint64_t n_units, uint64_t key)
{
    *walk = (struct offsets_walk){.n_units = n_units, .domain_log2 = log2_ceil(n_units)};
    set_key(walk, key);
}

int offsets_init(struct offsets *offsets, const struct pattern *pattern, uint64_t base_bytes,
                 uint64_t region_bytes, const uint64_t unit_bytes[2], uint64_t seed)
{
    uint64_t small = unit_bytes[0], large = unit_bytes[1], n_random[2];
    if (small > large) {
        small = unit_bytes[1];
        large = unit_bytes[0];
    }
    if (small == 0 || large % small != 0 || region_bytes < large || base_bytes % 512 != 0 ||
        base_bytes > UINT64_MAX - region_bytes)
        return -EINVAL;
    const uint32_t *percent = pattern->percent;
    bool both = percent[PATTERN_SEQ_READ] > 0 && percent[PATTERN_SEQ_WRITE] > 0;
    bool apart = small != large && percent[PATTERN_RAND_READ] > 0 && percent[PATTERN_RAND_WRITE] > 0;
    for (int i = 0; i < 2; i++) {
        n_random[i] = count_units(region_bytes, unit_bytes[i], apart ? large : 0, i == 1);
        if (n_random[i] == 0)
            return -EINVAL;
    }
    *offsets = (struct offsets){
        .base_bytes = base_bytes, .block_bytes = apart ? large : 0, .own_walks = small != large};
    for (uint64_t i = 0; i < 2; i++) {
        offsets->unit_bytes[i] = unit_bytes[i];
        offsets->n_units[i] = region_bytes / unit_bytes[i];
        walk_init(&offsets->walk[i], n_random[i], rng_derive(seed, 2 * i));
    }
    offsets->next_seq[PATTERN_SEQ_WRITE] = both ? offsets->n_units[1] / 2 : 0;
    return 0;
}

void offsets_skew(struct offsets *offsets, const struct skew *skew, uint64_t seed)
{
    for (uint64_t i = 0; i < 2; i++) {
        struct offsets_walk *walk = &offsets->walk[i];
        walk_init(walk, walk->n_units, PLACES_KEY);
        skew_draw_init(&walk->skewed, skew, walk->n_units, rng_derive(seed, i));
    }
}

/* A random unit of a kind that has a walk of its own. */
__attribute__((noinline)) static uint64_t next_of_own_walk(struct offsets *offsets, unsigned is_write)
{
    uint64_t inside = next_random_unit(&offsets->walk[is_write]) * offsets->unit_bytes[is_write];
    if (offsets->block_bytes == 0)
        return offsets->base_bytes + inside;
    uint64_t n_blocks_of_the_other = inside / offsets->block_bytes + is_write;
    return offsets->base_bytes + inside + n_blocks_of_the_other * offsets->block_bytes;
}

static uint64_t next_of_stream(struct offsets *offsets, unsigned is_write)
{
    uint64_t *next = &offsets->next_seq[is_write], unit = *next;
    *next = unit + 1 < offsets->n_units[is_write] ? unit + 1 : 0;
    return offsets->base_bytes + unit * offsets->unit_bytes[is_write];
}

uint64_t offsets_next(struct offsets *offsets, enum pattern_kind kind)
{
    if (kind == PATTERN_SEQ_READ || kind == PATTERN_SEQ_WRITE)
        return next_of_stream(offsets, kind == PATTERN_SEQ_WRITE);
    if (offsets->own_walks)
        return next_of_own_walk(offsets, kind == PATTERN_RAND_WRITE);
    return offsets->base_bytes + next_random_unit(&offsets->walk[0]) * offsets->unit_bytes[0];
}

/* Units that all kinds share, as many as the walk is ahead. */
static size_t fill_from_walk(struct offsets *offsets, uint64_t *ret_offsets_bytes, size_t n)
{
    struct offsets_walk *walk = &offsets->walk[0];
    ret_offsets_bytes[0] = offsets->base_bytes + next_random_unit(walk) * offsets->unit_bytes[0];
    uint64_t n_left = walk->n_units - walk->n_random, n_ahead = walk->n_ahead - walk->next_ahead;
    size_t more = n_ahead < n_left ? n_ahead : n_left;
    if (more > n - 1)
        more = n - 1;
    for (size_t i = 0; i < more; i++)
        ret_offsets_bytes[1 + i] =
            offsets->base_bytes + walk->ahead[walk->next_ahead + i] * offsets->unit_bytes[0];
    walk->next_ahead += (uint32_t)more;
    walk->n_random += more;
    return 1 + more;
}

void offsets_fill(struct offsets *offsets, enum pattern_kind kind, uint64_t *ret_offsets_bytes, size_t n)
{
    bool shared = (kind == PATTERN_RAND_READ || kind == PATTERN_RAND_WRITE) && !offsets->own_walks;
    size_t i = 0;
    while (shared && i < n)
        i += fill_from_walk(offsets, ret_offsets_bytes + i, n - i);
    for (; i < n; i++)
        ret_offsets_bytes[i] = offsets_next(offsets, kind);
}
