/* models/statistics/anova: least squares on cell means with the sweep operator (Goodnight 1979), which leaves
 * columns out that depend on those before them, as a design with missing cells has them. */
#include "models/statistics/anova.h"

#include "models/statistics/student.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A column whose share not explained by those before it is below this is taken for dependent. */
#define DEPENDENT 1e-9

/* Runs of one combination of levels. */
struct cell {
    const uint32_t *levels;
    struct moments moments;
    double squares; /* about the cell's mean */
};

struct cells {
    size_t n;
    struct cell *cell; /* n of them; owned */
};

/* A linear model on the cells: its columns' cross products, swept. */
struct fit {
    size_t n;                                              /* columns, the mean's included */
    double *matrix;                                        /* (n + 1)^2, the response last; owned */
    bool *in;                                              /* columns that are in the model; owned */
    size_t first[ANOVA_MAX_TERMS], width[ANOVA_MAX_TERMS]; /* columns of each term */
};

/* ---- cells ---- */

struct sorted_run {
    const uint32_t *levels;
    size_t n_factors;
    double response;
};

static int compare_runs(const void *left, const void *right)
{
    const struct sorted_run *a = left, *b = right;
    for (size_t i = 0; i < a->n_factors; i++) {
        if (a->levels[i] != b->levels[i])
            return a->levels[i] < b->levels[i] ? -1 : 1;
    }
    /* Equal cells in an order of their own, so that the same runs give the same bits. */
    return (a->response > b->response) - (a->response < b->response);
}

static int collect_cells(struct cells *cells, const struct anova_data *data)
{
    struct sorted_run *runs = calloc(data->n_runs, sizeof *runs);
    cells->cell = calloc(data->n_runs, sizeof *cells->cell);
    if (runs == NULL || cells->cell == NULL) {
        free(runs);
        return -ENOMEM;
    }
    for (size_t i = 0; i < data->n_runs; i++)
        runs[i] = (struct sorted_run){&data->levels[i * data->n_factors], data->n_factors, data->response[i]};
    qsort(runs, data->n_runs, sizeof *runs, compare_runs);
    for (size_t i = 0; i < data->n_runs; i++) {
        struct cell *last = cells->n > 0 ? &cells->cell[cells->n - 1] : NULL;
        if (last == NULL || memcmp(last->levels, runs[i].levels, data->n_factors * sizeof(uint32_t)) != 0) {
            last = &cells->cell[cells->n++];
            last->levels = runs[i].levels;
        }
        moments_add(&last->moments, runs[i].response);
        last->squares = last->moments.std * last->moments.std * (double)(last->moments.n - 1);
    }
    free(runs);
    return 0;
}

/* ---- columns ---- */

static size_t width_of(const struct anova_data *data, const struct anova_term *term)
{
    size_t width = data->n_levels[term->a] - 1;
    return term->b == ANOVA_NONE ? width : width * (data->n_levels[term->b] - 1);
}

/* Effect coding: the last level is minus the sum of the others. Columns and values of a factor in a cell. */
static size_t code_factor(size_t n_levels, uint32_t level, size_t *ret_columns, double *ret_values)
{
    if (level + 1 < n_levels) {
        ret_columns[0] = level;
        ret_values[0] = 1;
        return 1;
    }
    for (size_t i = 0; i + 1 < n_levels; i++) {
        ret_columns[i] = i;
        ret_values[i] = -1;
    }
    return n_levels - 1;
}

/* Writes a cell's row of the model matrix. */
static void code_cell(const struct anova_data *data, const struct fit *fit, const struct anova_term *terms,
                      size_t n_terms, const struct cell *cell, double *row)
{
    size_t columns[2][ANOVA_MAX_LEVELS];
    double values[2][ANOVA_MAX_LEVELS];
    memset(row, 0, fit->n * sizeof *row);
    row[0] = 1;
    for (size_t t = 0; t < n_terms; t++) {
        const struct anova_term *term = &terms[t];
        size_t n_a = code_factor(data->n_levels[term->a], cell->levels[term->a], columns[0], values[0]);
        size_t n_b = 1, width_b = 1;
        columns[1][0] = 0;
        values[1][0] = 1;
        if (term->b != ANOVA_NONE) {
            n_b = code_factor(data->n_levels[term->b], cell->levels[term->b], columns[1], values[1]);
            width_b = data->n_levels[term->b] - 1;
        }
        for (size_t i = 0; i < n_a; i++) {
            for (size_t j = 0; j < n_b; j++)
                row[fit->first[t] + columns[0][i] * width_b + columns[1][j]] = values[0][i] * values[1][j];
        }
    }
    row[fit->n] = cell->moments.mean;
}

