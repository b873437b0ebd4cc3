/* Runs of a list of points in random order: the one place where the search meets the measurement. */
#include "tuner/search/tune.h"

#include "tuner/search/resume.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

/* Share by which one run may take longer than expected. For several runs together it shrinks with the root of
 * their number, but not below the second, because the average itself may be wrong. */
#define COST_MARGIN       0.2
#define LEAST_COST_MARGIN 0.08
/* A run is cut when its point is slower than the best so far by so many standard deviations of a run, and at
 * least by this factor. */
#define CAUTIOUS_SD      1.645
#define HOPELESS_SD      4.0
#define HOPELESS_FACTOR  2.0
#define HOPELESS_REPLAYS 2 /* the best so far must have so many runs */

bool tune_has_time(const struct tune *tune, uint64_t deadline_ns, size_t n_runs)
{
    double margin = fmax(COST_MARGIN / sqrt(fmax(1, (double)n_runs)), LEAST_COST_MARGIN);
    double needed_ns = (double)n_runs * tune->cost.run_seconds * (1 + margin) * 1e9;
    return (double)tune_now_ns(tune) + needed_ns <= (double)deadline_ns;
}

/* As tune_has_time for one run of this point. */
static bool has_time_for(const struct tune *tune, size_t point, bool confirming, uint64_t deadline_ns)
{
    double seconds = tune->cost.run_seconds;
    if (point < tune->space.n_points)
        seconds = fmax(seconds, tune->cost.point_seconds[point]);
    if (confirming)
        seconds += tune_transient_seconds(tune, point, true) - tune_transient_seconds(tune, point, false);
    return (double)tune_now_ns(tune) + seconds * (1 + COST_MARGIN) * 1e9 <= (double)deadline_ns;
}

/* A run that is slower than this is ended early. The rate lies so far below the lower bound of the best so
 * far that a point as good as that one would not fall below it by chance. 0: no run is ended. */
static double hopeless_bps(const struct tune *tune, size_t point, bool confirming)
{
    size_t best = belief_best(&tune->belief, HOPELESS_REPLAYS);
    /* Only the first run of a point is cut: without its slow runs the mean of a point would be too high. */
    if (confirming || point >= tune->space.n_points || best >= tune->space.n_points ||
        tune->records[point].n > 0 || tune->search == &search_grid || tune->length.piloting ||
        !tune_is_of_throughput(tune) || tune->settings->search.max_latency_p99_ns != 0)
        return 0;
    double df, std = sqrt(belief_run_variance(&tune->belief, best, &df));
    const struct moments *moments = &tune->belief.moments[best];
    double sure = moments->mean - CAUTIOUS_SD * std / sqrt((double)moments->n);
    return exp(sure - fmax(tune->margin + HOPELESS_SD * std, log(HOPELESS_FACTOR)));
}

static struct measure_plan plan_of(const struct tune *tune, size_t point, bool confirming)
{
    const struct settings *settings = tune->settings;
    struct measure_plan plan = {
        .pattern = point == tune->counterpart ? tune->sequential : settings->workload.pattern,
        .point = tune->records[point].point,
        .duration_ns = tune->duration_ns,
        .warmup_limit_ns = tune->length.warmup_limit_ns,
        .warmup_least_ns = tune->length.warmup_limit_ns > 0 ? tune->length.warmup_least_ns : 0,
        .hopeless_bps = hopeless_bps(tune, point, confirming),
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
    };
    tune_transient_plan(tune, point, confirming, &plan);
    return plan;
}

/* A failing point is reported and left out; the search goes on. */
static void exclude(struct tune *tune, size_t point, int code, const struct err *why)
{
    char text[FACTORS_TEXT_SIZE];
    tune->records[point].failed = code;
    if (point == tune->counterpart)
        return;
    tune->failure = *why;
    if (point < tune->space.n_points)
        belief_exclude(&tune->belief, point);
    notes_add(&tune->session->dropped, factors_format(&tune->records[point].point, text), "a run failed: %s",
              why->text);
}

/* Replays of a point have equal length: a run that was cut stands for its point only until a whole one was
 * made. */
static void forget_cut(struct tune *tune, size_t point)
{
    struct record *record = &tune->records[point];
    if (record->n == 0 || !record->samples[0].cut)
        return;
    tune->length.n_discarded += record->n;
    record_discard(record);
    belief_forget(&tune->belief, point);
}

/* Writes the run to the journal and to the history, where there are any. */
static void keep_elsewhere(struct tune *tune, size_t point, const struct measure_result *result)
{
    const struct record *record = &tune->records[point];
    resume_note(tune, point);
    save_note(tune->session, &record->point, &record->samples[record->n - 1], result);
}

