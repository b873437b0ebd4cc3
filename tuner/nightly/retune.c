/* tuner/nightly/retune: one target after the other; what goes wrong with one is no reason to leave the others
 * out. */
#include "tuner/nightly/retune.h"

#include "bench/base/clock.h"
#include "bench/host/device_lock.h"
#include "bench/host/hostinfo.h"
#include "tuner/base/fail.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/nightly/retune_steps.h"
#include "tuner/session/json_row.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

/* The newest nights of all targets that tell how nights scatter. */
#define SCATTER_RUNS 120
/* Lock of the snippet, and commands, at the most. */
#define N_HOOK_TIMES 10

static const char device_in_use[] =
    "another fstune is measuring the device, or one that stalled still holds it";

/* What the callback of a night works on. */
struct memory {
    const struct retune_world *world;
    const struct retune_target *target;
    int64_t run_id;     /* 0: not begun */
    int64_t settled_id; /* see struct retune_outcome */
};

int retune_worse(int a, int b)
{
    static const int order[] = {EXIT_FAILED, EXIT_BEHIND, EXIT_NOTHING, EXIT_INCONCLUSIVE};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (a == order[i] || b == order[i])
            return order[i];
    }
    return EXIT_DONE;
}

bool retune_is_interrupted(const struct retune_world *world)
{
    return world->interrupted != NULL && atomic_load(world->interrupted) > 0;
}

void retune_expect(const struct retune_world *world, uint64_t ns, bool hooks)
{
    if (world->patience == NULL)
        return;
    atomic_store(&world->patience->end_ns, clock_now_ns(&clock_monotonic) + ns + world->slack_ns);
    atomic_store(&world->patience->hooks, hooks);
}

void retune_fail(const struct retune_world *world, struct retune_outcome *outcome, const char *text)
{
    snprintf(outcome->text, sizeof outcome->text, "%s", text);
    if (!retune_is_interrupted(world)) {
        outcome->failed = true;
        outcome->exit_code = EXIT_FAILED;
    }
}

static bool is_ready(const struct retune_world *world, struct retune_outcome *outcome, bool after_own_work)
{
    const struct retune_target *target = outcome->target;
    struct host_load_facts facts;
    char why[RETUNE_READY_WHY_SIZE];
    if (world->force || target->settings.file.simulate[0] != '\0')
        return true;
    int directory_fd = open(settings_place(&target->settings), O_PATH | O_CLOEXEC);
    if (directory_fd < 0)
        return true; /* the night says what is wrong with it */
    world->look(&facts, directory_fd, after_own_work, world->interrupted);
    bool ready = retune_ready(&facts, &target->limits, why);
    int lock_fd = -1;
    bool is_locked = ready && !target->settings.file.no_lock &&
                     device_lock_take(directory_fd, &lock_fd, NULL) == -EWOULDBLOCK;
    if (lock_fd >= 0)
        close(lock_fd);
    close(directory_fd);
    if (!ready || is_locked)
        snprintf(outcome->text, sizeof outcome->text, "%s", ready ? device_in_use : why);
    return ready && !is_locked;
}

/* Nights that had a judgement. */
static const struct history_filter counted = {.command = "retune",
                                              .statuses = 1U << HISTORY_DONE | 1U << HISTORY_INCONCLUSIVE,
                                              .with_recommendation = true};

static int list_documents(struct history *history, const struct history_filter *filter,
                          json_t **ret_documents, struct err *err)
{
    struct history_info *runs = NULL;
    size_t n = 0;
    int result = history_list_runs(history, filter, &runs, &n, err);
    json_t *documents = result == 0 ? json_array() : NULL;
    /* The history lists the newest first; the documents begin with the oldest. */
    for (size_t i = n; i-- > 0 && result == 0;) {
        json_t *document = NULL;
        result = history_document(history, runs[i].id, &document, err);
        if (result == 0)
            json_array_append_new(documents, document);
        else if (result == -ENODATA)
            result = 0;
    }
    free(runs);
    if (result == 0 && documents == NULL)
        result = err_set(err, -ENOMEM, "no memory for earlier nights");
    if (result == 0)
        *ret_documents = documents;
    else
        json_decref(documents);
    return result;
}

static int begin_run(struct memory *memory, const struct session *session, const char *identity,
                     struct err *err)
{
    json_t *system = json_system(session);
    const struct history_header header = {.command = "retune",
                                          .target = memory->target->name,
                                          .pattern = memory->target->settings.workload.pattern.name,
                                          .hostname = hostinfo_text(&session->host, "hostname"),
                                          .identity = identity,
                                          .system = system,
                                          .seed = session->seed};
    int result = history_begin_run(memory->world->history, &header, &memory->run_id, err);
    json_decref(system);
    return result;
}

