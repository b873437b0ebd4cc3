/* Tests of bench/base/clock: both clocks keep the one contract; no test depends on how long anything takes.
 */
#include "bench/base/clock.h"
#include "tests/test.h"

#include <ctype.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

TEST(monotonic_never_goes_back)
{
    uint64_t before = clock_now_ns(&clock_monotonic);
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns(&clock_monotonic);
        assert_true(now >= before);
        before = now;
    }
}

TEST(sleep_reaches_the_deadline)
{
    uint64_t deadline = clock_now_ns(&clock_monotonic) + 2000000;
    clock_sleep_until_ns(&clock_monotonic, deadline);
    assert_true(clock_now_ns(&clock_monotonic) >= deadline);
}

TEST(sleep_until_the_past_returns)
{
    clock_sleep_until_ns(&clock_monotonic, 0);
    clock_sleep_until_ns(&clock_monotonic, 1);
}

static void on_signal(int number)
{
    (void)number;
}

TEST(sleep_ends_early_on_a_signal)
{
    struct sigaction action = {.sa_handler = on_signal}, old;
    /* It repeats, so that a signal that comes before the sleep does not hang the test. */
    const struct itimerval timer = {.it_value = {.tv_usec = 2000}, .it_interval = {.tv_usec = 2000}};
    const struct itimerval off = {0};
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
    uint64_t deadline = clock_now_ns(&clock_monotonic) + 600 * CLOCK_NS_PER_S;
    clock_sleep_until_ns(&clock_monotonic, deadline);
    uint64_t woken = clock_now_ns(&clock_monotonic);
    setitimer(ITIMER_REAL, &off, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_true(woken < deadline);
}

TEST(virtual_time_is_the_hand)
{
    uint64_t hand = 42;
    struct clock clock = clock_virtual(&hand);
    assert_int_equal(clock_now_ns(&clock), 42);
    hand = 1000;
    assert_int_equal(clock_now_ns(&clock), 1000);
}

TEST(virtual_sleep_moves_the_hand_forward_only)
{
    uint64_t hand = 1000;
    struct clock clock = clock_virtual(&hand);
    clock_sleep_until_ns(&clock, 3600 * CLOCK_NS_PER_S);
    assert_int_equal(hand, 3600 * CLOCK_NS_PER_S);
    clock_sleep_until_ns(&clock, 5);
    assert_int_equal(hand, 3600 * CLOCK_NS_PER_S);
}

TEST(suspended_time_is_no_more_than_boot_time)
{
    struct timespec boot;
    uint64_t suspended = clock_suspended_ns();
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
    assert_true(suspended <= (uint64_t)boot.tv_sec * CLOCK_NS_PER_S + (uint64_t)boot.tv_nsec);
}

TEST(utc_has_the_iso_form)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    char text[24];
    memset(text, 'x', sizeof(text));
    clock_format_utc(text);
    assert_int_equal(strnlen(text, sizeof(text)), sizeof(form) - 1);
    for (size_t i = 0; i < sizeof(form) - 1; i++) {
        if (form[i] == '0')
            assert_true(isdigit((unsigned char)text[i]));
        else
            assert_int_equal(text[i], form[i]);
    }
    assert_true(strcmp(text, "2020-01-01T00:00:00Z") > 0);
}
