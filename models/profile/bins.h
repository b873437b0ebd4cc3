/* models/profile/bins: a distribution over powers of two, each parted in four, which still knows the values
 * that most of its entries have.
 *
 * A bin counts its entries and keeps one candidate with votes (Boyer and Moore 1981): a value equal to the
 * candidate adds a vote, another one takes one away, and without votes the next value becomes the candidate.
 * So a value that more than half of a bin's entries have is its candidate in the end, and known exactly. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BINS_MAX_LOG2 40UL /* larger values are in the last bin */
#define BINS_N        (BINS_MAX_LOG2 * 4)

struct bins_bin {
    uint64_t n;
    uint64_t candidate; /* its value above BINS_VOTE_BITS bits of votes; 0: none */
};

#define BINS_VOTE_BITS 22

struct bins {
    struct bins_bin bin[BINS_N];
};

struct bins_mode {
    uint64_t value, n;
};

/* The bin of a value, for those that count by themselves. */
size_t bins_of(uint64_t value);

void bins_add(struct bins *bins, uint64_t value);
uint64_t bins_n(const struct bins *bins);

/* The smallest value that at least this share of all entries do not exceed, as its bin's candidate, else the
 * bin's lower bound; 0 for none. */
uint64_t bins_quantile(const struct bins *bins, double share);

/* The values that have at least `share` of all entries each, the most frequent first. Returns how many, at
 * most `room`. */
size_t bins_modes(const struct bins *bins, double share, struct bins_mode *ret_modes, size_t room);