/* Other machines' nights may be in a merged history: only those of this one count. */
static int recall(void *context, struct session *session, json_t **ret_documents, struct err *err)
{
    struct memory *memory = context;
    char fingerprint[HISTORY_FINGERPRINT_SIZE];
    json_t *documents = NULL;
    const char *host = hostinfo_text(&session->host, "hostname");
    char *identity = history_identity(session);
    if (identity == NULL)
        return err_set(err, -ENOMEM, "no memory");
    history_fingerprint(identity, fingerprint);
    struct history_filter filter = counted;
    filter.target = memory->target->name;
    filter.fingerprint = fingerprint;
    filter.pattern = memory->target->settings.workload.pattern.name;
    filter.host = host[0] != '\0' ? host : NULL;
    filter.limit = NIGHT_MAX_PAST;
    int result = list_documents(memory->world->history, &filter, &documents, err);
    if (result == 0)
        result = begin_run(memory, session, identity, err);
    retune_record_blame(memory->world, result, err);
    if (result == 0 && save_attach(session, memory->world->history, memory->run_id) < 0)
        result = err_set(err, -ENOMEM, "no memory");
    free(identity);
    if (result == 0)
        *ret_documents = documents;
    else
        json_decref(documents);
    return result;
}

static bool are_alike(const struct history_info *a, const struct history_info *b)
{
    return strcmp(a->target, b->target) == 0 && strcmp(a->pattern, b->pattern) == 0 &&
           strcmp(a->fingerprint, b->fingerprint) == 0;
}

/* Of the nights like runs[i], where it is the newest of them; the newest come first there. */
static int learn_of_target(struct history *history, const struct history_info *runs, size_t n, size_t i,
                           struct history_filter filter, struct nights_scatter *scatter, struct err *err)
{
    struct retune_state memory = {0};
    json_t *documents = NULL;
    filter.limit = 0;
    for (size_t k = 0; k < n; k++) {
        if (k < i && are_alike(&runs[k], &runs[i]))
            return 0;
        filter.limit += are_alike(&runs[k], &runs[i]);
    }
    filter.target = runs[i].target;
    filter.pattern = runs[i].pattern;
    filter.fingerprint = runs[i].fingerprint;
    int result = list_documents(history, &filter, &documents, err);
    if (result == 0 && retune_state_read(&memory, documents) < 0)
        result = err_set(err, -ENOMEM, "no memory for nights of other targets");
    if (result == 0)
        retune_state_learn(&memory, NULL, NULL, 0, scatter);
    retune_state_done(&memory);
    json_decref(documents);
    return result;
}

/* What the nights of all targets of this machine but that one say about how nights differ. */
static int learn_scatter(const struct retune_world *world, const char *but_target,
                         struct nights_scatter *ret_scatter, struct err *err)
{
    struct history_filter filter = counted;
    struct history_info *runs = NULL;
    size_t n = 0;
    filter.host = world->host[0] != '\0' ? world->host : NULL;
    filter.limit = SCATTER_RUNS;
    int result = history_list_runs(world->history, &filter, &runs, &n, err);
    *ret_scatter = (struct nights_scatter){0};
    for (size_t i = 0; i < n && result == 0; i++) {
        if (strcmp(runs[i].target, but_target) != 0)
            result = learn_of_target(world->history, runs, n, i, filter, ret_scatter, err);
    }
    nights_temper(ret_scatter, RETUNE_SCATTER_MOST);
    free(runs);
    return result;
}

static int make_request(struct memory *memory, const struct settings *settings,
                        struct retune_request *request, struct err *err)
{
    const struct retune_target *target = memory->target;
    retune_request_init(request, settings);
    int result = retune_in_force(memory->world, target, request, &memory->settled_id, err);
    if (result < 0)
        return result;
    request->first_budget_ns = target->first_budget_ns;
    request->night_budget_ns = settings->limits.budget_ns;
    request->alarm_share = target->alarm_share;
    request->nights_needed = target->nights;
    request->recall = recall;
    request->context = memory;
    result = learn_scatter(memory->world, target->name, &request->scatter, err);
    return retune_record_blame(memory->world, result, err);
}

static int code_of(const struct retune_result *night)
{
    if (night->behind != 0)
        return EXIT_BEHIND;
    if (night->verdict == NIGHT_NOTHING)
        return night->interrupted ? EXIT_DONE : EXIT_NOTHING;
    return night->verdict == NIGHT_FIRST && !night->conclusive ? EXIT_INCONCLUSIVE : EXIT_DONE;
}

static enum history_status status_of(const struct retune_result *night, int code)
{
    if (night->interrupted)
        return HISTORY_INTERRUPTED;
    return code == EXIT_NOTHING        ? HISTORY_NOTHING
           : code == EXIT_INCONCLUSIVE ? HISTORY_INCONCLUSIVE
                                       : HISTORY_DONE;
}

