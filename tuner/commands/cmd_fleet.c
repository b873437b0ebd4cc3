/* fstune fleet: what the hosts of a fleet know together. */
#include "bench/base/err.h"
#include "tuner/base/json.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/histories/fleet_drift.h"
#include "tuner/histories/fleet_prior.h"
#include "tuner/histories/fleet_report.h"
#include "tuner/histories/fleet_rules.h"
#include "tuner/options/options.h"
#include "tuner/picture/page_fleet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "": all. */
static const char *pattern_of(const struct settings *settings)
{
    return settings->workload.pattern_given ? settings->workload.pattern.name : "";
}

static int rules(const struct settings *settings, const struct fleet_data *data, struct history *history,
                 struct err *err)
{
    (void)history;
    const struct fleet_rules_request request = {settings->search.tolerance_share, settings->json};
    return fleet_rules_print(stdout, data, &request, err);
}

static int drift(const struct settings *settings, const struct fleet_data *data, struct history *history,
                 struct err *err)
{
    (void)history;
    return fleet_drift_print(stdout, data, settings->json, err);
}

static int export_prior(const struct settings *settings, const struct fleet_data *data,
                        struct history *history, struct err *err)
{
    json_t *document = NULL;
    (void)history;
    if (!settings->workload.pattern_given)
        return err_set(err, -EINVAL, "export-prior: say of which workload, with --pattern");
    int result = fleet_prior_make(data, settings->workload.pattern.name, &document, err);
    return result < 0 ? result : json_print(stdout, document, err);
}

static int print_page(FILE *out, const void *what, struct err *err)
{
    return page_fleet_print(out, what, err);
}

static int report(const struct settings *settings, const struct fleet_data *data, struct history *history,
                  struct err *err)
{
    json_t *document = NULL;
    int result = fleet_report_make(data, history, pattern_of(settings), command_since_s(settings),
                                   settings->search.tolerance_share, &document, err);
    if (result == 0)
        result = publish_print(settings->report.html, print_page, document, err);
    json_decref(document);
    return result;
}

static const struct {
    const char *name;
    enum fleet_which which;
    int (*call)(const struct settings *settings, const struct fleet_data *data, struct history *history,
                struct err *err);
} verbs[] = {{"rules", FLEET_NEWEST, rules},
             {"drift", FLEET_ALL, drift},
             {"export-prior", FLEET_NEWEST, export_prior},
             {"report", FLEET_ALL, report}};
#define N_VERBS (sizeof verbs / sizeof verbs[0])

static int load_and_call(const struct settings *settings, size_t verb, struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    struct history history = {0};
    struct fleet_data data = {0};
    int result = command_history_path(settings, path, sizeof path, err);
    const struct history_place place = {.path = path};
    if (result == 0)
        result = history_open(&history, &place, err);
    if (result == 0)
        result = fleet_data_load(&data, &history, verbs[verb].which, pattern_of(settings),
                                 command_since_s(settings), err);
    if (result == 0)
        result = verbs[verb].call(settings, &data, &history, err);
    history_close(&history);
    fleet_data_done(&data);
    return result;
}

/* Refused before the history is read. */
static int check_page(const struct settings *settings, size_t verb, struct err *err)
{
    bool is_report = verbs[verb].call == report, has_page = settings->report.html[0] != '\0';
    if (is_report && !has_page)
        return err_set(err, -EINVAL, "--html is missing; write fstune fleet report --html FILE");
    if (!is_report && has_page)
        return err_set(err, -EINVAL, "--html: does nothing without report");
    return is_report ? publish_check(settings->report.html, err) : 0;
}

static int call_verb(const struct settings *settings, struct err *err)
{
    const char *names[N_VERBS];
    size_t verb = 0;
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "fleet: what? use rules, drift, export-prior or report");
    for (size_t i = 0; i < N_VERBS; i++)
        names[i] = verbs[i].name;
    while (verb < N_VERBS && strcmp(settings->operands[0], names[verb]) != 0)
        verb++;
    if (verb == N_VERBS)
        return options_refuse(settings->operands[0], "unknown", names, N_VERBS,
                              "use rules, drift, export-prior or report", err);
    int result = check_page(settings, verb, err);
    return result < 0 ? result : load_and_call(settings, verb, err);
}

const struct command command_fleet = {
    .name = "fleet",
    .operands = "rules|drift|export-prior|report",
    .options = OPTIONS_FLEET,
    .summary = "what many hosts know together: rules, drift, prior knowledge, a page",
    .usage = "rules|drift|export-prior|report",
    .n_operands = 1,
    .run = command_run,
    .act = call_verb,
    .description =
        "Reads a history of many hosts (a fleet's server, or a file that others were merged into). rules: "
        "which settings are within the tolerance of the best on how many hosts, with exceptions for kinds of "
        "hosts. drift: which changes under hosts (kernel, scheduler, mount options) made them slower or "
        "faster. export-prior: what is known of a workload, as a file for recommend --prior. report: all of "
        "it, the newest answers and the age of the last nights as one HTML page (--html).",
    .example = "fstune fleet rules --db postgresql://fleet.example.org/fleet",
};
