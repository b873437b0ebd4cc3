/* Tests of doctor's checks on made-up machines: what is said, how loudly, and what is passed over. */
#include "tuner/doctor/doctor.h"

#include "tests/tuner/rig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct hostinfo host;
static struct doctor_facts facts;
static struct doctor_report report;

static struct hostinfo_fact *fact(const char *key)
{
    for (size_t i = 0; i < host.n; i++) {
        if (strcmp(host.facts[i].key, key) == 0)
            return &host.facts[i];
    }
    struct hostinfo_fact *added = &host.facts[host.n++];
    snprintf(added->key, sizeof added->key, "%s", key);
    return added;
}

static void set_text(const char *key, const char *text)
{
    struct hostinfo_fact *entry = fact(key);
    entry->kind = HOSTINFO_TEXT;
    snprintf(entry->text, sizeof entry->text, "%s", text);
}

static void set_number(const char *key, double number)
{
    struct hostinfo_fact *entry = fact(key);
    entry->kind = HOSTINFO_NUMBER;
    entry->number = number;
}

static void set_noise(double cv, double window_cv)
{
    facts.noise =
        (struct doctor_noise){.n = 20,
                              .point = {.request_size_bytes = 16384, .queue_depth = 1, .threads = 1},
                              .mean_bps = 1e9,
                              .run_cv = cv,
                              .window_cv = window_cv,
                              .run_seconds = 0.1};
}

/* A quiet machine with a good disk: nothing to say about it. */
FIXTURE(make_healthy)
{
    memset(&host, 0, sizeof host);
    memset(&facts, 0, sizeof facts);
    facts.host = &host;
    for (size_t i = 0; i < API_N; i++)
        facts.apis[i].works = true;
    facts.has_target = true;
    facts.direct_read = facts.direct_write = TARGET_DIRECT_PROVED;
    facts.direct_align_bytes = 512;
    facts.file_bytes = 1ULL << 30;
    facts.steal_share = 0;
    set_noise(0.01, 0.03);
    static const struct {
        const char *key;
        double number;
    } numbers[] = {
        {"fs_available_bytes", 5e11},
        {"fs_size_bytes", 1e12},
        {"memory_room_bytes", 1.6e10},
        {"open_files_limit", 1024},
        {"memlock_limit_bytes", 8388608},
        {"aio_max_nr", 65536},
        {"aio_nr", 0},
        {"io_uring_disabled", 0},
        {"pressure_readable", 1},
        {"rotational", 0},
        {"load1_before", 0.2},
        {"cpus", 8},
        {"device_in_flight_before", 0},
        {"psi_io_some_avg10_percent_before", 0},
        {"writeback_memory_bytes_before", 0},
        {"on_battery", 0},
        {"dirty_background_limit_bytes", 1e9},
    };
    for (size_t i = 0; i < RIG_COUNT(numbers); i++)
        set_number(numbers[i].key, numbers[i].number);
    set_text("file_system", "ext4");
    set_text("mount_options", "rw,relatime;rw,errors=remount-ro");
    set_text("scheduler", "none");
    set_text("virtualisation", "none");
    set_text("device", "nvme0n1p2");
    set_text("cgroup_v2_io_max", "none");
    set_text("cpu_governor", "performance");
    return 0;
}

EACH_TEST(make_healthy, NULL);

/* The loudest thing that a check of this name said; -1: nothing. */
static int loudest(const char *name)
{
    int severity = -1;
    for (size_t i = 0; i < report.n; i++) {
        if (strcmp(report.items[i].name, name) == 0 && (int)report.items[i].severity > severity)
            severity = (int)report.items[i].severity;
    }
    return severity;
}

static bool says(const char *name, const char *part)
{
    for (size_t i = 0; i < report.n; i++) {
        if (strcmp(report.items[i].name, name) == 0 && strstr(report.items[i].found, part) != NULL)
            return true;
    }
    return false;
}

/* Examines; a check of this name must say this loudly, or nothing at all (-1), and its text hold `part`. */
static void expect_said(const char *name, int severity, const char *part)
{
    doctor_examine(&facts, &report);
    if (loudest(name) != severity || (part != NULL && !says(name, part)))
        fail_msg("%s: severity %d in the place of %d, or without \"%s\"", name, loudest(name), severity,
                 part != NULL ? part : "");
}

static void check_advice(void)
{
    for (size_t i = 0; i < report.n; i++) {
        const struct doctor_item *item = &report.items[i];
        assert_true(item->found[0] != '\0' && strchr(item->found, '\n') == NULL);
        assert_int_equal(item->recommendation == NULL, item->severity == DOCTOR_OK);
        assert_true(item->name != NULL && item->group != NULL);
    }
}

