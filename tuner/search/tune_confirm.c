/* The last part of a search: new runs of the chosen point and of what it is compared with. It looks better
 * than it is in the runs that it was chosen by. */
#include "tuner/search/tune.h"

#include <errno.h>
#include <math.h>

#define MAX_POINTS  (10 + TUNE_MAX_WATCHED)
#define MAX_REPLAYS 30
/* Most replays of a point where the race went on beyond its plan and still did not settle the choice. */
#define RACED_ON_REPLAYS 15
/* Expected times are multiplied by these: while the race lasts, and when the points to be run are known. */
#define SLACK      1.2
#define LESS_SLACK 1.08
/* A night runs the default in one of so many rounds, unless it is also a point to be judged. */
#define SELDOM 3

static bool is_listed(const size_t *points, size_t n, size_t point)
{
    for (size_t i = 0; i < n; i++) {
        if (points[i] == point)
            return true;
    }
    return false;
}

size_t tune_list_once(size_t *points, size_t n, size_t point)
{
    if (point == TUNE_NONE || is_listed(points, n, point))
        return n;
    points[n] = point;
    return n + 1;
}

/* Replays that make the interval of the recommendation narrower than half the margin to either side, by the
 * scatter seen in the search (the first stage of Stein 1945). */
static double enough(const struct tune *tune)
{
    double df, variance = belief_run_variance(&tune->belief, tune->chosen, &df);
    double t = student_quantile((1 + tune->settings->runs.confidence_share) / 2, df);
    return variance * pow(2 * t / tune->margin, 2);
}

/* Most rounds of a night leave the default out: its figures are only shown and used for the scatter between
 * nights. */
static bool is_left_out(size_t point, size_t seldom, size_t replay)
{
    return point == seldom && replay >= TUNE_CONFIRMING_LEAST && replay % SELDOM != 0;
}

static size_t most_replays(const struct tune *tune, enum tune_stop stop)
{
    if (tune->policy.most_replays > 0)
        return tune->policy.most_replays;
    return tune->race.beyond_plan && stop != TUNE_STOP_SEPARATED ? RACED_ON_REPLAYS : MAX_REPLAYS;
}

/* Seconds of one run after the choice. The last run of a point also shows a flush inside the measured span,
 * which the expected cost does not hold. All points of a night are assumed to take the average time. */
static double seconds_of(const struct tune *tune, size_t point)
{
    const struct record *record = &tune->records[point];
    if (tune->policy.costs_alike || record->n == 0 || point >= tune->space.n_points)
        return tune->cost.run_seconds + tune_transient_seconds(tune, point, true);
    double expected = tune->cost.point_seconds[point] - tune_transient_seconds(tune, point, false);
    return fmax(expected, tune->cost.around_seconds + record->samples[record->n - 1].seconds) +
           tune_transient_seconds(tune, point, true);
}

/* Seconds of one round over the points, by what their runs have cost so far. */
static double block_seconds(const struct tune *tune, const size_t *points, size_t n_points, size_t seldom,
                            size_t replay)
{
    double seconds = 0;
    for (size_t i = 0; i < n_points; i++)
        seconds += is_left_out(points[i], seldom, replay) ? 0 : seconds_of(tune, points[i]);
    return seconds;
}

/* Seconds of one run of the chosen setting with the sequential pattern. */
static double counterpart_seconds(const struct tune *tune)
{
    return tune->cost.run_seconds + tune_transient_seconds(tune, tune->chosen, true);
}

/* How many replays of each point are worth making and fit the time that was kept; fixed beforehand, so that
 * results cannot steer it. */
static size_t affordable(const struct tune *tune, const size_t *points, size_t n_points, size_t seldom,
                         bool beside, size_t most, uint64_t deadline_ns)
{
    size_t replays = 0;
    double wanted = enough(tune), left = ((double)deadline_ns - (double)tune_now_ns(tune)) / 1e9;
    while (replays < TUNE_CONFIRMING_LEAST || (replays < most && (double)replays < wanted)) {
        double seconds = block_seconds(tune, points, n_points, seldom, replays) +
                         (beside && replays < TUNE_COUNTERPART_REPLAYS ? counterpart_seconds(tune) : 0);
        left -= seconds * LESS_SLACK;
        if (replays >= TUNE_CONFIRMING_LEAST &&
            (left < 0 || !tune_writes_allow(tune, points, n_points, replays + 1)))
            break;
        replays++;
    }
    return replays;
}

uint64_t tune_race_end_ns(const struct tune *tune)
{
    const struct settings *settings = tune->settings;
    size_t points[4], n = 0;
    if (!tune->policy.races_on || profiles_wanted(settings) || settings_splits_sizes(settings) ||
        tune->chosen == TUNE_NONE)
        return tune->time.search_end_ns;
    n = tune_list_once(points, n, tune->chosen);
    n = tune_list_once(points, n, tune->best);
    n = tune_list_once(points, n, tune->baseline);
    n = tune_list_once(points, n, tune->default_setting);
    double seconds = RACED_ON_REPLAYS * block_seconds(tune, points, n, TUNE_NONE, 0);
    if (!tune->session->simulated)
        seconds += TUNE_COUNTERPART_REPLAYS * counterpart_seconds(tune);
    double end_ns = (double)tune->time.end_ns - seconds * SLACK * 1e9;
    return end_ns > (double)tune->time.search_end_ns ? (uint64_t)end_ns : tune->time.search_end_ns;
}

