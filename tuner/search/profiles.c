/* Which point each profile takes. */
#include "tuner/search/profiles.h"

#include "models/statistics/noise.h"
#include "tuner/search/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* By how much luck may have raised the log of a rate that has few replays. */
#define LUCK         0.15
#define CAUTIOUS_SD  1.645
#define FALLBACK_STD 0.1

const char *const profiles_names[PROFILE_N] = {
    [PROFILE_MAX_THROUGHPUT] = "max-throughput",
    [PROFILE_BALANCED] = "balanced",
    [PROFILE_LOW_LATENCY] = "low-latency",
};

void profiles_done(struct profiles *profiles)
{
    free(profiles->front);
    *profiles = (struct profiles){0};
}

bool profiles_wanted(const struct settings *settings)
{
    return settings->search.profiles || settings->search.pareto || settings->search.profile_given;
}

struct pareto_score profiles_score(const struct settings *settings, enum profile profile,
                                   double reference_log_bps)
{
    if (profile == PROFILE_MAX_THROUGHPUT)
        return (struct pareto_score){.log_enough = INFINITY};
    if (profile == PROFILE_BALANCED)
        return (struct pareto_score){.log_enough = INFINITY, .delay_weight = 1};
    return (struct pareto_score){.log_enough = reference_log_bps + log(settings->search.rate_floor_share),
                                 .delay_weight = 1};
}

double profiles_response(const struct settings *settings, enum profile profile, double reference_log_bps,
                         const struct sample *sample)
{
    return pareto_score_of(profiles_score(settings, profile, reference_log_bps), log(sample->throughput_bps),
                           log(sample->latency_mean_ns));
}

double profiles_margin(const struct settings *settings, enum profile profile)
{
    double tolerance = settings->search.tolerance_share, loss = -log1p(-tolerance), rise = log1p(tolerance);
    if (profile == PROFILE_MAX_THROUGHPUT)
        return loss;
    /* A balanced point may lose the tolerance in throughput and in latency. */
    return profile == PROFILE_BALANCED ? loss + rise : rise;
}

/* Whether a point may be recommended: measured, not failed, trusted, and not against --max-latency-p99. */
static bool may_be_profile(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    return record->n > 0 && record->failed == 0 && tune_distrust(tune, point) == 0 &&
           !engine_misses_limit(&tune->engine, point);
}

double profiles_reference(const struct tune *tune)
{
    double highest = -INFINITY, of_all = -INFINITY;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        struct moments moments = record_log_moments(&tune->records[i], false);
        if (moments.n == 0)
            continue;
        double least = moments.mean - (moments.n < ENGINE_MIN_REPLAYS ? LUCK : 0);
        of_all = fmax(of_all, least);
        if (least > highest && may_be_profile(tune, i))
            highest = least;
    }
    return isfinite(highest) ? highest : of_all;
}

/* --- the field --- */

void profiles_field_done(struct profiles_field *field)
{
    free(field->point);
    free(field->pair);
    for (size_t p = 0; p < PROFILE_N; p++)
        free(field->score[p]);
    *field = (struct profiles_field){0};
}

static int field_init(const struct tune *tune, struct profiles_field *field)
{
    size_t n = tune->space.n_points + 1;
    *field = (struct profiles_field){.point = malloc(n * sizeof *field->point)};
    for (size_t i = 0; field->point != NULL && i < tune->space.n_points; i++) {
        if (may_be_profile(tune, i))
            field->point[field->n++] = i;
    }
    field->pair = calloc(field->n + 1, sizeof *field->pair);
    bool ready = field->point != NULL && field->pair != NULL;
    for (size_t p = 0; p < PROFILE_N; p++) {
        field->score[p] = calloc(field->n + 1, sizeof *field->score[p]);
        ready = ready && field->score[p] != NULL;
    }
    return ready ? 0 : -ENOMEM;
}

/* Moments of a profile's response over all replays of a point. */
static struct moments score_moments(const struct tune *tune, size_t point, enum profile profile,
                                    double reference)
{
    struct moments moments = {0};
    for (size_t i = 0; i < tune->records[point].n; i++)
        moments_add(&moments,
                    profiles_response(tune->settings, profile, reference, &tune->records[point].samples[i]));
    return moments;
}

