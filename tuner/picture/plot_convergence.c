/* The course of a search: its runs, and the best mean so far with its interval. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct course {
    const struct plot_data *data;
    struct moments *moments; /* of every point, of what was known by then */
    size_t best;             /* number of the point; data->n_points before the first run */
};

static double objective_of_run(const struct plot_data *data, const struct plot_run *run)
{
    return data->lower_is_better ? run->latency_mean_ns : run->bps;
}

static bool is_ahead(const struct course *course, size_t a, size_t b)
{
    double x = course->moments[a].mean, y = course->moments[b].mean;
    return course->data->lower_is_better ? x < y : x > y;
}

/* Adds a run. A point that falls behind may fall behind any other. */
static void step(struct course *course, const struct plot_run *run)
{
    moments_add(&course->moments[run->point], objective_of_run(course->data, run));
    if (course->best == course->data->n_points)
        course->best = run->point;
    for (size_t i = 0; i < course->data->n_points; i++) {
        if (course->moments[i].n > 0 && is_ahead(course, i, course->best))
            course->best = i;
    }
}

static double end_of(const struct plot_run *run)
{
    return run->start_seconds + run->warmup_seconds + run->seconds;
}

struct known {
    double mean, low, high; /* of the best point so far; NaN: not known */
};

static struct known known_of(const struct course *course)
{
    const struct moments *best = &course->moments[course->best];
    struct interval interval = student_interval(*best, course->data->confidence_share);
    return (struct known){best->mean, interval.low < 0 ? 0 : interval.low, interval.high};
}

static void write_known(FILE *script, double seconds, struct known known)
{
    fprintf(script, "%.6g", seconds);
    plot_script_number(script, known.mean);
    plot_script_number(script, known.low);
    plot_script_number(script, known.high);
    fputc('\n', script);
}

static void write_course(FILE *script, struct course *course)
{
    const struct plot_data *data = course->data;
    fputs("$runs << EOD\n", script);
    for (size_t i = 0; i < data->n_runs; i++) {
        if (isfinite(objective_of_run(data, &data->runs[i])))
            fprintf(script, "%.6g %.6g\n", end_of(&data->runs[i]), objective_of_run(data, &data->runs[i]));
    }
    fputs("EOD\n$best << EOD\n", script);
    struct known known = {NAN, NAN, NAN};
    for (size_t i = 0; i < data->n_runs; i++) {
        if (!isfinite(objective_of_run(data, &data->runs[i])))
            continue;
        /* What was known until now holds until now: lines through both rows are steps. */
        write_known(script, end_of(&data->runs[i]), known);
        step(course, &data->runs[i]);
        known = known_of(course);
        write_known(script, end_of(&data->runs[i]), known);
    }
    fputs("EOD\n", script);
}

static double highest(const struct plot_data *data)
{
    double top = 0;
    for (size_t i = 0; i < data->n_runs; i++)
        top = fmax(top, objective_of_run(data, &data->runs[i]));
    return top;
}

static void write_convergence_head(FILE *script, const struct plot_request *request,
                                   const struct plot_data *data, const char *words)
{
    char detail[PLOT_TEXT_SIZE + 32];
    snprintf(detail, sizeof detail, "%zu runs; best mean at the end: %s", data->n_runs, words);
    plot_script_begin(script, request, data, "Convergence of the search", detail);
    fprintf(script, "is_latency = %d\ntop = %.6g\nend = %.6g\n", data->lower_is_better, highest(data),
            end_of(&data->runs[data->n_runs - 1]));
}

static int draw_convergence(const struct plot_request *request, const struct plot_data *data, FILE *script,
                            struct err *err)
{
    char words[PLOT_TEXT_SIZE];
    if (data->source != PLOT_JOURNAL)
        return err_set(err, -ENODATA,
                       "it holds the result, not the course of a search; give the journal that recommend "
                       "--resume FILE writes");
    struct course course = {.data = data, .best = data->n_points};
    course.moments = calloc(data->n_points + 1, sizeof *course.moments);
    char *block = NULL;
    size_t size = 0;
    /* The data come first because the title names the best point. */
    FILE *blocks = course.moments != NULL ? open_memstream(&block, &size) : NULL;
    if (blocks == NULL) {
        free(course.moments);
        return err_set(err, -ENOMEM, "no memory");
    }
    write_course(blocks, &course);
    bool failed = fclose(blocks) != 0;
    if (!failed && course.best < data->n_points) {
        write_convergence_head(script, request, data,
                               plot_slice_words(data, &data->points[course.best], words));
        fprintf(script, "%s%s%s", block, plot_assets_head, plot_assets_convergence);
    }
    free(block);
    free(course.moments);
    return failed ? err_set(err, -ENOMEM, "no memory") : 0;
}

const struct plot_ops plot_convergence = {
    "convergence", "best mean so far over the time of a search (needs its journal)", draw_convergence};
