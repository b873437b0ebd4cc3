/* Sentences about the factors, made from intervals alone: what an interval does not support is not said. */
#include "tuner/search/sensitivity.h"

#include "bench/base/units.h"
#include "tuner/search/objective.h"
#include "tuner/session/candidates.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_SHARE        0.5  /* of the differences, at least, to matter most */
#define SENSITIVITY_SHARE 0.05 /* at least, to be said to matter */
#define PAIR_SHARE        0.1  /* at least, for a pair */
#define SAME_SHARE        0.1  /* at most, for a change to be nothing */
#define KNOWN_SHARE       0.5  /* of the variance is known, at least, before shares are quoted */

enum {
    DIM_REQUEST_SIZE,
    DIM_QUEUE_DEPTH,
    DIM_THREADS,
    DIM_DIRECT,
    DIM_API,
    DIM_SYNC,
    DIM_WRITE_SIZE,
    DIM_CLIENTS,
    DIM_N
};

_Static_assert(DIM_N == CANDIDATES_DIMS, "as candidates_space orders them");

static const char *const names[DIM_N] = {
    [DIM_REQUEST_SIZE] = "request size",
    [DIM_QUEUE_DEPTH] = "queue depth",
    [DIM_THREADS] = "number of threads",
    [DIM_DIRECT] = "direct I/O",
    [DIM_API] = "the I/O API",
    [DIM_SYNC] = "the durability of writes",
    [DIM_WRITE_SIZE] = "the size of writes",
    [DIM_CLIENTS] = "the number of clients",
};

struct line {
    char *text;
    size_t used;
    size_t n_clauses;
    bool matters; /* it says that the factor does */
};

static void __attribute__((format(printf, 2, 3))) append(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line->text + line->used, SENSITIVITY_LINE_SIZE - line->used, format, arguments);
    va_end(arguments);
    if (n > 0)
        line->used += (size_t)n;
    if (line->used >= SENSITIVITY_LINE_SIZE)
        line->used = SENSITIVITY_LINE_SIZE - 1;
}

static void begin_clause(struct line *line)
{
    append(line, "%s", line->n_clauses++ == 0 ? ": " : "; ");
}

/* "matters, but from 8 to 16 ..." where nothing worse stands before. */
static void begin_clause_of_same(struct line *line)
{
    if (line->n_clauses == 0 && line->matters) {
        line->n_clauses++;
        append(line, ", but ");
        return;
    }
    begin_clause(line);
}

/* --- what one change is known to do: better is higher, whatever the objective --- */

struct effect {
    double low, high; /* ratio of what is optimised, at the confidence of all levels together */
    bool worse, same;
};

static struct effect effect_of(const struct tune *tune, const struct sensitivity_factor *factor, size_t i)
{
    const struct importance_change *change = &factor->changes[i];
    double others = (double)factor->n_changes - 1;
    double tail = (1 - tune->settings->runs.confidence_share) / others / 2;
    double half = gsl_cdf_ugaussian_Qinv(tail) * sensitivity_deviation(tune, change);
    struct effect effect = {.low = exp(change->difference - half), .high = exp(change->difference + half)};
    effect.worse = log(effect.high) < -tune->engine.margin;
    effect.same = effect.low >= 1 - SAME_SHARE && effect.high <= 1 + SAME_SHARE;
    return effect;
}

static bool changes_others(const struct importance_change *change)
{
    for (size_t dim = 0; dim < SPACE_MAX_DIMS; dim++) {
        if (change->also[dim])
            return true;
    }
    return false;
}

/* "costs at least 48 %", or of a latency "costs at least 92 % more latency". */
static void append_cost(const struct tune *tune, struct line *line, double high)
{
    bool latency = objective_table[tune->settings->search.objective].lower;
    double share = 100 * (latency ? 1 / high - 1 : 1 - high);
    append(line, "costs at least %.*f %%%s", share < 1 ? 1 : 0,
           share < 1 ? floor(10 * share) / 10 : floor(share),
           latency                                                    ? " more latency"
           : tune->settings->search.profile != PROFILE_MAX_THROUGHPUT ? " of the profile's score"
                                                                      : "");
}

/* Throughput may stay the same while the latency doubles: it is said which of them does. What the model is
 * sure of and the setting's own runs do not show is said as in the table: it looks so. */
