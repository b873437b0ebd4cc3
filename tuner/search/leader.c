/* The client that decides: what the others are asked for, and what becomes of their answers. */
#include "tuner/search/leader.h"
#include "tuner/search/link.h"

#include "bench/host/procfs.h"
#include "tuner/base/interrupt.h"
#include "tuner/session/session_members.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND_NS   (10 * CLOCK_NS_PER_S)
#define HELLO_NS  (60 * CLOCK_NS_PER_S)
#define READY_NS  (60 * CLOCK_NS_PER_S) /* to make a file clean and drop its pages */
#define RESULT_NS (10 * CLOCK_NS_PER_S) /* longer than twice the leader's own run */
#define HERE_NS   (10 * CLOCK_NS_PER_S)
#define GRACE_NS  250000000ULL

#define N_PINGS         20
#define START_NS        1000000ULL /* from the last word to the common start, ... */
#define START_CLIENT_NS 200000ULL  /* ... and so much for each client */

#define MOST_VOID 6 /* runs in a row */

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

/* Whether a process of this machine has ended: it is kept for its parent to look at. */
static bool is_dead(const struct clients *clients, uint32_t rank)
{
    const struct clients_hello *hello = &clients->hello[rank];
    char path[64], line[1024];
    if (hello->pid == 0 || strcmp(hello->host, clients->hello[0].host) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%" PRId32 "/stat", hello->pid);
    const char *name_end = procfs_read_line(path, line, sizeof line) == 0 ? strrchr(line, ')') : NULL;
    return name_end == NULL || strncmp(name_end, ") Z", 3) == 0;
}

/* mpirun tells all to end when one has died, and any of them may be too slow to answer then. Who is dead on
 * this machine can be seen. */
static uint32_t find_dead(const struct clients *clients, uint32_t silent)
{
    for (uint32_t i = 1; i < clients->seen.n && !is_dead(clients, silent); i++) {
        if (is_dead(clients, i))
            return i;
    }
    return silent;
}

static int say_lost(const struct clients *clients, struct err *err)
{
    const uint32_t rank = clients->first_lost;
    const struct clients_hello *hello = &clients->hello[rank];
    if (clients->blames_nobody)
        return err_set(
            err, -ENOLINK,
            "a client died or does not answer, and the run that it was in is void; look after the one "
            "that mpirun names, and start again");
    if (hello->pid == 0)
        return err_set(err, -ENOLINK, "client %u did not start; see what mpirun says of its host", rank);
    return err_set(err, -ENOLINK,
                   "client %u (process %d on %s) died or stalls, and the run that it was in is void; look "
                   "after it and start again",
                   rank, (int)hello->pid, hello->host);
}

const char *clients_name_lost(const struct clients *clients, char text[ERR_TEXT_SIZE])
{
    struct err err = {0};
    if (clients->first_lost == 0)
        return NULL;
    say_lost(clients, &err);
    memcpy(text, err.text, ERR_TEXT_SIZE);
    return text;
}

static int lose(struct clients *clients, uint32_t rank, struct err *err)
{
    clients->is_lost[rank] = true;
    if (clients->first_lost == 0) {
        clients->first_lost = find_dead(clients, rank);
        clients->blames_nobody =
            atomic_load(&interrupt_signal) != 0 && !is_dead(clients, clients->first_lost);
    }
    return say_lost(clients, err);
}

static int tell(struct clients *clients, uint32_t rank, int kind, const void *data, size_t size,
                struct err *err)
{
    if (clients->is_lost[rank])
        return say_lost(clients, err);
    return link_send(rank, kind, data, size, now_ns() + SEND_NS) == 0 ? 0 : lose(clients, rank, err);
}

int leader_hear(struct clients *clients, uint32_t rank, int kind, void *data, size_t size, uint64_t until_ns,
                struct err *err)
{
    if (clients->is_lost[rank])
        return say_lost(clients, err);
    return link_receive(rank, kind, data, size, until_ns, GRACE_NS) == 0 ? 0 : lose(clients, rank, err);
}

int leader_tell_all(struct clients *clients, const struct clients_command *command, struct err *err)
{
    int result = 0;
    for (uint32_t i = 1; i < clients->n_active; i++) {
        int told = tell(clients, i, CLIENTS_COMMAND, command, sizeof *command, result == 0 ? err : NULL);
        result = result == 0 ? told : result;
    }
    return result;
}

/* An error of another client is told with its name. */
int leader_pass_on(const struct clients *clients, uint32_t rank, int code, const char *text, struct err *err)
{
    return err_set(err, code, "client %u on %s: %s", rank, clients->hello[rank].host, text);
}

static int lead_open(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    const uint64_t until_ns = now_ns() + HELLO_NS;
    clients_say_hello(&clients->hello[0], 0, "");
    clients->opened = true;
    for (uint32_t i = 1; i < clients->seen.n; i++) {
        struct clients_hello *hello = &clients->hello[i];
        int result = leader_hear(clients, i, CLIENTS_HELLO, hello, sizeof *hello, until_ns, err);
        if (result == 0 && (strcmp(hello->version, FSTUNE_VERSION) != 0 ||
                            hello->report_bytes != sizeof(struct client_report)))
            result = err_set(err, -EINVAL, "client %u on %s is another version, %s; install the same one", i,
                             hello->host, hello->version);
        if (result == 0 && hello->code < 0)
            result = leader_pass_on(clients, i, hello->code, hello->text, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* All are ready, or say why they never will be. */
int leader_gather(struct clients *clients, struct err *err)
{
    const uint64_t until_ns = now_ns() + READY_NS;
    int result = 0;
    for (uint32_t i = 1; i < clients->n_active; i++) {
        int32_t code = 0;
        struct err *why = result == 0 ? err : NULL;
        int heard = leader_hear(clients, i, CLIENTS_READY, &code, sizeof code, until_ns, why);
        if (heard == 0 && code < 0) /* its report has the words */
            heard = err_set(why, -ECANCELED, "client %u is not ready", i);
        result = result == 0 ? heard : result;
    }
    return result;
}

int leader_start_all(struct clients *clients, int result, uint64_t start_ns, struct err *err)
{
    for (uint32_t i = 1; i < clients->n_active; i++) {
        struct clients_call call = {.word = result < 0 ? CLIENTS_VOID : CLIENTS_GO,
                                    .start_ns = start_ns + (uint64_t)clients->offset[i].ahead_ns};
        int told = clients->is_lost[i]
                       ? 0
                       : tell(clients, i, CLIENTS_CALL, &call, sizeof call, result == 0 ? err : NULL);
        result = result == 0 ? told : result;
    }
    return result;
}

/* --- a run --- */

static int compare_clocks(struct clients *clients, uint32_t rank, struct err *err)
{
    const struct clients_call ping = {.word = CLIENTS_PING};
    struct clock_offset *offset = &clients->offset[rank];
    *offset = (struct clock_offset){0};
    for (int i = 0; i < N_PINGS; i++) {
        uint64_t there_ns = 0, sent_ns = now_ns();
        int result = tell(clients, rank, CLIENTS_CALL, &ping, sizeof ping, err);
        if (result == 0)
            result = leader_hear(clients, rank, CLIENTS_CLOCK, &there_ns, sizeof there_ns,
                                 now_ns() + READY_NS, err);
        if (result < 0)
            return result;
        clock_offset_add(offset, sent_ns, there_ns, now_ns());
    }
    if (offset->error_ns > clients->clock_error_ns)
        clients->clock_error_ns = offset->error_ns;
    return 0;
}

static int meet(void *context, uint64_t *ret_start_ns, struct err *err)
{
    struct clients *clients = clients_of(context);
    clients->has_met = true;
    int result = leader_gather(clients, err);
    for (uint32_t i = 1; i < clients->n_active && result == 0; i++)
        result = compare_clocks(clients, i, err);
    *ret_start_ns = clients->start_ns = now_ns() + START_NS + clients->n_active * START_CLIENT_NS;
    return leader_start_all(clients, result, *ret_start_ns, err);
}

static double length_factor(const struct clients *clients, const struct point *point)
{
    for (size_t i = 0; i < clients->n_lengths; i++) {
        if (factors_equal(&clients->lengths[i].point, point))
            return clients->lengths[i].factor;
    }
    return 1;
}

static int change_length(struct clients *clients, const struct point *point, double factor, struct err *err)
{
    for (size_t i = 0; i < clients->n_lengths; i++) {
        if (!factors_equal(&clients->lengths[i].point, point))
            continue;
        clients->lengths[i].factor *= factor;
        return 0;
    }
    void *more = realloc(clients->lengths, (clients->n_lengths + 1) * sizeof *clients->lengths);
    if (more == NULL)
        return err_set(err, -ENOMEM, "no memory for the length of a run");
    clients->lengths = more;
    clients->lengths[clients->n_lengths++] = (struct clients_length){*point, factor};
    return 0;
}

/* The plan as every client gets it: a warm-up is a time, because nobody knows when the others are warm, and
 * no client ends its run by itself. */
static struct measure_plan plan_for_all(const struct clients *clients, const struct measure_plan *plan)
{
    struct measure_plan own = *plan;
    double duration_ns = (double)plan->duration_ns * length_factor(clients, &plan->point);
    own.duration_ns = duration_ns > MEASURE_MIN_DURATION_NS ? (uint64_t)duration_ns : MEASURE_MIN_DURATION_NS;
    uint64_t quarter_ns = own.duration_ns / 4;
    own.warmup_limit_ns = plan->warmup_limit_ns < quarter_ns ? plan->warmup_limit_ns : quarter_ns;
    if (own.warmup_limit_ns < plan->warmup_least_ns)
        own.warmup_limit_ns = plan->warmup_least_ns;
    own.warmup_least_ns = 0;
    own.hopeless_bps = 0;
    own.max_bytes = plan->max_bytes / clients->n_active;
    if (plan->max_bytes != 0 && own.max_bytes == 0)
        own.max_bytes = 1;
    return own;
}

/* A signal reaches the clients one after the other. */
static bool is_being_interrupted(void)
{
    const uint64_t until_ns = now_ns() + GRACE_NS;
    while (atomic_load(&interrupt_signal) == 0 && now_ns() < until_ns)
        clock_sleep_until_ns(&clock_monotonic, now_ns() + GRACE_NS / 100);
    return atomic_load(&interrupt_signal) != 0;
}

/* The first failure that is not another's consequence. */
static int first_failure(struct clients *clients, struct err *err)
{
    int result = 0;
    for (uint32_t i = 0; i < clients->n_active; i++) {
        const struct client_report *report = &clients->report[i];
        if (report->code == 0 || (result < 0 && result != -ECANCELED))
            continue;
        if (report->code == -EINTR)
            result = is_being_interrupted() ? err_set(err, -EINTR, "interrupted")
                                            : err_set(err, -ENOLINK, "client %u on %s was told to end", i,
                                                      clients->hello[i].host);
        else
            result = i == 0 ? err_set(err, report->code, "%s", report->text)
                            : leader_pass_on(clients, i, report->code, report->text, err);
    }
    return result;
}

static int collect(struct session *session, uint64_t took_ns, struct err *err)
{
    struct clients *clients = clients_of(session);
    const uint64_t until_ns = now_ns() + 2 * took_ns + RESULT_NS;
    struct measure_result *all = &session->job.result;
    int result = 0;
    for (uint32_t i = 1; i < clients->n_active; i++) {
        struct client_report *report = &clients->report[i];
        int heard = leader_hear(clients, i, CLIENTS_RESULT, report, sizeof *report, until_ns,
                                result == 0 ? err : NULL);
        if (heard == 0)
            combine_align(report, &clients->offset[i]);
        else
            report->code = heard;
        result = result == 0 ? heard : result;
    }
    *all = (struct measure_result){.settled = true};
    for (uint32_t i = 0; i < clients->n_active; i++) {
        all->total_bytes_read += clients->report[i].result.total_bytes_read;
        all->total_bytes_written += clients->report[i].result.total_bytes_written;
    }
    if (result < 0)
        return atomic_load(&interrupt_signal) != 0 ? -EINTR : result;
    return first_failure(clients, err);
}

/* A run that is not to be used: 0, or the end of all patience. */
static int make_void(struct session *session, const char *why, struct err *err)
{
    struct clients *clients = clients_of(session);
    clients->seen.was_void = ++clients->n_void < MOST_VOID;
    if (clients->seen.was_void)
        return 0;
    clients->n_void = 0;
    return err_set(err, -EAGAIN, "%d runs in a row were void: %s", MOST_VOID, why);
}

static int judge(struct session *session, uint64_t start_ns, struct err *err)
{
    struct clients *clients = clients_of(session);
    const struct measure_plan *plan = &session->job.plan;
    uint64_t late_ns;
    double factor = combine_length_factor(clients->report, clients->n_active);
    if (factor != 1) {
        int result = change_length(clients, &plan->point, factor, err);
        return result < 0 ? result
                          : make_void(session,
                                      "a client came to the end of its bytes, or made too few requests", err);
    }
    size_t late =
        combine_find_late(clients->report, clients->n_active, start_ns + plan->warmup_limit_ns, &late_ns);
    if (late == clients->n_active)
        return 0;
    char why[ERR_TEXT_SIZE / 2];
    snprintf(why, sizeof why, "client %zu on %s was %" PRIu64 " ms late in the last", late,
             clients->hello[late].host, late_ns / 1000000);
    notes_add(
        &session->warnings, "client_late",
        "runs in which a client was late were void and repeated (the first: client %zu on %s, by %" PRIu64
        " ms)",
        late, clients->hello[late].host, late_ns / 1000000);
    return make_void(session, why, err);
}

/* A run that the session repeats because something disturbed it is no part of any figure. */
static void forget_disturbed(struct clients *clients, const struct session *session)
{
    if (session->n_disturbed != clients->n_disturbed && clients->n_runs > 0)
        free(clients->runs[--clients->n_runs].rates_bps);
    clients->n_disturbed = session->n_disturbed;
}

static int note_run(struct clients *clients, const struct point *point, struct err *err)
{
    if (clients->n_runs == clients->n_runs_most) {
        size_t most = 2 * clients->n_runs_most + 64;
        void *more = realloc(clients->runs, most * sizeof *clients->runs);
        if (more == NULL)
            return err_set(err, -ENOMEM, "no memory for the clients' rates");
        clients->runs = more;
        clients->n_runs_most = most;
    }
    struct clients_run *run = &clients->runs[clients->n_runs];
    *run = (struct clients_run){.point = *point, .rates_bps = calloc(clients->seen.n, sizeof(double))};
    if (run->rates_bps == NULL)
        return err_set(err, -ENOMEM, "no memory for the clients' rates");
    for (uint32_t i = 0; i < clients->n_active; i++)
        run->rates_bps[i] = clients->report[i].result.throughput_bps;
    clients->n_runs++;
    return 0;
}

static int sum_up(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    struct session_job *job = &session->job;
    const uint64_t start_ns = clients->start_ns;
    int result = judge(session, start_ns, err);
    if (result < 0 || clients->seen.was_void)
        return result;
    clients->n_void = 0;
    clients->seen.run_warnings = clients->seen.target_warnings = 0;
    for (uint32_t i = 0; i < clients->n_active; i++) {
        clients->seen.run_warnings |= clients->report[i].run_warnings;
        clients->seen.target_warnings |= clients->report[i].target_warnings;
    }
    combine_reports(clients->report, clients->n_active, start_ns, &job->result, &job->latency);
    forget_disturbed(clients, session);
    return note_run(clients, &job->plan.point, err);
}

static int run_active(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    struct client_report *own = &clients->report[0];
    const uint64_t begin_ns = now_ns();
    const struct clients_command command = {.what = CLIENTS_RUN,
                                            .plan = plan_for_all(clients, &session->job.plan)};
    session->job.plan = command.plan;
    clients->seen.was_void = clients->has_met = false;
    for (uint32_t i = 0; i < clients->n_active; i++)
        clients->report[i] = (struct client_report){0};
    int result = leader_tell_all(clients, &command, err);
    if (result < 0)
        return result;
    clients_measure_own(session, meet, own);
    if (!clients->has_met) {
        leader_gather(clients, NULL);
        leader_start_all(clients, -ECANCELED, 0, NULL);
    }
    result = collect(session, now_ns() - begin_ns, err);
    return result < 0 ? result : sum_up(session, err);
}

/* Who has no part in it hears nothing of the run, and waits for the next word. */
static int lead_run(struct session *session, struct err *err)
{
    struct clients *clients = clients_of(session);
    const uint32_t asked = session->job.plan.point.clients;
    clients->n_active = asked > 0 ? asked : clients->seen.n;
    int result = run_active(session, err);
    clients->n_active = clients->seen.n;
    return result;
}

/* --- the end --- */

static void lead_finish(struct session *session)
{
    struct clients *clients = clients_of(session);
    char text[ERR_TEXT_SIZE];
    clients->n_active = clients->seen.n; /* a run that was given up may have had fewer */
    leader_tell_all(clients, &(struct clients_command){.what = CLIENTS_ROLL_CALL}, NULL);
    for (uint32_t i = 1; i < clients->seen.n; i++) {
        int32_t here;
        leader_hear(clients, i, CLIENTS_HERE, &here, sizeof here, now_ns() + HERE_NS, NULL);
    }
    if (clients_name_lost(clients, text) != NULL)
        notes_add(&session->warnings, "client_lost", "%s", text);
}

static bool let_go(struct clients *clients)
{
    bool all = true;
    clients->n_active = clients->seen.n;
    leader_tell_all(clients, &(struct clients_command){.what = CLIENTS_END}, NULL);
    for (uint32_t i = 1; i < clients->seen.n; i++) {
        int32_t here;
        all &= leader_hear(clients, i, CLIENTS_HERE, &here, sizeof here, now_ns() + HERE_NS, NULL) == 0;
    }
    return all;
}

bool clients_end(struct clients *clients, int code, const char *text)
{
    return clients->seen.rank == 0 ? let_go(clients) : clients_follow_to_end(clients, code, text);
}

const struct session_clients clients_leads = {
    .open = lead_open,
    .prepare = leader_files_prepare,
    .join = leader_files_join,
    .run = lead_run,
    .finish = lead_finish,
    .serve = NULL,
};
