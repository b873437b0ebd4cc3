/* The windows of all runs, and the shape they have. */
#include "tuner/session/sustained.h"

#include "models/statistics/shift.h"
#include "models/statistics/steady.h"
#include "models/statistics/student.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TARGET_WINDOWS 400 /* more would show the scheduler rather than the device */
/* A window holds at least so many requests and turns the queue over so often, because requests complete in
 * groups. */
#define LEAST_REQUESTS 64
#define LEAST_TURNS    4
#define PASSING_S      0.25 /* a shorter fall may be a stall, a shorter fast start the filling of a queue */
#define PASSING_SHARE  0.05 /* of the time seen: a longer fast start is no warm-up */
/* A fall from which devices recover is smaller; used-up credits and caches cost more. */
#define SMALL_FALL_SHARE  0.15
#define CHANGE_CONFIDENCE 0.999 /* one-sided; the change was looked for before it is tested */

int sustained_add(struct sustained *sustained, size_t point, uint64_t load_bytes,
                  const struct measure_plan *plan, const struct measure_result *result)
{
    if (sustained->n == sustained->capacity) {
        size_t capacity = sustained->capacity == 0 ? 16 : 2 * sustained->capacity;
        struct sustained_run *runs = realloc(sustained->runs, capacity * sizeof *runs);
        if (runs == NULL)
            return -ENOMEM;
        sustained->runs = runs;
        sustained->capacity = capacity;
    }
    sustained->runs[sustained->n++] = (struct sustained_run){
        .point = point,
        .seconds = result->seconds,
        .bps = result->throughput_bps,
        .bytes = result->bytes_read + result->bytes_written,
        .load_bytes = load_bytes,
        .request_size_bytes = factors_largest_size_bytes(&plan->point),
        .n_in_flight = (uint64_t)plan->point.queue_depth * plan->point.threads,
        .written_bytes = result->bytes_written,
        .flushed = measure_was_absorbed(result),
        .windows = result->windows,
    };
    return 0;
}

void sustained_done(struct sustained *sustained)
{
    free(sustained->runs);
    *sustained = (struct sustained){0};
}

/* One window of the series: its rate, and where it comes from. */
struct piece {
    double bps, seconds;
    const struct sustained_run *run;
    uint64_t bytes_before; /* of this run */
};

struct series {
    struct piece *pieces;
    double *rates; /* of the pieces */
    double *scratch;
    size_t n;
};

static void add_piece(struct series *series, const struct sustained_run *run, double bps, double seconds,
                      uint64_t bytes_before)
{
    series->pieces[series->n] = (struct piece){bps, seconds, run, bytes_before};
    series->rates[series->n++] = bps;
}

/* How many windows had a full queue: all but the last, in which the run ends. */
static size_t whole_windows(const struct sustained_run *run)
{
    return run->flushed || run->windows.n < 2 ? 0 : run->windows.n - 1;
}

/* Joins the run's windows to pieces of about window_seconds. */
static void add_run(struct series *series, const struct sustained_run *run, double window_seconds)
{
    double width = (double)run->windows.width_ns / 1e9;
    size_t group = width > 0 ? (size_t)fmax(1, round(window_seconds / width)) : 1;
    size_t n = whole_windows(run) / group;
    if (n == 0)
        add_piece(series, run, run->bps, run->seconds, 0);
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = 0;
        for (size_t j = i * group; j < (i + 1) * group; j++)
            bytes += run->windows.bytes[j];
        double seconds = width * (double)group;
        add_piece(series, run, (double)bytes / seconds, seconds, before);
        before += bytes;
    }
}

/* Long enough for a mean over several requests, and for the widest of the runs' own windows. */
static double window_seconds_of(const struct sustained *sustained, size_t point)
{
    double total = 0, bytes = 0, widest = 0, least_bytes = 0;
    for (size_t i = 0; i < sustained->n; i++) {
        const struct sustained_run *run = &sustained->runs[i];
        if (run->point != point)
            continue;
        total += run->seconds;
        bytes += (double)run->bytes;
        least_bytes =
            fmax(LEAST_REQUESTS, LEAST_TURNS * (double)run->n_in_flight) * (double)run->request_size_bytes;
        if (whole_windows(run) > 0)
            widest = fmax(widest, (double)run->windows.width_ns / 1e9);
    }
    double filled = bytes > 0 ? least_bytes * total / bytes : 0;
    return fmax(fmax(widest, total / TARGET_WINDOWS), filled);
}

static size_t most_pieces(const struct sustained *sustained, size_t point)
{
    size_t n = 0;
    for (size_t i = 0; i < sustained->n; i++)
        n += sustained->runs[i].point == point ? whole_windows(&sustained->runs[i]) + 1 : 0;
    return n;
}

/* Seconds of the pieces from `from` to before `to`. Where a flush counts, a piece is a whole run. */
static double seconds_between(const struct series *series, size_t from, size_t to)
{
    double seconds = 0;
    for (size_t i = from; i < to; i++)
        seconds += series->pieces[i].seconds;
    return seconds;
}

