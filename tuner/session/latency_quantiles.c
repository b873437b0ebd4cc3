/* tuner/session/latency_quantiles: a quantile function by points. */
#include "tuner/session/latency_quantiles.h"

static const double shares[LATENCY_QUANTILES_N] = {
    0,    0.02, 0.05,  0.1,  0.15,  0.2,   0.25,  0.3,   0.35,   0.4,    0.45,
    0.5,  0.55, 0.6,   0.65, 0.7,   0.75,  0.8,   0.85,  0.9,    0.93,   0.95,
    0.97, 0.98, 0.985, 0.99, 0.993, 0.996, 0.998, 0.999, 0.9995, 0.9998, 1,
};

struct latency_quantiles latency_quantiles_of(const struct histogram *latency)
{
    struct latency_quantiles quantiles = {.n = latency->n};
    if (histogram_quantiles_ns(latency, shares, LATENCY_QUANTILES_N, quantiles.ns) < 0)
        quantiles.n = 0;
    return quantiles;
}

void latency_quantiles_unfold(const struct latency_quantiles *quantiles, double mean_ns,
                              struct histogram *histogram)
{
    uint64_t done = 0;
    if (quantiles->n == 0)
        return;
    for (size_t i = 0; i + 1 < LATENCY_QUANTILES_N; i++) {
        uint64_t upto = (uint64_t)((double)quantiles->n * shares[i + 1]);
        upto = i + 2 == LATENCY_QUANTILES_N || upto > quantiles->n ? quantiles->n : upto;
        uint64_t middle_ns = quantiles->ns[i] + (quantiles->ns[i + 1] - quantiles->ns[i]) / 2;
        if (upto > done)
            histogram_add(histogram, middle_ns, upto - done);
        done = upto;
    }
    histogram->min_ns = quantiles->ns[0];
    histogram->max_ns = quantiles->ns[LATENCY_QUANTILES_N - 1];
    if (mean_ns > 0)
        histogram->sum_ns = mean_ns * (double)histogram->n;
}

/* Share of requests up to ns. Buckets make ties, of which half count: a percentile inside the last bucket of
 * all runs would else have nothing beyond it, however much the runs differ. */
static double share_below(const struct latency_quantiles *quantiles, double ns)
{
    size_t first = 0;
    while (first < LATENCY_QUANTILES_N && (double)quantiles->ns[first] < ns)
        first++;
    size_t next = first;
    while (next < LATENCY_QUANTILES_N && (double)quantiles->ns[next] == ns)
        next++;
    if (next > first)
        return (shares[first] + shares[next - 1]) / 2;
    if (first == 0 || first == LATENCY_QUANTILES_N)
        return first == 0 ? 0 : 1;
    double low = (double)quantiles->ns[first - 1], high = (double)quantiles->ns[first];
    return shares[first - 1] + (shares[first] - shares[first - 1]) * (ns - low) / (high - low);
}

double latency_quantiles_beyond(const struct latency_quantiles *quantiles, double ns)
{
    return quantiles->n == 0 ? 0 : (double)quantiles->n * (1 - share_below(quantiles, ns));
}
