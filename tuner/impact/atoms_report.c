/* Atomic tests as a table, and lines through their times over delays. */
#include "tuner/impact/atoms_report.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

#define NAME_WIDTH 21

/* Three digits from a nanosecond's tenth to seconds. */
static const char *short_time(double s, char *buffer)
{
    if (isfinite(s) && fabs(s) < 1e-6)
        snprintf(buffer, UNITS_TEXT_SIZE, "%.1f ns", s * 1e9);
    else
        text_short_duration(s * 1e9, buffer);
    return buffer;
}

int atoms_report_text(FILE *out, const struct atoms_figures *figures, struct err *err)
{
    char median[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    if (figures->n_workers > 1)
        fprintf(out, "%u operations under way at a time; each counts with its share of the time\n\n",
                figures->n_workers);
    fprintf(out, "%-*s %10s   %-24s %s\n", NAME_WIDTH, "test", "median", "interval", "time of");
    for (size_t i = 0; i < figures->n; i++) {
        const struct atoms_figure *figure = &figures->figure[i];
        char interval[2 * UNITS_TEXT_SIZE + 8] = "";
        if (figure->status != ATOMS_NOT_HERE)
            snprintf(interval, sizeof interval, "%s to %s", short_time(figure->median_low_s, low),
                     short_time(figure->median_high_s, high));
        fprintf(out, "%-*s %10s   %-24s %s\n", NAME_WIDTH, figure->name,
                figure->status == ATOMS_MEASURED ? short_time(figure->median_s, median)
                                                 : atoms_status_names[figure->status],
                interval, figure->per);
    }
    fprintf(out, "\nof %zu of these, half of the interval is at most %g %% of the median\n",
            atoms_figures_count_narrow(figures), 100 * ATOMS_NARROW_SHARE);
    return text_finish(out, err);
}

int atoms_line_of(const struct atom *atom, const double *delays_s, const double *times_s, size_t n,
                  struct atoms_line *ret)
{
    double c0, c1, cov00, cov01, cov11, squares, total = 0, mean = 0;
    if (n < 3)
        return -EINVAL;
    if (gsl_fit_linear(delays_s, 1, times_s, 1, n, &c0, &c1, &cov00, &cov01, &cov11, &squares) != 0)
        return -EDOM;
    for (size_t i = 0; i < n; i++)
        mean += times_s[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        total += (times_s[i] - mean) * (times_s[i] - mean);
    *ret = (struct atoms_line){.atom = atom,
                               .slope = c1,
                               .intercept_s = c0,
                               .r_squared = total > 0 ? 1 - squares / total : NAN,
                               .residual_s = sqrt(squares / (double)n),
                               .longest_s = delays_s[n - 1],
                               .n = n};
    ret->is_linear =
        ret->r_squared >= ATOMS_LINEAR_R2 && fabs(ret->slope / atom->delays_each - 1) <= ATOMS_SLOPE_SHARE;
    return 0;
}

void atoms_lines_judge(const struct atoms_line *lines, size_t n, struct atoms_figures *figures)
{
    for (size_t line = 0; line < n; line++) {
        for (size_t i = 0; i < figures->n && !lines[line].is_linear; i++) {
            if (strcmp(figures->figure[i].name, lines[line].atom->name) == 0)
                figures->figure[i].status = ATOMS_NOT_LINEAR;
        }
    }
}

int atoms_lines_text(FILE *out, const struct atoms_line *lines, size_t n, struct err *err)
{
    char intercept[UNITS_TEXT_SIZE], residual[UNITS_TEXT_SIZE], longest[UNITS_TEXT_SIZE];
    fprintf(out, "\n%-16s %10s %8s %8s %10s %8s %10s\n", "linear?", "delays to", "slope", "expected",
            "intercept", "R^2", "residuals");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%-16s %10s %8.3f %8.3f %10s %8.5f %10s  %s\n", lines[i].atom->name,
                short_time(lines[i].longest_s, longest), lines[i].slope, lines[i].atom->delays_each,
                short_time(lines[i].intercept_s, intercept), lines[i].r_squared,
                short_time(lines[i].residual_s, residual), lines[i].is_linear ? "linear" : "not linear");
    return text_finish(out, err);
}

json_t *atoms_lines_json(const struct atoms_line *lines, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(
            rows, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "name", lines[i].atom->name,
                            "delay_s", json_number(lines[i].longest_s), "slope", json_number(lines[i].slope),
                            "slope_expected", json_number(lines[i].atom->delays_each), "intercept_s",
                            json_number(lines[i].intercept_s), "r_squared", json_number(lines[i].r_squared),
                            "residual_s", json_number(lines[i].residual_s), "verdict",
                            lines[i].is_linear ? "linear" : "not linear"));
    return rows;
}
