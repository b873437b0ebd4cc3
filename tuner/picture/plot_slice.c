/* tuner/picture/plot_slice: which factors vary, which --where holds fixed, and the points that are left. */
#include "tuner/picture/plot_slice.h"

#include "bench/base/units.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- --where ---- */

/* The level as it stands in the data: "64k" also as 65536, "direct" also as 1. */
static bool is_level(size_t factor, const struct plot_level *level, const char *text)
{
    uint64_t number;
    if (strcmp(level->text, text) == 0)
        return true;
    if (plot_factors[factor].scale == PLOT_WORDS)
        return false;
    return units_parse_size(text, &number) == 0 && (double)number == level->number;
}

static void list_levels(const struct plot_levels *levels, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < levels->n && used + 1 < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.24s", i == 0 ? "" : ", ", levels->level[i].text);
}

static int read_one(struct plot_where *where, const char *key, const char *value,
                    const struct plot_data *data, struct err *err)
{
    char known[160];
    size_t factor = plot_factor_find(key);
    if (factor == PLOT_FACTOR_N || data->levels[factor].n == 0)
        return err_set(err, -EINVAL, "--where: '%.40s' is no factor of these points", key);
    const struct plot_levels *levels = &data->levels[factor];
    for (size_t i = 0; i < levels->n; i++) {
        if (!is_level(factor, &levels->level[i], value))
            continue;
        if (where->level[factor] != PLOT_NO_LEVEL)
            return err_set(err, -EINVAL, "--where: %s is given twice", key);
        where->level[factor] = (uint16_t)i;
        return 0;
    }
    list_levels(levels, known, sizeof known);
    return err_set(err, -EINVAL, "--where: no point has %s=%.40s; there are %s", key, value, known);
}

int plot_where_read(struct plot_where *where, const char *text, const struct plot_data *data, struct err *err)
{
    int result = 0;
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        where->level[factor] = PLOT_NO_LEVEL;
    while (*text != '\0' && result == 0) {
        char part[128];
        size_t length = strcspn(text, ",");
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        char *equals = strchr(part, '=');
        if (equals == NULL || length >= sizeof part)
            return err_set(err, -EINVAL, "--where: '%.40s' is not KEY=VALUE", part);
        *equals = '\0';
        result = read_one(where, part, equals + 1, data, err);
        text += length + (text[length] == ',');
    }
    return result;
}

bool plot_where_fits(const struct plot_where *where, const struct plot_point *point)
{
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++) {
        if (where->level[factor] != PLOT_NO_LEVEL && where->level[factor] != point->level[factor])
            return false;
    }
    return true;
}

/* ---- the slice ---- */

/* What the choice looks at. */
struct choice {
    const struct plot_data *data;
    const struct plot_where *where;
    const struct plot_point *anchor;
};

static bool is_shown(const struct plot_point *point)
{
    return isfinite(point->mean_bps) && (point->marks & PLOT_DISTRUSTED) == 0;
}

bool plot_slice_is_number(size_t factor)
{
    return plot_factors[factor].scale != PLOT_WORDS && factor != PLOT_FACTOR_DIRECT;
}

/* Better: recommended, best by the file, faster; in this order. */
static bool is_better(const struct plot_point *a, const struct plot_point *b)
{
    static const unsigned marks[] = {PLOT_RECOMMENDED, PLOT_BEST};
    for (size_t i = 0; i < 2; i++) {
        if ((a->marks & marks[i]) != (b->marks & marks[i]))
            return (a->marks & marks[i]) != 0;
    }
    return a->mean_bps > b->mean_bps;
}

const struct plot_point *plot_slice_anchor(const struct plot_data *data, const struct plot_where *where)
{
    const struct plot_point *anchor = NULL;
    for (size_t i = 0; i < data->n_points; i++) {
        const struct plot_point *point = &data->points[i];
        if (is_shown(point) && plot_where_fits(where, point) && (anchor == NULL || is_better(point, anchor)))
            anchor = point;
    }
    return anchor;
}

