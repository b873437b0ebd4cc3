/* Tests of bench/target/target_device and its kin, on loop devices over files of the test's own: nothing else
 * is ever written to. */
#include "bench/host/block_device.h"
#include "tests/bench/io/deny.h"
#include "tests/bench/target/device_rig.h"
#include "tests/child.h"

#include <linux/blkpg.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#define LARGE_BYTES (4ULL << 40)
#define PART_START  (1 * MIB)
#define PART_BYTES  (20 * MIB)

/* ---- what has to be said to write to one ---- */

static void check_words(const char *options)
{
    struct target target = {0};
    struct target_existing existing = {.for_writing = true};
    make_disk(options);
    existing.path = rig.loop;
    for (unsigned said = 0; said < 4; said++) {
        existing.overwrite = (said & 1) != 0;
        existing.destroy_device_bytes = (said & 2) != 0 ? DISK_BYTES : 0;
        int code = target_open_existing(&target, &existing, &err);
        check_text(code, said == 3 ? 0 : -EPERM, "67108864 bytes (67.1 MB)");
        assert_true(said == 3 || ((strstr(err.text, " --overwrite") != NULL) == !existing.overwrite &&
                                  (strstr(err.text, " --destroy-device 67108864") != NULL) ==
                                      (existing.destroy_device_bytes == 0) &&
                                  strstr(err.text, "--ignore-signature") == NULL &&
                                  strstr(err.text, rig.image) != NULL)); /* its model */
    }
    assert_true(target.is_device && target.writable && !target.owned);
    assert_int_equal(target.size_bytes, DISK_BYTES);
    target_close(&target);
}

TEST(writing_needs_both_words)
{
    check_words("");
}

TEST(sectors_of_4096_bytes_change_nothing_but_the_alignment)
{
    AUTO(target_close) struct target target = {0};
    check_words("--sector-size 4096");
    assert_int_equal(open_device(&target, rig.loop, false), 0);
    assert_int_equal(target.fs_block_bytes, 4096);
    assert_int_equal(target_prove_direct(&target, &err), 0);
    assert_int_equal(target.direct_offset_align_bytes, 4096);
}

TEST(another_size_is_another_device)
{
    make_disk("");
    struct target target = {0};
    struct target_existing existing = {.path = rig.loop,
                                       .for_writing = true,
                                       .overwrite = true,
                                       .destroy_device_bytes = DISK_BYTES + 512,
                                       .ignore_signature = true};
    check_text(target_open_existing(&target, &existing, &err), -EPERM, "says 67109376 bytes, but");
    existing.destroy_device_bytes = DISK_BYTES - 512;
    check_text(target_open_existing(&target, &existing, &err), -EPERM,
               "make sure that it is the one you mean");
}

TEST(what_libblkid_knows_is_named_and_needs_its_own_word)
{
    struct target target = {0};
    make_disk("");
    make_file_system(rig.loop);
    check_text(open_device(&target, rig.loop, false), -EPERM, "ext4 \"precious\"");
    assert_non_null(strstr(err.text, "add --ignore-signature"));
    is_accepted(rig.loop);
}

TEST(swap_space_and_members_of_arrays_are_signatures)
{
    struct target target = {0};
    make_disk("");
    rig_need(rig_shell("mkswap '%s' >/dev/null 2>&1", rig.loop) == 0, "mkswap is not here");
    check_text(open_device(&target, rig.loop, false), -EPERM, "(libblkid finds swap)");
    /* The head of a physical volume of LVM, in the second sector. */
    static const char label[] = "LABELONE\1\0\0\0\0\0\0\0\0\0\0\0 \0\0\0LVM2 001";
    AUTO(auto_close) int fd = open(rig.loop, O_RDWR | O_CLOEXEC);
    char zeros[8192] = {0};
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), 0), sizeof(zeros));
    assert_int_equal(pwrite(fd, label, sizeof(label) - 1, 512), sizeof(label) - 1);
    close(fd);
    fd = -1;
    check_text(open_device(&target, rig.loop, false), -EPERM, "LVM2_member");
}

