/* Tests of tuner/nightly/retune_ready: what is a reason to wait, and of the facts from bench/host/host_load.
 */
#include "tests/check.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/nightly/retune_ready.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct retune_ready_limits limits;
static struct host_load_facts quiet;
static char why[RETUNE_READY_WHY_SIZE];

static int enter(void **state)
{
    static struct retune_target target;
    (void)state;
    retune_config_init_target(&target);
    limits = target.limits;
    quiet = (struct host_load_facts){.uptime_seconds = 1e6};
    why[0] = '\0';
    return 0;
}

static void a_quiet_machine_is_ready(void **state)
{
    (void)state;
    assert_true(retune_ready(&quiet, &limits, why));
}

static void what_is_not_known_is_no_reason(void **state)
{
    (void)state;
    const struct host_load_facts unknown = {NAN, NAN, NAN, NAN, NAN, NAN, false};
    assert_true(retune_ready(&unknown, &limits, why));
}

/* The fact just at its limit is none, just beyond it is one, and "off" ends that. */
static void check_limit(double *fact, double *limit, double beyond, double off, const char *words)
{
    const double before = *fact;
    *fact = *limit;
    assert_true(retune_ready(&quiet, &limits, why));
    *fact = *limit + beyond;
    assert_false(retune_ready(&quiet, &limits, why));
    assert_non_null(strstr(why, words));
    const double kept = *limit;
    *limit = off;
    assert_true(retune_ready(&quiet, &limits, why));
    *limit = kept;
    *fact = before;
}

static void every_limit_is_a_limit(void **state)
{
    (void)state;
    check_limit(&quiet.io_pressure_share, &limits.io_pressure_share, 0.01, INFINITY,
                "max_io_pressure is 10 %");
    check_limit(&quiet.cpu_pressure_share, &limits.cpu_pressure_share, 0.01, INFINITY,
                "max_cpu_pressure is 25 %");
    check_limit(&quiet.load_share, &limits.load_share, 0.01, INFINITY, "max_load is 75 %");
    check_limit(&quiet.dirty_bytes, &limits.dirty_bytes, 1e6, INFINITY, "max_dirty is 512m");
    check_limit(&quiet.uptime_seconds, &limits.uptime_seconds, -1, 0, "min_uptime is 15m");
}

static void a_battery_is_a_reason_unless_it_is_allowed(void **state)
{
    (void)state;
    quiet.on_battery = true;
    assert_false(retune_ready(&quiet, &limits, why));
    assert_non_null(strstr(why, "battery"));
    limits.on_battery = true;
    assert_true(retune_ready(&quiet, &limits, why));
}

static void pressure_is_the_share_of_the_last_minute(void **state)
{
    (void)state;
    assert_close(host_load_parse_pressure("some avg10=0.00 avg60=12.50 avg300=1.00 total=7"), 0.125, 1e-12);
    assert_true(isnan(host_load_parse_pressure("some avg10=0.00")));
    assert_true(isnan(host_load_parse_pressure("full avg10=0.00 avg60=12.50")));
    assert_true(isnan(host_load_parse_pressure("some avg10=0.00 avg60=101")));
    assert_true(isnan(host_load_parse_pressure("some avg10=0.00 avg60=nan")));
}

static void waiting_is_counted_in_seconds(void **state)
{
    (void)state;
    assert_close(host_load_parse_total("some avg10=0.00 avg60=12.50 avg300=1.00 total=2500000"), 2.5, 1e-12);
    assert_true(isnan(host_load_parse_total("some avg10=0.00 avg60=12.50 avg300=1.00")));
    assert_true(isnan(host_load_parse_total("full avg10=0.00 avg60=12.50 avg300=1.00 total=7")));
}

static void the_reason_says_over_how_long_tasks_waited(void **state)
{
    (void)state;
    quiet.io_pressure_share = 0.5;
    quiet.pressure_seconds = 10;
    assert_false(retune_ready(&quiet, &limits, why));
    assert_non_null(strstr(why, "share of the last 10 s: 50 %"));
}

static atomic_int interrupted;

static void on_alarm(int number)
{
    atomic_store(&interrupted, number);
}

/* The alarm ends the pause, which would take ten seconds. */
static void after_own_work_the_last_minute_is_not_looked_at(void **state)
{
    (void)state;
    struct host_load_facts facts;
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval soon = {.it_value.tv_usec = 150000};
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    host_load_read(&facts, fd, true, &interrupted);
    close(fd);
    assert_int_equal(atomic_load(&interrupted), SIGALRM);
    assert_true(isnan(facts.load_share));
    assert_true(facts.pressure_seconds > 0 && facts.pressure_seconds < HOST_LOAD_MINUTE_S);
    assert_false(facts.io_pressure_share < 0);
    assert_true(facts.uptime_seconds > 0);
}

static void this_machine_tells_its_load_and_age(void **state)
{
    (void)state;
    struct host_load_facts facts;
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    host_load_read(&facts, fd, false, NULL);
    close(fd);
    assert_true(facts.load_share >= 0);
    assert_true(facts.uptime_seconds > 0);
    assert_true(facts.dirty_bytes >= 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, enter)
    const struct CMUnitTest tests[] = {
        TEST(a_quiet_machine_is_ready),
        TEST(what_is_not_known_is_no_reason),
        TEST(every_limit_is_a_limit),
        TEST(a_battery_is_a_reason_unless_it_is_allowed),
        TEST(pressure_is_the_share_of_the_last_minute),
        TEST(waiting_is_counted_in_seconds),
        TEST(the_reason_says_over_how_long_tasks_waited),
        TEST(after_own_work_the_last_minute_is_not_looked_at),
        TEST(this_machine_tells_its_load_and_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