/* The point differs from the anchor in x and y at most, and is no point of a factor that says nothing. */
static bool is_in(const struct plot_point *point, const struct plot_point *anchor, size_t x, size_t y)
{
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++) {
        if (factor != x && factor != y && point->level[factor] != anchor->level[factor])
            return false;
    }
    return point->level[x] != PLOT_NO_LEVEL && point->level[y] != PLOT_NO_LEVEL;
}

static size_t count_in(const struct choice *choice, size_t x, size_t y)
{
    size_t n = 0;
    for (size_t i = 0; i < choice->data->n_points; i++)
        n += is_shown(&choice->data->points[i]) && is_in(&choice->data->points[i], choice->anchor, x, y);
    return n;
}

static bool may_vary(const struct choice *choice, size_t factor)
{
    return choice->where->level[factor] == PLOT_NO_LEVEL && choice->data->levels[factor].n > 0 &&
           choice->anchor->level[factor] != PLOT_NO_LEVEL;
}

/* The pair with most points. fixed_x, fixed_y: PLOT_FACTOR_N where they are free; x == y is one factor. */
static void choose_slice_axes(const struct choice *choice, size_t axis[2], size_t n_axes, bool numbers)
{
    const size_t request[2] = {axis[0], axis[1]};
    size_t most = 0;
    for (size_t x = 0; x < PLOT_FACTOR_N; x++) {
        if (request[0] == PLOT_FACTOR_N ? !may_vary(choice, x) || (numbers && !plot_slice_is_number(x))
                                        : x != request[0])
            continue;
        for (size_t y = 0; y < PLOT_FACTOR_N; y++) {
            bool fits = n_axes == 1                   ? y == x
                        : request[1] == PLOT_FACTOR_N ? y != x && may_vary(choice, y)
                                                      : y == request[1];
            size_t n = fits ? count_in(choice, x, y) : 0;
            if (n > most) {
                most = n;
                axis[0] = x;
                axis[1] = y;
            }
        }
    }
}

static int read_key(const struct plot_data *data, const char *option, const char *key, size_t *ret_factor,
                    struct err *err)
{
    *ret_factor = key[0] == '\0' ? PLOT_FACTOR_N : plot_factor_find(key);
    if (key[0] == '\0')
        return 0;
    if (*ret_factor == PLOT_FACTOR_N || data->levels[*ret_factor].n == 0)
        return err_set(err, -EINVAL,
                       "--%s: '%.40s' is no factor of these points; use one such as request_size", option,
                       key);
    return 0;
}

static int set_axis(struct plot_slice *slice, size_t number, const struct choice *choice,
                    const size_t axis[2], struct err *err)
{
    struct plot_axis *out = &slice->axes[number];
    const size_t factor = axis[number];
    out->factor = factor;
    for (uint16_t level = 0; level < choice->data->levels[factor].n; level++) {
        bool occurs = false;
        for (size_t i = 0; i < choice->data->n_points && !occurs; i++) {
            const struct plot_point *point = &choice->data->points[i];
            occurs = point->level[factor] == level && is_shown(point) &&
                     is_in(point, choice->anchor, axis[0], axis[1]);
        }
        if (occurs && out->n == PLOT_SLICE_MAX_LEVELS)
            return err_set(err, -EINVAL, "%s has more than %d levels; a picture can hold no more",
                           plot_factors[factor].key, PLOT_SLICE_MAX_LEVELS);
        if (occurs)
            out->level[out->n++] = level;
    }
    return 0;
}

static size_t index_of(const struct plot_axis *axis, uint16_t level)
{
    size_t i = 0;
    while (i < axis->n && axis->level[i] != level)
        i++;
    return i;
}

static void fill_slice(struct plot_slice *slice, const struct choice *choice, const size_t axis[2])
{
    for (size_t i = 0; i < choice->data->n_points; i++) {
        const struct plot_point *point = &choice->data->points[i];
        if (!isfinite(point->mean_bps) || !is_in(point, choice->anchor, axis[0], axis[1]))
            continue;
        slice->n_left_out += !is_shown(point);
        if (!is_shown(point))
            continue;
        size_t y = slice->n_axes == 2 ? index_of(&slice->axes[1], point->level[axis[1]]) : 0;
        slice->cells[index_of(&slice->axes[0], point->level[axis[0]]) * slice->axes[1].n + y] = point;
        slice->n_cells++;
        slice->max_bps = fmax(slice->max_bps, point->mean_bps);
        if (point->ci_high_bps < 2 * slice->max_bps)
            slice->max_bps = fmax(slice->max_bps, point->ci_high_bps);
        if (slice->best == NULL || is_better(point, slice->best))
            slice->best = point;
    }
}

