/* What rounds of measurements say: means and lines, with intervals. */
#include "tuner/writes/calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SIZES       6
#define MAD_TO_DEVIATION 1.4826 /* of a normal sample */
#define NEAR_SHARE       0.15   /* of the median: few rounds may happen to agree much closer */

/* Costs over sizes that one parameter is taken from. */
struct line_source {
    const double *bytes;
    size_t n_sizes, offset; /* of the costs in struct calibrate_round */
    bool slope;             /* the rate behind the slope, else the intercept */
};

static const double *costs_of(const struct calibrate_round *round, const struct line_source *source)
{
    return (const double *)(const void *)((const char *)round + source->offset);
}

/* Uses means of logarithms: a rate has no sign, and one slow moment weighs less in them. */
static void set_rate(struct calibrate_value *value, struct moments logs)
{
    struct interval interval = student_interval(logs, CALIBRATE_CONFIDENCE);
    value->known = logs.n > 0;
    value->value = exp(-logs.mean);
    value->interval = (struct interval){exp(-interval.high), exp(-interval.low)};
}

/* A cost that scatter puts below 0 counts as 0. */
static void set_cost(struct calibrate_value *value, double mean, struct interval interval)
{
    value->known = true;
    value->value = fmax(mean, 0);
    value->interval = (struct interval){fmax(interval.low, 0), fmax(interval.high, 0)};
    if (isnan(interval.low))
        value->interval = interval;
}

/* Moments of the samples near the median: other processes have disturbed the rest. */
static struct moments moments_near(const double *samples, size_t n, bool logs)
{
    double sorted[CALIBRATE_MOST_ROUNDS], far[CALIBRATE_MOST_ROUNDS], median = 0, reach = INFINITY;
    struct moments moments = {0};
    if (n >= CALIBRATE_LEAST_ROUNDS) {
        memcpy(sorted, samples, n * sizeof *samples);
        median = median_of(sorted, n);
        for (size_t i = 0; i < n; i++)
            far[i] = fabs(samples[i] - median);
        reach = fmax(CALIBRATE_FAR * MAD_TO_DEVIATION * median_of(far, n),
                     NEAR_SHARE * (logs ? 1 : fabs(median)));
    }
    for (size_t i = 0; i < n; i++)
        if (fabs(samples[i] - median) <= reach)
            moments_add(&moments, samples[i]);
    return moments;
}

/* logs: of seconds per byte, whose mean gives a rate. */
static void set_from_moments(struct calibrate_value *value, struct moments moments, bool logs)
{
    value->n = moments.n;
    if (moments.n > 0 && logs)
        set_rate(value, moments);
    else if (moments.n > 0)
        set_cost(value, moments.mean, student_interval(moments, CALIBRATE_CONFIDENCE));
}

static void evaluate_series(const struct calibrate_round *rounds, size_t n, enum calibrate_series series,
                            bool is_rate, struct calibrate_value *value)
{
    double samples[CALIBRATE_MOST_ROUNDS];
    size_t n_samples = 0;
    for (size_t i = 0; i < n; i++) {
        double sample = rounds[i].series[series];
        if (isfinite(sample) && (!is_rate || sample > 0))
            samples[n_samples++] = is_rate ? log(sample) : sample;
    }
    set_from_moments(value, moments_near(samples, n_samples, is_rate), is_rate);
}

static int fit_all(const struct calibrate_round *rounds, size_t n, const struct line_source *source,
                   struct line_fit *ret)
{
    double x[CALIBRATE_MOST_ROUNDS * MOST_SIZES], y[CALIBRATE_MOST_ROUNDS * MOST_SIZES];
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * source->n_sizes, source->bytes, source->n_sizes * sizeof *x);
        memcpy(y + i * source->n_sizes, costs_of(&rounds[i], source), source->n_sizes * sizeof *y);
    }
    return line_fit(x, y, n * source->n_sizes, ret);
}

/* By the line of all rounds, whose errors are in proportion small. */
static void set_from_fit(struct calibrate_value *value, bool slope)
{
    const struct line_fit *fit = &value->fit;
    double reach = (slope ? fit->slope_error : fit->intercept_error) *
                   student_quantile(0.5 + CALIBRATE_CONFIDENCE / 2, (double)fit->n - 2);
    if (!slope) {
        set_cost(value, fit->intercept, (struct interval){fit->intercept - reach, fit->intercept + reach});
        return;
    }
    value->known = fit->slope > 0;
    value->value = value->known ? 1 / fit->slope : 0;
    if (fit->slope > reach)
        value->interval = (struct interval){1 / (fit->slope + reach), 1 / (fit->slope - reach)};
}