static void add_cell(struct fit *fit, const double *row, double weight)
{
    size_t stride = fit->n + 1;
    for (size_t i = 0; i < stride; i++) {
        if (row[i] == 0)
            continue;
        for (size_t j = i; j < stride; j++)
            fit->matrix[i * stride + j] += weight * row[i] * row[j];
    }
}

static void mirror(struct fit *fit)
{
    size_t stride = fit->n + 1;
    for (size_t i = 0; i < stride; i++) {
        for (size_t j = 0; j < i; j++)
            fit->matrix[i * stride + j] = fit->matrix[j * stride + i];
    }
}

/* ---- sweeping ---- */

/* Brings column k into the model. The matrix stays symmetric up to signs: its swept part is the negative
 * inverse. */
static void sweep(struct fit *fit, size_t k)
{
    size_t stride = fit->n + 1;
    double *pivot_row = &fit->matrix[k * stride];
    double pivot = pivot_row[k];
    for (size_t j = 0; j < stride; j++)
        pivot_row[j] /= pivot;
    for (size_t i = 0; i < stride; i++) {
        double *row = &fit->matrix[i * stride];
        double factor = row[k];
        if (i == k || factor == 0)
            continue;
        for (size_t j = 0; j < stride; j++)
            row[j] -= factor * pivot_row[j];
        row[k] = -factor / pivot;
    }
    pivot_row[k] = 1 / pivot;
}

static int fit_model(struct fit *fit, const struct anova_data *data, const struct cells *cells,
                     const struct anova_term *terms, size_t n_terms)
{
    int result = -ENOMEM;
    double *row = NULL, *diagonal = NULL;
    fit->n = 1;
    for (size_t t = 0; t < n_terms; t++) {
        fit->first[t] = fit->n;
        fit->width[t] = width_of(data, &terms[t]);
        fit->n += fit->width[t];
    }
    size_t stride = fit->n + 1;
    fit->matrix = calloc(stride * stride, sizeof *fit->matrix);
    fit->in = calloc(fit->n, sizeof *fit->in);
    row = calloc(stride, sizeof *row);
    diagonal = calloc(fit->n, sizeof *diagonal);
    if (fit->matrix == NULL || fit->in == NULL || row == NULL || diagonal == NULL)
        goto out;
    for (size_t i = 0; i < cells->n; i++) {
        code_cell(data, fit, terms, n_terms, &cells->cell[i], row);
        add_cell(fit, row, (double)cells->cell[i].moments.n);
    }
    mirror(fit);
    for (size_t k = 0; k < fit->n; k++)
        diagonal[k] = fit->matrix[k * stride + k];
    for (size_t k = 0; k < fit->n; k++) {
        fit->in[k] = fit->matrix[k * stride + k] > DEPENDENT * diagonal[k];
        if (fit->in[k])
            sweep(fit, k);
    }
    result = 0;
out:
    free(row);
    free(diagonal);
    return result;
}

static void fit_done(struct fit *fit)
{
    free(fit->matrix);
    free(fit->in);
    *fit = (struct fit){0};
}

/* What the columns [first, first + width) add to the others: the residual grows by this when they are swept
 * out again, one after the other, of a copy of the part that matters (them and the response). */
static int squares_of_columns(const struct fit *fit, size_t first, size_t width, double *ret_squares,
                              size_t *ret_df)
{
    size_t stride = fit->n + 1, n = 0;
    size_t *columns = calloc(width + 1, sizeof *columns);
    double *part = calloc((width + 1) * (width + 1), sizeof *part);
    struct fit small = {.matrix = part};
    if (columns == NULL || part == NULL) {
        free(columns);
        free(part);
        return -ENOMEM;
    }
    for (size_t k = first; k < first + width; k++) {
        if (fit->in[k])
            columns[n++] = k;
    }
    columns[n] = fit->n;
    small.n = n;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= n; j++)
            part[i * (n + 1) + j] = fit->matrix[columns[i] * stride + columns[j]];
    }
    double before = part[n * (n + 1) + n];
    for (size_t k = 0; k < n; k++)
        sweep(&small, k);
    *ret_squares = fmax(part[n * (n + 1) + n] - before, 0);
    *ret_df = n;
    free(columns);
    free(part);
    return 0;
}

