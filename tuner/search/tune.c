/* The search for one setting, from beginning to end. */
#include "tuner/search/tune.h"

#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/session/session_members.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FASTEST_MARGIN           0.03 /* what is looked for is the best itself, as far as runs can tell */
#define CONFIRMING_GRACE_SECONDS 3    /* that interfaces.md grants the replays after the choice */

const struct tune_policy tune_policy_usual = {
    .judges = {.final_share = TUNE_FINAL_SHARE, .races_on = true, .races_again = true, .chooses_again = true},
    .takes_start_off = true,
    .has_pilot = true,
    .has_counterpart = true};

const char *const tune_stop_text[] = {
    [ENGINE_STOP_NOT_YET] = "not stopped",
    [ENGINE_STOP_SEPARATED] = "the evidence settles it",
    [ENGINE_STOP_BUDGET] = "the budget is used up",
    [ENGINE_STOP_PLAN_DONE] = "the planned runs are done",
    [ENGINE_STOP_WRITES] = "the write budget (--max-write) is used up",
    [ENGINE_STOP_SPACE] = "the file system ran low on free space",
    [ENGINE_STOP_STALLED] = "the device did not finish a run in time",
    [ENGINE_STOP_INTERRUPTED] = "interrupted",
};

uint64_t tune_now_ns(const struct tune *tune)
{
    return clock_now_ns(&tune->session->clock);
}

double tune_now(const struct tune *tune)
{
    return ((double)tune_now_ns(tune) - (double)tune->session->start_ns) / 1e9;
}

bool tune_has_time(const struct tune *tune, double deadline_seconds, size_t n_runs)
{
    return engine_has_time(&tune->engine, tune_now(tune), deadline_seconds, n_runs);
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
        (double)n_points * ENGINE_GRID_REPLAYS * guess_run_seconds(session) / (1 - TUNE_FINAL_SHARE);
    if (!session->simulated)
        needed += session->target.fill_seconds;
    if (needed <= (double)session->settings->limits.budget_ns / 1e9)
        return 0;
    return err_set(err, -EINVAL,
                   "--method grid: %zu settings x %d replays need about %.0fs; give --budget %.0fs, fewer "
                   "levels or a shorter --duration",
                   n_points, ENGINE_GRID_REPLAYS, needed, ceil(needed));
}

size_t tune_find_point(const struct tune *tune, const struct point *point)
{
    for (size_t i = 0; i < tune->n_records; i++) {
        if (factors_equal(&tune->records[i].point, point))
            return i;
    }
    return ENGINE_NONE;
}

void tune_set_point(struct tune *tune, size_t point)
{
    const struct point *setting = &tune->records[point].point;
    struct engine_point *of = &tune->engine.points[point];
    of->in_flight_bytes = (double)factors_bytes_in_flight(setting);
    of->least_bytes =
        measure_request_bytes(&tune->settings->workload.pattern, setting) * MEASURE_MIN_REQUESTS;
    of->simplicity = setting->api;
    of->distrusted = tune_distrust(tune, point) != 0;
    of->failed = tune->records[point].failed != 0;
}

/* Index of a point, appended behind the space when it is not in it. */
static size_t place_point(struct tune *tune, const struct point *point)
{
    size_t place = tune_find_point(tune, point);
    if (place != ENGINE_NONE)
        return place;
    tune->records[tune->n_records].point = *point;
    tune_set_point(tune, tune->n_records);
    return tune->n_records++;
}

