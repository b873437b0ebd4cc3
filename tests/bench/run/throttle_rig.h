/* tests/bench/run/throttle_rig: runs a function in a child that a control group (version 1, blkio) throttles.
 */
#pragma once

#include "bench/host/hostinfo_internal.h"
#include "tests/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static inline bool throttle_write(const char *group, const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

/* Two groups, one in the other. In version 1 the outer one's limit, which is lower, does not bind. */
static inline bool throttle_set(const char *outer, const char *inner, const char *disk, uint64_t read_bps,
                                uint64_t write_bps)
{
    char text[96];
    bool good = mkdir(outer, 0700) == 0 && mkdir(inner, 0700) == 0;
    snprintf(text, sizeof(text), "%s %llu", disk, (unsigned long long)read_bps / 2);
    good = good && throttle_write(outer, "blkio.throttle.read_bps_device", text);
    snprintf(text, sizeof(text), "%s %llu", disk, (unsigned long long)read_bps);
    good = good && throttle_write(inner, "blkio.throttle.read_bps_device", text);
    snprintf(text, sizeof(text), "%s %llu", disk, (unsigned long long)write_bps);
    return good && throttle_write(inner, "blkio.throttle.write_bps_device", text);
}

static inline void throttle_child(const char *inner, void (*run)(void *shared), void *shared)
{
    char pid[32];
    snprintf(pid, sizeof(pid), "%ld", (long)getpid());
    if (!throttle_write(inner, "cgroup.procs", pid))
        _exit(77);
    run(shared);
    _exit(0);
}

/* True and *shared (memory of `size` that both see) filled by the child; false: no such control groups here.
 */
static inline bool throttle_run(const struct hostinfo_device *device, uint64_t read_bps, uint64_t write_bps,
                                void (*run)(void *shared), void *shared)
{
    struct hostinfo_mount mount;
    char outer[300], inner[320];
    int status = -1;
    if (device->sysfs[0] == '\0' || hostinfo_find_mount_of_type("cgroup", "blkio", &mount) != 0)
        return false;
    snprintf(outer, sizeof(outer), "%s/fstune-test-%ld", mount.mount_point, (long)getpid());
    snprintf(inner, sizeof(inner), "%s/inner", outer);
    if (throttle_set(outer, inner, strrchr(device->sysfs, '/') + 1, read_bps, write_bps)) {
        pid_t child = fork();
        if (child == 0)
            throttle_child(inner, run, shared);
        if (child > 0)
            waitpid(child, &status, 0);
    }
    rmdir(inner);
    rmdir(outer);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static inline void *throttle_shared(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}