static bool is_calm(const struct trace_verdict *verdict)
{
    return verdict->shape == TRACE_SHORT ||
           (verdict->steady &&
            (verdict->shape == TRACE_FLAT || verdict->shape == TRACE_RAMP || verdict->shape == TRACE_SPIKES));
}

/* Classifies the series with every run scaled to the mean of all, which leaves the changes inside runs. */
static int classify_inside(struct series *series, struct trace_verdict *ret_verdict)
{
    for (size_t i = 0; i < series->n; i++) {
        const struct sustained_run *run = series->pieces[i].run;
        series->scratch[i] = run->bps > 0 ? series->rates[i] / run->bps : 1;
    }
    return trace_classify(series->scratch, series->n, ret_verdict);
}

/* Lists the rates of whole runs, in order, in scratch; tells how many begin before the piece `change`. */
static size_t list_runs(struct series *series, size_t change, size_t *ret_n_before)
{
    size_t n = 0;
    *ret_n_before = 0;
    for (size_t i = 0; i < series->n; i++) {
        if (i > 0 && series->pieces[i].run == series->pieces[i - 1].run)
            continue;
        series->scratch[n++] = series->pieces[i].run->bps;
        *ret_n_before += i < change;
    }
    return n;
}

/* Did the rates of whole runs fall at the change by more than they scatter? */
static bool runs_fell(const double *bps, size_t n, size_t n_before)
{
    struct moments before = moments_of_logs(bps, n_before);
    struct moments after = moments_of_logs(bps + n_before, n - n_before);
    if (before.n == 0 || after.n == 0)
        return false;
    if (before.n > 1 && after.n > 1)
        return welch_lower(welch_of(before, after), CHANGE_CONFIDENCE) > 0;
    /* A single run is compared with where the next of the others would lie. */
    struct moments many = before.n > 1 ? before : after;
    double m = (double)many.n;
    return many.n > 1 &&
           before.mean - after.mean > student_quantile(CHANGE_CONFIDENCE, m - 1) * many.std * sqrt(1 + 1 / m);
}

/* Do the rates of whole runs follow a line over time, beyond their scatter around it? */
static bool runs_drift(const double *bps, size_t n)
{
    double mean = moments_of_logs(bps, n).mean, xx = 0, xy = 0, yy = 0;
    if (n < 4)
        return false;
    for (size_t i = 0; i < n; i++) {
        double x = (double)i - (double)(n - 1) / 2, y = log(bps[i]) - mean;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    double df = (double)n - 2, rest = fmax(yy - xy * xy / xx, 0);
    return fabs(xy) / sqrt(xx) > student_quantile(CHANGE_CONFIDENCE, df) * sqrt(rest / df);
}

/* Did whole runs change as the whole series did, or do they only scatter? */
static int runs_changed(struct series *series, size_t change, bool *ret_changed)
{
    struct trace_verdict verdict;
    size_t n_before, n = list_runs(series, change, &n_before);
    int result = trace_classify(series->scratch, n, &verdict);
    if (result == 0)
        *ret_changed =
            !is_calm(&verdict) || runs_fell(series->scratch, n, n_before) || runs_drift(series->scratch, n);
    return result;
}

/* A fall in the last moments may be a stall: the verdict is made without them, where that shows one level. */
static int without_last_moments(const struct series *series, struct trace_verdict *verdict)
{
    struct trace_verdict shorter;
    if (!verdict->left || seconds_between(series, verdict->change, series->n) > PASSING_S)
        return 0;
    int result = trace_classify(series->rates, verdict->change, &shorter);
    if (result == 0 && is_calm(&shorter) && shorter.shape != TRACE_SHORT)
        *verdict = shorter;
    return result;
}

/* Calls a higher rate for a moment at the very start a warm-up: a workload would not notice a credit or a
 * cache of that size. */
static void call_start_warmup(const struct series *series, struct trace_verdict *verdict)
{
    double moment = seconds_between(series, 0, verdict->change);
    if (verdict->shape != TRACE_CLIFF || !verdict->steady || moment > PASSING_S ||
        moment > PASSING_SHARE * seconds_between(series, 0, series->n))
        return;
    verdict->shape = TRACE_RAMP;
    verdict->change = 0;
    verdict->before = NAN;
}

/* A run that differs from its neighbours as a whole is scatter, which the interval over replays already
 * covers. It does not make the trace unsteady. */
static int classify(struct series *series, bool between_runs, struct trace_verdict *ret_verdict,
                    bool *ret_by_runs)
{
    int result = trace_classify(series->rates, series->n, ret_verdict);
    if (result < 0 || is_calm(ret_verdict))
        return result;
    struct trace_verdict inside;
    bool changed = false;
    result = classify_inside(series, &inside);
    if (result < 0 || !is_calm(&inside) || inside.shape == TRACE_SHORT)
        return result;
    if (between_runs)
        result = runs_changed(series, ret_verdict->change, &changed);
    if (result < 0 || changed)
        return result;
    inside.mean = 0;
    for (size_t i = inside.start; i < inside.end; i++)
        inside.mean += series->rates[i] / (double)(inside.end - inside.start);
    *ret_verdict = inside;
    *ret_by_runs = true;
    return 0;
}

/* Finds the drift of a steady part, and whether the scatter could hide more of it than is tolerated. */
static void find_drift(struct series *series, bool by_runs, struct sustained_verdict *verdict)
{
    const struct trace_verdict *trace = &verdict->trace;
    size_t ignored;
    /* Where whole runs scatter, the windows of a run are not independent, so runs are looked at. */
    struct steady_state line = by_runs ? steady_line(series->scratch, list_runs(series, 0, &ignored))
                                       : steady_line(series->rates + trace->start, trace->end - trace->start);
    verdict->drift_share = line.drift_share;
    verdict->drift_error_share = line.drift_error_share;
    /* A drift of NaN counts as hidden, too. */
    verdict->hidden =
        trace->steady && !(fabs(line.drift_share) + 2 * line.drift_error_share <= SUSTAINED_HIDDEN_SHARE);
}

static void find_burst(const struct series *series, struct sustained_verdict *verdict)
{
    const struct trace_verdict *trace = &verdict->trace;
    if (trace->change == 0 || !isfinite(trace->before))
        return;
    double after = 0, seconds = 0;
    verdict->burst_seconds = seconds_between(series, 0, trace->change);
    for (size_t i = trace->change; i < series->n; i++) {
        after += series->rates[i] * series->pieces[i].seconds;
        seconds += series->pieces[i].seconds;
    }
    const struct piece *first = &series->pieces[trace->change];
    verdict->after_bps = after / seconds;
    verdict->burst_bps = trace->before;
    verdict->burst_load_bytes = first->run->load_bytes + first->bytes_before;
    verdict->burst = verdict->burst_bps > verdict->after_bps;
    if (trace->left && fabs(1 - verdict->after_bps / verdict->burst_bps) < SMALL_FALL_SHARE) {
        verdict->burst = false;
        verdict->hidden = true;
    }
}

static int judge_levels(const struct sustained *sustained, size_t point, struct series *series,
                        struct sustained_verdict *verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < sustained->n; i++) {
        const struct sustained_run *run = &sustained->runs[i];
        if (run->point != point)
            continue;
        series->scratch[n++] = run->bps;
        verdict->n_runs++;
        verdict->seconds += run->seconds;
        verdict->bytes += run->bytes;
        verdict->written_bytes += run->written_bytes;
    }
    return levels_of(series->scratch, n, &verdict->levels);
}

