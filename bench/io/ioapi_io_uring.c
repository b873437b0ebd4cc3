/* io_uring without registered buffers and polling: a ring with cooperative task running, as modern programs
 * set it up, or a plain one without set-up flags, as QEMU uses it. */
#include "bench/io/ioapi.h"
#include "bench/io/ioapi_blocking.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* After so many failed waits in a row (10 s), what is in flight is left to the kernel. */
#define DRAIN_TRIES    10000
#define DRAIN_PAUSE_NS 1000000ULL
/* What the kernel gives up is sent again, unless it does nothing else for so many full queues. */
#define GIVEN_UP_QUEUES 8

/* What is known of the call in a slot until all its completions have come. */
struct slot {
    struct io_call *call;
    uint32_t n_awaited; /* completions to come: a durable write has two, its own and its fdatasync's */
    bool sync_missing;  /* the kernel took the write without its fdatasync */
    int32_t moved;      /* result of the transfer */
    int32_t synced;     /* result of the fdatasync; 0 when there is none */
};

struct uring {
    bool opened;   /* the ring exists */
    bool disabled; /* until the first submission */
    bool deferred; /* completions are worked off when the program enters the kernel for them */
    bool sync_each;
    uint32_t n_calls;
    size_t n_in_flight; /* calls accepted and not yet reaped */
    size_t n_given_up;  /* by the kernel, in a row */
    struct io_uring ring;
    struct slot *slots;         /* n_calls */
    struct io_uring_cqe **cqes; /* n_calls */
};

/* The value of the sysctl, or -1 where the kernel does not have it (before 6.6). */
static int read_io_uring_disabled(void)
{
    char digit = 0;
    int fd = open("/proc/sys/kernel/io_uring_disabled", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, &digit, 1);
    close(fd);
    return n == 1 && digit >= '0' && digit <= '9' ? digit - '0' : -1;
}

static int explain_eperm(struct err *err)
{
    int value = read_io_uring_disabled();
    if (value == 2)
        return err_set(err, -EPERM,
                       "io_uring: kernel.io_uring_disabled is 2: off for every process; sysctl "
                       "kernel.io_uring_disabled=0 allows it");
    if (value == 1)
        return err_set(err, -EPERM,
                       "io_uring: kernel.io_uring_disabled is 1: only for CAP_SYS_ADMIN and the group "
                       "kernel.io_uring_group; join it, or sysctl kernel.io_uring_disabled=0");
    if (value == 0)
        return err_set(
            err, -EPERM,
            "io_uring: forbidden although kernel.io_uring_disabled is 0: a seccomp filter (container) "
            "or security module must allow io_uring_setup");
    return err_set(
        err, -EPERM,
        "io_uring: forbidden (this kernel has no kernel.io_uring_disabled): a seccomp filter (container) "
        "or security module must allow io_uring_setup");
}

static int explain_setup(int code, struct err *err)
{
    switch (code) {
    case -EPERM:
        return explain_eperm(err);
    case -ENOSYS:
        return err_set(
            err, code,
            "io_uring: io_uring_setup is missing: a seccomp filter (container) hides it, or the kernel "
            "is older than 5.1");
    case -ENOMEM:
        return err_set(err, code,
                       "io_uring: no memory for the ring: many kernels count it against RLIMIT_MEMLOCK; "
                       "raise it (ulimit -l) or lower the queue depth");
    default:
        return err_sys(err, code, "io_uring: io_uring_setup");
    }
}

