/* Fault injection into the ways of doing I/O: every API, the n-th call, once and for ever. */
/* clang-format off */
/* LINK: -Wl,--wrap=pread64,--wrap=pwrite64,--wrap=preadv64,--wrap=pwritev64,--wrap=fdatasync,--wrap=io_setup,--wrap=io_submit,--wrap=io_getevents,--wrap=io_uring_queue_init,--wrap=io_uring_submit,--wrap=io_uring_submit_and_wait,--wrap=io_uring_peek_batch_cqe,--wrap=pthread_create,--wrap=calloc,--wrap=open64 */
/* clang-format on */
#include "tests/bench/io/ioapi_faults.h"
#include "tests/bench/io/ioapi_rig.h"

#define REQUEST_BYTES 4096
#define N_TOTAL       12
#define DEPTH         4
#define ASYNC         (1U << API_LIBAIO | 1U << API_IO_URING)
#define BLOCKING      (1U << API_PSYNC | 1U << API_PVEC | 1U << API_POOL)

struct run {
    uint32_t depth;
    size_t chunk;
    bool is_write, sync_each;
};

static void skip_unless_it_runs(void)
{
    if (row->probe(NULL) < 0)
        skip();
}

/* Opens, arms, transfers, disarms, closes. Returns the failure of submit or reap as such. */
static int run_with(const struct run *run, enum site site, int code, unsigned nth, unsigned times,
                    struct rig_outcome *outcome)
{
    uint64_t offsets[N_TOTAL];
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    AUTO(rig_close) struct rig rig;
    skip_unless_it_runs();
    int rc = rig_open(&rig, row, fd, run->depth, REQUEST_BYTES, run->sync_each);
    assert_int_equal(rc, 0);
    rig_shuffle(offsets, N_TOTAL, rig.call_bytes);
    assert_int_equal(rig_run(&rig, true, offsets, N_TOTAL, DEPTH, outcome), 0); /* something to read */
    arm(site, code, nth, times);
    rc = rig_run(&rig, run->is_write, offsets, N_TOTAL, run->chunk, outcome);
    disarm();
    if (rc < 0) {
        assert_int_equal(rig.err.code, rc);
        assert_non_null(strstr(rig.err.text, row->name));
    }
    return rc;
}

/* Every combination of n-th and once or for ever: exactly the calls that were hit have the outcome that was
 * injected. */
static void check_outcomes(const struct run *run, enum site site, int code)
{
    for (unsigned k = 0; k < 6; k++) {
        unsigned nth = k % 3 + 1;
        unsigned times = k < 3 ? 1 : FOR_EVER;
        size_t n_bad = times == 1 ? 1 : N_TOTAL + 1 - nth;
        struct rig_outcome outcome;
        assert_int_equal(run_with(run, site, code, nth, times, &outcome), 0);
        assert_int_equal(atomic_load(&fault.n_hit), n_bad);
        assert_int_equal(outcome.n_whole, N_TOTAL - n_bad);
        assert_int_equal(code == SHORT ? outcome.n_short : outcome.n_failed, n_bad);
        for (size_t i = 0; i < N_TOTAL; i++)
            assert_true(code == SHORT || outcome.results[i] > 0 || outcome.results[i] == -code);
        if (times == 1 && fault.victim != NULL)
            assert_ptr_equal(outcome.bad_buffer, fault.victim);
    }
}

EACH_API_OF(RIG_TABLE, a_failed_or_short_transfer_is_the_outcome_of_its_call)
{
    static const int codes[] = {EIO, ENOSPC, EAGAIN, SHORT};
    for (size_t i = 0; i < N_OF(codes); i++) {
        check_outcomes(&(struct run){DEPTH, DEPTH, false, false}, TRANSFER, codes[i]);
        check_outcomes(&(struct run){DEPTH, DEPTH, true, false}, TRANSFER, codes[i]);
        check_outcomes(&(struct run){DEPTH, DEPTH, true, true}, TRANSFER, codes[i]);
    }
}

EACH_API_OF(RIG_TABLE, a_failed_flush_is_the_outcome_of_its_write)
{
    check_outcomes(&(struct run){DEPTH, DEPTH, true, true}, SYNC, EIO);
    check_outcomes(&(struct run){DEPTH, DEPTH, true, true}, SYNC, ENOSPC);
}

