/* A search by a program of somebody else's, through the engine. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINAL_SHARE 0.2 /* of the budget is kept for measurements after the choice */

_Static_assert(FST_MAX_FACTORS <= SPACE_MAX_DIMS, "a space has room for all factors");

static bool is_sound(const struct fst_options *options)
{
    double most = options->scale == FST_HIGHER ? 1 : INFINITY;
    return options->tolerance > 0 && options->tolerance < most && options->confidence >= 0.5 &&
           options->confidence <= 0.9999 && options->budget > 0 && isfinite(options->budget) &&
           options->run_cost > 0 && isfinite(options->run_cost) && options->growth >= 0 &&
           options->growth <= 1 && options->scale >= FST_HIGHER && options->scale <= FST_LOWER_LINEAR &&
           (!options->rates || options->scale == FST_HIGHER) && options->length >= 0 &&
           options->length <= options->run_cost && options->grace >= 0 && isfinite(options->grace) &&
           options->alike >= 0 && options->alike <= options->tolerance;
}

static bool is_row(const double *row, const double *values, size_t n)
{
    size_t i = 0;
    while (i < n && !(row[i] < values[i] || row[i] > values[i]) && !isnan(values[i]))
        i++;
    return i == n;
}

static size_t find(const struct fst_search *search, const double *values)
{
    for (size_t i = 0; values != NULL && i < search->n; i++) {
        if (is_row(library_values(search, i), values, search->n_factors))
            return i;
    }
    return ENGINE_NONE;
}

static void set_up_engine(struct fst_search *search)
{
    const struct fst_options *options = &search->options;
    double alike = options->alike > 0 ? options->alike : options->tolerance;
    search->engine = (struct engine){
        .space = &search->space,
        .search = &search_auto,
        .policy = {.final_share = FINAL_SHARE, .races_on = true, .races_again = true, .chooses_again = true},
        .margin = library_margin(options->scale, alike),
        .tolerance = library_margin(options->scale, options->tolerance),
        .confidence_share = options->confidence,
        .budget_seconds = options->budget,
        .end_seconds = options->budget,
        .grace_seconds = options->grace,
        .run_seconds = options->run_cost,
        .duration_seconds = options->length > 0 ? options->length : options->run_cost,
        .design_share = 1,
        .prefers_fastest = options->prefer_best != 0,
        .growth = options->growth,
        .is_of_rates = options->rates != 0,
        .kept = search->limits.effects.kept,
    };
}

/* --- figures of the settings --- */

const char *const library_figure_words[LIBRARY_FIGURES] = {"prices", "least", "ranks"};

library_function **library_function_in(struct fst_options *options, size_t figure)
{
    library_function **const functions[LIBRARY_FIGURES] = {&options->price, &options->least_work,
                                                           &options->rank};
    return functions[figure];
}

double *library_figure_in(struct engine_point *point, size_t figure)
{
    return figure == 0 ? &point->in_flight_bytes : figure == 1 ? &point->least_bytes : &point->simplicity;
}

static int set_figure(struct fst_search *search, size_t figure, library_function *function, void *context)
{
    for (size_t i = 0; i < search->n; i++) {
        double value = function(library_values(search, i), context);
        if (!(value >= 0) || !isfinite(value))
            return -EINVAL;
        *library_figure_in(&search->engine.points[i], figure) = value;
    }
    return 0;
}

static int set_figures(struct fst_search *search, struct fst_options *options)
{
    int result = 0;
    for (size_t i = 0; i < search->n; i++)
        search->engine.points[i].in_flight_bytes = 1; /* all prices are the same where none is given */
    for (size_t k = 0; k < LIBRARY_FIGURES && result == 0; k++) {
        library_function *function = *library_function_in(options, k);
        if (function != NULL)
            result = set_figure(search, k, function, options->context);
    }
    return result;
}

/* --- the search --- */

static int set_baseline(struct fst_search *search, const double *baseline)
{
    search->engine.baseline = find(search, baseline);
    return baseline != NULL && search->engine.baseline == ENGINE_NONE ? -EINVAL : 0;
}

