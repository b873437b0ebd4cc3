/* Tests of tuner/base/worker. The test's own signals play Ctrl-C. */
#include "bench/base/clock.h"
#include "tests/test.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/worker.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static struct err err;
static sem_t release;
static bool signals_blocked;
static pthread_t runner;

/* Whoever starts this in the background has SIGINT ignored, which interrupt_setup() keeps. */
FIXTURE(setup)
{
    signal(SIGINT, SIG_DFL);
    return interrupt_setup(&err) < 0 || sem_init(&release, 0, 0) != 0;
}

GROUP(setup, NULL);

/* As if no signal had come. */
static void forget_signal(void)
{
    uint64_t n_signals;
    ssize_t got = read(interrupt_descriptor(), &n_signals, sizeof n_signals);
    (void)got;
    atomic_store(&interrupt_signal, 0);
}

static int give_back(void *context)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    signals_blocked = sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGTERM) == 1;
    runner = pthread_self();
    return *(int *)context;
}

TEST(the_result_of_the_work_comes_back)
{
    int values[] = {0, -EIO, 5};
    for (size_t i = 0; i < 3; i++) {
        bool abandoned = false;
        assert_int_equal(worker_call(give_back, &values[i], &abandoned, &err), values[i]);
        assert_false(abandoned);
    }
}

TEST(work_runs_in_a_thread_that_signals_leave_alone)
{
    sigset_t blocked;
    bool abandoned = false;
    int value = 0;
    worker_call(give_back, &value, &abandoned, &err);
    assert_true(signals_blocked);
    assert_false(pthread_equal(runner, pthread_self()));
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
}

/* Sends the signal itself, and then notices it as the pump does. */
static int notice(void *context)
{
    (void)context;
    kill(getpid(), SIGINT);
    while (atomic_load(&interrupt_signal) == 0)
        usleep(1000);
    return -EINTR;
}

TEST(work_that_notices_the_signal_is_joined)
{
    bool abandoned = false;
    assert_int_equal(worker_call(notice, NULL, &abandoned, &err), -EINTR);
    assert_false(abandoned);
    assert_int_equal(atomic_load(&interrupt_signal), SIGINT);
    forget_signal();
}

static int hang(void *context)
{
    *(bool *)context = true;
    kill(getpid(), SIGTERM);
    int result;
    do
        result = sem_wait(&release);
    while (result != 0);
    return result;
}

TEST(work_that_hangs_is_abandoned)
{
    static bool started;
    bool abandoned = false;
    assert_int_equal(worker_call(hang, &started, &abandoned, &err), -EINTR);
    assert_true(abandoned && started);
    assert_int_equal(err.code, -EINTR);
    /* The thread goes on to wait, and holds what it was given, until the process ends. */
    forget_signal();
}

static int wait_until_late(void *context)
{
    (void)context;
    while (atomic_load(&interrupt_signal) == 0)
        usleep(1000);
    return -EINTR;
}

static uint64_t in_50_ms(void)
{
    return clock_now_ns(&clock_monotonic) + 50000000;
}

TEST(work_that_is_late_is_told_so)
{
    bool abandoned = false;
    assert_int_equal(worker_call_until(in_50_ms(), wait_until_late, NULL, &abandoned, &err), -ETIME);
    assert_int_equal(atomic_load(&interrupt_signal), INTERRUPT_LATE);
    assert_false(abandoned);
    assert_int_equal(err.code, -ETIME);
    atomic_store(&interrupt_signal, 0);
}

static int sleep_for_ever(void *context)
{
    (void)context;
    while (sem_wait(&release) != 0)
        ;
    return 0;
}

TEST(late_work_that_hangs_is_abandoned)
{
    bool abandoned = false;
    assert_int_equal(worker_call_until(in_50_ms(), sleep_for_ever, NULL, &abandoned, &err), -ETIME);
    assert_true(abandoned);
    atomic_store(&interrupt_signal, 0);
}

static int be_interrupted(void *context)
{
    (void)context;
    return -EINTR;
}

TEST(eintr_without_a_signal_is_an_error)
{
    bool abandoned = false;
    assert_int_equal(worker_call(be_interrupted, NULL, &abandoned, &err), -EIO);
}

static int count(void *context)
{
    ++*(int *)context;
    return 0;
}

TEST(work_begun_after_a_signal_still_ends)
{
    int n = 0;
    bool abandoned = false;
    atomic_store(&interrupt_signal, SIGINT);
    assert_int_equal(worker_call(count, &n, &abandoned, &err), 0);
    assert_int_equal(n, 1);
    assert_false(abandoned);
    atomic_store(&interrupt_signal, 0);
}

TEST(many_calls_leave_no_descriptor_open)
{
    int n = 0, before = dup(0);
    assert_true(before >= 0);
    close(before);
    for (int i = 0; i < 200; i++) {
        bool abandoned = false;
        assert_int_equal(worker_call(count, &n, &abandoned, &err), 0);
    }
    assert_int_equal(n, 200);
    AUTO(auto_close) int after = dup(0);
    assert_int_equal(after, before);
}
