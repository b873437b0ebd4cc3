/* bench/profile/hardware_counters: a descriptor for each thread and each event of the kernel. */
#include "bench/profile/hardware_counters.h"

#include "bench/base/clock.h"
#include "bench/profile/family.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_PROCESSES 1024
#define MOST_THREADS   16384

struct counter {
    struct hardware_count count;
    struct hardware_formula formula;
    int *fds; /* of the first term's threads, then of the second's; -1: a thread that was gone */
};

struct hardware_counters {
    struct counter counters[HARDWARE_EVENTS_MOST];
    size_t n, n_threads;
    pid_t threads[MOST_THREADS]; /* 0 alone: this thread, of which a program inherits */
    uint64_t start_ns, end_ns;
    bool is_taken;
};

/* As read has it, of PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. */
struct reading {
    uint64_t n, enabled_ns, running_ns;
};

static void find_threads(struct hardware_counters *counters, pid_t pid)
{
    pid_t family[MOST_PROCESSES] = {pid};
    size_t n = 1;
    for (size_t i = 0; i < n; i++) {
        counters->n_threads += family_threads(family[i], &counters->threads[counters->n_threads],
                                              MOST_THREADS - counters->n_threads);
        n += family_children(family[i], &family[n], MOST_PROCESSES - n);
    }
}

int hardware_counters_open(struct hardware_counters **ret_counters, pid_t pid, struct err *err)
{
    struct hardware_counters *counters = calloc(1, sizeof *counters);
    if (counters == NULL)
        return err_set(err, -ENOMEM, "no memory");
    if (pid == 0)
        counters->n_threads = 1;
    else
        find_threads(counters, pid);
    if (counters->n_threads == 0) {
        free(counters);
        return err_sys(err, -ESRCH, "--pid %ld", (long)pid);
    }
    *ret_counters = counters;
    return 0;
}

