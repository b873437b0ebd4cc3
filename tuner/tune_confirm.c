/* The last part of a search: figures that luck in choosing cannot have flattered. */
#include "tuner/tune.h"

#include <errno.h>
#include <math.h>

#define MAX_POINTS  (10 + TUNE_MAX_WATCHED)
#define MAX_REPLAYS 30

static size_t add_distinct(size_t *points, size_t n, size_t point)
{
    for (size_t i = 0; i < n; i++) {
        if (points[i] == point)
            return n;
    }
    if (point == TUNE_NONE)
        return n;
    points[n] = point;
    return n + 1;
}

/* Replays that make the interval of the recommendation narrower than half the margin to either side, by the
 * scatter known before them (Stein 1945, the first of whose two stages was the search). */
static double enough(const struct tune *tune)
{
    double df, variance = belief_run_variance(&tune->belief, tune->chosen, &df);
    double t = student_quantile((1 + tune->settings->confidence_share) / 2, df);
    return variance * pow(2 * t / tune->margin, 2);
}

/* How many replays of each point are worth making and fit the time that was kept; fixed beforehand, so that
 * results cannot steer it. */
static size_t affordable(const struct tune *tune, const size_t *points, size_t n_points, uint64_t deadline_ns)
{
    const struct tune_watch *watch = tune->session->watch;
    size_t replays = TUNE_FRESH_LEAST, most = watch != NULL ? watch->most_replays : MAX_REPLAYS;
    double wanted = enough(tune);
    while (replays < most && (double)replays < wanted &&
           tune_has_time(tune, deadline_ns, (replays + 1) * n_points) &&
           tune_writes_allow(tune, points, n_points, replays + 1))
        replays++;
    return replays;
}

/* The best measured point that is not in force. */
static size_t runner_up(struct tune *tune)
{
    size_t found = TUNE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (i != tune->baseline && tune_is_eligible(tune, i) &&
            (found == TUNE_NONE || tune_worth(tune, i) > tune_worth(tune, found)))
            found = i;
    }
    return found;
}

/* The most wanted first, for where not all can be paid for. What a night has to judge comes before what the
 * search found tonight. */
static size_t list_wanted(struct tune *tune, size_t *points)
{
    size_t n = add_distinct(points, 0, tune->session->watch != NULL ? tune->baseline : tune->chosen);
    if (tune->n_watched > 0)
        n = add_distinct(points, n, tune->watched[0]);
    n = add_distinct(points, n, tune->chosen);
    n = add_distinct(points, n, tune->best);
    n = add_distinct(points, n, tune->baseline);
    /* Few runs easily miss what is better by chance. */
    if (tune->writes_are_scarce && n == 1)
        n = add_distinct(points, n, runner_up(tune));
    for (size_t i = 1; i < tune->n_watched; i++)
        n = add_distinct(points, n, tune->watched[i]);
    return add_distinct(points, n, tune->standard);
}

int tune_confirm(struct tune *tune, struct err *err)
{
    size_t points[MAX_POINTS], block[MAX_POINTS];
    size_t n = list_wanted(tune, points);
    if (profiles_wanted(tune->settings) && profiles_choose(tune) < 0)
        return err_set(err, -ENOMEM, "no memory for the profiles");
    for (size_t p = 0; tune->profiles.chosen && p < PROFILE_N; p++)
        n = add_distinct(points, n, tune->profiles.point[p]);
    tune_pair_split(tune);
    n = add_distinct(points, n, tune->split);
    n = add_distinct(points, n, tune->unsplit);
    n = tune_writes_fit(tune, points, n);
    enum tune_stop stop = tune->stop;
    if (stop == TUNE_STOP_INTERRUPTED || stop == TUNE_STOP_STALLED)
        return 0;
    tune->stop = TUNE_STOP_NOT_YET;
    uint64_t kept_ns = (uint64_t)((double)tune->settings->budget_ns * tune_final_share(tune));
    uint64_t deadline_ns = tune_now_ns(tune) + kept_ns;
    deadline_ns = deadline_ns > tune->end_ns ? tune->end_ns : deadline_ns;
    bool beside = !tune->writes_are_scarce && tune_has_counterpart(tune, n, deadline_ns);
    size_t replays = affordable(tune, points, n + (beside ? 1 : 0), deadline_ns);
    int result = 0;
    for (size_t replay = 0; replay < replays && result == 0 && tune->stop == TUNE_STOP_NOT_YET; replay++) {
        for (size_t i = 0; i < n; i++)
            block[i] = points[i];
        size_t n_block = n;
        if (beside && replay < TUNE_COUNTERPART_REPLAYS)
            block[n_block++] = tune->counterpart;
        /* The budget may be passed by the seconds that interfaces.md grants rather than miss the five
         * replays. */
        uint64_t last_ns = tune->end_ns + (replay < TUNE_FRESH_LEAST ? 3 * CLOCK_NS_PER_S : 0);
        result = tune_measure(tune, block, n_block, true, last_ns, err);
    }
    tune_weigh_counterpart(tune);
    if (tune->stop == TUNE_STOP_NOT_YET)
        tune->stop = stop;
    return result;
}
