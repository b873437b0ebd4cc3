/* tuner/experiment/report_experiment: an experiment as text, and the choice of a format. */
#include "tuner/experiment/report_experiment.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/experiment/erofeev.h"
#include "tuner/experiment/report_experiment_analysis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_SIZE 400 /* of a text from outside */

/* ---- what it was ---- */

static void print_fixed(FILE *out, const json_t *fixed)
{
    const char *key, *separator = "Fixed        ";
    json_t *value;
    char text[SHOWN_SIZE];
    json_object_foreach((json_t *)fixed, key, value)
    {
        if (json_is_string(value))
            fprintf(out, "%s%s %s", separator, key,
                    text_printable(json_string_value(value), text, sizeof text));
        else if (json_is_integer(value) && (strstr(key, "size") != NULL || strcmp(key, "alignment") == 0))
            fprintf(out, "%s%s %s", separator, key,
                    units_format_size((uint64_t)json_integer_value(value), text));
        else if (json_is_number(value))
            fprintf(out, "%s%s %.10g", separator, key, json_number_value(value));
        else
            continue;
        separator = ", ";
    }
    if (json_object_size(fixed) > 0)
        fputc('\n', out);
}

static void print_place(FILE *out, const json_t *system)
{
    char text[SHOWN_SIZE];
    if (json_is_true(json_object_get(system, "simulated")))
        fprintf(out, "Measured on  simulated surface \"%s\"\n",
                text_printable(json_read_text(system, "surface", "?"), text, sizeof text));
    else if (json_object_get(system, "file_system") != NULL)
        fprintf(out, "Measured on  %s on %s, Linux %s\n", json_read_text(system, "file_system", "?"),
                text_printable(json_read_text(system, "mount_source", "?"), text, sizeof text),
                json_read_text(system, "kernel", "?"));
}

static uint64_t bytes_of(const json_t *document, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(document, key));
}

static void print_costs(FILE *out, const json_t *document)
{
    char took[UNITS_TEXT_SIZE], written[UNITS_TEXT_SIZE], read[UNITS_TEXT_SIZE];
    const json_t *seconds = json_object_get(document, "seconds");
    if (!json_is_number(seconds))
        return;
    fprintf(out, "Took         %s; wrote %s, read %s\n",
            text_short_duration(json_number_value(seconds) * 1e9, took),
            units_format_bytes(bytes_of(document, "bytes_written"), written),
            units_format_bytes(bytes_of(document, "bytes_read"), read));
}

static void print_experiment_head(FILE *out, const struct report_data *data)
{
    const json_t *document = data->document, *replays = json_object_get(document, "replays_asked");
    const char *given = json_read_text(document, "name", "");
    char name[SHOWN_SIZE];
    fprintf(out, "Experiment   %s: %s design, %zu setting%s",
            text_printable(given[0] != '\0' ? given : "without a name", name, sizeof name),
            json_read_text(json_object_get(document, "design"), "name", "unknown"), data->n_points,
            data->n_points == 1 ? "" : "s");
    if (json_is_integer(replays))
        fprintf(out, ", %lld replay%s asked, %zu runs made", (long long)json_integer_value(replays),
                json_integer_value(replays) == 1 ? "" : "s", data->n_runs);
    fprintf(out, "%s\n", json_is_true(json_object_get(document, "interrupted")) ? " (interrupted)" : "");
    print_fixed(out, json_object_get(document, "fixed"));
    print_place(out, json_object_get(document, "system"));
    print_costs(out, document);
}

/* ---- table of points ---- */

static int column_width(const struct report_factor *factor)
{
    size_t width = strlen(factor->name);
    for (size_t i = 0; i < factor->n_levels; i++)
        width = strlen(factor->text[i]) > width ? strlen(factor->text[i]) : width;
    return (int)(width < 40 ? width : 40);
}

static const char *mark_of(const struct report_analysis *analysis, size_t point)
{
    for (size_t i = 0; i < analysis->n_answers; i++) {
        const struct report_answer *answer = &analysis->answers[i];
        if (answer->best == point)
            return answer->cheapest == point ? "best and cheapest" : "best";
        if (answer->cheapest == point)
            return "cheapest as good as the best";
    }
    if (!analysis->data->points[point].trusted)
        return "not trustworthy";
    return analysis->verdicts[point] == VERDICT_EQUIVALENT ? "as good as the best" : "";
}