/* ret_left_out: as of library_points. */
static int begin(struct fst_search *search, const struct fst_space *space, struct fst_options *options,
                 unsigned char **ret_left_out)
{
    int result = library_points(space, &search->values, ret_left_out, &search->n);
    if (result == 0)
        result = library_space(space, search->values, search->n, &search->space);
    if (result == 0)
        result = library_limits_init(&search->limits, options->limits, options->n_limits, &search->space,
                                     options->seed);
    if (result < 0)
        return result;
    search->outstanding = calloc(2 * search->n, sizeof *search->outstanding);
    set_up_engine(search);
    result = engine_init(&search->engine, 0, options->seed);
    if (result == 0 && search->outstanding == NULL)
        result = -ENOMEM;
    if (result == 0)
        result = set_figures(search, options);
    if (result == 0)
        result = set_baseline(search, options->baseline);
    if (result == 0)
        engine_expect_costs(&search->engine);
    return result;
}

static int take_options(struct fst_search *search, const struct fst_options *given,
                        struct fst_options *ret_options)
{
    struct fst_options options = FST_OPTIONS;
    if (given == NULL || given->size == 0 || given->size > sizeof options)
        return -EINVAL;
    memcpy(&options, given, given->size);
    *ret_options = search->options = options;
    for (size_t k = 0; k < LIBRARY_FIGURES; k++)
        *library_function_in(&search->options, k) = NULL;
    search->options.context = NULL;
    search->options.baseline = NULL;
    search->options.limits = NULL;
    return is_sound(&options) ? 0 : -EINVAL;
}

struct fst_search *fst_search_new(const struct fst_space *space, const struct fst_options *given)
{
    struct fst_search *search = calloc(1, sizeof *search);
    struct fst_options options;
    unsigned char *left_out = NULL;
    if (search == NULL)
        return NULL;
    int result = space != NULL ? take_options(search, given, &options) : -EINVAL;
    library_guard_enter();
    if (result == 0) {
        search->n_factors = space->n_factors;
        result = begin(search, space, &options, &left_out);
    }
    if (result == 0)
        result = library_describe(search, space, &options, left_out);
    library_guard_leave();
    free(left_out);
    if (result == 0)
        return search;
    fst_search_free(search);
    errno = -result;
    return NULL;
}

void fst_search_free(struct fst_search *search)
{
    if (search == NULL)
        return;
    engine_done(&search->engine);
    effects_done(&search->limits.effects);
    space_done(&search->space);
    free(search->values);
    free(search->outstanding);
    free(search->text.bytes);
    free(search);
}

size_t fst_search_size(const struct fst_search *search)
{
    return search->n;
}

static bool has_equal_space(const struct fst_search *a, const struct fst_search *b)
{
    return a->n == b->n && a->n_factors == b->n_factors && is_row(a->values, b->values, a->n * a->n_factors);
}

int library_learn(struct fst_search *search, const double *means)
{
    struct library_text *text = &search->text;
    if (library_text_reserve(text, (search->n + 2) * LIBRARY_WORD_BYTES) < 0)
        return -ENOMEM;
    int result = belief_prior_add(&search->engine.belief, means);
    if (result < 0)
        return result;
    library_text_word(text, "learn");
    for (size_t i = 0; i < search->n; i++)
        library_text_number(text, means[i]);
    library_text_end_line(text);
    return 0;
}

int fst_learn(struct fst_search *search, const struct fst_search *earlier)
{
    if (search->was_asked || !has_equal_space(search, earlier) ||
        search->options.scale != earlier->options.scale)
        return -EINVAL;
    return earlier->engine.belief.chosen != NULL ? library_learn(search, earlier->engine.belief.mean)
                                                 : -ENODATA;
}

int fst_find(const struct fst_search *search, const double *values, struct fst_run *ret_run)
{
    size_t setting = find(search, values);
    if (setting == ENGINE_NONE)
        return -ENOENT;
    *ret_run = (struct fst_run){.setting = setting};
    memcpy(ret_run->values, library_values(search, setting), search->n_factors * sizeof(double));
    return 0;
}
