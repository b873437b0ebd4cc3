/* tuner/emit/snippet_template: see the header. */
#include "tuner/emit/snippet_template.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define HOLE_SIZE 1024
#define MAX_DEPTH 8 /* of templates in templates */

static const struct {
    const char *name, *text;
} shared[] = {
    {"guest", snippet_text_guest},
    {"machine", snippet_text_machine},
    {"plan", snippet_text_plan},
    {"qemu-nbd", snippet_text_qemu_nbd},
    {"qemu-notes", snippet_text_qemu_notes},
    {"qemu-devices", snippet_text_qemu_devices},
};

/* A mistake in a template is a mistake of ours: tests run every line of it. */
static void note_wrong(struct snippet_template *run, const char *what)
{
    if (run->wrong == NULL)
        run->wrong = what;
}

static void set_value(struct snippet_template *run, const char *name, const char *text)
{
    /* Paths may hold any byte. */
    if (json_object_set_new(run->values, name, json_stringn_nocheck(text, strlen(text))) < 0)
        note_wrong(run, "memory");
}

void snippet_value(struct snippet_template *run, const char *name, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        note_wrong(run, "memory");
        return;
    }
    set_value(run, name, text);
    free(text);
}

static const char *value_of_template_name(struct snippet_template *run, const char *name)
{
    const char *value = json_string_value(json_object_get(run->values, name));
    if (value == NULL)
        note_wrong(run, "a value that has no such name");
    return value != NULL ? value : "";
}

static bool is_in_list(const char *value, const char *list, bool as_prefix)
{
    for (;; list++) {
        size_t length = strcspn(list, ",");
        if (strncmp(value, list, length) == 0 && (as_prefix || value[length] == '\0'))
            return true;
        list += length;
        if (*list == '\0')
            return false;
    }
}

static bool condition_holds(struct snippet_template *run, char *condition)
{
    bool negated = *condition == '!';
    char *name = condition + negated, *operator= name + strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    const char *operand = *operator== '\0' ? operator: operator+ 1;
    char kind = *operator;
    *operator= '\0';
    const char *value = value_of_template_name(run, name);
    switch (kind) {
    case '\0':
        return negated != (*value != '\0' && strcmp(value, "0") != 0);
    case '=':
        return negated != is_in_list(value, operand, false);
    case '^':
        return negated != is_in_list(value, operand, true);
    case '~':
        return negated != (strpbrk(value, operand) != NULL);
    case '<':
        return negated != (snippet_values_number(value) < snippet_values_number(operand));
    case '>':
        return negated != (snippet_values_number(value) > snippet_values_number(operand));
    default:
        note_wrong(run, "an operator that does not exist");
        return false;
    }
}

static bool all_hold(struct snippet_template *run, const char *text, size_t length)
{
    char conditions[HOLE_SIZE], *rest = NULL;
    bool hold = true;
    snprintf(conditions, sizeof conditions, "%.*s", (int)length, text);
    for (char *one = strtok_r(conditions, " ", &rest); one != NULL; one = strtok_r(NULL, " ", &rest))
        hold = condition_holds(run, one) && hold;
    return hold;
}

static void fill_hole(struct snippet_template *run, FILE *out, const char *text, size_t length)
{
    char hole[HOLE_SIZE];
    snprintf(hole, sizeof hole, "%.*s", (int)length, text);
    char *yes = strchr(hole, '?'), *filter = strchr(hole, ':');
    if (yes != NULL) {
        bool hold = all_hold(run, hole, (size_t)(yes - hole));
        char *no = yes + 1 + strcspn(yes + 1, "|");
        if (hold)
            fprintf(out, "%.*s", (int)(no - yes - 1), yes + 1);
        else
            fputs(*no == '|' ? no + 1 : "", out);
        return;
    }
    if (filter != NULL)
        *filter++ = '\0';
    const char *value = value_of_template_name(run, hole);
    if (filter == NULL)
        fputs(value, out);
    else if (!snippet_values_filter(out, value, filter))
        note_wrong(run, "a filter that does not exist");
}

/* The caller frees it; NULL where memory ran out, which is noted. */
static char *filled(struct snippet_template *run, const char *text, size_t length)
{
    char *result = NULL;
    size_t size = 0;
    const char *end = text + length;
    FILE *out = open_memstream(&result, &size);
    while (out != NULL && text < end) {
        const char *hole = memmem(text, (size_t)(end - text), "${", 2);
        const char *close = hole == NULL ? NULL : memchr(hole, '}', (size_t)(end - hole));
        if (close == NULL)
            hole = close = end;
        fwrite(text, 1, (size_t)(hole - text), out);
        if (hole < end)
            fill_hole(run, out, hole + 2, (size_t)(close - hole) - 2);
        text = close < end ? close + 1 : end;
    }
    if (out == NULL || fclose(out) != 0) {
        free(result);
        result = NULL;
        note_wrong(run, "memory");
    }
    return result;
}

