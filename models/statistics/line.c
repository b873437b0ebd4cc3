/* models/statistics/line: cumulative sums against their chord. */
#include "models/statistics/line.h"

#include "models/statistics/student.h"

#include <math.h>

/* Standard errors that a change must reach: its moment is searched for. */
#define NOTICED 3.4
/* A smaller change, as a share of the mean, does not matter; nor do sums that are rounded differently. */
#define LEAST_SHARE      0.002
#define MOST_CORRELATION 0.9

/* Where the sum of n values leaves its chord. */
struct bend {
    double errors; /* at most, in standard errors of such a sum of noise with standard deviation 1 */
    size_t at;     /* values before that moment */
    double off;    /* at most, as a share of the sum */
};

/* Root of the variance, by value, of the sum of many: of AR(1) noise whose correlation comes from differences
 * one and two values apart, which slow changes hardly move. */
static double scatter_of(const double *values, size_t n)
{
    double one = 0, two = 0;
    for (size_t i = 2; i < n; i++) {
        double near = values[i] - values[i - 1], far = values[i] - values[i - 2];
        one += near * near / (double)(n - 2);
        two += far * far / (double)(n - 2);
    }
    double correlation = one > 0 ? fmin(fmax(two / one - 1, 0), MOST_CORRELATION) : 0;
    return sqrt(one / 2 * (1 + correlation)) / (1 - correlation);
}

static struct bend bend_of(const double *values, size_t n)
{
    struct bend bend = {0};
    double mean = moments_of(values, n).mean, sum = 0;
    for (size_t i = 0; i + 1 < n && mean > 0; i++) {
        sum += values[i] - mean;
        double share = (double)(i + 1) / (double)n,
               errors = fabs(sum) / sqrt((double)n * share * (1 - share));
        bend.off = fmax(bend.off, fabs(sum) / (mean * (double)n));
        if (errors > bend.errors) {
            bend.errors = errors;
            bend.at = i + 1;
        }
    }
    return bend;
}

struct line line_of(const double *values, size_t n)
{
    struct bend bend = bend_of(values, n);
    struct line line = {.held = true, .off = bend.off};
    /* A start raises the scatter of the first half, a late drop that of the second. */
    double scatter =
        n < LINE_LEAST ? INFINITY : fmin(scatter_of(values, n / 2), scatter_of(values + n / 2, n - n / 2));
    double least = LEAST_SHARE * sqrt((double)n) * moments_of(values, n).mean;
    while (line.held && bend.errors > fmax(NOTICED * scatter, least)) {
        line.held = 2 * (line.change + bend.at) <= n;
        line.change += line.held ? bend.at : 0;
        bend = bend_of(values + line.change, n - line.change);
    }
    line.start = LINE_MARGIN * line.change < n / 2 ? LINE_MARGIN * line.change : n / 2;
    return line;
}
