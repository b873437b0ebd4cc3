/* The search for one setting, from beginning to end. */
#include "tuner/search/tune.h"

#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/session/known_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FALLBACK_STD     0.1  /* of log throughput from run to run, before replays tell */
#define EXPLORE_SHARE    0.65 /* of the time before the confirmation */
#define FIRST_DESIGN_MAX 12
#define FASTEST_MARGIN   0.03 /* what is looked for is the best itself, as far as runs can tell */
#define UNUSED_SHARE     0.25
#define LEAST_RACE_RUNS  12 /* fewer would settle nothing */

const struct tune_policy tune_policy_usual = {.final_share = TUNE_FINAL_SHARE,
                                              .takes_start_off = true,
                                              .has_pilot = true,
                                              .has_counterpart = true,
                                              .races_on = true,
                                              .races_again = true,
                                              .chooses_again = true};

const char *const tune_stop_text[] = {
    [TUNE_STOP_NOT_YET] = "not stopped",
    [TUNE_STOP_SEPARATED] = "the evidence settles it",
    [TUNE_STOP_BUDGET] = "the budget is used up",
    [TUNE_STOP_PLAN_DONE] = "the planned runs are done",
    [TUNE_STOP_WRITES] = "the write budget (--max-write) is used up",
    [TUNE_STOP_SPACE] = "the file system ran low on free space",
    [TUNE_STOP_STALLED] = "the device did not finish a run in time",
    [TUNE_STOP_INTERRUPTED] = "interrupted",
};

uint64_t tune_now_ns(const struct tune *tune)
{
    return clock_now_ns(&tune->session->clock);
}

/* Before anything was measured it is assumed that set-up, warm-up and flush together take as long as the run.
 */
static double guess_run_seconds(const struct session *session)
{
    double seconds = (double)tune_length_first_ns(session->settings) / 1e9;
    if (session->simulated)
        return seconds * 1.1 + session->simulator.world.noise.setup_seconds;
    return seconds * 2 + 0.05;
}

/* Refuses --method grid where the whole grid does not fit into the budget, and says which budget it needs. */
static int check_grid(const struct session *session, size_t n_points, struct err *err)
{
    if (search_find(session->settings->search.method) != &search_grid)
        return 0;
    double needed =
        (double)n_points * TUNE_GRID_REPLAYS * guess_run_seconds(session) / (1 - TUNE_FINAL_SHARE);
    if (!session->simulated)
        needed += session->target.fill_seconds;
    if (needed <= (double)session->settings->limits.budget_ns / 1e9)
        return 0;
    return err_set(err, -EINVAL,
                   "--method grid: %zu settings x %d replays need about %.0fs; give --budget %.0fs, fewer "
                   "levels or a shorter --duration",
                   n_points, TUNE_GRID_REPLAYS, needed, ceil(needed));
}

static void plan_time(struct tune *tune)
{
    uint64_t start_ns = tune->session->start_ns, now_ns = tune_now_ns(tune),
             budget_ns = tune->settings->limits.budget_ns - tune->session->reserved_ns;
    tune->time.end_ns = start_ns + budget_ns;
    double kept = tune->policy.final_share + (settings_splits_sizes(tune->settings) ? TUNE_SPLIT_SHARE : 0);
    tune->time.search_end_ns = start_ns + (uint64_t)((double)budget_ns * (1 - kept));
    if (tune->time.search_end_ns < now_ns)
        tune->time.search_end_ns = now_ns;
    tune->time.explore_end_ns =
        now_ns + (uint64_t)((double)(tune->time.search_end_ns - now_ns) * EXPLORE_SHARE);
}

static size_t first_design_size(const struct tune *tune)
{
    double left = ((double)tune->time.explore_end_ns - (double)tune_now_ns(tune)) / 1e9;
    double affordable = left / tune->cost.run_seconds / 2;
    double n = fmin(affordable, FIRST_DESIGN_MAX) * prior_design_share(tune->session);
    return n < 4 ? 4 : (size_t)n;
}

size_t tune_find_point(const struct tune *tune, const struct point *point)
{
    for (size_t i = 0; i < tune->n_records; i++) {
        if (factors_equal(&tune->records[i].point, point))
            return i;
    }
    return TUNE_NONE;
}

/* Index of a point, appended behind the space when it is not in it. */
static size_t place_point(struct tune *tune, const struct point *point)
{
    size_t place = tune_find_point(tune, point);
    if (place != TUNE_NONE)
        return place;
    tune->records[tune->n_records].point = *point;
    return tune->n_records++;
}

