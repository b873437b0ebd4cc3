/* tuner/experiment/experiment_ask_write: answers as a configuration file. */
#include "bench/base/units.h"
#include "tuner/experiment/experiment_ask_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WINDOW 64 /* of --warmup-window */

static void put_quoted(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            fputc('\\', out);
        fputc(text[i], out);
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s = ", key);
    put_quoted(out, text, strlen(text));
    fputs(";\n", out);
}

/* The levels from `least` on. */
static void put_levels(FILE *out, const char *key, const uint64_t *levels, size_t n, bool is_size,
                       uint64_t least)
{
    const char *separator = "";
    char text[UNITS_TEXT_SIZE];
    fprintf(out, "%s = [", key);
    for (size_t i = 0; i < n; i++) {
        if (levels[i] < least)
            continue;
        if (is_size)
            fprintf(out, "%s\"%s\"", separator, units_format_size(levels[i], text));
        else
            fprintf(out, "%s%" PRIu64, separator, levels[i]);
        separator = ", ";
    }
    fputs("];", out);
}

/* pvec wants two buffers: depth 1 is a plain pread or pwrite. */
static void put_depths(FILE *out, const struct ask_answers *answers)
{
    static const uint64_t standard[] = {8};
    size_t n = answers->n_levels[ASK_QD] > 0 ? answers->n_levels[ASK_QD] : 1;
    const uint64_t *levels = answers->n_levels[ASK_QD] > 0 ? answers->levels[ASK_QD] : standard;
    bool one = false, more = false;
    for (size_t i = 0; i < n; i++) {
        one |= levels[i] == 1;
        more |= levels[i] > 1;
    }
    fputs("# The queue depth is the number of buffers of one call at one offset.\n", out);
    if (one && more) {
        fputs("tests = (\n  { queue_depth = 1; api = \"psync\"; },\n  { ", out);
        put_levels(out, "queue_depth", levels, n, false, 2);
        fputs(" api = \"pvec\"; }\n);\n", out);
        return;
    }
    put_levels(out, "queue_depth", levels, n, false, 0);
    fprintf(out, "\napi = \"%s\";\n", one ? "psync" : "pvec");
}

static void put_workload(FILE *out, const struct ask_answers *answers)
{
    static const char *const patterns[2][2] = {{"randwrite", "randread"}, {"write", "read"}};
    static const uint64_t standard_size[] = {65536}, standard_direct[] = {0};
    size_t n_sizes = answers->n_levels[ASK_RS], n_direct = answers->n_levels[ASK_DIO];
    put_text(out, "pattern", patterns[answers->is_sequential][answers->reads]);
    put_levels(out, "request_size", n_sizes > 0 ? answers->levels[ASK_RS] : standard_size,
               n_sizes > 0 ? n_sizes : 1, true, 0);
    fputc('\n', out);
    put_levels(out, "direct", n_direct > 0 ? answers->levels[ASK_DIO] : standard_direct,
               n_direct > 0 ? n_direct : 1, false, 0);
    fputc('\n', out);
    put_depths(out, answers);
    fputs("# The page cache stays as it is and nothing is flushed. What reaches the disk: cache = \"cold\", "
          "sync =\n"
          "# \"end\".\ncache = \"warm\";\n",
          out);
    if (!answers->reads)
        fputs("sync = \"none\";\n", out);
}

static void put_file(FILE *out, const struct ask_answers *answers)
{
    const char *slash = strrchr(answers->path, '/');
    if (!answers->is_own_file) {
        put_text(out, "existing", answers->path);
        if (!answers->reads)
            fputs("# The pattern writes into this file: overwrite = true; allows it.\n", out);
        return;
    }
    fputs("# A file without a name is measured there; one that exists is left as it is.\npath = ", out);
    if (slash == NULL)
        put_quoted(out, ".", 1);
    else
        put_quoted(out, answers->path, slash == answers->path ? 1 : (size_t)(slash - answers->path));
    fprintf(out, ";\nfile_size = \"%" PRIu64 "m\";\n", answers->file_size_mib);
    if (answers->prepare[0] != '\0')
        put_text(out, "prepare", answers->prepare);
}

static void put_runs(FILE *out, const struct ask_answers *answers)
{
    bool cut = answers->warmup_window > MAX_WINDOW;
    put_text(out, "warmup_coef", answers->warmup_coef);
    fprintf(out, "warmup_limit = \"%" PRIu64 "ms\";\n", answers->warmup_ms);
    if (cut)
        fprintf(out, "# Sample size %" PRIu64 " was asked for; %d is the most.\n", answers->warmup_window,
                MAX_WINDOW);
    fprintf(out, "warmup_window = %" PRIu64 ";\n", cut ? MAX_WINDOW : answers->warmup_window);
    fprintf(out, "duration = \"%" PRIu64 "ms\";\nbatch = %" PRIu64 ";\nreplays = %" PRIu64 ";\n",
            answers->duration_ms, answers->batch, answers->replays);
}

int experiment_ask_write(const struct ask_answers *answers, char **ret_text, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return err_set(err, -ENOMEM, "no memory for the configuration");
    put_workload(out, answers);
    put_runs(out, answers);
    put_file(out, answers);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        free(text);
        return err_set(err, -ENOMEM, "no memory for the configuration");
    }
    *ret_text = text;
    return 0;
}
