/* Tests of bench/target/storage_stack: mount options, a fixture of sysfs, limits of control groups. */
#include "bench/host/hostinfo_internal.h"
#include "bench/target/storage_stack.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <fcntl.h>
#include <linux/fs.h>

static struct storage_stack look(const char *type, const char *options, unsigned flags)
{
    struct storage_stack stack = {0};
    struct hostinfo_mount mount = {.mount_options = "rw,relatime"};
    snprintf(mount.file_system, sizeof(mount.file_system), "%s", type);
    snprintf(mount.super_options, sizeof(mount.super_options), "%s", options);
    storage_stack_add_mount(&stack, &mount, flags);
    return stack;
}

TEST(plain_file_systems_do_nothing_to_data)
{
    const char *const types[] = {"ext4", "xfs", "ext2", "vfat"};
    for (size_t i = 0; i < N_OF(types); i++) {
        struct storage_stack stack = look(types[i], "rw,discard", 0);
        assert_false(stack.compresses || stack.copies_on_write || stack.in_memory || stack.encrypted);
        assert_false(stack.overlay || stack.network || stack.fuse || stack.may_deduplicate);
    }
}

struct btrfs_case {
    const char *options;
    unsigned flags;
    bool compresses, copies;
};

TEST(btrfs_follows_options_and_flags)
{
    const struct btrfs_case cases[] = {
        {"rw,ssd,space_cache=v2", 0, false, true},
        {"rw,compress=zstd:3", 0, true, true},
        {"rw,compress=no", 0, false, true},
        {"rw,compress=zstd:3", FS_NOCOMP_FL, false, true},
        {"rw,compress-force=lzo", FS_NOCOMP_FL, true, true},
        {"rw", FS_COMPR_FL, true, true},
        {"rw,compress=zstd:3", FS_NOCOW_FL, false, false},
        {"rw,compress=zstd:3,nodatasum", 0, false, true},
        {"rw,nodatasum,nodatacow", 0, false, false},
        {"rw,xcompress=zstd", 0, false, true},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct storage_stack stack = look("btrfs", cases[i].options, cases[i].flags);
        if (stack.compresses != cases[i].compresses || stack.copies_on_write != cases[i].copies)
            fail_msg("case %zu: %s", i, cases[i].options);
    }
}

TEST(types_are_recognised)
{
    assert_true(look("tmpfs", "rw", 0).in_memory && look("ramfs", "rw", 0).in_memory);
    assert_true(look("overlay", "rw,lowerdir=/a", 0).overlay);
    assert_true(look("nfs4", "rw", 0).network && look("9p", "rw", 0).network);
    struct storage_stack sshfs = look("fuse.sshfs", "rw", 0), ntfs = look("fuseblk", "rw", 0);
    assert_true(sshfs.network && sshfs.fuse && ntfs.fuse && !ntfs.network);
    struct storage_stack zfs = look("zfs", "rw,xattr", 0);
    assert_true(zfs.compresses && zfs.copies_on_write && zfs.may_deduplicate);
    assert_true(look("bcachefs", "rw,compression=lz4", 0).compresses);
    assert_false(look("bcachefs", "rw,compression=none", 0).compresses);
    assert_true(look("f2fs", "rw,compress_extension=txt", 0).compresses);
    assert_false(look("f2fs", "rw,compress_algorithm=lz4", 0).compresses);
    assert_true(look("f2fs", "rw", FS_COMPR_FL).compresses);
    assert_false(look("newfs", "rw", 0).compresses);
    assert_true(look("ext4", "rw", FS_ENCRYPT_FL).encrypted);
}

/* The full path, with the directories on the way made. */
static void make_path(char path[512], const char *file)
{
    snprintf(path, 512, "%s/%s", directory, file);
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void put(const char *file, const char *text)
{
    char path[512];
    make_path(path, file);
    AUTO(auto_fclose) FILE *stream = fopen(path, "we");
    assert_non_null(stream);
    fprintf(stream, "%s\n", text);
}

static void put_link(const char *to, const char *file)
{
    char path[512];
    make_path(path, file);
    assert_int_equal(symlink(rig_in(to), path), 0);
}

static struct storage_stack look_at_disk(const char *name, bool guest)
{
    struct storage_stack stack = {.guest = guest};
    storage_stack_add_disk(&stack, rig_in(name));
    return stack;
}

TEST(disk_of_a_guest_is_virtual)
{
    put("vda/ro", "0");
    put("sda/device/model", "QEMU HARDDISK");
    put("sdb/device/model", "Samsung SSD 860");
    struct storage_stack stack = look_at_disk("vda", true);
    assert_string_equal(stack.device, "vda");
    assert_true(stack.virtual_disk);
    assert_false(look_at_disk("vda", false).virtual_disk);
    assert_true(look_at_disk("sda", true).virtual_disk);
    assert_false(look_at_disk("sdb", true).virtual_disk);
}

TEST(loop_device_tells_how_it_reads)
{
    put("loop3/loop/dio", "0");
    put("loop4/loop/dio", "1");
    struct storage_stack buffered = look_at_disk("loop3", false), direct = look_at_disk("loop4", false);
    assert_true(buffered.loop && !buffered.loop_direct_io);
    assert_true(direct.loop && direct.loop_direct_io);
    assert_false(look_at_disk("vda", false).loop);
}

TEST(mapper_shows_what_is_below)
{
    put("dm-0/dm/uuid", "CRYPT-LUKS2-0123");
    put("dm-1/dm/uuid", "LVM-0123");
    put("loop3/loop3p1/partition", "1");
    put_link("loop3/loop3p1", "dm-0/slaves/loop3p1");
    put_link("dm-0", "dm-1/slaves/dm-0");
    put("zram0/ro", "1");
    put_link("zram0", "dm-2/slaves/zram0");
    struct storage_stack stack = look_at_disk("dm-1", false);
    assert_string_equal(stack.device, "dm-1");
    assert_true(stack.encrypted && stack.loop);
    assert_false(stack.in_memory);
    assert_true(look_at_disk("dm-2", false).in_memory);
}

TEST(circle_of_devices_ends)
{
    put_link("dm-9", "dm-8/slaves/dm-9");
    put("dm-9/ro", "0");
    put_link("dm-8", "dm-9/slaves/dm-8");
    assert_string_equal(look_at_disk("dm-8", false).device, "dm-8");
}

TEST(io_max_lowers_caps)
{
    struct hostinfo_caps caps = {.write_bps = 1000, .read_iops = 5};
    hostinfo_parse_io_max("rbps=1048576 wbps=max riops=100 wiops=7", &caps);
    assert_close(caps.read_bps, 1048576, 0);
    assert_close(caps.write_bps, 1000, 0);
    assert_close(caps.read_iops, 5, 0);
    assert_close(caps.write_iops, 7, 0);
    hostinfo_parse_io_max("", &caps);
    hostinfo_parse_io_max("junk rbps= xrbps=1 wiops=-3", &caps);
    assert_close(caps.read_bps, 1048576, 0);
    assert_close(caps.write_iops, 7, 0);
}

TEST(directory_here_has_a_medium)
{
    struct storage_stack stack;
    AUTO(auto_close) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    storage_stack_of(fd, &stack);
    assert_true(stack.free_share > 0 && stack.free_share <= 1);
    storage_stack_of(-1, &stack);
    assert_true(isnan(stack.free_share));
}
