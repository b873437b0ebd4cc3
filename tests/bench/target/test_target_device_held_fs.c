/* Tests of bench/target/target_device from the first look at a device to the end: who may come between. */
#include "tests/bench/target/device_rig.h"
#include "tests/child.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

TEST(while_it_is_open_nobody_else_gets_it)
{
    struct target target = {0}, second = {0};
    make_disk("");
    make_file_system(rig.loop);
    assert_int_equal(open_device(&target, rig.loop, true), 0);
    assert_int_equal(mount(rig.loop, rig.point, "ext4", 0, ""), -1);
    assert_int_equal(errno, EBUSY);
    int again = open_device(&second, rig.loop, true);
    target_close(&second);
    target_close(&target);
    assert_int_equal(again, -EBUSY);
    is_accepted(rig.loop);
}

static bool open_raw(void)
{
    return open(rig.loop, O_RDONLY | O_CLOEXEC) >= 0;
}

/* To the beginning of the device. */
static void put(const void *bytes, size_t size)
{
    AUTO(auto_close) int fd = open(rig.loop, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
    assert_int_equal(fsync(fd), 0);
}

TEST(second_look_sees_what_came_between)
{
    AUTO(target_close) struct target target = {0};
    struct target_existing existing = {
        .path = rig.loop, .for_writing = true, .overwrite = true, .destroy_device_bytes = DISK_BYTES};
    char head[8192], zeros[8192] = {0};
    make_disk("");
    make_file_system(rig.loop);
    AUTO(auto_close) int image = open(rig.image, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(image, head, sizeof(head), 0), sizeof(head));
    put(zeros, sizeof(zeros));
    assert_int_equal(target_open_existing(&target, &existing, &err), 0);
    assert_int_equal(target_check_again(&target, &existing, &err), 0);
    assert_int_equal(target_check_alone(&target, &err), 0);
    /* O_EXCL hinders none of these. */
    pid_t child = child_hold(open_raw);
    check_text(target_check_again(&target, &existing, &err), -EBUSY, "open in process ");
    child_stop(child);
    rig_need(attach(rig.loop, "", other_loop, sizeof(other_loop)), "no second loop device");
    check_text(target_check_again(&target, &existing, &err), -EBUSY, other_loop);
    check_text(target_check_alone(&target, &err), -EBUSY, other_loop);
    assert_int_equal(rig_shell("losetup -d '%s'", other_loop), 0);
    other_loop[0] = '\0';
    put(head, sizeof(head));
    check_text(target_check_again(&target, &existing, &err), -EPERM, "ext4");
    existing.ignore_signature = true;
    assert_int_equal(target_check_again(&target, &existing, &err), 0);
}

static int inherited_fd; /* that a child closes, else it would have the device open, too */

static bool open_image(void)
{
    close(inherited_fd);
    return open(rig.image, O_RDWR | O_CLOEXEC) >= 0;
}

/* What is behind a loop device is nobody's whom the kernel could hinder. */
TEST(second_look_sees_who_uses_the_image_behind_it)
{
    AUTO(target_close) struct target target = {0};
    const struct target_existing existing = {
        .path = rig.loop, .for_writing = true, .overwrite = true, .destroy_device_bytes = DISK_BYTES};
    make_disk("");
    assert_int_equal(target_open_existing(&target, &existing, &err), 0);
    assert_int_equal(target_check_again(&target, &existing, &err), 0);
    inherited_fd = target.fd;
    pid_t child = child_hold(open_image);
    check_text(target_check_again(&target, &existing, &err), -EBUSY, "what is behind it is also open in ");
    check_text(target_check_alone(&target, &err), -EBUSY, "what is behind it is now also open in ");
    child_stop(child);
    assert_int_equal(target_check_again(&target, &existing, &err), 0);
    rig_need(attach(rig.image, "", other_loop, sizeof(other_loop)), "no second loop device");
    check_text(target_check_again(&target, &existing, &err), -EBUSY, "also the image behind ");
    assert_int_equal(rig_shell("losetup -d '%s'", other_loop), 0);
    other_loop[0] = '\0';
    assert_int_equal(target_check_again(&target, &existing, &err), 0);
}

TEST(second_look_sees_a_disk_behind_it_that_was_mounted)
{
    AUTO(target_close) struct target target = {0};
    struct target_existing existing = {
        .for_writing = true, .overwrite = true, .destroy_device_bytes = DISK_BYTES, .ignore_signature = true};
    make_disk("");
    make_file_system(rig.loop);
    rig_need(attach(rig.loop, "", other_loop, sizeof(other_loop)), "no second loop device");
    existing.path = other_loop;
    assert_int_equal(target_open_existing(&target, &existing, &err), 0);
    rig_mount(rig.loop, rig.point);
    check_text(target_check_again(&target, &existing, &err), -EBUSY, "what is behind it is also mounted at ");
    check_text(target_check_alone(&target, &err), -EBUSY, "what is behind it is now also mounted at ");
}

/* Whatever the name leads to by then: a device is written to that was looked at. */
TEST(a_name_that_leads_elsewhere_later_changes_nothing)
{
    AUTO(target_close) struct target target = {0};
    char link[340], second[340];
    struct stat first, again;
    int fd = -1;
    make_disk("");
    snprintf(link, sizeof(link), "%s/link", rig.directory);
    snprintf(second, sizeof(second), "%s/second", rig.image_directory);
    AUTO(auto_close) int image = open(second, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    rig_need(image >= 0 && ftruncate(image, (off_t)DISK_BYTES) == 0, "no second image");
    rig_need(attach(second, "", other_loop, sizeof(other_loop)), "no second loop device");
    assert_int_equal(symlink(rig.loop, link), 0);
    assert_int_equal(open_device(&target, link, false), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(other_loop, link), 0);
    assert_int_equal(target_open_run(&target, false, true, &fd, &err), 0);
    assert_int_equal(stat(rig.loop, &first), 0);
    assert_int_equal(fstat(fd, &again), 0);
    close(fd);
    assert_true(again.st_rdev == first.st_rdev);
}

TEST(device_that_is_made_read_only_is_refused_by_the_second_look)
{
    AUTO(target_close) struct target target = {0};
    const struct target_existing existing = {
        .path = rig.loop, .for_writing = true, .overwrite = true, .destroy_device_bytes = DISK_BYTES};
    make_disk("");
    assert_int_equal(target_open_existing(&target, &existing, &err), 0);
    rig_need(rig_shell("blockdev --setro '%s'", rig.loop) == 0, "blockdev is not here");
    int code = target_check_again(&target, &existing, &err);
    assert_int_equal(rig_shell("blockdev --setrw '%s'", rig.loop), 0); /* else its next image is, too */
    check_text(code, -EROFS, "is read-only");
}

/* The kernel detaches an image once nobody has the device open. */
TEST(image_that_is_detached_meanwhile_stays_until_the_end)
{
    AUTO(target_close) struct target target = {0};
    int fd = -1;
    make_disk("");
    assert_int_equal(open_device(&target, rig.loop, false), 0);
    assert_int_equal(rig_shell("losetup -d '%s'", rig.loop), 0);
    assert_int_equal(target_open_run(&target, false, true, &fd, &err), 0);
    char block[512] = "after it was detached", again[512] = "";
    assert_int_equal(pwrite(fd, block, sizeof(block), 0), sizeof(block));
    assert_int_equal(fsync(fd), 0);
    close(fd);
    target_close(&target);
    rig.loop[0] = '\0';
    AUTO(auto_close) int image = open(rig.image, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(image, again, sizeof(again), 0), sizeof(again));
    assert_string_equal(again, block);
}

TEST(device_that_shrinks_is_written_no_more)
{
    AUTO(target_close) struct target target = {0};
    int fd = -1;
    make_disk("");
    assert_int_equal(open_device(&target, rig.loop, false), 0);
    assert_int_equal(target_open_run(&target, false, true, &fd, &err), 0);
    close(fd);
    assert_int_equal(truncate(rig.image, (off_t)(DISK_BYTES / 2)), 0);
    rig_need(rig_shell("losetup --set-capacity '%s'", rig.loop) == 0, "losetup cannot change the size");
    check_text(target_open_run(&target, false, true, &fd, &err), -ESTALE, "made shorter");
    assert_int_equal(truncate(rig.image, 0), 0);
    rig_need(rig_shell("losetup --set-capacity '%s'", rig.loop) == 0, "losetup cannot change the size");
    check_text(target_open_run(&target, false, true, &fd, &err), -ESTALE, "is gone: ");
}

#define N_RACES        200
#define MOUNT_PAUSE_US 20000
#define OPEN_PAUSE_US  1000

static struct {
    atomic_bool stop, mounted;
    atomic_uint n_mounts;
} racer;

static void *mount_again_and_again(void *unused)
{
    (void)unused;
    while (!atomic_load(&racer.stop)) {
        if (mount(rig.loop, rig.point, "ext4", 0, "") != 0)
            continue;
        atomic_store(&racer.mounted, true);
        atomic_fetch_add(&racer.n_mounts, 1);
        sched_yield();
        atomic_store(&racer.mounted, false);
        umount(rig.point);
        usleep(MOUNT_PAUSE_US); /* else the device is hardly ever free */
    }
    return NULL;
}

TEST(a_mount_and_a_target_never_have_it_together)
{
    pthread_t thread;
    unsigned n_targets = 0, n_both = 0;
    make_disk("");
    make_file_system(rig.loop);
    rig_mount(rig.loop, rig.point);
    assert_int_equal(umount(rig.point), 0);
    assert_int_equal(pthread_create(&thread, NULL, mount_again_and_again, NULL), 0);
    for (unsigned i = 0; i < N_RACES; i++) {
        struct target target = {0};
        if (open_device(&target, rig.loop, true) == 0) {
            n_targets++;
            n_both += atomic_load(&racer.mounted);
        }
        target_close(&target);
        usleep(i % 4 * OPEN_PAUSE_US); /* else the device is never free */
    }
    atomic_store(&racer.stop, true);
    pthread_join(thread, NULL);
    print_message("%u of %d opened, %u mounts\n", n_targets, N_RACES, atomic_load(&racer.n_mounts));
    assert_int_equal(n_both, 0);
    assert_true(n_targets > 0 && atomic_load(&racer.n_mounts) > 0);
}
