/* Tests of tuner/nightly/retune_ready: what is a reason to wait, and the facts from bench/host/host_load. */
#include "tests/test.h"
#include "tuner/nightly/retune_steps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

static struct retune_ready_limits limits;
static struct host_load_facts quiet;
static char why[RETUNE_READY_WHY_SIZE];

FIXTURE(enter)
{
    static struct retune_target target;
    retune_config_init_target(&target);
    limits = target.limits;
    quiet = (struct host_load_facts){.uptime_seconds = 1e6};
    why[0] = '\0';
    return 0;
}

EACH_TEST(enter, NULL);

TEST(a_quiet_machine_is_ready_and_what_is_not_known_is_no_reason)
{
    const struct host_load_facts unknown = {NAN, NAN, NAN, NAN, NAN, NAN, false};
    assert_true(retune_ready(&quiet, &limits, why));
    assert_true(retune_ready(&unknown, &limits, why));
}

/* The fact just at its limit is no reason, just beyond it is one, and "off" ends that. */
TEST(every_limit_is_a_limit)
{
    const struct {
        double *fact, *limit, beyond, off;
        const char *words;
    } cases[] = {
        {&quiet.io_pressure_share, &limits.io_pressure_share, 0.01, INFINITY, "max_io_pressure is 10 %"},
        {&quiet.cpu_pressure_share, &limits.cpu_pressure_share, 0.01, INFINITY, "max_cpu_pressure is 25 %"},
        {&quiet.load_share, &limits.load_share, 0.01, INFINITY, "max_load is 75 %"},
        {&quiet.dirty_bytes, &limits.dirty_bytes, 1e6, INFINITY, "max_dirty is 512m"},
        {&quiet.uptime_seconds, &limits.uptime_seconds, -1, 0, "min_uptime is 15m"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        const double before = *cases[i].fact;
        *cases[i].fact = *cases[i].limit;
        assert_true(retune_ready(&quiet, &limits, why));
        *cases[i].fact += cases[i].beyond;
        assert_false(retune_ready(&quiet, &limits, why));
        assert_non_null(strstr(why, cases[i].words));
        *cases[i].limit = cases[i].off;
        assert_true(retune_ready(&quiet, &limits, why));
        *cases[i].fact = before;
    }
}

TEST(a_battery_is_a_reason_unless_it_is_allowed)
{
    quiet.on_battery = true;
    assert_false(retune_ready(&quiet, &limits, why));
    assert_non_null(strstr(why, "battery"));
    limits.on_battery = true;
    assert_true(retune_ready(&quiet, &limits, why));
}

TEST(lines_of_the_kernel_tell_shares_and_seconds)
{
    static const struct {
        double (*parse)(const char *text);
        const char *line;
        double value;
    } cases[] = {
        {host_load_parse_pressure, "some avg10=0.00 avg60=12.50 avg300=1.00 total=7", 0.125},
        {host_load_parse_pressure, "some avg10=0.00", NAN},
        {host_load_parse_pressure, "full avg10=0.00 avg60=12.50", NAN},
        {host_load_parse_pressure, "some avg10=0.00 avg60=101", NAN},
        {host_load_parse_pressure, "some avg10=0.00 avg60=nan", NAN},
        {host_load_parse_total, "some avg10=0.00 avg60=12.50 avg300=1.00 total=2500000", 2.5},
        {host_load_parse_total, "some avg10=0.00 avg60=12.50 avg300=1.00", NAN},
        {host_load_parse_total, "full avg10=0.00 avg60=12.50 avg300=1.00 total=7", NAN},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        double value = cases[i].parse(cases[i].line);
        if (isnan(cases[i].value) ? !isnan(value) : fabs(value - cases[i].value) > 1e-12)
            fail_msg("%s: %g", cases[i].line, value);
    }
}

TEST(the_reason_says_over_how_long_tasks_waited)
{
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
TEST(after_own_work_the_last_minute_is_not_looked_at)
{
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

TEST(this_machine_tells_its_load_and_age)
{
    struct host_load_facts facts;
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    host_load_read(&facts, fd, false, NULL);
    close(fd);
    assert_true(facts.load_share >= 0);
    assert_true(facts.uptime_seconds > 0);
    assert_true(facts.dirty_bytes >= 0);
}