TEST(reading_needs_no_word_and_may_share)
{
    AUTO(target_close) struct target target = {0};
    int fd = -1;
    make_disk("");
    make_file_system(rig.loop);
    rig_mount(rig.loop, rig.point);
    assert_int_equal(rig_open_existing(&target, rig.loop, false, false, &err), 0);
    assert_true(target.is_device && !target.writable);
    assert_int_equal(target.size_bytes, DISK_BYTES);
    assert_int_equal(fcntl(target.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(target_open_run(&target, true, true, &fd, NULL), -EPERM);
    assert_int_equal(target_prove_direct(&target, &err), 0);
    assert_int_equal(target.direct_read, TARGET_DIRECT_PROVED);
    assert_int_equal(target.proof_bytes, 0);
}

TEST(direct_writes_are_proved_and_rewrite_what_was_there)
{
    AUTO(target_close) struct target target = {0};
    char block[4096], again[4096];
    make_disk("");
    memset(block, 'p', sizeof(block));
    AUTO(auto_close) int fd = open(rig.loop, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, block, sizeof(block), 0), sizeof(block));
    assert_int_equal(fsync(fd), 0);
    close(fd);
    fd = -1;
    assert_int_equal(open_device(&target, rig.loop, true), 0);
    assert_int_equal(target_prove_direct(&target, &err), 0);
    assert_int_equal(target.direct_read, TARGET_DIRECT_PROVED);
    assert_int_equal(target.direct_write, TARGET_DIRECT_PROVED);
    assert_int_equal(pread(target.fd, again, sizeof(again), 0), sizeof(again));
    assert_memory_equal(block, again, sizeof(block));
}

/* ---- what no word allows ---- */

TEST(mounted_device_is_refused)
{
    make_disk("");
    make_file_system(rig.loop);
    rig_mount(rig.loop, rig.point);
    is_refused(rig.loop, -EBUSY, "mounted at ");
    assert_int_equal(umount(rig.point), 0);
    rig.mounted = false;
    is_accepted(rig.loop);
}

static bool mount_apart(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(rig.loop, rig.point, "ext4", 0, "") == 0;
}

TEST(device_mounted_in_a_container_is_refused)
{
    make_disk("");
    make_file_system(rig.loop);
    pid_t child = child_hold(mount_apart);
    is_refused(rig.loop, -EBUSY, "not seen from here");
    child_stop(child);
}

/* For a kernel that cannot read the table. */
static void add_partition(int number, uint64_t start_bytes)
{
    struct blkpg_partition partition = {
        .start = (long long)start_bytes, .length = (long long)PART_BYTES, .pno = number};
    struct blkpg_ioctl_arg argument = {
        .op = BLKPG_ADD_PARTITION, .datalen = sizeof(partition), .data = &partition};
    AUTO(auto_close) int fd = open(rig.loop, O_RDONLY | O_CLOEXEC);
    (void)ioctl(fd, BLKPG, &argument);
}

/* Two partitions of PART_BYTES each; skips where there can be none. */
static void partition_disk(char *first, char *second, size_t size)
{
    unsigned char sector[512] = {[510] = 0x55, [511] = 0xaa};
    const uint32_t n_sectors = PART_BYTES / 512;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t start = PART_START / 512 + i * n_sectors;
        unsigned char *entry = sector + 446 + 16 * (size_t)i;
        entry[4] = 0x83;
        for (int byte = 0; byte < 4; byte++) {
            entry[8 + byte] = (unsigned char)(start >> 8 * byte);
            entry[12 + byte] = (unsigned char)(n_sectors >> 8 * byte);
        }
    }
    AUTO(auto_close) int fd = open(rig.image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    rig_need(fd >= 0 && ftruncate(fd, (off_t)DISK_BYTES) == 0 && pwrite(fd, sector, 512, 0) == 512,
             "no image can be made");
    make_disk("--partscan");
    snprintf(first, size, "%sp1", rig.loop);
    snprintf(second, size, "%sp2", rig.loop);
    add_partition(1, PART_START);
    add_partition(2, PART_START + PART_BYTES);
    rig_need(access(first, F_OK) == 0 && access(second, F_OK) == 0, "no partitions can be made");
}

TEST(mounted_partition_keeps_the_disk_and_not_its_neighbour)
{
    char first[80], second[80];
    partition_disk(first, second, sizeof(first));
    make_file_system(first);
    rig_mount(first, rig.point);
    is_refused(rig.loop, -EBUSY, "mounted at ");
    assert_non_null(strstr(err.text, first));
    is_refused(first, -EBUSY, "mounted at ");
    struct target target = {0};
    struct target_existing existing = {
        .path = second, .for_writing = true, .overwrite = true, .destroy_device_bytes = PART_BYTES};
    assert_int_equal(target_open_existing(&target, &existing, &err), 0);
    assert_int_equal(target.size_bytes, PART_BYTES);
    target_close(&target);
}

TEST(partition_table_and_what_partitions_hold_are_named)
{
    char first[80], second[80];
    struct target target = {0};
    partition_disk(first, second, sizeof(first));
    make_file_system(second);
    check_text(open_device(&target, rig.loop, false), -EPERM, "a partition table (dos), ");
    assert_non_null(strstr(err.text, second));
    assert_non_null(strstr(err.text, "ext4 \"precious\""));
}

TEST(swap_in_use_is_refused)
{
    make_disk("");
    rig_need(rig_shell("mkswap '%s' >/dev/null 2>&1", rig.loop) == 0 && swapon(rig.loop, 0) == 0,
             "no swap space can be switched on");
    is_refused(rig.loop, -EBUSY, "in use as swap space");
    assert_int_equal(swapoff(rig.loop), 0);
    is_accepted(rig.loop);
}

TEST(image_behind_a_loop_device_is_refused)
{
    make_disk("");
    rig_need(attach(rig.loop, "", other_loop, sizeof(other_loop)), "no second loop device");
    is_refused(rig.loop, -EBUSY, other_loop);
    is_accepted(other_loop);
}

static bool open_image(void)
{
    return open(rig.image, O_RDWR | O_CLOEXEC) >= 0;
}

/* What is written to the one changes the other. */
TEST(image_that_is_used_otherwise_keeps_its_loop_device)
{
    make_disk("");
    make_file_system(rig.loop);
    rig_need(attach(rig.image, "", other_loop, sizeof(other_loop)), "no second loop device");
    rig_mount(other_loop, rig.point);
    is_refused(rig.loop, -EBUSY, "what is behind it is also the image behind ");
    assert_non_null(strstr(err.text, other_loop));
    assert_int_equal(umount(rig.point), 0);
    rig.mounted = false;
    assert_int_equal(rig_shell("losetup -d '%s'", other_loop), 0);
    other_loop[0] = '\0';
    is_accepted(rig.loop);
    pid_t child = child_hold(open_image);
    is_refused(rig.loop, -EBUSY, "what is behind it is also open in process ");
    child_stop(child);
}

TEST(disk_that_is_used_otherwise_keeps_the_loop_device_made_of_it)
{
    make_disk("");
    make_file_system(rig.loop);
    rig_need(attach(rig.loop, "", other_loop, sizeof(other_loop)), "no second loop device");
    rig_mount(rig.loop, rig.point);
    is_refused(other_loop, -EBUSY, "what is behind it is also mounted at ");
    assert_int_equal(umount(rig.point), 0);
    rig.mounted = false;
    is_accepted(other_loop);
    pid_t child = child_hold(mount_apart);
    is_refused(other_loop, -EBUSY, "what is behind it is also in use");
    child_stop(child);
    child = child_hold(open_image); /* two levels below */
    is_refused(other_loop, -EBUSY, "what is behind it is also open in process ");
    child_stop(child);
}

static bool open_raw(void)
{
    return open(rig.loop, O_RDONLY | O_CLOEXEC) >= 0;
}

static bool map_raw(void)
{
    int fd = open(rig.loop, O_RDWR | O_CLOEXEC);
    bool mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
    close(fd);
    return mapped;
}

static bool open_exclusively(void)
{
    return open(rig.loop, O_RDONLY | O_EXCL | O_CLOEXEC) >= 0;
}

static bool lock_whole(void)
{
    return flock(open(rig.loop, O_RDONLY | O_CLOEXEC), LOCK_SH) == 0;
}

static bool lock_bytes(void)
{
    struct flock byte = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1};
    return fcntl(open(rig.loop, O_RDONLY | O_CLOEXEC), F_OFD_SETLK, &byte) == 0;
}

