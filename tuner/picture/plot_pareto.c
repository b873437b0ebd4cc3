/* Throughput against latency: all points, and those that no other beats in both. */
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_shown(const struct plot_point *point)
{
    return isfinite(point->mean_bps) && isfinite(point->latency.mean_ns) &&
           (point->marks & PLOT_DISTRUSTED) == 0;
}

static int by_latency(const void *a, const void *b)
{
    const struct plot_point *x = *(const struct plot_point *const *)a,
                            *y = *(const struct plot_point *const *)b;
    if (x->latency.mean_ns != y->latency.mean_ns)
        return x->latency.mean_ns < y->latency.mean_ns ? -1 : 1;
    return (x->mean_bps < y->mean_bps) - (x->mean_bps > y->mean_bps);
}

static void write_point(FILE *script, const struct plot_point *point, struct plot_unit unit)
{
    fprintf(script, "%.6g %.6g\n", point->latency.mean_ns, point->mean_bps / unit.bps);
}

/* sorted: by latency. What no other mean beats. */
static void write_edge(FILE *script, const struct plot_point **sorted, size_t n, struct plot_unit unit)
{
    double highest = 0;
    fputs("$edge << EOD\n", script);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->mean_bps > highest) {
            write_point(script, sorted[i], unit);
            highest = sorted[i]->mean_bps;
        }
    }
    fputs("EOD\n", script);
}

/* The file's own table, which knows what may be due to scatter. */
static void write_front(FILE *script, const struct plot_data *data, struct plot_unit unit)
{
    fputs("$front << EOD\n", script);
    for (size_t i = 0; i < data->n_front; i++) {
        if (is_shown(&data->points[data->front[i]]))
            write_point(script, &data->points[data->front[i]], unit);
    }
    fputs("EOD\n", script);
}

static const struct {
    unsigned mark;
    const char *name, *colour;
    int shape;
} roles[] = {
    {PLOT_RECOMMENDED, "recommended", PLOT_RED, 9},
    {PLOT_BEST, "best", PLOT_GREEN, 11},
    {PLOT_BASELINE, "baseline", "#000000", 5},
};
#define N_ROLES (sizeof roles / sizeof roles[0])

/* The point of a role that no earlier role has taken. */
static const struct plot_point *find_role(const struct plot_data *data, size_t role)
{
    unsigned taken = 0;
    for (size_t i = 0; i < role; i++)
        taken |= roles[i].mark;
    for (size_t i = 0; i < data->n_points; i++) {
        if ((data->points[i].marks & roles[role].mark) != 0 && (data->points[i].marks & taken) == 0 &&
            is_shown(&data->points[i]))
            return &data->points[i];
    }
    return NULL;
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_data *data)
{
    bool text = plot_script_is_text(request);
    fprintf(script,
            "plot $points using 1:2 with points pt 7 %s lc rgb '#A8A8A8' title 'measured', \\\n"
            "  $edge using 1:2 with %s lw 2 pt 7 lc rgb '" PLOT_BLUE "' title 'not beaten in both means'",
            text ? "" : "ps 0.6", text ? "points" : "steps");
    if (data->has_front)
        fprintf(script,
                ", \\\n  $front using 1:2 with points pt 7 %s lc rgb '" PLOT_BLUE
                "' title 'on the front, as far as the scatter tells'",
                text ? "" : "ps 0.9");
    for (size_t i = 0; i < N_ROLES; i++) {
        char words[PLOT_TEXT_SIZE], title[PLOT_TEXT_SIZE + 32];
        const struct plot_point *point = find_role(data, i);
        if (point == NULL)
            continue;
        snprintf(title, sizeof title, "%s: %s", roles[i].name, plot_slice_words(data, point, words));
        fprintf(script, ", \\\n  $role%zu using 1:2 with points pt %d %s lc rgb '%s' title ", i,
                roles[i].shape, text ? "" : "ps 2", roles[i].colour);
        plot_script_key(script, request, title);
    }
    fputc('\n', script);
}

static void write_all(FILE *script, const struct plot_request *request, const struct plot_data *data,
                      const struct plot_point **sorted, size_t n)
{
    double highest = 0;
    for (size_t i = 0; i < n; i++)
        highest = fmax(highest, sorted[i]->mean_bps);
    struct plot_unit unit = plot_script_unit(highest);
    plot_script_begin(script, request, data, "Throughput against latency", "");
    fprintf(script,
            "set xlabel 'mean latency of a request'\nset ylabel 'throughput, %s'\nset yrange [0:%.6g]\n",
            unit.name, highest / unit.bps * 1.08);
    plot_script_latency_tics(script, "x");
    fprintf(script, "set xrange [%.6g:%.6g]\n", sorted[0]->latency.mean_ns / 1.5,
            sorted[n - 1]->latency.mean_ns * 1.5);
    plot_script_key_below(script, request, false);
    fputs("$points << EOD\n", script);
    for (size_t i = 0; i < n; i++)
        write_point(script, sorted[i], unit);
    fputs("EOD\n", script);
    write_edge(script, sorted, n, unit);
    write_front(script, data, unit);
    for (size_t i = 0; i < N_ROLES; i++) {
        const struct plot_point *point = find_role(data, i);
        if (point == NULL)
            continue;
        fprintf(script, "$role%zu << EOD\n", i);
        write_point(script, point, unit);
        fputs("EOD\n", script);
    }
    write_plot(script, request, data);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    struct plot_where where;
    size_t n = 0;
    int result = plot_where_read(&where, request->where, data, err);
    if (result < 0)
        return result;
    const struct plot_point **sorted = calloc(data->n_points + 1, sizeof(*sorted));
    if (sorted == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (size_t i = 0; i < data->n_points; i++) {
        if (is_shown(&data->points[i]) && plot_where_fits(&where, &data->points[i]))
            sorted[n++] = &data->points[i];
    }
    qsort(sorted, n, sizeof(*sorted), by_latency);
    if (n > 0)
        write_all(script, request, data, sorted, n);
    else
        result = err_set(err, -ENODATA, "no point with a latency is left to draw");
    free(sorted);
    return result;
}

const struct plot_ops plot_pareto = {"pareto", "throughput against latency, with the front", draw};
