/* bench/host/host_load: reads /proc, and what bench/host/hostinfo knows. */
#include "bench/host/host_load.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define POLL_NS (CLOCK_NS_PER_S / 10)

double host_load_parse_pressure(const char *line)
{
    double avg10, avg60;
    if (sscanf(line, "some avg10=%lf avg60=%lf", &avg10, &avg60) != 2 || !(avg60 >= 0 && avg60 <= 100))
        return NAN;
    return avg60 / 100;
}

double host_load_parse_total(const char *line)
{
    uint64_t total_us;
    return sscanf(line, "some avg10=%*f avg60=%*f avg300=%*f total=%" SCNu64, &total_us) == 1
               ? (double)total_us / 1e6
               : NAN;
}

static const char io_pressure[] = "/proc/pressure/io", cpu_pressure[] = "/proc/pressure/cpu";

static double read_pressure(const char *path, double (*parse)(const char *line))
{
    char line[160];
    return procfs_read_line(path, line, sizeof line) == 0 ? parse(line) : NAN;
}

static double read_number(const char *path)
{
    double number;
    return procfs_read_number(path, &number) == 0 ? number : NAN;
}

static void read_last_minute(struct host_load_facts *facts)
{
    facts->io_pressure_share = read_pressure(io_pressure, host_load_parse_pressure);
    facts->cpu_pressure_share = read_pressure(cpu_pressure, host_load_parse_pressure);
    facts->pressure_seconds = HOST_LOAD_MINUTE_S;
    facts->load_share = read_number("/proc/loadavg") / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns how long it was. */
static double wait_apart(const atomic_int *interrupted)
{
    uint64_t start_ns = clock_now_ns(&clock_monotonic), now_ns = start_ns;
    while (now_ns < start_ns + HOST_LOAD_APART_S * CLOCK_NS_PER_S &&
           (interrupted == NULL || atomic_load(interrupted) == 0)) {
        clock_sleep_until_ns(&clock_monotonic, now_ns + POLL_NS);
        now_ns = clock_now_ns(&clock_monotonic);
    }
    return (double)(now_ns - start_ns) / CLOCK_NS_PER_S;
}

static void read_apart(struct host_load_facts *facts, const atomic_int *interrupted)
{
    double io_s = read_pressure(io_pressure, host_load_parse_total);
    double cpu_s = read_pressure(cpu_pressure, host_load_parse_total);
    facts->pressure_seconds = wait_apart(interrupted);
    facts->io_pressure_share =
        (read_pressure(io_pressure, host_load_parse_total) - io_s) / facts->pressure_seconds;
    facts->cpu_pressure_share =
        (read_pressure(cpu_pressure, host_load_parse_total) - cpu_s) / facts->pressure_seconds;
    facts->load_share = NAN;
}

static double scan_memory(const char *name)
{
    double number;
    return hostinfo_scan("/proc/meminfo", name, &number) == 0 ? number : NAN;
}

void host_load_read(struct host_load_facts *facts, int directory_fd, bool after_own_work,
                    const atomic_int *interrupted)
{
    struct hostinfo host = {0};
    hostinfo_collect(&host, directory_fd);
    const struct hostinfo_fact *battery = hostinfo_find(&host, "on_battery");
    *facts = (struct host_load_facts){.on_battery = battery != NULL && battery->number == 1};
    if (after_own_work)
        read_apart(facts, interrupted);
    else
        read_last_minute(facts);
    facts->dirty_bytes = scan_memory("Dirty") + scan_memory("Writeback");
    facts->uptime_seconds = read_number("/proc/uptime");
}
