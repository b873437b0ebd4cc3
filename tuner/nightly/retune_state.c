/* A night as JSON, and the rows of nights that judging needs. */
#include "tuner/nightly/retune_state.h"

#include "tuner/base/json.h"
#include "tuner/store/journal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MAX_REPLAYS 1000000
#define MAX_LOG     100.0 /* no figure has a larger logarithm */

static json_t *json_moments(const struct moments *moments)
{
    return json_pack("{s:I, s:o, s:o}", "n", (json_int_t)moments->n, "log_mean", json_number(moments->mean),
                     "log_std", json_number(moments->std));
}

static int read_moments(const json_t *object, struct moments *ret_moments)
{
    json_int_t n = json_integer_value(json_object_get(object, "n"));
    struct moments moments = {.n = (size_t)n,
                              .mean = json_read_number(object, "log_mean"),
                              .std = json_read_number(object, "log_std")};
    if (n < 1 || n > MAX_REPLAYS || !(fabs(moments.mean) <= MAX_LOG) ||
        !(moments.std >= 0 && moments.std <= MAX_LOG))
        return -EINVAL;
    *ret_moments = moments;
    return 0;
}

static int read_confirming(const json_t *rows, struct retune_record *night)
{
    if (!json_is_array(rows) || json_array_size(rows) > RETUNE_STATE_MAX_CONFIRMING)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct retune_confirming *confirming = &night->confirming[night->n_confirming];
        if (journal_point(json_object_get(row, "point"), &confirming->point) < 0 ||
            read_moments(json_object_get(row, "response"), &confirming->response) < 0 ||
            read_moments(json_object_get(row, "throughput"), &confirming->log_bps) < 0)
            return -EINVAL;
        night->n_confirming++;
    }
    return 0;
}

static int read_pending(const json_t *points, struct retune_record *night)
{
    if (!json_is_array(points) || json_array_size(points) > NIGHT_MAX_PENDING)
        return -EINVAL;
    for (size_t i = 0; i < json_array_size(points); i++) {
        if (journal_point(json_array_get(points, i), &night->pending[night->n_pending]) < 0)
            return -EINVAL;
        night->n_pending++;
    }
    return 0;
}

static int read_night(const json_t *object, struct retune_record *ret_night)
{
    const json_t *in_force = json_object_get(object, "in_force");
    struct retune_record night = {.has_in_force = json_is_object(in_force),
                                  .down = json_is_true(json_object_get(object, "down"))};
    if ((night.has_in_force && journal_point(in_force, &night.in_force) < 0) ||
        read_confirming(json_object_get(object, "fresh"), &night) < 0 ||
        read_pending(json_object_get(object, "pending"), &night) < 0)
        return -EINVAL;
    *ret_night = night;
    return 0;
}

int retune_state_read(struct retune_state *memory, const json_t *documents)
{
    size_t n = json_array_size(documents), first = n > NIGHT_MAX_PAST ? n - NIGHT_MAX_PAST : 0;
    *memory = (struct retune_state){.nights = calloc(n - first + 1, sizeof *memory->nights)};
    if (memory->nights == NULL)
        return -ENOMEM;
    for (size_t i = first; i < n; i++) {
        const json_t *night = json_object_get(json_array_get(documents, i), "night");
        if (read_night(night, &memory->nights[memory->n]) == 0)
            memory->n++;
    }
    return 0;
}

void retune_state_done(struct retune_state *memory)
{
    free(memory->nights);
    *memory = (struct retune_state){0};
}

const struct retune_confirming *retune_state_find(const struct retune_record *night,
                                                  const struct point *point)
{
    for (size_t i = 0; i < night->n_confirming; i++) {
        if (factors_equal(&night->confirming[i].point, point))
            return &night->confirming[i];
    }
    return NULL;
}

size_t retune_state_pending(const struct retune_state *memory, const struct point *in_force,
                            struct point ret_points[NIGHT_MAX_PENDING])
{
    const struct retune_record *last = memory->n > 0 ? &memory->nights[memory->n - 1] : NULL;
    if (last == NULL || !last->has_in_force || !factors_equal(&last->in_force, in_force))
        return 0;
    for (size_t i = 0; i < last->n_pending; i++)
        ret_points[i] = last->pending[i];
    return last->n_pending;
}

