/* A search by a program of somebody else's, through the engine. */
#include "models/engine/engine.h"
#include "models/library/library_internal.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINAL_SHARE 0.2 /* of the budget is kept for measurements after the choice */

_Static_assert(FST_MAX_FACTORS <= SPACE_MAX_DIMS, "a space has room for all factors");

struct fst_search {
    struct fst_options options;
    struct space space;
    struct engine engine;
    double *values; /* of the settings; owned */
    size_t n, n_factors;
    int is_over;
};

static int is_linear(enum fst_scale scale)
{
    return scale == FST_HIGHER_LINEAR || scale == FST_LOWER_LINEAR;
}

static double sign_of(enum fst_scale scale)
{
    return scale == FST_LOWER || scale == FST_LOWER_LINEAR ? -1 : 1;
}

static double response_of(enum fst_scale scale, double value)
{
    return sign_of(scale) * (is_linear(scale) ? value : log(value));
}

static double value_of(enum fst_scale scale, double response)
{
    double signless = sign_of(scale) * response;
    return is_linear(scale) ? signless : exp(signless);
}

/* The tolerance as a difference of responses: a loss of that share, or a time so much longer. */
static double margin_of(const struct fst_options *options)
{
    if (is_linear(options->scale))
        return options->tolerance;
    return options->scale == FST_HIGHER ? -log1p(-options->tolerance) : log1p(options->tolerance);
}

static double share_of(enum fst_scale scale, double margin)
{
    if (is_linear(scale))
        return margin;
    return scale == FST_HIGHER ? -expm1(-margin) : expm1(margin);
}

static int is_sound(const struct fst_options *options)
{
    double most = options->scale == FST_HIGHER ? 1 : INFINITY;
    return options->tolerance > 0 && options->tolerance < most && options->confidence >= 0.5 &&
           options->confidence <= 0.9999 && options->budget_seconds > 0 &&
           isfinite(options->budget_seconds) && options->run_seconds > 0 && options->scale >= FST_HIGHER &&
           options->scale <= FST_LOWER_LINEAR;
}

static const double *values_of(const struct fst_search *search, size_t setting)
{
    return search->values + setting * search->n_factors;
}

static size_t find(const struct fst_search *search, const double *values)
{
    for (size_t i = 0; values != NULL && i < search->n; i++) {
        if (memcmp(values_of(search, i), values, search->n_factors * sizeof *values) == 0)
            return i;
    }
    return ENGINE_NONE;
}

static void set_up_engine(struct fst_search *search)
{
    const struct fst_options *options = &search->options;
    double margin = margin_of(options);
    search->engine = (struct engine){
        .space = &search->space,
        .search = &search_auto,
        .policy = {.final_share = FINAL_SHARE, .races_on = true, .races_again = true, .chooses_again = true},
        .margin = margin,
        .tolerance = margin,
        .confidence_share = options->confidence,
        .budget_seconds = options->budget_seconds,
        .end_seconds = options->budget_seconds,
        .run_seconds = options->run_seconds,
        .design_share = 1,
        .prefers_fastest = options->prefer_best != 0,
    };
}

static int begin(struct fst_search *search, const struct fst_space *space)
{
    const struct fst_options *options = &search->options;
    int result = library_points(space, &search->values, &search->n);
    if (result == 0)
        result = library_space(space, search->values, search->n, &search->space);
    if (result < 0)
        return result;
    set_up_engine(search);
    result = engine_init(&search->engine, 0, options->seed);
    for (size_t i = 0; i < search->n && result == 0; i++)
        search->engine.points[i].in_flight_bytes =
            options->price != NULL ? options->price(values_of(search, i), options->context) : 1;
    search->engine.baseline = find(search, options->baseline);
    if (result == 0 && options->baseline != NULL && search->engine.baseline == ENGINE_NONE)
        result = -EINVAL;
    if (result == 0)
        engine_expect_costs(&search->engine);
    return result;
}

struct fst_search *fst_search_new(const struct fst_space *space, const struct fst_options *options)
{
    struct fst_search *search = calloc(1, sizeof *search);
    int result = search == NULL ? -ENOMEM : 0;
    /* Its own handler would end the process at the first matrix that cannot be factorised. */
    gsl_set_error_handler_off();
    if (result == 0 && (space == NULL || options == NULL || !is_sound(options)))
        result = -EINVAL;
    if (result == 0) {
        search->options = *options;
        search->n_factors = space->n_factors;
        result = begin(search, space);
    }
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
    space_done(&search->space);
    free(search->values);
    free(search);
}

size_t fst_search_size(const struct fst_search *search)
{
    return search->n;
}

int fst_ask(struct fst_search *search, double seconds, struct fst_run *ret_run)
{
    struct engine_run run;
    int asked = ENGINE_TURN;
    if (!isfinite(seconds))
        return -EINVAL;
    while (asked == ENGINE_TURN)
        asked = engine_ask(&search->engine, seconds, &run);
    if (asked < 0)
        return asked;
    search->is_over = asked == ENGINE_DONE;
    if (asked == ENGINE_DONE)
        return 0;
    *ret_run = (struct fst_run){.setting = run.point, .confirming = run.confirming};
    memcpy(ret_run->values, values_of(search, run.point), search->n_factors * sizeof(double));
    return 1;
}

int fst_tell(struct fst_search *search, const struct fst_run *run, double value, double seconds)
{
    double response = response_of(search->options.scale, value);
    if (run->setting >= search->n || !isfinite(response) || !(seconds >= 0) || !isfinite(seconds))
        return -EINVAL;
    struct engine_run engine_run = {.point = run->setting, .confirming = run->confirming != 0};
    struct engine_result result = {
        .response = response, .bps = INFINITY, .latency_ns = NAN, .p99_ns = NAN, .seconds = seconds};
    int told = engine_tell(&search->engine, &engine_run, &result);
    if (told == 0)
        engine_tell_cost(&search->engine, run->setting, seconds, 0, 0, INFINITY);
    return told;
}

int fst_fail(struct fst_search *search, const struct fst_run *run)
{
    if (run->setting >= search->n)
        return -EINVAL;
    engine_fail(&search->engine, run->setting);
    return 0;
}

void fst_stop(struct fst_search *search)
{
    if (search->engine.stop == ENGINE_STOP_NOT_YET)
        search->engine.stop = ENGINE_STOP_INTERRUPTED;
}

static struct fst_estimate estimate_of(const struct fst_search *search, size_t setting)
{
    const struct engine *engine = &search->engine;
    struct fst_estimate estimate = {
        .setting = setting,
        .value = value_of(search->options.scale, engine->belief.moments[setting].mean),
        .n = engine->points[setting].n_runs,
        .n_confirming = engine->points[setting].n_confirming,
    };
    memcpy(estimate.values, values_of(search, setting), search->n_factors * sizeof(double));
    return estimate;
}

int fst_answer(const struct fst_search *search, struct fst_answer *ret_answer)
{
    const struct engine *engine = &search->engine;
    if (!search->is_over || engine->chosen == ENGINE_NONE)
        return -ENODATA;
    double share = share_of(search->options.scale, engine->shortfall);
    *ret_answer = (struct fst_answer){.recommended = estimate_of(search, engine->chosen),
                                      .best = estimate_of(search, engine->best),
                                      .shortfall = isfinite(share) ? share : NAN,
                                      .conclusive = engine->conclusive};
    return 0;
}
