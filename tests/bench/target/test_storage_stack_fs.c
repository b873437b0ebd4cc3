/* tests/bench/target/test_storage_stack_fs: what lies under real files: memory, overlays, loop devices,
 * compression, limits. */
#include "bench/target/storage_stack.h"
#include "tests/bench/mount_rig.h"
#include "tests/bench/run/throttle_rig.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

static struct storage_stack look(const char *path)
{
    struct storage_stack stack;
    AUTO(auto_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    storage_stack_of(fd, &stack);
    return stack;
}

TEST_WITH(memory_is_recognised, rig_set_up, rig_tear_down)
{
    rig_need_mount(mount("tmpfs", rig.point, "tmpfs", 0, "size=16m"), "tmpfs cannot be mounted");
    struct storage_stack stack = look(rig.point);
    assert_true(stack.in_memory);
    assert_false(stack.caps_known || stack.loop);
    assert_string_equal(stack.device, "");
    assert_close(stack.free_share, 1, 0.01);
}

TEST_WITH(overlay_is_recognised, rig_set_up, rig_tear_down)
{
    char options[1300];
    assert_int_equal(
        rig_shell("mkdir '%s/lower' '%s/upper' '%s/work'", rig.directory, rig.directory, rig.directory), 0);
    snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", rig.directory,
             rig.directory, rig.directory);
    rig_need_mount(mount("overlay", rig.point, "overlay", 0, options), "overlayfs cannot be mounted");
    struct storage_stack stack = look(rig.point);
    assert_true(stack.overlay);
    assert_false(stack.in_memory);
}

TEST_WITH(loop_without_direct_io_is_seen, rig_set_up, rig_tear_down)
{
    rig_mount_loop("ext4", "", 32 * MIB, false);
    struct storage_stack stack = look(rig.point);
    assert_true(stack.loop);
    assert_false(stack.loop_direct_io);
    assert_string_equal(stack.device, rig.loop + strlen("/dev/"));
    assert_false(stack.in_memory || stack.compresses);
}

TEST_WITH(loop_with_direct_io_is_seen, rig_set_up, rig_tear_down)
{
    rig_mount_loop("ext4", "", 32 * MIB, true);
    struct storage_stack stack = look(rig.point);
    rig_need(stack.loop_direct_io, "this directory's file system has no direct I/O for loop devices");
    assert_true(stack.loop);
    assert_false(stack.in_memory);
}

TEST_WITH(loop_over_memory_is_memory, rig_set_up, rig_tear_down)
{
    rig_need(geteuid() == 0, "only root can mount");
    rig.memory_below = mount("tmpfs", rig.image_directory, "tmpfs", 0, "size=64m") == 0;
    rig_need(rig.memory_below, "tmpfs cannot be mounted");
    rig_mount_loop("ext4", "", 32 * MIB, false);
    struct storage_stack stack = look(rig.point);
    assert_true(stack.loop && stack.in_memory);
}

TEST_WITH(full_file_system_is_seen, rig_set_up, rig_tear_down)
{
    rig_mount_loop("ext4", "", 32 * MIB, false);
    struct storage_stack before = look(rig.point);
    static unsigned char block[MIB];
    int fd = rig_open("filler");
    memset(block, 1, sizeof(block));
    while (write(fd, block, sizeof(block)) > 0)
        ;
    assert_int_equal(fsync(fd), 0);
    close(fd);
    struct storage_stack after = look(rig.point);
    assert_true(before.free_share > 0.5);
    assert_true(after.free_share < 0.05);
}

TEST_WITH(btrfs_tells_what_it_does_to_data, rig_set_up, rig_tear_down)
{
    rig_mount_loop("btrfs", "compress=zstd:1", 300 * MIB, true);
    struct storage_stack stack = look(rig.point);
    assert_true(stack.compresses && stack.copies_on_write);
    int fd = rig_open("in_place"), flags = FS_NOCOW_FL;
    assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &flags), 0);
    storage_stack_of(fd, &stack);
    close(fd);
    assert_false(stack.compresses || stack.copies_on_write);
}

TEST_WITH(file_can_ask_for_compression_itself, rig_set_up, rig_tear_down)
{
    rig_mount_loop("btrfs", "", 300 * MIB, true);
    int fd = rig_open("packed"), flags = FS_COMPR_FL;
    assert_false(look(rig.point).compresses);
    assert_int_equal(ioctl(fd, FS_IOC_SETFLAGS, &flags), 0);
    struct storage_stack stack;
    storage_stack_of(fd, &stack);
    close(fd);
    assert_true(stack.compresses);
    assert_false(look(rig.point).compresses);
}

static void look_here(void *shared)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    storage_stack_of(fd, shared);
}

TEST(limits_of_our_own_group_count)
{
    struct hostinfo_device device;
    struct storage_stack before, *inside = throttle_shared(sizeof(*inside));
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hostinfo_find_device(fd, &device);
    storage_stack_of(fd, &before);
    close(fd);
    rig_need(before.cap_read_bps == 0 && before.cap_write_bps == 0, "this process has limits of its own");
    bool throttled = throttle_run(&device, 8 * MIB, 4 * MIB, look_here, inside);
    struct storage_stack stack = *inside;
    munmap(inside, sizeof(*inside));
    rig_need(throttled, "no control groups of version 1 with blkio, or not root");
    assert_true(stack.caps_known);
    assert_close(stack.cap_read_bps, 8 * MIB, 0); /* the outer group's limit, half of that, does not bind */
    assert_close(stack.cap_write_bps, 4 * MIB, 0);
    assert_close(stack.cap_read_iops, before.cap_read_iops, 0);
    assert_close(stack.cap_write_iops, before.cap_write_iops, 0);
}

TEST_WITH(limits_bind_a_loop_device_too, rig_set_up, rig_tear_down)
{
    struct hostinfo_device device;
    struct storage_stack *inside = throttle_shared(sizeof(*inside));
    char here[300];
    rig_mount_loop("ext4", "", 32 * MIB, true);
    int fd = open(rig.image_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    hostinfo_find_device(fd, &device);
    close(fd);
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(rig.point), 0);
    bool throttled = throttle_run(&device, 8 * MIB, 4 * MIB, look_here, inside);
    assert_int_equal(chdir(here), 0);
    struct storage_stack stack = *inside;
    munmap(inside, sizeof(*inside));
    rig_need(throttled, "no control groups of version 1 with blkio");
    assert_true(stack.loop);
    assert_close(stack.cap_read_bps, 8 * MIB, 0);
}