/* Each round has a line of its own: their scatter is that of the machine from moment to moment, which
 * residuals inside a round do not show. The line of all rounds counts where most single rounds have none. */
static int evaluate_line(const struct calibrate_round *rounds, size_t n, const struct line_source *source,
                         struct calibrate_value *value, struct err *err)
{
    double samples[CALIBRATE_MOST_ROUNDS];
    size_t n_samples = 0;
    int result = fit_all(rounds, n, source, &value->fit);
    for (size_t i = 0; i < n && result == 0; i++) {
        struct line_fit fit;
        result = line_fit(source->bytes, costs_of(&rounds[i], source), source->n_sizes, &fit);
        /* A round whose slope is not above 0 does not show what a byte costs, and is left out. */
        if (result == 0 && (!source->slope || fit.slope > 0))
            samples[n_samples++] = source->slope ? log(fit.slope) : fit.intercept;
    }
    if (result < 0)
        return err_sys(err, result, "no line fits the costs that were measured");
    struct moments moments = moments_near(samples, n_samples, source->slope);
    value->n = moments.n;
    value->fitted = true;
    if (2 * moments.n < n)
        set_from_fit(value, source->slope);
    else
        set_from_moments(value, moments, source->slope);
    return 0;
}

/* Least squares with the fixed cost known, for times whose variance grows with the bytes: then it is the rate
 * of all bytes together. The slope of a line with a free fixed cost would be ruled by how a throttled device
 * happens to divide time among single writes. */
static void evaluate_device(const struct calibrate_round *rounds, size_t n,
                            const struct calibrate_sizes *sizes, double fixed_s,
                            struct calibrate_value *value)
{
    double samples[CALIBRATE_MOST_ROUNDS];
    size_t n_samples = 0;
    for (size_t i = 0; i < n; i++) {
        double seconds = 0, bytes = 0;
        for (size_t k = 0; k < CALIBRATE_N_LARGE; k++) {
            seconds += sizes->large_calls[k] * (rounds[i].large_s[k] - fixed_s);
            bytes += sizes->large_calls[k] * sizes->large_bytes[k];
        }
        if (seconds > 0)
            samples[n_samples++] = log(seconds / bytes);
    }
    if (n_samples > 0)
        set_from_moments(value, moments_near(samples, n_samples, true), true);
}

static int evaluate_lines(const struct calibrate_round *rounds, size_t n, const struct calibrate_sizes *sizes,
                          struct calibrate_value values[HOST_N_PARAMETERS], struct err *err)
{
#define COSTS(member) offsetof(struct calibrate_round, member)
    const struct {
        enum host_index index;
        struct line_source source;
    } lines[] = {
        {HOST_SC_W, {sizes->calls_bytes, CALIBRATE_N_CALLS, COSTS(calls_s), false}},
        {HOST_BW_PAGE, {sizes->calls_bytes, CALIBRATE_N_CALLS, COSTS(calls_s), true}},
        {HOST_SC_F, {sizes->buffer_bytes, CALIBRATE_N_BUFFER, COSTS(buffer_s), false}},
        {HOST_BW_BUFFER, {sizes->buffer_bytes, CALIBRATE_N_BUFFER, COSTS(buffer_s), true}},
        {HOST_SC_SW, {sizes->small_bytes, CALIBRATE_N_SMALL, COSTS(small_s), false}},
        {HOST_BW_DEV, {sizes->large_bytes, CALIBRATE_N_LARGE, COSTS(large_s), true}},
    };
#undef COSTS
    int result = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && result == 0; i++)
        result = evaluate_line(rounds, n, &lines[i].source, &values[lines[i].index], err);
    if (result == 0)
        evaluate_device(rounds, n, sizes, values[HOST_SC_SW].value, &values[HOST_BW_DEV]);
    return result;
}

int calibrate_evaluate(const struct calibrate_round *rounds, size_t n, const struct calibrate_sizes *sizes,
                       struct calibrate_value values[HOST_N_PARAMETERS], struct err *err)
{
    evaluate_series(rounds, n, CALIBRATE_MEMORY, true, &values[HOST_BW_MEM]);
    evaluate_series(rounds, n, CALIBRATE_CACHE, true, &values[HOST_BW_RAMDISK]);
    evaluate_series(rounds, n, CALIBRATE_FIRST_TOUCH, true, &values[HOST_BW_RAMDISK_FIRST_TOUCH]);
    evaluate_series(rounds, n, CALIBRATE_REDUCED, true, &values[HOST_BW_REDUCED]);
    evaluate_series(rounds, n, CALIBRATE_REWRITE, true, &values[HOST_BW_REWRITE]);
    evaluate_series(rounds, n, CALIBRATE_READ, true, &values[HOST_BW_RDEV]);
    evaluate_series(rounds, n, CALIBRATE_WRITEBACK, true, &values[HOST_BW_WRITEBACK]);
    evaluate_series(rounds, n, CALIBRATE_SEEK, false, &values[HOST_C_SK]);
    if (n == 0)
        return 0;
    return evaluate_lines(rounds, n, sizes, values, err);
}