/* The best measured point other than the baseline. */
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

/* The best measured point that may be better than the baseline and is not listed yet. */
static size_t best_rival(struct tune *tune, const size_t *points, size_t n)
{
    size_t found = TUNE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (tune_is_eligible(tune, i) && tune_chance(tune, i) && !is_listed(points, n, i) &&
            (found == TUNE_NONE || tune_worth(tune, i) > tune_worth(tune, found)))
            found = i;
    }
    return found;
}

/* After few runs the second best may look like the best, so points that may be as good as the leader are run,
 * too, as many as the night asks for. points[0] is the baseline. */
static size_t add_rivals(struct tune *tune, size_t *points, size_t n)
{
    size_t leader = n > 1 ? tune->best : TUNE_NONE;
    while (tune->policy.weighs_chances && n < 1 + tune->policy.n_contenders) {
        size_t rival = best_rival(tune, points, n);
        if (rival == TUNE_NONE || (leader != TUNE_NONE && !tune_not_ruled_out_against(tune, rival, leader)))
            break;
        leader = leader == TUNE_NONE ? rival : leader;
        points[n++] = rival;
    }
    return n;
}

/* The most wanted first, for where not all can be paid for. What a night has to judge comes before what the
 * search found tonight. */
static size_t list_wanted(struct tune *tune, size_t *points)
{
    size_t n = tune_list_once(points, 0, tune->policy.baseline_first ? tune->baseline : tune->chosen);
    if (tune->n_watched > 0)
        n = tune_list_once(points, n, tune->watched[0]);
    n = tune_list_once(points, n, tune->chosen);
    n = tune_list_once(points, n, tune->best);
    n = tune_list_once(points, n, tune->baseline);
    /* With few runs, a better point may look worse than the baseline by chance: the next best is run, too. */
    if (tune->policy.has_runner_up && n == 1)
        n = tune_list_once(points, n, runner_up(tune));
    for (size_t i = 1; i < tune->n_watched; i++)
        n = tune_list_once(points, n, tune->watched[i]);
    return add_rivals(tune, points, n);
}

int tune_confirm(struct tune *tune, struct err *err)
{
    size_t points[MAX_POINTS], block[MAX_POINTS];
    size_t n_wanted = list_wanted(tune, points), n = tune_list_once(points, n_wanted, tune->default_setting);
    size_t seldom = n > n_wanted && tune->policy.weighs_chances ? tune->default_setting : TUNE_NONE;
    if (profiles_wanted(tune->settings) && profiles_choose(tune) < 0)
        return err_set(err, -ENOMEM, "no memory for the profiles");
    for (size_t p = 0; tune->profiles.chosen && p < PROFILE_N; p++)
        n = tune_list_once(points, n, tune->profiles.point[p]);
    tune_pair_split(tune);
    n = tune_list_once(points, n, tune->split);
    n = tune_list_once(points, n, tune->unsplit);
    n = tune_writes_fit(tune, points, n);
    enum tune_stop stop = tune->stop;
    if (stop == TUNE_STOP_INTERRUPTED || stop == TUNE_STOP_STALLED)
        return 0;
    tune->stop = TUNE_STOP_NOT_YET;
    uint64_t kept_ns = (uint64_t)((double)tune->settings->limits.budget_ns * tune->policy.final_share);
    uint64_t deadline_ns = tune_now_ns(tune) + kept_ns;
    /* A night uses all the time that is left for these runs. */
    if (tune->policy.weighs_chances || deadline_ns > tune->time.end_ns)
        deadline_ns = tune->time.end_ns;
    bool beside = tune->policy.has_counterpart && tune_has_counterpart(tune, n, deadline_ns);
    size_t replays = affordable(tune, points, n, seldom, beside, most_replays(tune, stop), deadline_ns);
    int result = 0;
    for (size_t replay = 0; replay < replays && result == 0 && tune->stop == TUNE_STOP_NOT_YET; replay++) {
        size_t n_block = 0;
        for (size_t i = 0; i < n; i++) {
            if (!is_left_out(points[i], seldom, replay))
                block[n_block++] = points[i];
        }
        if (beside && replay < TUNE_COUNTERPART_REPLAYS)
            block[n_block++] = tune->counterpart;
        /* The budget may be passed by the seconds that interfaces.md grants rather than miss the five
         * replays. */
        uint64_t last_ns = tune->time.end_ns + (replay < TUNE_CONFIRMING_LEAST ? 3 * CLOCK_NS_PER_S : 0);
        result = tune_measure(tune, block, n_block, true, last_ns, err);
    }
    tune_weigh_counterpart(tune);
    if (tune->stop == TUNE_STOP_NOT_YET)
        tune->stop = stop;
    return result;
}
