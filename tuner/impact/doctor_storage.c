/* What lies below the directory: scheduler, mount options, loop devices, guests, limits, drive's state. */
#include "bench/base/units.h"
#include "bench/host/procfs.h"
#include "tuner/impact/doctor.h"

#include <math.h>
#include <string.h>

#define WORN_PERCENT 90
#define HOT_C        70

static void check_scheduler(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *name = hostinfo_text(facts->host, "scheduler");
    double rotational = hostinfo_number(facts->host, "rotational");
    /* A loop device, or one made of others, has no queue of its own to speak of. */
    if (name[0] == '\0' || hostinfo_text(facts->host, "loop_backing_file")[0] != '\0' ||
        hostinfo_text(facts->host, "device_below")[0] != '\0')
        return;
    if (rotational == 0 && (strcmp(name, "bfq") == 0 || strcmp(name, "cfq") == 0))
        doctor_say(report, DOCTOR_FINDING, "it costs solid-state drives throughput; try none or mq-deadline",
                   "%s on a solid-state drive", name);
    else if (rotational == 1 && strcmp(name, "none") == 0)
        doctor_say(report, DOCTOR_NOTE, "seeks are not sorted; mq-deadline or bfq suits rotating disks",
                   "none on a rotating disk");
    else
        doctor_say(report, DOCTOR_OK, NULL, "%s", name);
}

/* Options that change what figures mean or how much they scatter. */
static const struct {
    const char *file_system; /* NULL: of any */
    const char *option;      /* up to '=' where it ends with one */
    enum doctor_severity severity;
    const char *means, *recommendation;
} mount_options[] = {
    {"ext4", "discard", DOCTOR_FINDING, "freed blocks are discarded while others measure",
     "runs after files were removed scatter; use fstrim from time to time instead"},
    {"xfs", "discard", DOCTOR_NOTE, "freed blocks are discarded while others measure",
     "use fstrim from time to time instead"},
    {"btrfs", "discard", DOCTOR_FINDING, "freed blocks are discarded at each commit",
     "use discard=async or fstrim"},
    {NULL, "sync", DOCTOR_FINDING, "every write waits for the disk", "figures hold for this option only"},
    {NULL, "dirsync", DOCTOR_NOTE, "changes of directories wait for the disk", "file creation is slow"},
    {NULL, "nobarrier", DOCTOR_FINDING, "flushes are not sent to the disk",
     "durable writes are not durable: figures of sync end and each are too good"},
    {NULL, "barrier=0", DOCTOR_FINDING, "flushes are not sent to the disk",
     "durable writes are not durable: figures of sync end and each are too good"},
    {NULL, "nobarriers", DOCTOR_FINDING, "flushes are not sent to the disk",
     "durable writes are not durable: figures of sync end and each are too good"},
    {NULL, "data=journal", DOCTOR_FINDING, "data are written twice and direct I/O is buffered",
     "figures hold for this option only"},
    {"btrfs", "compress=", DOCTOR_FINDING, "data are compressed",
     "the test file is random; your data may be faster or slower"},
    {"btrfs", "compress-force=", DOCTOR_FINDING, "data are compressed",
     "the test file is random; your data may be faster or slower"},
    {"f2fs", "compress_algorithm=", DOCTOR_NOTE, "data may be compressed",
     "the test file is random; your data may be faster or slower"},
    {"btrfs", "nodatacow", DOCTOR_NOTE, "data are overwritten in place, without checksums",
     "figures do not hold for files that are copied on write"},
    {"btrfs", "nodatasum", DOCTOR_NOTE, "data have no checksums", "figures do not hold with checksums"},
    {"btrfs", "autodefrag", DOCTOR_NOTE, "small random writes are rewritten later",
     "random writes scatter more"},
};

/* mountinfo's two lists come with a semicolon between. */
static bool has_option(const char *list, const char *option)
{
    size_t length = strlen(option);
    bool takes_value = option[length - 1] == '=';
    for (const char *at = list; *at != '\0';) {
        size_t n = strcspn(at, ",;");
        if (strncmp(at, option, length) == 0 && (n == length || (takes_value && n > length)))
            return true;
        at += n + (at[n] != '\0');
    }
    return false;
}

/* Without the '=' that stands for any value. */
static int name_length(const char *option)
{
    int length = (int)strlen(option);
    return option[length - 1] == '=' ? length - 1 : length;
}