static int keep(struct tune *tune, size_t point, const struct measure_plan *plan,
                const struct measure_result *result, const struct histogram *latency, bool confirming,
                uint64_t load_bytes)
{
    tune->n_cut += result->cut;
    if (tune->length.discarded) {
        tune->length.n_discarded++;
        return 0;
    }
    forget_cut(tune, point);
    struct sample sample = sample_of(result, latency, session_warnings(tune->session, plan, result));
    sample.confirming = confirming;
    tune_transient_take_off(tune, &sample);
    int added = record_add(&tune->records[point], &sample, latency);
    /* The counterpart has another pattern, and runs that end within the initial transient do not show the
     * rate that lasts. */
    bool lasts = confirming || !tune->length.start.taken_off;
    if (added == 0 && point != tune->counterpart && !result->cut && lasts)
        added = sustained_add(&tune->sustained, point, load_bytes, plan, result);
    if (added == 0 && point < tune->space.n_points)
        added = tune_tell(tune, point, &sample);
    if (added == 0)
        tune_weigh_trust(tune, point);
    if (added == 0 && point != tune->counterpart)
        keep_elsewhere(tune, point, result);
    return added;
}

/* One run more of this point could cross the write budget; a run of another may still fit. */
#define RUN_REFUSED 2

/* 0: done; RUN_REFUSED; 1: no further run can be made now (tune->stop says why); negative: the command cannot
 * go on. */
static int one_run(struct tune *tune, size_t point, bool confirming, struct histogram *latency,
                   struct err *err)
{
    struct measure_plan plan = plan_of(tune, point, confirming);
    struct measure_result measured;
    struct err why = {0};
    uint64_t start_ns = tune_now_ns(tune);
    uint64_t load_bytes = tune->session->bytes_read + tune->session->bytes_written;
    if (tune->observer != NULL)
        tune->observer->run_begins(tune, point, confirming);
    histogram_init(latency);
    int result = session_measure(tune->session, &plan, &measured, latency, &why);
    if (result == -EINTR) {
        tune->stop = TUNE_STOP_INTERRUPTED;
        return 1;
    }
    if (result == -ETIME) {
        exclude(tune, point, result, &why);
        tune->stop = TUNE_STOP_STALLED;
        return 1;
    }
    if (result == -EDQUOT && tune->session->wrote_out)
        return RUN_REFUSED;
    if (result < 0 && tune->session->full) {
        tune->stop = TUNE_STOP_SPACE;
        return err_set(err, result, "%s", why.text);
    }
    if (result < 0) {
        exclude(tune, point, result, &why);
        return 0;
    }
    if (keep(tune, point, &plan, &measured, latency, confirming, load_bytes) < 0)
        return err_set(err, -ENOMEM, "no memory for another replay");
    double seconds = (double)(tune_now_ns(tune) - start_ns) / 1e9;
    tune_length_note(tune, point, &plan, &measured, latency, seconds);
    if (!confirming || !tune->length.start.taken_off)
        tune_learn_cost(tune, point, seconds, &measured);
    return 0;
}

/* In random order; but a search begins with the point that has the least in flight, from whose rate it knows
 * what the others may cost. */
static void put_in_order(struct tune *tune, size_t *points, size_t n)
{
    size_t least = 0;
    gsl_ran_shuffle(tune->rng, points, n, sizeof points[0]);
    if (tune_fastest_bps(tune) > 0)
        return;
    for (size_t i = 1; i < n; i++) {
        if (factors_bytes_in_flight(&tune->records[points[i]].point) <
            factors_bytes_in_flight(&tune->records[points[least]].point))
            least = i;
    }
    size_t point = points[least];
    points[least] = points[0];
    points[0] = point;
}

static bool is_put_off(const struct tune *tune, size_t point, bool confirming)
{
    bool first = tune->length.piloting || tune->search->in_first_design(tune->search_state);
    return first && !confirming && point < tune->space.n_points && point != tune->baseline &&
           tune_is_dear(tune, point);
}

int tune_measure(struct tune *tune, size_t *points, size_t n, bool confirming, uint64_t deadline_ns,
                 struct err *err)
{
    if (n == 0)
        return 0;
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    put_in_order(tune, points, n);
    size_t n_refused = 0, n_made = 0;
    int result = 0;
    for (size_t i = 0; i < n && result == 0 && tune->stop == TUNE_STOP_NOT_YET; i++) {
        if (tune->records[points[i]].failed != 0)
            continue;
        if (is_put_off(tune, points[i], confirming) ||
            !has_time_for(tune, points[i], confirming, deadline_ns))
            continue;
        result = one_run(tune, points[i], confirming, latency, err);
        n_made += result == 0;
        n_refused += result == RUN_REFUSED;
        result = result == RUN_REFUSED ? 0 : result;
    }
    if (n_refused > 0 && n_made == 0 && result == 0 && tune->stop == TUNE_STOP_NOT_YET)
        tune->stop = TUNE_STOP_WRITES;
    free(latency);
    return result < 0 ? result : 0;
}
