/* bench/base/rng: random numbers for offsets, mixes and file contents (xoshiro256++ by Blackman and Vigna,
 * seeded by splitmix64). Not for secrets. The search has its own generator (gsl_rng) in models/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_init(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_uniform(struct rng *rng); /* (0,1), never 0 or 1 */
double rng_normal(struct rng *rng);  /* standard normal */
void rng_fill(struct rng *rng, void *buffer, size_t size);

/* The numbers 0 .. n - 1 in random order. */
void rng_order(struct rng *rng, size_t *ret_order, size_t n);

/* A seed from getrandom(2). */
uint64_t rng_seed_from_system(void);

/* Mixes a stream number into a seed, so that streams of one seed are unrelated. */
uint64_t rng_derive(uint64_t seed, uint64_t stream);