/* The same, and that is all there is to say. */
static void expect_only(const char *name, int severity, const char *part)
{
    expect_said(name, severity, part);
    assert_int_equal(report.n_findings, severity == DOCTOR_FINDING);
    check_advice();
}

TEST(a_healthy_machine_has_no_finding)
{
    doctor_examine(&facts, &report);
    for (size_t i = 0; i < report.n; i++)
        if (report.items[i].severity != DOCTOR_OK)
            fail_msg("%s: %s", report.items[i].name, report.items[i].found);
    assert_int_equal(report.n_findings, 0);
    assert_true(report.n >= 15);
    check_advice();
}

TEST(nothing_known_is_nothing_said)
{
    host.n = 0;
    facts.noise = (struct doctor_noise){0};
    facts.steal_share = NAN;
    doctor_examine(&facts, &report);
    assert_int_equal(report.n_findings, 0);
}

/* One number that is wrong, the check that must say so, and how loudly. */
static const struct {
    const char *key;
    double number;
    const char *name;
    int severity;
} wrong_numbers[] = {
    {"fs_available_bytes", 4e10, "free_space", DOCTOR_FINDING},
    {"memory_room_bytes", 1e9, "memory", DOCTOR_NOTE},
    {"memory_room_bytes", 1e8, "memory", DOCTOR_FINDING},
    {"open_files_limit", 64, "open_files_limit", DOCTOR_NOTE},
    {"open_files_limit", 16, "open_files_limit", DOCTOR_FINDING},
    {"memlock_limit_bytes", 0, "memlock_limit", DOCTOR_NOTE},
    {"file_size_limit_bytes", 1e6, "file_size_limit", DOCTOR_FINDING},
    {"file_size_limit_bytes", 5e8, "file_size_limit", DOCTOR_NOTE},
    {"aio_nr", 65000, "aio_limit", DOCTOR_FINDING},
    {"aio_nr", 60000, "aio_limit", DOCTOR_NOTE},
    {"io_uring_disabled", 1, "io_uring_disabled", DOCTOR_NOTE},
    {"pressure_readable", 0, "pressure", DOCTOR_NOTE},
    {"rotational", 1, "scheduler", DOCTOR_NOTE},
    {"load1_before", 5, "load", DOCTOR_NOTE},
    {"load1_before", 9, "load", DOCTOR_FINDING},
    {"psi_io_some_avg10_percent_before", 10, "io_pressure", DOCTOR_NOTE},
    {"psi_io_some_avg10_percent_before", 50, "io_pressure", DOCTOR_FINDING},
    {"device_in_flight_before", 3, "device_busy", DOCTOR_NOTE},
    {"writeback_memory_bytes_before", 1e9, "device_busy", DOCTOR_NOTE},
    {"on_battery", 1, "power", DOCTOR_FINDING},
};

TEST(every_wrong_number_is_said_and_nothing_else)
{
    for (size_t i = 0; i < RIG_COUNT(wrong_numbers); i++) {
        make_healthy(NULL);
        set_number(wrong_numbers[i].key, wrong_numbers[i].number);
        expect_only(wrong_numbers[i].name, wrong_numbers[i].severity, NULL);
    }
}

static const struct {
    const char *key, *text, *name;
    int severity;
    const char *part;
} wrong_texts[] = {
    {"mount_options", "rw,discard;rw", "mount_options", DOCTOR_FINDING, "discard"},
    {"mount_options", "rw;rw,discard", "mount_options", DOCTOR_FINDING, "discard"},
    {"mount_options", "rw,sync;rw", "mount_options", DOCTOR_FINDING, "sync"},
    {"mount_options", "rw;rw,barrier=0", "mount_options", DOCTOR_FINDING, "flushes are not sent"},
    {"mount_options", "rw;rw,nobarrier", "mount_options", DOCTOR_FINDING, "flushes are not sent"},
    {"mount_options", "rw;rw,data=journal", "mount_options", DOCTOR_FINDING, "twice"},
    {"mount_options", "rw,nodiscard,async;rw,data=ordered", "mount_options", DOCTOR_OK, "nodiscard"},
    {"scheduler", "bfq", "scheduler", DOCTOR_FINDING, "bfq"},
    {"scheduler", "mq-deadline", "scheduler", DOCTOR_OK, "mq-deadline"},
    {"virtualisation", "guest on QEMU Standard PC", "guest_disk", DOCTOR_NOTE, "QEMU"},
    {"cgroup_v2_io_max", "io.max: rbps=1048576", "rate_caps", DOCTOR_FINDING, "rbps=1048576"},
    {"cgroup_v1_blkio_throttle", "blkio.throttle.read_bps_device: 1", "rate_caps", DOCTOR_FINDING,
     "read_bps"},
    {"cpu_governor", "powersave", "cpu_governor", DOCTOR_NOTE, "powersave"},
    {"cpu_governor", "schedutil", "cpu_governor", DOCTOR_OK, "schedutil"},
    {"file_system", "tmpfs", "file_system", DOCTOR_FINDING, "memory"},
    {"file_system", "overlay", "file_system", DOCTOR_FINDING, "another file system"},
    {"file_system", "fuse.sshfs", "file_system", DOCTOR_NOTE, "fuse.sshfs"},
};

