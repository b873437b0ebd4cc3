/* The pilot of a search: its first runs, from which the length of all runs and their warm-up are decided. */
#include "tuner/search/tune_length.h"

#include "models/statistics/line.h"
#include "tuner/search/resume.h"
#include "tuner/search/tune.h"
#include "tuner/session/neighbour_costs.h"
#include "tuner/store/save.h"

#include <math.h>
#include <string.h>

/* With --method grid the number of runs is fixed, so that the budget gives the length of each. */
#define BESIDE_REFERENCE_NS   (CLOCK_NS_PER_S / 2)
#define BESIDE_REFERENCE_RUNS 80 /* a budget */
#define GRID_RUNS_PER_BUDGET  500
#define LONGEST_NS            (2 * CLOCK_NS_PER_S)
/* Runs must be short enough for so many in a search; with fewer, too few points are measured. */
#define LEAST_RUNS         150
#define N_REPLAYED         3 /* of the points, the fastest */
#define REPLAYS            3 /* of those */
#define SMALL_BYTES        (256U << 10)
#define SMALL_QUEUE        4
#define SMALL_REPLAYS      2
#define LONG_RATIO         8 /* longer runs of the pilot, by the shortest */
#define LONG_REPLAYS       4
#define WARMUP_LIMIT_RATIO 2
#define PRIOR_STD          0.1 /* from run to run */
/* One run that is so far off a line, or starts so far from the rest, is no accident. */
#define HINT_OFF 0.12
#define HINT_LOG 0.22

/* Runs must agree by so much that they start unlike they go on: a false alarm costs most of a short search.
 */
#define START_CONFIDENCE    0.98
#define UNWARMED_LEAST_RUNS 80 /* so many runs without a warm-up must fit into the budget */

static const char *const why_text[] = {
    [RUN_LENGTH_UNKNOWN] = "too few runs fit the pilot to tell; the shortest",
    [RUN_LENGTH_SHORTEST] = "longer runs would cost more than they teach",
    [RUN_LENGTH_LONGER] = "for what a run costs beside its length, longer ones teach more",
    [RUN_LENGTH_CAPPED] = "longer runs teach more; as long as the budget allows",
};

uint64_t tune_length_first_ns(const struct settings *settings)
{
    if (settings->runs.duration_ns != 0)
        return settings->runs.duration_ns;
    uint64_t duration_ns = settings->limits.budget_ns / GRID_RUNS_PER_BUDGET;
    if (search_find(settings->search.method) != &search_grid || duration_ns < MEASURE_MIN_DURATION_NS)
        return MEASURE_MIN_DURATION_NS;
    return duration_ns > CLOCK_NS_PER_S ? CLOCK_NS_PER_S : duration_ns;
}

void tune_length_set(struct tune *tune, uint64_t duration_ns)
{
    tune->duration_ns = duration_ns;
    tune->engine.duration_seconds = (double)duration_ns / 1e9;
}

void tune_length_init(struct tune *tune)
{
    const struct settings *settings = tune->settings;
    bool limited = settings->runs.warmup_limit_ns != UINT64_MAX;
    tune->duration_ns = tune_length_first_ns(settings);
    tune->length.bursts.known = tune->session->env.rate_is_limited;
    tune->length.warmup_limit_ns = limited ? settings->runs.warmup_limit_ns : tune->duration_ns;
    tune->length.why =
        settings->runs.duration_ns != 0 ? "given with --duration" : "the runs of a grid share the budget";
}

/* --- the pilot --- */

/* The fastest points of the pilot, each `replays` times. */
static size_t list_fastest(const struct tune *tune, const size_t *points, size_t n, size_t replays,
                           size_t *ret_list)
{
    size_t chosen[N_REPLAYED], n_chosen = 0, n_list = 0;
    double rates[N_REPLAYED];
    for (size_t i = 0; i < n; i++) {
        const struct record *record = &tune->records[points[i]];
        if (record->n > 0)
            n_chosen = engine_list_highest(chosen, rates, n_chosen, N_REPLAYED, points[i],
                                           record_log_moments(record, false).mean);
    }
    for (size_t k = 0; k < replays; k++) {
        for (size_t i = 0; i < n_chosen; i++)
            ret_list[n_list++] = chosen[i];
    }
    return n_list;
}

