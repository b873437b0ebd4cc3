/* tuner/emit/analyse_folded: stacks of functions, a line each. */
#include "tuner/base/grow.h"
#include "tuner/emit/analyse.h"
#include "tuner/emit/analyse_symbol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES   65536U /* numbers of frames that a recording has */
#define MOST_DEPTH    64
#define FUNCTION_SIZE 128
#define LINE_SIZE     8192

/* A place that calls others. */
struct frame {
    uint64_t object, offset_bytes;
    uint32_t caller; /* 0: not known */
    bool is_known;
    char *function; /* NULL: not looked for yet */
};

struct line {
    char *text;
    uint64_t n;
};

struct folded {
    struct frame frames[MOST_FRAMES + 1];
    struct events *events;
    int64_t run_id;
    struct err err; /* why a name could not be read, the first time */
    struct line *lines;
    size_t n_lines, room;
};

static int take_frame(void *data, const struct events_row *row, struct err *err)
{
    struct folded *folded = data;
    (void)err;
    if (row->kind == EVENTS_FRAME && row->handle <= MOST_FRAMES)
        folded->frames[row->handle] = (struct frame){.object = row->object,
                                                     .offset_bytes = row->offset_bytes,
                                                     .caller = row->n <= MOST_FRAMES ? (uint32_t)row->n : 0,
                                                     .is_known = true};
    return 0;
}

/* The function, else the file. address: as the linker saw it, not the place in the file. */
static void find_function(struct folded *folded, uint64_t object, uint64_t at, bool is_address,
                          char function[FUNCTION_SIZE])
{
    char path[SETTINGS_TEXT_SIZE];
    struct err err = {0};
    if (events_name_of(folded->events, folded->run_id, object, path, sizeof path, &err) < 0 &&
        folded->err.code == 0)
        folded->err = err;
    const char *slash = strrchr(path, '/');
    if (path[0] == '\0')
        snprintf(path, sizeof path, "elsewhere");
    if (!(is_address ? analyse_symbol : analyse_symbol_at)(path, at, function, FUNCTION_SIZE))
        snprintf(function, FUNCTION_SIZE, path[0] == '[' ? "%s" : "[%s]", slash != NULL ? slash + 1 : path);
    /* These would begin another function, or another line. */
    for (char *c = function; *c != '\0'; c++) {
        if (*c == ';' || (unsigned char)*c < ' ')
            *c = '?';
    }
}

/* NULL: no memory. */
static const char *function_of(struct folded *folded, struct frame *frame)
{
    char function[FUNCTION_SIZE];
    /* The address behind a call may be the next function's. */
    if (frame->function == NULL) {
        find_function(folded, frame->object, frame->offset_bytes - 1, false, function);
        frame->function = strdup(function);
    }
    return frame->function;
}

static int add_line(struct folded *folded, const char *text, uint64_t n, struct err *err)
{
    struct line *line = grow_array(&folded->lines, folded->n_lines, &folded->room, sizeof *line);
    char *copy = line != NULL ? strdup(text) : NULL;
    if (copy == NULL)
        return err_set(err, -ENOMEM, "no memory");
    *line = (struct line){copy, n};
    folded->n_lines++;
    return 0;
}

static int take_samples(void *data, const struct events_row *row, struct err *err)
{
    struct folded *folded = data;
    struct frame *chain[MOST_DEPTH];
    char text[LINE_SIZE] = "", own[FUNCTION_SIZE];
    size_t depth = 0, at = 0;
    if (row->kind != EVENTS_CPU)
        return 0;
    uint32_t caller = row->handle;
    while (caller > 0 && caller <= MOST_FRAMES && folded->frames[caller].is_known && depth < MOST_DEPTH) {
        chain[depth++] = &folded->frames[caller];
        caller = folded->frames[caller].caller;
    }
    while (depth-- > 0 && at < sizeof text - FUNCTION_SIZE) {
        const char *function = function_of(folded, chain[depth]);
        if (function == NULL)
            return err_set(err, -ENOMEM, "no memory");
        at += (size_t)snprintf(text + at, sizeof text - at, "%s;", function);
    }
    find_function(folded, row->object, row->offset_bytes, false, own);
    snprintf(text + at, sizeof text - at, "%s", own);
    return add_line(folded, text, row->n, err);
}

static int take_memory(void *data, const struct events_row *row, struct err *err)
{
    struct folded *folded = data;
    char function[FUNCTION_SIZE];
    if (row->kind != EVENTS_MEMORY || (row->flags & EVENTS_AT_PEAK) == 0)
        return 0;
    find_function(folded, row->object, row->offset_bytes - 1, true, function);
    return add_line(folded, function, row->n_bytes, err);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Equal ones as one. */
static void print_lines(FILE *out, struct folded *folded)
{
    uint64_t n = 0;
    if (folded->n_lines > 0)
        qsort(folded->lines, folded->n_lines, sizeof *folded->lines, by_text);
    for (size_t i = 0; i < folded->n_lines; i++) {
        bool goes_on =
            i + 1 < folded->n_lines && strcmp(folded->lines[i].text, folded->lines[i + 1].text) == 0;
        n += folded->lines[i].n;
        if (!goes_on)
            fprintf(out, "%s %" PRIu64 "\n", folded->lines[i].text, n);
        n = goes_on ? n : 0;
    }
}

static void free_folded(struct folded *folded)
{
    for (size_t i = 0; i <= MOST_FRAMES; i++)
        free(folded->frames[i].function);
    for (size_t i = 0; i < folded->n_lines; i++)
        free(folded->lines[i].text);
    free(folded->lines);
    free(folded);
}

static int print(FILE *out, struct events *events, const struct events_run *run,
                 int (*take)(void *data, const struct events_row *row, struct err *err), const char *missing,
                 struct err *err)
{
    struct folded *folded = calloc(1, sizeof *folded);
    if (folded == NULL)
        return err_set(err, -ENOMEM, "no memory");
    folded->events = events;
    folded->run_id = run->id;
    int code = events_each(events, run->id, take_frame, folded, err);
    if (code == 0)
        code = events_each(events, run->id, take, folded, err);
    if (code == 0 && folded->err.code < 0)
        code = err_set(err, folded->err.code, "%s", folded->err.text);
    if (code == 0 && folded->n_lines == 0)
        code = err_set(err, -ENODATA, "%s", missing);
    if (code == 0)
        print_lines(out, folded);
    free_folded(folded);
    return code;
}

int analyse_print_folded(FILE *out, struct events *events, const struct events_run *run, struct err *err)
{
    return print(out, events, run, take_samples, "the recording has no samples of the processor", err);
}

int analyse_print_folded_memory(FILE *out, struct events *events, const struct events_run *run,
                                struct err *err)
{
    return print(out, events, run, take_memory,
                 "the recording has no memory: it was made without --memory, or killed too early", err);
}
