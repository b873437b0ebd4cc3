/* Tests of bench/profile/hardware_counters, with events that every kernel has. */
/* LINK: -Wl,--wrap=syscall,--wrap=read */
#include "bench/profile/hardware_counters.h"
#include "tests/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROLE       "HARDWARE_TEST_TOUCH"
#define PAGE_BYTES 4096
#define FAMILY     3 /* threads, and children */
/* Of a program that touches no page of its own accord, from one run to the next. */
#define NOISE_PAGES 150

static struct hardware_counters *counters;
static struct err err;
static int kernel_code,
    any_code; /* what the system says of an event inside the kernel, and of any; 0: as it is */
static uint64_t running_divisor; /* of the time that the system tells; 0: as it is */

WRAP(long, syscall, (long number, ...))
{
    long given[6];
    va_list arguments;
    va_start(arguments, number);
    for (size_t i = 0; i < N_OF(given); i++)
        given[i] = va_arg(arguments, long);
    va_end(arguments);
    const struct perf_event_attr *event = (const void *)(uintptr_t)given[0];
    if (number == SYS_perf_event_open)
        errno = any_code != 0 ? any_code : !event->exclude_kernel ? kernel_code : 0;
    if (number == SYS_perf_event_open && errno != 0)
        return -1;
    return __real_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

/* The second half of the time the counter belongs to another event. */
WRAP(ssize_t, read, (int fd, void *bytes, size_t n))
{
    ssize_t result = __real_read(fd, bytes, n);
    uint64_t *reading = bytes;
    if (n != 3 * sizeof *reading || running_divisor == 0)
        return result;
    reading[1] = 1000;
    reading[2] = running_divisor == UINT64_MAX ? 0 : reading[1] / running_divisor;
    return result;
}

/* A sanitizer would touch pages of its own for these. */
__attribute__((no_sanitize("address", "thread"))) static void *touch(void *n_pages)
{
    const size_t bytes = *(size_t *)n_pages * PAGE_BYTES;
    char *memory = bytes > 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                             : MAP_FAILED;
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        ((volatile char *)memory)[i] = 1;
    munmap(memory, bytes);
    return NULL;
}

/* This program again: so many pages by itself, by each thread, and by each child. */
__attribute__((constructor)) static void act_as_program(void)
{
    const char *role = getenv(ROLE);
    size_t own, of_thread, of_child;
    pthread_t threads[FAMILY];
    if (role == NULL || sscanf(role, "%zu %zu %zu", &own, &of_thread, &of_child) != 3)
        return;
    touch(&own);
    for (size_t i = 0; i < FAMILY && of_thread > 0; i++)
        pthread_create(&threads[i], NULL, touch, &of_thread);
    for (size_t i = 0; i < FAMILY && of_thread > 0; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < FAMILY && of_child > 0; i++) {
        if (fork() == 0) {
            touch(&of_child);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    _exit(0);
}

static struct hardware_formula formula_of(uint64_t config)
{
    return (struct hardware_formula){.n = 1,
                                     .terms[0].event = {.type = PERF_TYPE_SOFTWARE, .config = config}};
}

static int add(const char *name, uint64_t config)
{
    struct hardware_formula formula = formula_of(config);
    return hardware_counters_add(counters, name, &formula, &err);
}

static void run_program(const char *role)
{
    int status;
    hardware_counters_start(counters);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv(ROLE, role, 1);
        execl("/proc/self/exe", "program", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    hardware_counters_take(counters);
}

static double counted(size_t i)
{
    const struct hardware_count *count = hardware_counters_get(counters, i);
    assert_non_null(count);
    assert_true(count->is_known);
    return count->n;
}

static double faults_of(const char *role)
{
    hardware_counters_close(counters);
    assert_int_equal(hardware_counters_open(&counters, 0, &err), 0);
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    run_program(role);
    return counted(0);
}

FIXTURE(begin)
{
    kernel_code = any_code = 0;
    running_divisor = 0;
    return hardware_counters_open(&counters, 0, &err);
}

FIXTURE(end)
{
    hardware_counters_close(counters);
    counters = NULL;
    return 0;
}

EACH_TEST(begin, end);

/* Some sandboxes allow no events at all. */
static bool find_events(void)
{
    bool is_well =
        hardware_counters_open(&counters, 0, &err) == 0 && add("faults", PERF_COUNT_SW_PAGE_FAULTS) == 0;
    if (!is_well)
        print_message("no events here: %s\n", err.text);
    hardware_counters_close(counters);
    counters = NULL;
    return is_well;
}

GROUP_NEEDS(find_events);

TEST(pages_of_the_program_its_threads_and_its_children_are_counted)
{
    /* Against fewer pages, because threads and children touch some by themselves. */
    assert_close(faults_of("5000 0 0") - faults_of("1000 0 0"), 4000, NOISE_PAGES);
    assert_close(faults_of("0 5000 0") - faults_of("0 1000 0"), FAMILY * 4000, FAMILY * NOISE_PAGES);
    assert_close(faults_of("0 0 5000") - faults_of("0 0 1000"), FAMILY * 4000, FAMILY * NOISE_PAGES);
}

TEST(what_this_process_does_is_not_counted)
{
    size_t n_pages = 4000;
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    hardware_counters_start(counters);
    touch(&n_pages);
    hardware_counters_take(counters);
    assert_close(counted(0), 0, 0);
}

TEST(what_comes_after_it_was_kept_is_not_counted)
{
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    hardware_counters_take(counters);
    run_program("4000 0 0");
    assert_close(counted(0), 0, 0);
}

TEST(a_process_that_runs_is_counted_from_the_start_on)
{
    int told[2], done[2];
    char byte = 0;
    size_t n_pages = 4000;
    assert_true(pipe(told) == 0 && pipe(done) == 0);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 2; i++) {
            touch(&n_pages);
            (void)!write(done[1], &byte, 1);
            (void)!read(told[0], &byte, 1);
        }
        _exit(0);
    }
    assert_int_equal(read(done[0], &byte, 1), 1);
    hardware_counters_close(counters);
    assert_int_equal(hardware_counters_open(&counters, child, &err), 0);
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    hardware_counters_start(counters);
    assert_int_equal(write(told[1], &byte, 1), 1);
    assert_int_equal(read(done[0], &byte, 1), 1);
    assert_int_equal(write(told[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    hardware_counters_take(counters);
    assert_close(counted(0), 4000, NOISE_PAGES);
    assert_true(hardware_counters_seconds(counters) > 0);
}

TEST(a_process_that_is_gone_is_refused)
{
    struct hardware_counters *absent = NULL;
    assert_int_equal(hardware_counters_open(&absent, 4194303, &err), -ESRCH);
    assert_null(absent);
}

TEST(terms_are_added_and_taken_off)
{
    struct hardware_formula twice = formula_of(PERF_COUNT_SW_PAGE_FAULTS), none = twice;
    twice.n = none.n = 2;
    twice.terms[1] = none.terms[1] = twice.terms[0];
    none.terms[1].is_taken_off = true;
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    assert_int_equal(hardware_counters_add(counters, "twice", &twice, &err), 0);
    assert_int_equal(hardware_counters_add(counters, "none", &none, &err), 0);
    run_program("4000 0 0");
    assert_close(counted(1), 2 * counted(0), 0);
    assert_close(counted(2), 0, 0);
}

TEST(a_counter_that_was_shared_is_scaled)
{
    double whole = faults_of("4000 0 0");
    running_divisor = 2;
    assert_close(faults_of("4000 0 0"), 2 * whole, 2 * NOISE_PAGES);
    assert_close(hardware_counters_get(counters, 0)->running_share, 0.5, 1e-12);
}

TEST(an_event_that_never_had_a_counter_is_unknown)
{
    running_divisor = UINT64_MAX;
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    run_program("0 0 0");
    assert_false(hardware_counters_get(counters, 0)->is_known);
}

TEST(who_may_not_look_into_the_kernel_counts_outside_of_it)
{
    kernel_code = EACCES;
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    assert_int_equal(add("clock", PERF_COUNT_SW_TASK_CLOCK), 0);
    run_program("4000 0 0");
    assert_true(counted(0) >= 4000);
    assert_false(hardware_counters_get(counters, 0)->has_kernel);
    /* The kernel's clocks go on in it all the same. */
    assert_true(hardware_counters_get(counters, 1)->has_kernel);
}

TEST(an_event_of_the_kernel_alone_is_refused_to_who_may_not_look)
{
    kernel_code = EACCES;
    assert_int_equal(add("switches", PERF_COUNT_SW_CONTEXT_SWITCHES), -EACCES);
    assert_non_null(strstr(err.text, "may not count switches"));
    assert_null(hardware_counters_get(counters, 0));
}

TEST(what_the_system_refuses_is_told)
{
    static const struct {
        int system_code, code;
        const char *text;
    } cases[] = {{ENOENT, -ENOENT, "does not count faults of a program; papi_avail"},
                 {EOPNOTSUPP, -ENOENT, "does not count faults of a program; papi_avail"},
                 {EPERM, -EACCES, "this user may not count faults"},
                 {EMFILE, -EMFILE, "raise ulimit -n"},
                 {EIO, -EIO, "cannot count faults"}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        any_code = cases[i].system_code;
        assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), cases[i].code);
        assert_non_null(strstr(err.text, cases[i].text));
    }
}

TEST(one_event_too_many_is_refused)
{
    for (size_t i = 0; i < HARDWARE_EVENTS_MOST; i++)
        assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), 0);
    assert_int_equal(add("faults", PERF_COUNT_SW_PAGE_FAULTS), -EINVAL);
}
