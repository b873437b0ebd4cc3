/* Conformance of the ways of doing I/O: every row of ioapi_table, and io_uring with deferred completions,
 * passes the same suite. */
#include "tests/bench/io/ioapi_rig.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#define REQUEST_BYTES 4096

static const uint32_t depths[] = {1, 8, 64};

#define N_DEPTHS N_OF(depths)

/* Opens or skips: a machine may lack an API (io_uring in a container), and probe is what says so. */
static void open_or_skip(struct rig *rig, int fd, uint32_t depth, size_t request_bytes, bool sync_each)
{
    struct err err = {0};
    int rc = row->probe(&err);
    if (rc < 0) {
        assert_true(err.text[0] != '\0');
        print_message("%s\n", err.text);
        skip();
    }
    rc = rig_open(rig, row, fd, depth, request_bytes, sync_each);
    if (rc < 0)
        print_error("%s\n", rig->err.text);
    if (rc == -EINVAL && row->open == rig_open_cooperatively)
        skip(); /* before Linux 5.19 */
    assert_int_equal(rc, 0);
}

/* Transfers of which each is moved whole. */
static void transfer_all(struct rig *rig, bool is_write, const uint64_t *offsets, size_t n)
{
    struct rig_outcome outcome;
    assert_int_equal(rig_run(rig, is_write, offsets, n, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.n_whole, n);
}

static void fill_file(int fd, size_t size, uint64_t salt)
{
    unsigned char block[REQUEST_BYTES];
    for (size_t offset = 0; offset < size; offset += sizeof(block)) {
        size_t n = size - offset < sizeof(block) ? size - offset : sizeof(block);
        rig_fill(block, offset, sizeof(block), salt);
        assert_int_equal(pwrite(fd, block, n, (off_t)offset), n);
    }
}

static void assert_file_holds(int fd, size_t size, uint64_t salt)
{
    unsigned char block[REQUEST_BYTES];
    for (size_t offset = 0; offset < size; offset += sizeof(block)) {
        assert_int_equal(pread(fd, block, sizeof(block), (off_t)offset), sizeof(block));
        assert_true(rig_matches(block, offset, sizeof(block), salt));
    }
}

/* Writes and reads back in random order. */
static void use(struct rig *rig, int fd)
{
    uint64_t offsets[RIG_TOTAL_MAX] = {0};
    size_t n_total = 3 * rig->config.n_calls + 5;
    rig_shuffle(offsets, n_total, rig->call_bytes);
    rig->salt = rig->config.n_calls;
    transfer_all(rig, true, offsets, n_total);
    assert_file_holds(fd, n_total * rig->call_bytes, rig->salt);
    rig_shuffle(offsets, n_total, rig->call_bytes);
    transfer_all(rig, false, offsets, n_total);
}

static void write_and_read(int fd, uint32_t depth, bool sync_each)
{
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, depth, REQUEST_BYTES, sync_each);
    use(&rig, fd);
}

EACH_API(written_data_lands_and_is_read_back)
{
    for (size_t i = 0; i < N_DEPTHS; i++) {
        AUTO(auto_close) int fd = rig_file("/tmp", 0);
        write_and_read(fd, depths[i], false);
    }
}

/* In memory, where io_uring hands every request to a worker of its own, and wherever the tests are run. */
EACH_API(it_works_in_several_places_and_every_write_can_be_synced)
{
    const char *const places[] = {".", "/dev/shm"};
    for (size_t i = 0; i < N_OF(places); i++) {
        AUTO(auto_close) int fd = rig_file(places[i], 0);
        write_and_read(fd, 8, false);
        write_and_read(fd, 1, true);
        write_and_read(fd, 8, true);
    }
}

static struct rig shared;

static void *use_aside(void *fd)
{
    use(&shared, *(const int *)fd);
    return NULL;
}

