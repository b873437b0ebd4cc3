/* Tests of bench/run/run_monitor: parsers, differences, and the clean facts of a simulated run. */
#include "bench/base/clock.h"
#include "bench/run/run_monitor_internal.h"
#include "tests/test.h"

#include <pthread.h>

static struct run_monitor_reading steady(void)
{
    return (struct run_monitor_reading){.monotonic_ns = 5000000000,
                                        .realtime_ns = 1700000000000000000,
                                        .steal_ticks = 10,
                                        .all_ticks = 1000,
                                        .idle_ticks = 500,
                                        .psi_io_some_us = 1e6,
                                        .own_read_bytes = 100,
                                        .own_write_bytes = 200,
                                        .device_read_bytes = 300,
                                        .device_written_bytes = 400,
                                        .throttled = 3,
                                        .process_cpu_s = 1,
                                        .n_threads = 1,
                                        .threads = {{.tid = 1, .run_ns = 1000000000}}};
}

TEST(stat_line_gives_ticks)
{
    struct run_monitor_reading reading = {0};
    assert_true(run_monitor_parse_stat("cpu  100 20 30 400 50 6 7 80 9 10", &reading));
    assert_close(reading.all_ticks, 693, 0); /* guest time is in user time already */
    assert_close(reading.idle_ticks, 450, 0);
    assert_close(reading.steal_ticks, 80, 0);
    assert_false(run_monitor_parse_stat("cpu 100 20 30", &reading));
    assert_false(run_monitor_parse_stat("", &reading));
    assert_close(reading.all_ticks, 693, 0);
}

TEST(disk_line_gives_bytes)
{
    struct run_monitor_disk disk = {0};
    assert_true(
        run_monitor_parse_disk("9527266  1219054 3594803542 36636413 15599437  3158831 5881659106 53093497 "
                               "0  2581924 89928689   283017       68 275476088    88150  1362526   110628",
                               &disk));
    assert_close(disk.read_bytes, 3594803542.0 * 512, 0);
    assert_close(disk.written_bytes, 5881659106.0 * 512, 0);
    assert_close(disk.busy_s, 2581.924, 1e-9);
    assert_false(run_monitor_parse_disk("1 2 3", &disk));
}

TEST(pressure_line_gives_total)
{
    double share = 7, total = 7;
    assert_true(run_monitor_parse_pressure("some avg10=12.50 avg60=0.28 avg300=1.35 total=1402659465", &share,
                                           &total));
    assert_close(share, 0.125, 1e-12);
    assert_close(total, 1402659465, 0);
    assert_false(run_monitor_parse_pressure("full avg10=0.00", &share, &total));
}

TEST(difference_is_of_the_span)
{
    struct run_monitor_reading before = steady(), after = steady();
    struct run_monitor monitor;
    after.monotonic_ns += 2000000000;
    after.realtime_ns += 2000000000;
    after.all_ticks += 400;
    after.idle_ticks += 100;
    after.steal_ticks += 20;
    after.psi_io_some_us += 500000;
    after.own_read_bytes += 4096;
    after.own_write_bytes += 8192;
    after.device_read_bytes += 1e6;
    after.device_written_bytes += 2e6;
    after.throttled += 2;
    after.process_cpu_s += 3;
    after.threads[0].run_ns += 1000000000;
    run_monitor_difference(&before, &after, &monitor);
    assert_close(monitor.span_s, 2, 1e-9);
    assert_close(monitor.steal_share, 0.05, 1e-12);
    assert_close(monitor.machine_busy_share, 0.75, 1e-12);
    assert_close(monitor.psi_io_some_share, 0.25, 1e-12);
    assert_close(monitor.own_read_bytes, 4096, 0);
    assert_close(monitor.own_write_bytes, 8192, 0);
    assert_close(monitor.device_read_bytes, 1e6, 0);
    assert_close(monitor.device_written_bytes, 2e6, 0);
    assert_close(monitor.throttled, 2, 0);
    assert_close(monitor.process_cpu_share, 1.5, 1e-12);
    assert_close(monitor.busiest_helper_cpu_share, 0.5, 1e-12);
    assert_close(monitor.clock_step_s, 0, 1e-12);
    assert_close(monitor.suspended_s, 0, 1e-12);
    assert_true(isnan(monitor.busiest_thread_cpu_share));
}

TEST(set_clock_is_a_step_and_a_sleep_is_none)
{
    struct run_monitor_reading before = steady(), after = steady();
    struct run_monitor monitor;
    after.monotonic_ns += 1000000000;
    after.realtime_ns -= 3599000000000; /* an hour back */
    run_monitor_difference(&before, &after, &monitor);
    assert_close(monitor.clock_step_s, -3600, 1e-6);
    assert_close(monitor.suspended_s, 0, 1e-9);
    after.realtime_ns = before.realtime_ns + 61000000000;
    after.suspended_ns = before.suspended_ns + 60000000000;
    run_monitor_difference(&before, &after, &monitor);
    assert_close(monitor.clock_step_s, 0, 1e-6);
    assert_close(monitor.suspended_s, 60, 1e-6);
}

