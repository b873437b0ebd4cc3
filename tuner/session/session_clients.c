/* What a session knows of other clients. */
#include "tuner/session/session_clients.h"

#include <errno.h>

static struct session_clients *here;

struct session_clients *session_clients_here(void)
{
    return here;
}

void session_clients_set(struct session_clients *clients)
{
    here = clients;
}

uint32_t session_n_clients(const struct session_clients *clients)
{
    return clients != NULL ? clients->n : 1;
}

int session_clients_check(const struct settings *settings, struct err *err)
{
    const struct {
        bool is_there;
        const char *name, *why;
    } pairs[] = {
        {settings->file.simulate[0] != '\0', "simulate", "a surface is one client's"},
        {settings->file.existing[0] != '\0', "existing", "each client makes a file of its own"},
        {settings->file.more_paths.n > 0, "path given twice", "each client has one file"},
        {settings->file.prepare[0] != '\0', "prepare", "the script prepares one file"},
        {settings->workload.verify, "verify", "stamps are kept of one client"},
        {settings->workload.rates.n > 0, "rate", "the rate would have to be shared out among them"},
        {settings->beside.n > 0, "beside", "the loads would run beside one of them"},
        {settings->search.neighbour_limit_share > 0, "neighbour-limit", "the reference works at one of them"},
        {settings->limits.max_cost_share > 0, "max-cost", "the reference works at one of them"},
        {settings->burst.bytes > 0, "burst", "a burst is one client's"},
        {settings->runs.cross_check[0] != '\0', "cross-check", "fio is not told of them"},
        {settings->runs.fio_job, "fio-job", "the job would know one of them"},
        {settings->search.resume[0] != '\0', "resume", "a journal does not tell of clients"},
        {settings->history.save[0] != '\0', "save", "the history does not tell clients from one machine"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].is_there)
            return err_set(err, -EINVAL, "--%s and several clients exclude each other: %s", pairs[i].name,
                           pairs[i].why);
    }
    return 0;
}
