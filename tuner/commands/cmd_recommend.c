/* fstune recommend: from a pattern to a proven setting. */
#include "bench/base/err.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/emit/snippet.h"
#include "tuner/impact/guest_report.h"
#include "tuner/impact/neighbour_report.h"
#include "tuner/options/options.h"
#include "tuner/profile/profile_use.h"
#include "tuner/report/answer.h"
#include "tuner/report/live.h"
#include "tuner/report/report_beside.h"
#include "tuner/report/report_plan.h"
#include "tuner/report/report_table.h"
#include "tuner/search/clients_report.h"
#include "tuner/search/objective.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/search/tune.h"
#include "tuner/session/members_report.h"
#include "tuner/store/save.h"
#include "tuner/writes/burst.h"

#include <errno.h>

/* Grace of the contract: the whole command ends within the budget and this. */
#define GRACE_SECONDS 5.0
/* Of budget and --max-write, for several members: the runs of each alone. */
#define MEMBERS_SHARE 0.2
/* A run that hangs is given up after this, which leaves time for giving the thread up and for the answer. */
#define LATE_NS (3 * CLOCK_NS_PER_S)

/* What is told beside the search's own answer. */
static struct extras {
    struct burst burst;
    struct members_study members;
    struct guest_costs guest;
} extras;

static void print_bursts(FILE *out, const struct settings *settings)
{
    char bytes[UNITS_TEXT_SIZE], pause[UNITS_TEXT_SIZE], time[UNITS_TEXT_SIZE];
    fprintf(out, ", then bursts of %s", units_format_size(settings->burst.bytes, bytes));
    if (settings->burst.interval_ns > 0)
        fprintf(out, " %s apart", units_format_duration(settings->burst.interval_ns, pause));
    fprintf(out, " in the last %s", units_format_duration(burst_reserved_ns(settings), time));
}

/* The plan line of interfaces, section 4: what the command will do at most. */
static void print_plan(FILE *out, const struct session *session, uint64_t file_bytes, size_t n_points)
{
    const struct settings *settings = session->settings;
    fprintf(out, "plan: %s, %zu settings", settings->workload.pattern.name, n_points);
    if (settings_n_places(settings) > 1)
        fprintf(out, " on %zu members together, then each alone", settings_n_places(settings));
    if (session->simulated)
        fprintf(out, ", %.0f virtual seconds", (double)settings->limits.budget_ns / 1e9);
    if (settings->burst.bytes > 0)
        print_bursts(out, settings);
    report_plan_end(out, session, file_bytes);
}

/* Refuses formats that need several answers: one search gives one. */
static int check_snippet(const struct settings *settings, struct err *err)
{
    const struct snippet_ops *ops = snippet_find(settings->snippet.format);
    if (ops == NULL || !ops->needs_several)
        return 0;
    return err_set(
        err, -EINVAL,
        "--emit %s: it needs several answers; keep each with --json, and give them to fstune emit %s "
        "with a --from each",
        ops->name, ops->name);
}

/* Refuses what a table has no place for. */
static int check_format(const struct settings *settings, struct err *err)
{
    const struct {
        const char *option;
        bool given;
    } more[] = {
        {"emit", settings->snippet.format[0] != '\0'}, {"fio-job", settings->runs.fio_job},
        {"profiles", settings->search.profiles},       {"pareto", settings->search.pareto},
        {"burst", settings->burst.bytes > 0},          {"guest-atoms", extras.guest.settings != NULL},
    };
    bool is_table = settings->format == FORMAT_MARKDOWN || settings->format == FORMAT_CSV;
    for (size_t i = 0; i < sizeof more / sizeof more[0] && is_table; i++) {
        if (more[i].given)
            return err_set(err, -EINVAL, "--%s: --format %s has no place for it; use text or json",
                           more[i].option, settings_format_names[settings->format]);
    }
    return 0;
}

static void reserve_for_members(struct session *session)
{
    const struct settings_limits *limits = &session->settings->limits;
    if (settings_n_places(session->settings) == 1)
        return;
    session->reserved_ns = (uint64_t)(MEMBERS_SHARE * (double)limits->budget_ns);
    session->reserved_bytes = (uint64_t)(MEMBERS_SHARE * (double)limits->max_write_bytes);
}