TEST(unknown_counters_stay_unknown)
{
    struct run_monitor_reading before = steady(), after = steady();
    struct run_monitor monitor;
    after.monotonic_ns += 1000000;
    before.own_read_bytes = after.device_read_bytes = before.psi_io_some_us = after.throttled = NAN;
    before.n_threads = 0;
    run_monitor_difference(&before, &after, &monitor);
    assert_true(isnan(monitor.own_read_bytes) && isnan(monitor.device_read_bytes));
    assert_true(isnan(monitor.psi_io_some_share) && isnan(monitor.throttled));
    assert_true(isnan(monitor.steal_share)); /* no tick went by */
    assert_true(isnan(monitor.busiest_helper_cpu_share));
    assert_close(monitor.own_write_bytes, 0, 0);
}

TEST(helper_is_any_thread_but_the_caller)
{
    struct run_monitor_reading before = steady(), after = steady();
    struct run_monitor monitor;
    after.monotonic_ns += 1000000000;
    after.n_threads = 3;
    after.threads[0].run_ns += 200000000;
    after.threads[1] = (struct run_monitor_thread){.tid = 2, .run_ns = 700000000}; /* born since */
    after.threads[2] = (struct run_monitor_thread){.tid = (int32_t)gettid(), .run_ns = 900000000};
    run_monitor_difference(&before, &after, &monitor);
    assert_close(monitor.busiest_helper_cpu_share, 0.7, 1e-12);
}

TEST(busiest_lane_stays)
{
    struct run_monitor monitor;
    struct run_monitor_cpu start = {1, 1, 1}, lazy = {1.1, 1.1, 1.5}, busy = {1.2, 1.7, 1},
                           unknown = {NAN, NAN, NAN};
    run_monitor_clear(&monitor);
    run_monitor_add_worker(&monitor, start, unknown, 1);
    assert_true(isnan(monitor.busiest_thread_cpu_share));
    run_monitor_add_worker(&monitor, start, lazy, 1);
    run_monitor_add_worker(&monitor, start, busy, 1);
    run_monitor_add_worker(&monitor, start, lazy, 1);
    run_monitor_add_worker(&monitor, start, unknown, 1);
    run_monitor_add_worker(&monitor, start, busy, 0);
    assert_close(monitor.busiest_thread_cpu_share, 0.9, 1e-9);
    assert_close(monitor.busiest_thread_user_share, 0.2, 1e-9);
    assert_close(monitor.thread_wait_share, 0.5, 1e-9);
}

/* Of this machine: what is known must move forward, and a thread that computes must be seen. */
TEST(reading_of_this_machine_is_sane)
{
    static struct run_monitor_reading before, after;
    struct hostinfo_device nowhere = {0};
    struct run_monitor monitor;
    run_monitor_read(&before, &nowhere);
    struct run_monitor_cpu start = run_monitor_cpu_now();
    uint64_t begin_ns = clock_now_ns(&clock_monotonic);
    volatile double x = 0;
    while (clock_now_ns(&clock_monotonic) - begin_ns < 30000000)
        x = x + 1;
    struct run_monitor_cpu end = run_monitor_cpu_now();
    run_monitor_read(&after, &nowhere);
    run_monitor_difference(&before, &after, &monitor);
    run_monitor_add_worker(&monitor, start, end, (double)(clock_now_ns(&clock_monotonic) - begin_ns) / 1e9);
    assert_true(monitor.span_s >= 0.03);
    assert_true(isnan(monitor.device_read_bytes) && isnan(monitor.device_written_bytes));
    assert_true(fabs(monitor.clock_step_s) < 1);
    assert_true(monitor.busiest_thread_cpu_share > 0.01);
    assert_true(monitor.busiest_thread_user_share <= monitor.busiest_thread_cpu_share);
    if (before.n_threads > 0)
        assert_true(monitor.busiest_helper_cpu_share >= 0);
}

static void *spin(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
        ;
    return NULL;
}

/* On a busy machine a thread may wait longer than a look lasts: some look finds it at work. */
TEST(computing_helper_is_seen)
{
    enum { LOOKS = 100 };
    static struct run_monitor_reading before, after;
    struct hostinfo_device nowhere = {0};
    struct run_monitor monitor;
    pthread_t thread;
    int stop = 0;
    run_monitor_read(&before, &nowhere);
    if (before.n_threads == 0) {
        print_message("the kernel does not count the run time of threads\n");
        skip();
    }
    assert_int_equal(pthread_create(&thread, NULL, spin, &stop), 0);
    for (int look = 0; look == 0 || (look < LOOKS && monitor.busiest_helper_cpu_share <= 0.01); look++) {
        run_monitor_read(&before, &nowhere);
        clock_sleep_until_ns(&clock_monotonic, clock_now_ns(&clock_monotonic) + 50000000);
        run_monitor_read(&after, &nowhere);
        run_monitor_difference(&before, &after, &monitor);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(monitor.busiest_helper_cpu_share > 0.01);
    assert_true(monitor.process_cpu_share > 0.01);
}

TEST(idle_watch_takes_its_time_and_does_no_io)
{
    struct hostinfo_device nowhere = {0};
    struct run_monitor_idle idle;
    run_monitor_idle(&nowhere, 20000000, &idle);
    assert_true(idle.duration_s >= 0.02);
    assert_true(isnan(idle.device_read_bps) && isnan(idle.device_written_bps));
    assert_true(isnan(idle.device_busy_share) && isnan(idle.in_flight_mean));
    assert_true(isnan(idle.own_bytes) || idle.own_bytes == 0);
    assert_true(idle.n_cpus >= 1);
    assert_true(isnan(idle.machine_busy_share) ||
                (idle.machine_busy_share >= 0 && idle.machine_busy_share <= 1));
}