static void check_mount_options(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *list = hostinfo_text(facts->host, "mount_options"),
               *type = hostinfo_text(facts->host, "file_system");
    bool plain = true;
    for (size_t i = 0; i < sizeof mount_options / sizeof mount_options[0]; i++) {
        bool applies =
            mount_options[i].file_system == NULL || strcmp(mount_options[i].file_system, type) == 0;
        if (!applies || !has_option(list, mount_options[i].option))
            continue;
        doctor_say(report, mount_options[i].severity, mount_options[i].recommendation,
                   "%s, mounted with %.*s: %s", type, name_length(mount_options[i].option),
                   mount_options[i].option, mount_options[i].means);
        plain = false;
    }
    if (plain && list[0] != '\0')
        doctor_say(report, DOCTOR_OK, NULL, "%s: %.200s", type, list);
}

/* NFS and SMB tell all of this; others, such as 9p, have no version or no limit of their own. */
static void check_network(const struct doctor_facts *facts, struct doctor_report *report)
{
    char reads[UNITS_TEXT_SIZE], writes[UNITS_TEXT_SIZE], slots[64] = "";
    const char *version = hostinfo_text(facts->host, "network_version");
    double read_bytes = hostinfo_number(facts->host, "network_read_bytes");
    double write_bytes = hostinfo_number(facts->host, "network_write_bytes");
    double n_slots = hostinfo_number(facts->host, "network_slots");
    if (version[0] == '\0' || !isfinite(read_bytes) || !isfinite(write_bytes))
        return;
    if (isfinite(n_slots))
        snprintf(slots, sizeof slots, ", at most %.0f requests at a time", n_slots);
    doctor_say(report, DOCTOR_OK, NULL, "version %s of %.60s; up to %s a read and %s a write%s", version,
               hostinfo_text(facts->host, "network_server"), units_format_bytes((uint64_t)read_bytes, reads),
               units_format_bytes((uint64_t)write_bytes, writes), slots);
    doctor_say(
        report, DOCTOR_NOTE, "look there: exportfs -v shows async, free -h its memory",
        "what the server caches, and whether it has data on its disk when it says so, is not seen here");
    if (hostinfo_number(facts->host, "network_soft") == 1)
        doctor_say(report, DOCTOR_NOTE, "mount with hard where data matter",
                   "the mount is soft: what gets no answer in time fails, and written data may be lost");
}

static void check_file_system(const struct doctor_facts *facts, struct doctor_report *report)
{
    static const struct {
        const char *type, *means;
    } kinds[] = {
        {"tmpfs", "it lives in memory: no disk is measured"},
        {"ramfs", "it lives in memory: no disk is measured"},
        {"overlay", "another file system below does the work, and first writes copy whole files"},
        {"nfs", "the network and the server's cache are measured too"},
        {"nfs4", "the network and the server's cache are measured too"},
        {"cifs", "the network and the server's cache are measured too"},
        {"9p", "the host's file system and its cache are measured"},
        {"virtiofs", "the host's file system and its cache are measured"},
        {"zfs", "its own cache (ARC) serves reads that the page cache does not have"},
    };
    const char *type = hostinfo_text(facts->host, "file_system");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(type, kinds[i].type) == 0)
            doctor_say(report, DOCTOR_FINDING,
                       "fine if that is what you want to know; else give another --path", "%s: %s", type,
                       kinds[i].means);
    }
    if (strncmp(type, "fuse", 4) == 0)
        doctor_say(report, DOCTOR_NOTE, "figures hold for that program and its version",
                   "%s: a program in user space serves every request", type);
}

static void check_loop(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *file = hostinfo_text(facts->host, "loop_backing_file");
    if (file[0] == '\0')
        return;
    if (hostinfo_number(facts->host, "loop_direct_io") == 0)
        doctor_say(report, DOCTOR_FINDING, "switch it on: losetup --direct-io=on DEVICE",
                   "loop device over %.160s without direct I/O: memory serves it", file);
    else
        doctor_say(report, DOCTOR_NOTE, "the file system below and its load are measured too",
                   "loop device over %.160s", file);
}