TEST(device_in_another_process_is_refused)
{
    static const struct {
        bool (*use)(void);
        const char *word;
    } users[] = {{open_raw, "open in process "},
                 {map_raw, "mapped into memory by process "},
                 {open_exclusively, "open in process "},
                 {lock_whole, "open in process "},
                 {lock_bytes, "open in process "}};
    make_disk("");
    for (size_t i = 0; i < N_OF(users); i++) {
        pid_t child = child_hold(users[i].use);
        is_refused(rig.loop, -EBUSY, users[i].word);
        child_stop(child);
    }
    is_accepted(rig.loop);
}

TEST(whole_disk_in_another_process_keeps_its_partitions)
{
    char first[80], second[80];
    partition_disk(first, second, sizeof(first));
    pid_t child = child_hold(open_raw);
    is_refused(first, -EBUSY, "open in process ");
    child_stop(child);
}

TEST(read_only_device_is_refused_for_writing_alone)
{
    AUTO(target_close) struct target target = {0};
    make_disk("--read-only");
    is_refused(rig.loop, -EROFS, "is read-only");
    assert_int_equal(rig_open_existing(&target, rig.loop, false, false, &err), 0);
}

TEST(device_without_a_size_is_refused)
{
    make_disk("");
    assert_int_equal(rig_shell("losetup -d '%s'", rig.loop), 0);
    struct target target = {0};
    int code = rig_open_existing(&target, rig.loop, false, false, &err);
    rig.loop[0] = '\0';
    target_close(&target);
    rig_need(code != 0, "somebody else has taken the loop device");
    assert_true(code == -ENOMEDIUM || code == -ENXIO);
}

