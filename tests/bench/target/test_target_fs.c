/* tests/bench/target/test_target_fs: the proof of direct I/O and the cache checks on real file systems: ext4,
 * xfs and btrfs on loop mounts (root and their mkfs are needed, else a case is skipped and says why) and
 * tmpfs. */
#include "bench/base/rng.h"
#include "bench/host/hostinfo.h"
#include "tests/bench/mount_rig.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#define IMAGE_BYTES  (300 * MIB)
#define TARGET_BYTES (64 * MIB)

struct file_system {
    const char *type, *mount_options;
    enum target_proof read_proof, write_proof;
    enum target_cold cold;
    uint32_t align_min_bytes;
    bool loop;
};

/* btrfs takes any alignment, but below its sectors of 4096 bytes it goes through the cache. */
static const struct file_system file_systems[] = {
    {"ext4", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, TARGET_COLD_VERIFIED, 512, true},
    {"xfs", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, TARGET_COLD_VERIFIED, 512, true},
    {"btrfs", "nodiscard", TARGET_DIRECT_PROVED, TARGET_DIRECT_BUFFERED, TARGET_COLD_VERIFIED, 4096, true},
    {"btrfs", "nodiscard,nodatasum", TARGET_DIRECT_PROVED, TARGET_DIRECT_PROVED, TARGET_COLD_VERIFIED, 4096,
     true},
    {"tmpfs", NULL, TARGET_DIRECT_BUFFERED, TARGET_DIRECT_BUFFERED, TARGET_COLD_NOT, 512, false},
};

/* Every block is written: a hole in the image would be allocated inside the measured file system's writes. */
static void write_image(void)
{
    static unsigned char block[MIB];
    struct rng rng;
    rng_init(&rng, 1);
    int fd = open(rig.image, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = fd >= 0;
    for (uint64_t at = 0; good && at < IMAGE_BYTES; at += MIB) {
        rng_fill(&rng, block, MIB);
        good = pwrite(fd, block, MIB, (off_t)at) == (ssize_t)MIB;
    }
    rig_need(good && fsync(fd) == 0, "no image can be made");
    close(fd);
}

static void mount_fresh(const struct file_system *fs)
{
    rig_need(geteuid() == 0, "only root can mount");
    if (fs->loop) {
        write_image();
        rig_mount_loop(fs->type, fs->mount_options, IMAGE_BYTES, true);
    } else {
        rig_need_mount(mount("tmpfs", rig.point, "tmpfs", 0, "size=300m"), "tmpfs cannot be mounted");
    }
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
    AUTO(auto_free) struct hostinfo *info = calloc(1, sizeof(*info));
    struct hostinfo_device device;
    hostinfo_collect(info, target->fd);
    hostinfo_find_device(target->fd, &device);
    assert_string_equal(hostinfo_find(info, "file_system")->text, fs->type);
    assert_string_equal(hostinfo_find(info, "mount_point")->text, rig.point);
    if (fs->loop) {
        uint64_t in_flight;
        assert_string_equal(hostinfo_find(info, "device")->text, rig.loop + strlen("/dev/"));
        assert_string_equal(hostinfo_find(info, "loop_backing_file")->text, rig.image);
        assert_close(hostinfo_find(info, "loop_direct_io")->number, 1, 0);
        assert_int_equal(hostinfo_in_flight(&device, &in_flight), 0);
    } else {
        assert_string_equal(device.sysfs, "");
        assert_null(hostinfo_find(info, "device"));
    }
}

static void check_file_system(void **state)
{
    const struct file_system *fs = *state;
    struct target target = {0};
    struct target_plan plan = rig_plan(rig.point, TARGET_BYTES);
    struct err err = {0};
    mount_fresh(fs);
    if (target_create(&target, &plan, &err) != 0 || target_prove_direct(&target, &err) != 0)
        fail_msg("%s", err.text);
    expect_facts(fs, &target);
    expect_proofs(fs, &target);
    expect_cache(fs, &target);
    expect_data(&target);
    target_close(&target);
    plan.size_bytes = IMAGE_BYTES;
    assert_int_equal(target_create(&target, &plan, &err), -ENOSPC);
    assert_int_equal(rig_count_entries(rig.point) > 1, 0); /* lost+found at most */
}

/* The one case an ordinary user always has. */
static void shared_memory_is_never_direct(void **state)
{
    (void)state;
    AUTO(target_close) struct target target = {0};
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
}

#define on(index, name)                                                                                      \
    {                                                                                                        \
        name, check_file_system, rig_set_up, rig_tear_down, (void *)(uintptr_t)&file_systems[index]          \
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
    return cmocka_run_group_tests_name("bench/target_fs", tests, NULL, NULL);
}