/* LVM, dm-crypt, md: neighbours on the disks below leave no trace in the counters of the device on top. */
static void check_stack(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *below = hostinfo_text(facts->host, "device_below");
    if (below[0] != '\0')
        doctor_say(
            report, DOCTOR_NOTE,
            "what else is on them shares their rate and is not seen here; keep it quiet, and see that their "
            "schedulers suit them",
            "%.60s is made of %.100s", hostinfo_text(facts->host, "device_whole"), below);
}

static void check_guest(const struct doctor_facts *facts, struct doctor_report *report)
{
    const char *guest = hostinfo_text(facts->host, "virtualisation");
    bool has_disk = hostinfo_text(facts->host, "device")[0] != '\0' &&
                    hostinfo_text(facts->host, "loop_backing_file")[0] == '\0';
    if (strncmp(guest, "guest", 5) == 0 && has_disk)
        doctor_say(report, DOCTOR_NOTE,
                   "the host may cache, limit and share this disk; measure at other times too",
                   "%.120s, device %.60s", guest, hostinfo_text(facts->host, "device_whole"));
}

static void check_rate_caps(const struct doctor_facts *facts, struct doctor_report *report)
{
    static const char *const keys[] = {"cgroup_v1_blkio_throttle", "cgroup_v2_io_max"};
    bool any = false, asked = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *caps = hostinfo_text(facts->host, keys[i]);
        asked |= caps[0] != '\0';
        if (caps[0] == '\0' || strcmp(caps, "none") == 0)
            continue;
        any = true;
        doctor_say(report, DOCTOR_FINDING, "figures show the cap, not the disk; lift it or keep it in mind",
                   "this control group is limited: %.200s", caps);
    }
    if (asked && !any)
        doctor_say(report, DOCTOR_OK, NULL, "no limit of a control group on this disk");
    if (!asked && hostinfo_text(facts->host, "device")[0] != '\0')
        doctor_say(report, DOCTOR_NOTE, "a cap on the rate would go unseen; ask whoever runs this container",
                   "limits of control groups cannot be read here");
}

static void check_dirty_limits(const struct doctor_facts *facts, struct doctor_report *report)
{
    char text[UNITS_TEXT_SIZE];
    double limit = hostinfo_number(facts->host, "dirty_background_limit_bytes");
    if (!isfinite(limit))
        return;
    units_format_bytes((uint64_t)limit, text);
    doctor_say(report, DOCTOR_OK, NULL, "up to %s of buffered writes stay in memory before writeback begins",
               text);
}

static void check_drive_health(const struct doctor_facts *facts, struct doctor_report *report)
{
    const struct drive_health *health = &facts->health;
    char text[DOCTOR_TEXT_SIZE];
    if (!health->known) {
        if (strstr(health->why_not, "smartctl") != NULL)
            doctor_say(report, DOCTOR_NOTE,
                       "install smartmontools and run as root to see the drive's counters", "%s",
                       health->why_not);
        return;
    }
    if (health->critical_warning > 0)
        doctor_say(report, DOCTOR_FINDING,
                   "look at smartctl -a; it may be failing, worn out, hot or read-only",
                   "the drive warns (critical warning 0x%02x)", (unsigned)health->critical_warning);
    if (health->media_errors > 0)
        doctor_say(report, DOCTOR_FINDING, "look at smartctl -a; retries slow requests down",
                   "the drive counts %.0f media errors", health->media_errors);
    if (health->percentage_used >= WORN_PERCENT)
        doctor_say(report, DOCTOR_FINDING, "keep --max-write small, and plan a replacement",
                   "%.0f %% of the drive's rated life are used", health->percentage_used);
    if (health->temperature_c >= HOT_C)
        doctor_say(report, DOCTOR_NOTE, "it may throttle under load; cool it", "the drive is at %.0f C",
                   health->temperature_c);
    if (drive_health_format(NULL, health, text, sizeof text)[0] != '\0')
        doctor_say(report, DOCTOR_OK, NULL, "%s", text);
}

static const struct doctor_check checks[] = {
    {"file_system", check_file_system},   {"mount_options", check_mount_options},
    {"network", check_network},           {"scheduler", check_scheduler},
    {"loop_device", check_loop},          {"device_stack", check_stack},
    {"guest_disk", check_guest},          {"rate_caps", check_rate_caps},
    {"dirty_limits", check_dirty_limits}, {"wear", check_drive_health},
    {"members", doctor_members_check},
};

const struct doctor_group doctor_storage = {"The storage", checks, sizeof checks / sizeof checks[0]};
