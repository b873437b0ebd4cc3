/* Which terms a response surface has, and their values. */
#include "models/surrogate/terms.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Variance of a column below which it does not vary; coordinates span -1..1. */
#define NO_VARIATION 1e-12

#define NO_DIM SPACE_MAX_DIMS

/* A product of two dimensions (the same: a square), or one alone; a category counts as 1 at `level` and 0
 * elsewhere. */
struct term {
    size_t a, b; /* b may be NO_DIM; only a may be a category */
    double level;
    double centre, scale;
};

/* The points that the terms are standardised over. */
struct sample {
    const size_t *points;
    size_t n;
};

static double part_value(const struct space *space, const double *x, size_t dim, double level)
{
    if (space->kind[dim] == SPACE_CATEGORY)
        return fabs(x[dim] - level) < 0.5;
    return 2.0 * x[dim] - 1.0;
}

static double term_value(const struct space *space, const struct term *term, size_t point)
{
    const double *x = space_row(space, point);
    double value = part_value(space, x, term->a, term->level);

    if (term->b != NO_DIM)
        value *= part_value(space, x, term->b, 0.0);
    return (value - term->centre) / term->scale;
}

/* Appends the term, standardised, unless the sample does not vary in it. */
static void add_term(struct terms *terms, const struct sample *sample, struct term term)
{
    double mean = 0.0, variance = 0.0, n = (double)sample->n;

    term.centre = 0.0;
    term.scale = 1.0;
    for (size_t i = 0; i < sample->n; i++)
        mean += term_value(terms->space, &term, sample->points[i]) / n;
    for (size_t i = 0; i < sample->n; i++)
        variance += gsl_pow_2(term_value(terms->space, &term, sample->points[i]) - mean) / n;
    if (variance < NO_VARIATION)
        return;
    term.centre = mean;
    term.scale = sqrt(variance);
    terms->terms[terms->n_terms++] = term;
}

/* Terms of one level of a category: the level itself, and its slope in every ordered dimension. */
static void add_level(struct terms *terms, const struct sample *sample, size_t dim, double level)
{
    add_term(terms, sample, (struct term){.a = dim, .b = NO_DIM, .level = level});
    for (size_t other = 0; other < terms->space->n_dims; other++)
        if (terms->space->kind[other] == SPACE_ORDERED)
            add_term(terms, sample, (struct term){.a = dim, .b = other, .level = level});
}

/* The level of the first point is the reference; every other level gets its terms where it first occurs. */
static void add_category(struct terms *terms, const struct sample *sample, size_t dim)
{
    for (size_t i = 1; i < sample->n; i++) {
        double level = space_row(terms->space, sample->points[i])[dim];
        size_t j = 0;

        while (j < i && fabs(space_row(terms->space, sample->points[j])[dim] - level) > 0.5)
            j++;
        if (j == i)
            add_level(terms, sample, dim, level);
    }
}

static void add_ordered(struct terms *terms, const struct sample *sample, size_t dim)
{
    const struct space *space = terms->space;

    add_term(terms, sample, (struct term){.a = dim, .b = NO_DIM});
    if (space->n_levels[dim] > 2) /* else the square is a multiple of the linear term */
        add_term(terms, sample, (struct term){.a = dim, .b = dim});
    for (size_t other = dim + 1; other < space->n_dims; other++)
        if (space->kind[other] == SPACE_ORDERED)
            add_term(terms, sample, (struct term){.a = dim, .b = other});
}

int terms_init(struct terms *terms, const struct space *space, const size_t *points, size_t n)
{
    struct sample sample = {points, n};
    size_t most = 0;

    for (size_t d = 0; d < space->n_dims; d++)
        most += (space->kind[d] == SPACE_CATEGORY ? space->n_levels[d] : 1) * (1 + space->n_dims);
    *terms = (struct terms){.space = space, .terms = malloc(most * sizeof(*terms->terms))};
    if (!terms->terms)
        return -ENOMEM;
    for (size_t d = 0; d < space->n_dims; d++) {
        if (space->kind[d] == SPACE_CATEGORY)
            add_category(terms, &sample, d);
        else
            add_ordered(terms, &sample, d);
    }
    return 0;
}

int terms_copy(struct terms *terms, const struct terms *from)
{
    size_t bytes = (from->n_terms + 1) * sizeof(*from->terms);

    *terms = (struct terms){.space = from->space, .terms = malloc(bytes)};
    if (!terms->terms)
        return -ENOMEM;
    memcpy(terms->terms, from->terms, from->n_terms * sizeof(*from->terms));
    terms->n_terms = from->n_terms;
    return 0;
}

void terms_done(struct terms *terms)
{
    free(terms->terms);
    *terms = (struct terms){0};
}

void terms_row(const struct terms *terms, size_t point, double *ret_row)
{
    ret_row[0] = 1.0;
    for (size_t k = 0; k < terms->n_terms; k++)
        ret_row[1 + k] = term_value(terms->space, &terms->terms[k], point);
}