/* Only a kernel that knows IORING_OP_READ (5.6) looks at the descriptor; an older one answers EINVAL. */
static int uring_probe(struct err *err)
{
    struct io_uring ring;
    struct io_uring_cqe *cqe;
    unsigned char byte;
    int rc = io_uring_queue_init(2, &ring, 0);
    if (rc < 0)
        return explain_setup(rc, err);
    io_uring_prep_read(io_uring_get_sqe(&ring), -1, &byte, 1, 0);
    do
        rc = io_uring_submit_and_wait(&ring, 1);
    while (rc == -EINTR);
    if (rc >= 0)
        rc = io_uring_peek_batch_cqe(&ring, &cqe, 1) == 1 ? cqe->res : -EIO;
    if (rc == -EBADF)
        rc = 0;
    else if (rc == -EINVAL)
        err_set(err, rc,
                "io_uring: this kernel's io_uring has no plain reads and writes; they came with Linux 5.6");
    else
        err_sys(err, rc, "io_uring: the ring does not work");
    io_uring_queue_exit(&ring);
    return rc;
}

static bool needs_sync(const struct uring *uring, const struct io_call *call)
{
    return uring->sync_each && call->is_write;
}

/* Writes the entries of one call; the ring has two per call, so that there is always room. Returns how many.
 */
static unsigned prepare(struct uring *uring, struct io_call *call)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    unsigned size = (unsigned)call->size_bytes;
    if (call->is_write)
        io_uring_prep_write(sqe, call->fd, call->buffer, size, call->offset_bytes);
    else
        io_uring_prep_read(sqe, call->fd, call->buffer, size, call->offset_bytes);
    sqe->user_data = (uint64_t)call->slot << 1;
    if (!needs_sync(uring, call))
        return 1;
    sqe->flags |= IOSQE_IO_LINK;
    sqe = io_uring_get_sqe(&uring->ring);
    io_uring_prep_fsync(sqe, call->fd, IORING_FSYNC_DATASYNC);
    sqe->user_data = (uint64_t)call->slot << 1 | 1;
    return 2;
}

/* Takes back entries that the kernel has not consumed: their calls are not accepted and may come again in
 * another order. The kernel looks at the tail only in io_uring_enter, because the ring is not polled. */
static void withdraw(struct io_uring *ring)
{
    unsigned head = *ring->sq.khead;
    ring->sq.sqe_head = head;
    ring->sq.sqe_tail = head;
    *ring->sq.ktail = head;
}

/* Books the calls of which the kernel consumed n_sqes entries; returns how many calls that are. */
static size_t accept_calls(struct uring *uring, struct io_call *const *calls, unsigned n_sqes)
{
    size_t n_accepted = 0;
    while (n_sqes > 0) {
        struct io_call *call = calls[n_accepted++];
        unsigned n_needed = needs_sync(uring, call) ? 2 : 1;
        unsigned n_taken = n_sqes < n_needed ? n_sqes : n_needed;
        uring->slots[call->slot] =
            (struct slot){.call = call, .n_awaited = n_taken, .sync_missing = n_taken < n_needed};
        n_sqes -= n_taken;
    }
    uring->n_in_flight += n_accepted;
    return n_accepted;
}

/* One io_uring_enter: were it repeated for what it left, a write and its fdatasync could end up in two
 * submissions, unordered. It takes deferred completions along, which saves the call that would fetch them. */
static int enter(struct uring *uring)
{
    int rc;
    do
        rc = uring->deferred ? io_uring_submit_and_get_events(&uring->ring) : io_uring_submit(&uring->ring);
    while (rc == -EINTR);
    return rc;
}

/* Waits for a completion that is not yet there; -ETIME when until_ns comes first. */
static int wait_completion(struct uring *uring, uint64_t until_ns)
{
    struct io_uring_cqe *cqe;
    int rc;
    if (until_ns != IOAPI_NO_END && (uring->ring.features & IORING_FEAT_EXT_ARG) == 0)
        return -EOPNOTSUPP;
    do {
        struct timespec left = clock_time_left(until_ns);
        struct __kernel_timespec time = {.tv_sec = left.tv_sec, .tv_nsec = left.tv_nsec};
        rc = until_ns == IOAPI_NO_END ? io_uring_submit_and_wait(&uring->ring, 1)
                                      : io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, &time, NULL);
    } while (rc == -EINTR);
    return rc < 0 ? rc : 0;
}

/* Sums up a call all of whose completions have come. A write that failed or came short cancels its fdatasync:
 * only after a whole write does the outcome of the fdatasync count. */