TEST(every_wrong_text_is_said_and_nothing_else)
{
    for (size_t i = 0; i < RIG_COUNT(wrong_texts); i++) {
        make_healthy(NULL);
        set_text(wrong_texts[i].key, wrong_texts[i].text);
        expect_only(wrong_texts[i].name, wrong_texts[i].severity, wrong_texts[i].part);
    }
}

TEST(options_count_on_their_own_file_system_only)
{
    static const struct {
        const char *type, *options;
        int severity;
    } rows[] = {
        {"btrfs", "rw;rw,compress=zstd:3,ssd", DOCTOR_FINDING},
        {"ext4", "rw;rw,compress=zstd:3", DOCTOR_OK},
        {"btrfs", "rw;rw,compress-force=lzo", DOCTOR_FINDING},
        {"btrfs", "rw;rw,nodatacow", DOCTOR_NOTE},
        {"btrfs", "rw;rw,discard=async", DOCTOR_OK},
        {"btrfs", "rw;rw,discard", DOCTOR_FINDING},
        {"xfs", "rw;rw,discard", DOCTOR_NOTE},
    };
    for (size_t i = 0; i < RIG_COUNT(rows); i++) {
        make_healthy(NULL);
        set_text("file_system", rows[i].type);
        set_text("mount_options", rows[i].options);
        expect_said("mount_options", rows[i].severity, NULL);
    }
}

TEST(an_api_that_does_not_work_is_a_finding_with_its_reason)
{
    facts.apis[API_IO_URING] = (struct doctor_api){.why_not = "kernel.io_uring_disabled is 2"};
    doctor_examine(&facts, &report);
    assert_int_equal(report.n_findings, 1);
    assert_true(says("apis", "io_uring: kernel.io_uring_disabled is 2"));
    assert_true(says("apis", "psync, pvec, pool, libaio"));
}

TEST(direct_io_is_judged_for_reads_and_writes_apart)
{
    static const enum target_proof bad[] = {TARGET_DIRECT_REFUSED, TARGET_DIRECT_BUFFERED,
                                            TARGET_DIRECT_UNVERIFIED};
    for (size_t i = 0; i < RIG_COUNT(bad); i++) {
        make_healthy(NULL);
        facts.direct_write = bad[i];
        snprintf(facts.direct_why, sizeof facts.direct_why, "because");
        expect_only("direct_write", DOCTOR_FINDING, NULL);
        assert_int_equal(loudest("direct_read"), DOCTOR_OK);
    }
    make_healthy(NULL);
    facts.direct_align_bytes = 4096;
    expect_said("direct_alignment", DOCTOR_NOTE, "4096");
}

TEST(no_file_is_a_finding_and_hides_what_needs_one)
{
    facts.has_target = false;
    facts.target_code = -EROFS;
    snprintf(facts.target_why, sizeof facts.target_why, "the file system is read-only");
    facts.direct_read = facts.direct_write = TARGET_DIRECT_UNTRIED;
    facts.direct_align_bytes = 0;
    facts.noise = (struct doctor_noise){.failed = true, .why = "not measured"};
    doctor_examine(&facts, &report);
    assert_int_equal(report.n_findings, 1);
    assert_true(says("create", "read-only"));
    assert_int_equal(loudest("direct_read"), -1);
    assert_int_equal(loudest("noise_floor"), -1);
}

TEST(the_advice_for_a_file_that_cannot_be_made_fits_its_reason)
{
    static const struct {
        int code;
        const char *part;
    } rows[] = {{-EROFS, "--existing"},
                {-EFBIG, "--max-write"},
                {-ENOSPC, "free some space"},
                {-EDQUOT, "free some space"},
                {-EACCES, "another --path"}};
    for (size_t i = 0; i < RIG_COUNT(rows); i++) {
        make_healthy(NULL);
        facts.has_target = false;
        facts.target_code = rows[i].code;
        snprintf(facts.target_why, sizeof facts.target_why, "why");
        doctor_examine(&facts, &report);
        for (size_t k = 0; k < report.n; k++)
            if (strcmp(report.items[k].name, "create") == 0)
                assert_non_null(strstr(report.items[k].recommendation, rows[i].part));
        assert_int_equal(loudest("create"), DOCTOR_FINDING);
    }
}

