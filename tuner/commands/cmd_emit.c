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

/* Borrows from the document, which the caller releases, also after a failure. path NULL: from the history. */
static int read_answer(const struct settings *settings, const char *path, json_t **ret_document,
                       struct recommendation *recommendation, struct err *err)
{
    int result = path != NULL
                     ? result_input_load(path, "what `fstune recommend --json` printed", ret_document, err)
                     : result_input_load_kept(settings, ret_document, err);
    if (result == 0 && (result = recommendation_read(recommendation, *ret_document, err)) < 0)
        err_prefix(err, "%s%.*s", path != NULL ? "" : "--db ", RESULT_INPUT_SHOWN_PATH,
                   path != NULL ? path : settings->history.db);
    return result;
}

static int print_snippet(const struct settings *settings, const struct snippet_ops *ops, struct err *err)
{
    static struct recommendation answers[SETTINGS_MAX_FILES];
    json_t *documents[SETTINGS_MAX_FILES] = {NULL};
    size_t n = settings->answers.n > 0 ? settings->answers.n : 1;
    int result = 0;
    bool is_kept = result_input_is_kept(settings);
    for (size_t i = 0; i < n && result == 0; i++)
        result = read_answer(settings, is_kept ? NULL : settings->answers.path[i], &documents[i], &answers[i],
                             err);
    if (result == 0)
        result = report_snippet(stdout, ops, &settings->snippet, answers, n, err);
    for (size_t i = 0; i < n; i++)
        json_decref(documents[i]);
    return result;
}

static int emit(const struct settings *settings, struct err *err)
{
    struct settings chosen = *settings;
    if (settings->snippet.list) {
        report_snippet_list(stdout);
        return EXIT_DONE;
    }
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "the format is missing; fstune emit --list shows them");
    /* The setter of --emit knows the formats and the nearest name. */
    int result = options_set(&chosen, options_find("emit", OPTIONS_RECOMMEND), settings->operands[0], err);
    if (result == 0)
        result = print_snippet(&chosen, snippet_find(chosen.snippet.format), err);
    return result == -ENODATA ? fail_with(EXIT_NOTHING, "%s", err->text) : result;
}

const struct command command_emit = {
    .name = "emit",
    .summary = "print the lines for QEMU, libvirt, a database ... from a measured answer",
    .operands = "FORMAT",
    .usage = "FORMAT",
    .n_operands = 1,
    .run = command_run,
    .act = emit,
    .options = OPTIONS_EMIT,
    .description =
        "Prints an answer of `fstune recommend --json` as the lines to paste into what uses the storage.",
    .example = "fstune recommend --pattern randwrite --json | fstune emit qemu --image /var/lib/vms/disk.img",
};
