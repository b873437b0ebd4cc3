/* One night: a search with what earlier nights know, and its verdict. */
#include "tuner/nightly/retune_measure.h"

#include "tuner/base/json.h"
#include "tuner/impact/neighbour_report.h"
#include "tuner/nightly/retune_decide.h"
#include "tuner/nightly/retune_state.h"
#include "tuner/report/answer.h"
#include "tuner/report/live.h"
#include "tuner/search/prior.h"
#include "tuner/search/tune.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* With a contender of the last night that waits for its verdict. */
#define WATCHED_SHARE 0.5
#define MOST_REPLAYS  120
/* Nights whose points steer the search. */
#define PRIOR_NIGHTS 10
/* As in `recommend`: a run that hangs is given up after this. */
#define LATE_NS (3 * CLOCK_NS_PER_S)

const char *const night_verdict_names[NIGHT_N_VERDICTS] = {
    [NIGHT_NOTHING] = "nothing", [NIGHT_FIRST] = "first",   [NIGHT_NO_CHANGE] = "no_change",
    [NIGHT_PENDING] = "pending", [NIGHT_CHANGE] = "change",
};

/* The first night searches as `recommend` does, for the setting that comes into force. */
static const struct tune_policy first_night = {.judges = {.final_share = TUNE_FINAL_SHARE,
                                                          .most_replays = MOST_REPLAYS,
                                                          .baseline_first = true,
                                                          .costs_alike = true,
                                                          .races_again = true,
                                                          .chooses_again = true},
                                               .limits_writes = true,
                                               .has_pilot = true,
                                               .has_counterpart = true};

/* Later nights are for judging: they spend less on the search, and judge all that was replayed. */
static const struct tune_policy later_night = {.judges = {.final_share = 0.33,
                                                          .most_replays = MOST_REPLAYS,
                                                          .n_contenders = 3,
                                                          .sentinel_runs = TUNE_SENTINEL_RUNS,
                                                          .weighs_chances = true,
                                                          .baseline_first = true,
                                                          .costs_alike = true},
                                               .limits_writes = true,
                                               .has_pilot = true,
                                               .has_counterpart = true};

/* On the heap, because a run that hangs in the kernel goes on using it. */
struct world {
    struct settings settings;
    struct session session;
    struct tune_policy policy;
    struct tune tune;
    struct retune_state memory;
    json_t *documents; /* of earlier nights; NULL: none */
};

void retune_request_init(struct retune_request *request, const struct settings *settings)
{
    *request = (struct retune_request){.settings = settings,
                                       .first_budget_ns = NIGHT_FIRST_BUDGET_NS,
                                       .night_budget_ns = NIGHT_BUDGET_NS,
                                       .alarm_share = NIGHT_ALARM_SHARE,
                                       .nights_needed = NIGHT_NIGHTS_NEEDED,
                                       .in_force_given = settings->search.current_given};
    if (settings->search.current_given)
        request->in_force = tune_current_point(settings);
}

static void set_current(struct settings *settings, const struct point *point)
{
    settings->search.current_given = true;
    for (enum factor factor = 0; factor < FACTOR_N; factor++) {
        settings->search.current.given[factor] = true;
        settings->search.current.value[factor] = factors_level(point, factor);
    }
}

static void init_settings(struct settings *settings, const struct retune_request *request)
{
    *settings = *request->settings;
    /* The size of the test file depends on it, and must not differ between the first night and the others. */
    settings->limits.budget_ns = request->night_budget_ns;
    if (!settings->limits.max_write_given)
        settings->limits.max_write_bytes = NIGHT_MAX_WRITE_BYTES;
    settings->search.current_given = false;
    if (request->in_force_given)
        set_current(settings, &request->in_force);
}

/* Everything that can be refused before a byte is written. */
static int check_night_session(struct session *session, struct err *err)
{
    struct candidates candidates = {0};
    uint64_t file_bytes = 0;
    int result = session_estimate(session, &file_bytes, err);
    if (result == 0)
        result = candidates_build(&candidates, session, file_bytes, err);
    if (result == 0)
        result = tune_check(session, &candidates, file_bytes, err);
    if (result == 0)
        result = prior_open(session, err);
    candidates_free(&candidates);
    session->dropped.n = 0;
    return result;
}

/* The points of earlier nights as one source: their levels differ by less than settings do. */
static int add_prior(struct world *world, struct err *err)
{
    struct session *session = &world->session;
    size_t n = json_array_size(world->documents), first = n > PRIOR_NIGHTS ? n - PRIOR_NIGHTS : 0;
    if (n == 0)
        return 0;
    if (session->prior == NULL)
        session->prior = calloc(1, sizeof *session->prior);
    if (session->prior == NULL)
        return err_set(err, -ENOMEM, "no memory for prior knowledge");
    if (session->prior->n == BELIEF_PRIOR_MAX)
        return 0;
    struct prior_file *file = &session->prior->files[session->prior->n];
    snprintf(file->name, sizeof file->name, "earlier nights");
    for (size_t i = first; i < n; i++) {
        /* A damaged document is left out and does not steer the search. */
        if (prior_take_answer(file, json_array_get(world->documents, i), NULL) == -ENOMEM)
            return err_set(err, -ENOMEM, "no memory for what earlier nights measured");
    }
    session->prior->n += file->n > 0;
    return 0;
}

