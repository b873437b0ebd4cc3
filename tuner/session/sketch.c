/* tuner/session/sketch: a quantile function by points. */
#include "tuner/session/sketch.h"

static const double shares[SKETCH_N_SHARES] = {
    0,    0.02, 0.05,  0.1,  0.15,  0.2,   0.25,  0.3,   0.35,   0.4,    0.45,
    0.5,  0.55, 0.6,   0.65, 0.7,   0.75,  0.8,   0.85,  0.9,    0.93,   0.95,
    0.97, 0.98, 0.985, 0.99, 0.993, 0.996, 0.998, 0.999, 0.9995, 0.9998, 1,
};

struct sketch sketch_of(const struct histogram *latency)
{
    struct sketch sketch = {.n = latency->n};
    if (histogram_quantiles_ns(latency, shares, SKETCH_N_SHARES, sketch.ns) < 0)
        sketch.n = 0;
    return sketch;
}

void sketch_unfold(const struct sketch *sketch, double mean_ns, struct histogram *histogram)
{
    uint64_t done = 0;
    if (sketch->n == 0)
        return;
    for (size_t i = 0; i + 1 < SKETCH_N_SHARES; i++) {
        uint64_t upto = (uint64_t)((double)sketch->n * shares[i + 1]);
        upto = i + 2 == SKETCH_N_SHARES || upto > sketch->n ? sketch->n : upto;
        uint64_t middle_ns = sketch->ns[i] + (sketch->ns[i + 1] - sketch->ns[i]) / 2;
        if (upto > done)
            histogram_add(histogram, middle_ns, upto - done);
        done = upto;
    }
    histogram->min_ns = sketch->ns[0];
    histogram->max_ns = sketch->ns[SKETCH_N_SHARES - 1];
    if (mean_ns > 0)
        histogram->sum_ns = mean_ns * (double)histogram->n;
}

/* Share of requests up to ns. Buckets make ties, of which half count: a percentile inside the last bucket of
 * all runs would else have nothing beyond it, however much the runs differ. */
static double share_below(const struct sketch *sketch, double ns)
{
    size_t first = 0;
    while (first < SKETCH_N_SHARES && (double)sketch->ns[first] < ns)
        first++;
    size_t next = first;
    while (next < SKETCH_N_SHARES && (double)sketch->ns[next] == ns)
        next++;
    if (next > first)
        return (shares[first] + shares[next - 1]) / 2;
    if (first == 0 || first == SKETCH_N_SHARES)
        return first == 0 ? 0 : 1;
    double low = (double)sketch->ns[first - 1], high = (double)sketch->ns[first];
    return shares[first - 1] + (shares[first] - shares[first - 1]) * (ns - low) / (high - low);
}

double sketch_beyond(const struct sketch *sketch, double ns)
{
    return sketch->n == 0 ? 0 : (double)sketch->n * (1 - share_below(sketch, ns));
}
