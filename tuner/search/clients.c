/* What the leader and the followers have in common. */
#include "tuner/search/clients.h"

#include "bench/base/rng.h"
#include "tuner/session/session_members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int clients_init(struct clients *clients, uint32_t rank, uint32_t n, uint32_t n_here, bool is_first_here)
{
    *clients = (struct clients){.seen = rank == 0 ? clients_leads : clients_follows};
    clients->seen.rank = rank;
    clients->seen.n = n;
    clients->n_active = n;
    clients->seen.n_here = n_here;
    clients->seen.is_first_here = is_first_here;
    clients->hello = calloc(n, sizeof *clients->hello);
    clients->is_lost = calloc(n, sizeof *clients->is_lost);
    clients->offset = calloc(n, sizeof *clients->offset);
    clients->report = calloc(n, sizeof *clients->report);
    bool enough = clients->hello != NULL && clients->is_lost != NULL && clients->offset != NULL &&
                  clients->report != NULL;
    if (enough)
        session_clients_set(&clients->seen);
    return enough ? 0 : -ENOMEM;
}

void clients_done(struct clients *clients)
{
    for (size_t i = 0; i < clients->n_runs; i++)
        free(clients->runs[i].rates_bps);
    free(clients->runs);
    free(clients->lengths);
    free(clients->hello);
    free(clients->is_lost);
    free(clients->offset);
    free(clients->report);
}

void clients_say_hello(struct clients_hello *hello, int code, const char *text)
{
    *hello = (struct clients_hello){.version = FSTUNE_VERSION,
                                    .report_bytes = sizeof(struct client_report),
                                    .pid = getpid(),
                                    .code = code};
    if (gethostname(hello->host, sizeof hello->host - 1) != 0)
        strcpy(hello->host, "?");
    snprintf(hello->text, sizeof hello->text, "%s", text);
}

void clients_describe_file(const struct session *session, int result, const struct err *err,
                           struct clients_file *file)
{
    const struct target *target = &session->target;
    *file = (struct clients_file){
        .code = result,
        .size_bytes = target->size_bytes,
        .written_bytes = session->bytes_written,
        .fill_bps = target->fill_bps,
        .direct_read = target->direct_read,
        .direct_write = target->direct_write,
        .direct_align_bytes = target->direct_offset_align_bytes,
    };
    snprintf(file->text, sizeof file->text, "%s", err->text);
    snprintf(file->direct_why, sizeof file->direct_why, "%s", target->direct_why);
}

void clients_take_region(struct session *session, const struct clients_command *command, int fd)
{
    session->clients->region = (struct target_region){.fd = fd,
                                                      .tmpfile = command->shared.tmpfile,
                                                      .n = session->clients->n,
                                                      .index = session->clients->rank,
                                                      .size_bytes = command->region_bytes,
                                                      .distance_bytes = command->distance_bytes};
}

int clients_take_size(struct session *session, const struct clients_command *command)
{
    if (command->size_bytes == 0)
        return -ECANCELED;
    session->target.size_bytes = command->size_bytes;
    session->target.fill_bps = command->fill_bps;
    return 0;
}

void clients_measure_own(struct session *session, int (*meet)(void *, uint64_t *, struct err *),
                         struct client_report *report)
{
    struct measure_plan *plan = &session->job.plan;
    struct err err = {0};
    plan->seed = rng_derive(plan->seed, session->clients->rank);
    session->env.meet = meet;
    session->env.meet_context = session;
    histogram_init(&report->latency);
    report->code = measure_run(&session->env, plan, &report->result, &report->latency, &err);
    snprintf(report->text, sizeof report->text, "%s", err.text);
    if (report->code < 0)
        return;
    session_members_apply_limits(session, plan, &report->result);
    report->run_warnings = session_members_warnings(session, plan, &report->result);
    report->target_warnings = session_members_target_warnings(session);
}