static void append_same(const struct tune *tune, struct line *line, bool shown)
{
    const char *figure = objective_table[tune->settings->search.objective].lower    ? "the latency"
                         : tune->settings->search.profile != PROFILE_MAX_THROUGHPUT ? "the score"
                                                                                    : "throughput";
    append(line, "%s %s the same ", figure, shown ? "stays" : "looks");
}

/* Whether its own runs show that it is as good as the best, and the estimate says no other. */
static bool is_shown(const struct tune *tune, size_t point)
{
    const struct engine *engine = &tune->engine;
    const double *mean = engine->belief.mean;
    return point == engine->chosen || (engine->verdicts[point] == VERDICT_EQUIVALENT &&
                                       mean[point] >= mean[engine->best] - engine->tolerance);
}

static double distance(struct effect effect)
{
    return fmax(1 - effect.low, effect.high - 1);
}

static void append_within(struct line *line, double share)
{
    append(line, "(within %.0f %%)", fmax(1, ceil(100 * share)));
}

static const char *level_text(const struct tune *tune, size_t point, size_t dim, char *buffer)
{
    const struct point *p = &tune->records[point].point;
    if (dim == DIM_REQUEST_SIZE)
        return units_format_size(p->request_size_bytes, buffer);
    if (dim == DIM_WRITE_SIZE)
        return units_format_size(factors_write_size_bytes(p), buffer);
    if (dim == DIM_API)
        return api_names[p->api];
    if (dim == DIM_SYNC)
        return sync_names[p->sync];
    snprintf(buffer, UNITS_TEXT_SIZE, "%u",
             dim == DIM_QUEUE_DEPTH ? p->queue_depth
             : dim == DIM_CLIENTS   ? p->clients
                                    : p->threads);
    return buffer;
}

/* --- ordered factors: what is below, what is above --- */

struct slice {
    size_t n, own;
    size_t first, last; /* levels around the own one that change nothing */
    size_t low, high;   /* what is below the one and above the other is worse; 0 and n - 1: nothing is */
    double below, above, within; /* bounds of those statements */
    bool shown;                  /* that they change nothing, by their own runs */
};

/* Ratio of what is optimised at a point to that at the chosen one, at most. */
static double most_at(const struct tune *tune, size_t point)
{
    const struct belief *belief = &tune->engine.belief;
    size_t chosen = tune->engine.chosen;
    struct importance_change change = {.point = point,
                                       .difference = belief->mean[point] - belief->mean[chosen],
                                       .deviation = sqrt(belief->variance[point] + belief->variance[chosen])};
    double z = gsl_cdf_ugaussian_Pinv(tune->settings->runs.confidence_share);
    return exp(change.difference + z * sensitivity_deviation(tune, &change));
}

/* Whatever the other factors are: all points with the levels from..to are worse; the bound is that of the
 * best of them. */
static bool all_worse(const struct tune *tune, const struct sensitivity_factor *factor, size_t dim,
                      size_t from, size_t to, double *ret_bound)
{
    *ret_bound = 0;
    if (from >= to)
        return false;
    double first = space_row(&tune->space, factor->changes[from].point)[dim],
           last = space_row(&tune->space, factor->changes[to - 1].point)[dim];
    for (size_t i = 0; i < tune->space.n_points; i++) {
        double level = space_row(&tune->space, i)[dim];
        if (level >= first && level <= last && !tune->engine.belief.excluded[i])
            *ret_bound = fmax(*ret_bound, most_at(tune, i));
    }
    return log(*ret_bound) < -tune->engine.margin;
}

static bool is_same(const struct tune *tune, const struct sensitivity_factor *factor, size_t i,
                    double *within)
{
    struct effect effect = effect_of(tune, factor, i);
    if (!effect.same || changes_others(&factor->changes[i]))
        return false;
    *within = fmax(*within, distance(effect));
    return true;
}

static struct slice slice_of(const struct tune *tune, const struct sensitivity_factor *factor, size_t dim)
{
    struct slice slice = {.n = factor->n_changes};
    while (slice.own + 1 < slice.n && factor->changes[slice.own].point != tune->engine.chosen)
        slice.own++;
    slice.first = slice.last = slice.own;
    while (slice.first > 0 && is_same(tune, factor, slice.first - 1, &slice.within))
        slice.first--;
    while (slice.last + 1 < slice.n && is_same(tune, factor, slice.last + 1, &slice.within))
        slice.last++;
    slice.shown = true;
    for (size_t i = slice.first; i <= slice.last; i++)
        slice.shown = slice.shown && is_shown(tune, factor->changes[i].point);
    for (slice.low = slice.first; slice.low > 0; slice.low--) {
        if (all_worse(tune, factor, dim, 0, slice.low, &slice.below))
            break;
    }
    for (slice.high = slice.last; slice.high + 1 < slice.n; slice.high++) {
        if (all_worse(tune, factor, dim, slice.high + 1, slice.n, &slice.above))
            break;
    }
    return slice;
}

