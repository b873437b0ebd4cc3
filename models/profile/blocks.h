/* models/profile/blocks: which 4 KiB blocks are used, how often, and after how many others again.
 *
 * Blocks are sampled by a hash of where they stand (SHARDS, Waldspurger et al. 2015): one block in 2^shift,
 * the same ones always. The table begins with all blocks; when it is full, the shift grows by one, and
 * entries that are no longer in the sample make room. The distribution of reuse times gives the hit rates of
 * caches of all sizes (AET, Hu et al. 2016), the counts give the skew. */
#pragma once

#include "models/profile/bins.h"

#include <stddef.h>
#include <stdint.h>

#define BLOCKS_LOG2_BYTES 12

struct blocks_entry {
    uint64_t key;  /* hash of the block; 0: free */
    uint32_t n;    /* times used, at most UINT32_MAX */
    uint32_t when; /* the last time, by the count of blocks, shifted by `shift` of the clock */
};

struct blocks {
    uint64_t shift;
    uint64_t n_accesses;    /* of all blocks, sampled or not: the clock */
    uint64_t n_lost;        /* found no place */
    uint64_t n_first;       /* of those in the sample: seen for the first time */
    uint64_t reuse[BINS_N]; /* accesses of any block between two of a sampled one, in bins */
    uint64_t n_entries;     /* a power of two */
};

/* Fetches the entry of the first block, which is hardly ever in the processor's cache, while other work is
 * done. */
void blocks_expect(const struct blocks *blocks, const struct blocks_entry *entries, uint64_t file,
                   uint64_t offset_bytes);

/* entries: zeroed, as many as blocks->n_entries. */
void blocks_take(struct blocks *blocks, struct blocks_entry *entries, uint64_t file, uint64_t offset_bytes,
                 uint64_t n_bytes);

/* Whether the entry is in the sample of now. */
int blocks_counts(const struct blocks *blocks, const struct blocks_entry *entry);

/* Caches of growing size, and the share of all uses that each would serve, by AET: a cache of size c keeps a
 * block for the time in which c distinct ones pass, which is the integral of the share of uses whose next is
 * farther away. Returns how many there are; 0: nothing was seen. */
struct blocks_cache {
    double n_bytes, served_share;
};
size_t blocks_curve(const struct blocks *blocks, struct blocks_cache ret[BINS_N]);

/* All is forgotten, while others may take some. */
void blocks_forget(struct blocks *blocks, struct blocks_entry *entries);

/* Uses of blocks in the sample. */
uint64_t blocks_n_sampled(const struct blocks *blocks);

/* Distinct blocks, estimated. */
double blocks_distinct(const struct blocks *blocks, const struct blocks_entry *entries);