/* Events that happen in the kernel alone; counted outside of it they would always be none. */
static bool is_of_kernel(const struct perf_event_attr *event)
{
    return event->type == PERF_TYPE_SOFTWARE &&
           (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
            event->config == PERF_COUNT_SW_CPU_MIGRATIONS || event->config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* They go on inside the kernel whatever was asked for. */
static bool is_clock(const struct perf_event_attr *event)
{
    return event->type == PERF_TYPE_SOFTWARE &&
           (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK);
}

static int open_event(const struct hardware_counters *counters, struct perf_event_attr *event, pid_t thread)
{
    event->size = sizeof *event;
    event->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    event->disabled = 1;
    event->inherit = 1;
    event->enable_on_exec = counters->threads[0] == 0;
    event->exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, event, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

static bool is_forbidden(int code)
{
    return code == -EACCES || code == -EPERM;
}

/* Where the user may not look into the kernel, what happens outside of it is counted. */
static int open_allowed(const struct hardware_counters *counters, struct counter *counter,
                        struct perf_event_attr *event, pid_t thread)
{
    int fd = open_event(counters, event, thread);
    if (is_forbidden(fd) && !event->exclude_kernel && !is_of_kernel(event)) {
        event->exclude_kernel = 1;
        fd = open_event(counters, event, thread);
    }
    if (fd >= 0 && event->exclude_kernel && !is_clock(event))
        counter->count.has_kernel = false;
    return fd;
}

static size_t n_descriptors(const struct hardware_counters *counters, const struct counter *counter)
{
    return counter->formula.n * counters->n_threads;
}

static void close_counter(const struct hardware_counters *counters, struct counter *counter)
{
    for (size_t i = 0; counter->fds != NULL && i < n_descriptors(counters, counter); i++) {
        if (counter->fds[i] >= 0)
            close(counter->fds[i]);
    }
    free(counter->fds);
    *counter = (struct counter){0};
}

static int open_counter(const struct hardware_counters *counters, struct counter *counter)
{
    size_t n = n_descriptors(counters, counter), n_open = 0;
    counter->fds = malloc(n * sizeof *counter->fds);
    if (counter->fds == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        counter->fds[i] = -1;
    for (size_t i = 0; i < n; i++) {
        struct perf_event_attr *event = &counter->formula.terms[i / counters->n_threads].event;
        int fd = open_allowed(counters, counter, event, counters->threads[i % counters->n_threads]);
        if (fd < 0 && fd != -ESRCH)
            return fd;
        counter->fds[i] = fd >= 0 ? fd : -1;
        n_open += fd >= 0;
    }
    return n_open > 0 ? 0 : -ESRCH;
}

static int explain(const struct hardware_counters *counters, const char *name, int code, struct err *err)
{
    switch (code) {
    case -ENOENT:
    case -ENODEV:
    case -EINVAL:
    case -EOPNOTSUPP:
        return err_set(
            err, -ENOENT,
            "this machine does not count %s of a program; papi_avail and papi_native_avail list what it has",
            name);
    case -EACCES:
    case -EPERM:
        return err_set(err, -EACCES,
                       "this user may not count %s; be root, have CAP_PERFMON, or set "
                       "kernel.perf_event_paranoid to 1",
                       name);
    case -EMFILE:
        return err_set(err, code,
                       "%zu threads and %zu events need more descriptors than this process may have; ask for "
                       "fewer events, or raise ulimit -n",
                       counters->n_threads, counters->n + 1);
    default:
        return err_sys(err, code, "cannot count %s", name);
    }
}

int hardware_counters_add(struct hardware_counters *counters, const char *name,
                          const struct hardware_formula *formula, struct err *err)
{
    struct counter *counter = &counters->counters[counters->n];
    if (counters->n == HARDWARE_EVENTS_MOST)
        return err_set(err, -EINVAL, "%d events are the most", HARDWARE_EVENTS_MOST);
    *counter = (struct counter){.count.has_kernel = true, .formula = *formula};
    snprintf(counter->count.name, sizeof counter->count.name, "%s", name);
    int code = open_counter(counters, counter);
    if (code == 0)
        counters->n++;
    else
        close_counter(counters, counter);
    return code < 0 ? explain(counters, name, code, err) : 0;
}

void hardware_counters_start(struct hardware_counters *counters)
{
    if (counters == NULL)
        return;
    counters->start_ns = clock_now_ns(&clock_monotonic);
    /* Those of a program that starts begin to count with its exec. */
    for (size_t i = 0; counters->threads[0] != 0 && i < counters->n; i++) {
        const struct counter *counter = &counters->counters[i];
        for (size_t j = 0; j < n_descriptors(counters, counter); j++) {
            if (counter->fds[j] >= 0)
                ioctl(counter->fds[j], PERF_EVENT_IOC_ENABLE, 0);
        }
    }
}

/* All threads of one term. */
static struct reading read_term(const struct hardware_counters *counters, const int *fds)
{
    struct reading sum = {0}, one;
    for (size_t i = 0; i < counters->n_threads; i++) {
        if (fds[i] < 0 || read(fds[i], &one, sizeof one) != sizeof one)
            continue;
        sum.n += one.n;
        sum.enabled_ns += one.enabled_ns;
        sum.running_ns += one.running_ns;
    }
    return sum;
}

static void take(const struct hardware_counters *counters, struct counter *counter)
{
    struct hardware_count *count = &counter->count;
    count->is_known = true;
    count->running_share = 1;
    for (size_t i = 0; i < counter->formula.n; i++) {
        struct reading sum = read_term(counters, counter->fds + i * counters->n_threads);
        double share = sum.enabled_ns > 0 ? (double)sum.running_ns / (double)sum.enabled_ns : 1;
        double n = share > 0 ? (double)sum.n / share : 0;
        count->is_known = count->is_known && share > 0;
        count->running_share = fmin(count->running_share, share);
        count->n += counter->formula.terms[i].is_taken_off ? -n : n;
    }
    /* Two estimates may be further apart than what they estimate. */
    count->n = fmax(0, round(count->n));
}

void hardware_counters_take(struct hardware_counters *counters)
{
    if (counters == NULL || counters->is_taken)
        return;
    counters->is_taken = true;
    counters->end_ns = clock_now_ns(&clock_monotonic);
    for (size_t i = 0; i < counters->n; i++)
        take(counters, &counters->counters[i]);
}

const struct hardware_count *hardware_counters_get(const struct hardware_counters *counters, size_t i)
{
    return counters != NULL && i < counters->n ? &counters->counters[i].count : NULL;
}

double hardware_counters_seconds(const struct hardware_counters *counters)
{
    return (double)(counters->end_ns - counters->start_ns) / 1e9;
}

void hardware_counters_close(struct hardware_counters *counters)
{
    for (size_t i = 0; counters != NULL && i < counters->n; i++)
        close_counter(counters, &counters->counters[i]);
    free(counters);
}