static int write_line(struct snippet_template *run, const char *line, size_t length)
{
    /* "# ", "> " and "! " stand before the text. */
    size_t mark = length >= 2 && strchr("#>!", *line) != NULL ? 2 : 0;
    char *text = filled(run, line + mark, length - mark);
    int result = 0;
    if (text == NULL)
        return -ENOMEM;
    if (*line == '#')
        snippet_comment(run->writer, "%s", text);
    else if (*line == '>')
        snippet_command(run->writer, text);
    else if (*line == '!')
        result = err_set(run->err, -EINVAL, "%s", text);
    else
        fprintf(run->writer->out, "%s\n", text);
    free(text);
    return result;
}

static int name_value(struct snippet_template *run, const char *line, size_t length)
{
    char name[64];
    const char *blank = memchr(line, ' ', length);
    size_t n = blank == NULL ? length : (size_t)(blank - line);
    snprintf(name, sizeof name, "%.*s", (int)n, line);
    char *text = filled(run, line + n + (blank != NULL), length - n - (blank != NULL));
    if (text == NULL)
        return -ENOMEM;
    set_value(run, name, text);
    free(text);
    return 0;
}

static int repeat_line(struct snippet_template *run, const char *line, size_t length)
{
    char name[64];
    size_t n = strcspn(line, " ");
    int result = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, line);
    unsigned long times = strtoul(value_of_template_name(run, name), NULL, 10);
    for (unsigned long i = 0; i < times && result == 0; i++) {
        snippet_value(run, "i", "%lu", i);
        snippet_value(run, "next", "%lu", i + 1);
        result = write_line(run, line + n + 1, length - n - 1);
    }
    return result;
}

/* Sets *ret_text to a template that is to be read first, or leaves it. */
static int call_name(struct snippet_template *run, const char *line, size_t length, const char **ret_text)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    if (strncmp(name, "path", 4) == 0)
        return snippet_check_path(snippet_image_path(run->request), name + (name[4] == ' ' ? 5 : 4),
                                  run->err);
    if (strcmp(name, "header") == 0)
        snippet_header(run->writer, run->request);
    else if (strcmp(name, "own") == 0)
        return run->ops->own(run);
    else {
        size_t i = 0;
        while (i < sizeof shared / sizeof shared[0] && strcmp(name, shared[i].name) != 0)
            i++;
        if (i == sizeof shared / sizeof shared[0])
            note_wrong(run, "a template that does not exist");
        else
            *ret_text = shared[i].text;
    }
    return 0;
}

static int take_line(struct snippet_template *run, const char *line, size_t length, const char **ret_text)
{
    if (length > 0 && *line == '?') {
        const char *colon = memmem(line, length, ": ", 2);
        if (colon == NULL || !all_hold(run, line + 1, (size_t)(colon - line) - 1))
            return 0;
        length -= (size_t)(colon - line) + 2;
        line = colon + 2;
    }
    if (length >= 2 && memcmp(line, "//", 2) == 0)
        return 0;
    switch (length > 0 ? *line : '\0') {
    case '=':
        return name_value(run, line + 1, length - 1);
    case '@':
        return call_name(run, line + 1, length - 1, ret_text);
    case '*':
        return repeat_line(run, line + 1, length - 1);
    default:
        return write_line(run, line, length);
    }
}

static int run_text(struct snippet_template *run)
{
    const char *at[MAX_DEPTH] = {run->ops->text};
    size_t depth = 1;
    int result = 0;
    while (depth > 0 && result == 0) {
        const char *line = at[depth - 1], *called = NULL;
        size_t length = strcspn(line, "\n");
        if (*line == '\0') {
            depth--;
            continue;
        }
        at[depth - 1] = line + length + (line[length] == '\n');
        result = take_line(run, line, length, &called);
        if (called != NULL && depth < MAX_DEPTH)
            at[depth++] = called;
        else if (called != NULL)
            note_wrong(run, "too many templates in templates");
    }
    return result;
}

int snippet_template_run(const struct snippet_ops *ops, struct snippet_writer *writer,
                         const struct snippet_request *request, struct err *err)
{
    struct snippet_template run = {
        .writer = writer, .request = request, .ops = ops, .values = json_object(), .err = err};
    snippet_values_set(&run);
    int result = run_text(&run);
    json_decref(run.values);
    if (result == 0 && run.wrong != NULL && strcmp(run.wrong, "memory") != 0)
        return err_set(err, -EINVAL, "the template is damaged: it holds %s; please report this", run.wrong);
    if (result == -ENOMEM || (result == 0 && run.wrong != NULL))
        return err_set(err, -ENOMEM, "no memory for the snippet");
    return result;
}
