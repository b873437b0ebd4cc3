/* Tests of bench/profile/hardware_list. That of `auto` gives this machine a processor's events. */
/* LINK: -Wl,--wrap=syscall */
#include "bench/profile/hardware_list.h"
#include "bench/profile/papi_library.h"
#include "tests/test.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct err err;
static bool has_processor_events, has_no_rights;

/* An event of the processor becomes the kernel's clock, or is absent; its own numbers stay free. */
WRAP(long, syscall, (long number, ...))
{
    long given[6];
    va_list arguments;
    va_start(arguments, number);
    for (size_t i = 0; i < N_OF(given); i++)
        given[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_perf_event_open) {
        struct perf_event_attr event = *(const struct perf_event_attr *)(uintptr_t)given[0];
        bool is_processors = event.type != PERF_TYPE_SOFTWARE;
        errno = has_no_rights ? EACCES : is_processors && !has_processor_events ? ENOENT : 0;
        if (errno != 0)
            return -1;
        event.type = PERF_TYPE_SOFTWARE;
        event.config = is_processors ? PERF_COUNT_SW_TASK_CLOCK : event.config;
        return __real_syscall(number, &event, given[1], given[2], given[3], given[4]);
    }
    return __real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

static int open_list(const char *list, size_t *ret_n)
{
    struct hardware_counters *counters = NULL;
    size_t n = 0;
    int code = hardware_list_open(&counters, list, 0, &err);
    while (code == 0 && hardware_counters_get(counters, n) != NULL)
        n++;
    hardware_counters_close(counters);
    *ret_n = n;
    return code;
}

static void skip_without_papi(void)
{
    struct papi_library library = {0};
    if (papi_library_open(&library, &err) < 0) {
        print_message("%s\n", err.text);
        skip();
    }
    papi_library_close(&library);
}

FIXTURE(begin)
{
    has_processor_events = has_no_rights = false;
    return 0;
}

EACH_TEST(begin, NULL);

TEST(a_list_that_is_wrong_is_refused)
{
    static const struct {
        const char *list, *text;
    } cases[] = {{",", "a name is missing"},
                 {"A,", "a name is missing"},
                 {"A,B,A", "A stands there twice"},
                 {"A,auto", "auto names the events itself"},
                 {"1,2,3,4,5,6,7,8,9", "at most 8 events"}};
    size_t n;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_int_equal(open_list(cases[i].list, &n), -EINVAL);
        assert_non_null(strstr(err.text, cases[i].text));
    }
}

TEST(a_name_of_which_another_is_the_beginning_stands_once)
{
    size_t n;
    skip_without_papi();
    assert_int_equal(open_list("perf::FAULTS,perf::FAULTSX", &n), -ENOENT);
    assert_non_null(strstr(err.text, "no event perf::FAULTSX"));
}

TEST(events_of_the_kernel_are_known_by_their_names)
{
    size_t n;
    skip_without_papi();
    assert_int_equal(open_list("perf::PAGE-FAULTS,perf::TASK-CLOCK", &n), 0);
    assert_int_equal(n, 2);
}

TEST(auto_takes_what_there_is)
{
    size_t n;
    skip_without_papi();
    assert_int_equal(open_list("auto", &n), 0);
    assert_int_equal(n, 0);
    has_processor_events = true;
    assert_int_equal(open_list("auto", &n), 0);
    assert_int_equal(n, 4);
}

TEST(an_event_that_the_processor_does_not_have_is_refused)
{
    size_t n;
    skip_without_papi();
    assert_int_equal(open_list("perf::PAGE-FAULTS,perf::CYCLES", &n), -ENOENT);
    assert_non_null(strstr(err.text, "does not count perf::CYCLES"));
}

TEST(who_may_not_count_is_told_so)
{
    size_t n;
    skip_without_papi();
    has_no_rights = true;
    assert_int_equal(open_list("auto", &n), -EACCES);
    assert_int_equal(open_list("perf::PAGE-FAULTS", &n), -EACCES);
    assert_non_null(strstr(err.text, "CAP_PERFMON"));
}
