/* A crew does its work at the same time, and tells of a failure. */
#include "bench/atoms/crew.h"
#include "tests/test.h"

#include <errno.h>
#include <pthread.h>

#define N_WORKERS 5

static struct crew *crew;
static pthread_barrier_t meeting;

FIXTURE(close_crew)
{
    crew_close(crew);
    crew = NULL;
    return 0;
}

EACH_TEST(NULL, close_crew);

static int count(void *state, uint64_t n)
{
    *(uint64_t *)state += n;
    return 0;
}

/* Returns only if all are here at once. */
static int meet(void *state, uint64_t n)
{
    (void)n;
    pthread_barrier_wait(&meeting);
    return count(state, 1);
}

static int fail_where_asked(void *state, uint64_t n)
{
    return *(uint64_t *)state == n ? -EIO : 0;
}

TEST(each_worker_does_its_own_again_and_again)
{
    uint64_t counts[N_WORKERS] = {0};
    void *states[N_WORKERS];
    for (size_t k = 0; k < N_WORKERS; k++)
        states[k] = &counts[k];
    assert_int_equal(crew_open(N_WORKERS, &crew), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(crew_run(crew, count, states, 7), 0);
    for (size_t k = 0; k < N_WORKERS; k++)
        assert_int_equal(counts[k], 700);
}

TEST(all_are_at_work_at_once)
{
    uint64_t counts[N_WORKERS] = {0};
    void *states[N_WORKERS];
    for (size_t k = 0; k < N_WORKERS; k++)
        states[k] = &counts[k];
    assert_int_equal(pthread_barrier_init(&meeting, NULL, N_WORKERS), 0);
    assert_int_equal(crew_open(N_WORKERS, &crew), 0);
    assert_int_equal(crew_run(crew, meet, states, 1), 0);
    for (size_t k = 0; k < N_WORKERS; k++)
        assert_int_equal(counts[k], 1);
    pthread_barrier_destroy(&meeting);
}

TEST(a_failure_of_any_worker_is_told)
{
    uint64_t numbers[N_WORKERS] = {0, 1, 2, 3, 4};
    void *states[N_WORKERS];
    for (size_t k = 0; k < N_WORKERS; k++)
        states[k] = &numbers[k];
    assert_int_equal(crew_open(N_WORKERS, &crew), 0);
    for (uint64_t k = 0; k < N_WORKERS; k++)
        assert_int_equal(crew_run(crew, fail_where_asked, states, k), -EIO);
    assert_int_equal(crew_run(crew, fail_where_asked, states, N_WORKERS), 0);
}

TEST(a_crew_of_one_is_the_caller)
{
    uint64_t number = 0;
    void *state = &number;
    assert_int_equal(crew_open(1, &crew), 0);
    assert_int_equal(crew_run(crew, count, &state, 3), 0);
    assert_int_equal(number, 3);
}