int sustained_judge(const struct sustained *sustained, size_t point, bool between_runs,
                    struct sustained_verdict *ret_verdict)
{
    struct sustained_verdict verdict = {.window_seconds = window_seconds_of(sustained, point)};
    bool by_runs = false;
    size_t n = most_pieces(sustained, point);
    if (n == 0)
        return -ENODATA;
    struct series series = {.pieces = calloc(n, sizeof *series.pieces + 2 * sizeof *series.rates)};
    if (series.pieces == NULL)
        return -ENOMEM;
    series.rates = (double *)(series.pieces + n);
    series.scratch = series.rates + n;
    for (size_t i = 0; i < sustained->n; i++) {
        if (sustained->runs[i].point == point)
            add_run(&series, &sustained->runs[i], verdict.window_seconds);
    }
    if (!between_runs && seconds_between(&series, 0, series.n) < SUSTAINED_LEAST_S)
        series.n = 1; /* too short to tell */
    int result = classify(&series, between_runs, &verdict.trace, &by_runs);
    if (result == 0)
        result = without_last_moments(&series, &verdict.trace);
    if (result == 0) {
        call_start_warmup(&series, &verdict.trace);
        find_drift(&series, by_runs, &verdict);
        find_burst(&series, &verdict);
        result = judge_levels(sustained, point, &series, &verdict);
    }
    free(series.pieces);
    if (result == 0)
        *ret_verdict = verdict;
    return result;
}

int sustained_judge_command(const struct sustained *sustained, struct sustained_change *ret_change)
{
    size_t n = sustained->n, *group = calloc(n + 1, sizeof *group);
    double *values = calloc(n + 1, sizeof *values);
    struct shift shift = {0};
    for (size_t i = 0; i < n && group != NULL && values != NULL; i++) {
        group[i] = sustained->runs[i].point;
        values[i] = log(fmax(sustained->runs[i].bps, 1));
    }
    int result = group == NULL || values == NULL ? -ENOMEM : shift_of(group, values, n, &shift);
    if (result == 0)
        *ret_change = (struct sustained_change){
            .fell_or_rose = shift.shifted,
            .drifted = shift.drifts,
            .ratio = exp(shift.difference),
            .load_bytes = shift.shifted ? sustained->runs[shift.change].load_bytes : 0,
        };
    free(group);
    free(values);
    return result;
}
