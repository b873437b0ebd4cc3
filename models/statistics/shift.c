/* A common change of interleaved groups. */
#include "models/statistics/shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* On either side of the change, in groups that were measured on both. */
#define LEAST_VALUES 5

struct cell {
    double before, after; /* sums */
    size_t n_before, n_after;
};

struct totals {
    double weight, weighted; /* of the differences of groups that lie on both sides */
    double n_before, n_after;
};

/* Numbers groups 0, 1, ... in order of appearance. Quadratic in the number of groups at worst. */
static size_t number_groups(const size_t *group, size_t n, size_t *ret_index)
{
    size_t n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (group[first] != group[i])
            first++;
        ret_index[i] = first == i ? n_groups++ : ret_index[first];
    }
    return n_groups;
}

/* Takes the cell's part out of the totals (sign -1) or puts it in (sign 1). */
static void count(struct totals *totals, const struct cell *cell, double sign)
{
    double a = (double)cell->n_after, b = (double)cell->n_before;
    if (cell->n_after == 0 || cell->n_before == 0)
        return;
    double weight = a * b / (a + b);
    totals->weight += sign * weight;
    totals->weighted += sign * weight * (cell->after / a - cell->before / b);
    totals->n_before += sign * b;
    totals->n_after += sign * a;
}

static double scatter_inside(const struct cell *cells, size_t n_groups, const double *values, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += values[i] * values[i];
    for (size_t g = 0; g < n_groups; g++)
        squares -= cells[g].after * cells[g].after / (double)cells[g].n_after;
    return fmax(squares, 0);
}

/* What the best moment explains of the scatter inside the groups. */
static double find_moment(struct cell *cells, const size_t *index, const double *values, size_t n,
                          struct shift *shift)
{
    struct totals totals = {0};
    double most = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        struct cell *cell = &cells[index[i]];
        count(&totals, cell, -1);
        cell->before += values[i];
        cell->n_before++;
        cell->after -= values[i];
        cell->n_after--;
        count(&totals, cell, 1);
        if (totals.n_before < LEAST_VALUES || totals.n_after < LEAST_VALUES)
            continue;
        double explained = totals.weighted * totals.weighted / totals.weight;
        if (explained > most) {
            most = explained;
            shift->change = i + 1;
            shift->difference = totals.weighted / totals.weight;
        }
    }
    return most;
}

/* What a common line explains; its rise from the first to the last value. */
static double find_line(const size_t *index, const double *values, size_t n, double *ret_rise)
{
    double *sums = calloc(n, 3 * sizeof *sums), xx = 0, xy = 0;
    if (sums == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        double *sum = &sums[3 * index[i]];
        sum[0] += 1;
        sum[1] += (double)i;
        sum[2] += values[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double *sum = &sums[3 * index[i]];
        double x = (double)i - sum[1] / sum[0];
        xx += x * x;
        xy += x * (values[i] - sum[2] / sum[0]);
    }
    free(sums);
    *ret_rise = xx > 0 ? xy / xx * (double)(n - 1) : 0;
    return xx > 0 ? xy * xy / xx : 0;
}

static double t_of(double explained, double inside, double df)
{
    double rest = inside - explained;
    if (df < 1 || explained <= 0)
        return 0;
    return sqrt(explained / fmax(rest / df, 1e-12));
}

static int search(struct cell *cells, size_t *index, const size_t *group, const double *values, size_t n,
                  struct shift *shift)
{
    size_t n_groups = number_groups(group, n, index);
    for (size_t i = 0; i < n; i++) {
        cells[index[i]].after += values[i];
        cells[index[i]].n_after++;
    }
    double rise = 0, inside = scatter_inside(cells, n_groups, values, n);
    double by_moment = find_moment(cells, index, values, n, shift);
    double by_line = find_line(index, values, n, &rise);
    if (by_line < 0)
        return -ENOMEM;
    shift->t = t_of(fmax(by_moment, by_line), inside, (double)n - (double)n_groups - 1);
    shift->shifted = shift->t >= SHIFT_T && by_moment >= by_line;
    shift->drifts = shift->t >= SHIFT_T && !shift->shifted;
    if (!shift->shifted)
        shift->change = 0;
    if (by_line > by_moment)
        shift->difference = rise;
    return 0;
}

int shift_of(const size_t *group, const double *values, size_t n, struct shift *ret_shift)
{
    struct shift shift = {0};
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            return -EINVAL;
    }
    struct cell *cells = calloc(n > 0 ? n : 1, sizeof *cells);
    size_t *index = calloc(n > 0 ? n : 1, sizeof *index);
    int result = cells == NULL || index == NULL ? -ENOMEM : 0;
    if (result == 0 && n > 0)
        result = search(cells, index, group, values, n, &shift);
    free(cells);
    free(index);
    if (result == 0)
        *ret_shift = shift;
    return result;
}