/* Lists the fastest points whose runs can show a start or bursts, which slow ones may not reach; the first
 * ones twice where there are few. Runs that write every block once have no warm-up. */
static size_t list_telling(const struct tune *tune, size_t *ret_list)
{
    const struct tune_length *length = &tune->length;
    size_t points[TUNE_LENGTH_RUNS], n = 0;
    for (size_t i = 0; i < length->n_runs; i++) {
        size_t point = length->runs[i].point;
        if (isfinite(length->runs[i].off) &&
            !measure_writes_once(&tune->settings->workload.pattern, &tune->records[point].point))
            points[n++] = point;
    }
    n = list_fastest(tune, points, n, 1, ret_list);
    for (size_t i = 0; n > 1 && n < N_REPLAYED; i++)
        ret_list[n++] = ret_list[i];
    return n;
}

/* Lists two points with few requests and bytes in flight, the least and the most bytes, whose windows show
 * the initial transient. Runs that write every block once have no warm-up, and long queues take the whole run
 * to fill and drain. */
static size_t list_small(const struct tune *tune, size_t *ret_list)
{
    size_t least = ENGINE_NONE, most = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        const struct point *point = &tune->records[i].point;
        uint64_t bytes = factors_bytes_in_flight(point);
        if (measure_writes_once(&tune->settings->workload.pattern, point) ||
            tune->engine.belief.excluded[i] || bytes > SMALL_BYTES ||
            point->queue_depth * point->threads > SMALL_QUEUE)
            continue;
        if (least == ENGINE_NONE || bytes < factors_bytes_in_flight(&tune->records[least].point))
            least = i;
        if (most == ENGINE_NONE || bytes > factors_bytes_in_flight(&tune->records[most].point))
            most = i;
    }
    for (size_t k = 0; k < SMALL_REPLAYS && least != ENGINE_NONE; k++) {
        ret_list[2 * k] = least;
        ret_list[2 * k + 1] = most;
    }
    return least != ENGINE_NONE ? 2 * (size_t)SMALL_REPLAYS : 0;
}

/* Makes runs that no record keeps. */
static int measure_discarded(struct tune *tune, const size_t *list, size_t n, uint64_t duration_ns, bool warm,
                             double deadline_seconds, struct err *err)
{
    struct tune_length *length = &tune->length;
    uint64_t kept_ns = tune->duration_ns, limit_ns = length->warmup_limit_ns;
    double longer = (double)(duration_ns - kept_ns) / 1e9, run_seconds = tune->engine.run_seconds;
    if (!tune_has_time(tune, deadline_seconds, 1))
        return 0;
    tune_length_set(tune, duration_ns);
    tune->engine.run_seconds += longer;
    length->warmup_limit_ns = warm ? limit_ns : 0;
    length->discarded = true;
    int result = tune_measure(tune, list, n, deadline_seconds, err);
    tune_length_set(tune, kept_ns);
    tune->engine.run_seconds = run_seconds;
    length->warmup_limit_ns = limit_ns;
    length->discarded = false;
    return result;
}

static enum run_length_start start_of(const struct tune_length *length)
{
    double ratios[TUNE_LENGTH_RUNS];
    size_t n = 0;
    for (size_t i = 0; i < length->n_runs; i++) {
        if (isfinite(length->runs[i].start_log_ratio))
            ratios[n++] = length->runs[i].start_log_ratio;
    }
    return run_length_start_of(ratios, n);
}

/* Do the pilot's short runs hint at a start or at bursts? */
static bool is_no_line_yet(const struct tune_length *length)
{
    bool hinted = false;
    for (size_t i = 0; i < length->n_runs && !length->bursts.known; i++) {
        const struct tune_length_run *run = &length->runs[i];
        hinted |=
            run->off > HINT_OFF || (isfinite(run->start_log_ratio) && fabs(run->start_log_ratio) > HINT_LOG);
    }
    return hinted || start_of(length) == RUN_LENGTH_START_APART;
}

