/* Tests of bench/base/clock: both clocks keep the one contract; no test depends on how long anything takes.
 */
#include "bench/base/clock.h"
#include "tests/check.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static void monotonic_never_goes_back(void **state)
{
    (void)state;
    uint64_t before = clock_now_ns(&clock_monotonic);
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_now_ns(&clock_monotonic);
        assert_true(now >= before);
        before = now;
    }
}

static void sleep_reaches_the_deadline(void **state)
{
    (void)state;
    uint64_t deadline = clock_now_ns(&clock_monotonic) + 2000000;
    clock_sleep_until_ns(&clock_monotonic, deadline);
    assert_true(clock_now_ns(&clock_monotonic) >= deadline);
}

static void sleep_until_the_past_returns(void **state)
{
    (void)state;
    clock_sleep_until_ns(&clock_monotonic, 0);
    clock_sleep_until_ns(&clock_monotonic, 1);
}

static void on_signal(int number)
{
    (void)number;
}

static void sleep_ends_early_on_a_signal(void **state)
{
    (void)state;
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

static void virtual_time_is_the_hand(void **state)
{
    (void)state;
    uint64_t hand = 42;
    struct clock clock = clock_virtual(&hand);
    assert_int_equal(clock_now_ns(&clock), 42);
    hand = 1000;
    assert_int_equal(clock_now_ns(&clock), 1000);
}

static void virtual_sleep_moves_the_hand_forward_only(void **state)
{
    (void)state;
    uint64_t hand = 1000;
    struct clock clock = clock_virtual(&hand);
    clock_sleep_until_ns(&clock, 3600 * CLOCK_NS_PER_S);
    assert_int_equal(hand, 3600 * CLOCK_NS_PER_S);
    clock_sleep_until_ns(&clock, 5);
    assert_int_equal(hand, 3600 * CLOCK_NS_PER_S);
}

static void suspended_time_is_no_more_than_boot_time(void **state)
{
    (void)state;
    struct timespec boot;
    uint64_t suspended = clock_suspended_ns();
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &boot), 0);
    assert_true(suspended <= (uint64_t)boot.tv_sec * CLOCK_NS_PER_S + (uint64_t)boot.tv_nsec);
}

static void utc_has_the_iso_form(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_never_goes_back),
        cmocka_unit_test(sleep_reaches_the_deadline),
        cmocka_unit_test(sleep_until_the_past_returns),
        cmocka_unit_test(sleep_ends_early_on_a_signal),
        cmocka_unit_test(virtual_time_is_the_hand),
        cmocka_unit_test(virtual_sleep_moves_the_hand_forward_only),
        cmocka_unit_test(suspended_time_is_no_more_than_boot_time),
        cmocka_unit_test(utc_has_the_iso_form),
    };
    return cmocka_run_group_tests_name("bench/base/clock", tests, NULL, NULL);
}
