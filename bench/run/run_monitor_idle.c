/* bench/run/run_monitor_idle: what the machine does while fstune does nothing. */
#include "bench/base/clock.h"
#include "bench/host/procfs.h"
#include "bench/run/run_monitor_internal.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

#define SAMPLE_NS 5000000ULL

/* Mean of samples: a neighbour with short requests is seen in some of them. */
static double mean_in_flight(const struct hostinfo_device *device, uint64_t end_ns)
{
    uint64_t in_flight, now_ns = clock_now_ns(&clock_monotonic);
    double sum = 0, n = 0;
    while (now_ns < end_ns) {
        if (hostinfo_in_flight(device, &in_flight) == 0) {
            sum += (double)in_flight;
            n++;
        }
        clock_sleep_until_ns(&clock_monotonic, now_ns + SAMPLE_NS < end_ns ? now_ns + SAMPLE_NS : end_ns);
        now_ns = clock_now_ns(&clock_monotonic);
    }
    return watch_share(sum, n);
}

static uint32_t usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a set of glibc holds */
}

static void read_averages(struct run_monitor_idle *idle)
{
    char line[160];
    double load, total_us;
    idle->load1_per_cpu = idle->psi_io_some_avg10_share = NAN;
    if (procfs_read_number("/proc/loadavg", &load) == 0)
        idle->load1_per_cpu = load / (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (procfs_read_line("/proc/pressure/io", line, sizeof(line)) == 0)
        run_monitor_parse_pressure(line, &idle->psi_io_some_avg10_share, &total_us);
}

void run_monitor_idle(const struct hostinfo_device *device, uint64_t duration_ns,
                      struct run_monitor_idle *ret_idle)
{
    struct run_monitor_reading before, after;
    struct run_monitor_disk disk_before, disk_after;
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    read_averages(ret_idle);
    run_monitor_read_machine(&before);
    run_monitor_read_disk(device, &disk_before);
    ret_idle->in_flight_mean = mean_in_flight(device, start_ns + duration_ns);
    run_monitor_read_disk(device, &disk_after);
    run_monitor_read_machine(&after);
    double span_s = (double)(clock_now_ns(&clock_monotonic) - start_ns) / 1e9;
    double ticks = after.all_ticks - before.all_ticks;
    ret_idle->duration_s = span_s;
    ret_idle->device_read_bps = watch_share(disk_after.read_bytes - disk_before.read_bytes, span_s);
    ret_idle->device_written_bps = watch_share(disk_after.written_bytes - disk_before.written_bytes, span_s);
    ret_idle->device_busy_share = watch_share(disk_after.busy_s - disk_before.busy_s, span_s);
    ret_idle->own_bytes =
        after.own_read_bytes - before.own_read_bytes + after.own_write_bytes - before.own_write_bytes;
    ret_idle->psi_io_some_share = watch_share((after.psi_io_some_us - before.psi_io_some_us) / 1e6, span_s);
    ret_idle->steal_share = watch_share(after.steal_ticks - before.steal_ticks, ticks);
    ret_idle->machine_busy_share = watch_share(ticks - (after.idle_ticks - before.idle_ticks), ticks);
    ret_idle->n_cpus = usable_cpus();
}