/* A ring that has one submitter belongs to the one that submits first. */
EACH_API(another_thread_may_use_what_this_one_has_opened)
{
    AUTO(auto_close) int fd = rig_file("/dev/shm", 0);
    pthread_t thread;
    open_or_skip(&shared, fd, 8, REQUEST_BYTES, false);
    assert_int_equal(pthread_create(&thread, NULL, use_aside, &fd), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    rig_close(&shared);
}

EACH_API(direct_transfers_work)
{
    AUTO(auto_close) int fd = rig_file(".", O_DIRECT);
    if (fd < 0)
        skip();
    AUTO(auto_close) int plain = rig_reopen(fd, O_RDWR);
    for (size_t i = 0; i < N_DEPTHS; i++) {
        uint64_t offsets[8];
        AUTO(rig_close) struct rig rig;
        open_or_skip(&rig, fd, depths[i], REQUEST_BYTES, i == 1);
        rig_shuffle(offsets, 8, rig.call_bytes);
        transfer_all(&rig, true, offsets, 8);
        assert_file_holds(plain, 8 * rig.call_bytes, rig.salt);
        transfer_all(&rig, false, offsets, 8);
    }
}

EACH_API(a_misaligned_direct_transfer_fails)
{
    AUTO(auto_close) int fd = rig_file(".", O_DIRECT);
    uint64_t offset = 100;
    struct rig_outcome outcome;
    if (fd < 0)
        skip();
    struct rig rig;
    open_or_skip(&rig, fd, 1, REQUEST_BYTES, false);
    assert_int_equal(rig_run(&rig, true, &offset, 1, 1, &outcome), 0);
    rig_close(&rig);
    if (outcome.n_whole == 1) /* a file system that ignores O_DIRECT */
        skip();
    assert_int_equal(outcome.results[0], -EINVAL);
}

EACH_API(large_requests_are_moved_whole)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    uint64_t offsets[2] = {16 << 20, 0};
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, 2, 8 << 20, false);
    transfer_all(&rig, true, offsets, 2);
    transfer_all(&rig, false, offsets, 2);
}

EACH_API(reads_past_the_end_are_short)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    struct rig_outcome outcome;
    uint64_t offsets[3];
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, 4, REQUEST_BYTES, false);
    fill_file(fd, rig.call_bytes + 1000, rig.salt);
    offsets[0] = 0;
    offsets[1] = rig.call_bytes;
    offsets[2] = 4 * rig.call_bytes;
    assert_int_equal(rig_run(&rig, false, offsets, 3, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.results[0], rig.call_bytes);
    assert_int_equal(outcome.results[1], 1000);
    assert_int_equal(outcome.results[2], 0);
}

/* Writes one call whose buffer cannot be read amid good ones: a mapping beyond the end of its file, which
 * valgrind does not object to. */
static void check_bad_buffer(int fd, bool sync_each)
{
    AUTO(auto_close) int empty = memfd_create("empty", MFD_CLOEXEC);
    void *hole = mmap(NULL, REQUEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, empty, 0);
    struct rig_outcome outcome = {0};
    struct io_call *list[4];
    struct rig rig;
    size_t n;
    assert_ptr_not_equal(hole, MAP_FAILED);
    open_or_skip(&rig, fd, 4, REQUEST_BYTES, sync_each);
    uint32_t bad = rig.config.n_calls > 1 ? 2 : 0;
    for (uint32_t i = 0; i < rig.config.n_calls; i++) {
        rig_aim(&rig, i, true, i * rig.call_bytes);
        if (i == bad) {
            rig.calls[i].buffer = hole;
            rig.calls[i].size_bytes = REQUEST_BYTES;
            rig.calls[i].n_requests = 1;
        }
        list[i] = &rig.calls[i];
        rig.flying[i] = true;
        rig.issue[i] = i;
    }
    rig.n_flying = rig.config.n_calls;
    assert_int_equal(rig.ops->submit(rig.io, list, rig.n_flying, &n, &rig.err), 0);
    assert_int_equal(n, rig.n_flying);
    while (rig.n_flying > 0)
        assert_int_equal(rig_reap(&rig, 1, &outcome), 0);
    assert_int_equal(outcome.results[bad], -EFAULT);
    assert_int_equal(outcome.n_whole, rig.config.n_calls - 1);
    rig_close(&rig);
    munmap(hole, REQUEST_BYTES);
}

EACH_API(a_bad_buffer_fails_its_own_call_only)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    check_bad_buffer(fd, false);
    check_bad_buffer(fd, true);
}

EACH_API(a_call_may_bring_another_buffer)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    uint64_t offset = 0;
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, 2, REQUEST_BYTES, false);
    AUTO(auto_free) void *second = aligned_alloc(4096, rig.call_bytes);
    assert_non_null(second);
    transfer_all(&rig, true, &offset, 1);
    memset(rig.buffers, RIG_POISON, rig.call_bytes);
    rig.calls[0].buffer = second;
    transfer_all(&rig, false, &offset, 1); /* compares what is in `second` */
    assert_int_equal(rig.buffers[0], RIG_POISON);
}

