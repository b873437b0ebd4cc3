/* fstune plot: pictures of measured results. */
#include "tuner/command.h"
#include "tuner/history.h"
#include "tuner/interrupt.h"
#include "tuner/options.h"
#include "tuner/plot.h"
#include "tuner/plot_gnuplot.h"
#include "tuner/publish.h"
#include "tuner/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOWN_PATH 200
#define MAX_KINDS  32

static const struct {
    const char *suffix;
    enum plot_terminal terminal;
} suffixes[] = {{".png", PLOT_PNG}, {".svg", PLOT_SVG}, {".pdf", PLOT_PDF}};
#define N_SUFFIXES (sizeof suffixes / sizeof suffixes[0])

static int terminal_of(const struct settings *settings, enum plot_terminal *ret_terminal, struct err *err)
{
    size_t length = strlen(settings->output);
    if (length == 0) {
        *ret_terminal = settings->plot_terminal == 1 ? PLOT_SIXEL : PLOT_DUMB;
        return 0;
    }
    for (size_t i = 0; i < N_SUFFIXES; i++) {
        if (length > 4 && strcmp(settings->output + length - 4, suffixes[i].suffix) == 0) {
            *ret_terminal = suffixes[i].terminal;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "--output %.*s: the name must end in .png, .svg or .pdf", SHOWN_PATH,
                   settings->output);
}

static void set_size(const struct settings *settings, struct plot_wish *wish)
{
    struct winsize window = {0};
    wish->width = 900;
    wish->height = 560;
    if (wish->terminal == PLOT_DUMB) {
        bool known =
            ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 20 && window.ws_row >= 12;
        wish->width = known ? window.ws_col - 1U : 79;
        wish->height = known ? window.ws_row - 2U : 30;
    }
    if (settings->plot_size[0] > 0) {
        wish->width = settings->plot_size[0];
        wish->height = settings->plot_size[1];
    }
}

static int make_wish(const struct settings *settings, struct plot_wish *wish, struct err *err)
{
    const char *no_color = getenv("NO_COLOR");
    *wish = (struct plot_wish){
        .colours = isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0'),
        .title = settings->plot_title,
        .x = settings->plot_x,
        .y = settings->plot_y,
        .where = settings->plot_where,
    };
    int result = terminal_of(settings, &wish->terminal, err);
    set_size(settings, wish);
    return result;
}

/* The script of the picture; the caller frees it. */
static int write_script(const struct plot_ops *ops, const struct plot_wish *wish,
                        const struct plot_data *data, char **ret_script, size_t *ret_size, struct err *err)
{
    FILE *script = open_memstream(ret_script, ret_size);
    if (script == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = ops->draw(wish, data, script, err);
    if (fclose(script) != 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory");
    return result;
}

/* A picture of letters begins with a form feed and blank lines, and ends in blank lines. */
static void print_letters(const char *picture, size_t size)
{
    const char *line = picture + strspn(picture, "\f"), *end = picture + size;
    while (line < end && line[strspn(line, " ")] == '\n')
        line += strcspn(line, "\n") + 1;
    while (end > line && (end[-1] == ' ' || end[-1] == '\n'))
        end--;
    fwrite(line, 1, (size_t)(end - line), stdout);
    fputc('\n', stdout);
}

static int deliver(const struct settings *settings, const char *script, size_t script_size, struct err *err)
{
    char *picture = NULL;
    size_t size = 0;
    if (settings->plot_script) {
        fwrite(script, 1, script_size, stdout);
        return 0;
    }
    int result = plot_gnuplot_run(script, script_size, &picture, &size, err);
    if (result == 0 && settings->output[0] == '\0' && settings->plot_terminal == 0)
        print_letters(picture, size);
    else if (result == 0 && settings->output[0] == '\0')
        fwrite(picture, 1, size, stdout);
    else if (result == 0)
        result = publish_file(settings->output, picture, size, err);
    free(picture);
    return result;
}

/* Says what went wrong. code: EXIT_FAILED where nothing that the user wrote can be the reason. */
static int explain(int result, int code, const char *text)
{
    int signal_number = atomic_load(&interrupt_signal);
    if (signal_number > 0)
        return command_fail(EXIT_SIGNAL + signal_number, "%s", text);
    if (result == -ENODATA)
        return command_fail(EXIT_NOTHING, "%s", text);
    return code == EXIT_FAILED ? command_fail(code, "%s", text) : command_refuse(result, text);
}

/* struct err takes control characters out of the column's name. */
static void note_ignored(const struct settings *settings, const struct plot_data *data)
{
    struct err note = {0};
    if (data->ignored[0] == '\0')
        return;
    err_set(&note, -EINVAL, "--from %.*s: the column '%s' is not known; it is not drawn", SHOWN_PATH,
            settings->from[0], data->ignored);
    command_fail(EXIT_DONE, "%s", note.text);
}

/* err: begins with where they are from. */
static int load_history(const struct settings *settings, struct plot_data *data, char *path, size_t size,
                        struct err *err)
{
    struct history history;
    int result = 0;
    if (settings->n_from > 0)
        return err_set(err, -EINVAL, "it is drawn from a history; give --db instead of --from");
    if (settings->db[0] != '\0')
        snprintf(path, size, "%s", settings->db);
    else
        result = history_default_path(path, size, err);
    if (result == 0)
        result = history_open(&history, &(struct history_place){.path = path}, err);
    if (result < 0)
        return result;
    result = plot_data_history(data, &history, settings->target, err);
    history_close(&history);
    return result < 0 ? err_prefix(err, "--db %.*s", SHOWN_PATH, path) : 0;
}

static int load(const struct settings *settings, const struct plot_ops *ops, struct plot_data *data,
                struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    *data = (struct plot_data){0};
    if (ops == &plot_history)
        return load_history(settings, data, path, sizeof path, err);
    if (settings->db[0] != '\0' || settings->target[0] != '\0')
        return err_set(err, -EINVAL,
                       "--db and --target are for plot history; give a file of results with --from");
    int result = plot_data_load(data, settings->from[0], err);
    return result < 0 ? err_prefix(err, "--from %.*s", SHOWN_PATH, settings->from[0]) : 0;
}

/* Whose words a failure is about. */
static int draw(const struct settings *settings, const struct plot_ops *ops, const struct plot_wish *wish,
                const struct plot_data *data, char **ret_script, size_t *ret_size, struct err *err)
{
    int result = write_script(ops, wish, data, ret_script, ret_size, err);
    if (result < 0 && ops != &plot_history)
        err_prefix(err, "--from %.*s", SHOWN_PATH, settings->from[0]);
    return result;
}

/* The exit code. */
static int plot(const struct settings *settings, const struct plot_ops *ops)
{
    struct err err = {0};
    struct plot_wish wish;
    struct plot_data data;
    char *script = NULL;
    size_t size = 0;
    int code = EXIT_USAGE;
    int result = make_wish(settings, &wish, &err);
    if (result < 0)
        return command_fail(EXIT_USAGE, "%s", err.text);
    result = load(settings, ops, &data, &err);
    if (result == 0) {
        note_ignored(settings, &data);
        result = draw(settings, ops, &wish, &data, &script, &size, &err);
    }
    if (result == 0) {
        code = EXIT_FAILED;
        result = deliver(settings, script, size, &err);
    }
    plot_data_done(&data);
    free(script);
    return result == 0 ? EXIT_DONE : explain(result, code, err.text);
}

static int refuse_kind(const char *name)
{
    const char *names[MAX_KINDS], *nearest;
    const struct plot_ops *ops;
    size_t n = 0;
    for (; n < MAX_KINDS && (ops = plot_row(n)) != NULL; n++)
        names[n] = ops->name;
    nearest = options_nearest(name, names, n);
    if (nearest != NULL)
        return command_fail(EXIT_USAGE, "'%.60s' is no kind of picture; did you mean %s?", name, nearest);
    return command_fail(EXIT_USAGE, "'%.60s' is no kind of picture; fstune plot --help shows them", name);
}

static int print_help(const struct command *command)
{
    const struct plot_ops *ops;
    options_print_help(stdout, "plot KIND", command->description, OPTIONS_PLOT, command->example);
    puts("\nKinds of pictures:");
    for (size_t i = 0; (ops = plot_row(i)) != NULL; i++)
        printf("  %-12s %s\n", ops->name, ops->summary);
    return EXIT_DONE;
}

static int run(const struct command *command, int argc, char **argv)
{
    static struct settings settings;
    static char output[] = "--output";
    struct err err = {0};
    settings_init(&settings);
    settings.operands_allowed = 1;
    /* The one short option that everybody tries. */
    for (int i = 1; i < argc; i++)
        argv[i] = strcmp(argv[i], "-o") == 0 ? output : argv[i];
    int result = options_parse(&settings, OPTIONS_PLOT, argc, argv, 1, &err);
    if (result == 1)
        return print_help(command);
    if (result < 0)
        return command_fail(EXIT_USAGE, "%s", err.text);
    if (settings.n_operands == 0)
        return command_fail(EXIT_USAGE, "the kind of picture is missing; fstune plot --help shows them");
    const struct plot_ops *ops = plot_find(settings.operands[0]);
    return ops == NULL ? refuse_kind(settings.operands[0]) : plot(&settings, ops);
}

const struct command command_plot = {
    .name = "plot",
    .operands = "KIND",
    .options = OPTIONS_PLOT,
    .summary = "draw a picture of measured results: bars, lines, heat map, percentiles ...",
    .run = run,
    .description = "Draws what `recommend --json`, `measure --json`, a search's journal or a table in CSV "
                   "holds, and with the kind `history` what a history (--db) holds, through gnuplot.",
    .example = "fstune plot heatmap --from result.json --output heatmap.png",
};