/* False where the night did not measure both often enough. */
static bool ratio_of_night(const struct retune_record *night, const struct point *point,
                           const struct point *other, struct nights_estimate *ret_ratio)
{
    const struct retune_confirming *a = retune_state_find(night, point), *b = retune_state_find(night, other);
    if (a == NULL || b == NULL)
        return false;
    *ret_ratio = nights_difference(a->response, b->response);
    return ret_ratio->df > 0;
}

size_t retune_state_row(const struct retune_state *memory, const struct point *point,
                        const struct point *in_force, struct nights_estimate *ret_ratios, size_t room)
{
    size_t first = memory->n, n = 0;
    struct nights_estimate ratio;
    while (first > 0 && memory->n - first < room && memory->nights[first - 1].has_in_force &&
           factors_equal(&memory->nights[first - 1].in_force, in_force) &&
           ratio_of_night(&memory->nights[first - 1], point, in_force, &ratio))
        first--;
    for (size_t i = first; i < memory->n; i++)
        ratio_of_night(&memory->nights[i], point, in_force, &ret_ratios[n++]);
    return n;
}

size_t retune_state_changes(const struct retune_state *memory, const struct point *in_force, size_t nights)
{
    const struct point *after = in_force;
    size_t n = 0;
    for (size_t back = 0; back < memory->n && back < nights; back++) {
        const struct retune_record *night = &memory->nights[memory->n - 1 - back];
        if (!night->has_in_force)
            continue;
        n += !factors_equal(&night->in_force, after);
        after = &night->in_force;
    }
    return n;
}

/* From the last night in [first, end) that measured both. */
static void learn_of_pair(const struct retune_state *memory, size_t first, size_t end,
                          const struct retune_record *night, const struct point *point,
                          struct nights_scatter *scatter)
{
    struct nights_estimate before, after;
    if (!ratio_of_night(night, point, &night->in_force, &after))
        return;
    while (end > first && !ratio_of_night(&memory->nights[end - 1], point, &night->in_force, &before))
        end--;
    if (end > first)
        nights_learn(scatter, before, after);
}

void retune_state_learn(const struct retune_state *memory, const struct retune_record *tonight,
                        const struct point *contender, size_t row_begin, struct nights_scatter *scatter)
{
    for (size_t i = 0; i < memory->n + (tonight != NULL); i++) {
        const struct retune_record *night = i < memory->n ? &memory->nights[i] : tonight;
        bool in_row = contender != NULL && i >= row_begin;
        for (size_t j = 0; j < night->n_confirming && night->has_in_force; j++) {
            const struct point *point = &night->confirming[j].point;
            if (!factors_equal(point, &night->in_force) && !(in_row && factors_equal(point, contender)))
                learn_of_pair(memory, in_row ? row_begin : 0, i, night, point, scatter);
        }
    }
}

static size_t nights_down_at_end(const struct retune_state *memory)
{
    size_t n = 0;
    while (n < memory->n && memory->nights[memory->n - 1 - n].down)
        n++;
    return n;
}

size_t retune_state_levels(const struct retune_state *memory, const struct point *point,
                           struct nights_estimate *ret_levels, size_t room)
{
    size_t n = 0, n_down = nights_down_at_end(memory);
    bool new_level = n_down >= RETUNE_STATE_NEW_LEVEL;
    for (size_t i = new_level ? memory->n - n_down : 0; i < memory->n && n < room; i++) {
        const struct retune_confirming *confirming = retune_state_find(&memory->nights[i], point);
        if (confirming == NULL || confirming->log_bps.n < 2 || (memory->nights[i].down && !new_level))
            continue;
        double count = (double)confirming->log_bps.n;
        ret_levels[n++] =
            (struct nights_estimate){.log_mean = confirming->log_bps.mean,
                                     .variance = confirming->log_bps.std * confirming->log_bps.std / count,
                                     .df = count - 1};
    }
    return n;
}

json_t *retune_state_json(const struct retune_record *night)
{
    json_t *confirming = json_array(), *pending = json_array();
    for (size_t i = 0; i < night->n_confirming; i++) {
        const struct retune_confirming *row = &night->confirming[i];
        json_array_append_new(confirming, json_pack("{s:o, s:o, s:o}", "point", json_point(&row->point),
                                                    "response", json_moments(&row->response), "throughput",
                                                    json_moments(&row->log_bps)));
    }
    for (size_t i = 0; i < night->n_pending; i++)
        json_array_append_new(pending, json_point(&night->pending[i]));
    return json_pack("{s:o, s:b, s:o, s:o}", "in_force",
                     night->has_in_force ? json_point(&night->in_force) : json_null(), "down", night->down,
                     "fresh", confirming, "pending", pending);
}