/* ---- the table ---- */

static bool is_valid(const struct anova_data *data)
{
    bool valid = data->n_runs > 0 && data->n_factors > 0 && data->n_factors <= ANOVA_MAX_FACTORS;
    for (size_t i = 0; valid && i < data->n_factors; i++)
        valid = data->n_levels[i] > 0 && data->n_levels[i] <= ANOVA_MAX_LEVELS;
    for (size_t i = 0; valid && i < data->n_runs; i++)
        valid = isfinite(data->response[i]);
    return valid;
}

static bool has_every_level(const struct anova_data *data, size_t factor)
{
    bool seen[ANOVA_MAX_LEVELS] = {false};
    size_t n_seen = 0;
    for (size_t i = 0; i < data->n_runs; i++) {
        uint32_t level = data->levels[i * data->n_factors + factor];
        if (level >= data->n_levels[factor])
            return false;
        n_seen += !seen[level];
        seen[level] = true;
    }
    return n_seen == data->n_levels[factor];
}

static void list_terms(struct anova *anova, const struct anova_data *data)
{
    for (size_t a = 0; a < data->n_factors; a++)
        anova->terms[anova->n_terms++] = (struct anova_term){.a = a, .b = ANOVA_NONE};
    for (size_t a = 0; a < data->n_factors; a++) {
        for (size_t b = a + 1; b < data->n_factors; b++)
            anova->terms[anova->n_terms++] = (struct anova_term){.a = a, .b = b};
    }
    size_t columns = 1;
    for (size_t t = 0; t < anova->n_terms; t++)
        columns += width_of(data, &anova->terms[t]);
    anova->has_interactions = columns <= ANOVA_MAX_COLUMNS;
    if (!anova->has_interactions)
        anova->n_terms = data->n_factors;
}

static void sum_up(struct anova *anova, const struct cells *cells)
{
    double n = 0;
    anova->n_cells = cells->n;
    for (size_t i = 0; i < cells->n; i++) {
        double n_cell = (double)cells->cell[i].moments.n;
        double step = cells->cell[i].moments.mean - anova->mean;
        /* Welford's sums, a cell at a time. */
        anova->mean += step * n_cell / (n + n_cell);
        anova->total_squares += cells->cell[i].squares + step * step * n * n_cell / (n + n_cell);
        anova->error_squares += cells->cell[i].squares;
        anova->error_df += cells->cell[i].moments.n - 1;
        n += n_cell;
    }
}

static void test_term(struct anova_term *term, const struct anova *anova)
{
    double error = anova->error_df > 0 ? anova->error_squares / (double)anova->error_df : NAN;
    term->share = anova->total_squares > 0 ? term->squares / anova->total_squares : 0;
    term->f = term->p = NAN;
    if (term->df == 0 || !(error > 0))
        return;
    term->f = term->squares / (double)term->df / error;
    term->p = gsl_cdf_fdist_Q(term->f, (double)term->df, (double)anova->error_df);
}

/* Squares of the terms [first, first + n) from a fit in which they stand at `first` too. */
static int fill_terms(struct anova *anova, const struct fit *fit, size_t first, size_t n)
{
    int result = 0;
    for (size_t t = first; result == 0 && t < first + n; t++) {
        struct anova_term *term = &anova->terms[t];
        result = squares_of_columns(fit, fit->first[t], fit->width[t], &term->squares, &term->df);
        test_term(term, anova);
    }
    return result;
}

/* What is left between the cells beyond the model. */
static void set_rest(struct anova *anova, const struct fit *fit)
{
    size_t stride = fit->n + 1, rank = 0;
    for (size_t k = 0; k < fit->n; k++)
        rank += fit->in[k];
    anova->rest_squares = fmax(fit->matrix[stride * stride - 1], 0);
    anova->rest_df = anova->n_cells - rank;
}

