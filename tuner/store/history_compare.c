/* tuner/store/history_compare: two sets of replays against each other. */
#include "tuner/store/history_compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replays that stand for their point: whole ones, of the length that the run decided on. */
static bool replay_counts(const struct history_replay *replay)
{
    return !replay->sample.cut && !replay->aside;
}

static bool is_at(const struct history_replay *replay, const struct point *point, const char *conditions)
{
    return factors_equal(&replay->point, point) && strcmp(replay->conditions, conditions) == 0;
}

static struct moments moments_at(const struct history_replay *replays, size_t n, const struct point *point,
                                 const char *conditions, bool confirming)
{
    struct moments moments = {0};
    for (size_t i = 0; i < n; i++) {
        if (replay_counts(&replays[i]) && (!confirming || replays[i].sample.confirming) &&
            is_at(&replays[i], point, conditions))
            moments_merge(&moments, history_log_rates(&replays[i]));
    }
    return moments;
}

static struct history_ratio ratio_of(const struct point *point, const char *conditions,
                                     const struct moments moments[2], double confidence)
{
    struct welch welch = welch_of(moments[1], moments[0]);
    struct interval bounds = welch_interval(welch, confidence);
    struct history_ratio ratio = {
        .point = *point,
        .n = {moments[0].n, moments[1].n},
        .mean_bps = {exp(moments[0].mean), exp(moments[1].mean)},
        .ratio = exp(moments[1].mean - moments[0].mean),
        .bounds = {exp(bounds.low), exp(bounds.high)},
    };
    snprintf(ratio.conditions, sizeof ratio.conditions, "%s", conditions);
    ratio.changed = ratio.bounds.low > 1 || ratio.bounds.high < 1;
    return ratio;
}

static bool is_first_of_its_point(const struct history_replay *replays, size_t place)
{
    for (size_t i = 0; i < place; i++) {
        if (replay_counts(&replays[i]) &&
            is_at(&replays[i], &replays[place].point, replays[place].conditions))
            return false;
    }
    return replay_counts(&replays[place]);
}

static double mean_seconds(const struct history_replay *replays, size_t n)
{
    struct moments moments = {0};
    for (size_t i = 0; i < n; i++) {
        if (replay_counts(&replays[i]))
            moments_merge(&moments, (struct moments){.n = history_rates(&replays[i]).n,
                                                     .mean = replays[i].sample.seconds});
    }
    return moments.mean;
}

/* Those that were tested come first. */
static int by_change(const void *a, const void *b)
{
    const struct history_ratio *ratio_a = a, *ratio_b = b;
    double first = isnan(ratio_a->bounds.low) ? -1 : fabs(log(ratio_a->ratio));
    double second = isnan(ratio_b->bounds.low) ? -1 : fabs(log(ratio_b->ratio));
    return (first < second) - (first > second);
}

static bool has_answer(const struct history_info *info, const struct history_replay *replays, size_t n)
{
    return info->has_point && moments_at(replays, n, &info->point, "", false).n > 0;
}

/* The answers are one more comparison, so that all together err no more often than was said. */
static double confidence_of_each(const struct history_comparison *comparison)
{
    double n = (double)(comparison->n_tested + comparison->has_answers);
    return 1 - (1 - HISTORY_COMPARE_CONFIDENCE) / fmax(1, n);
}

static void judge_points(struct history_comparison *comparison, const struct history_replay *const replays[2],
                         const size_t n[2])
{
    for (size_t i = 0; i < comparison->n; i++)
        comparison->n_tested += comparison->points[i].n[0] > 1 && comparison->points[i].n[1] > 1;
    double each = confidence_of_each(comparison);
    for (size_t i = 0; i < comparison->n; i++) {
        struct history_ratio *ratio = &comparison->points[i];
        const struct history_ratio asked = *ratio;
        const struct moments moments[2] = {
            moments_at(replays[0], n[0], &asked.point, asked.conditions, false),
            moments_at(replays[1], n[1], &asked.point, asked.conditions, false)};
        *ratio = ratio_of(&asked.point, asked.conditions, moments, each);
        comparison->n_changed += ratio->changed;
    }
    qsort(comparison->points, comparison->n, sizeof comparison->points[0], by_change);
}

static void judge_answers(struct history_comparison *comparison, const struct history_info infos[2],
                          const struct history_replay *const replays[2], const size_t n[2])
{
    struct moments confirming[2], all[2];
    if (!comparison->has_answers)
        return;
    double each = confidence_of_each(comparison);
    for (size_t i = 0; i < 2; i++) {
        confirming[i] = moments_at(replays[i], n[i], &infos[i].point, "", true);
        all[i] = moments_at(replays[i], n[i], &infos[i].point, "", false);
    }
    bool take_confirming = confirming[0].n > 1 && confirming[1].n > 1;
    comparison->answer = ratio_of(&infos[0].point, "", take_confirming ? confirming : all, each);
}

int history_compare(const struct history_info infos[2], const struct history_replay *const replays[2],
                    const size_t n[2], struct history_comparison *ret_comparison)
{
    struct history_comparison comparison = {0};
    comparison.points = calloc(n[0] > 0 ? n[0] : 1, sizeof *comparison.points);
    if (comparison.points == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n[0]; i++) {
        if (!is_first_of_its_point(replays[0], i))
            continue;
        const struct history_replay *first = &replays[0][i];
        struct history_ratio ratio = {.point = first->point};
        memcpy(ratio.conditions, first->conditions, sizeof ratio.conditions);
        for (size_t k = 0; k < 2; k++)
            ratio.n[k] = moments_at(replays[k], n[k], &first->point, first->conditions, false).n;
        if (ratio.n[1] > 0)
            comparison.points[comparison.n++] = ratio;
        else
            comparison.n_only[0]++;
    }
    for (size_t i = 0; i < n[1]; i++)
        comparison.n_only[1] +=
            is_first_of_its_point(replays[1], i) &&
            moments_at(replays[0], n[0], &replays[1][i].point, replays[1][i].conditions, false).n == 0;
    for (size_t i = 0; i < 2; i++)
        comparison.seconds[i] = mean_seconds(replays[i], n[i]);
    comparison.has_answers =
        has_answer(&infos[0], replays[0], n[0]) && has_answer(&infos[1], replays[1], n[1]);
    judge_points(&comparison, replays, n);
    judge_answers(&comparison, infos, replays, n);
    *ret_comparison = comparison;
    return 0;
}

void history_compare_done(struct history_comparison *comparison)
{
    free(comparison->points);
    comparison->points = NULL;
}