static void settle(struct slot *slot)
{
    struct io_call *call = slot->call;
    call->result = slot->moved;
    if ((int64_t)call->size_bytes != slot->moved)
        return;
    if (slot->sync_missing)
        call->result = ioapi_blocking_sync(call->fd, slot->moved);
    else if (slot->synced < 0)
        call->result = slot->synced;
}

/* A call that needs one of the kernel's worker threads is cancelled when the kernel cannot start one in a few
 * tries. A signal that arrives meanwhile fails a try, so that calls of a busy machine are given up now and
 * then. */
static bool is_given_up(struct uring *uring, const struct io_call *call)
{
    uring->n_given_up = call->result == -ECANCELED ? uring->n_given_up + 1 : 0;
    return uring->n_given_up > 0 && uring->n_given_up <= (size_t)GIVEN_UP_QUEUES * uring->n_calls;
}

/* Sends calls again that the kernel gave up, which have left the ring. Returns how many of the n have ended.
 */
static size_t send_again(struct uring *uring, struct io_call **calls, size_t n)
{
    size_t n_ended = 0;
    for (size_t i = 0; i < n; i++) {
        int n_sent = 0, n_sqes = 0;
        if (is_given_up(uring, calls[i])) {
            n_sqes = (int)prepare(uring, calls[i]);
            n_sent = enter(uring);
        }
        if (n_sent < n_sqes)
            withdraw(&uring->ring);
        if (n_sent > 0)
            accept_calls(uring, &calls[i], (unsigned)n_sent);
        else
            calls[n_ended++] = calls[i];
    }
    return n_ended;
}

/* Takes the completions that are there: at most max, so that no more than max calls end. Returns how many
 * ended. */
static size_t take_completions(struct uring *uring, struct io_call **calls, size_t max)
{
    size_t n_ended = 0;
    if (max > uring->n_calls)
        max = uring->n_calls;
    unsigned n = io_uring_peek_batch_cqe(&uring->ring, uring->cqes, (unsigned)max);
    for (unsigned i = 0; i < n; i++) {
        uint64_t tag = uring->cqes[i]->user_data;
        struct slot *slot = &uring->slots[tag >> 1];
        if (tag & 1)
            slot->synced = uring->cqes[i]->res;
        else
            slot->moved = uring->cqes[i]->res;
        if (--slot->n_awaited == 0) {
            settle(slot);
            calls[n_ended++] = slot->call;
        }
    }
    io_uring_cq_advance(&uring->ring, n);
    uring->n_in_flight -= n_ended;
    return send_again(uring, calls, n_ended);
}

/* Closing the ring alone would leave transfers running into buffers that the caller is about to free. A wait
 * that fails is tried again: most failures pass, and a plain ring shows completions without it. */
static void drain(struct uring *uring)
{
    struct io_call *ended;
    unsigned n_failed = 0;
    while (uring->n_in_flight > 0 && n_failed < DRAIN_TRIES) {
        if (take_completions(uring, &ended, 1) > 0)
            n_failed = 0;
        else if (wait_completion(uring, IOAPI_NO_END) < 0 && ++n_failed < DRAIN_TRIES)
            clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + DRAIN_PAUSE_NS);
    }
}

static void uring_close(void *state)
{
    struct uring *uring = state;
    if (uring->opened) {
        drain(uring);
        io_uring_queue_exit(&uring->ring);
    }
    free(uring->cqes);
    free(uring->slots);
    memset(uring, 0, sizeof(*uring));
}

/* As fio does it. A ring of one submitter (6.1) belongs to the thread that enables it: the one that submits
 * first, which need not be the one that opens it. */
static int init_cooperative(struct uring *uring, unsigned n_entries)
{
    int rc = io_uring_queue_init(n_entries, &uring->ring,
                                 IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER |
                                     IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_R_DISABLED);
    uring->disabled = uring->deferred = rc == 0;
    return rc == -EINVAL ? io_uring_queue_init(n_entries, &uring->ring, IORING_SETUP_COOP_TASKRUN) : rc;
}

