/* models/statistics/trace: names the shape of a series and says which part of it can be called sustained.
 *
 *
 * Repeating shapes and jumps between two levels are looked for first, because a search for single changes
 * would take them apart. Then the strongest change is found, what lies before it is cut off, and the rest is
 * searched again, until nothing significant or too little of it is left. */
#include "models/statistics/trace.h"
#include "models/statistics/student.h"
#include "models/statistics/trace_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHANGES            8
#define LEAST_POINTS           4    /* that a change is looked for in */
#define LEAST_TAIL             8    /* windows that a level must have held to be called steady */
#define LEAST_TAIL_SHARE       0.25 /* of all windows, likewise */
#define RECOVERY_SHARE         0.5  /* a rise makes good a fall when it gives back that much */
#define BOTH_WAYS_SHARE        0.3
#define FALL_SHARE             0.15 /* a smaller fall needs no name of its own */
#define PINNED_RATIO           0.25
#define PINNED_SCATTER         0.01
#define PINNED_WINDOWS         8
#define FEW_SWITCHES           6
#define LEAST_CYCLES           4    /* whole ones between switches: five periods have at least four */
#define REGULAR_CV             0.2  /* of the length of cycles: jumps that keep time are a period */
#define IRREGULAR_CV           0.35 /* jumps that do not are none, whatever the spectrum says */
#define GROWTH_LEAST           2.0
#define GROWTH_PER_ROOT_N      6.5
#define TOLERANCE_OF_SWING     0.1
#define LEAST_PERIODS          3   /* like LEAST_TAIL, where points are periods */
#define WALK_WINDOWS           150 /* fewer: noise of 0.8 looks the same */
#define WALK_STD               0.02
#define WALK_BLOCKS            30
#define WALK_BLOCK             8 /* windows */
#define WALK_CORRELATION       0.85
#define WALK_BLOCK_CORRELATION 0.6

const char *const trace_shape_names[TRACE_N_SHAPES] = {
    [TRACE_SHORT] = "short",       [TRACE_FLAT] = "flat",
    [TRACE_RAMP] = "ramp",         [TRACE_SPIKES] = "spikes",
    [TRACE_CLIFF] = "cliff",       [TRACE_THROTTLED] = "throttled",
    [TRACE_PERIODIC] = "periodic", [TRACE_TWO_LEVELS] = "two_levels",
    [TRACE_DECLINE] = "decline",   [TRACE_UNSTEADY] = "unsteady",
};

/* A change in windows, with the start of the part that it ends. */
struct event {
    struct trace_change change;
    size_t from, at;
};

struct course {
    double *values; /* relative to the typical rate, without spikes and period */
    double *scratch;
    size_t n, start, n_events;
    bool held; /* [start, n) shows no further change and is long enough */
    bool wanders, periodic;
    double tolerance; /* a change below it may be left over from the period */
    struct event events[MAX_CHANGES];
};

static double mean_of(const double *values, size_t n)
{
    return moments_of(values, n).mean;
}

/* Averages of `width` windows, the last ones whole. */
static size_t average_down(const double *values, size_t n, size_t width, double *ret_points)
{
    size_t n_points = n / width;

    values += n - n_points * width;
    for (size_t i = 0; i < n_points; i++)
        ret_points[i] = mean_of(values + i * width, width);
    return n_points;
}

static bool long_enough(const struct course *course, size_t start)
{
    size_t tail = course->n - start;

    return tail >= (course->periodic ? LEAST_PERIODS : LEAST_TAIL) &&
           (double)tail >= LEAST_TAIL_SHARE * (double)course->n;
}

static double squares_around_mean(const double *values, size_t n)
{
    struct moments moments = moments_of(values, n);

    return n < 2 ? 0 : moments.std * moments.std * (double)(n - 1);
}

/* Points are averages: the step lies within one point's width of their border. */
static size_t exact_step(const struct course *course, size_t at, size_t width)
{
    size_t from = at > 3 * width ? at - 3 * width : 0;
    size_t to = at + 3 * width < course->n ? at + 3 * width : course->n;
    size_t best = at;
    double least = INFINITY;

    for (size_t k = from + 1; k < to && k <= at + width; k++) {
        double inside;
        if (k + width < at)
            continue;
        inside = squares_around_mean(course->values + from, k - from) +
                 squares_around_mean(course->values + k, to - k);
        if (inside < least) {
            least = inside;
            best = k;
        }
    }
    return best;
}