static int recall(struct world *world, const struct retune_request *request, struct err *err)
{
    int result = 0;
    if (request->recall != NULL)
        result = request->recall(request->context, &world->session, &world->documents, err);
    if (result == 0 && retune_state_read(&world->memory, world->documents) < 0)
        result = err_set(err, -ENOMEM, "no memory for earlier nights");
    return result < 0 ? result : add_prior(world, err);
}

/* The first night has more time, and no current setting to compare with. */
static void plan_night(struct world *world, const struct retune_request *request,
                       struct retune_result *result)
{
    struct session *session = &world->session;
    result->first = world->memory.n == 0;
    world->settings.limits.budget_ns = result->first ? request->first_budget_ns : request->night_budget_ns;
    session->end_ns = session->start_ns + world->settings.limits.budget_ns + LATE_NS;
    world->policy = result->first ? first_night : later_night;
    if (request->in_force_given)
        world->policy.n_watched =
            retune_state_pending(&world->memory, &request->in_force, world->policy.watched);
    if (world->policy.n_watched > 0)
        world->policy.judges.final_share = WATCHED_SHARE;
    session->policy = &world->policy;
}

static int measure_night(struct world *world, const struct retune_request *request,
                         struct retune_result *result, struct err *err)
{
    struct session *session = &world->session;
    session->end_ns = session->start_ns + request->first_budget_ns + LATE_NS;
    int status = session_prepare(session, err);
    result->filled_bytes = session->abandoned ? 0 : session->target.filled_bytes;
    if (status == 0)
        status = recall(world, request, err);
    if (status < 0)
        return status;
    plan_night(world, request, result);
    status = tune_init(&world->tune, session, err);
    world->tune.observer = &live_tune;
    if (status == 0)
        status = tune_run(&world->tune, err);
    /* Figures of a device that then stood still are not acted on. */
    if (status == 0 && world->tune.engine.stop == ENGINE_STOP_STALLED)
        status = err_set(err, -ETIME, "%s (see dmesg)", tune_stop_text[ENGINE_STOP_STALLED]);
    return status;
}

static bool has_replays(const struct tune *tune, size_t point)
{
    return point != ENGINE_NONE && record_count(&tune->records[point], true) >= ENGINE_MIN_REPLAYS;
}

/* The current setting and another have their replays; without another to compare with, they alone. */
static bool has_comparison(const struct tune *tune)
{
    size_t n = 0;
    for (size_t i = 0; i < tune->n_records; i++)
        n += has_replays(tune, i);
    return has_replays(tune, tune->engine.baseline) && (n > 1 || tune->engine.confirm.unpaid == ENGINE_NONE);
}

/* Why there can be no verdict; NULL. The search's own reasons come with its answer. text: place for it. */
static const char *no_verdict(const struct tune *tune, const struct retune_request *request,
                              char text[NIGHT_TEXT_SIZE])
{
    if (tune->engine.stop == ENGINE_STOP_INTERRUPTED)
        return "interrupted before there was a verdict";
    if (tune->engine.chosen == ENGINE_NONE)
        return "nothing that can be trusted was measured";
    if (!request->in_force_given && has_replays(tune, tune->engine.chosen))
        return NULL;
    if (tune->writes_are_scarce &&
        (!request->in_force_given ||
         (tune->records[tune->engine.baseline].failed == 0 && !has_comparison(tune))))
        return retune_text_too_few(tune, text);
    if (!request->in_force_given)
        return "the best that was found has too few replays: time was too short";
    if (tune->records[tune->engine.baseline].failed != 0)
        return "the current setting cannot be measured any more: a run failed";
    if (!has_replays(tune, tune->engine.baseline))
        return "the current setting has too few replays: time or write budget was too small";
    return tune_distrust(tune, tune->engine.baseline) != 0
               ? "the figures of the current setting cannot be trusted"
               : NULL;
}

static void set_throughput(struct retune_result *result, const struct tune *tune, size_t point)
{
    struct row row;
    if (point != ENGINE_NONE && tune_row(tune, point, true, &row) == 0)
        result->throughput =
            (struct retune_figure){row.mean_bps, {row.ci_low_bps, row.ci_high_bps}, row.replays};
}