static void say_ordered(const struct tune *tune, const struct sensitivity_factor *factor, size_t dim,
                        struct line *line)
{
    char first[UNITS_TEXT_SIZE], last[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    struct slice slice = slice_of(tune, factor, dim);
    const char *from = level_text(tune, factor->changes[slice.first].point, dim, first),
               *to = level_text(tune, factor->changes[slice.last].point, dim, last);
    if (slice.low > 0) {
        begin_clause(line);
        append(line, "any setting below %s ", level_text(tune, factor->changes[slice.low].point, dim, low));
        append_cost(tune, line, slice.below);
    }
    if (slice.last > slice.first) {
        begin_clause_of_same(line);
        if (slice.last + 1 == slice.n)
            append(line, "above %s ", from);
        else
            append(line, "from %s to %s ", from, to);
        append_same(tune, line, slice.shown);
        append_within(line, slice.within);
    }
    if (slice.high + 1 < slice.n) {
        begin_clause(line);
        append(line, "any setting above %s ", level_text(tune, factor->changes[slice.high].point, dim, high));
        append_cost(tune, line, slice.above);
    }
}

/* --- categories --- */

/* With other levels of the other factors as well, it may cost nothing. */
static void append_exception(const struct tune *tune, size_t without, struct line *line)
{
    const struct engine *engine = &tune->engine;
    char text[FACTORS_TEXT_SIZE];
    size_t found = ENGINE_NONE;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        bool fits = i != without && tune->records[i].point.direct == tune->records[without].point.direct &&
                    tune->records[i].n >= ENGINE_MIN_REPLAYS && engine_is_eligible(engine, i) &&
                    (i == engine->best || is_shown(tune, i));
        if (fits && (found == ENGINE_NONE || engine->belief.mean[i] > engine->belief.mean[found]))
            found = i;
    }
    if (found != ENGINE_NONE)
        append(line, ", but %s is as good", factors_format(&tune->records[found].point, text));
}

static void say_direct(const struct tune *tune, const struct sensitivity_factor *factor, struct line *line)
{
    size_t other = factor->changes[0].point == tune->engine.chosen ? 1 : 0;
    struct effect effect = effect_of(tune, factor, other);
    bool direct = tune->records[tune->engine.chosen].point.direct != 0;
    if (!effect.worse && !effect.same)
        return;
    if (effect.worse) {
        begin_clause(line);
        append(line, direct ? "leaving it out " : "using it ");
        append_cost(tune, line, effect.high);
        append_exception(tune, factor->changes[other].point, line);
    } else {
        begin_clause_of_same(line);
        append(line, direct ? "without it " : "with it ");
        append_same(tune, line, is_shown(tune, factor->changes[other].point));
        append_within(line, distance(effect));
    }
}

/* " (queue depth 1)" where the level exists only with other settings. */
static void append_others(const struct tune *tune, const struct importance_change *change, struct line *line)
{
    const char *separator = " (";
    char buffer[UNITS_TEXT_SIZE];
    for (size_t dim = 0; dim < tune->space.n_dims; dim++) {
        if (!change->also[dim])
            continue;
        if (dim == DIM_DIRECT)
            append(line, "%s%s", separator,
                   tune->records[change->point].point.direct ? "direct I/O" : "buffered I/O");
        else
            append(line, "%s%s %s", separator, names[dim], level_text(tune, change->point, dim, buffer));
        separator = ", ";
    }
    if (changes_others(change))
        append(line, ")");
}

