/* fstune report: a measured answer as a page to look at and to pass on. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/picture/page.h"
#include "tuner/picture/page_profile.h"
#include "tuner/store/journal.h"
#include "tuner/store/result_input.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* A page takes so many documents of a history; the command line takes fewer. */
#define MAX_DOCUMENTS 60

static const char *when(const json_t *document)
{
    const char *text = json_string_value(json_object_get(json_object_get(document, "system"), "measured_at"));
    return text != NULL ? text : "";
}

/* By time, ISO 8601 as text; those of one time stay in the order given. */
static void sort(const json_t **documents, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i; k > 0 && strcmp(when(documents[k - 1]), when(documents[k])) > 0; k--) {
            const json_t *later = documents[k - 1];
            documents[k - 1] = documents[k];
            documents[k] = later;
        }
    }
}

static int print_page(FILE *out, const void *what, struct err *err)
{
    return page_print(out, what, err);
}

static int print_profile(FILE *out, const void *what, struct err *err)
{
    return page_profile_print(out, what, err);
}

/* What was loaded is to be released, also after a failure. */
static int load_all(const struct settings *settings, json_t *documents[MAX_DOCUMENTS], size_t *ret_n,
                    struct err *err)
{
    int result = 0;
    size_t n = 0;
    if (result_input_is_kept(settings))
        return settings->n_operands > 0
                   ? err_set(err, -EINVAL, "files and --db name two answers; give one of them")
                   : result_input_load_row(settings, documents, MAX_DOCUMENTS, ret_n, err);
    if (settings->answers.n == 0 && settings->n_operands == 0)
        result = result_input_load("-", PAGE_TAKES, &documents[n++], err);
    for (size_t i = 0; i < settings->answers.n && result == 0; i++)
        result = result_input_load(settings->answers.path[i], PAGE_TAKES, &documents[n++], err);
    for (size_t i = 0; i < settings->n_operands && result == 0; i++)
        result = result_input_load(settings->operands[i], PAGE_TAKES, &documents[n++], err);
    *ret_n = n;
    return result;
}

/* One that is a profile; NULL. */
static const json_t *find_profile(const json_t **documents, size_t n)
{
    size_t i = 0;
    while (i < n && !page_profile_is(documents[i]))
        i++;
    return i < n ? documents[i] : NULL;
}

static int make_profile_page(const struct settings *settings, const json_t *profile, size_t n,
                             struct err *err)
{
    if (n > 1)
        return err_set(err, -EINVAL, "a profile has a page of its own; give it alone");
    if (settings->report.journal[0] != '\0')
        return err_set(err, -EINVAL, "--journal is of a search, and a profile has none; leave it out");
    const char *path = settings->answers.n > 0    ? settings->answers.path[0]
                       : settings->n_operands > 0 ? settings->operands[0]
                                                  : "-";
    int result = publish_print(settings->report.html, print_profile, profile, err);
    return result == -ENODATA
               ? fail_with(EXIT_NOTHING, "--from %.*s: %s", RESULT_INPUT_SHOWN_PATH, path, err->text)
               : result;
}

static int make_page(const struct settings *settings, const json_t **documents, size_t n, struct err *err)
{
    const json_t *profile = find_profile(documents, n);
    if (profile != NULL)
        return make_profile_page(settings, profile, n, err);
    struct journal journal = {.fd = -1};
    bool has_journal = settings->report.journal[0] != '\0';
    const struct page_request request = {.documents = documents,
                                         .n_documents = n,
                                         .settings = &settings->snippet,
                                         .journal = has_journal ? &journal : NULL};
    int result = has_journal ? journal_open(&journal, settings->report.journal, true, err) : 0;
    if (result == 0)
        result = publish_print(settings->report.html, print_page, &request, err);
    journal_done(&journal);
    return result;
}

static int report(const struct settings *settings, struct err *err)
{
    json_t *loaded[MAX_DOCUMENTS] = {NULL};
    const json_t *documents[MAX_DOCUMENTS];
    size_t n = 0;
    if (settings->report.html[0] == '\0')
        return err_set(err, -EINVAL, "--html is missing; write fstune report --html FILE");
    /* Refused before standard input is waited for. */
    int result = publish_check(settings->report.html, err);
    if (result == 0)
        result = load_all(settings, loaded, &n, err);
    if (result == 0) {
        memcpy(documents, loaded, sizeof loaded);
        sort(documents, n);
        result = make_page(settings, documents, n, err);
    }
    for (size_t i = 0; i < n; i++)
        json_decref(loaded[i]);
    return result;
}

const struct command command_report = {
    .name = "report",
    .summary = "write an answer or a profile as one HTML page",
    .usage = "--html FILE [RESULT.json...]",
    .n_operands = MAX_DOCUMENTS - SETTINGS_MAX_FILES,
    .run = command_run,
    .act = report,
    .options = OPTIONS_REPORT,
    .description =
        "Writes an answer of `fstune recommend --json` (or a measurement) as one HTML page with charts that "
        "needs no network. Further answers may stand behind the options: the newest is shown, and how they "
        "changed. --db shows a run of the history, and those like it before. Of the document of `fstune "
        "profile --output` it shows what the program does: the pattern, charts over time, sizes, caches and "
        "files, and what to do.",
    .example = "fstune recommend --pattern randwrite --json | fstune report --html answer.html",
};