/* Default of section 6: 64k (or the pinned size), depth 1, buffered, psync, one thread. */
static struct point default_point(const struct settings *settings)
{
    const struct levels *sizes = &settings->workload.levels[FACTOR_REQUEST_SIZE],
                        *syncs = &settings->workload.levels[FACTOR_SYNC];
    return (struct point){
        .request_size_bytes = sizes->n == 1 ? sizes->value[0] : 65536,
        .queue_depth = 1,
        .api = API_PSYNC,
        .threads = 1,
        .sync = syncs->n == 1 ? (enum sync)syncs->value[0] : SYNC_END,
    };
}

struct point tune_current_point(const struct settings *settings)
{
    struct point point = default_point(settings);
    uint64_t levels[FACTOR_N];
    for (enum factor factor = 0; factor < FACTOR_N; factor++)
        levels[factor] = settings->search.current.given[factor] ? settings->search.current.value[factor]
                                                                : factors_level(&point, factor);
    if (!settings->search.current.given[FACTOR_WRITE_SIZE])
        levels[FACTOR_WRITE_SIZE] = 0; /* that of the reads, also where these were given */
    return factors_point(levels);
}

int tune_check(struct session *session, const struct candidates *candidates, uint64_t file_bytes,
               struct err *err)
{
    struct point current = tune_current_point(session->settings);
    int result = objective_check(session->settings, candidates, err);
    if (result == 0 && session->settings->search.current_given) {
        result = candidates_check(session, &current, file_bytes, err);
        if (result < 0)
            err_prefix(err, "--current");
    }
    return result == 0 ? check_grid(session, candidates->n, err) : result;
}

static size_t cheapest_point(const struct tune *tune)
{
    size_t cheapest = 0;
    for (size_t i = 1; i < tune->space.n_points; i++) {
        if (factors_bytes_in_flight(&tune->records[i].point) <
            factors_bytes_in_flight(&tune->records[cheapest].point))
            cheapest = i;
    }
    return cheapest;
}

static uint64_t file_bytes_of(const struct session *session)
{
    return session->simulated ? UINT64_MAX : session->target.size_bytes;
}

static void place_baselines(struct tune *tune)
{
    const struct settings *settings = tune->settings;
    struct session *session = tune->session;
    struct point default_setting = default_point(settings), current = tune_current_point(settings);
    bool standard_works = candidates_check(session, &default_setting, file_bytes_of(session), NULL) == 0;
    tune->default_setting = TUNE_NONE;
    tune->baseline_is_default = !settings->search.current_given && standard_works;
    if (settings->search.current_given) {
        tune->baseline = place_point(tune, &current);
        if (standard_works && !factors_equal(&default_setting, &current))
            tune->default_setting = place_point(tune, &default_setting);
        tune->baseline_is_default = factors_equal(&default_setting, &current);
    } else {
        tune->baseline = standard_works ? place_point(tune, &default_setting) : cheapest_point(tune);
    }
}

static void place_watched(struct tune *tune)
{
    const struct tune_policy *policy = &tune->policy;
    for (size_t i = 0; i < policy->n_watched; i++) {
        if (candidates_check(tune->session, &policy->watched[i], file_bytes_of(tune->session), NULL) == 0)
            tune->watched[tune->n_watched++] = place_point(tune, &policy->watched[i]);
    }
}

