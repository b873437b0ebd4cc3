/* Tests of bench/run/workers where the queue itself breaks: nothing may be in flight when it goes away. */
/* LINK: -Wl,--wrap=io_uring_submit_and_wait,--wrap=io_uring_queue_exit */
#include "tests/bench/run/measure_rig.h"

#include <liburing.h>

#define DEPTH 8

static struct {
    atomic_int wait, n_waits_to_fail;  /* the first that fails, counted down to 0, and how many do */
    atomic_uint n_closed, n_in_flight; /* rings, and what was in flight in them then */
} faults;

WRAP(int, io_uring_submit_and_wait, (struct io_uring * ring, unsigned n))
{
    int wait = atomic_fetch_sub(&faults.wait, 1);
    return wait <= 0 && wait > -atomic_load(&faults.n_waits_to_fail)
               ? -EINVAL
               : __real_io_uring_submit_and_wait(ring, n);
}

/* Every entry that the kernel has taken has one completion. */
WRAP(void, io_uring_queue_exit, (struct io_uring * ring))
{
    atomic_fetch_add(&faults.n_closed, 1);
    atomic_fetch_add(&faults.n_in_flight, *ring->sq.khead - *ring->cq.khead);
    __real_io_uring_queue_exit(ring);
}

FIXTURE(set_up)
{
    struct target_plan plan = rig_plan(directory, TARGET_SIZE_MIN_BYTES);
    return world_make_file(&plan);
}

GROUP(set_up, world_leave);

/* Synced writes are always handed to a worker of the kernel, so that there is something to wait for. */
static int measure(bool cooperative, uint32_t threads, uint64_t warmup_limit_ns)
{
    world_plan("randwrite", (struct point){4096, DEPTH, 0, API_IO_URING, threads, SYNC_EACH, 0, 0},
               MEASURE_MIN_DURATION_NS);
    world.plan.warmup_limit_ns = warmup_limit_ns;
    world.env.cooperative_ring = cooperative;
    return world_measure();
}

static void check_broken(bool cooperative, uint32_t threads, uint64_t warmup_limit_ns, int n_waits_to_fail)
{
    atomic_store(&faults.n_closed, 0);
    atomic_store(&faults.n_in_flight, 0);
    atomic_store(&faults.n_waits_to_fail, n_waits_to_fail);
    atomic_store(&faults.wait, 3);
    assert_int_equal(measure(cooperative, threads, warmup_limit_ns), -EINVAL);
    assert_int_equal(faults.n_closed, threads);
    assert_int_equal(faults.n_in_flight, 0);
}

TEST(nothing_is_in_flight_when_a_broken_ring_goes_away)
{
    struct err err = {0};
    const uint32_t threads[] = {1, 4};
    const uint64_t warmups_ns[] = {0, 20000000};
    if (ioapi_io_uring.probe(&err) < 0) {
        print_message("%s\n", err.text);
        skip();
    }
    for (unsigned i = 0; i < 16; i++)
        check_broken((i & 1) != 0, threads[i >> 1 & 1], warmups_ns[i >> 2 & 1], (i & 8) != 0 ? 1 : 5);
}