/* Calls of unlike sizes in one queue: each moves its own bytes and no more. pvec has one vector, one size. */
EACH_API_OF(~(1U << API_PVEC), calls_of_two_sizes_move_their_own_bytes)
{
    enum { n = 24, large = 4 * REQUEST_BYTES };
    AUTO(auto_close) int fd = rig_file(".", 0);
    uint64_t offsets[n];
    AUTO(rig_close) struct rig rig;
    size_t n_whole[2] = {0};
    fill_file(fd, (size_t)n * large, 5);
    open_or_skip(&rig, fd, 8, large, false);
    rig.salt = 5;
    for (uint32_t slot = 0; slot < rig.config.n_calls; slot += 2)
        rig.calls[slot].size_bytes = REQUEST_BYTES;
    rig_shuffle(offsets, n, large);
    transfer_all(&rig, false, offsets, n);
    rig.salt = 6;
    transfer_all(&rig, true, offsets, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char block[large];
        assert_int_equal(pread(fd, block, large, (off_t)(i * large)), large);
        bool is_large = rig_matches(block, i * large, large, 6);
        n_whole[is_large]++;
        if (!is_large) {
            assert_true(rig_matches(block, i * large, REQUEST_BYTES, 6));
            assert_true(
                rig_matches(block + REQUEST_BYTES, i * large + REQUEST_BYTES, large - REQUEST_BYTES, 5));
        }
    }
    assert_true(n_whole[0] > 0 && (rig.config.n_calls == 1 || n_whole[1] > 0));
}

EACH_API(a_write_to_a_read_only_descriptor_is_ebadf)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    uint64_t offsets[8] = {0};
    struct rig_outcome outcome;
    AUTO(rig_close) struct rig rig;
    AUTO(auto_close) int read_only = rig_reopen(fd, O_RDONLY);
    open_or_skip(&rig, read_only, 4, REQUEST_BYTES, false);
    assert_int_equal(rig_run(&rig, true, offsets, 8, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.n_failed, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(outcome.results[i], -EBADF);
}

EACH_API(submit_takes_no_more_than_the_depth)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    struct rig_outcome outcome = {0};
    struct io_call extra, *list[RIG_DEPTH_MAX];
    AUTO(rig_close) struct rig rig;
    size_t n = 99;
    open_or_skip(&rig, fd, 8, REQUEST_BYTES, false);
    assert_int_equal(rig.ops->submit(rig.io, list, 0, &n, &rig.err), 0);
    assert_int_equal(n, 0);
    for (uint32_t i = 0; i < rig.config.n_calls; i++) {
        rig_aim(&rig, i, true, i * rig.call_bytes);
        list[i] = &rig.calls[i];
        rig.flying[i] = true;
    }
    extra = rig.calls[0];
    list[rig.config.n_calls] = &extra;
    assert_int_equal(rig.ops->submit(rig.io, list, rig.config.n_calls + 1, &n, &rig.err), 0);
    assert_int_equal(n, rig.config.n_calls);
    rig.n_flying = n;
    assert_int_equal(rig.ops->submit(rig.io, &list[rig.config.n_calls], 1, &n, &rig.err), 0);
    assert_int_equal(n, 0);
    while (rig.n_flying > 0)
        assert_int_equal(rig_reap(&rig, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.n_whole, rig.config.n_calls);
    assert_int_equal(extra.result, INT64_MIN);
}

/* A time that is past makes it a look, one that comes ends the wait: no call gets lost by either. */
EACH_API(reap_until_a_time_hands_out_each_call_once)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    uint64_t offsets[64];
    struct rig_outcome outcome = {0};
    AUTO(rig_close) struct rig rig;
    size_t n;
    open_or_skip(&rig, fd, 64, REQUEST_BYTES, true);
    rig_shuffle(offsets, 64, rig.call_bytes);
    assert_int_equal(rig_submit(&rig, true, offsets, rig.config.n_calls, 64, &outcome, &n), 0);
    for (uint64_t i = 0; rig.n_flying > 0; i++) {
        struct io_call *list[RIG_DEPTH_MAX];
        uint64_t until_ns = i % 2 == 0 ? 0 : clock_now_ns(&clock_monotonic) + 1000000;
        size_t n_reaped = SIZE_MAX;
        assert_int_equal(rig.ops->reap(rig.io, list, RIG_DEPTH_MAX, until_ns, &n_reaped, &rig.err), 0);
        assert_in_range(n_reaped, 0, rig.n_flying);
        for (size_t k = 0; k < n_reaped; k++)
            rig_account(&rig, list[k], &outcome);
    }
    assert_int_equal(outcome.n_whole, n);
}

