/* bench/run/run_monitor: counters around the timed part of a run. */
#include "bench/run/run_monitor.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"
#include "bench/run/run_monitor_internal.h"

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECTOR_BYTES 512.0

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double own_wait_s(void)
{
    char line[96];
    uint64_t wait_ns;
    if (procfs_read_line("/proc/thread-self/schedstat", line, sizeof(line)) != 0 ||
        sscanf(line, "%*s %" SCNu64, &wait_ns) != 1)
        return NAN;
    return (double)wait_ns / 1e9;
}

struct run_monitor_cpu run_monitor_cpu_now(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return (struct run_monitor_cpu){NAN, NAN, NAN};
    return (struct run_monitor_cpu){seconds_of(&usage.ru_utime), seconds_of(&usage.ru_stime), own_wait_s()};
}

bool run_monitor_parse_stat(const char *line, struct run_monitor_reading *reading)
{
    double ticks[8], sum = 0;
    if (sscanf(line, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
               &ticks[4], &ticks[5], &ticks[6], &ticks[7]) != 8)
        return false;
    for (size_t i = 0; i < 8; i++)
        sum += ticks[i];
    reading->all_ticks = sum;
    reading->idle_ticks = ticks[3] + ticks[4]; /* waiting for I/O is idling */
    reading->steal_ticks = ticks[7];
    return true;
}

bool run_monitor_parse_disk(const char *line, struct run_monitor_disk *ret_disk)
{
    double read_sectors, written_sectors, busy_ms;
    if (sscanf(line, "%*s %*s %lf %*s %*s %*s %lf %*s %*s %lf", &read_sectors, &written_sectors, &busy_ms) !=
        3)
        return false;
    ret_disk->read_bytes = read_sectors * SECTOR_BYTES;
    ret_disk->written_bytes = written_sectors * SECTOR_BYTES;
    ret_disk->busy_s = busy_ms / 1e3;
    return true;
}

bool run_monitor_read_disk(const struct hostinfo_device *device, struct run_monitor_disk *ret_disk)
{
    char path[160], line[256];
    *ret_disk = (struct run_monitor_disk){NAN, NAN, NAN};
    snprintf(path, sizeof(path), "%s/stat", device->sysfs);
    return device->sysfs[0] != '\0' && procfs_read_line(path, line, sizeof(line)) == 0 &&
           run_monitor_parse_disk(line, ret_disk);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0": the average is of ten seconds, the total moves at once.
 */
bool run_monitor_parse_pressure(const char *line, double *ret_avg10_share, double *ret_total_us)
{
    double percent, total;
    if (sscanf(line, "some avg10=%lf avg60=%*f avg300=%*f total=%lf", &percent, &total) != 2)
        return false;
    *ret_avg10_share = percent / 100;
    *ret_total_us = total;
    return true;
}

/* Threads that end meanwhile are left out. */
static void read_threads(struct run_monitor_reading *reading)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    reading->n_threads = 0;
    while (tasks != NULL && reading->n_threads < RUN_MONITOR_THREADS_MAX &&
           (entry = readdir(tasks)) != NULL) {
        char path[64], line[96];
        int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
        uint64_t run_ns;
        snprintf(path, sizeof(path), "/proc/self/task/%" PRId32 "/schedstat", tid);
        if (tid <= 0 || procfs_read_line(path, line, sizeof(line)) != 0 ||
            sscanf(line, "%" SCNu64, &run_ns) != 1)
            continue;
        reading->threads[reading->n_threads++] = (struct run_monitor_thread){tid, run_ns};
    }
    if (tasks != NULL)
        closedir(tasks);
}

static double own_bytes(const char *name)
{
    double bytes;
    return hostinfo_scan("/proc/self/io", name, &bytes) == 0 ? bytes : NAN;
}

static double process_cpu_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return NAN;
    return seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
}

void run_monitor_read_machine(struct run_monitor_reading *reading)
{
    char line[256];
    double average;
    reading->steal_ticks = reading->all_ticks = reading->idle_ticks = NAN;
    reading->psi_io_some_us = NAN;
    if (procfs_read_line("/proc/stat", line, sizeof(line)) == 0)
        run_monitor_parse_stat(line, reading);
    if (procfs_read_line("/proc/pressure/io", line, sizeof(line)) == 0)
        run_monitor_parse_pressure(line, &average, &reading->psi_io_some_us);
    reading->own_read_bytes = own_bytes("read_bytes");
    reading->own_write_bytes = own_bytes("write_bytes");
}

