/* tests/bench/target/test_target_fs: the proof of direct I/O and the cache checks on real file systems: ext4,
 * xfs and btrfs on loop mounts (root and their mkfs are needed, else a case is skipped and says why) and
 * tmpfs.
 */
#include "bench/base/rng.h"
#include "bench/host/hostinfo.h"
#include "bench/target/target.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define IMAGE_BYTES  (300 * MIB)
#define TARGET_BYTES (64 * MIB)

struct file_system {
    const char *type, *mkfs, *mount_options;
    enum target_proof read_proof, write_proof;
    enum target_cold cold;
    uint32_t align_min_bytes;
    bool loop;
};

/* btrfs takes any alignment, but below its sectors of 4096 bytes it goes through the cache. */
static const struct file_system file_systems[] = {
    {"ext4", "mkfs.ext4 -q -F", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, TARGET_COLD_VERIFIED,
     512, true},
    {"xfs", "mkfs.xfs -q -f", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, TARGET_COLD_VERIFIED,
     512, true},
    {"btrfs", "mkfs.btrfs -q -f", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_BUFFERED,
     TARGET_COLD_VERIFIED, 4096, true},
    {"btrfs", "mkfs.btrfs -q -f", "nodiscard,nodatasum", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED,
     TARGET_COLD_VERIFIED, 4096, true},
    {"tmpfs", NULL, NULL, TARGET_DIRECT_BUFFERED, TARGET_DIRECT_BUFFERED, TARGET_COLD_NOT, 512, false},
};

/* What has to be undone, whatever way the program ends. */
static char directory[256], image[300], mount_point[300], loop_device[64];
static bool mounted;

static void clean_up(void)
{
    if (mounted)
        umount2(mount_point, MNT_DETACH);
    mounted = false;
    if (loop_device[0] != '\0') {
        char command[128];
        snprintf(command, sizeof(command), "losetup -d %s", loop_device);
        if (system(command) != 0)
            fprintf(stderr, "%s failed\n", command);
        loop_device[0] = '\0';
    }
    if (directory[0] != '\0')
        rig_remove_tree(directory);
    directory[0] = '\0';
}

static void clean_up_on_signal(int signal_number)
{
    clean_up();
    _exit(128 + signal_number);
}

static bool has_program(const char *name)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %.*s >/dev/null", (int)strcspn(name, " "), name);
    return system(command) == 0;
}

