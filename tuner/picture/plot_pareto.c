/* Throughput against latency: all points, and those that no other beats in both. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static bool is_shown(const struct plot_point *point)
{
    return isfinite(point->mean_bps) && isfinite(point->latency_mean_ns) &&
           (point->marks & PLOT_DISTRUSTED) == 0;
}

static int by_latency(const void *a, const void *b)
{
    const struct plot_point *x = *(const struct plot_point *const *)a,
                            *y = *(const struct plot_point *const *)b;
    if (x->latency_mean_ns != y->latency_mean_ns)
        return x->latency_mean_ns < y->latency_mean_ns ? -1 : 1;
    return (x->mean_bps < y->mean_bps) - (x->mean_bps > y->mean_bps);
}

static void write_point(FILE *script, const struct plot_point *point)
{
    fprintf(script, "%.6g %.6g\n", point->latency_mean_ns, point->mean_bps);
}

/* sorted: by latency. What no other mean beats. */
static void write_edge(FILE *script, const struct plot_point **sorted, size_t n)
{
    double highest = 0;
    fputs("$edge << EOD\n", script);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i]->mean_bps > highest) {
            write_point(script, sorted[i]);
            highest = sorted[i]->mean_bps;
        }
    }
    fputs("EOD\n", script);
}

/* The file's own table, which knows what may be due to scatter. */
static void write_front(FILE *script, const struct plot_data *data)
{
    fputs("$front << EOD\n" PLOT_NOTHING, script);
    for (size_t i = 0; i < data->n_front; i++) {
        if (is_shown(&data->points[data->front[i]]))
            write_point(script, &data->points[data->front[i]]);
    }
    fputs("EOD\n", script);
}

static const struct {
    unsigned mark;
    const char *name;
} roles[] = {{PLOT_RECOMMENDED, "recommended"}, {PLOT_BEST, "best"}, {PLOT_BASELINE, "baseline"}};
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

/* Points and titles of the roles; the title of one that no point has is "". */
static void write_roles(FILE *script, const struct plot_request *request, const struct plot_data *data)
{
    const struct plot_point *taken[N_ROLES];
    fputs("$roles << EOD\n" PLOT_NOTHING, script);
    for (size_t i = 0; i < N_ROLES; i++) {
        taken[i] = find_role(data, i);
        if (taken[i] != NULL)
            fprintf(script, "%.6g %.6g %zu\n", taken[i]->latency_mean_ns, taken[i]->mean_bps, i + 1);
    }
    fputs("EOD\n", script);
    plot_script_begin_array(script, "titles", N_ROLES);
    for (size_t i = 0; i < N_ROLES; i++) {
        char words[PLOT_TEXT_SIZE], title[PLOT_TEXT_SIZE + 32] = "";
        if (taken[i] != NULL)
            snprintf(title, sizeof title, "%s: %s", roles[i].name, plot_slice_words(data, taken[i], words));
        plot_script_key(script, i, request, title);
    }
    plot_script_end_array(script);
}

static void write_pareto_script(FILE *script, const struct plot_request *request,
                                const struct plot_data *data, const struct plot_point **sorted, size_t n)
{
    double highest = 0;
    for (size_t i = 0; i < n; i++)
        highest = fmax(highest, sorted[i]->mean_bps);
    plot_script_begin(script, request, data, "Throughput against latency", "");
    fprintf(script, "top = %.6g\nleast_ns = %.6g\nmost_ns = %.6g\nhas_front = %d\n$points << EOD\n", highest,
            sorted[0]->latency_mean_ns, sorted[n - 1]->latency_mean_ns, data->has_front);
    for (size_t i = 0; i < n; i++)
        write_point(script, sorted[i]);
    fputs("EOD\n", script);
    write_edge(script, sorted, n);
    write_front(script, data);
    write_roles(script, request, data);
    fputs(plot_assets_head, script);
    fputs(plot_assets_pareto, script);
}

static int draw_pareto(const struct plot_request *request, const struct plot_data *data, FILE *script,
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
        write_pareto_script(script, request, data, sorted, n);
    else
        result = err_set(err, -ENODATA, "no point with a latency is left to draw");
    free(sorted);
    return result;
}

const struct plot_ops plot_pareto = {"pareto", "throughput against latency, with the front", draw_pareto};
