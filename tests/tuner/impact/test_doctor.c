/* Tests of doctor's checks on made-up machines: what is said, how loudly, and what is passed over. */
#include "tuner/impact/doctor.h"

#include "tests/tuner/rig.h"

#include <errno.h>

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

/* "KEY=VALUE" with blanks between; what is no number is a text. */
static void set(const char *given)
{
    AUTO(auto_free) char *words = strdup(given);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(word, '='), *end = NULL;
        assert_non_null(value);
        *value++ = '\0';
        struct hostinfo_fact *entry = fact(word);
        entry->number = strtod(value, &end);
        entry->kind = end != value && *end == '\0' ? HOSTINFO_NUMBER : HOSTINFO_TEXT;
        snprintf(entry->text, sizeof entry->text, "%s", value);
    }
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
    set("fs_available_bytes=5e11 fs_size_bytes=1e12 memory_room_bytes=1.6e10 open_files_limit=1024 "
        "memlock_limit_bytes=8388608 aio_max_nr=65536 aio_nr=0 io_uring_disabled=0 pressure_readable=1 "
        "rotational=0 load1_before=0.2 cpus=8 device_in_flight_before=0 psi_io_some_avg10_percent_before=0 "
        "writeback_memory_bytes_before=0 on_battery=0 dirty_background_limit_bytes=1e9 file_system=ext4 "
        "mount_options=rw,relatime;rw,errors=remount-ro scheduler=none virtualisation=none device=nvme0n1p2 "
        "device_whole=nvme0n1 cgroup_v2_io_max=none cpu_governor=performance");
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