#define WIDE_SHARE 0.5

size_t calibrate_find_wide(const struct calibrate_value values[HOST_N_PARAMETERS], char *text, size_t size)
{
    size_t n = 0, length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        const struct interval *interval = &values[i].interval;
        if (i == HOST_C_SK || host_parameters[i].optional || !isfinite(interval->high - interval->low) ||
            interval->high - interval->low <= 2 * WIDE_SHARE * values[i].value)
            continue;
        n++;
        if (length < size)
            length += (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "",
                                       host_parameters[i].name);
    }
    return n;
}

#define MIB   1048576.0
#define MOST  (256 * MIB) /* a larger write tells no more, and takes longer */
#define LEAST (4 * MIB)
/* At most three times it is dirty, and a quarter of the limit stays free for others. */
#define DIRTY_SHARE  0.25
#define MEMORY_SHARE 0.125
/* As many rounds are to fit into the bytes that may be written; more are made if there is room. */
#define PLANNED_ROUNDS 6
/* Largest writes in what a round writes of them: calibrate_large makes three, calibrate_writeback two. */
#define N_LARGEST 5
/* So much of what a round may write is for each of them; the rest goes into the page cache. */
#define LARGEST_SHARE 0.125

double calibrate_durable_bytes(const struct calibrate_sizes *sizes)
{
    double bytes = N_LARGEST * sizes->large_bytes[CALIBRATE_N_LARGE - 1] + 2.0 * CALIBRATE_PROOF_BYTES +
                   CALIBRATE_SEEK_WRITES * fmax(CALIBRATE_SEEK_BYTES, sizes->small_bytes[0]);
    for (size_t i = 0; i < CALIBRATE_N_SMALL; i++)
        bytes += (CALIBRATE_SMALL_CALLS + 1) * sizes->small_bytes[i];
    return bytes;
}

double calibrate_largest_bytes(const struct calibrate_room *room, const struct calibrate_sizes *sizes)
{
    struct calibrate_sizes small = *sizes;
    small.large_bytes[CALIBRATE_N_LARGE - 1] = 0;
    double bytes = room->write_bytes / PLANNED_ROUNDS - calibrate_durable_bytes(&small);
    return fmin(LARGEST_SHARE * bytes, (bytes - 2 * LEAST) / N_LARGEST);
}

double calibrate_least_bytes(const struct calibrate_room *room)
{
    return PLANNED_ROUNDS * (room->durable_bytes + 2 * LEAST);
}

/* What the rounds leave for the page cache. */
static double cache_writes(const struct calibrate_room *room)
{
    return room->write_bytes - PLANNED_ROUNDS * room->durable_bytes;
}

int calibrate_cache_size(const struct calibrate_room *room, uint64_t *ret_bytes, const char **ret_bound,
                         struct err *err)
{
    const struct {
        const char *name;
        double bytes;
    } bounds[] = {
        {"the dirty limit (limit_bg)", DIRTY_SHARE * (room->limit_bg_bytes - room->dirty_bytes)},
        {"the available memory", MEMORY_SHARE * room->memory_bytes},
        {"the free space of the file system", (room->free_bytes - 32 * MIB) / 3},
        {"the limit on the size of files (ulimit -f)", room->file_size_bytes / 3},
        {"--max-write", cache_writes(room) / (2 * PLANNED_ROUNDS)},
    };
    double bytes = MOST;
    const char *bound = NULL;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (bounds[i].bytes < bytes) {
            bytes = bounds[i].bytes;
            bound = bounds[i].name;
        }
    }
    if (bytes < LEAST)
        return err_set(
            err, -ENOSPC,
            "%s allows only %.1f MiB in the page cache at a time, and 4 MiB are needed to calibrate", bound,
            fmax(bytes, 0) / MIB);
    *ret_bytes = (uint64_t)(bytes / MIB) << 20;
    *ret_bound = bound;
    return 0;
}

#define MOST_FLUSHED (2048 * MIB) /* more takes too long in every round */

bool calibrate_can_flush(const struct calibrate_room *room, double bytes)
{
    double flushed = PLANNED_ROUNDS * (bytes - room->limit_bg_bytes);
    return bytes <= MOST_FLUSHED && bytes <= room->memory_bytes / 4 && bytes <= room->free_bytes / 2 &&
           bytes <= room->file_size_bytes && flushed <= cache_writes(room) &&
           room->dirty_bytes <= room->limit_bg_bytes / 4;
}