static void print_point_figures(FILE *out, const struct report_point *point, const char *mark)
{
    char text[SHOWN_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE], interval[80] = "-", spread[32] = "-";
    char replays[32] = "-", latency[UNITS_TEXT_SIZE];
    if (!point->measured) {
        fprintf(out, "  no figures: %s\n",
                text_printable(point->failed != NULL ? point->failed : "not measured", text, sizeof text));
        return;
    }
    if (isfinite(point->ci_low_bps))
        snprintf(interval, sizeof interval, "%s to %s", text_short_rate(point->ci_low_bps, low),
                 text_short_rate(point->ci_high_bps, high));
    if (isfinite(point->std_bps))
        snprintf(spread, sizeof spread, "%.1f %%", 100 * point->std_bps / point->mean_bps);
    if (point->replays > 0)
        snprintf(replays, sizeof replays, "%zu", point->replays);
    fprintf(out, "  %-11s %-25s %7s %7s  %s", text_short_rate(point->mean_bps, text), interval, spread,
            replays, text_short_duration(point->latency_mean_ns, latency));
    fprintf(out, "%*s%s\n", mark[0] != '\0' ? 10 - (int)strlen(latency) : 0, "", mark);
}

static void print_table(FILE *out, const struct report_analysis *analysis)
{
    const struct report_data *data = analysis->data;
    fprintf(out, "\nThroughput of each setting (%.4g %% intervals of the mean)\n",
            100 * data->confidence_share);
    for (size_t i = 0; i < data->n_factors; i++)
        fprintf(out, "  %-*.40s", column_width(&data->factors[i]), data->factors[i].name);
    fprintf(out, "  %-11s %-25s %7s %7s  %s\n", "mean", "interval", "std", "replays", "latency");
    for (size_t i = 0; i < data->n_points; i++) {
        const struct report_point *point = &data->points[data->order[i]];
        for (size_t k = 0; k < data->n_factors; k++)
            fprintf(out, "  %-*.40s", column_width(&data->factors[k]),
                    data->factors[k].text[point->level[k]]);
        print_point_figures(out, point, mark_of(analysis, data->order[i]));
    }
}

/* ---- what to know ---- */

static void print_list(FILE *out, const char *title, const json_t *list, const char *code_key,
                       const char *text_key)
{
    char code[SHOWN_SIZE], text[SHOWN_SIZE];
    if (json_array_size(list) > 0)
        fprintf(out, "\n%s\n", title);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        fprintf(out, "  - %s: %s\n", text_printable(json_read_text(item, code_key, "?"), code, sizeof code),
                text_printable(json_read_text(item, text_key, ""), text, sizeof text));
    }
}

static int print_text(FILE *out, const struct report_data *data, struct err *err)
{
    struct report_analysis *analysis = calloc(1, sizeof *analysis);
    if (analysis == NULL || report_experiment_analysis_make(analysis, data) < 0) {
        free(analysis);
        return err_set(err, -ENOMEM, "no memory for the analysis");
    }
    print_experiment_head(out, data);
    print_table(out, analysis);
    report_experiment_findings(out, analysis);
    print_list(out, "Left out of the design", json_object_get(data->document, "dropped"), "what", "why");
    print_list(out, "Warnings", json_object_get(data->document, "warnings"), "code", "text");
    report_experiment_analysis_done(analysis);
    free(analysis);
    return 0;
}

static int print_json(FILE *out, const json_t *document, struct err *err)
{
    json_t *whole = json_copy((json_t *)document);
    if (whole != NULL && json_object_get(whole, "analysis") == NULL &&
        json_object_set_new(whole, "analysis", report_experiment_analysis_json(document)) < 0) {
        json_decref(whole);
        whole = NULL;
    }
    return json_print(out, whole, err);
}

int report_experiment(FILE *out, const json_t *document, enum settings_format format, struct err *err)
{
    struct report_data data;
    int result = report_experiment_data_read(&data, document, err);
    if (result < 0)
        return result;
    if (format == FORMAT_TEXT)
        result = print_text(out, &data, err);
    else if (format == FORMAT_JSON)
        result = print_json(out, document, err);
    else if (format == FORMAT_CSV)
        result = report_experiment_csv_long(out, &data, err);
    else if (format == FORMAT_CSV_WIDE)
        report_experiment_csv_wide(out, &data);
    else if (format == FORMAT_CSV_MATRIX)
        result = report_experiment_csv_matrix(out, &data, err);
    else
        result = erofeev_write(out, document, err);
    report_experiment_data_done(&data);
    return result < 0 ? result : text_finish(out, err);
}