/* Default of section 6: 64k (or the pinned size), depth 1, buffered, psync, one thread. */
static struct point default_point(const struct settings *settings)
{
    const struct levels *sizes = &settings->workload.levels[FACTOR_REQUEST_SIZE],
                        *syncs = &settings->workload.levels[FACTOR_SYNC],
                        *clients = &settings->workload.clients;
    return (struct point){
        .request_size_bytes = sizes->n == 1 ? sizes->value[0] : 65536,
        .queue_depth = 1,
        .api = API_PSYNC,
        .threads = 1,
        .sync = syncs->n == 1 ? (enum sync)syncs->value[0] : SYNC_END,
        .clients = clients->n > 0 ? (uint32_t)clients->value[clients->n - 1] : 0,
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
    const uint32_t clients = point.clients;
    point = factors_point(levels);
    point.clients = clients;
    return point;
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
    tune->baseline_is_default = !settings->search.current_given && standard_works;
    if (settings->search.current_given) {
        tune->engine.baseline = place_point(tune, &current);
        if (standard_works && !factors_equal(&default_setting, &current))
            tune->engine.default_setting = place_point(tune, &default_setting);
        tune->baseline_is_default = factors_equal(&default_setting, &current);
    } else {
        tune->engine.baseline = standard_works ? place_point(tune, &default_setting) : cheapest_point(tune);
    }
}

static void place_watched(struct tune *tune)
{
    const struct tune_policy *policy = &tune->policy;
    for (size_t i = 0; i < policy->n_watched; i++) {
        if (candidates_check(tune->session, &policy->watched[i], file_bytes_of(tune->session), NULL) == 0)
            tune->engine.watched[tune->engine.n_watched++] = place_point(tune, &policy->watched[i]);
    }
}

static int make_records(struct tune *tune, struct err *err)
{
    size_t n = tune->candidates.n;
    tune->records = calloc(n + TUNE_MOST_OUTSIDE, sizeof *tune->records);
    tune->latency = malloc(sizeof *tune->latency);
    if (tune->records == NULL || tune->latency == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu settings", n);
    for (size_t i = 0; i < n; i++)
        tune->records[i].point = tune->candidates.points[i];
    tune->n_records = n;
    return 0;
}

/* What known limits let each setting of the space last at, and the highest of that. */
static void set_ceiling(struct tune *tune)
{
    double highest = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        double most = session_members_ceiling(tune->session, &tune->records[i].point);
        tune->engine.points[i].most_bps = isfinite(most) ? most : 0;
        highest = fmax(highest, most);
    }
    tune->engine.belief.ceiling = highest > 0 ? log(highest) : -INFINITY;
}

/* Without its replays an answer is not settled; without some of the runs of members alone it only says less.
 * So replays may take a quarter of the time that is kept for those. */
static double grace_seconds(const struct session *session)
{
    double kept = session_n_members(session) > 1 ? (double)session->reserved_ns / 1e9 : 0;
    return CONFIRMING_GRACE_SECONDS + kept / 4;
}

static void set_up_engine(struct tune *tune)
{
    const struct settings *settings = tune->settings;
    bool splits = settings_splits_sizes(settings);
    double margin = objective_margin(settings);
    bool fastest = settings->search.prefers == PREFERS_FASTEST;
    tune->engine = (struct engine){
        .space = &tune->space,
        .search = search_find(settings->search.method),
        .policy = tune->policy.judges,
        .margin = fastest ? fmin(margin, FASTEST_MARGIN) : margin,
        .tolerance = margin,
        .confidence_share = settings->runs.confidence_share,
        .budget_seconds = (double)settings->limits.budget_ns / 1e9,
        .end_seconds = (double)(settings->limits.budget_ns - tune->session->reserved_ns) / 1e9,
        .grace_seconds = grace_seconds(tune->session),
        .run_seconds = guess_run_seconds(tune->session),
        .duration_seconds = (double)tune->duration_ns / 1e9,
        .design_share = prior_design_share(tune->session),
        .prefers_fastest = fastest,
        .is_of_rates = tune_is_of_throughput(tune),
        .limit_ns = (double)settings->search.max_latency_p99_ns,
        .has_counterpart = !tune->session->simulated && settings->workload.rates.n == 0,
        .n_outside_most = TUNE_MOST_OUTSIDE,
    };
    /* A search that has to judge more keeps to its plan. */
    tune->engine.policy.races_on &= !profiles_wanted(settings) && !splits;
    tune->engine.policy.split_share = splits ? TUNE_SPLIT_SHARE : 0;
}

static int make_engine(struct tune *tune, struct err *err)
{
    set_up_engine(tune);
    if (tune->engine.search == NULL)
        return err_set(err, -EINVAL, "--method: '%s' is not a search method", tune->settings->search.method);
    if (tune->settings->search.neighbour_limit_share > 0 &&
        effects_init(&tune->effects, 1, &tune->space, rng_derive(tune->session->seed, 4)) < 0)
        return err_set(err, -ENOMEM, "no memory for the costs of settings");
    tune->engine.kept = tune->effects.kept;
    int result = engine_init(&tune->engine, tune_now(tune), rng_derive(tune->session->seed, 2));
    if (result < 0)
        return err_sys(err, result, "cannot start the search");
    for (size_t i = 0; i < tune->n_records; i++)
        tune_set_point(tune, i);
    place_baselines(tune);
    place_watched(tune);
    if (tune_is_of_throughput(tune) && !settings_splits_sizes(tune->settings))
        set_ceiling(tune);
    tune_exclude_distrusted(tune);
    engine_expect_costs(&tune->engine);
    return 0;
}

int tune_init(struct tune *tune, struct session *session, struct err *err)
{
    memset(tune, 0, sizeof *tune);
    tune->session = session;
    tune->settings = session->settings;
    tune->policy = session->policy != NULL ? *session->policy : tune_policy_usual;
    tune->split = tune->unsplit = ENGINE_NONE;
    tune->reference_log_bps = -INFINITY;
    tune_length_init(tune);
    int result = candidates_build(&tune->candidates, session, file_bytes_of(session), err);
    if (result == 0)
        result = tune_check(session, &tune->candidates, file_bytes_of(session), err);
    if (result == 0 && candidates_space(&tune->candidates, &tune->space) < 0)
        result = err_set(err, -ENOMEM, "no memory for a space of %zu settings", tune->candidates.n);
    if (result == 0)
        result = make_records(tune, err);
    if (result == 0)
        result = make_engine(tune, err);
    if (result == 0)
        result = prior_begin(tune, err);
    return result == 0 ? resume_begin(tune, err) : result;
}

/* --- the answer --- */

double tune_shortfall_share(const struct tune *tune)
{
    double shortfall = tune->engine.shortfall;
    return isfinite(shortfall) ? objective_share(tune->settings, shortfall) : NAN;
}

double tune_lowest_p99_ns(const struct tune *tune)
{
    double lowest = NAN;
    for (size_t i = 0; i < tune->space.n_points && tune->settings->search.max_latency_p99_ns != 0; i++) {
        const struct record *record = &tune->records[i];
        double sum = 0;
        for (size_t k = 0; k < record->n; k++)
            sum += record->samples[k].latency_p99_ns;
        if (record->n > 0 && record->failed == 0 && tune_distrust(tune, i) == 0)
            lowest = fmin(lowest, sum / (double)record->n);
    }
    return lowest;
}

/* --- the runs --- */

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
            max_bytes - (uint64_t)((double)(max_bytes - used_bytes) * tune->engine.policy.final_share);
    tune_writes_reserve(tune);
}