bool ioapi_uring_cooperates(void)
{
    struct uring uring = {0};
    bool cooperates = init_cooperative(&uring, 2) == 0;
    if (cooperates)
        io_uring_queue_exit(&uring.ring);
    return cooperates;
}

static int uring_open(void *state, const struct ioapi_config *config, struct err *err)
{
    struct uring *uring = state;
    uint32_t n = config->n_calls;
    unsigned n_entries = 2;
    int rc;
    if (n < 1)
        return err_set(err, -EINVAL, "io_uring: a queue depth of 0");
    memset(uring, 0, sizeof(*uring));
    uring->sync_each = config->sync_each;
    uring->n_calls = n;
    uring->slots = calloc(n, sizeof(*uring->slots));
    uring->cqes = calloc(n, sizeof(struct io_uring_cqe *));
    if (uring->slots == NULL || uring->cqes == NULL) {
        rc = err_set(err, -ENOMEM, "io_uring: no memory for %u calls", n);
        goto out;
    }
    while (n_entries < 2 * n)
        n_entries *= 2;
    rc = config->cooperative_ring ? init_cooperative(uring, n_entries)
                                  : io_uring_queue_init(n_entries, &uring->ring, 0);
    if (rc == -EINVAL && config->cooperative_ring)
        err_set(err, rc, "io_uring: this kernel has no cooperative task running; it came with Linux 5.19");
    else if (rc < 0)
        explain_setup(rc, err);
    else
        uring->opened = true;
out:
    if (rc < 0)
        uring_close(uring);
    return rc;
}

static int uring_submit(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err)
{
    struct uring *uring = state;
    unsigned n_sqes = 0;
    int rc = 0;
    if (uring->disabled) {
        /* liburing 2.3 has no function for it. */
        if (syscall(__NR_io_uring_register, uring->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0) < 0)
            return err_sys(err, -errno, "io_uring: enabling the ring");
        uring->disabled = false;
    }
    if (n > uring->n_calls - uring->n_in_flight)
        n = uring->n_calls - uring->n_in_flight;
    for (size_t i = 0; i < n; i++)
        n_sqes += prepare(uring, calls[i]);
    if (n_sqes > 0) {
        rc = enter(uring);
        if (rc < (int)n_sqes)
            withdraw(&uring->ring);
        if (rc < 0 && rc != -EAGAIN && rc != -EBUSY)
            return err_sys(err, rc, "io_uring: io_uring_enter");
        if (rc <= 0 && uring->n_in_flight == 0)
            return err_sys(err, -EAGAIN, "io_uring: io_uring_enter takes no call although none is in flight");
    }
    *ret_n = accept_calls(uring, calls, rc > 0 ? (unsigned)rc : 0);
    return 0;
}

static int uring_reap(void *state, struct io_call **calls, size_t max, uint64_t until_ns, size_t *ret_n,
                      struct err *err)
{
    struct uring *uring = state;
    size_t n;
    if (uring->n_in_flight == 0 || max == 0)
        return err_set(err, -EINVAL, "io_uring: nothing to reap");
    while ((n = take_completions(uring, calls, max)) == 0) {
        int rc = wait_completion(uring, until_ns);
        if (rc == -ETIME) {
            n = take_completions(uring, calls, max);
            break;
        }
        if (rc == -EOPNOTSUPP)
            return err_set(err, rc, "io_uring: offered rates need Linux 5.11; use another api");
        if (rc < 0)
            return err_sys(err, rc, "io_uring: io_uring_enter");
    }
    *ret_n = n;
    return 0;
}

const struct ioapi_ops ioapi_io_uring = {
    .name = "io_uring",
    .api = API_IO_URING,
    .state_size = sizeof(struct uring),
    .inline_io = true,
    .probe = uring_probe,
    .open = uring_open,
    .submit = uring_submit,
    .reap = uring_reap,
    .close = uring_close,
};