TEST(an_interrupted_preparation_is_no_finding)
{
    facts.has_target = false;
    facts.interrupted = true;
    facts.target_code = -EINTR;
    facts.noise = (struct doctor_noise){.failed = true};
    doctor_examine(&facts, &report);
    assert_int_equal(report.n_findings, 0);
}

TEST(runs_that_fail_are_a_finding)
{
    facts.noise = (struct doctor_noise){.failed = true, .why = "read: Input/output error"};
    expect_said("noise_floor", DOCTOR_FINDING, "Input/output error");
}

TEST(noise_is_judged_by_the_replays_that_it_costs)
{
    static const struct {
        double cv;
        int severity;
    } rows[] = {{0.0, DOCTOR_OK}, {0.02, DOCTOR_OK}, {0.05, DOCTOR_NOTE}, {0.12, DOCTOR_FINDING}};
    for (size_t i = 0; i < RIG_COUNT(rows); i++) {
        make_healthy(NULL);
        set_noise(rows[i].cv, 10 * rows[i].cv);
        expect_said("noise_floor", rows[i].severity, NULL);
        check_advice();
    }
}

TEST(runs_that_differ_as_a_whole_are_told_from_noise_inside_them)
{
    set_noise(0.05, 0.16); /* 0.16 / sqrt(10) = 0.05: nothing but what is inside a run */
    doctor_examine(&facts, &report);
    assert_false(says("noise_floor", "as a whole"));
    set_noise(0.05, 0.02);
    doctor_examine(&facts, &report);
    assert_true(says("noise_floor", "as a whole"));
}

TEST(a_loop_device_without_direct_io_is_a_finding)
{
    set_text("loop_backing_file", "/var/disk.img");
    set_number("loop_direct_io", 0);
    expect_said("loop_device", DOCTOR_FINDING, NULL);
    set_text("virtualisation", "guest");
    set_number("rotational", 1);
    set_number("loop_direct_io", 1);
    expect_said("loop_device", DOCTOR_NOTE, NULL);
    /* What the kernel says of the loop device itself means nothing. */
    assert_int_equal(loudest("scheduler"), -1);
    assert_int_equal(loudest("guest_disk"), -1);
}

TEST(a_worn_hot_or_failing_drive_is_said)
{
    facts.health = (struct drive_health){.known = true,
                                         .percentage_used = 95,
                                         .temperature_c = 75,
                                         .media_errors = 2,
                                         .host_written_bytes = 1e12,
                                         .critical_warning = 4};
    doctor_examine(&facts, &report);
    assert_int_equal(report.n_findings, 3);
    assert_true(says("wear", "95 %") && says("wear", "75 C") && says("wear", "2 media errors"));
    assert_true(says("wear", "0x04"));
    assert_false(says("wear", "meanwhile"));
    facts.health = (struct drive_health){.why_not = "smartctl is not installed"};
    expect_said("wear", DOCTOR_NOTE, NULL);
    facts.health = (struct drive_health){.why_not = "a virtual device"};
    expect_said("wear", -1, NULL);
}

TEST(stolen_time_and_a_busy_device_are_said)
{
    facts.steal_share = 0.03;
    expect_said("steal", DOCTOR_NOTE, NULL);
    facts.steal_share = 0.2;
    facts.never_quiet = true;
    expect_said("steal", DOCTOR_FINDING, NULL);
    assert_int_equal(loudest("device_busy"), DOCTOR_FINDING);
}

TEST(little_room_makes_a_small_file_or_none)
{
    facts.file_bytes = 256 << 20;
    expect_said("free_space", DOCTOR_NOTE, "256m");
    facts.file_bytes = 0;
    snprintf(facts.file_why, sizeof facts.file_why, "does not fit");
    expect_said("free_space", DOCTOR_FINDING, NULL);
}

TEST(limits_that_cannot_be_read_are_a_note)
{
    set_text("cgroup_v2_io_max", "");
    expect_said("rate_caps", DOCTOR_NOTE, NULL);
    set_text("device", "");
    expect_said("rate_caps", -1, NULL);
}

TEST(a_full_report_loses_the_rest)
{
    memset(&report, 0, sizeof report);
    for (size_t i = 0; i < DOCTOR_MAX + 5; i++)
        doctor_say(&report, DOCTOR_FINDING, "advice", "%zu", i);
    assert_int_equal(report.n, DOCTOR_MAX);
    assert_int_equal(report.n_findings, DOCTOR_MAX);
}
