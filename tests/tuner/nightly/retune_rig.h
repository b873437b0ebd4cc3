/* tests/tuner/nightly/retune_rig: a night whose verdict is made to order, for a target with a snippet in
 * place/. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/base/json.h"
#include "tuner/nightly/retune.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>

static const struct point slow = {65536, 1, 0, API_PSYNC, 1, SYNC_END, 0, 0};
static const struct point quick = {65536, 8, 1, API_IO_URING, 1, SYNC_END, 0, 0};

/* What the next night says. */
static struct {
    int result;
    enum night_verdict verdict;
    unsigned behind;
    bool conclusive, remember;
    size_t replays; /* fresh ones of the advice, or of the current setting */
    struct point recommendation;
} next;

/* What the newest night was asked, how many were, and what it could remember. */
static struct retune_request asked;
static unsigned n_asked;
static size_t n_remembered;

static struct history history;
static const char *host;
static struct retune_config config;
static struct retune_report report;
static struct host_load_facts busy;
/* What a target that was measured in this command leaves in the figures of the last minute. */
static double own_pressure_share;
static atomic_int interrupted;
static struct err err;

static inline json_t *document_of(const struct point *point)
{
    json_t *document = json_pack("{s:s, s:s, s:b, s:{s:s}, s:o, s:{s:s, s:f, s:f, s:f, s:f, s:i, s:f}, s:b}",
                                 "schema", "fstune/recommendation/1", "version", "0.1.0", "interrupted", 0,
                                 "pattern", "name", "randwrite", "recommendation", json_point(point),
                                 "throughput", "unit", "bytes/s", "mean", 1e9, "ci_low", 9e8, "ci_high",
                                 1.1e9, "std", 1e7, "replays", 7, "confidence", 0.95, "conclusive", 1);
    assert_non_null(document);
    return document;
}

static inline int remember(const struct retune_request *request, struct err *night_err)
{
    json_t *documents = NULL;
    struct session *session = calloc(1, sizeof *session);
    assert_non_null(session);
    session->settings = request->settings;
    session->simulated = true;
    snprintf(session->simulator.name, sizeof session->simulator.name, "double");
    int result = request->recall(request->context, session, &documents, night_err);
    n_remembered = result == 0 ? json_array_size(documents) : 0;
    json_decref(documents);
    save_close(session);
    free(session);
    return result;
}

static inline int night(const struct retune_request *request, struct retune_result *ret_result,
                        struct err *night_err)
{
    n_asked++;
    asked = *request;
    if (next.remember && remember(request, night_err) < 0)
        return night_err->code;
    if (next.result < 0)
        return err_set(night_err, next.result, "the disk is on fire");
    *ret_result = (struct retune_result){
        .verdict = next.verdict,
        .behind = next.behind,
        .has_in_force = request->in_force_given,
        .in_force = request->in_force,
        .has_recommendation = next.verdict != NIGHT_NOTHING,
        .recommendation = next.verdict == NIGHT_NO_CHANGE && request->in_force_given ? request->in_force
                                                                                     : next.recommendation,
        .conclusive = next.conclusive,
        .throughput = {.mean = 1e9, .interval = {9e8, 1.1e9}, .n = next.replays},
        .expected = {.mean = NAN},
        .evidence = "because",
        .document = next.verdict != NIGHT_NOTHING ? document_of(&next.recommendation) : NULL,
        .bytes_written = 1000,
    };
    if (next.behind != 0 || next.verdict == NIGHT_NOTHING)
        snprintf(ret_result->reason, sizeof ret_result->reason, "20 %% down");
    return 0;
}

static inline void look(struct host_load_facts *facts, int directory_fd, bool after_own_work,
                        const atomic_int *is_interrupted)
{
    (void)directory_fd;
    (void)is_interrupted;
    *facts = busy;
    if (n_asked > 0 && !after_own_work)
        facts->io_pressure_share += own_pressure_share;
}

/* Of targets and their defaults. */
static inline void configure_all(const char *text)
{
    retune_config_done(&config);
    rig_write("n.conf", "%s", text);
    if (retune_config_read(&config, "n.conf", &err) != 0)
        fail_msg("%s", err.text);
}

static inline void configure(const char *more)
{
    char folder[256], text[1024];
    snprintf(
        text, sizeof text,
        "targets = ( { name = \"vm1\"; pattern = \"randwrite\"; emit = \"shell\"; first_budget = \"7m\"; "
        "budget = \"1m\"; no_lock = true; snippet = \"%s/place/vm1.env\"; %s } );",
        getcwd(folder, sizeof folder), more);
    configure_all(text);
}

static inline int enter(void **state)
{
    (void)state;
    const struct history_place place = {.path = "h.db", .write = true};
    assert_int_equal(system("rm -rf h.db* place said; mkdir place"), 0);
    memset(&next, 0, sizeof next);
    memset(&asked, 0, sizeof asked);
    n_asked = 0;
    n_remembered = 0;
    next.recommendation = quick;
    next.conclusive = true;
    next.replays = 7;
    host = "here";
    busy = (struct host_load_facts){.uptime_seconds = 1e6};
    own_pressure_share = 0;
    atomic_store(&interrupted, 0);
    memset(&err, 0, sizeof err);
    configure("");
    return history_open(&history, &place, &err);
}

static inline int leave(void **state)
{
    (void)state;
    retune_report_done(&report);
    retune_config_done(&config);
    history_close(&history);
    return 0;
}

static inline struct retune_world world_of(void)
{
    return (struct retune_world){.history = &history,
                                 .db = "h.db",
                                 .host = host,
                                 .measure = night,
                                 .look = look,
                                 .interrupted = &interrupted};
}

static inline int run_world(const struct retune_world world, const char *only)
{
    retune_report_done(&report);
    assert_int_equal(retune_run(&world, &config, only, &report, &err), 0);
    return report.exit_code;
}

static inline int run(enum night_verdict verdict)
{
    next.verdict = verdict;
    return run_world(world_of(), "");
}

static inline int run_to(enum night_verdict verdict, enum retune_action action)
{
    int code = run(verdict);
    if (report.outcomes[0].action != action)
        fail_msg("action %d: %s", (int)report.outcomes[0].action, report.outcomes[0].text);
    return code;
}

static inline int roll_back(void)
{
    const struct retune_world world = world_of();
    struct history_change last;
    return retune_rollback(&world, &config.targets[0], &last, &err);
}

static inline bool snippet_has(const char *words)
{
    char command[512];
    snprintf(command, sizeof command, "grep -qF -- '%s' place/vm1.env 2>/dev/null", words);
    return system(command) == 0;
}

static inline struct history_change newest(void)
{
    struct history_change *changes = NULL, change;
    size_t n = 0;
    assert_int_equal(history_list_changes(&history, "vm1", NULL, 0, 1, &changes, &n, &err), 0);
    assert_int_equal(n, 1);
    change = changes[0];
    free(changes);
    return change;
}
