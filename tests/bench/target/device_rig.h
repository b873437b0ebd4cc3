/* tests/bench/target/device_rig: a disk of a test's own, a loop device over a file of its own, and the words
 * that open it for writing. */
#pragma once

#include "bench/target/target_internal.h"
#include "tests/bench/mount_rig.h"

#include <sys/swap.h>

#define DISK_BYTES (64 * MIB)

static char other_loop[64]; /* a second device of the case */
static struct err err;

FIXTURE(tear_down)
{
    if (rig.loop[0] != '\0')
        swapoff(rig.loop);
    if (other_loop[0] != '\0' && rig_shell("losetup -d '%s'", other_loop) != 0)
        fprintf(stderr, "%s stays\n", other_loop);
    other_loop[0] = '\0';
    return rig_tear_down(test_state);
}

FIXTURE(set_up)
{
    err = (struct err){0};
    return rig_set_up(test_state);
}

EACH_TEST(set_up, tear_down);

static inline bool attach(const char *image, const char *options, char *loop, size_t size)
{
    char command[600];
    snprintf(command, sizeof(command), "losetup --find --show %s '%s' 2>/dev/null", options, image);
    FILE *output = popen(command, "re");
    bool named = output != NULL && fgets(loop, (int)size, output) != NULL;
    loop[strcspn(loop, "\n")] = '\0';
    if (output == NULL || pclose(output) != 0 || !named)
        loop[0] = '\0';
    return loop[0] != '\0';
}

/* An empty disk as the case's own, rig.loop; skips where there can be none. */
static inline void make_disk(const char *options)
{
    rig_need(geteuid() == 0, "only root can set up loop devices");
    int fd = open(rig.image, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    rig_need(fd >= 0 && ftruncate(fd, (off_t)DISK_BYTES) == 0, "no image can be made");
    close(fd);
    rig_need(attach(rig.image, options, rig.loop, sizeof(rig.loop)), "no such loop device can be set up");
}

static inline void make_file_system(const char *device)
{
    rig_need(rig_shell("mkfs.ext4 -q -F -L precious '%s' 4m >/dev/null 2>&1", device) == 0,
             "mkfs.ext4 is not here");
}

static inline int open_device(struct target *target, const char *path, bool ignore_signature)
{
    const struct target_existing existing = {.path = path,
                                             .for_writing = true,
                                             .overwrite = true,
                                             .destroy_device_bytes = DISK_BYTES,
                                             .ignore_signature = ignore_signature};
    err = (struct err){0};
    return target_open_existing(target, &existing, &err);
}

static inline void check_text(int code, int expected, const char *word)
{
    if (code != expected || (expected != 0 && strstr(err.text, word) == NULL))
        fail_msg("%d instead of %d, no \"%s\" in: %s", code, expected, word, err.text);
}

/* All that can be allowed is allowed. */
static inline void is_refused(const char *path, int code, const char *word)
{
    struct target target = {0};
    int result = open_device(&target, path, true);
    target_close(&target);
    check_text(result, code, word);
}

static inline void is_accepted(const char *path)
{
    is_refused(path, 0, "");
}

static inline void rig_mount(const char *device, const char *point)
{
    rig_need_mount(mount(device, point, "ext4", 0, ""), "the kernel does not mount it");
}