static int measure_target(const struct retune_world *world, struct retune_outcome *outcome,
                          struct settings *settings, struct err *err)
{
    struct memory memory = {.world = world, .target = outcome->target};
    struct retune_request request;
    int result = make_request(&memory, settings, &request, err);
    outcome->settled_id = memory.settled_id;
    if (result == 0) {
        retune_expect(world, MAX(request.first_budget_ns, request.night_budget_ns), false);
        result = world->measure(&request, &outcome->night, err);
    }
    if (result < 0) {
        if (memory.run_id != 0)
            history_finish_run(world->history, memory.run_id, HISTORY_FAILED, EXIT_FAILED, NULL, NULL);
        return result;
    }
    outcome->measured = true;
    outcome->exit_code = code_of(&outcome->night);
    if (memory.run_id != 0) {
        result =
            history_finish_run(world->history, memory.run_id, status_of(&outcome->night, outcome->exit_code),
                               outcome->exit_code, outcome->night.document, err);
        retune_record_blame(world, result, err);
    }
    if (result == 0 && !outcome->night.interrupted) {
        retune_expect(world, N_HOOK_TIMES * outcome->target->hook_timeout_ns, true);
        result = retune_act(world, outcome, memory.run_id, err);
    }
    return result;
}

/* Measured on a copy: a kept file is an existing one for the night. */
static int run_night(const struct retune_world *world, struct retune_outcome *outcome, struct err *err)
{
    const struct retune_target *target = outcome->target;
    struct settings *settings = malloc(sizeof *settings);
    if (settings == NULL)
        return err_set(err, -ENOMEM, "no memory");
    *settings = target->settings;
    retune_expect(world, N_HOOK_TIMES * target->hook_timeout_ns, true);
    int result = retune_act_recover(world, target, err);
    retune_expect(world, 0, false);
    if (result == 0 && target->keep_file && settings->file.simulate[0] == '\0')
        result = retune_keep(world, target, settings, &outcome->kept_bytes, err);
    if (result == 0)
        result = measure_target(world, outcome, settings, err);
    free(settings);
    return result;
}

bool retune_target(const struct retune_world *world, struct retune_outcome *outcome, bool after_own_work)
{
    struct err err = {0};
    struct retune_turn turn = {0};
    int result = 0;
    bool ready = is_ready(world, outcome, after_own_work) && retune_turn_take(world, outcome, &turn);
    if (ready && outcome->waited_ns > 0)
        ready = is_ready(world, outcome, after_own_work);
    bool worked = ready;
    if (ready)
        result = run_night(world, outcome, &err);
    retune_turn_give(&turn);
    /* Somebody took the device after the check. The session advises --no-lock, no remedy at night. */
    if (ready && result == -EWOULDBLOCK && !outcome->measured) {
        snprintf(outcome->text, sizeof outcome->text, "%s", device_in_use);
        ready = false;
        result = 0;
    }
    if (!ready) {
        result = retune_record_skip(world, outcome, &err);
        outcome->exit_code = outcome->n_skipped >= RETUNE_READY_PATIENCE ? EXIT_INCONCLUSIVE : EXIT_DONE;
    }
    outcome->ended_s = (double)clock_realtime_ns() / 1e9;
    if (result < 0)
        retune_fail(world, outcome, err.text);
    return worked;
}

int retune_run(const struct retune_world *world, const struct retune_config *config, const char *only,
               struct retune_report *ret_report, struct err *err)
{
    struct retune_report report = {.outcomes = calloc(config->n_targets, sizeof *report.outcomes)};
    if (report.outcomes == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu targets", config->n_targets);
    bool worked = false;
    for (size_t i = 0; i < config->n_targets; i++) {
        const struct retune_target *target = &config->targets[i];
        if (only[0] != '\0' && strcmp(only, target->name) != 0)
            continue;
        struct retune_outcome *outcome = &report.outcomes[report.n++];
        outcome->target = target;
        outcome->not_begun = retune_is_interrupted(world);
        if (outcome->not_begun)
            snprintf(outcome->text, sizeof outcome->text, "not begun: a signal ended the night before");
        else if (world->apart)
            worked = retune_process_run(world, outcome, worked) || worked;
        else
            worked = retune_target(world, outcome, worked) || worked;
        report.exit_code = retune_worse(report.exit_code, outcome->exit_code);
    }
    report.interrupted = retune_is_interrupted(world);
    *ret_report = report;
    return 0;
}

void retune_report_done(struct retune_report *report)
{
    for (size_t i = 0; i < report->n; i++) {
        if (report->outcomes[i].measured)
            retune_result_done(&report->outcomes[i].night);
    }
    free(report->outcomes);
    *report = (struct retune_report){0};
}