EACH_API_OF(RIG_TABLE, reads_are_never_flushed)
{
    struct rig_outcome outcome;
    assert_int_equal(run_with(&(struct run){DEPTH, DEPTH, false, true}, SYNC, EIO, 1, FOR_EVER, &outcome), 0);
    assert_int_equal(atomic_load(&fault.n_seen), 0);
    assert_int_equal(outcome.n_whole, N_TOTAL);
}

EACH_API_OF(BLOCKING, a_short_write_is_not_worth_a_flush)
{
    struct run run = {1, 1, true, true};
    struct rig_outcome outcome;
    assert_int_equal(run_with(&run, NOWHERE, 0, 1, 1, &outcome), 0);
    assert_int_equal(atomic_load(&fault.n_flushes), N_TOTAL);
    assert_int_equal(run_with(&run, TRANSFER, SHORT, 1, FOR_EVER, &outcome), 0);
    assert_int_equal(outcome.n_short, N_TOTAL);
    assert_int_equal(atomic_load(&fault.n_flushes), 0);
}

EACH_API_OF(1U << API_POOL, workers_take_no_signals_and_the_mask_is_restored)
{
    sigset_t one, before, after;
    AUTO(rig_close) struct rig rig;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, &before);
    assert_int_equal(rig_open(&rig, row, 0, DEPTH, REQUEST_BYTES, false), 0);
    pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), 1);
    assert_int_equal(sigismember(&after, SIGTERM), 0);
    assert_int_equal(sigismember(&fault.mask, SIGTERM), 1);
    assert_int_equal(sigismember(&fault.mask, SIGALRM), 1);
}

EACH_API_OF(RIG_TABLE, interruptions_are_invisible)
{
    static const enum site blocking[] = {TRANSFER, SYNC}, async[] = {SUBMIT, WAIT};
    const enum site *sites = (ASYNC >> row->api & 1) != 0 ? async : blocking;
    for (unsigned k = 0; k < 6; k++) {
        for (size_t i = 0; i < 2; i++) {
            struct run run = {DEPTH, DEPTH, true, true};
            unsigned times = k < 3 ? 1 : 100;
            struct rig_outcome outcome;
            assert_int_equal(run_with(&run, sites[i], EINTR, k % 3 + 1, times, &outcome), 0);
            assert_int_equal(outcome.n_whole, N_TOTAL);
            assert_int_equal(atomic_load(&fault.n_hit), times);
        }
    }
}

/* A file system that answers EINTR for ever must not hold a thread for ever. Of the others, a completion with
 * EINTR is an outcome like any. */
EACH_API_OF(BLOCKING, endless_interruptions_are_a_failure)
{
    struct run run = {DEPTH, DEPTH, false, true};
    struct rig_outcome outcome;
    assert_int_equal(run_with(&run, TRANSFER, EINTR, 1, FOR_EVER, &outcome), 0);
    assert_int_equal(outcome.n_whole, 0);
}

/* One call a submission, so that nth - 1 calls are in flight when the kernel first asks to wait. */
static void check_busy(int code, unsigned nth)
{
    struct run run = {DEPTH, 1, false, false};
    struct rig_outcome outcome;
    int rc = run_with(&run, SUBMIT, code, nth, 1, &outcome);
    if (nth == 1) {
        assert_int_equal(rc, -EAGAIN);
        assert_int_equal(outcome.n_issued, 0);
    } else {
        assert_int_equal(rc, 0);
        assert_int_equal(outcome.n_whole, N_TOTAL);
    }
    assert_int_equal(run_with(&run, SUBMIT, code, nth, FOR_EVER, &outcome), -EAGAIN);
    assert_int_equal(outcome.n_issued, nth - 1);
    assert_int_equal(outcome.n_whole, nth - 1);
}

EACH_API_OF(ASYNC, a_busy_kernel_is_waited_for_unless_nothing_is_in_flight)
{
    for (unsigned nth = 1; nth <= 3; nth++) {
        check_busy(EAGAIN, nth);
        if (row->api == API_IO_URING)
            check_busy(EBUSY, nth);
    }
}

EACH_API_OF(ASYNC, partial_submissions_lose_nothing)
{
    for (unsigned k = 0; k < 24; k++) {
        struct run run = {DEPTH, DEPTH, k & 1, k & 2};
        struct rig_outcome outcome;
        assert_int_equal(run_with(&run, SUBMIT, SHORT, k / 8 + 1, k & 4 ? 1 : FOR_EVER, &outcome), 0);
        assert_true(atomic_load(&fault.n_hit) > 0);
        assert_int_equal(outcome.n_whole, N_TOTAL);
    }
}

