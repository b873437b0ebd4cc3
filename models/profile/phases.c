/* models/profile/phases: the timeline cut where two mixes explain it better than one.
 *
 * Among all ways to cut it, the one with the largest likelihood less a price for each part is found by
 * dynamic programming (optimal partitioning, Jackson et al. 2005). An interval counts as a few requests at
 * most: a mix that shifts by a hair over a million requests is no other phase. */
#include "models/profile/phases.h"

#include <math.h>

#define MOST_INTERVALS 256
#define MOST_WEIGHT    30.0 /* requests that an interval stands for at most */
#define LEAST_SHARE    0.01 /* of all requests, of a part that is told */
#define PRICE          8.0  /* of a part, in units of log-likelihood, beside the logarithm of all weights */

struct sums {
    double of[MOST_INTERVALS + 1][TIMELINE_N_KINDS]; /* of the weights before each interval */
};

static uint64_t count(const struct timeline_interval *interval)
{
    uint64_t n = 0;
    for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
        n += interval->n[kind];
    return n;
}

static void add_up(struct sums *sums, const struct timeline_interval *intervals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double all = (double)count(&intervals[i]), scale = all > MOST_WEIGHT ? MOST_WEIGHT / all : 1;
        for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
            sums->of[i + 1][kind] = sums->of[i][kind] + scale * (double)intervals[i].n[kind];
    }
}

/* What the intervals from..to - 1 cost with one mix. */
static double cost(const struct sums *sums, size_t from, size_t to)
{
    double all = 0, likelihood = 0;
    for (int kind = 0; kind < TIMELINE_N_KINDS; kind++) {
        double n = sums->of[to][kind] - sums->of[from][kind];
        all += n;
        likelihood += n > 1e-9 ? n * log(n) : 0;
    }
    return all > 1e-9 ? all * log(all) - likelihood : 0;
}

/* before[j]: where the last part of the best cut of the first j intervals begins. */
static void cut(const struct sums *sums, size_t n, size_t *before)
{
    double best[MOST_INTERVALS + 1] = {0}, all = 0;
    for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
        all += sums->of[n][kind];
    double price = PRICE + 2 * log1p(all);
    for (size_t j = 1; j <= n; j++) {
        best[j] = INFINITY;
        for (size_t i = 0; i < j; i++) {
            double total = best[i] + cost(sums, i, j) + price;
            if (total < best[j]) {
                best[j] = total;
                before[j] = i;
            }
        }
    }
}

static struct phase make_phase(const struct store *store, size_t from, size_t to)
{
    double length_s = ldexp(1e-9, (int)store->timeline.log2_ns);
    double end_s = (double)store_spent_ns(store) / 1e9;
    struct phase phase = {.start_s = (double)from * length_s, .end_s = fmin((double)to * length_s, end_s)};
    for (size_t i = from; i < to; i++) {
        const struct timeline_interval *interval = &store_intervals(store)[i];
        for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
            phase.n[kind] += interval->n[kind];
        phase.n_bytes += interval->n_bytes;
    }
    return phase;
}

static uint64_t n_of(const struct phase *phase)
{
    uint64_t n = 0;
    for (int kind = 0; kind < TIMELINE_N_KINDS; kind++)
        n += phase->n[kind];
    return n;
}

size_t phases_find(const struct store *store, struct phase ret[PHASES_MOST])
{
    struct sums sums = {0};
    size_t before[MOST_INTERVALS + 1] = {0}, ends[MOST_INTERVALS], n_parts = 0, n_phases = 0, n = 0;
    const struct timeline_interval *intervals = store_intervals(store);
    uint64_t all = 0;
    for (size_t i = 0; i < store->timeline.n_intervals && i < MOST_INTERVALS; i++) {
        all += count(&intervals[i]);
        n = count(&intervals[i]) > 0 ? i + 1 : n;
    }
    add_up(&sums, intervals, n);
    cut(&sums, n, before);
    for (size_t end = n; end > 0; end = before[end])
        ends[n_parts++] = end;
    for (size_t i = n_parts; i > 0 && n_phases < PHASES_MOST; i--) {
        struct phase phase = make_phase(store, before[ends[i - 1]], ends[i - 1]);
        if ((double)n_of(&phase) >= LEAST_SHARE * (double)all)
            ret[n_phases++] = phase;
    }
    return n_phases;
}
