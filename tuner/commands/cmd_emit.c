/* fstune emit: the lines for a virtual machine or a database, from an answer that was measured before. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/commands/command.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/store/result_input.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Borrows from the document, which the caller releases, also after a failure. */
static int read_answer(const char *path, json_t **ret_document, struct recommendation *recommendation,
                       struct err *err)
{
    int result = result_input_load(path, ret_document, err);
    if (result == 0 && (result = recommendation_read(recommendation, *ret_document, err)) < 0)
        err_prefix(err, "%.*s", RESULT_INPUT_SHOWN_PATH, path);
    return result;
}

static int read_kept_answer(const struct settings *settings, json_t **ret_document,
                            struct recommendation *recommendation, struct err *err)
{
    int result = result_input_load_kept(settings, ret_document, err);
    if (result == 0 && (result = recommendation_read(recommendation, *ret_document, err)) < 0)
        err_prefix(err, "--db %.*s", RESULT_INPUT_SHOWN_PATH, settings->history.db);
    return result;
}

static int emit(const struct settings *settings, const struct snippet_ops *ops, struct err *err)
{
    static struct recommendation answers[SETTINGS_MAX_FILES];
    json_t *documents[SETTINGS_MAX_FILES] = {NULL};
    size_t n = settings->answers.n > 0 ? settings->answers.n : 1;
    int result = 0;
    bool is_kept = result_input_is_kept(settings);
    if (is_kept)
        result = read_kept_answer(settings, &documents[0], &answers[0], err);
    for (size_t i = 0; i < n && result == 0 && !is_kept; i++)
        result = read_answer(settings->answers.path[i], &documents[i], &answers[i], err);
    if (result == 0)
        result = report_snippet(stdout, ops, settings, answers, n, err);
    for (size_t i = 0; i < n; i++)
        json_decref(documents[i]);
    return result;
}

static int run(const struct command *command, int argc, char **argv)
{
    static struct settings settings;
    struct err err = {0};
    settings_init(&settings);
    settings.operands_allowed = 1;
    int result = options_parse(&settings, OPTIONS_EMIT, argc, argv, 1, &err);
    if (result == 1) {
        options_print_help(stdout, "emit FORMAT", command->description, OPTIONS_EMIT, command->example);
        return EXIT_DONE;
    }
    if (result < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    if (settings.snippet.list) {
        report_snippet_list(stdout);
        return EXIT_DONE;
    }
    if (settings.n_operands == 0)
        return fail_with(EXIT_USAGE, "the format is missing; fstune emit --list shows them");
    /* The setter of --emit knows the formats and the nearest name. */
    result = options_set(&settings, options_find("emit", OPTIONS_RECOMMEND), settings.operands[0], &err);
    if (result == 0)
        result = emit(&settings, snippet_find(settings.snippet.format), &err);
    if (result == -ENODATA)
        return fail_with(EXIT_NOTHING, "%s", err.text);
    return result < 0 ? fail_refused(result, err.text) : EXIT_DONE;
}

const struct command command_emit = {
    .name = "emit",
    .summary = "print the lines for QEMU, libvirt, a database ... from a measured answer",
    .operands = "FORMAT",
    .run = run,
    .options = OPTIONS_EMIT,
    .description =
        "Prints an answer of `fstune recommend --json` as the lines to paste into what uses the storage.",
    .example = "fstune recommend --pattern randwrite --json | fstune emit qemu --image /var/lib/vms/disk.img",
};
