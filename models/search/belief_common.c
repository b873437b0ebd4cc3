/* The runs as they were told, and what all points have in common at their times (models/statistics/wander):
 * the values that a point's replays are judged by are free of it. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TIMES 64 /* that are looked at, of one point */

/* Makes room for one more. */
int belief_runs_reserve(struct belief_runs *runs)
{
    if (runs->n < runs->room)
        return 0;
    size_t room = runs->room ? 2 * runs->room : 64;
    struct belief_run *all = realloc(runs->all, room * sizeof(*all));

    if (!all)
        return -ENOMEM;
    runs->all = all;
    runs->room = room;
    return 0;
}

/* Behind those that are not later. There must be room. */
void belief_runs_add(struct belief_runs *runs, struct belief_run run)
{
    size_t place = runs->n++;

    for (; place > 0 && runs->all[place - 1].seconds > run.seconds; place--)
        runs->all[place] = runs->all[place - 1];
    runs->all[place] = run;
}

void belief_runs_forget(struct belief_runs *runs, size_t point)
{
    size_t n = 0;

    for (size_t i = 0; i < runs->n; i++) {
        if (runs->all[i].point != point)
            runs->all[n++] = runs->all[i];
    }
    runs->n = n;
}

struct moments belief_latest(const struct belief *belief, size_t point, size_t n)
{
    const struct belief_runs *runs = &belief->runs;
    struct moments moments = {0};
    size_t before = belief->replays[point].n - n;

    for (size_t i = 0; i < runs->n; i++) {
        if (runs->all[i].point != point)
            continue;
        if (before > 0)
            before--;
        else
            moments_add(&moments, runs->all[i].response - runs->all[i].common);
    }
    return moments;
}

double belief_common_error(const struct belief *belief, size_t point)
{
    const struct belief_runs *runs = &belief->runs;
    const struct wander left = {.variance = belief->common_variance,
                                .tau_seconds = belief->wander.tau_seconds};
    double seconds[MOST_TIMES];
    size_t n = 0;

    for (size_t i = 0; i < runs->n && left.variance > 0.0 && n < MOST_TIMES; i++) {
        if (runs->all[i].point == point)
            seconds[n++] = runs->all[i].seconds;
    }
    /* As if the runs did not share it, it is in the scatter of the runs. */
    return n > 0 ? fmax(0.0, wander_mean_variance(&left, seconds, n) - left.variance / (double)n) : 0.0;
}

/* The runs of points that are not excluded, in their order. */
static size_t collect(const struct belief *belief, struct wander_run *ret_runs)
{
    size_t n = 0;

    for (size_t i = 0; i < belief->runs.n; i++) {
        const struct belief_run *run = &belief->runs.all[i];

        if (!belief->excluded[run->point])
            ret_runs[n++] =
                (struct wander_run){.group = run->point, .seconds = run->seconds, .value = run->response};
    }
    return n;
}

/* True when a run has now another part in common with the others. */
static bool set_common(struct belief *belief, const double *common)
{
    bool changed = false;
    size_t n = 0;

    for (size_t i = 0; i < belief->runs.n; i++) {
        struct belief_run *run = &belief->runs.all[i];
        double now = belief->excluded[run->point] ? run->common : common[n++];

        changed = changed || now < run->common || now > run->common;
        run->common = now;
    }
    return changed;
}

int belief_common_learn(struct belief *belief, bool anew, bool *ret_changed)
{
    size_t n_points = belief->space->n_points, n = 0;
    struct wander_run *runs = malloc((belief->runs.n + 1) * sizeof(*runs));
    double *common = malloc((belief->runs.n + 1) * sizeof(*common));
    int result = runs && common ? 0 : -ENOMEM;

    *ret_changed = false;
    if (!result)
        n = collect(belief, runs);
    if (!result && anew)
        result = wander_fit(runs, n, n_points, &belief->wander);
    if (!result)
        result = wander_common(&belief->wander, runs, n, n_points, common, &belief->common_variance);
    if (!result)
        *ret_changed = set_common(belief, common);
    free(runs);
    free(common);
    return result;
}
