/* Documents of `atoms` and `cost` as data of a picture: named figures with intervals. */
#include "tuner/base/json.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TO_PERCENT 100.0

static int add_figure(struct plot_data *data, const struct plot_figure *figure)
{
    struct plot_figure *figures = reallocarray(data->figures, data->n_figures + 1, sizeof *figures);
    if (figures == NULL)
        return -ENOMEM;
    data->figures = figures;
    figures[data->n_figures++] = *figure;
    return 0;
}

static void take_values(struct plot_figure *figure, const json_t *object, const char *value, double scale)
{
    figure->value = scale * json_read_number(object, value);
    figure->low = scale * json_read_number(object, "ci_low");
    figure->high = scale * json_read_number(object, "ci_high");
}

static int read_atoms(struct plot_data *data, const json_t *document)
{
    const json_t *rows = json_object_get(document, "atoms");
    int result = 0;
    for (size_t i = 0; i < json_array_size(rows) && result == 0; i++) {
        const json_t *row = json_array_get(rows, i), *median = json_object_get(row, "median");
        struct plot_figure figure = {0};
        snprintf(figure.name, sizeof figure.name, "%s", json_read_text(row, "name", ""));
        take_values(&figure, json_is_object(median) ? median : row, "mean", 1);
        if (isfinite(figure.value))
            result = add_figure(data, &figure);
    }
    snprintf(data->series[0], sizeof data->series[0], "%s",
             json_read_text(json_object_get(document, "system"), "hostname", ""));
    data->n_series = 1;
    return result;
}

/* The number of the series of that name, made where it is missing. */
static size_t series_of(struct plot_data *data, const char *name)
{
    size_t i = 0;
    while (i < data->n_series && strncmp(data->series[i], name, sizeof data->series[i] - 1) != 0)
        i++;
    if (i == PLOT_MAX_SERIES)
        return i - 1;
    if (i == data->n_series)
        snprintf(data->series[data->n_series++], sizeof data->series[i], "%s", name);
    return i;
}

static int read_load(struct plot_data *data, const json_t *load)
{
    const json_t *references = json_object_get(load, "references");
    int result = 0;
    for (size_t i = 0; i < json_array_size(references) && result == 0; i++) {
        const json_t *reference = json_array_get(references, i);
        struct plot_figure figure = {0};
        snprintf(figure.name, sizeof figure.name, "%s", json_read_text(load, "load", "the command"));
        figure.series = series_of(data, json_read_text(reference, "reference", "the sequences"));
        take_values(&figure, reference, "pcost", TO_PERCENT);
        if (isfinite(figure.value))
            result = add_figure(data, &figure);
    }
    return result;
}

int plot_data_figures(struct plot_data *data, const json_t *document, struct err *err)
{
    const json_t *loads = json_object_get(document, "loads");
    int result = data->source == PLOT_ATOMS ? read_atoms(data, document) : 0;
    for (size_t i = 0; data->source == PLOT_COST && i < json_array_size(loads) && result == 0; i++)
        result = read_load(data, json_array_get(loads, i));
    if (result < 0)
        return err_set(err, result, "no memory");
    return data->n_figures > 0 ? 0 : err_set(err, -ENODATA, "there is no measured figure in it");
}

static int take_file(struct plot_data *data, size_t series, const char *path, struct err *err)
{
    struct plot_data part;
    const char *slash = strrchr(path, '/');
    int result = plot_data_load(&part, path, err);
    if (result == 0 && part.source != PLOT_ATOMS)
        result = err_set(err, -ENODATA, "it is not what fstune atoms --output wrote");
    for (size_t i = 0; i < part.n_figures && result == 0; i++) {
        struct plot_figure figure = part.figures[i];
        figure.series = series;
        if (add_figure(data, &figure) < 0)
            result = err_set(err, -ENOMEM, "no memory");
    }
    plot_data_done(&part);
    snprintf(data->series[series], sizeof data->series[series], "%.*s", (int)sizeof data->series[series] - 1,
             slash != NULL ? slash + 1 : path);
    return result < 0 ? err_prefix(err, "--from %.200s", path) : 0;
}

int plot_data_figures_several(struct plot_data *data, const struct settings_files *files, struct err *err)
{
    int result = 0;
    *data = (struct plot_data){.source = PLOT_ATOMS, .n_series = files->n};
    if (files->n > PLOT_MAX_SERIES)
        return err_set(err, -EINVAL, "--from is given %zu times; a picture shows at most %d", files->n,
                       PLOT_MAX_SERIES);
    for (size_t i = 0; i < files->n && result == 0; i++)
        result = take_file(data, i, files->path[i], err);
    return result;
}