/* Sets the verdict, and makes the advice the answer of the search. 0 or -ENOMEM. */
static int judge_night(struct world *world, const struct retune_request *request,
                       struct retune_result *result, struct retune_record *record)
{
    struct tune *tune = &world->tune;
    char text[NIGHT_TEXT_SIZE];
    const char *why = no_verdict(tune, request, text);
    int status = 0;
    result->interrupted = tune->engine.stop == ENGINE_STOP_INTERRUPTED;
    if (why != NULL) {
        snprintf(result->reason, sizeof result->reason, "%s", why);
        return 0;
    }
    if (!request->in_force_given) {
        result->verdict = NIGHT_FIRST;
        result->has_recommendation = true;
        result->recommendation = tune->records[tune->engine.chosen].point;
        retune_decide_first(tune, record);
        set_throughput(result, tune, tune->engine.chosen);
    } else {
        size_t adopted = retune_decide(request, tune, &world->memory, result, record);
        set_throughput(result, tune, tune->engine.baseline);
        status = engine_adopt(&tune->engine, adopted);
    }
    result->conclusive = tune->engine.conclusive;
    retune_text(request, result);
    retune_text_add_writes(tune, result);
    retune_text_add_neighbours(tune, result);
    return status;
}

json_t *night_figure_json(const struct retune_figure *figure)
{
    return json_pack("{s:o, s:o, s:o, s:I}", "mean", json_number(figure->mean), "ci_low",
                     json_number(figure->interval.low), "ci_high", json_number(figure->interval.high), "n",
                     (json_int_t)figure->n);
}

static json_t *json_night(const struct retune_result *result, const struct retune_record *record)
{
    json_t *object = retune_state_json(record);
    json_object_set_new(object, "verdict", json_text(night_verdict_names[result->verdict]));
    json_object_set_new(object, "evidence", json_text(result->evidence));
    json_object_set_new(object, "reason",
                        result->reason[0] != '\0' ? json_text(result->reason) : json_null());
    json_object_set_new(object, "contender",
                        result->has_contender ? json_point(&result->contender) : json_null());
    json_object_set_new(object, "gain_tonight", night_figure_json(&result->gain_tonight));
    json_object_set_new(object, "gain_pooled", night_figure_json(&result->gain_pooled));
    json_object_set_new(object, "throughput_in_force", night_figure_json(&result->throughput));
    json_object_set_new(object, "throughput_expected", night_figure_json(&result->expected));
    return object;
}

static int document(struct world *world, struct retune_result *result, const struct retune_record *record)
{
    struct answer answer;
    struct tune *tune = &world->tune;
    bool nothing = result->verdict == NIGHT_NOTHING, has_own_reason = tune->engine.chosen != ENGINE_NONE;
    session_finish(&world->session);
    /* What was chosen without a verdict is no advice. */
    if (nothing)
        tune->engine.chosen = ENGINE_NONE;
    answer_prepare(&answer, tune);
    if (nothing && has_own_reason)
        answer.reason = result->reason;
    else if (nothing)
        snprintf(result->reason, sizeof result->reason, "%s", answer.reason);
    if (world->session.neighbours != NULL)
        answer.parts[answer.n_parts++] = neighbour_report_part(&answer);
    result->document = report_recommendation_document(&answer);
    if (result->document == NULL)
        return -ENOMEM;
    /* Later nights do not count a night without a verdict. */
    if (nothing)
        return 0;
    return json_object_set_new(result->document, "night", json_night(result, record)) < 0 ? -ENOMEM : 0;
}

static void leave(struct world *world)
{
    tune_done(&world->tune);
    retune_state_done(&world->memory);
    json_decref(world->documents);
    if (world->session.abandoned)
        return;
    prior_close(&world->session);
    save_close(&world->session);
    session_close(&world->session);
    free(world);
}

static int measure_and_judge_night(struct world *world, const struct retune_request *request,
                                   struct retune_result *result, struct err *err)
{
    struct retune_record record = {0};
    init_settings(&world->settings, request);
    int status = session_open(&world->session, &world->settings, err);
    if (status == 0)
        status = check_night_session(&world->session, err);
    if (status == 0)
        status = measure_night(world, request, result, err);
    progress_clear(&world->session.progress);
    if (status == -EINTR) {
        result->interrupted = true;
        snprintf(result->reason, sizeof result->reason, "interrupted before anything could be measured");
        status = 0;
    } else if (status == 0) {
        status = judge_night(world, request, result, &record);
        if (status == 0)
            status = document(world, result, &record);
        if (status < 0)
            err_set(err, status, "no memory for the night's answer");
    }
    result->n_runs = world->session.n_runs;
    result->bytes_written = world->session.bytes_written;
    result->bytes_read = world->session.bytes_read;
    result->seconds = session_seconds(&world->session);
    return status;
}

int retune_measure(const struct retune_request *request, struct retune_result *ret_result, struct err *err)
{
    static const struct retune_figure unknown = {.mean = NAN, .interval = {NAN, NAN}};
    struct world *world = calloc(1, sizeof *world);
    struct retune_result result = {.gain_tonight = unknown,
                                   .gain_pooled = unknown,
                                   .throughput = unknown,
                                   .expected = unknown,
                                   .has_in_force = request->in_force_given,
                                   .in_force = request->in_force};
    if (world == NULL)
        return err_set(err, -ENOMEM, "no memory for a search");
    int status = measure_and_judge_night(world, request, &result, err);
    leave(world);
    if (status < 0)
        retune_result_done(&result);
    else
        *ret_result = result;
    return status;
}

void retune_result_done(struct retune_result *result)
{
    json_decref(result->document);
    result->document = NULL;
}
