/* How soon, how often rightly and at what price the self-tuning disk chooses, on loads of known rates: reads
 * of a sequential kind, of which reading ahead has a gain (1: none), direct and split requests lose. Then the
 * same where reading ahead makes one request in twenty wait ten times as long: it must not be taken.
 *
 * usage: online [SEARCHES] (of each case; 4) */
#include "models/online/online.h"
#include "bench/base/rng.h"
#include "tuner/nightly/disk_ways.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SLICE_SECONDS 0.05
#define MOST_SLICES   20000
#define N_REQUESTS    100 /* of a slice */
#define MEDIAN_NS     1e6 /* of their latencies at the rate of 1 */
#define SCATTER       0.5 /* standard deviation of their logarithms */
#define SLOW_SHARE    0.05

struct outcome {
    size_t n_settled, n_gained, n_lost, n_slices, n_refused;
    double regret_share;
};

static struct disk_ways ways = {.can_direct = true, .can_split = true};

static struct fst_space *space_of(void *context, unsigned kind)
{
    (void)context;
    return disk_ways_space(&ways, kind);
}

static bool may_use(void *context, const struct online_setting *setting)
{
    (void)context;
    (void)setting;
    return true;
}

static double rate_of(struct image_way way, double gain)
{
    double ahead = way.ahead_bytes == 0 ? 0.7 : way.ahead_bytes > IMAGE_AHEAD_KERNEL ? gain : 1;
    return 1e9 * ahead * (way.direct ? 0.6 : 1) * (way.piece_bytes > 0 ? 0.9 : 1);
}

static void draw_latencies(struct rng *rng, double rate, double slow_share, struct latency_counts *counts)
{
    for (size_t i = 0; i < N_REQUESTS; i++) {
        double ns = MEDIAN_NS / rate * exp(SCATTER * rng_normal(rng));
        counts->n[LATENCY_MOVES][latency_bucket((uint64_t)(rng_uniform(rng) < slow_share ? 10 * ns : ns))]++;
    }
}

static struct online_setting next_of(struct online *online, struct online_slice slice)
{
    struct online_thought thought;
    struct online_setting next = online_next(online, &slice);
    while (online_thought_take(online, &thought)) {
        online_think(&thought);
        online_thought_give(online, &thought);
    }
    return next;
}

/* slow_share: of the requests where reading ahead has a gain. */
static void search(uint64_t seed, double noise, double gain, double slow_share, struct outcome *outcome)
{
    unsigned kind = kind_find("seq-read-large");
    struct rng rng;
    struct online online;
    struct online_options options = {.regret_share = 0.03,
                                     .n_factors = DISK_WAYS_N,
                                     .is_timed = true,
                                     .seed = seed,
                                     .space = space_of,
                                     .may_use = may_use,
                                     .first = disk_ways_to_setting(DISK_WAYS_PLAIN)};
    struct online_setting setting = options.first;
    rng_init(&rng, seed);
    online_init(&online, &options);
    for (size_t i = 0; i < MOST_SLICES && !online.mind[kind].is_settled; i++) {
        struct image_way way = disk_ways_of_setting(&setting);
        double bps = rate_of(way, gain) * exp(noise * rng_normal(&rng));
        struct online_slice slice = {.kind = kind,
                                     .setting = setting,
                                     .n_bytes = (uint64_t)(bps * SLICE_SECONDS),
                                     .seconds = SLICE_SECONDS,
                                     .end_seconds = SLICE_SECONDS * (double)i,
                                     .is_whole = true};
        draw_latencies(&rng, bps / 1e9, way.ahead_bytes > IMAGE_AHEAD_KERNEL ? slow_share : 0,
                       &slice.latencies);
        setting = next_of(&online, slice);
        outcome->n_slices++;
    }
    double rate = rate_of(disk_ways_of_setting(&online.mind[kind].best), gain) / 1e9;
    outcome->n_settled += online.mind[kind].is_settled;
    outcome->n_gained += rate > 1;
    outcome->n_lost += rate < 1;
    outcome->n_refused += online.n_refused;
    outcome->regret_share += online.regret_bytes / online.served_bytes;
    online_done(&online);
}

/* Returns how many searches have chosen wrongly. */
static size_t try_all(size_t n, double slow_share)
{
    static const double noises[] = {0.03, 0.1, 0.25}, gains[] = {1, 1.1, 1.5};
    size_t n_wrong = 0;
    for (size_t i = 0; i < 9 && n > 0; i++) {
        struct outcome outcome = {0};
        for (size_t seed = 1; seed <= n; seed++)
            search(seed, noises[i / 3], gains[i % 3], slow_share, &outcome);
        printf("noise %.2f, gain %.1f, slow %.2f: %zu of %zu settled after %zu slices, %zu gained, %zu lost, "
               "%zu refused, price %.1f %%\n",
               noises[i / 3], gains[i % 3], slow_share, outcome.n_settled, n, outcome.n_slices / n,
               outcome.n_gained, outcome.n_lost, outcome.n_refused, 100 * outcome.regret_share / (double)n);
        n_wrong += outcome.n_lost + (slow_share > 0 ? outcome.n_gained : 0);
    }
    return n_wrong;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
    return try_all(n, 0) + try_all(n, SLOW_SHARE) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