/* Adds longer runs, which show whether the scatter inside a run becomes smaller with its length; only where
 * the budget has room for many of them. */
static int try_longer(struct tune *tune, const size_t *points, size_t n, double deadline_seconds,
                      struct err *err)
{
    size_t list[N_REPLAYED * LONG_REPLAYS];
    size_t n_list = list_fastest(tune, points, n, LONG_REPLAYS, list);
    uint64_t duration_ns = LONG_RATIO * tune->duration_ns;
    double longer = (double)(duration_ns - tune->duration_ns) / 1e9;
    double needed_seconds = (tune->engine.run_seconds + longer) * (double)n_list;
    if (n_list < (size_t)N_REPLAYED * LONG_REPLAYS ||
        (double)duration_ns / 1e9 > tune_writes_longest_seconds(tune, TUNE_WRITES_SCARCE_RUNS) ||
        tune_now(tune) + 1.2 * needed_seconds > deadline_seconds)
        return 0;
    return measure_discarded(tune, list, n_list, duration_ns, true, deadline_seconds, err);
}

static int look(struct tune *tune, const size_t *points, size_t n, struct err *err)
{
    size_t list[TUNE_LENGTH_POINTS * REPLAYS];
    double share_seconds = tune->engine.budget_seconds * TUNE_LENGTH_SHARE;
    double deadline_seconds = tune_now(tune) + share_seconds;
    /* Where the time is too short for enough repeated runs to decide from, none is repeated. */
    bool enough = tune_has_time(tune, deadline_seconds, n + (size_t)RUN_LENGTH_LEAST_DF);
    memcpy(list, points, n * sizeof list[0]);
    int result = tune_measure(tune, list, n, deadline_seconds, err);
    for (size_t i = 1; i < REPLAYS && enough && result == 0 && tune->engine.stop == ENGINE_STOP_NOT_YET;
         i++) {
        size_t n_list = list_fastest(tune, points, n, 1, list);
        result = tune_measure(tune, list, n_list, deadline_seconds, err);
    }
    if (result == 0 && enough && tune->engine.stop == ENGINE_STOP_NOT_YET &&
        start_of(&tune->length) == RUN_LENGTH_START_UNKNOWN)
        result = tune_measure(tune, list, list_small(tune, list), deadline_seconds, err);
    if (result == 0 && tune->engine.stop == ENGINE_STOP_NOT_YET && is_no_line_yet(&tune->length)) {
        size_t n_list = list_telling(tune, list);
        result = measure_discarded(tune, list, n_list, TUNE_TRANSIENT_RUN_NS, false,
                                   deadline_seconds + share_seconds, err);
    }
    if (result == 0 && tune->engine.stop == ENGINE_STOP_NOT_YET)
        result = try_longer(tune, points, n, deadline_seconds, err);
    return result;
}

/* --- the decision --- */

static struct run_length_replays pool(const struct tune_length *length, uint64_t duration_ns)
{
    double squares = 0, df = 0;
    for (size_t i = 0; i < length->n_runs; i++) {
        size_t point = length->runs[i].point, n = 0;
        double values[TUNE_LENGTH_RUNS];
        bool first = true;
        for (size_t k = 0; k < length->n_runs; k++) {
            bool same = length->runs[k].point == point && length->runs[k].duration_ns == duration_ns;
            first &= !same || k >= i;
            if (same)
                values[n++] = length->runs[k].log_rate;
        }
        if (!first || n < 2 || length->runs[i].duration_ns != duration_ns)
            continue;
        struct moments moments = moments_of(values, n);
        squares += moments.std * moments.std * (double)(n - 1);
        df += (double)(n - 1);
    }
    return (struct run_length_replays){(double)duration_ns / 1e9, df > 0 ? squares / df : 0, df};
}

