/* Tests of tuner/nightly/disk_gate: whose time is counted, and in which slice. */
#include "bench/base/clock.h"
#include "tests/models/online/latencies.h"
#include "tests/test.h"
#include "tuner/nightly/disk_gate.h"

#define MS 1000000U

static struct image_flush flush; /* of nothing */
static struct disk_gate gate;
static struct disk_gate_client client;
static const struct profile_request request = {.n_bytes = 4096, .direction = PROFILE_READ};

FIXTURE(set_up)
{
    return disk_gate_init(&gate, &flush, (struct image_way){0});
}

FIXTURE(tear_down)
{
    disk_gate_done(&gate);
    return 0;
}

EACH_TEST(set_up, tear_down);

static void pass_once(const struct profile_request *what, bool counts, useconds_t us)
{
    struct disk_gate_pass pass;
    disk_gate_enter(&gate, &client, what, &pass);
    usleep(us);
    disk_gate_leave(&gate, &pass, what, counts);
}

/* All, and those that took so long or longer. */
static struct latency_share slower(uint64_t ns)
{
    struct latency_counts latencies = disk_gate_slice_latencies(&gate);
    struct latency_limits limits = latencies_from(ns);
    return latency_share_of(&latencies, &limits);
}

static struct latency_share late_slower(enum disk_gate_role role, uint64_t ns)
{
    struct latency_counts late = disk_gate_take_late(&gate, role);
    struct latency_limits limits = latencies_from(ns);
    return latency_share_of(&late, &limits);
}

TEST(reads_and_flushes_are_counted_by_how_long_they_took)
{
    pass_once(&request, true, 0);
    pass_once(&request, true, 20000);
    pass_once(NULL, true, 40000);
    assert_int_equal(slower(0).n[LATENCY_MOVES], 2);
    assert_in_range(slower(20 * MS).n_slow[LATENCY_MOVES], 1, 2);
    assert_int_equal(slower(0).n[LATENCY_FLUSHES], 1);
    assert_int_equal(slower(40 * MS).n_slow[LATENCY_FLUSHES], 1);
    assert_int_equal(disk_gate_slice_counts(&gate).n[PROFILE_READ], 2);
}

TEST(what_failed_or_began_in_an_earlier_slice_is_not_counted)
{
    struct disk_gate_pass pass;
    pass_once(&request, false, 0);
    disk_gate_enter(&gate, &client, &request, &pass);
    disk_gate_slice_begin(&gate, clock_now_ns(&clock_monotonic));
    disk_gate_leave(&gate, &pass, &request, true);
    assert_int_equal(slower(0).n[LATENCY_MOVES], 0);
}

/* The slowest requests of a slice end in a later one. */
TEST(what_ends_in_a_later_slice_is_counted_by_what_it_began_with)
{
    struct disk_gate_pass tried, other;
    struct image_way way = {0};
    disk_gate_enter(&gate, &client, &request, &other);
    disk_gate_try(&gate, &way);
    disk_gate_enter(&gate, &client, &request, &tried);
    disk_gate_try(&gate, NULL);
    disk_gate_slice_begin(&gate, clock_now_ns(&clock_monotonic));
    assert_int_equal(gate.n_tried, 1);
    usleep(20000);
    disk_gate_leave(&gate, &tried, &request, true);
    disk_gate_leave(&gate, &other, &request, false);
    assert_int_equal(gate.n_tried, 0);
    assert_int_equal(late_slower(DISK_GATE_TRIED, 20 * MS).n_slow[LATENCY_MOVES], 1);
    assert_int_equal(late_slower(DISK_GATE_TRIED, 0).n[LATENCY_MOVES], 0);
    assert_int_equal(late_slower(DISK_GATE_OTHERS, 0).n[LATENCY_MOVES], 0);
}

TEST(a_slice_begins_without_latencies)
{
    pass_once(&request, true, 0);
    disk_gate_slice_begin(&gate, clock_now_ns(&clock_monotonic));
    assert_int_equal(slower(0).n[LATENCY_MOVES], 0);
}

static void *pass_in_thread(void *context)
{
    (void)context;
    pass_once(&request, true, 0);
    return NULL;
}

static bool is_waited_for(void)
{
    pthread_mutex_lock(&gate.lock);
    bool is = gate.drain_ns != 0;
    pthread_mutex_unlock(&gate.lock);
    return is;
}

TEST(the_wait_for_a_change_of_the_way_is_no_latency)
{
    pthread_t thread;
    struct disk_gate_pass pass;
    disk_gate_enter(&gate, &client, &request, &pass);
    pthread_mutex_lock(&gate.lock);
    disk_gate_want(&gate, (struct image_way){.direct = true});
    pthread_mutex_unlock(&gate.lock);
    assert_int_equal(pthread_create(&thread, NULL, pass_in_thread, NULL), 0);
    while (!is_waited_for())
        usleep(1000);
    usleep(500000);
    disk_gate_leave(&gate, &pass, &request, true);
    pthread_join(thread, NULL);
    assert_true(disk_gate_way(&gate).direct);
    assert_int_equal(slower(0).n[LATENCY_MOVES], 1);
    assert_int_equal(slower(500 * MS).n_slow[LATENCY_MOVES], 0);
}
