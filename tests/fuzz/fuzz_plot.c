/* Files that pictures are drawn from: what is accepted is whole and in order, and no text of it leaves its
 * quotes in any script for gnuplot. */
#include "tests/fuzz/fuzz.h"

#include "tuner/picture/plot.h"

#include <math.h>

static void check_levels(const struct plot_levels *levels)
{
    FUZZ_CHECK(levels->n <= PLOT_MAX_LEVELS);
    for (size_t i = 0; i < levels->n; i++) {
        FUZZ_CHECK(memchr(levels->level[i].text, '\0', PLOT_LEVEL_SIZE) != NULL);
        FUZZ_CHECK(isfinite(levels->level[i].number));
        FUZZ_CHECK(i == 0 || levels->level[i - 1].number <= levels->level[i].number);
    }
}

static void check_point(const struct plot_data *data, const struct plot_point *point)
{
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        FUZZ_CHECK(point->level[factor] == PLOT_NO_LEVEL || point->level[factor] < data->levels[factor].n);
    FUZZ_CHECK(!isinf(point->mean_bps) && !(point->mean_bps < 0));
    FUZZ_CHECK(!isinf(point->ci_low_bps) && !isinf(point->ci_high_bps) && !isinf(point->std_bps));
    FUZZ_CHECK(!isinf(point->latency_mean_ns) && !isinf(point->p999.ns));
}

static void check_data(const struct plot_data *data)
{
    FUZZ_CHECK(data->n_points > 0 && data->n_points <= PLOT_MAX_POINTS && data->n_runs <= PLOT_MAX_RUNS);
    for (size_t factor = 0; factor < PLOT_FACTOR_N; factor++)
        check_levels(&data->levels[factor]);
    for (size_t i = 0; i < data->n_points; i++)
        check_point(data, &data->points[i]);
    for (size_t i = 0; i < data->n_runs; i++)
        FUZZ_CHECK(data->runs[i].point < data->n_points);
    for (size_t i = 0; i < data->n_front; i++)
        FUZZ_CHECK(data->front[i] < data->n_points);
    FUZZ_CHECK(data->confidence_share > 0 && data->confidence_share < 1);
}

/* What would be a command of gnuplot's or the shell's outside of quotes, and numbers that are none. */
static void check_script(const char *script)
{
    int quoted = 0;
    for (const char *c = script; *c != '\0'; c++) {
        quoted ^= *c == '\'';
        FUZZ_CHECK(!quoted || *c != '\n');
        FUZZ_CHECK(quoted || strchr("`!", *c) == NULL);
        FUZZ_CHECK(quoted || strncmp(c, "system", 6) != 0);
        FUZZ_CHECK(quoted || (strncmp(c, " inf", 4) != 0 && strncmp(c, " -inf", 5) != 0));
    }
    FUZZ_CHECK(!quoted);
}

static void draw(const struct plot_data *data, const struct plot_ops *ops, enum plot_terminal terminal)
{
    const struct plot_request wish = {
        .terminal = terminal,
        .width = terminal == PLOT_DUMB ? 79 : 900,
        .height = terminal == PLOT_DUMB ? 24 : 560,
        .title = "",
        .x = "",
        .y = "",
        .where = "",
    };
    char *script = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&script, &size);
    FUZZ_CHECK(out != NULL);
    int code = ops->draw(&wish, data, out, &fuzz_err);
    fclose(out);
    if (!fuzz_refused(code))
        check_script(script);
    free(script);
}

FUZZ_TEXT(text, size)
{
    struct plot_data plot;
    const struct plot_ops *ops;
    bool refused = fuzz_refused(plot_data_read(&plot, text, size, &fuzz_err));
    if (!refused)
        check_data(&plot);
    for (size_t i = 0; !refused && (ops = plot_row(i)) != NULL; i++) {
        draw(&plot, ops, PLOT_SVG);
        draw(&plot, ops, PLOT_DUMB);
    }
    plot_data_done(&plot);
}
