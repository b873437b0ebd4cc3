/* fstune fleet: what the hosts of a fleet know together. */
#include "bench/base/err.h"
#include "tuner/base/json.h"
#include "tuner/commands/command.h"
#include "tuner/histories/fleet_drift.h"
#include "tuner/histories/fleet_prior.h"
#include "tuner/histories/fleet_rules.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int rules(const struct settings *settings, const struct fleet_data *data, struct err *err)
{
    const struct fleet_rules_request request = {settings->search.tolerance_share, settings->json};
    return fleet_rules_print(stdout, data, &request, err);
}

static int drift(const struct settings *settings, const struct fleet_data *data, struct err *err)
{
    return fleet_drift_print(stdout, data, settings->json, err);
}

static int export_prior(const struct settings *settings, const struct fleet_data *data, struct err *err)
{
    json_t *document = NULL;
    if (!settings->workload.pattern_given)
        return err_set(err, -EINVAL, "export-prior: say of which workload, with --pattern");
    int result = fleet_prior_make(data, settings->workload.pattern.name, &document, err);
    return result < 0 ? result : json_print(stdout, document, err);
}

static const struct {
    const char *name;
    int (*call)(const struct settings *settings, const struct fleet_data *data, struct err *err);
} verbs[] = {{"rules", rules}, {"drift", drift}, {"export-prior", export_prior}};
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
        result = fleet_data_load(&data, &history,
                                 settings->workload.pattern_given ? settings->workload.pattern.name : "",
                                 command_since_s(settings), err);
    history_close(&history);
    if (result == 0)
        result = verbs[verb].call(settings, &data, err);
    fleet_data_done(&data);
    return result;
}

static int call_verb(const struct settings *settings, struct err *err)
{
    const char *names[N_VERBS];
    size_t verb = 0;
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "fleet: what? use rules, drift or export-prior");
    for (size_t i = 0; i < N_VERBS; i++)
        names[i] = verbs[i].name;
    while (verb < N_VERBS && strcmp(settings->operands[0], names[verb]) != 0)
        verb++;
    if (verb == N_VERBS)
        return options_refuse(settings->operands[0], "unknown", names, N_VERBS,
                              "use rules, drift or export-prior", err);
    return load_and_call(settings, verb, err);
}

const struct command command_fleet = {
    .name = "fleet",
    .operands = "rules|drift|export-prior",
    .options = OPTIONS_FLEET,
    .summary = "what many hosts know together: rules, drift, prior knowledge",
    .usage = "rules|drift|export-prior",
    .n_operands = 1,
    .run = command_run,
    .act = call_verb,
    .description = "Reads a history of many hosts (a fleet's server, or a file that others were merged "
                   "into). rules: which settings "
                   "are within the tolerance of the best on how many hosts, with exceptions for kinds of "
                   "hosts. drift: which "
                   "changes under hosts (kernel, scheduler, mount options) made them slower or faster. "
                   "export-prior: what is known "
                   "of a workload, as a file for recommend --prior.",
    .example = "fstune fleet rules --db postgresql://fleet.example.org/fleet",
};