/* Everything that can be refused before a byte is written. */
static int check_and_print_tune_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct candidates candidates = {0};
    uint64_t file_bytes = 0;
    int result = check_snippet(settings, err);
    if (result == 0)
        result = guest_report_read(&extras.guest, settings, err);
    if (result == 0)
        result = check_format(settings, err);
    if (result == 0)
        result = session_estimate(session, &file_bytes, err);
    if (result == 0)
        result = candidates_build(&candidates, session, file_bytes, err);
    if (result == 0)
        result = tune_check(session, &candidates, file_bytes, err);
    if (result == 0)
        result = burst_check(session, file_bytes, err);
    if (result == 0) {
        reserve_for_members(session);
        result = prior_open(session, err);
    }
    if (result == 0)
        result = resume_open(session, err);
    if (result == 0)
        result = save_open(session, err);
    if (result < 0) {
        candidates_free(&candidates);
        return result;
    }
    session->seconds_at_most = (double)settings->limits.budget_ns / 1e9 + GRACE_SECONDS;
    bool is_json = settings->dry_run && settings->json;
    if (is_json)
        result = report_plan_json(stdout, session, file_bytes, candidates.n, err);
    else if (command_plan_stream(settings) != NULL)
        print_plan(command_plan_stream(settings), session, file_bytes, candidates.n);
    if (settings->dry_run && !is_json)
        text_notes(stdout, "Not in the space", &session->dropped, true);
    candidates_free(&candidates);
    session->dropped.n = 0;
    return result;
}

static int recommend_exit_code(const struct answer *answer)
{
    if (!answer->has_rows)
        return command_code(EXIT_NOTHING);
    return command_code(answer->tune->engine.conclusive ? EXIT_DONE : EXIT_INCONCLUSIVE);
}

static void save_answer(struct session *session, int code, const struct answer *answer)
{
    json_t *document = save_is_on(session) ? report_recommendation_document(answer) : NULL;
    save_finish(session, code, document);
    json_decref(document);
}

static int print_answer(const struct answer *answer, enum settings_format format, struct err *err)
{
    switch (format) {
    case FORMAT_JSON:
        return report_recommendation_json(stdout, answer, err);
    case FORMAT_MARKDOWN:
        return report_table_markdown(stdout, answer, err);
    case FORMAT_CSV:
        return report_table_csv(stdout, answer, err);
    default:
        return report_recommendation_text(stdout, answer, err);
    }
}

/* The recommended setting on all members together and on each alone. What cannot be measured any more is
 * missing from the answer. */
static int study_members(struct members_study *study, struct tune *tune, struct err *err)
{
    struct session *session = tune->session;
    struct err why = {0};
    members_study_open(study, session);
    if (!members_study_is_on(study) || tune->engine.chosen == ENGINE_NONE ||
        tune->engine.stop == ENGINE_STOP_INTERRUPTED)
        return 0;
    session->write_limit_bytes = session->settings->limits.max_write_bytes;
    const struct measure_plan plan =
        tune_plan_of(tune, &(struct engine_run){.point = tune->engine.chosen, .confirming = true});
    int result =
        members_study_blocks(study, &plan, 0, (double)session->settings->limits.budget_ns / 1e9, &why);
    if (result < 0 && (result == -EINTR || session->target_lost || session->abandoned))
        return err_set(err, result, "%s", why.text);
    if (result < 0)
        notes_add(&session->warnings, "members_cut", "members were measured alone in part: %s", why.text);
    else if (study->log_share.n < MEMBERS_STUDY_LEAST)
        notes_add(
            &session->warnings, "members_cut",
            "the budget ended when each member had been measured alone %u times, and an interval needs %d: "
            "give more --budget",
            (unsigned)study->log_share.n, MEMBERS_STUDY_LEAST);
    return 0;
}

static void add_members(json_t *object, const void *context)
{
    members_report_json(object, context);
}

