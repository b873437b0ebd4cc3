/* fstune plot: pictures of measured results. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/store/database.h"
#include "tuner/store/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOWN_PATH 200
#define MAX_KINDS  32

/* The script of the picture; the caller frees it. */
static int write_plot_script(const struct plot_ops *ops, const struct plot_request *request,
                             const struct plot_data *data, char **ret_script, size_t *ret_size,
                             struct err *err)
{
    FILE *script = open_memstream(ret_script, ret_size);
    if (script == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = ops->draw(request, data, script, err);
    if (fclose(script) != 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory");
    return result;
}

static int deliver(const struct settings *settings, const struct plot_request *request, const char *script,
                   size_t script_size, struct err *err)
{
    if (settings->plot.script) {
        fwrite(script, 1, script_size, stdout);
        return 0;
    }
    return plot_deliver(request, settings->output, script, err);
}

static void note_ignored(const struct settings *settings, const struct plot_data *data)
{
    if (data->ignored[0] != '\0')
        fail_with(EXIT_DONE, "--from %.*s: the column '%s' is not known; it is not drawn", SHOWN_PATH,
                  settings->answers.path[0], data->ignored);
}

/* err: begins with where they are from. */
static int load_history(const struct settings *settings, struct plot_data *data, char *path, size_t size,
                        struct err *err)
{
    struct history history;
    if (settings->answers.n > 0)
        return err_set(err, -EINVAL, "it is drawn from a history; give --db instead of --from");
    int result = command_history_path(settings, path, size, err);
    if (result == 0)
        result = history_open(&history, &(struct history_place){.path = path}, err);
    if (result < 0)
        return result;
    result = plot_data_history(data, &history, settings->retune.target, err);
    history_close(&history);
    return result < 0 ? err_prefix(err, "--db %.*s", SHOWN_PATH, path) : 0;
}

static int load_profile(const struct settings *settings, struct plot_data *data, struct err *err)
{
    const char *path = settings->answers.path[0];
    if (settings->answers.n != 1)
        return err_set(err, -EINVAL,
                       "it is drawn from a recording; give one --from FILE that fstune profile --output or "
                       "--save-events wrote");
    if (database_is_one(path))
        return plot_data_events(data, path, settings->history.run_id, err);
    if (settings->history.run_id > 0)
        return err_set(err, -EINVAL, "--run: chooses a recording of a database; leave it out");
    int result = plot_data_load(data, path, err);
    /* What is no text of the other kinds either, is no recording. */
    if (result == -EINVAL || (result == 0 && data->source != PLOT_PROFILE))
        result = err_set(err, -EINVAL,
                         "it is no recording; give what fstune profile --output or --save-events wrote");
    return result < 0 ? err_prefix(err, "--from %.*s", SHOWN_PATH, path) : 0;
}

/* Before and after, or two machines. */
static int load_several(const struct settings *settings, const struct plot_ops *ops, struct plot_data *data,
                        struct err *err)
{
    if (ops != &plot_bars && ops != &plot_percentiles)
        return err_set(err, -EINVAL,
                       "--from is given %zu times, and plot %s shows one result; bars and percentiles show "
                       "several, and so does report --html",
                       settings->answers.n, ops->name);
    if (settings->plot.x[0] != '\0' || settings->plot.y[0] != '\0')
        return err_set(err, -EINVAL,
                       "--x and --y are for one result; of several, --where names the setting that is shown");
    return plot_data_several(data, &settings->answers, settings->plot.where, err);
}

/* What is no measurement of settings has a kind of picture of its own. */
static int check_kind(const struct plot_ops *ops, const struct plot_data *data, struct err *err)
{
    if (data->source == PLOT_PREDICTION && ops != &plot_prediction)
        return err_set(err, -ENODATA,
                       "it is a prediction, in which nothing was measured; use plot prediction");
    if (data->source == PLOT_ATOMS && ops != &plot_atoms)
        return err_set(err, -ENODATA, "it holds atomic tests; use plot atoms");
    if (data->source == PLOT_COST && ops != &plot_cost)
        return err_set(err, -ENODATA, "it holds a cost; use plot cost");
    if (data->source == PLOT_PROFILE)
        return err_set(err, -ENODATA, "it is a profile; use plot profile");
    return 0;
}

static int load_plot_data(const struct settings *settings, const struct plot_ops *ops, struct plot_data *data,
                          struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    *data = (struct plot_data){0};
    if (ops == &plot_history)
        return load_history(settings, data, path, sizeof path, err);
    if (ops == &plot_profile)
        return load_profile(settings, data, err);
    if (settings->history.run_id > 0)
        return err_set(err, -EINVAL, "--run: is for plot profile; leave it out");
    if (settings->history.db[0] != '\0' || settings->retune.target[0] != '\0')
        return err_set(err, -EINVAL,
                       "--db and --target are for plot history; give a file of results with --from");
    if ((ops == &plot_prediction || ops == &plot_atoms || ops == &plot_cost) &&
        (settings->plot.x[0] != '\0' || settings->plot.y[0] != '\0' || settings->plot.where[0] != '\0'))
        return err_set(
            err, -EINVAL,
            "--x, --y and --where choose among factors, and this kind of picture has none; leave them out");
    if (settings->answers.n > 1 && ops == &plot_atoms)
        return plot_data_figures_several(data, &settings->answers, err);
    if (settings->answers.n > 1)
        return load_several(settings, ops, data, err);
    int result = plot_data_load(data, settings->answers.path[0], err);
    result = result == 0 ? check_kind(ops, data, err) : result;
    return result < 0 ? err_prefix(err, "--from %.*s", SHOWN_PATH, settings->answers.path[0]) : 0;
}

/* A failure names the file of --from, where there is one. */
static int draw_plot(const struct settings *settings, const struct plot_ops *ops,
                     const struct plot_request *request, const struct plot_data *data, char **ret_script,
                     size_t *ret_size, struct err *err)
{
    int result = write_plot_script(ops, request, data, ret_script, ret_size, err);
    if (result < 0 && ops != &plot_history && settings->answers.n == 1)
        err_prefix(err, "--from %.*s", SHOWN_PATH, settings->answers.path[0]);
    return result;
}

/* The exit code. */
static int plot_kind(const struct settings *settings, const struct plot_ops *ops, struct err *err)
{
    struct plot_request request;
    struct plot_data data;
    char *script = NULL;
    size_t size = 0;
    int code = EXIT_USAGE;
    int result = plot_deliver_request(&settings->plot, settings->output, &request, err);
    if (result == 0 && settings->output[0] != '\0' && !settings->plot.script)
        result = publish_check(settings->output, err);
    if (result < 0)
        return fail_with(EXIT_USAGE, "--output: %s", err->text);
    result = load_plot_data(settings, ops, &data, err);
    /* It has chosen a setting of each already. */
    request.where = settings->answers.n > 1 ? "" : request.where;
    if (result == 0) {
        note_ignored(settings, &data);
        result = draw_plot(settings, ops, &request, &data, &script, &size, err);
    }
    if (result == 0) {
        code = EXIT_FAILED;
        result = deliver(settings, &request, script, size, err);
    }
    plot_data_done(&data);
    free(script);
    if (result == 0)
        return EXIT_DONE;
    return command_explain(result, result == -ENODATA ? EXIT_NOTHING : code, err->text);
}

static int plot(const struct settings *settings, struct err *err)
{
    const char *names[MAX_KINDS];
    const struct plot_ops *ops;
    size_t n = 0;
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "the kind of picture is missing; fstune plot --help shows them");
    if ((ops = plot_find(settings->operands[0])) != NULL)
        return plot_kind(settings, ops, err);
    for (; n < MAX_KINDS && (ops = plot_row(n)) != NULL; n++)
        names[n] = ops->name;
    return options_refuse(settings->operands[0], "no kind of picture", names, n,
                          "fstune plot --help shows them", err);
}

static void print_kinds(FILE *out)
{
    const struct plot_ops *ops;
    fputs("\nKinds of pictures:\n", out);
    for (size_t i = 0; (ops = plot_row(i)) != NULL; i++)
        fprintf(out, "  %-12s %s\n", ops->name, ops->summary);
}

const struct command command_plot = {
    .name = "plot",
    .operands = "KIND",
    .options = OPTIONS_PLOT,
    .summary = "draw a picture of measured results: bars, lines, heat map, percentiles ...",
    .usage = "KIND",
    .n_operands = 1,
    .run = command_run,
    .print_more_help = print_kinds,
    .act = plot,
    .description =
        "Draws what `recommend --json`, `measure --json`, `predict write --json`, `atoms --output`, `cost "
        "--json`, a search's journal or a table in CSV holds, and with the kind `history` what a history "
        "(--db) holds, through gnuplot.",
    .example = "fstune plot heatmap --from result.json --output heatmap.png",
};