const char *plot_slice_join(const struct plot_data *data, const struct plot_point *point,
                            const bool shown[PLOT_FACTOR_N], char buffer[PLOT_TEXT_SIZE])
{
    buffer[0] = '\0';
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++) {
        const struct plot_factor *row = &plot_factors[factor];
        size_t used = strlen(buffer);
        if (!shown[factor] || point->level[factor] == PLOT_NO_LEVEL)
            continue;
        const char *level = data->levels[factor].level[point->level[factor]].text;
        used += (size_t)snprintf(buffer + used, PLOT_TEXT_SIZE - used, "%s%s%s", used > 0 ? ", " : "",
                                 row->before != NULL ? row->before : "", level);
        if (row->before == NULL && used < PLOT_TEXT_SIZE)
            snprintf(buffer + used, PLOT_TEXT_SIZE - used, " %.*s",
                     (int)strlen(row->title) - (strcmp(level, "1") == 0), row->title);
    }
    return buffer;
}

const char *plot_slice_words(const struct plot_data *data, const struct plot_point *point,
                             char buffer[PLOT_TEXT_SIZE])
{
    bool shown[PLOT_FACTOR_N];
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        shown[factor] =
            data->levels[factor].n > 1 || data->n_points == 1 || factor == PLOT_FACTOR_REQUEST_SIZE;
    return plot_slice_join(data, point, shown, buffer);
}

static int refuse_flat(size_t n_axes, bool numbers, struct err *err)
{
    return err_set(
        err, -EINVAL, "only %s of these points varies: this picture needs %s; see --x, --y and --where",
        n_axes == 2 ? "one factor" : "no fitting factor", numbers ? "one that is a number" : "more");
}

int plot_slice_make(struct plot_slice *slice, const struct plot_request *request,
                    const struct plot_data *data, size_t n_axes, bool numbers, struct err *err)
{
    struct plot_where where;
    struct choice choice = {.data = data, .where = &where};
    size_t axis[2];
    bool fixed[PLOT_FACTOR_N];
    memset(slice, 0, sizeof *slice);
    slice->data = data;
    slice->n_axes = n_axes;
    int result = plot_where_read(&where, request->where, data, err);
    if (result == 0)
        result = read_key(data, "x", request->x, &axis[0], err);
    if (result == 0)
        result = read_key(data, "y", request->y, &axis[1], err);
    if (result < 0)
        return result;
    choice.anchor = plot_slice_anchor(data, &where);
    if (choice.anchor == NULL)
        return err_set(err, -ENODATA, "no trustworthy point is left to draw; see --where");
    if (n_axes == 2 && axis[0] == axis[1] && axis[0] != PLOT_FACTOR_N)
        return err_set(err, -EINVAL, "--x and --y name the same factor");
    choose_slice_axes(&choice, axis, n_axes, numbers);
    if (axis[0] == PLOT_FACTOR_N || axis[1] == PLOT_FACTOR_N)
        return refuse_flat(n_axes, numbers, err);
    slice->axes[1].n = 1;
    result = set_axis(slice, 0, &choice, axis, err);
    if (result == 0 && n_axes == 2) {
        slice->axes[1].n = 0;
        result = set_axis(slice, 1, &choice, axis, err);
    }
    if (result < 0)
        return result;
    fill_slice(slice, &choice, axis);
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        fixed[factor] = factor != axis[0] && factor != axis[1];
    plot_slice_join(data, choice.anchor, fixed, slice->fixed);
    return 0;
}

const struct plot_point *plot_slice_at(const struct plot_slice *slice, size_t x, size_t y)
{
    return slice->cells[x * slice->axes[1].n + y];
}

const struct plot_level *plot_slice_level(const struct plot_slice *slice, size_t axis, size_t i)
{
    const struct plot_axis *of = &slice->axes[axis];
    return &slice->data->levels[of->factor].level[of->level[i]];
}
