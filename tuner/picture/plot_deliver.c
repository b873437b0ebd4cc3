/* The way of a picture from a wish to a file or to the terminal. */
#include "tuner/picture/plot_deliver.h"

#include "tuner/base/child.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SHOWN_PATH 200

static const struct {
    const char *suffix;
    enum plot_terminal terminal;
} suffixes[] = {{".png", PLOT_PNG}, {".svg", PLOT_SVG}, {".pdf", PLOT_PDF}};
#define N_SUFFIXES (sizeof suffixes / sizeof suffixes[0])

static int terminal_of(const struct settings_plot *settings, const char *output,
                       enum plot_terminal *ret_terminal, struct err *err)
{
    size_t length = strlen(output);
    if (length == 0) {
        *ret_terminal = settings->terminal == 1 ? PLOT_SIXEL : PLOT_DUMB;
        return 0;
    }
    for (size_t i = 0; i < N_SUFFIXES; i++) {
        if (length > 4 && strcmp(output + length - 4, suffixes[i].suffix) == 0) {
            *ret_terminal = suffixes[i].terminal;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "%.*s: the name must end in .png, .svg or .pdf", SHOWN_PATH, output);
}

static void set_size(const struct settings_plot *settings, struct plot_request *request)
{
    struct winsize window = {0};
    request->width = 900;
    request->height = 560;
    if (request->terminal == PLOT_DUMB) {
        bool known =
            ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 20 && window.ws_row >= 12;
        request->width = known ? window.ws_col - 1U : 79;
        request->height = known ? window.ws_row - 2U : 30;
    }
    if (settings->size[0] > 0) {
        request->width = settings->size[0];
        request->height = settings->size[1];
    }
}

int plot_deliver_request(const struct settings_plot *settings, const char *output,
                         struct plot_request *ret_request, struct err *err)
{
    const char *no_color = getenv("NO_COLOR");
    *ret_request = (struct plot_request){
        .colours = isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0'),
        .title = settings->title,
        .x = settings->x,
        .y = settings->y,
        .where = settings->where,
    };
    int result = terminal_of(settings, output, &ret_request->terminal, err);
    set_size(settings, ret_request);
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

/* The first line of what gnuplot complained about, without the arrow that points into the script. */
static int refuse_gnuplot_words(const char *words, struct err *err)
{
    const char *line = words;
    while (*line != '\0' &&
           (strspn(line, " \t^") == strcspn(line, "\n") || strncmp(line, "gnuplot>", 8) == 0)) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return err_set(err, -EIO, "gnuplot could not draw the picture: %.*s", (int)strcspn(line, "\n"), line);
}

int plot_gnuplot_run(const char *script, char **ret_picture, size_t *ret_size, struct err *err)
{
    /* No start-up file of the user's: the same data give the same picture. */
    static const char *const arguments[] = {"gnuplot", "-d", "-", NULL};
    const struct child child = {.arguments = arguments, .input = script, .interrupted = &interrupt_signal};
    struct child_result result = {0};
    int code = child_run(&child, &result, NULL);
    if (code == -ENOENT)
        return err_set(
            err, code,
            "gnuplot is not installed; install it (Debian's package: gnuplot-nox), or print the script "
            "with --script");
    if (code == -EINTR)
        return err_set(err, code, "interrupted; no picture was written");
    if (code < 0)
        return err_sys(err, code, "gnuplot could not be run");
    if (result.code != 0) {
        code = refuse_gnuplot_words(result.errors, err);
    } else if (result.output_size == 0 || result.output_size == CHILD_OUTPUT_MAX_BYTES) {
        code =
            err_set(err, -EIO, "gnuplot drew nothing; it may lack this kind of output (install gnuplot-nox)");
    } else {
        *ret_picture = result.output;
        *ret_size = result.output_size;
        result.output = NULL;
    }
    child_free(&result);
    return code;
}

int plot_deliver(const struct plot_request *request, const char *output, const char *script, struct err *err)
{
    char *picture = NULL;
    size_t picture_size = 0;
    int result = plot_gnuplot_run(script, &picture, &picture_size, err);
    if (result == 0 && output[0] != '\0')
        result = publish_file(output, picture, picture_size, err);
    else if (result == 0 && request->terminal == PLOT_DUMB)
        print_letters(picture, picture_size);
    else if (result == 0)
        fwrite(picture, 1, picture_size, stdout);
    free(picture);
    return result;
}

int plot_deliver_drawn(const struct settings_plot *settings, const char *output,
                       int (*draw)(FILE *script, const struct plot_request *request, const void *context,
                                   struct err *err),
                       const void *context, struct err *err)
{
    struct plot_request request;
    char *text = NULL;
    size_t size = 0;
    int result = plot_deliver_request(settings, output, &request, err);
    FILE *script = result == 0 ? open_memstream(&text, &size) : NULL;
    if (result == 0 && script == NULL)
        return err_set(err, -ENOMEM, "no memory for the picture");
    if (result == 0)
        result = draw(script, &request, context, err);
    if (script != NULL && fclose(script) != 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory for the picture");
    if (result == 0)
        result = plot_deliver(&request, output, text, err);
    free(text);
    return result;
}
