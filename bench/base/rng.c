/* bench/base/rng: xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64 (Steele, Lea and Flood 2014).
 */
#include "bench/base/rng.h"

#include "bench/base/clock.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define GOLDEN_GAMMA 0x9e3779b97f4a7c15ULL

/* The finaliser of splitmix64: a bijection in which every input bit changes half of the output bits. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned n)
{
    return (x << n) | (x >> (64 - n));
}

void rng_init(struct rng *rng, uint64_t seed)
{
    /* mix is a bijection of four different inputs, so the four words are never all zero (the one forbidden
     * state). */
    for (uint64_t i = 0; i < 4; i++)
        rng->s[i] = mix(seed + (i + 1) * GOLDEN_GAMMA);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double rng_uniform(struct rng *rng)
{
    /* Middles of 2^52 equal cells: the outermost are 2^-53 and 1 - 2^-53, both exact. */
    return ((double)(rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

/* Marsaglia's polar method. Its second number is thrown away: to keep it would make the generator's state
 * depend on what was drawn before. */
double rng_normal(struct rng *rng)
{
    double u, v, square;
    do {
        u = 2.0 * rng_uniform(rng) - 1.0;
        v = 2.0 * rng_uniform(rng) - 1.0;
        square = u * u + v * v;
    } while (square >= 1.0 || square == 0.0);
    return u * sqrt(-2.0 * log(square) / square);
}

void rng_fill(struct rng *rng, void *buffer, size_t size)
{
    unsigned char *bytes = buffer;
    while (size >= sizeof(uint64_t)) {
        uint64_t word = rng_next(rng);
        memcpy(bytes, &word, sizeof(word));
        bytes += sizeof(word);
        size -= sizeof(word);
    }
    if (size > 0) {
        uint64_t word = rng_next(rng);
        memcpy(bytes, &word, size);
    }
}

uint64_t rng_seed_from_system(void)
{
    uint64_t seed;
    ssize_t n;
    do
        n = getrandom(&seed, sizeof(seed), 0);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof(seed))
        return seed;
    /* A sandbox may forbid getrandom; runs must still differ from each other. */
    return rng_derive(clock_now_ns(&clock_monotonic), (uint64_t)getpid());
}

uint64_t rng_derive(uint64_t seed, uint64_t stream)
{
    return mix(mix(seed + GOLDEN_GAMMA) + (stream + 1) * 0xd1342543de82ef95ULL);
}

void rng_order(struct rng *rng, size_t *ret_order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ret_order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = rng_next(rng) % i, held = ret_order[i - 1];
        ret_order[i - 1] = ret_order[other];
        ret_order[other] = held;
    }
}