static double lag_correlation(const double *values, size_t n)
{
    struct moments moments = moments_of(values, n);
    double products = 0;

    for (size_t i = 1; i < n; i++)
        products += (values[i] - moments.mean) * (values[i - 1] - moments.mean);
    return moments.std > 0 ? products / (moments.std * moments.std * (double)(n - 1)) : 0;
}

/* A random walk has no level to hold. Averages over more windows are correlated less, unless they walk;
 * two resolutions detect more walks than one. Bounds: AR(1) noise of 0.8 reaches them in about 1 of 100
 * series. */
static bool wanders(const struct course *course, const double *points, size_t n, double correlation)
{
    double blocks[2 * WALK_BLOCKS];
    size_t tail = course->n - course->start, block = tail / WALK_BLOCKS, n_blocks;

    if (tail < WALK_WINDOWS || moments_of(points, n).std < WALK_STD)
        return false;
    if (correlation > WALK_CORRELATION)
        return true;
    if (block < WALK_BLOCK)
        return false;
    n_blocks = average_down(course->values + course->start, tail, block, blocks);
    return lag_correlation(blocks, n_blocks) > WALK_BLOCK_CORRELATION;
}

/* Looks for the next change in [start, n); false when there is none. */
static bool next_change(struct course *course, struct event *ret_event)
{
    double points[TRACE_POINTS];
    size_t tail = course->n - course->start, width = (tail + TRACE_POINTS - 1) / TRACE_POINTS;
    size_t n = average_down(course->values + course->start, tail, width, points);
    struct trace_change change = trace_change_best(points, n);

    if (!trace_change_significant(&change, n) ||
        fabs(change.size) < fmax(TRACE_DRIFT_SHARE * fabs(mean_of(points, n)), course->tolerance)) {
        course->wanders = wanders(course, points, n, change.flat_correlation);
        return false;
    }
    *ret_event = (struct event){.change = change, .from = course->start};
    ret_event->at = change.at >= n ? course->n : course->n - (n - change.at) * width;
    if (change.kind == TRACE_CHANGE_STEP && width > 1)
        ret_event->at = exact_step(course, ret_event->at, width);
    return true;
}

static void pursue(struct course *course)
{
    struct event event;

    while (long_enough(course, course->start)) {
        if (course->n - course->start < LEAST_POINTS || !next_change(course, &event)) {
            course->held = true;
            return;
        }
        if (course->n_events == MAX_CHANGES)
            return;
        course->events[course->n_events++] = event;
        if (event.change.kind == TRACE_CHANGE_SLOPE || event.change.kind == TRACE_CHANGE_WAVE)
            return;
        course->start = event.at > course->start ? event.at : course->start + 1;
    }
}

static double rms_of_differences(const double *values, size_t n)
{
    double squares = 0;

    for (size_t i = 1; i < n; i++)
        squares += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
    return sqrt(squares / (double)(n - 1));
}

static bool scatter_grows(const struct course *course)
{
    size_t n = course->n - course->start, third = n / 3;
    const double *values = course->values + course->start;
    double first, last;

    if (third < 4)
        return false;
    first = fmax(rms_of_differences(values, third), 0.002);
    last = rms_of_differences(values + n - third, third);
    return last > 0 && log(last / first) > fmax(log(GROWTH_LEAST), GROWTH_PER_ROOT_N / sqrt((double)n));
}

static const struct event *largest(const struct course *course)
{
    const struct event *best = &course->events[0];

    for (size_t i = 1; i < course->n_events; i++) {
        if (fabs(course->events[i].change.size) > fabs(best->change.size))
            best = &course->events[i];
    }
    return best;
}

/* Whether a fall was made good later, so that others are to be expected. */
static bool recovers(const struct course *course)
{
    for (size_t i = 0; i + 1 < course->n_events; i++) {
        double fall = -course->events[i].change.size;
        if (course->events[i].change.kind != TRACE_CHANGE_STEP || fall < FALL_SHARE)
            continue;
        for (size_t k = i + 1; k < course->n_events; k++) {
            if (course->events[k].change.size > RECOVERY_SHARE * fall)
                return true;
        }
    }
    return false;
}

/* Whether there were large changes both ways, so that another may follow the last one. */
static bool goes_both_ways(const struct course *course)
{
    double up = 0, down = 0;

    for (size_t i = 0; i < course->n_events; i++) {
        up = fmax(up, course->events[i].change.size);
        down = fmax(down, -course->events[i].change.size);
    }
    return fmin(up, down) > BOTH_WAYS_SHARE * fmax(up, down);
}

