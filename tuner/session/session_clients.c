/* What a session knows of other clients. */
#include "tuner/session/session_clients.h"

#include <errno.h>

/* Of the request sizes that are searched where none are given. */
#define LARGEST_DEFAULT_BYTES (4ULL << 20)

static struct session_clients *here;

struct session_clients *session_clients_here(void)
{
    return here;
}

void session_clients_set(struct session_clients *clients)
{
    here = clients;
}

static uint64_t common_multiple(uint64_t unit_bytes, uint64_t request_bytes)
{
    uint64_t multiple_bytes = unit_bytes;
    while (multiple_bytes % request_bytes != 0)
        multiple_bytes += unit_bytes;
    return multiple_bytes;
}

uint64_t session_clients_distance_bytes(const struct settings *settings, uint64_t region_bytes)
{
    const enum factor sizes[] = {FACTOR_REQUEST_SIZE, FACTOR_WRITE_SIZE};
    uint64_t unit = LARGEST_DEFAULT_BYTES;
    for (size_t i = 0; i < 2; i++) {
        const struct levels *levels = &settings->workload.levels[sizes[i]];
        if (levels->n > 0)
            unit = common_multiple(unit, levels->value[levels->n - 1]);
    }
    return (region_bytes + unit - 1) / unit * unit;
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
        {settings->prediction.vm.guest_atoms[0] != '\0', "guest-atoms", "the guest is one client"},
        {settings->runs.cross_check[0] != '\0', "cross-check", "fio is not told of them"},
        {settings->runs.fio_job, "fio-job", "the job would know one of them"},
        {settings->search.resume[0] != '\0', "resume", "a journal does not tell of clients"},
        {settings->history.save[0] != '\0', "save", "the history does not tell clients from one machine"},
    };
    const struct levels *clients = &settings->workload.clients;
    if (clients->n > 0 && settings->format == FORMAT_CSV)
        return err_set(err, -EINVAL,
                       "--clients and --format csv exclude each other: its rows do not tell of them; "
                       "use --json");
    if (here == NULL && settings->file.shared)
        return err_set(err, -EINVAL,
                       "--shared-file is for several clients; start them with mpirun -n CLIENTS fstune-mpi");
    if (here == NULL && clients->n > 0)
        return err_set(err, -EINVAL,
                       "--clients is for several clients; start as many as may work with mpirun -n CLIENTS "
                       "fstune-mpi");
    if (here == NULL)
        return 0;
    if (clients->n > 0 && clients->value[clients->n - 1] > here->n)
        return err_set(err, -EINVAL,
                       "--clients: %u clients were started; give at most that, or start more (mpirun -n)",
                       here->n);
    if (settings->file.shared && settings->file.n > 1)
        return err_set(err, -EINVAL, "--shared-file and --files exclude each other: one file is shared");
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (pairs[i].is_there)
            return err_set(err, -EINVAL, "--%s and several clients exclude each other: %s", pairs[i].name,
                           pairs[i].why);
    }
    return 0;
}