/* Seconds of warm-up that a run of the pilot would take with the warm-up that was chosen. */
static double warmup_of(const struct tune_length *length, const struct tune_length_run *run)
{
    double limit = (double)length->warmup_limit_ns / 1e9, least = (double)length->warmup_least_ns / 1e9;
    if (length->start.taken_off)
        return fmin(run->warmup_seconds, (double)TUNE_LENGTH_WARMUP_NS / 1e9);
    return run->warmup_seconds > 0 ? fmax(fmin(run->warmup_seconds, limit), least) : 0;
}

/* Where rates come in bursts, all runs begin and end behind the pauses between them, and a warm-up uses up
 * what a limit has saved: until then its turns are irregular. True when runs are now other than before. */
static bool wait_for_pulses(struct tune *tune)
{
    struct tune_length *length = &tune->length;
    bool *limited = &tune->session->env.rate_is_limited, changed = !*limited;
    if (rate_limit_bursts_least_ns(tune) == 0)
        return false;
    *limited = true;
    if (tune->settings->runs.warmup_limit_ns != UINT64_MAX)
        return changed;
    if (length->warmup_least_ns < RATE_LIMIT_BURSTS_WARMUP_NS) {
        length->warmup_least_ns = RATE_LIMIT_BURSTS_WARMUP_NS;
        changed = true;
    }
    if (length->warmup_limit_ns < length->warmup_least_ns)
        length->warmup_limit_ns = length->warmup_least_ns;
    return changed;
}

static struct run_length choose(struct tune *tune)
{
    const struct tune_length *length = &tune->length;
    struct run_length_point points[TUNE_LENGTH_RUNS];
    double shortest = (double)tune->duration_ns / 1e9, overhead = 0;
    size_t n = 0;
    for (size_t i = 0; i < length->n_runs; i++) {
        const struct tune_length_run *run = &length->runs[i];
        overhead += (run->overhead_seconds + warmup_of(length, run)) / (double)length->n_runs;
        if (run->duration_ns != tune->duration_ns || !isfinite(run->within))
            continue;
        bool slow = run->seconds > 1.5 * shortest;
        points[n++] = (struct run_length_point){run->overhead_seconds + warmup_of(length, run), run->within,
                                                slow ? run->seconds : 0};
    }
    double left = tune->engine.search_end_seconds - tune_now(tune);
    double longest = fmin(left / LEAST_RUNS - overhead, (double)LONGEST_NS / 1e9);
    longest = fmin(longest, tune_writes_longest_seconds(tune, TUNE_WRITES_SCARCE_RUNS));
    struct run_length_replays replays[] = {pool(length, tune->duration_ns),
                                           pool(length, LONG_RATIO * tune->duration_ns)};
    struct run_length_facts facts = {
        .points = points,
        .n_points = n,
        .replays = replays,
        .n_replays = replays[1].df > 0 ? 2 : 1,
        .prior_variance = PRIOR_STD * PRIOR_STD,
        .shortest_seconds = shortest,
        .longest_seconds = fmax(longest, shortest),
    };
    return run_length_choose(&facts);
}

/* A rate that wanders bends the sum of the windows as a start does, but not every run alike. Too few runs to
 * tell do not speak against a start. */
static bool starts_by_chance(const struct tune_transient *start)
{
    struct interval interval = student_interval(start->log_ratios, START_CONFIDENCE);
    return interval.low <= 0 && interval.high >= 0;
}

/* True when runs must now warm up for longer: those made so far cannot be compared with later ones. */
static bool choose_warmup(struct tune *tune)
{
    struct tune_length *length = &tune->length;
    if (tune->settings->runs.warmup_limit_ns != UINT64_MAX)
        return false;
    struct line line = line_of(length->start.rates, TUNE_TRANSIENT_N_WINDOWS);
    bool from_start = line.held && line.change == 0;
    if (length->start.n_runs == 0 || from_start || starts_by_chance(&length->start) ||
        rate_limit_bursts_seen(&length->bursts)) {
        if (start_of(length) == RUN_LENGTH_START_ALIKE)
            length->warmup_limit_ns = TUNE_LENGTH_WARMUP_NS;
        return false;
    }
    size_t change = line.held ? line.change : TUNE_TRANSIENT_N_WINDOWS / 2;
    length->warmup_least_ns = LINE_MARGIN * change * TUNE_TRANSIENT_RUN_NS / TUNE_TRANSIENT_N_WINDOWS;
    length->warmup_limit_ns = WARMUP_LIMIT_RATIO * length->warmup_least_ns;
    if (length->warmup_limit_ns < tune->duration_ns)
        length->warmup_limit_ns = tune->duration_ns;
    return true;
}