/* Estimates variances from the scatter of all points together, as the whole search does. */
static void share_noise(struct contender **contenders, size_t n, double *std, size_t *count)
{
    for (size_t i = 0; i < n; i++) {
        std[i] = contenders[i]->moments.std;
        count[i] = contenders[i]->moments.n;
    }
    struct noise_prior prior = noise_fit(std, count, n, FALLBACK_STD);
    for (size_t i = 0; i < n; i++)
        contenders[i]->run_variance = noise_variance(&prior, std[i], count[i], &contenders[i]->run_df);
}

static int share_all_noise(struct profiles_field *field)
{
    size_t n = field->n;
    struct contender **list = malloc((n + 1) * sizeof(struct contender *));
    double *std = malloc((n + 1) * sizeof *std);
    size_t *count = malloc((n + 1) * sizeof *count);
    bool ready = list != NULL && std != NULL && count != NULL;
    for (size_t kind = 0; kind < PROFILE_N + 2 && ready; kind++) {
        for (size_t i = 0; i < n; i++)
            list[i] = kind < PROFILE_N    ? &field->score[kind][i]
                      : kind == PROFILE_N ? &field->pair[i].rate
                                          : &field->pair[i].delay;
        share_noise(list, n, std, count);
    }
    free(list);
    free(std);
    free(count);
    return ready ? 0 : -ENOMEM;
}

int profiles_field_of(const struct tune *tune, struct profiles_field *ret_field)
{
    struct profiles_field field;
    double reference = profiles_reference(tune);
    int result = field_init(tune, &field);
    for (size_t i = 0; i < field.n && result == 0; i++) {
        const struct record *record = &tune->records[field.point[i]];
        field.pair[i].rate.moments =
            objective_log_moments(record, false, objective_table[OBJECTIVE_THROUGHPUT].value);
        field.pair[i].delay.moments =
            objective_log_moments(record, false, objective_table[OBJECTIVE_LATENCY].value);
        for (size_t p = 0; p < PROFILE_N; p++)
            field.score[p][i].moments = score_moments(tune, field.point[i], (enum profile)p, reference);
    }
    if (result == 0)
        result = share_all_noise(&field);
    if (result == 0)
        *ret_field = field;
    else
        profiles_field_done(&field);
    return result;
}

/* --- the choice --- */

static double worth_of(const struct contender *contender)
{
    double sd = sqrt(contender->run_variance / (double)contender->moments.n);
    bool few = contender->moments.n < ENGINE_MIN_REPLAYS;
    return contender->moments.mean - (few ? CAUTIOUS_SD * sd : 0);
}

bool profiles_is_steep(const struct tune *tune, const struct profiles_field *field, size_t position)
{
    const struct point *a = &tune->records[field->point[position]].point;
    for (size_t k = 0; k < field->n; k++) {
        struct point b = tune->records[field->point[k]].point;
        double octaves = fabs(log2((double)b.request_size_bytes / (double)a->request_size_bytes)) +
                         fabs(log2((double)b.queue_depth / (double)a->queue_depth));
        bool one = (b.request_size_bytes == a->request_size_bytes) != (b.queue_depth == a->queue_depth);
        b.request_size_bytes = a->request_size_bytes;
        b.queue_depth = a->queue_depth;
        if (one && octaves <= 2 && factors_equal(a, &b) &&
            pareto_is_steep(&field->score[PROFILE_BALANCED][position], &field->score[PROFILE_BALANCED][k],
                            octaves, tune->settings->runs.confidence_share))
            return true;
    }
    return false;
}

size_t profiles_best(const struct tune *tune, const struct profiles_field *field, enum profile profile)
{
    size_t best = ENGINE_NONE, anything = ENGINE_NONE;
    double highest = -INFINITY, above_all = -INFINITY;
    for (size_t i = 0; i < field->n; i++) {
        double worth = worth_of(&field->score[profile][i]);
        if (worth > above_all) {
            above_all = worth;
            anything = i;
        }
        /* The cheap test comes first: only a point that would win has its neighbours searched. */
        if (worth > highest && !(profile == PROFILE_BALANCED && profiles_is_steep(tune, field, i))) {
            highest = worth;
            best = i;
        }
    }
    return best != ENGINE_NONE ? best : anything;
}