static double relative_scatter(const struct course *course, size_t from, size_t to)
{
    return trace_scatter(course->values + from, to - from, course->scratch) /
           fmax(mean_of(course->values + from, to - from), 1e-9);
}

/* Whether the rate after the event hardly scatters, as behind a token bucket that delivers what is
 * granted. */
static bool pinned(const struct course *course, const struct event *event)
{
    double before;

    if (event->at < event->from + PINNED_WINDOWS || event->at + PINNED_WINDOWS > course->n)
        return false;
    before = relative_scatter(course, event->from, event->at);
    return before >= PINNED_SCATTER &&
           relative_scatter(course, course->start, course->n) < PINNED_RATIO * before;
}

static void name_held(const struct course *course, struct trace_verdict *verdict)
{
    const struct event *main_event = largest(course);

    verdict->steady = true;
    if (course->n_events == 0)
        verdict->shape = verdict->n_spikes > 0 ? TRACE_SPIKES : TRACE_FLAT;
    else if (main_event->change.kind == TRACE_CHANGE_STEP && main_event->change.size < 0)
        verdict->shape = pinned(course, main_event) ? TRACE_THROTTLED : TRACE_CLIFF;
    else
        verdict->shape = TRACE_RAMP;
    if (verdict->shape == TRACE_CLIFF || verdict->shape == TRACE_THROTTLED) {
        verdict->change = main_event->at;
        verdict->before = mean_of(course->values + main_event->from, main_event->at - main_event->from);
    }
    if (recovers(course)) {
        verdict->steady = false;
        verdict->shape = TRACE_THROTTLED;
    } else if (goes_both_ways(course) || (!course->periodic && (course->wanders || scatter_grows(course)))) {
        verdict->steady = false;
        verdict->shape = TRACE_UNSTEADY;
    }
}

static void name_lost(const struct course *course, struct trace_verdict *verdict)
{
    const struct event *last = &course->events[course->n_events - 1];
    bool endless = last->change.kind == TRACE_CHANGE_SLOPE || last->change.kind == TRACE_CHANGE_DECAY;

    if (recovers(course))
        verdict->shape = TRACE_THROTTLED;
    else if (endless)
        verdict->shape = TRACE_DECLINE;
    else if (last->change.kind == TRACE_CHANGE_STEP && last->change.size < 0)
        verdict->shape = TRACE_CLIFF;
    else
        verdict->shape = last->change.kind == TRACE_CHANGE_RAMP ? TRACE_DECLINE : TRACE_UNSTEADY;
    verdict->start = last->from;
    verdict->left = last->change.kind != TRACE_CHANGE_DECAY && last->at > last->from &&
                    (double)(last->at - last->from) >= LEAST_TAIL_SHARE * (double)course->n;
    if (verdict->left) {
        verdict->end = verdict->change = last->at;
        verdict->before = mean_of(course->values + last->from, last->at - last->from);
    }
}

static bool jumps(const struct trace_split *split)
{
    return split->two && !split->stays && split->n_switches >= (split->starts_high ? 2 : 3);
}

/* Names the shape by the two levels; false where they alone do not explain it. */
static bool name_two_levels(const struct trace_split *split, bool periodic, struct trace_verdict *verdict)
{
    bool regular = split->n_cycles >= LEAST_CYCLES && split->cycle_cv <= REGULAR_CV;

    if (!jumps(split))
        return false;
    if (periodic && !regular && (split->n_cycles < LEAST_CYCLES || split->cycle_cv <= IRREGULAR_CV))
        return false;
    verdict->low = split->low;
    verdict->high = split->high;
    if (regular) {
        verdict->shape = TRACE_PERIODIC;
        verdict->steady = true;
        verdict->period_windows = split->cycle_windows;
        return true;
    }
    verdict->shape =
        split->starts_high && split->n_switches <= FEW_SWITCHES ? TRACE_THROTTLED : TRACE_TWO_LEVELS;
    verdict->high_share = split->high_share;
    return true;
}

/* Points of a periodic series stand for periods, and the first for the border after the first of them. */
static size_t window_of(size_t point, double period, size_t n_windows)
{
    double window = point == 0 ? 0 : ((double)point + 0.5) * period;

    return window < (double)n_windows ? (size_t)window : n_windows;
}

static void name_period(const struct trace_period *period, size_t n_points, size_t n,
                        struct trace_verdict *verdict)
{
    verdict->end = verdict->end == n_points ? n : window_of(verdict->end, period->windows, n);
    verdict->start = window_of(verdict->start, period->windows, n);
    verdict->change = window_of(verdict->change, period->windows, n);
    if (verdict->shape == TRACE_FLAT || verdict->shape == TRACE_SPIKES) {
        verdict->shape = TRACE_PERIODIC;
        verdict->period_windows = period->windows;
        verdict->low = period->low;
        verdict->high = period->high;
    }
}