/* In a child: without cachestat a large disk is looked at in places, of which the first is one. */
static int look_at_large_disk(void)
{
    struct target target = {0};
    char block[65536];
    uint64_t cached = 0, dirty = 0;
    enum target_cold cold = TARGET_COLD_UNVERIFIED;
    if (deny(__NR_cachestat, 0, ENOSYS) != 0)
        return 77;
    if (rig_open_existing(&target, rig.loop, false, false, NULL) != 0 ||
        pread(target.fd, block, sizeof(block), 0) != sizeof(block))
        return 1;
    if (target_cached_pages(&target, 0, target.size_bytes, &cached, &dirty) != 0 ||
        cached < sizeof(block) / (uint64_t)sysconf(_SC_PAGESIZE))
        return 2;
    if (target_drop_cache(&target, &cold, NULL) != 0 || cold != TARGET_COLD_VERIFIED)
        return 3;
    return 0;
}

TEST(terabytes_are_looked_at_by_mincore_too)
{
    make_disk("");
    rig_need(truncate(rig.image, (off_t)LARGE_BYTES) == 0 &&
                 rig_shell("losetup --set-capacity '%s'", rig.loop) == 0,
             "no image of 4 TiB can be made");
    child_expect(look_at_large_disk);
}

/* ---- names ---- */

TEST(links_and_other_nodes_lead_to_the_same_guards)
{
    char link[340], node[300], found[340];
    struct stat status;
    make_disk("");
    make_file_system(rig.loop);
    snprintf(link, sizeof(link), "%s/nvme-Disk_S3Z", rig.image_directory);
    snprintf(node, sizeof(node), "%s/node", rig.directory);
    assert_int_equal(symlink(rig.loop, link), 0);
    assert_int_equal(stat(rig.loop, &status), 0);
    assert_int_equal(block_device_find_link(rig.image_directory, status.st_rdev, found, sizeof(found)), 0);
    assert_string_equal(found, link);
    rig_mount(rig.loop, rig.point);
    is_refused(link, -EBUSY, "mounted at ");
    rig_need(mknod(node, S_IFBLK | 0600, status.st_rdev) == 0, "no node can be made");
    AUTO(auto_close) int fd = open(node, O_RDONLY | O_CLOEXEC);
    rig_need(fd >= 0, "nodes do not work in the directory of tests");
    is_refused(node, -EBUSY, "mounted at ");
}

static char other_node[300];

static bool open_node(void)
{
    return open(other_node, O_RDWR | O_CLOEXEC) >= 0;
}

TEST(process_that_has_it_open_by_a_node_elsewhere_is_found)
{
    struct stat status;
    make_disk("");
    snprintf(other_node, sizeof(other_node), "%s/node", rig.directory);
    assert_int_equal(stat(rig.loop, &status), 0);
    rig_need(mknod(other_node, S_IFBLK | 0600, status.st_rdev) == 0, "no node can be made");
    AUTO(auto_close) int fd = open(other_node, O_RDONLY | O_CLOEXEC);
    rig_need(fd >= 0, "nodes do not work in the directory of tests");
    pid_t child = child_hold(open_node);
    is_refused(rig.loop, -EBUSY, "open in process ");
    child_stop(child);
    is_accepted(rig.loop);
}
