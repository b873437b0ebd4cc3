/* Named figures with their intervals, one a line: what single activities cost, and what a command costs its
 * neighbours. Several machines or references stand side by side. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NAME_BYTES 30
#define HEAVY      25.0 /* per cent, as in models/impact/base_sequence */

/* The figure of the same name that comes first. */
static size_t first_of(const struct plot_data *data, size_t figure)
{
    size_t i = 0;
    while (strcmp(data->figures[i].name, data->figures[figure].name) != 0)
        i++;
    return i;
}

/* How many names stand before the figure with this number. */
static size_t names_before(const struct plot_data *data, size_t figure)
{
    size_t n = 0;
    for (size_t i = 0; i < figure; i++)
        n += first_of(data, i) == i;
    return n;
}

static void write_names(FILE *script, const struct plot_data *data)
{
    plot_script_begin_array(script, "names", names_before(data, data->n_figures));
    for (size_t i = 0; i < data->n_figures; i++) {
        if (first_of(data, i) == i)
            plot_script_item(script, names_before(data, i), data->figures[i].name, NAME_BYTES, true);
    }
    plot_script_end_array(script);
}

static void write_figures(FILE *script, const struct plot_request *request, const struct plot_data *data)
{
    write_names(script, data);
    plot_script_begin_array(script, "series_names", data->n_series);
    for (size_t i = 0; i < data->n_series; i++)
        plot_script_key(script, i, request, data->series[i]);
    plot_script_end_array(script);
    fprintf(script, "n_lines = %zu\nn_series = %zu\n$figures << EOD\n", names_before(data, data->n_figures),
            data->n_series);
    for (size_t i = 0; i < data->n_figures; i++) {
        const struct plot_figure *figure = &data->figures[i];
        fprintf(script, "%zu %zu", figure->series + 1, names_before(data, first_of(data, i)) + 1);
        plot_script_number(script, figure->value);
        plot_script_number(script, isfinite(figure->low) ? figure->low : figure->value);
        plot_script_number(script, isfinite(figure->high) ? figure->high : figure->value);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
    fputs(plot_assets_head, script);
    fputs(plot_assets_figures, script);
}

static int draw_atoms(const struct plot_request *request, const struct plot_data *data, FILE *script,
                      struct err *err)
{
    if (data->source != PLOT_ATOMS)
        return err_set(err, -ENODATA, "it holds no atomic tests; give what fstune atoms --output wrote");
    plot_script_begin(script, request, data, "What one activity costs",
                      data->n_series == 1 ? data->series[0] : "");
    fputs("is_log = 1\nlimit = 0\n", script);
    plot_script_string(script, "quantity", "time of one activity, median and interval", PLOT_TEXT_SIZE);
    write_figures(script, request, data);
    return 0;
}

static int draw_cost(const struct plot_request *request, const struct plot_data *data, FILE *script,
                     struct err *err)
{
    if (data->source != PLOT_COST)
        return err_set(err, -ENODATA, "it holds no cost; give the JSON of fstune cost");
    plot_script_begin(script, request, data, "What a command costs its neighbours", "");
    fprintf(script, "is_log = 0\nlimit = %g\n", HEAVY);
    plot_script_string(script, "quantity", "cost in %, with its interval; heavy right of the dashed line",
                       PLOT_TEXT_SIZE);
    write_figures(script, request, data);
    return 0;
}

const struct plot_ops plot_atoms = {
    "atoms", "what single activities cost, of one machine or of several beside each other", draw_atoms};
const struct plot_ops plot_cost = {"cost", "what a command costs its neighbours, by load and reference",
                                   draw_cost};
