/* tests/bench/mount_rig: file systems of a test's own - on a loop device, in memory, or over a directory -
 * that are gone when the test program ends, whatever way it ends. One at a time. */
#pragma once

#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>

static struct mount_rig {
    char directory[256], image_directory[300], image[340], point[300], loop[64];
    pid_t owner; /* a child that ends must not take the mount along */
    bool mounted, memory_below;
} rig;

__attribute__((format(printf, 1, 2))) static inline int rig_shell(const char *format, ...)
{
    char command[900];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    return system(command);
}

static inline void rig_clean_up(void)
{
    if (rig.owner != getpid())
        return;
    if (rig.mounted)
        umount2(rig.point, MNT_DETACH);
    if (rig.loop[0] != '\0' && rig_shell("losetup -d '%s'", rig.loop) != 0)
        fprintf(stderr, "%s stays\n", rig.loop);
    if (rig.memory_below)
        umount2(rig.image_directory, MNT_DETACH);
    if (rig.directory[0] != '\0')
        rig_remove_tree(rig.directory);
    rig = (struct mount_rig){0};
}

static inline void rig_clean_up_on_signal(int signal_number)
{
    rig_clean_up();
    _exit(128 + signal_number);
}

/* A directory of its own for every test case; cmocka's set up. */
static inline int rig_set_up(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static bool registered;
    for (size_t i = 0; i < N_OF(signals) && !registered; i++)
        signal(signals[i], rig_clean_up_on_signal);
    if (!registered && atexit(rig_clean_up) == 0)
        registered = true;
    rig.owner = getpid();
    rig_make_directory(rig.directory);
    snprintf(rig.image_directory, sizeof(rig.image_directory), "%s/below", rig.directory);
    snprintf(rig.image, sizeof(rig.image), "%s/image", rig.image_directory);
    snprintf(rig.point, sizeof(rig.point), "%s/mount", rig.directory);
    return mkdir(rig.image_directory, 0700) | mkdir(rig.point, 0700);
}

static inline int rig_tear_down(void **state)
{
    (void)state;
    rig_clean_up();
    return 0;
}

/* Skips the case, saying why. */
static inline void rig_need(bool there, const char *why)
{
    if (!there) {
        print_message("skipped: %s\n", why);
        skip();
    }
}

static inline void rig_need_mount(int result, const char *what)
{
    rig_need(geteuid() == 0, "only root can mount");
    rig_need(result == 0, what);
    rig.mounted = true;
}

static inline bool rig_attach(bool direct_io)
{
    char command[500];
    snprintf(command, sizeof(command), "losetup --find --show --direct-io=%s '%s' 2>/dev/null",
             direct_io ? "on" : "off", rig.image);
    FILE *output = popen(command, "re");
    if (output == NULL)
        return false;
    bool named = fgets(rig.loop, sizeof(rig.loop), output) != NULL;
    rig.loop[strcspn(rig.loop, "\n")] = '\0';
    return pclose(output) == 0 && named;
}

/* A fresh file system on a loop device over a sparse image; skips where that is impossible. */
static inline void rig_mount_loop(const char *type, const char *options, uint64_t bytes, bool direct_io)
{
    rig_need(geteuid() == 0, "only root can mount");
    int fd = open(rig.image, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    rig_need(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0, "no image can be made");
    close(fd);
    rig_need(rig_attach(direct_io), "no loop device can be set up");
    rig_need(rig_shell("mkfs.%s -q '%s' >/dev/null 2>&1", type, rig.loop) == 0,
             "its mkfs is not here or fails");
    rig_need_mount(mount(rig.loop, rig.point, type, 0, options), "the kernel does not mount it");
}

/* The path of a file on the mount; one buffer. */
static inline const char *rig_path(const char *name)
{
    static char path[400];
    snprintf(path, sizeof(path), "%s/%s", rig.point, name);
    return path;
}

static inline int rig_open(const char *name)
{
    int fd = open(rig_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}