void run_monitor_read(struct run_monitor_reading *reading, const struct hostinfo_device *device)
{
    struct run_monitor_disk disk;
    reading->suspended_ns = clock_suspended_ns();
    reading->monotonic_ns = clock_now_ns(&clock_monotonic);
    reading->realtime_ns = clock_realtime_ns();
    run_monitor_read_machine(reading);
    run_monitor_read_disk(device, &disk);
    reading->device_read_bytes = disk.read_bytes;
    reading->device_written_bytes = disk.written_bytes;
    reading->throttled = hostinfo_cpu_throttled();
    reading->process_cpu_s = process_cpu_s();
    read_threads(reading);
}

static uint64_t run_ns_of(const struct run_monitor_reading *reading, int32_t tid)
{
    for (uint32_t i = 0; i < reading->n_threads; i++)
        if (reading->threads[i].tid == tid)
            return reading->threads[i].run_ns;
    return 0; /* born since */
}

/* NaN where the kernel counts nothing: schedstat may be missing. */
static double busiest_helper_s(const struct run_monitor_reading *before,
                               const struct run_monitor_reading *after)
{
    uint64_t most_ns = 0;
    if (before->n_threads == 0 || after->n_threads == 0)
        return NAN;
    for (uint32_t i = 0; i < after->n_threads; i++) {
        uint64_t run_ns = after->threads[i].run_ns - run_ns_of(before, after->threads[i].tid);
        if (after->threads[i].tid != (int32_t)gettid() && run_ns > most_ns)
            most_ns = run_ns;
    }
    return (double)most_ns / 1e9;
}

double watch_share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void run_monitor_difference(const struct run_monitor_reading *before, const struct run_monitor_reading *after,
                            struct run_monitor *ret_monitor)
{
    double span_s = (double)(after->monotonic_ns - before->monotonic_ns) / 1e9;
    double ticks = after->all_ticks - before->all_ticks;
    double idle = after->idle_ticks - before->idle_ticks, steal = after->steal_ticks - before->steal_ticks;
    run_monitor_clear(ret_monitor);
    ret_monitor->span_s = span_s;
    ret_monitor->steal_share = watch_share(steal, ticks);
    ret_monitor->machine_busy_share = watch_share(ticks - idle, ticks);
    ret_monitor->psi_io_some_share =
        watch_share((after->psi_io_some_us - before->psi_io_some_us) / 1e6, span_s);
    ret_monitor->own_read_bytes = after->own_read_bytes - before->own_read_bytes;
    ret_monitor->own_write_bytes = after->own_write_bytes - before->own_write_bytes;
    ret_monitor->device_read_bytes = after->device_read_bytes - before->device_read_bytes;
    ret_monitor->device_written_bytes = after->device_written_bytes - before->device_written_bytes;
    /* The monotonic clock stands still while the machine sleeps, the wall clock does not. */
    double suspended_s = (double)(int64_t)(after->suspended_ns - before->suspended_ns) / 1e9;
    ret_monitor->suspended_s = suspended_s;
    ret_monitor->clock_step_s =
        (double)(int64_t)(after->realtime_ns - before->realtime_ns) / 1e9 - span_s - suspended_s;
    ret_monitor->throttled = after->throttled - before->throttled;
    ret_monitor->process_cpu_share = watch_share(after->process_cpu_s - before->process_cpu_s, span_s);
    ret_monitor->busiest_helper_cpu_share = watch_share(busiest_helper_s(before, after), span_s);
}

void run_monitor_clear(struct run_monitor *monitor)
{
    *monitor = (struct run_monitor){
        .busiest_thread_cpu_share = NAN,
        .busiest_thread_user_share = NAN,
        .steal_share = NAN,
        .psi_io_some_share = NAN,
        .own_read_bytes = NAN,
        .own_write_bytes = NAN,
        .device_read_bytes = NAN,
        .device_written_bytes = NAN,
        .clock_step_s = NAN,
        .throttled = NAN,
        .busiest_helper_cpu_share = NAN,
        .thread_wait_share = NAN,
        .process_cpu_share = NAN,
        .machine_busy_share = NAN,
        .suspended_s = NAN,
        .span_s = NAN,
    };
}

void run_monitor_add_worker(struct run_monitor *monitor, struct run_monitor_cpu before,
                            struct run_monitor_cpu after, double span_s)
{
    double user = after.user_s - before.user_s;
    double share = watch_share(user + (after.system_s - before.system_s), span_s);
    double wait = watch_share(after.wait_s - before.wait_s, span_s);
    monitor->thread_wait_share =
        fmax(monitor->thread_wait_share, wait); /* fmax of a NaN and a number is the number */
    if (isnan(share) || share <= monitor->busiest_thread_cpu_share)
        return;
    monitor->busiest_thread_cpu_share = share;
    monitor->busiest_thread_user_share = watch_share(user, span_s);
}