static int make_records(struct tune *tune, struct err *err)
{
    size_t n = tune->candidates.n;
    tune->records = calloc(n + 3 + TUNE_MAX_WATCHED, sizeof *tune->records);
    tune->verdicts = calloc(n, sizeof *tune->verdicts);
    tune->cost.point_seconds = calloc(n, sizeof *tune->cost.point_seconds);
    if (tune->records == NULL || tune->verdicts == NULL || tune->cost.point_seconds == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu settings", n);
    for (size_t i = 0; i < n; i++)
        tune->records[i].point = tune->candidates.points[i];
    tune->n_records = n;
    return 0;
}

/* The highest rate that a known limit lets any setting of the space last at; INFINITY: none does. */
static double ceiling_bps(const struct tune *tune)
{
    const struct session *session = tune->session;
    bool cold = session->env.cache == MEASURE_CACHE_COLD;
    double ceiling = 0;
    for (size_t i = 0; i < tune->space.n_points; i++)
        ceiling = fmax(ceiling,
                       known_limits_ceiling(&session->target_facts.stack, &tune->settings->workload.pattern,
                                            &tune->records[i].point, cold));
    return ceiling;
}

static int make_search(struct tune *tune, struct err *err)
{
    tune->search = search_find(tune->settings->search.method);
    if (tune->search == NULL)
        return err_set(err, -EINVAL, "--method: '%s' is not a search method", tune->settings->search.method);
    tune->rng = gsl_rng_alloc(gsl_rng_mt19937);
    tune->search_state = calloc(1, tune->search->state_size);
    if (tune->rng == NULL || tune->search_state == NULL)
        return err_set(err, -ENOMEM, "no memory for the search");
    gsl_rng_set(tune->rng, rng_derive(tune->session->seed, 2));
    int result = belief_init(&tune->belief, &tune->space, tune->search->model, FALLBACK_STD);
    if (tune_is_of_throughput(tune) && !settings_splits_sizes(tune->settings))
        tune->belief.ceiling = log(ceiling_bps(tune));
    /* What a few runs find late can no longer be shown to meet a bound on p99. */
    tune->belief.ignores_lone_peaks = tune->settings->search.max_latency_p99_ns != 0;
    if (result == 0)
        result = tune->search->init(tune->search_state, &tune->space, first_design_size(tune), tune->rng);
    return result < 0 ? err_sys(err, result, "cannot start the search") : 0;
}

int tune_init(struct tune *tune, struct session *session, struct err *err)
{
    memset(tune, 0, sizeof *tune);
    tune->session = session;
    tune->settings = session->settings;
    tune->policy = session->policy != NULL ? *session->policy : tune_policy_usual;
    tune->best = tune->chosen = tune->baseline = tune->default_setting = tune->counterpart = TUNE_NONE;
    tune->split = tune->unsplit = tune->unpaid = TUNE_NONE;
    tune->lowest_p99_ns = tune->shortfall_share = NAN;
    tune->margin = objective_margin(tune->settings);
    if (tune->settings->search.prefers == PREFERS_FASTEST)
        tune->margin = fmin(tune->margin, FASTEST_MARGIN);
    tune->reference_log_bps = -INFINITY;
    tune_length_init(tune);
    tune->cost.run_seconds = guess_run_seconds(session);
    tune->cost.around_seconds = fmax(0, tune->cost.run_seconds - (double)tune->duration_ns / 1e9);
    plan_time(tune);
    int result = candidates_build(&tune->candidates, session, file_bytes_of(session), err);
    if (result == 0)
        result = tune_check(session, &tune->candidates, file_bytes_of(session), err);
    if (result == 0 && candidates_space(&tune->candidates, &tune->space) < 0)
        result = err_set(err, -ENOMEM, "no memory for a space of %zu settings", tune->candidates.n);
    if (result == 0)
        result = make_records(tune, err);
    if (result == 0) {
        place_baselines(tune);
        place_watched(tune);
        result = make_search(tune, err);
        if (result == 0) {
            tune_exclude_distrusted(tune);
            tune_expect_costs(tune);
        }
    }
    if (result == 0)
        result = prior_begin(tune, err);
    return result == 0 ? resume_begin(tune, err) : result;
}

/* Called when no other choice can be made: a choice that was not run after the first one is given up for the
 * best point of then, which was. */
static void keep_confirmed(struct tune *tune, size_t best)
{
    size_t chosen = tune->chosen;
    if (chosen != TUNE_NONE && record_count(&tune->records[chosen], true) < TUNE_MIN_REPLAYS &&
        tune_is_eligible(tune, best))
        tune->best = tune->chosen = best;
}

/* When the runs after the choice show that the chosen point is worse than another, the choice is made again,
 * once. The runs that the new choice used no longer count as made after it. */
static int choose_and_confirm(struct tune *tune, struct err *err)
{
    /* Results of other hosts steered the search; the choice uses only what was measured here. */
    belief_prior_drop(&tune->belief);
    int result = belief_update(&tune->belief, true, tune->rng);
    if (result == -ENOMEM)
        return err_sys(err, result, "cannot fit a model");
    tune_choose(tune);
    if (tune->chosen == TUNE_NONE)
        return 0;
    result = tune_confirm(tune, err);
    size_t best = tune->best, chosen = tune->chosen;
    if (result < 0 || belief_update(&tune->belief, true, tune->rng) == -ENOMEM)
        return result;
    tune_choose(tune);
    if (tune->verdicts[chosen] != VERDICT_WORSE && tune->records[chosen].failed == 0 &&
        tune_distrust(tune, chosen) == 0) {
        tune->best = best;
        tune->chosen = chosen;
        return 0;
    }
    /* Where bytes are scarce they do not allow another choice; a night compares all points that were run
     * after the choice, whichever was chosen. */
    if (!tune->policy.chooses_again) {
        keep_confirmed(tune, best);
        return 0;
    }
    for (size_t i = 0; i < tune->n_records; i++)
        record_age(&tune->records[i]);
    return tune->chosen == TUNE_NONE ? 0 : tune_confirm(tune, err);
}

/* How many bytes the search may write. */
static uint64_t most_bytes(const struct tune *tune)
{
    return tune->settings->limits.max_write_bytes - tune->session->reserved_bytes;
}

/* The confirmation gets its share of the write budget as it gets its share of the time. */
static void reserve_writes(struct tune *tune)
{
    struct session *session = tune->session;
    uint64_t max_bytes = most_bytes(tune), used_bytes = session->bytes_written;
    if (max_bytes > used_bytes)
        session->write_limit_bytes =
            max_bytes - (uint64_t)((double)(max_bytes - used_bytes) * tune->policy.final_share);
    tune_writes_reserve(tune);
}

static int conclude(struct tune *tune, struct err *err)
{
    tune->session->write_limit_bytes = most_bytes(tune);
    int result = choose_and_confirm(tune, err);
    if (result < 0)
        return result;
    tune_weigh_split(tune);
    return tune_judge(tune);
}

/* Whether the runs after the choice made a choice doubtful that had been settled, and time is left for more.
 * With a bound on p99, points were excluded for good by now, and another race would not bring them back. */
static bool is_worth_another_race(const struct tune *tune)
{
    return tune->policy.races_again && tune->stop == TUNE_STOP_SEPARATED && !tune->conclusive &&
           tune->chosen != TUNE_NONE && tune->settings->search.max_latency_p99_ns == 0 &&
           tune_has_time(tune, tune_race_end_ns(tune), LEAST_RACE_RUNS);
}

static int race_again(struct tune *tune, struct err *err)
{
    for (size_t i = 0; i < tune->n_records; i++)
        record_age(&tune->records[i]);
    tune->stop = TUNE_STOP_NOT_YET;
    reserve_writes(tune);
    int result = tune_race(tune, err);
    return result < 0 ? result : conclude(tune, err);
}

/* Whether so much time is left that nobody would say it was used up. */
static bool has_unused_time(const struct tune *tune)
{
    double left_ns = (double)tune->time.end_ns - (double)tune_now_ns(tune);
    return left_ns > UNUSED_SHARE * (double)tune->settings->limits.budget_ns;
}

int tune_run(struct tune *tune, struct err *err)
{
    tune->n_standing = tune->session->dropped.n;
    reserve_writes(tune);
    int result = resume_take_over(tune, err);
    if (result == 0)
        result = tune_length(tune, err);
    if (result == 0)
        result = tune_explore(tune, err);
    if (result == 0)
        result = profiles_scout(tune, err);
    if (result == 0)
        result = tune_race(tune, err);
    if (result == 0)
        result = tune_seek_unsplit(tune, err);
    if (result == 0)
        result = conclude(tune, err);
    while (result == 0 && is_worth_another_race(tune))
        result = race_again(tune, err);
    if (tune->stop == TUNE_STOP_NOT_YET)
        tune->stop = has_unused_time(tune) ? TUNE_STOP_PLAN_DONE : TUNE_STOP_BUDGET;
    return result;
}

void tune_done(struct tune *tune)
{
    for (size_t i = 0; i < tune->n_records; i++)
        record_done(&tune->records[i]);
    sustained_done(&tune->sustained);
    if (tune->records != NULL && tune->counterpart != TUNE_NONE)
        record_done(&tune->records[tune->counterpart]);
    free(tune->records);
    free(tune->verdicts);
    free(tune->cost.point_seconds);
    profiles_done(&tune->profiles);
    if (tune->search != NULL && tune->search_state != NULL)
        tune->search->done(tune->search_state);
    free(tune->search_state);
    if (tune->rng != NULL)
        gsl_rng_free(tune->rng);
    belief_done(&tune->belief);
    space_done(&tune->space);
    candidates_free(&tune->candidates);
}