EACH_API(reap_of_one_hands_out_each_call_once)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    uint64_t offsets[64];
    struct rig_outcome outcome = {0};
    AUTO(rig_close) struct rig rig;
    size_t n;
    open_or_skip(&rig, fd, 64, REQUEST_BYTES, false);
    rig_shuffle(offsets, 64, rig.call_bytes);
    assert_int_equal(rig_submit(&rig, true, offsets, rig.config.n_calls, 64, &outcome, &n), 0);
    assert_int_equal(n, rig.config.n_calls);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rig_reap(&rig, 1, &outcome), 0);
    assert_int_equal(outcome.n_whole, n);
    assert_int_equal(rig.n_flying, 0);
    assert_true(rig_reap(&rig, 1, &outcome) < 0);
    assert_true(rig.err.text[0] != '\0');
}

/* After close the buffers are the caller's: nothing may arrive in them any more. */
EACH_API(close_in_flight_leaves_the_buffers_alone)
{
    AUTO(auto_close) int plain = rig_file(".", 0);
    AUTO(auto_close) int fd = rig_reopen(plain, O_RDWR);
    fill_file(plain, 64 * 4 * REQUEST_BYTES, 1); /* what the rig expects to read */
    assert_int_equal(fdatasync(plain), 0);
    (void)fcntl(fd, F_SETFL, O_DIRECT); /* where it can: such transfers really are in flight */
    for (int round = 0; round < 16; round++) {
        struct rig_outcome outcome = {0};
        uint64_t offsets[64];
        struct rig rig;
        size_t n;
        open_or_skip(&rig, fd, 64, 4 * REQUEST_BYTES, round % 4 == 3);
        rig_shuffle(offsets, 64, rig.call_bytes);
        assert_int_equal(rig_submit(&rig, round % 2 == 1, offsets, rig.config.n_calls, 64, &outcome, &n), 0);
        assert_int_equal(n, rig.config.n_calls);
        if (round % 4 >= 2)
            assert_int_equal(rig_reap(&rig, 2, &outcome), 0);
        rig.ops->close(rig.io);
        size_t size = rig.config.n_calls * rig.call_bytes;
        memset(rig.buffers, RIG_POISON, size);
        assert_int_equal(fdatasync(fd), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(rig.buffers[i], RIG_POISON);
        rig_close(&rig); /* once more, on the closed state */
    }
}

EACH_API(close_accepts_a_zeroed_state)
{
    AUTO(auto_free) void *io = calloc(1, row->state_size);
    assert_non_null(io);
    row->close(io);
    row->close(io);
}

EACH_API(a_failed_open_leaves_a_closable_state)
{
    struct ioapi_config config = {.fd = -1, .n_calls = 0, .request_size_bytes = 512, .requests_per_call = 1};
    AUTO(auto_free) void *io = calloc(1, row->state_size);
    struct err err = {0};
    assert_non_null(io);
    assert_int_equal(row->open(io, &config, &err), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_true(err.text[0] != '\0');
    row->close(io);
}

EACH_API(descriptor_zero_is_a_file_like_any_other)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    int saved = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_int_equal(dup2(fd, 0), 0);
    write_and_read(0, 4, true);
    assert_true(fcntl(0, F_GETFD) >= 0);
    if (saved >= 0) {
        dup2(saved, 0);
        close(saved);
    } else {
        close(0);
    }
}

static size_t count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    size_t n = 0;
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        n++;
    closedir(directory);
    return n;
}

EACH_API(reopening_leaves_no_descriptors)
{
    AUTO(auto_close) int fd = rig_file("/tmp", 0);
    size_t n_before = count_descriptors();
    for (int i = 0; i < 8; i++)
        write_and_read(fd, 2, false);
    assert_int_equal(count_descriptors(), n_before);
}

static volatile sig_atomic_t n_signals;

static void on_signal(int number)
{
    (void)number;
    n_signals++;
}

EACH_API(signals_are_invisible)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART */
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    AUTO(auto_close) int fd = rig_file(".", 0);
    n_signals = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    while (n_signals < 20)
        write_and_read(fd, 8, true);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN); /* the last one may still be on its way */
}

EACH_API(a_probe_tells_the_same_twice)
{
    struct err err = {0};
    int rc = row->probe(&err);
    assert_int_equal(row->probe(NULL), rc);
    assert_int_equal(err.code, rc);
}

EACH_API_OF(RIG_TABLE, the_row_stands_at_its_number)
{
    assert_in_range(row->api, 0, API_N - 1);
    assert_ptr_equal(ioapi_table[row->api], row);
    assert_string_equal(row->name, api_names[row->api]);
}