/* Every block is written: a hole in the image would be allocated inside the measured file system's writes. */
static bool write_image(void)
{
    static unsigned char block[MIB];
    struct rng rng;
    rng_init(&rng, 1);
    int fd = open(image, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0;
    for (uint64_t at = 0; good && at < IMAGE_BYTES; at += MIB) {
        rng_fill(&rng, block, MIB);
        good = pwrite(fd, block, MIB, (off_t)at) == (ssize_t)MIB;
    }
    good = good && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool attach_loop(void)
{
    char command[400];
    snprintf(command, sizeof(command), "losetup --find --show --direct-io=on '%s' 2>/dev/null", image);
    FILE *output = popen(command, "re");
    if (output == NULL)
        return false;
    bool named = fgets(loop_device, sizeof(loop_device), output) != NULL;
    loop_device[strcspn(loop_device, "\n")] = '\0';
    return pclose(output) == 0 && named;
}

/* NULL when mounted, else the reason why not. */
static const char *mount_fresh(const struct file_system *fs)
{
    char command[400];
    if (!fs->loop)
        return mount("tmpfs", mount_point, "tmpfs", 0, "size=300m") == 0 ? (mounted = true, NULL)
                                                                         : "tmpfs cannot be mounted";
    if (!has_program(fs->mkfs))
        return "its mkfs is not installed";
    if (!has_program("losetup") || !write_image() || !attach_loop())
        return "no loop device with direct I/O can be set up";
    snprintf(command, sizeof(command), "%s %s >/dev/null 2>&1", fs->mkfs, loop_device);
    if (system(command) != 0)
        return "its mkfs fails";
    if (mount(loop_device, mount_point, fs->type, 0, fs->mount_options) != 0)
        return "the kernel does not mount it";
    mounted = true;
    return NULL;
}

/* Linux 6.15 made btrfs buffer direct writes to files with checksums; some older ones got that change too. */
static bool writes_may_be_direct(const struct file_system *fs)
{
    struct utsname names;
    int version = 0, patch = 0;
    return strcmp(fs->type, "btrfs") == 0 && uname(&names) == 0 &&
           sscanf(names.release, "%d.%d", &version, &patch) == 2 && version * 1000 + patch < 6015;
}

static void expect_proofs(const struct file_system *fs, const struct target *target)
{
    if (target->direct_write == TARGET_DIRECT_PROVED && writes_may_be_direct(fs))
        return;
    if (target->direct_read != fs->read_proof || target->direct_write != fs->write_proof)
        fail_msg("%s (%s): read %d, write %d (%s)", fs->type, fs->loop ? fs->mount_options : "",
                 target->direct_read, target->direct_write, target->direct_why);
    if (fs->write_proof != TARGET_DIRECT_PROVED || fs->read_proof != TARGET_DIRECT_PROVED)
        assert_true(target->direct_why[0] != '\0');
    else
        assert_string_equal(target->direct_why, "");
    assert_in_range(target->direct_offset_align_bytes, fs->align_min_bytes, 4096);
    assert_true(target->direct_memory_align_bytes > 0);
}

static void expect_cache(const struct file_system *fs, const struct target *target)
{
    uint64_t cached, dirty, pages = TARGET_BYTES / (uint64_t)sysconf(_SC_PAGESIZE);
    enum target_cold cold = TARGET_COLD_UNVERIFIED;
    assert_int_equal(target_warm_cache(target, NULL, NULL), 0);
    assert_int_equal(target_cached_pages(target, 0, TARGET_BYTES, &cached, &dirty), 0);
    assert_in_range(cached, pages * 9 / 10, pages); /* the kernel may take some back at any time */
    assert_int_equal(target_flush(target, NULL), 0);
    assert_int_equal(target_drop_cache(target, &cold, NULL), 0);
    assert_int_equal(cold, fs->cold);
}

/* What was written directly must be what is read back, through the cache and around it. */
static void expect_data(const struct target *target)
{
    unsigned char *block = aligned_alloc(4096, MIB), *other = aligned_alloc(4096, MIB);
    int fd = -1;
    assert_int_equal(target_open_run(target, true, true, &fd, NULL), 0);
    memset(block, 0xa5, MIB);
    memset(other, 0, MIB);
    assert_int_equal(pwrite(fd, block, MIB, (off_t)(3 * MIB)), MIB);
    assert_int_equal(pread(target->fd, other, MIB, (off_t)(3 * MIB)), MIB);
    assert_memory_equal(block, other, MIB);
    memset(other, 0, MIB);
    assert_int_equal(pread(fd, other, MIB, (off_t)(3 * MIB)), MIB);
    assert_memory_equal(block, other, MIB);
    close(fd);
    free(block);
    free(other);
}

static void expect_facts(const struct file_system *fs, const struct target *target)
{
    struct hostinfo *info = calloc(1, sizeof(*info));
    struct hostinfo_device device;
    hostinfo_collect(info, target->fd);
    hostinfo_find_device(target->fd, &device);
    assert_string_equal(hostinfo_find(info, "file_system")->text, fs->type);
    assert_string_equal(hostinfo_find(info, "mount_point")->text, mount_point);
    if (fs->loop) {
        uint64_t in_flight;
        assert_string_equal(hostinfo_find(info, "device")->text, loop_device + strlen("/dev/"));
        assert_string_equal(hostinfo_find(info, "loop_backing_file")->text, image);
        assert_close(hostinfo_find(info, "loop_direct_io")->number, 1, 0);
        assert_int_equal(hostinfo_in_flight(&device, &in_flight), 0);
    } else {
        assert_string_equal(device.sysfs, "");
        assert_null(hostinfo_find(info, "device"));
    }
    free(info);
}

static void check_file_system(void **state)
{
    const struct file_system *fs = *state;
    struct target target = {0};
    struct target_plan plan = rig_plan(mount_point, TARGET_BYTES);
    struct err err = {0};
    const char *why = geteuid() == 0 ? mount_fresh(fs) : "only root can mount it";
    if (why != NULL) {
        print_message("%s is not tested: %s\n", fs->type, why);
        skip();
    }
    if (target_create(&target, &plan, &err) != 0 || target_prove_direct(&target, &err) != 0)
        fail_msg("%s", err.text);
    expect_facts(fs, &target);
    expect_proofs(fs, &target);
    expect_cache(fs, &target);
    expect_data(&target);
    target_close(&target);
    plan.size_bytes = IMAGE_BYTES;
    assert_int_equal(target_create(&target, &plan, &err), -ENOSPC);
    assert_int_equal(rig_count_entries(mount_point) > 1, 0); /* lost+found at most */
}

/* The one case an ordinary user always has. */
static void shared_memory_is_never_direct(void **state)
{
    (void)state;
    struct target target = {0};
    struct target_plan plan = rig_plan("/dev/shm", 4 * MIB);
    struct statfs kind;
    if (statfs("/dev/shm", &kind) != 0 || kind.f_type != TMPFS_MAGIC) {
        print_message("/dev/shm is no tmpfs here\n");
        skip();
    }
    assert_int_equal(target_create(&target, &plan, NULL), 0);
    assert_int_equal(target_prove_direct(&target, NULL), 0);
    /* Before Linux 6.6 tmpfs refused the flag. */
    assert_true(target.direct_read == TARGET_DIRECT_BUFFERED || target.direct_read == TARGET_DIRECT_REFUSED);
    assert_int_equal(target.direct_write, target.direct_read);
    target_close(&target);
}

static int set_up(void **state)
{
    (void)state;
    rig_make_directory(directory);
    snprintf(image, sizeof(image), "%s/image", directory);
    snprintf(mount_point, sizeof(mount_point), "%s/mount", directory);
    return mkdir(mount_point, 0700);
}

static int tear_down(void **state)
{
    (void)state;
    clean_up();
    return 0;
}

#define on(index, name)                                                                                      \
    {                                                                                                        \
        name, check_file_system, set_up, tear_down, (void *)(uintptr_t)&file_systems[index]                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        on(0, "ext4_is_proved"),
        on(1, "xfs_is_proved"),
        on(2, "btrfs_writes_are_buffered"),
        on(3, "btrfs_without_checksums_is_proved"),
        on(4, "tmpfs_is_buffered"),
        cmocka_unit_test(shared_memory_is_never_direct),
    };
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], clean_up_on_signal);
    atexit(clean_up);
    return cmocka_run_group_tests_name("bench/target_fs", tests, NULL, NULL);
}