/* What to do about it; NULL: nothing. */
static const char *advice_of(const char *name)
{
    for (size_t i = 0; i < report.n; i++) {
        if (strcmp(report.items[i].name, name) == 0)
            return report.items[i].recommendation;
    }
    return NULL;
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

#define SILENT (-1)

/* What is changed, the check that must say so, how loudly, and a part of its words. */
static const struct {
    const char *given, *name;
    int severity;
    const char *part;
} changes[] = {
    {"fs_available_bytes=4e10", "free_space", DOCTOR_FINDING, NULL},
    {"memory_room_bytes=1e9", "memory", DOCTOR_NOTE, NULL},
    {"memory_room_bytes=1e8", "memory", DOCTOR_FINDING, NULL},
    {"open_files_limit=64", "open_files_limit", DOCTOR_NOTE, NULL},
    {"open_files_limit=16", "open_files_limit", DOCTOR_FINDING, NULL},
    {"memlock_limit_bytes=0", "memlock_limit", DOCTOR_NOTE, NULL},
    {"file_size_limit_bytes=1e6", "file_size_limit", DOCTOR_FINDING, NULL},
    {"file_size_limit_bytes=5e8", "file_size_limit", DOCTOR_NOTE, NULL},
    {"aio_nr=65000", "aio_limit", DOCTOR_FINDING, NULL},
    {"aio_nr=60000", "aio_limit", DOCTOR_NOTE, NULL},
    {"io_uring_disabled=1", "io_uring_disabled", DOCTOR_NOTE, NULL},
    {"pressure_readable=0", "pressure", DOCTOR_NOTE, NULL},
    {"load1_before=5", "load", DOCTOR_NOTE, NULL},
    {"load1_before=9", "load", DOCTOR_FINDING, NULL},
    {"psi_io_some_avg10_percent_before=10", "io_pressure", DOCTOR_NOTE, NULL},
    {"psi_io_some_avg10_percent_before=50", "io_pressure", DOCTOR_FINDING, NULL},
    {"device_in_flight_before=3", "device_busy", DOCTOR_NOTE, NULL},
    {"writeback_memory_bytes_before=1e9", "device_busy", DOCTOR_NOTE, NULL},
    {"on_battery=1", "power", DOCTOR_FINDING, NULL},
    {"mount_options=rw,discard;rw", "mount_options", DOCTOR_FINDING, "discard"},
    {"mount_options=rw;rw,discard", "mount_options", DOCTOR_FINDING, "discard"},
    {"mount_options=rw,sync;rw", "mount_options", DOCTOR_FINDING, "sync"},
    {"mount_options=rw;rw,barrier=0", "mount_options", DOCTOR_FINDING, "flushes are not sent"},
    {"mount_options=rw;rw,nobarrier", "mount_options", DOCTOR_FINDING, "flushes are not sent"},
    {"mount_options=rw;rw,data=journal", "mount_options", DOCTOR_FINDING, "twice"},
    {"mount_options=rw,nodiscard,async;rw,data=ordered", "mount_options", DOCTOR_OK, "nodiscard"},
    /* Options count on their own file system alone. */
    {"file_system=btrfs mount_options=rw;rw,compress=zstd:3,ssd", "mount_options", DOCTOR_FINDING, NULL},
    {"file_system=ext4 mount_options=rw;rw,compress=zstd:3", "mount_options", DOCTOR_OK, NULL},
    {"file_system=btrfs mount_options=rw;rw,compress-force=lzo", "mount_options", DOCTOR_FINDING, NULL},
    {"file_system=btrfs mount_options=rw;rw,nodatacow", "mount_options", DOCTOR_NOTE, NULL},
    {"file_system=btrfs mount_options=rw;rw,discard=async", "mount_options", DOCTOR_OK, NULL},
    {"file_system=btrfs mount_options=rw;rw,discard", "mount_options", DOCTOR_FINDING, NULL},
    {"file_system=xfs mount_options=rw;rw,discard", "mount_options", DOCTOR_NOTE, NULL},
    {"rotational=1", "scheduler", DOCTOR_NOTE, "none on a rotating disk"},
    {"scheduler=bfq", "scheduler", DOCTOR_FINDING, "bfq"},
    {"scheduler=mq-deadline", "scheduler", DOCTOR_OK, "mq-deadline"},
    /* What the kernel says of a device that is made of others, or of a loop device itself, means nothing. */
    {"rotational=1 device_below=sda", "scheduler", SILENT, NULL},
    {"rotational=1 loop_backing_file=/var/disk.img loop_direct_io=1", "scheduler", SILENT, NULL},
    {"device_whole=dm-0 device_below=sda,sdb", "device_stack", DOCTOR_NOTE, "dm-0 is made of sda,sdb"},
    {"", "device_stack", SILENT, NULL},
    {"loop_backing_file=/var/disk.img loop_direct_io=0", "loop_device", DOCTOR_FINDING, NULL},
    {"loop_backing_file=/var/disk.img loop_direct_io=1", "loop_device", DOCTOR_NOTE, NULL},
    {"virtualisation=guest:QEMU", "guest_disk", DOCTOR_NOTE, "QEMU"},
    {"virtualisation=guest loop_backing_file=/var/disk.img loop_direct_io=1", "guest_disk", SILENT, NULL},
    {"cgroup_v2_io_max=rbps:1048576", "rate_caps", DOCTOR_FINDING, "rbps:1048576"},
    {"cgroup_v1_blkio_throttle=read_bps_device:1", "rate_caps", DOCTOR_FINDING, "read_bps"},
    {"cgroup_v2_io_max=", "rate_caps", DOCTOR_NOTE, "cannot be read"},
    {"cgroup_v2_io_max= device=", "rate_caps", SILENT, NULL},
    {"cpu_governor=powersave", "cpu_governor", DOCTOR_NOTE, "powersave"},
    {"cpu_governor=schedutil", "cpu_governor", DOCTOR_OK, "schedutil"},
    {"file_system=tmpfs", "file_system", DOCTOR_FINDING, "memory"},
    {"file_system=overlay", "file_system", DOCTOR_FINDING, "another file system"},
    {"network_version=3.1.1 network_read_bytes=1048576 network_write_bytes=65536 network_slots=64", "network",
     DOCTOR_NOTE, "at most 64 requests at a time"},
    {"network_version=3.1.1 network_read_bytes=1048576 network_write_bytes=65536 network_soft=1", "network",
     DOCTOR_NOTE, "the mount is soft"},
    {"network_version=3.1.1 network_soft=1", "network", SILENT, NULL},
    {"file_system=fuse.sshfs", "file_system", DOCTOR_NOTE, "fuse.sshfs"},
};

TEST(every_change_is_said_and_nothing_else)
{
    for (size_t i = 0; i < N_OF(changes); i++) {
        make_healthy(NULL);
        set(changes[i].given);
        expect_said(changes[i].name, changes[i].severity, changes[i].part);
        check_advice();
        assert_true(report.n_findings == (changes[i].severity == DOCTOR_FINDING));
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
    for (size_t i = 0; i < N_OF(bad); i++) {
        make_healthy(NULL);
        facts.direct_write = bad[i];
        snprintf(facts.direct_why, sizeof facts.direct_why, "because");
        expect_said("direct_write", DOCTOR_FINDING, "because");
        assert_int_equal(report.n_findings, 1);
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
    for (size_t i = 0; i < N_OF(rows); i++) {
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
    for (size_t i = 0; i < N_OF(rows); i++) {
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

TEST(processors_that_are_nearer_to_the_disk_are_said)
{
    struct doctor_placement *placement = &facts.noise.placement;
    expect_said("interrupts", -1, NULL);
    CPU_SET(1, &placement->there);
    *placement = (struct doctor_placement){placement->there, 101e6, 100e6, {0.98, 1.04}};
    expect_said("interrupts", DOCTOR_OK, "processor 1");
    *placement = (struct doctor_placement){placement->there, 150e6, 100e6, {1.4, 1.6}};
    expect_said("interrupts", DOCTOR_NOTE, "1.50");
    CPU_SET(4, &placement->there);
    expect_said("interrupts", DOCTOR_NOTE, "2 of the processors 1 to 4");
    assert_non_null(strstr(advice_of("interrupts"), "taskset there"));
    *placement = (struct doctor_placement){placement->there, 70e6, 100e6, {0.6, 0.8}};
    expect_said("interrupts", DOCTOR_NOTE, "0.70");
    assert_non_null(strstr(advice_of("interrupts"), "taskset elsewhere"));
    facts.noise.warm = true;
    expect_said("interrupts", -1, NULL);
}

TEST(little_room_makes_a_small_file_or_none)
{
    facts.file_bytes = 256 << 20;
    expect_said("free_space", DOCTOR_NOTE, "256m");
    facts.file_bytes = 0;
    snprintf(facts.file_why, sizeof facts.file_why, "does not fit");
    expect_said("free_space", DOCTOR_FINDING, NULL);
}

TEST(a_full_report_loses_the_rest)
{
    memset(&report, 0, sizeof report);
    for (size_t i = 0; i < DOCTOR_MAX + 5; i++)
        doctor_say(&report, DOCTOR_FINDING, "advice", "%zu", i);
    assert_int_equal(report.n, DOCTOR_MAX);
    assert_int_equal(report.n_findings, DOCTOR_MAX);
}
