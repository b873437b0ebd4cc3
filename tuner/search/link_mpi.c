/* Messages between clients, made of MPI. Calls that block keep a processor busy while they wait, which would
 * be taken from what is measured; so these look, and sleep. */
#include "tuner/search/link_mpi.h"

#include "bench/base/clock.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An answer that comes at once is not slept over: clocks are compared by such. */
#define AWAKE_NS 300000ULL
#define NAP_NS   200000ULL
/* After a signal: one that lives takes a message at once. */
#define SEND_GRACE_NS 250000000ULL

int link_open(int *argc, char ***argv, struct link *ret_link)
{
    int level, rank, n, n_here, rank_here;
    MPI_Comm machine;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return -ENOLINK;
    if (level < MPI_THREAD_SERIALIZED)
        return -ENOTSUP;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &n_here);
    MPI_Comm_rank(machine, &rank_here);
    MPI_Comm_free(&machine);
    *ret_link = (struct link){.rank = (uint32_t)rank,
                              .n = (uint32_t)n,
                              .n_here = (uint32_t)n_here,
                              .is_first_here = rank_here == 0};
    return 0;
}

void link_close(void)
{
    MPI_Finalize();
}

/* For how long somebody has been waiting, and until when. */
struct wait {
    uint64_t begun_ns, until_ns, grace_ns;
};

static struct wait wait_begin(uint64_t until_ns, uint64_t grace_ns)
{
    return (struct wait){clock_now_ns(&clock_monotonic), until_ns, grace_ns};
}

/* False when it is over. */
static bool wait_on(struct wait *wait)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (atomic_load(&interrupt_signal) != 0 && wait->grace_ns != UINT64_MAX) {
        if (wait->until_ns - now_ns > wait->grace_ns)
            wait->until_ns = now_ns + wait->grace_ns;
        wait->grace_ns = UINT64_MAX;
    }
    if (now_ns >= wait->until_ns)
        return false;
    if (now_ns - wait->begun_ns < AWAKE_NS)
        sched_yield();
    else
        clock_sleep_until_ns(&clock_monotonic, now_ns + NAP_NS);
    return true;
}

static bool is_done(MPI_Request *request)
{
    int done = 0;
    return MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
}

/* A message that is under way may not be taken back: its memory is left to it when the wait is over. The
 * clients end then, so that there are few. */
static int give_up(void *memory)
{
    static void *left[16];
    static size_t n = 0;
    left[n % (sizeof left / sizeof left[0])] = memory;
    n++;
    return -ETIME;
}

int link_send(uint32_t to, int kind, const void *data, size_t size_bytes, uint64_t until_ns)
{
    MPI_Request request;
    struct wait wait = wait_begin(until_ns, SEND_GRACE_NS);
    void *copy = malloc(size_bytes);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, data, size_bytes);
    if (MPI_Isend(copy, (int)size_bytes, MPI_BYTE, (int)to, kind, MPI_COMM_WORLD, &request) != MPI_SUCCESS) {
        free(copy);
        return -ETIME;
    }
    while (!is_done(&request)) {
        if (!wait_on(&wait))
            return give_up(copy);
    }
    free(copy);
    return 0;
}

static int wait_for_message(uint32_t from, int kind, struct wait *wait, int *ret_size_bytes)
{
    MPI_Status status;
    for (;;) {
        int there = 0;
        if (MPI_Iprobe((int)from, kind, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
            return -ETIME;
        if (there != 0)
            break;
        if (!wait_on(wait))
            return -ETIME;
    }
    MPI_Get_count(&status, MPI_BYTE, ret_size_bytes);
    return 0;
}

int link_receive(uint32_t from, int kind, void *data, size_t size_bytes, uint64_t until_ns, uint64_t grace_ns)
{
    MPI_Request request;
    struct wait wait = wait_begin(until_ns, grace_ns);
    int there_bytes;
    int result = wait_for_message(from, kind, &wait, &there_bytes);
    if (result < 0)
        return result;
    if ((size_t)there_bytes != size_bytes)
        return -EPROTO;
    void *copy = malloc(size_bytes);
    if (copy == NULL)
        return -ENOMEM;
    if (MPI_Irecv(copy, there_bytes, MPI_BYTE, (int)from, kind, MPI_COMM_WORLD, &request) != MPI_SUCCESS) {
        free(copy);
        return -ETIME;
    }
    while (!is_done(&request)) {
        if (!wait_on(&wait))
            return give_up(copy);
    }
    memcpy(data, copy, size_bytes);
    free(copy);
    return 0;
}
