/* Tests of tuner/profile/trace_feed: whose requests count where a directory is watched. */
#include "models/profile/store.h"
#include "tests/test.h"
#include "tuner/profile/trace_feed.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static _Alignas(64) char memory[STORE_MIN_BYTES];
static struct store *const store = (struct store *)memory;
static struct trace_feed feed;
static char folder[] = "/tmp/fstune-feed-XXXXXX", path[PATH_MAX];
static int fd = -1;

FIXTURE(begin)
{
    if (mkdtemp(folder) == NULL || store_init(store, sizeof memory, 0) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    feed.store = store;
    return fd < 0 ? -1 : 0;
}

FIXTURE(end)
{
    close(fd);
    return unlink(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

GROUP(begin, end);

static void mark(unsigned kind, pid_t process, unsigned n, uint64_t time_ns)
{
    struct trace_mark told = {.kind = kind, .n = n, .time_ns = time_ns, .process = (uint32_t)process};
    trace_feed_take(&feed, &told);
}

static void request(uint64_t start_ns, unsigned flags)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    struct trace_event told = {.kind = TRACE_REQUEST,
                               .flags = flags,
                               .start_ns = start_ns,
                               .end_ns = start_ns + 10,
                               .file = 7,
                               .inode = status.st_ino,
                               .opened = 9,
                               .n_bytes = 4096,
                               .process = (uint32_t)getpid(),
                               .fd = fd};
    trace_feed_take(&feed, &told);
}

/* What another process has in flight is elsewhere; a request of ours was begun before it was known to be. */
TEST(below_a_directory_the_depth_is_that_of_its_users)
{
    feed.below = folder;
    mark(TRACE_BEGIN, getppid(), 200, 10);
    mark(TRACE_BEGIN, getpid(), 1, 20);
    assert_int_equal(flight_depth(&store->flight), 0);
    request(20, 0);
    assert_int_equal(flight_depth(&store->flight), 1);
    mark(TRACE_END, getpid(), 1, 30);
    assert_int_equal(flight_depth(&store->flight), 0);
    mark(TRACE_BEGIN, getpid(), 2, 40);
    mark(TRACE_REAP, getppid(), 100, 50);
    assert_int_equal(flight_depth(&store->flight), 2);
    mark(TRACE_REAP, getpid(), 2, 60);
    assert_int_equal(flight_depth(&store->flight), 0);
}

TEST(without_a_directory_all_that_is_told_counts)
{
    feed.below = NULL;
    mark(TRACE_BEGIN, getppid(), 3, 70);
    assert_int_equal(flight_depth(&store->flight), 3);
    mark(TRACE_END, getppid(), 3, 80);
    assert_int_equal(flight_depth(&store->flight), 0);
}

TEST(a_request_may_tell_of_its_end)
{
    feed.below = NULL;
    mark(TRACE_BEGIN, getpid(), 2, 90);
    request(90, TRACE_ENDS);
    assert_int_equal(flight_depth(&store->flight), 1);
    request(90, TRACE_ENDS | TRACE_WRITES);
    assert_int_equal(flight_depth(&store->flight), 0);
}

/* Of a program that was loaded nothing counts but its end. */
TEST(the_end_of_a_request_that_is_left_out_counts)
{
    const uint64_t n_bytes = store->bytes[PROFILE_READ];
    feed.below = NULL;
    mark(TRACE_BEGIN, getpid(), 1, 200);
    request(200, TRACE_ENDS | TRACE_LIBRARY);
    assert_int_equal(flight_depth(&store->flight), 0);
    assert_int_equal(store->bytes[PROFILE_READ], n_bytes);
}

TEST(below_a_directory_a_request_ends_where_its_process_counts)
{
    memset(feed.processes, 0, sizeof feed.processes);
    feed.below = folder;
    memset(feed.opened, 0, sizeof feed.opened);
    mark(TRACE_BEGIN, getpid(), 3, 300);
    assert_int_equal(flight_depth(&store->flight), 0);
    request(300, TRACE_ENDS);
    assert_int_equal(flight_depth(&store->flight), 2);
    mark(TRACE_END, getpid(), 2, 320);
    assert_int_equal(flight_depth(&store->flight), 0);
}
