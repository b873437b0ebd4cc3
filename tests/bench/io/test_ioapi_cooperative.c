/* Tests of io_uring's ring with deferred completions (--io-uring-cooperative). */
#include "tests/bench/io/ioapi_rig.h"

#include <errno.h>
#include <pthread.h>

#define REQUEST_BYTES 4096
#define DEPTH         16
#define TRANSFERS     200

static int open_cooperatively(void *state, const struct ioapi_config *config, struct err *err)
{
    struct ioapi_config own = *config;
    own.cooperative_ring = true;
    return ioapi_io_uring.open(state, &own, err);
}

static struct ioapi_ops cooperative;

static void open_or_skip(struct rig *rig, int fd, bool sync_each)
{
    struct err err = {0};
    int rc = ioapi_io_uring.probe(&err);
    cooperative = ioapi_io_uring;
    cooperative.open = open_cooperatively;
    if (rc == 0)
        rc = rig_open(rig, &cooperative, fd, DEPTH, REQUEST_BYTES, sync_each);
    if (rc < 0) { /* before Linux 5.19 */
        print_message("%s\n", err.code < 0 ? err.text : rig->err.text);
        skip();
    }
}

static void write_and_read(struct rig *rig)
{
    uint64_t offsets[TRANSFERS];
    struct rig_outcome outcome;
    rig_shuffle(offsets, TRANSFERS, REQUEST_BYTES);
    assert_int_equal(rig_run(rig, true, offsets, TRANSFERS, DEPTH, &outcome), 0);
    assert_int_equal(outcome.n_whole, TRANSFERS);
    rig_shuffle(offsets, TRANSFERS, REQUEST_BYTES);
    assert_int_equal(rig_run(rig, false, offsets, TRANSFERS, DEPTH, &outcome), 0);
    assert_int_equal(outcome.n_whole, TRANSFERS);
}

static void check_place(const char *directory, bool sync_each)
{
    AUTO(auto_close) int fd = rig_file(directory, 0);
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, sync_each);
    write_and_read(&rig);
}

TEST(written_data_are_read_back)
{
    check_place(".", false);
}

TEST(every_write_can_be_synced)
{
    check_place(".", true);
}

/* There the kernel hands every request to a worker of its own. */
TEST(requests_that_go_to_workers_come_back)
{
    check_place("/dev/shm", false);
    check_place("/dev/shm", true);
}

static void *write_and_read_aside(void *rig)
{
    write_and_read(rig);
    return NULL;
}

TEST(the_ring_belongs_to_the_thread_that_submits_first)
{
    AUTO(auto_close) int fd = rig_file("/dev/shm", 0);
    pthread_t thread;
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, false);
    assert_int_equal(pthread_create(&thread, NULL, write_and_read_aside, &rig), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

TEST(a_short_read_is_short_here_too)
{
    AUTO(auto_close) int fd = rig_file("/dev/shm", 0);
    uint64_t offset = 0;
    struct rig_outcome outcome;
    AUTO(rig_close) struct rig rig;
    open_or_skip(&rig, fd, false);
    assert_int_equal(rig_run(&rig, false, &offset, 1, 1, &outcome), 0);
    assert_int_equal(outcome.results[0], 0);
}