/* io_uring: the kernel consumes the write alone, so that its fdatasync has to be made up for. */
EACH_API_OF(1U << API_IO_URING, a_write_parted_from_its_flush_is_flushed_all_the_same)
{
    uint64_t offsets[2] = {0, REQUEST_BYTES};
    struct rig_outcome outcome = {0};
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    AUTO(rig_close) struct rig rig;
    size_t n;
    skip_unless_it_runs();
    assert_int_equal(rig_open(&rig, row, fd, 2, REQUEST_BYTES, true), 0);
    arm(SUBMIT, SHORT, 1, 1);
    assert_int_equal(rig_submit(&rig, true, offsets, 2, 2, &outcome, &n), 0);
    assert_int_equal(n, 1);
    arm(SYNC, EIO, 1, 1);
    assert_int_equal(rig_reap(&rig, 2, &outcome), 0);
    disarm();
    assert_int_equal(outcome.results[0], -EIO);
    assert_int_equal(atomic_load(&fault.n_seen), 1);
}

/* As while signals keep it from starting a worker thread. */
EACH_API_OF(1U << API_IO_URING, what_the_kernel_gives_up_is_sent_again_but_not_for_ever)
{
    for (unsigned k = 0; k < 12; k++) {
        struct run run = {DEPTH, DEPTH, true, true};
        unsigned times = k % 6 < 3 ? 1 : 3 * DEPTH;
        struct rig_outcome outcome;
        assert_int_equal(run_with(&run, k < 6 ? TRANSFER : SYNC, ECANCELED, k % 3 + 1, times, &outcome), 0);
        assert_int_equal(atomic_load(&fault.n_hit), times);
        assert_int_equal(outcome.n_whole, N_TOTAL);
        assert_int_equal(run_with(&run, TRANSFER, ECANCELED, k % 3 + 1, FOR_EVER, &outcome), 0);
        assert_int_equal(outcome.n_whole, k % 3);
    }
}

EACH_API_OF(1U << API_IO_URING, what_is_given_up_and_refused_then_has_failed)
{
    uint64_t offset = 0;
    struct rig_outcome outcome = {0};
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    AUTO(rig_close) struct rig rig;
    size_t n;
    skip_unless_it_runs();
    assert_int_equal(rig_open(&rig, row, fd, 1, REQUEST_BYTES, true), 0);
    assert_int_equal(rig_submit(&rig, true, &offset, 1, 1, &outcome, &n), 0);
    arm(TRANSFER, ECANCELED, 1, 1);
    fault.then = SUBMIT;
    assert_int_equal(rig_reap(&rig, 1, &outcome), 0);
    disarm();
    assert_int_equal(outcome.results[0], -ECANCELED);
}

EACH_API_OF(1U << API_LIBAIO, a_refused_submission_is_the_outcome_of_its_call)
{
    check_outcomes(&(struct run){DEPTH, 1, true, false}, SUBMIT, EIO);
    check_outcomes(&(struct run){DEPTH, 1, false, false}, SUBMIT, ENOSPC);
    check_outcomes(&(struct run){DEPTH, 1, false, true}, SUBMIT, EBADF);
}

/* At depth 1 nothing is in the kernel when the flush is refused; deeper, it may be tried again behind the
 * others. */
EACH_API_OF(1U << API_LIBAIO, a_flush_that_finds_no_room_does_not_hang)
{
    struct rig_outcome outcome;
    assert_int_equal(run_with(&(struct run){1, 1, true, true}, SUBMIT, EAGAIN, 2, 1, &outcome), 0);
    assert_int_equal(outcome.n_failed, 1);
    assert_int_equal(outcome.results[0], -EAGAIN);
    for (unsigned nth = 2; nth <= 5; nth++) {
        struct run run = {DEPTH, DEPTH, true, true};
        assert_int_equal(run_with(&run, SUBMIT, EAGAIN, nth, FOR_EVER, &outcome), -EAGAIN);
        assert_int_equal(outcome.n_reaped, outcome.n_issued);
    }
}

