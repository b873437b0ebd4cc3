/* Tables as data of pictures: a header that names the columns, then one point, or one run of it, per line. */
#include "tuner/picture/plot_data.h"

#include "bench/base/units.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64
#define LARGEST     1e18

/* Columns that are figures; the factors are the others. */
static const struct {
    const char *name;
    size_t place;
} figures[] = {
    {"throughput_bps", offsetof(struct plot_point, mean_bps)},
    {"mean_bps", offsetof(struct plot_point, mean_bps)},
    {"mean", offsetof(struct plot_point, mean_bps)},
    {"std_bps", offsetof(struct plot_point, std_bps)},
    {"std", offsetof(struct plot_point, std_bps)},
    {"ci_low_bps", offsetof(struct plot_point, ci_low_bps)},
    {"ci_low", offsetof(struct plot_point, ci_low_bps)},
    {"ci_high_bps", offsetof(struct plot_point, ci_high_bps)},
    {"ci_high", offsetof(struct plot_point, ci_high_bps)},
    {"latency_mean_ns", offsetof(struct plot_point, latency_mean_ns)},
    {"latency_p50_ns", offsetof(struct plot_point, p50.ns)},
    {"latency_p99_ns", offsetof(struct plot_point, p99.ns)},
    {"latency_p999_ns", offsetof(struct plot_point, p999.ns)},
};
#define N_FIGURES (sizeof figures / sizeof figures[0])

enum { COLUMN_IGNORED, COLUMN_FACTOR, COLUMN_FIGURE };

struct column {
    int kind;
    size_t number; /* of the factor or figure */
};

struct table {
    struct column columns[MAX_COLUMNS];
    size_t n_columns;
};

/* The comma behind a field, or the end of the line. Commas between quotes belong to the field, as in the name
 * of a mixed pattern; two quotes there are one. */
static char *end_of_field(char *field)
{
    char *at = field + strspn(field, " \t");
    if (*at == '"') {
        for (at++; *at != '\0' && (*at != '"' || at[1] == '"'); at++)
            at += *at == '"';
    }
    return at + strcspn(at, ",");
}

/* Takes the next field off a line, without the quotes of a spreadsheet; false behind the last. */
static bool next_field(char **line, char **ret_field)
{
    char *field = *line;
    if (field == NULL)
        return false;
    char *end = end_of_field(field);
    *line = *end == ',' ? end + 1 : NULL;
    *end = '\0';
    field += strspn(field, " \t\r\"");
    for (end = field + strlen(field); end > field && strchr(" \t\r\"", end[-1]) != NULL; end--)
        end[-1] = '\0';
    *ret_field = field;
    return true;
}

static int read_header(struct plot_data *data, struct table *table, char *line, struct err *err)
{
    char *field;
    bool has_rate = false;
    while (next_field(&line, &field)) {
        struct column *column = &table->columns[table->n_columns];
        size_t i = 0;
        if (table->n_columns++ == MAX_COLUMNS - 1)
            return err_set(err, -EINVAL, "it has more than %d columns", MAX_COLUMNS - 1);
        while (i < N_FIGURES && strcmp(figures[i].name, field) != 0)
            i++;
        *column = (struct column){COLUMN_FACTOR, plot_factor_find(field)};
        if (i < N_FIGURES)
            *column = (struct column){COLUMN_FIGURE, i};
        else if (column->number == PLOT_FACTOR_N)
            column->kind = COLUMN_IGNORED;
        if (column->kind == COLUMN_IGNORED && data->ignored[0] == '\0')
            snprintf(data->ignored, sizeof data->ignored, "%s", field);
        has_rate |= i < N_FIGURES && figures[i].place == offsetof(struct plot_point, mean_bps);
    }
    if (!has_rate)
        return err_set(err, -EINVAL,
                       "it is neither JSON nor CSV with a column throughput_bps; give the output of "
                       "recommend --json, measure --json, or a table");
    return 0;
}

/* An empty field is an unknown figure. */
static int read_figure(const char *text, double *ret_value)
{
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0')
        return 0;
    if (*end != '\0' || !(value >= 0 && value <= LARGEST))
        return -EINVAL;
    *ret_value = value;
    return 0;
}

static int read_line(struct plot_data *data, const struct table *table, char *line)
{
    uint16_t level[PLOT_FACTOR_N];
    struct plot_point read = {.mean_bps = NAN};
    double values[N_FIGURES];
    char *field;
    size_t n = 0, number = 0;
    int result = 0;
    memset(level, 0xFF, sizeof level);
    for (size_t i = 0; i < N_FIGURES; i++)
        values[i] = NAN;
    while (result == 0 && next_field(&line, &field)) {
        if (n == table->n_columns)
            return -EINVAL;
        const struct column *column = &table->columns[n++];
        if (column->kind == COLUMN_FIGURE)
            result = read_figure(field, &values[column->number]);
        else if (column->kind == COLUMN_FACTOR && field[0] != '\0')
            result = plot_data_level(data, column->number, field, &level[column->number]);
    }
    if (result == 0)
        result = n == table->n_columns ? plot_data_point(data, level, &number) : -EINVAL;
    if (result < 0)
        return result;
    for (size_t i = 0; i < N_FIGURES; i++) {
        if (isfinite(values[i]))
            *(double *)((char *)&data->points[number] + figures[i].place) = values[i];
        if (isfinite(values[i]) && figures[i].place == offsetof(struct plot_point, mean_bps))
            read.mean_bps = values[i];
    }
    if (!(read.mean_bps > 0))
        return -EINVAL;
    moments_add(&data->points[number].bps, read.mean_bps);
    return 0;
}

int plot_data_csv(struct plot_data *data, const char *text, struct err *err)
{
    struct table table = {0};
    char *copy = strdup(text), *rest = copy, *line;
    if (copy == NULL)
        return -ENOMEM;
    data->source = PLOT_TABLE;
    int result = read_header(data, &table, strsep(&rest, "\n"), err);
    for (int number = 2; result == 0 && (line = strsep(&rest, "\n")) != NULL; number++) {
        if (line[strspn(line, " \t\r")] == '\0')
            continue;
        result = read_line(data, &table, line);
        if (result == -EFBIG)
            err_set(err, result, "it holds more than %d points or %d levels", PLOT_MAX_POINTS,
                    PLOT_MAX_LEVELS);
        else if (result < 0)
            err_set(err, result, "line %d does not fit the header, or holds what its column cannot mean",
                    number);
    }
    free(copy);
    if (result == 0 && data->n_points == 0)
        result = err_set(err, -ENODATA, "there is no measured point in it");
    return result;
}