static int judge(struct course *course, double *points, struct trace_verdict *verdict)
{
    struct trace_period period;
    struct trace_split split;
    size_t n = course->n;
    int r;

    verdict->n_spikes = trace_remove_spikes(course->values, n, course->scratch);
    r = trace_period_find(course->values, n, &period, points, &course->n);
    if (r < 0)
        return r;
    r = trace_split_levels(course->values, n, &split);
    if (r < 0)
        return r;
    if (name_two_levels(&split, period.found, verdict))
        return 0;
    course->values = points;
    course->periodic = period.found;
    course->tolerance = period.found ? TOLERANCE_OF_SWING * (period.high - period.low) : 0;
    pursue(course);
    verdict->start = course->start;
    verdict->end = course->n;
    if (course->held)
        name_held(course, verdict);
    else
        name_lost(course, verdict);
    if (period.found)
        name_period(&period, course->n, n, verdict);
    return 0;
}

/* Change of the least-squares line over n values, relative to their mean. */
static double drift_share_of(const double *values, size_t n)
{
    double centre = (double)(n - 1) / 2, mean = mean_of(values, n), xx = 0, xy = 0;

    for (size_t i = 0; i < n; i++) {
        double x = (double)i - centre;
        xx += x * x;
        xy += x * values[i];
    }
    return mean > 0 && xx > 0 ? xy / xx * (double)(n - 1) / mean : 0;
}

static double typical_rate(const double *rates, size_t n, double *scratch)
{
    double median;

    memcpy(scratch, rates, n * sizeof(*scratch));
    median = median_of(scratch, n);
    return median > 0 ? median : mean_of(rates, n);
}

static void scale_back(struct trace_verdict *verdict, double factor)
{
    verdict->before *= factor;
    verdict->low *= factor;
    verdict->high *= factor;
}

/* rates has at most TRACE_MAX_WINDOWS values. */
static int classify(const double *rates, size_t n, struct trace_verdict *verdict)
{
    double *memory = malloc(3 * n * sizeof(*memory));
    struct course course = {.values = memory, .n = n};
    double typical;
    int r = 0;

    if (memory == NULL)
        return -ENOMEM;
    course.scratch = memory + n;
    typical = typical_rate(rates, n, course.scratch);
    if (n >= TRACE_MIN_WINDOWS && typical > 0) {
        for (size_t i = 0; i < n; i++)
            course.values[i] = rates[i] / typical;
        r = judge(&course, memory + 2 * n, verdict);
    } else if (n >= TRACE_MIN_WINDOWS) {
        verdict->shape = TRACE_FLAT;
        verdict->steady = true;
    }
    scale_back(verdict, typical);
    verdict->mean = mean_of(rates + verdict->start, verdict->end - verdict->start);
    verdict->drift_share = drift_share_of(rates + verdict->start, verdict->end - verdict->start);
    free(memory);
    return r;
}

/* A very long series is averaged over `width` windows first; the verdict counts in the caller's windows. */
static int classify_averaged(const double *rates, size_t n, size_t width, struct trace_verdict *verdict)
{
    double *points = malloc((n / width) * sizeof(*points));
    size_t n_points, lost;
    int r;

    if (points == NULL)
        return -ENOMEM;
    n_points = average_down(rates, n, width, points);
    lost = n - n_points * width;
    verdict->end = n_points;
    r = classify(points, n_points, verdict);
    verdict->start = verdict->start == 0 ? 0 : lost + verdict->start * width;
    verdict->end = lost + verdict->end * width;
    verdict->change = verdict->change == 0 ? 0 : lost + verdict->change * width;
    verdict->period_windows *= (double)width;
    free(points);
    return r;
}

int trace_classify(const double *rates, size_t n, struct trace_verdict *ret_verdict)
{
    struct trace_verdict verdict = {
        .end = n, .before = NAN, .low = NAN, .high = NAN, .high_share = NAN, .period_windows = NAN};
    size_t width = 1;
    int r;

    if (n == 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(rates[i]) || rates[i] < 0)
            return -EINVAL;
    }
    while (n / width > TRACE_MAX_WINDOWS)
        width *= 2;
    r = width > 1 ? classify_averaged(rates, n, width, &verdict) : classify(rates, n, &verdict);
    if (r == 0)
        *ret_verdict = verdict;
    return r;
}