static int keep_main_effects(struct anova *anova, const struct fit *fit, const struct anova_data *data)
{
    size_t stride = fit->n + 1;
    anova->coefficients = calloc(fit->n, sizeof *anova->coefficients);
    anova->covariance = calloc(fit->n * fit->n, sizeof *anova->covariance);
    if (anova->coefficients == NULL || anova->covariance == NULL)
        return -ENOMEM;
    anova->n_columns = fit->n;
    anova->n_factors = data->n_factors;
    for (size_t i = 0; i < data->n_factors; i++) {
        anova->n_levels[i] = data->n_levels[i];
        anova->first_column[i] = fit->first[i];
    }
    for (size_t i = 0; i < fit->n; i++) {
        if (!fit->in[i])
            continue;
        anova->coefficients[i] = fit->matrix[i * stride + fit->n];
        for (size_t j = 0; j < fit->n; j++)
            anova->covariance[i * fit->n + j] = fit->in[j] ? fit->matrix[i * stride + j] : 0;
    }
    return 0;
}

int anova_fit(struct anova *anova, const struct anova_data *data)
{
    struct cells cells = {0};
    struct fit mains = {0}, pairs = {0};
    *anova = (struct anova){0};
    if (!is_valid(data))
        return -EINVAL;
    for (size_t i = 0; i < data->n_factors; i++) {
        if (!has_every_level(data, i))
            return -EINVAL;
    }
    list_terms(anova, data);
    int result = collect_cells(&cells, data);
    if (result == 0) {
        sum_up(anova, &cells);
        result = fit_model(&mains, data, &cells, anova->terms, data->n_factors);
    }
    if (result == 0)
        result = fill_terms(anova, &mains, 0, data->n_factors);
    if (result == 0)
        result = keep_main_effects(anova, &mains, data);
    if (result == 0)
        set_rest(anova, &mains);
    if (result == 0 && anova->n_terms > data->n_factors) {
        result = fit_model(&pairs, data, &cells, anova->terms, anova->n_terms);
        if (result == 0)
            result = fill_terms(anova, &pairs, data->n_factors, anova->n_terms - data->n_factors);
        if (result == 0)
            set_rest(anova, &pairs);
    }
    free(cells.cell);
    fit_done(&mains);
    fit_done(&pairs);
    if (result < 0)
        anova_done(anova);
    return result;
}

void anova_done(struct anova *anova)
{
    free(anova->coefficients);
    free(anova->covariance);
    *anova = (struct anova){0};
}

/* ---- levels ---- */

/* Effect and variance (in units of the error's) of the difference of two levels; b = n_levels: of a alone. */
static double difference(const struct anova *anova, size_t factor, size_t a, size_t b, double *ret_variance)
{
    size_t n = anova->n_levels[factor], first = anova->first_column[factor];
    double weights[ANOVA_MAX_LEVELS] = {0}, sum = 0, variance = 0;
    for (size_t k = 0; k + 1 < n; k++)
        weights[k] = (a == k ? 1 : 0) - (a + 1 == n ? 1 : 0) - (b == k ? 1 : 0) + (b + 1 == n ? 1 : 0);
    for (size_t i = 0; i + 1 < n; i++) {
        sum += weights[i] * anova->coefficients[first + i];
        for (size_t j = 0; j + 1 < n; j++)
            variance +=
                weights[i] * weights[j] * anova->covariance[(first + i) * anova->n_columns + first + j];
    }
    *ret_variance = variance;
    return sum;
}

static void sort_by_effect(const struct anova_levels *levels, size_t *order)
{
    for (size_t i = 0; i < levels->n; i++) {
        size_t place = i;
        while (place > 0 && levels->effect[order[place - 1]] < levels->effect[i]) {
            order[place] = order[place - 1];
            place--;
        }
        order[place] = i;
    }
}

void anova_levels(const struct anova *anova, size_t factor, double alpha, struct anova_levels *ret)
{
    size_t order[ANOVA_MAX_LEVELS], n = anova->n_levels[factor];
    double variance, error_df = (double)anova->error_df;
    double error = anova->error_df > 0 ? anova->error_squares / error_df : NAN;
    *ret = (struct anova_levels){.n = n};
    for (size_t i = 0; i < n; i++)
        ret->effect[i] = difference(anova, factor, i, n, &variance);
    sort_by_effect(ret, order);
    double quantile =
        n > 1 && isfinite(error) ? student_quantile(1 - alpha / (2 * (double)(n - 1)), error_df) : NAN;
    for (size_t i = 1; i < n; i++) {
        double step = difference(anova, factor, order[i - 1], order[i], &variance);
        bool apart = step > quantile * sqrt(variance * error);
        ret->group[order[i]] = ret->group[order[i - 1]] + apart;
    }
}