/* Removes the runs so far from the records and measures their points again with the new length and warm-up.
 */
static int begin_again(struct tune *tune, size_t *points, size_t n, struct err *err)
{
    for (size_t i = 0; i < tune->n_records; i++) {
        tune_forget(tune, i);
    }
    sustained_done(&tune->sustained);
    tune->sustained = (struct sustained){0};
    resume_decide(tune, false);
    save_set_aside(tune->session);
    return tune_measure(tune, points, n, tune->engine.explore_end_seconds, err);
}

/* Runs that write every block once have no warm-up. Where other runs need one, these must last so long that
 * the initial transient is a small part of them, but not so long that too few fit into the budget. */
static uint64_t least_beside_warmup(const struct tune *tune)
{
    uint64_t least_ns = TUNE_TRANSIENT_UNWARMED_RATIO * tune->length.warmup_least_ns;
    double around_ns = tune->engine.run_seconds * 1e9 + (double)tune->length.warmup_least_ns;
    double most_ns = (double)tune->settings->limits.budget_ns / UNWARMED_LEAST_RUNS - around_ns;
    if (least_ns == 0 || most_ns <= 0 || tune->length.start.taken_off)
        return 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        if (measure_writes_once(&tune->settings->workload.pattern, &tune->records[i].point))
            return least_ns < (uint64_t)most_ns ? least_ns : (uint64_t)most_ns;
    }
    return 0;
}

/* False where the pilot used so much of the write budget that its runs must be kept. */
static bool can_begin_again(const struct tune *tune)
{
    const struct session *session = tune->session;
    bool limited = !session->simulated || tune->settings->limits.max_write_given;
    return !limited || session->bytes_written < session->write_limit_bytes / 4;
}

/* Some ten intervals of the reference program, as far as the budget has time for many runs. */
static uint64_t least_beside_reference(const struct tune *tune)
{
    const uint64_t most_ns = tune->settings->limits.budget_ns / BESIDE_REFERENCE_RUNS;
    return most_ns < BESIDE_REFERENCE_NS ? most_ns : BESIDE_REFERENCE_NS;
}

/* The length of all runs from here on; sets length.why. */
static uint64_t choose_duration(struct tune *tune)
{
    struct tune_length *length = &tune->length;
    struct run_length choice = choose(tune);
    uint64_t duration_ns = (uint64_t)llround(choice.seconds * 1e3) * (CLOCK_NS_PER_S / 1000);
    uint64_t least_ns = least_beside_warmup(tune);
    double bytes_allow_ns = tune_writes_longest_seconds(tune, TUNE_WRITES_SCARCE_RUNS) * 1e9;
    uint64_t pulse_ns = rate_limit_bursts_least_ns(tune);
    length->why = why_text[choice.why];
    if (duration_ns < least_ns) {
        duration_ns = least_ns;
        length->why = "runs start unlike they go on, and buffered writes have no warm-up";
    }
    if (neighbour_costs_are_wanted(tune->settings) && duration_ns < least_beside_reference(tune)) {
        duration_ns = least_beside_reference(tune);
        length->why = "the reference program needs time beside each run";
    }
    if (length->start.taken_off)
        length->why = "runs start alike, unlike they go on: only replays after the choice wait for that";
    if (duration_ns < pulse_ns && (double)pulse_ns <= bytes_allow_ns) {
        duration_ns = pulse_ns;
        length->why = "rates come in bursts: runs last several of them";
    }
    return duration_ns;
}