static void say_categories(const struct tune *tune, const struct sensitivity_factor *factor, size_t dim,
                           struct line *line)
{
    char buffer[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < factor->n_changes; i++) {
        const struct importance_change *change = &factor->changes[i];
        struct effect effect = effect_of(tune, factor, i);
        if (change->point == tune->engine.chosen || (!effect.worse && !effect.same))
            continue;
        if (effect.worse)
            begin_clause(line);
        else
            begin_clause_of_same(line);
        append(line, "%s", level_text(tune, change->point, dim, buffer));
        append_others(tune, change, line);
        if (effect.worse) {
            append(line, " ");
            append_cost(tune, line, effect.high);
        } else {
            append(line, is_shown(tune, change->point) ? " does as well " : " looks as good ");
            append_within(line, distance(effect));
        }
    }
}

/* --- sentences --- */

/* Every level does the same, and no other factor had to change for it. */
static bool all_same(const struct tune *tune, const struct sensitivity_factor *factor, double *ret_within,
                     bool *ret_shown)
{
    *ret_within = 0;
    *ret_shown = true;
    for (size_t i = 0; i < factor->n_changes; i++) {
        if (factor->changes[i].point != tune->engine.chosen && !is_same(tune, factor, i, ret_within))
            return false;
        *ret_shown = *ret_shown && is_shown(tune, factor->changes[i].point);
    }
    return true;
}

static void begin_sentence(const struct sensitivity *sensitivity, size_t dim, struct line *line)
{
    struct importance_share own = sensitivity->importance.own[dim];
    append(line, "%s", names[dim]);
    if (sensitivity->importance.known_share < KNOWN_SHARE || own.low < SENSITIVITY_SHARE)
        return;
    line->matters = true;
    append(line, own.low >= MOST_SHARE ? " matters most" : " matters");
}

/* False when nothing can be said. */
static bool say_factor(const struct tune *tune, const struct sensitivity *sensitivity, size_t dim,
                       struct line *line)
{
    const struct sensitivity_factor *factor = &sensitivity->factors[dim];
    double within;
    bool shown;
    if (factor->n_changes < 2)
        return false;
    begin_sentence(sensitivity, dim, line);
    bool shares = line->used > strlen(names[dim]);
    if (all_same(tune, factor, &within, &shown)) {
        append(line, "%s", shares ? ", but near the recommended setting " : ": ");
        append_same(tune, line, shown);
        append_within(line, within);
        return true;
    }
    if (tune->space.kind[dim] == SPACE_ORDERED)
        say_ordered(tune, factor, dim, line);
    else if (dim == DIM_DIRECT)
        say_direct(tune, factor, line);
    else
        say_categories(tune, factor, dim, line);
    if (shares && line->n_clauses == 0)
        append(line, ", but what another choice costs is not settled");
    return shares || line->n_clauses > 0;
}

static bool say_pair(const struct sensitivity *sensitivity, struct line *line)
{
    size_t first = 0, second = 0;
    double most = PAIR_SHARE;
    for (size_t b = 1; b < DIM_N; b++) {
        for (size_t a = 0; a < b; a++) {
            if (sensitivity->importance.pair[a][b].low >= most) {
                most = sensitivity->importance.pair[a][b].low;
                first = a;
                second = b;
            }
        }
    }
    if (first == second || sensitivity->importance.known_share < KNOWN_SHARE)
        return false;
    append(line, "%s and %s act together: what is best of one depends on the other", names[first],
           names[second]);
    return true;
}

static size_t most_important(const struct sensitivity *sensitivity, const bool *told)
{
    size_t found = DIM_N;
    for (size_t dim = 0; dim < DIM_N; dim++) {
        if (!told[dim] && (found == DIM_N || sensitivity->importance.total[dim].mean >
                                                 sensitivity->importance.total[found].mean))
            found = dim;
    }
    return found;
}

void sensitivity_text(const struct tune *tune, const struct sensitivity *sensitivity,
                      char ret_lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE], size_t *ret_n)
{
    char pair[SENSITIVITY_LINE_SIZE] = "";
    bool told[DIM_N] = {false};
    struct line pair_line = {.text = pair};
    bool has_pair = say_pair(sensitivity, &pair_line);
    size_t n = 0, n_factors = SENSITIVITY_MAX_LINES - (has_pair ? 1 : 0);
    for (size_t i = 0; i < DIM_N && n < n_factors; i++) {
        struct line line = {.text = ret_lines[n]};
        size_t dim = most_important(sensitivity, told);
        told[dim] = true;
        n += say_factor(tune, sensitivity, dim, &line);
    }
    if (has_pair)
        memcpy(ret_lines[n++], pair, sizeof pair);
    *ret_n = n;
}
