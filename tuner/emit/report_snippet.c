/* tuner/emit/report_snippet: printing snippets and their table. */
#include "tuner/emit/report_snippet.h"

#include "tuner/base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct snippet_request report_snippet_request(const struct settings_snippet *settings,
                                              const struct recommendation *answers, size_t n)
{
    struct snippet_request request = {
        .recommendation = answers,
        .image = settings->image,
        .image_format = (enum snippet_image)settings->image_format,
        .bus = (enum snippet_bus)settings->bus,
        .directsync = settings->directsync,
        .self_tuning = settings->self_tuning,
        .version = {settings->target_version[0], settings->target_version[1]},
    };
    while (request.n_more + 1 < n && request.n_more < SNIPPET_MAX_MORE) {
        request.more[request.n_more] = &answers[request.n_more + 1];
        request.n_more++;
    }
    return request;
}

int report_snippet(FILE *out, const struct snippet_ops *ops, const struct settings_snippet *settings,
                   const struct recommendation *answers, size_t n, struct err *err)
{
    const struct snippet_request request = report_snippet_request(settings, answers, n);
    char *text = NULL, *remarks = NULL;
    int result = snippet_make(ops, &request, &text, &remarks, err);
    if (result < 0)
        return err_prefix(err, "%s", ops->name);
    if (fputs(text, out) == EOF || fflush(out) != 0)
        result = err_sys(err, errno != 0 ? -errno : -EIO, "cannot write the snippet to standard output");
    else
        fputs(remarks, stderr);
    free(text);
    free(remarks);
    return result;
}

static json_t *json_lines(const char *text)
{
    json_t *list = json_array();
    while (*text != '\0' && list != NULL) {
        size_t length = strcspn(text, "\n");
        char *line = strndup(text, length);
        json_array_append_new(list, line != NULL ? json_text(line) : NULL);
        free(line);
        text += length + (text[length] == '\n');
    }
    return list;
}

json_t *report_snippet_json(const struct settings_snippet *settings, const json_t *answer)
{
    const struct snippet_ops *ops = snippet_find(settings->format);
    struct recommendation recommendation;
    struct err err = {0};
    char *text = NULL, *remarks = NULL;
    if (ops == NULL || recommendation_read(&recommendation, answer, &err) < 0)
        return json_null();
    const struct snippet_request request = report_snippet_request(settings, &recommendation, 1);
    if (snippet_make(ops, &request, &text, &remarks, &err) < 0)
        return json_pack("{s:s, s:n, s:o}", "format", ops->name, "text", "why", json_text(err.text));
    json_t *object = json_pack("{s:s, s:o, s:o}", "format", ops->name, "text", json_text(text), "remarks",
                               json_lines(remarks));
    free(text);
    free(remarks);
    return object;
}

void report_snippet_list(FILE *out)
{
    static const char *const columns[] = {"request", "depth", "direct", "api", "threads", "sync"};
    static const int widths[] = {8, 7, 7, 7, 8, 7};
    const struct snippet_ops *ops;
    fprintf(out, "%-16s ", "format");
    for (size_t column = 0; column < SNIPPET_SAYS_N; column++)
        fprintf(out, "%-*s ", widths[column], columns[column]);
    fputs("what it is\n", out);
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        fprintf(out, "%-16s ", ops->name);
        for (size_t column = 0; column < SNIPPET_SAYS_N; column++)
            fprintf(out, "%-*s ", widths[column],
                    ops->says[column] == 'y'   ? "yes"
                    : ops->says[column] == 'p' ? "partly"
                                               : "-");
        fprintf(out, "%s\n", ops->title);
    }
    fputs("\nyes: the very value; partly: an upper bound or a coarser form, said in the snippet; -: said in "
          "the snippet where to set it instead.\n",
          out);
}