static int decide(struct tune *tune, size_t *points, size_t n, struct err *err)
{
    struct tune_length *length = &tune->length;
    if (!can_begin_again(tune)) {
        rate_limit_bursts_tell(tune);
        return 0;
    }
    bool waits = choose_warmup(tune);
    if (wait_for_pulses(tune))
        waits = true;
    int result = waits ? tune_transient_decide(tune) : 0;
    if (result < 0)
        return err_sys(err, result, "cannot take starts off");
    bool taken_off = length->start.taken_off, again = waits && !taken_off;
    uint64_t duration_ns = choose_duration(tune);
    uint64_t warmup_ns = taken_off ? 0 : length->warmup_least_ns;
    tune->engine.run_seconds += (double)(duration_ns - tune->duration_ns + warmup_ns) / 1e9;
    again |= duration_ns != tune->duration_ns;
    tune_length_set(tune, duration_ns);
    tune_transient_tell(tune);
    rate_limit_bursts_tell(tune);
    if (tune->settings->runs.warmup_limit_ns == UINT64_MAX && rate_limit_bursts_least_ns(tune) == 0 &&
        length->warmup_limit_ns > TUNE_LENGTH_WARMUP_NS && length->warmup_limit_ns < duration_ns)
        length->warmup_limit_ns = duration_ns;
    if (again && tune->engine.stop == ENGINE_STOP_NOT_YET)
        return begin_again(tune, points, n, err);
    resume_decide(tune, !again);
    return 0;
}

/* Measures points that the search method proposed before and will not propose again. */
static int measure_missed(struct tune *tune, size_t *points, size_t n, struct err *err)
{
    size_t n_missed = 0;
    for (size_t i = 0; i < n; i++) {
        if (tune->records[points[i]].n == 0)
            points[n_missed++] = points[i];
    }
    return tune_measure(tune, points, n_missed, tune->engine.explore_end_seconds, err);
}

/* Lists what prior knowledge says is the best, unless the search is to find out whether that still holds, and
 * the first points of the search's design; without the baseline, TUNE_LENGTH_POINTS - 1 at most. 0 or a
 * negative errno. */
static int list_first(struct tune *tune, size_t *ret_points, size_t *ret_n)
{
    size_t asked[TUNE_LENGTH_POINTS], n_asked = 0;
    bool believed = tune->engine.policy.sentinel_runs == 0;
    size_t n = believed ? engine_known_points(&tune->engine, ret_points, TUNE_LENGTH_POINTS - 1) : 0;
    int result = 0;
    if (n < TUNE_LENGTH_POINTS - 1)
        result = tune->engine.search->ask(tune->engine.search_state, &tune->engine.belief,
                                          TUNE_LENGTH_POINTS - 1 - n, tune->engine.rng, asked, &n_asked);
    for (size_t i = 0; i < n_asked; i++)
        n = engine_list_once(ret_points, n, asked[i]);
    *ret_n = 0;
    for (size_t i = 0; i < n; i++) {
        if (ret_points[i] != tune->engine.baseline)
            ret_points[(*ret_n)++] = ret_points[i];
    }
    return result;
}

int tune_length(struct tune *tune, struct err *err)
{
    struct tune_length *length = &tune->length;
    size_t points[TUNE_LENGTH_POINTS], n = 0;
    if (tune->engine.search == &search_grid || length->decided)
        return 0;
    int result = tune_writes_look(tune, err);
    if (result < 0 || !tune->policy.has_pilot || tune->engine.stop != ENGINE_STOP_NOT_YET ||
        tune->settings->runs.duration_ns != 0)
        return result;
    length->why = why_text[RUN_LENGTH_UNKNOWN];
    result = list_first(tune, points, &n);
    if (result < 0)
        return err_sys(err, result, "the search cannot begin");
    if (n == 0)
        return 0;
    points[n++] = tune->engine.baseline;
    length->piloting = true;
    result = look(tune, points, n, err);
    length->piloting = false;
    if (result == 0)
        result = decide(tune, points, n, err);
    if (result == 0 && tune->engine.stop == ENGINE_STOP_NOT_YET)
        result = measure_missed(tune, points, n, err);
    return result;
}