static void print_members(FILE *out, const void *context)
{
    fputc('\n', out);
    members_report_text(out, context);
}

static void add_clients(json_t *object, const void *context)
{
    clients_report_json(object, context);
}

static void print_clients(FILE *out, const void *context)
{
    fputc('\n', out);
    clients_report_text(out, context);
}

static int print_recommend_result(struct tune *tune, struct err *err)
{
    struct answer answer;
    struct session *session = tune->session;
    progress_clear(&session->progress);
    session_finish(session);
    answer_prepare(&answer, tune);
    const struct report_beside loads = {session, answer.has_rows ? &answer.chosen.point : NULL};
    if (extras.burst.settings != NULL)
        answer.parts[answer.n_parts++] = burst_answer_part(&extras.burst);
    if (session->beside != NULL)
        answer.parts[answer.n_parts++] = report_beside_part(&loads);
    if (members_study_is_on(&extras.members))
        answer.parts[answer.n_parts++] =
            (struct answer_part){.add = add_members, .print = print_members, .context = &extras.members};
    const struct clients_report clients = {session, answer.has_rows ? &answer.chosen.point : NULL,
                                           answer.has_rows ? answer.chosen.replays : 0};
    if (session->clients != NULL)
        answer.parts[answer.n_parts++] =
            (struct answer_part){.add = add_clients, .print = print_clients, .context = &clients};
    if (session->neighbours != NULL)
        answer.parts[answer.n_parts++] = neighbour_report_part(&answer);
    const struct guest_report guest = {&answer, &extras.guest};
    if (extras.guest.settings != NULL)
        answer.parts[answer.n_parts++] = guest_report_part(&guest);
    int result = print_answer(&answer, tune->settings->format, err);
    int code = recommend_exit_code(&answer);
    save_answer(session, result < 0 ? EXIT_FAILED : code, &answer);
    return result < 0 ? result : code;
}

static int search_and_print(struct session *session, struct err *err)
{
    /* Set here, because an answer is due also where the preparation is interrupted and no search begins. */
    struct tune tune = {.session = session,
                        .settings = session->settings,
                        .engine.search = search_find(session->settings->search.method)};
    tune.engine.best = tune.engine.chosen = tune.engine.baseline = ENGINE_NONE;
    tune.engine.default_setting = tune.engine.counterpart = tune.split = tune.unsplit = ENGINE_NONE;
    session->end_ns = session->start_ns + session->settings->limits.budget_ns + LATE_NS;
    int result = session_prepare(session, err);
    if (result == 0)
        result = tune_init(&tune, session, err);
    tune.observer = &live_tune;
    if (result == 0) {
        save_begin(session, "recommend");
        result = tune_run(&tune, err);
    }
    if (result == 0)
        result = burst_run(&extras.burst, &tune, err);
    if (result == 0)
        result = study_members(&extras.members, &tune, err);
    progress_clear(&session->progress);
    if (result == -EINTR) {
        tune.engine.stop = ENGINE_STOP_INTERRUPTED;
        result = 0;
    }
    if (result == 0)
        result = print_recommend_result(&tune, err);
    else
        save_finish(session, EXIT_FAILED, NULL);
    tune_done(&tune);
    members_study_done(&extras.members);
    return result;
}

static int settle_search(struct settings *settings, struct err *err)
{
    int result = settings->search.profile_path[0] != '\0' ? profile_use_take(settings, err) : 0;
    if (result == 0)
        result = objective_take_rate(settings, err);
    return result < 0 ? result : command_check_pattern(settings, err);
}

const struct command command_recommend = {
    .name = "recommend",
    .summary = "find the best setting for a pattern, with evidence",
    .run = command_run_measuring,
    .description =
        "Searches the request size, queue depth, direct I/O setting and I/O API with the highest throughput "
        "(or lowest latency) for a pattern on the file system of a directory, and proves it.",
    .example = "fstune recommend --pattern randwrite --path /var/lib/vms --budget 60s",
    .options = OPTIONS_RECOMMEND,
    .settle = settle_search,
    .plan = check_and_print_tune_plan,
    .measure = search_and_print,
};
