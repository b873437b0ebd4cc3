/* Tests of bench/target/target_user on file systems: images behind loop devices, with leases and without
 * them. */
/* LINK: -Wl,--wrap=target_is_shared */
#include "bench/target/target_internal.h"
#include "tests/bench/mount_rig.h"

#include <errno.h>

#define IMAGE_BYTES (300 * MIB) /* btrfs and xfs want as much */
#define INNER_BYTES (4 * MIB)

static bool has_leases;
static char inner_loop[64], inner_point[300], bound[300];
static struct err err;

WRAP(bool, target_is_shared, (int fd))
{
    return has_leases && __real_target_is_shared(fd);
}

FIXTURE(tear_down)
{
    if (inner_point[0] != '\0')
        umount2(inner_point, MNT_DETACH);
    if (bound[0] != '\0')
        umount2(bound, MNT_DETACH);
    if (inner_loop[0] != '\0' && rig_shell("losetup -d '%s'", inner_loop) != 0)
        fprintf(stderr, "%s stays\n", inner_loop);
    inner_loop[0] = inner_point[0] = bound[0] = '\0';
    return rig_tear_down(test_state);
}

FIXTURE(set_up)
{
    err = (struct err){0};
    has_leases = true;
    return rig_set_up(test_state);
}

EACH_TEST(set_up, tear_down);

/* A file on the mount, with some bytes in it that must stay. */
static void make_image(void)
{
    AUTO(auto_close) int fd = rig_open("image");
    assert_int_equal(ftruncate(fd, (off_t)INNER_BYTES), 0);
    assert_int_equal(pwrite(fd, "precious", 8, 0), 8);
}

static void attach(const char *path, const char *options)
{
    char command[500];
    snprintf(command, sizeof(command), "losetup --find --show %s '%s'", options, path);
    FILE *output = popen(command, "re");
    assert_non_null(output);
    if (fgets(inner_loop, sizeof(inner_loop), output) == NULL)
        inner_loop[0] = '\0';
    inner_loop[strcspn(inner_loop, "\n")] = '\0';
    assert_int_equal(pclose(output), 0);
}

static void detach(void)
{
    assert_int_equal(rig_shell("losetup -d '%s' && udevadm settle 2>/dev/null || true", inner_loop), 0);
    inner_loop[0] = '\0';
}

/* What a command does up to its first write. */
static int open_image(void)
{
    struct target target = {0};
    int code = rig_open_existing(&target, rig_path("image"), true, true, &err);
    target_close(&target);
    return code;
}

static void check_refused(const char *word)
{
    assert_int_equal(open_image(), -EBUSY);
    if (strstr(err.text, word) == NULL || strstr(err.text, inner_loop) == NULL)
        fail_msg("no \"%s\" in: %s", word, err.text);
    /* What leases do not tell, as on NFS, is found all the same. */
    has_leases = false;
    assert_int_equal(open_image(), -EBUSY);
    has_leases = true;
}

/* The device goes away when the last of those who use it in the kernel has let go of it. */
static void check_free_again(void)
{
    int code = -EBUSY;
    for (int i = 0; i < 20 && code == -EBUSY; i++)
        code = open_image();
    assert_int_equal(code, 0);
}

static void check_loop(void)
{
    make_image();
    assert_int_equal(open_image(), 0);
    attach(rig_path("image"), "");
    check_refused("detach it");
    detach();
    check_free_again();
    attach(rig_path("image"), "--read-only");
    check_refused("detach it");
    detach();
    check_free_again();
}

TEST(images_on_ext4_are_not_overwritten)
{
    rig_mount_loop("ext4", "", IMAGE_BYTES, false);
    check_loop();
}

TEST(images_on_xfs_are_not_overwritten)
{
    rig_mount_loop("xfs", "", IMAGE_BYTES, false);
    check_loop();
}

TEST(images_on_btrfs_are_not_overwritten)
{
    rig_mount_loop("btrfs", "", IMAGE_BYTES, false);
    check_loop();
}

static void mount_memory(void)
{
    rig_need(geteuid() == 0, "only root can mount");
    rig_need_mount(mount("none", rig.point, "tmpfs", 0, "size=64m"), "no tmpfs can be mounted");
}

TEST(images_on_tmpfs_are_not_overwritten)
{
    mount_memory();
    check_loop();
}

TEST(images_on_overlayfs_are_not_overwritten)
{
    char options[1300];
    const char *below = rig.image_directory;
    rig_need(geteuid() == 0, "only root can mount");
    rig_need(mount("none", below, "tmpfs", 0, "size=64m") == 0, "no tmpfs can be mounted");
    rig.memory_below = true;
    assert_int_equal(rig_shell("mkdir '%s/lower' '%s/upper' '%s/work'", below, below, below), 0);
    snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", below, below,
             below);
    rig_need_mount(mount("overlay", rig.point, "overlay", 0, options), "no overlayfs can be mounted");
    check_loop();
}

/* It stays in the foreground, and ends when it is unmounted. */
static int start_fuse(const char *program)
{
    struct stat above, root;
    if (rig_shell("'%s' -f '%s' >/dev/null 2>&1 &", program, rig.point) != 0 ||
        stat(rig.directory, &above) != 0)
        return -1;
    for (int i = 0; i < 500; i++) {
        if (stat(rig.point, &root) == 0 && root.st_dev != above.st_dev)
            return 0;
        usleep(10000);
    }
    return -1;
}

TEST(images_on_fuse_are_not_overwritten)
{
    const char *program = getenv("FAULTFS");
    rig_need(geteuid() == 0, "only root can set up loop devices");
    rig_need(program != NULL && access(program, X_OK) == 0, "FAULTFS names no FUSE file system");
    rig_need_mount(start_fuse(program), "FUSE cannot be mounted");
    check_loop();
}

TEST(the_mount_of_an_image_is_named)
{
    char word[400];
    mount_memory();
    make_image();
    rig_need(rig_shell("mkfs.ext4 -q '%s' 2>/dev/null", rig_path("image")) == 0, "mkfs.ext4 is not here");
    attach(rig_path("image"), "");
    snprintf(inner_point, sizeof(inner_point), "%s/inner", rig.directory);
    assert_int_equal(mkdir(inner_point, 0700), 0);
    assert_int_equal(mount(inner_loop, inner_point, "ext4", 0, NULL), 0);
    snprintf(word, sizeof(word), "mounted at %s; unmount", inner_point);
    check_refused(word);
}

/* The path that the kernel shows leads nowhere then, as from another mount namespace. */
TEST(an_image_is_known_without_its_path)
{
    char path[330];
    mount_memory();
    make_image();
    snprintf(bound, sizeof(bound), "%s/bound", rig.directory);
    snprintf(path, sizeof(path), "%s/image", bound);
    assert_int_equal(mkdir(bound, 0700), 0);
    assert_int_equal(mount(rig.point, bound, NULL, MS_BIND, NULL), 0);
    attach(path, "");
    assert_int_equal(umount2(bound, MNT_DETACH), 0);
    has_leases = false;
    check_refused("detach it");
}