/* What goes beside the replays after the choice. */
static int accompany(struct tune *tune, struct err *err)
{
    if (profiles_wanted(tune->settings) && profiles_choose(tune) < 0)
        return err_set(err, -ENOMEM, "no memory for the profiles");
    for (size_t p = 0; tune->profiles.chosen && p < PROFILE_N; p++)
        engine_accompany(&tune->engine, tune->profiles.point[p]);
    tune_pair_split(tune);
    engine_accompany(&tune->engine, tune->split);
    engine_accompany(&tune->engine, tune->unsplit);
    tune_writes_tell(tune);
    tune_set_counterpart(tune);
    return 0;
}

/* The engine stands between two parts of the search. */
static int take_turn(struct tune *tune, struct err *err)
{
    bool first = tune->engine.n_aged == 0;
    int result = 0;
    switch (tune->engine.phase) {
    case ENGINE_RACE:
        reserve_writes(tune);
        result = first ? profiles_scout(tune, err) : 0;
        break;
    case ENGINE_CHOICE:
        result = first ? tune_seek_unsplit(tune, err) : 0;
        break;
    case ENGINE_PLAN:
        tune->session->write_limit_bytes = most_bytes(tune);
        result = accompany(tune, err);
        break;
    case ENGINE_WEIGH:
        tune_weigh_counterpart(tune);
        break;
    case ENGINE_VERDICT:
        tune_weigh_split(tune);
        break;
    default:
        break;
    }
    tune_tell_trust(tune);
    return result < 0 ? result : profiles_leave_out_steep(tune);
}

/* Runs after a choice become ordinary ones where the engine takes them for another one. */
static void age_records(struct tune *tune)
{
    if (tune->n_aged == tune->engine.n_aged)
        return;
    tune->n_aged = tune->engine.n_aged;
    for (size_t i = 0; i < tune->n_records; i++)
        record_age(&tune->records[i]);
}

static int run_engine(struct tune *tune, struct err *err)
{
    struct engine_run run;
    int result = 0, asked = ENGINE_RUN;
    while (result == 0 && asked != ENGINE_DONE) {
        asked = effects_update(&tune->effects);
        if (asked == 0)
            asked = engine_ask(&tune->engine, tune_now(tune), &run);
        if (asked < 0)
            return err_sys(err, asked, "the search cannot go on");
        age_records(tune);
        if (asked == ENGINE_TURN)
            result = take_turn(tune, err);
        else if (asked == ENGINE_RUN)
            result = tune_one_run(tune, &run, err);
    }
    return result;
}

int tune_run(struct tune *tune, struct err *err)
{
    tune->n_standing = tune->session->dropped.n;
    reserve_writes(tune);
    int result = resume_take_over(tune, err);
    if (result == 0)
        result = tune_length(tune, err);
    return result == 0 ? run_engine(tune, err) : result;
}

void tune_done(struct tune *tune)
{
    for (size_t i = 0; i < tune->n_records; i++)
        record_done(&tune->records[i]);
    sustained_done(&tune->sustained);
    if (tune->records != NULL && tune->engine.counterpart != ENGINE_NONE)
        record_done(&tune->records[tune->engine.counterpart]);
    effects_done(&tune->effects);
    free(tune->records);
    free(tune->latency);
    profiles_done(&tune->profiles);
    engine_done(&tune->engine);
    space_done(&tune->space);
    candidates_free(&tune->candidates);
}