/* The cheapest point that is proved to be as good as the best. */
static int choose_one(const struct tune *tune, const struct profiles_field *field, enum profile profile,
                      size_t *ret_point)
{
    size_t best = profiles_best(tune, field, profile), chosen = best;
    *ret_point = ENGINE_NONE;
    if (best == ENGINE_NONE)
        return 0;
    enum verdict *verdicts = calloc(field->n, sizeof *verdicts);
    if (verdicts == NULL)
        return -ENOMEM;
    compare_all(field->score[profile], field->n, best, profiles_margin(tune->settings, profile),
                tune->settings->runs.confidence_share, ENGINE_MIN_REPLAYS, verdicts);
    for (size_t i = 0; i < field->n; i++) {
        if (verdicts[i] == VERDICT_EQUIVALENT &&
            engine_is_cheaper(&tune->engine, field->point[i], field->point[chosen]) &&
            !(profile == PROFILE_BALANCED && profiles_is_steep(tune, field, i)))
            chosen = i;
    }
    *ret_point = field->point[chosen];
    free(verdicts);
    return 0;
}

int profiles_choose(struct tune *tune)
{
    struct profiles_field field;
    int result = profiles_field_of(tune, &field);
    if (result < 0)
        return result;
    for (size_t p = 0; p < PROFILE_N && result == 0; p++)
        result = choose_one(tune, &field, (enum profile)p, &tune->profiles.point[p]);
    if (tune->settings->search.objective == OBJECTIVE_THROUGHPUT)
        tune->profiles.point[tune->settings->search.profile] = tune->engine.chosen;
    tune->profiles.chosen = result == 0;
    profiles_field_done(&field);
    return result;
}

int profiles_leave_out_steep(struct tune *tune)
{
    struct profiles_field field;
    if (tune->settings->search.profile != PROFILE_BALANCED)
        return 0;
    int result = profiles_field_of(tune, &field);
    if (result < 0)
        return result;
    /* The foot of a slope is not steep, so some points always stay. */
    for (size_t i = 0; i < field.n; i++) {
        if (profiles_is_steep(tune, &field, i))
            belief_exclude(&tune->engine.belief, field.point[i]);
    }
    profiles_field_done(&field);
    return 0;
}

/* --- neighbours --- */

static bool same_but(const struct point *a, const struct point *b, enum factor factor)
{
    for (enum factor other = 0; other < FACTOR_WRITE_SIZE; other++) {
        if (other != factor && factors_level(a, other) != factors_level(b, other))
            return false;
    }
    return a->write_size_bytes == b->write_size_bytes && a->clients == b->clients;
}

/* The points with the next lower and the next higher level of an ordered factor. */
static size_t next_levels(const struct tune *tune, size_t point, enum factor factor, size_t *ret_points)
{
    size_t below = ENGINE_NONE, above = ENGINE_NONE, n = 0;
    const struct record *records = tune->records;
    uint64_t own = factors_level(&records[point].point, factor);
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (!same_but(&records[i].point, &records[point].point, factor))
            continue;
        uint64_t level = factors_level(&records[i].point, factor);
        if (level < own && (below == ENGINE_NONE || level > factors_level(&records[below].point, factor)))
            below = i;
        if (level > own && (above == ENGINE_NONE || level < factors_level(&records[above].point, factor)))
            above = i;
    }
    if (below != ENGINE_NONE)
        ret_points[n++] = below;
    if (above != ENGINE_NONE)
        ret_points[n++] = above;
    return n;
}

size_t profiles_neighbours(const struct tune *tune, size_t point, size_t *ret_points, size_t most)
{
    static const enum factor ordered[] = {FACTOR_REQUEST_SIZE, FACTOR_QUEUE_DEPTH, FACTOR_THREADS};
    static const enum factor kinds[] = {FACTOR_DIRECT, FACTOR_API, FACTOR_SYNC};
    size_t n = 0;
    for (size_t k = 0; k < sizeof ordered / sizeof ordered[0] && n + 2 <= most; k++)
        n += next_levels(tune, point, ordered[k], ret_points + n);
    for (size_t i = 0; i < tune->space.n_points && n < most; i++) {
        bool one = false;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            one = one || same_but(&tune->records[i].point, &tune->records[point].point, kinds[k]);
        if (one && i != point)
            ret_points[n++] = i;
    }
    return n;
}
