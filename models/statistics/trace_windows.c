/* models/statistics/trace_windows: what is done to single windows before a series is looked at as a whole. */
#include "models/statistics/student.h"
#include "models/statistics/trace_internal.h"

#include <math.h>
#include <string.h>

#define REACH      4 /* windows on either side that a window is compared with */
#define WIDE_REACH 8
#define MAX_RUN    2   /* windows in a row that still make one spike */
#define FAR        6.0 /* standard deviations */
#define FAR_LOCALLY                                                                                          \
    4.0 /* the scatter of few windows is known badly; it only guards against a noisier stretch */
#define FAR_SHARE     0.1 /* of the typical rate */
#define MAX_SHARE     0.1 /* more spikes than that are no exceptions */
#define STD_FROM_MAD  1.4826
#define LEAST_SCATTER 0.001

struct neighbours {
    size_t from, n;
};

static struct neighbours neighbours_of(size_t i, size_t n, size_t reach)
{
    size_t from = i > reach ? i - reach : 0;
    size_t to = i + reach + 1 < n ? i + reach + 1 : n;

    return (struct neighbours){.from = from, .n = to - from};
}

static double local_median(const double *values, size_t i, size_t n)
{
    double copy[2 * REACH + 1];
    struct neighbours around = neighbours_of(i, n, REACH);

    memcpy(copy, values + around.from, around.n * sizeof(*copy));
    return median_of(copy, around.n);
}

static double local_scatter(const double *values, size_t i, size_t n)
{
    double copy[2 * WIDE_REACH + 1], centre;
    struct neighbours around = neighbours_of(i, n, WIDE_REACH);

    memcpy(copy, values + around.from, around.n * sizeof(*copy));
    centre = median_of(copy, around.n);
    for (size_t k = 0; k < around.n; k++)
        copy[k] = fabs(copy[k] - centre);
    return STD_FROM_MAD * median_of(copy, around.n);
}

static double typical_distance(const double *values, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(values[i] - local_median(values, i, n));
    return fmax(STD_FROM_MAD * median_of(scratch, n), LEAST_SCATTER);
}

static bool stands_out(const double *values, size_t i, size_t n, double scatter)
{
    double distance = fabs(values[i] - local_median(values, i, n));

    return distance > FAR * scatter && distance > FAR_SHARE &&
           distance > FAR_LOCALLY * local_scatter(values, i, n);
}

/* Marks spikes by 1 in `marks`; their number. A run at either end is a beginning or an end, no spike. */
static size_t mark(const double *values, size_t n, double scatter, double *marks)
{
    size_t n_spikes = 0;

    for (size_t i = 0; i < n; i++)
        marks[i] = 0;
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && stands_out(values, end, n, scatter))
            end++;
        if (i > 0 && end > i && end < n && end - i <= MAX_RUN) {
            for (size_t k = i; k < end; k++)
                marks[k] = 1;
            n_spikes += end - i;
        }
        i = end + 1;
    }
    return n_spikes;
}

size_t trace_remove_spikes(double *values, size_t n, double *scratch)
{
    double scatter = typical_distance(values, n, scratch);
    size_t n_spikes = mark(values, n, scatter, scratch);

    if ((double)n_spikes > MAX_SHARE * (double)n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (scratch[i] > 0)
            values[i] = local_median(values, i, n);
    }
    return n_spikes;
}

double trace_scatter(const double *values, size_t n, double *scratch)
{
    for (size_t i = 1; i < n; i++)
        scratch[i - 1] = fabs(values[i] - values[i - 1]);
    return STD_FROM_MAD / sqrt(2) * median_of(scratch, n - 1);
}