EACH_API_OF(ASYNC, a_broken_api_fails_with_its_name)
{
    struct run run = {DEPTH, DEPTH, true, true};
    struct rig_outcome outcome;
    for (unsigned nth = 1; nth <= 3; nth++) {
        assert_int_equal(run_with(&run, WAIT, EINVAL, nth, 1, &outcome), -EINVAL);
        if (row->api == API_IO_URING)
            assert_int_equal(run_with(&run, SUBMIT, EIO, nth, 1, &outcome), -EIO);
    }
}

/* Opening (or only probing) under a fault fails with `code` and words that contain `word`. */
static void check_setup(bool sync_each, enum site site, unsigned nth, int code, const char *word)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    AUTO(rig_close) struct rig rig;
    skip_unless_it_runs();
    arm(site, code, nth, FOR_EVER);
    assert_int_equal(rig_open(&rig, row, fd, DEPTH, REQUEST_BYTES, sync_each), -code);
    assert_int_equal(rig.err.code, -code);
    assert_non_null(strstr(rig.err.text, row->name));
    assert_non_null(strstr(rig.err.text, word));
    if (nth == 1 && !sync_each && site != MEMORY) {
        struct err err = {0};
        arm(site, code, 1, FOR_EVER);
        assert_int_equal(row->probe(&err), -code);
        assert_non_null(strstr(err.text, word));
    }
    disarm();
}

EACH_API_OF(1U << API_POOL, refused_threads_name_the_limits)
{
    for (unsigned nth = 1; nth <= DEPTH; nth++)
        check_setup(false, THREAD, nth, EAGAIN, "ulimit -u");
}

EACH_API_OF(1U << API_LIBAIO, a_refused_aio_context_names_the_limit)
{
    check_setup(false, SETUP, 1, EAGAIN, "fs.aio-max-nr");
    check_setup(false, SETUP, 1, ENOSYS, "CONFIG_AIO");
    check_setup(false, SETUP, 1, ENOMEM, "io_setup");
    check_setup(true, SUBMIT, 1, EINVAL, "IOCB_CMD_FDSYNC");
    check_setup(true, SUBMIT, 1, EAGAIN, "fdatasync");
    check_setup(true, SYNC, 1, EINVAL, "IOCB_CMD_FDSYNC");
    check_setup(true, WAIT, 1, EIO, "fdatasync");
}

EACH_API_OF(1U << API_IO_URING, a_refused_ring_names_the_remedy)
{
    fault.disabled = "2\n";
    check_setup(false, SETUP, 1, EPERM, "kernel.io_uring_disabled is 2: off for every process");
    fault.disabled = "1\n";
    check_setup(false, SETUP, 1, EPERM, "kernel.io_uring_group");
    fault.disabled = "0\n";
    check_setup(false, SETUP, 1, EPERM, "seccomp");
    fault.disabled = "";
    check_setup(false, SETUP, 1, EPERM, "has no kernel.io_uring_disabled");
    fault.disabled = NULL;
    check_setup(false, SETUP, 1, ENOSYS, "seccomp");
    check_setup(false, SETUP, 1, ENOMEM, "RLIMIT_MEMLOCK");
    check_setup(false, SETUP, 1, EMFILE, "io_uring_setup");
}

EACH_API_OF(1U << API_IO_URING, a_ring_without_plain_reads_is_found_by_the_probe)
{
    struct err err = {0};
    skip_unless_it_runs();
    arm(WAIT, EINTR, 1, 3);
    assert_int_equal(row->probe(&err), -EIO); /* the wrapper shows no completion */
    arm(WAIT, EINVAL, 1, 1);
    assert_int_equal(row->probe(&err), -EINVAL);
    disarm();
    assert_non_null(strstr(err.text, "5.6"));
}

EACH_API_OF(RIG_TABLE, lack_of_memory_fails_open_cleanly)
{
    static const unsigned n_allocations[API_N] = {
        [API_PSYNC] = 0, [API_PVEC] = 1, [API_POOL] = 3, [API_LIBAIO] = 5, [API_IO_URING] = 2};
    for (unsigned nth = 1; nth <= n_allocations[row->api]; nth++)
        check_setup(false, MEMORY, nth, ENOMEM, "no memory");
}

/* A hang is a failure, not a wait. */
FIXTURE(bound_time)
{
    alarm(120);
    return 0;
}

GROUP(bound_time, NULL);
