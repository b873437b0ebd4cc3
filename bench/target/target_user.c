/* bench/target/target_user: who else uses a file, as far as leases, /proc and /sys tell. */
#include "bench/host/block_device.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"
#include "bench/target/target_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Where devices are looked for among what processes have mapped. */
#define NODES "/dev/"

struct sought {
    struct stat file;
    uint64_t inode; /* as fdinfo counts it, which may differ from what stat says */
    bool with_readers;
    /* Of a block device: whoever uses a part of it, or the disk that it is a part of, uses it. */
    dev_t parts[BLOCK_DEVICE_MAX_PARTS + 1];
    size_t n_parts; /* 0: a file */
    /* Of the image behind a loop device: that device, which is no other user of it; or "". */
    char own_loop[32];
};

static bool is_part(const struct sought *sought, dev_t number)
{
    size_t i = 0;
    while (i < sought->n_parts && sought->parts[i] != number)
        i++;
    return i < sought->n_parts;
}

/* A device has as many nodes as somebody makes, and anywhere. What is known of a file answers: a server that
 * is gone is not waited for. */
static bool is_device_sought(const char *path, const struct sought *sought)
{
    struct statx other;
    return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &other) == 0 &&
           S_ISBLK(other.stx_mode) && is_part(sought, makedev(other.stx_rdev_major, other.stx_rdev_minor));
}

static bool is_sought(const char *path, const struct sought *sought)
{
    struct stat other;
    if (sought->n_parts > 0)
        return is_device_sought(path, sought);
    return stat(path, &other) == 0 && other.st_dev == sought->file.st_dev &&
           other.st_ino == sought->file.st_ino;
}

/* The kernel refuses writes to swap files as well, but only at the first write and not on every version. */
static bool is_swap(const struct sought *sought)
{
    FILE *swaps = fopen("/proc/swaps", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (swaps != NULL && !found && getline(&line, &size, swaps) > 0) {
        line[strcspn(line, " \t\n")] = '\0';
        procfs_unescape(line);
        found = line[0] == '/' && is_sought(line, sought);
    }
    free(line);
    if (swaps != NULL)
        fclose(swaps);
    return found;
}

/* A line of maps: "start-end perms offset major:minor inode path". btrfs shows other device numbers here than
 * stat does, so where they differ the mapping itself is examined, as it is where it may be one of a device.
 */
static bool maps_line_is(const char *line, const char *pid, const struct sought *sought)
{
    uint64_t start, end, inode;
    unsigned major_number, minor_number;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64, &start, &end, &major_number,
               &minor_number, &inode) != 5)
        return false;
    if (sought->n_parts > 0 ? strstr(line, NODES) == NULL : inode != (uint64_t)sought->file.st_ino)
        return false;
    if (sought->n_parts == 0 && makedev(major_number, minor_number) == sought->file.st_dev)
        return true;
    char path[96];
    snprintf(path, sizeof(path), "/proc/%.20s/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
    return is_sought(path, sought);
}

static bool is_mapped_by(const char *pid, const struct sought *sought)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL)
        return false; /* another user's process, or gone by now */
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (!found && getline(&line, &size, maps) > 0)
        found = maps_line_is(line, pid, sought);
    free(line);
    fclose(maps);
    return found;
}

/* What a line of fdinfo says; inode 0: a kernel before 5.14 does not. */
struct fdinfo {
    int flags;
    uint64_t inode;
};

static bool read_fdinfo(const char *pid, const char *fd, struct fdinfo *ret)
{
    char path[80], text[256];
    snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%.20s", pid, fd);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t n = read(file, text, sizeof(text) - 1);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *flags = strstr(text, "flags:"), *inode = strstr(text, "ino:");
    *ret = (struct fdinfo){.flags = flags != NULL ? (int)strtoul(flags + strlen("flags:"), NULL, 8) : 0,
                           .inode = inode != NULL ? strtoull(inode + strlen("ino:"), NULL, 10) : 0};
    return flags != NULL;
}

/* Only what fdinfo does not rule out is examined: a file on a server that is gone would never answer. Devices
 * are opened by names, pipes and sockets have none. */
static bool may_be_sought(const char *path, uint64_t inode, const struct sought *sought)
{
    char first = 0;
    return sought->n_parts == 0 ? inode == sought->inode : readlink(path, &first, 1) == 1 && first == '/';
}

static bool is_opened_as(const char *pid, const char *fd, const struct sought *sought)
{
    char path[80];
    struct fdinfo info;
    if (!read_fdinfo(pid, fd, &info) || (info.flags & O_PATH) != 0 ||
        (!sought->with_readers && (info.flags & O_ACCMODE) == O_RDONLY))
        return false;
    snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, fd);
    return may_be_sought(path, info.inode, sought) && is_sought(path, sought);
}

static bool is_opened_by(const char *pid, const struct sought *sought)
{
    char path[48];
    snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
    DIR *fds = opendir(path);
    bool found = false;
    struct dirent *entry;
    while (fds != NULL && !found && (entry = readdir(fds)) != NULL)
        found = isdigit((unsigned char)entry->d_name[0]) && is_opened_as(pid, entry->d_name, sought);
    if (fds != NULL)
        closedir(fds);
    return found;
}

static void name_process(const char *how, const char *pid, struct target_user *ret)
{
    char path[48], name[32] = "?";
    snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
    procfs_read_line(path, name, sizeof(name));
    snprintf(ret->what, sizeof(ret->what), "%s process %.20s (%s)", how, pid, name);
    snprintf(ret->remedy, sizeof(ret->remedy), "stop it");
}

/* Best effort: processes of others are not readable for an ordinary user. */
static bool find_process(const struct sought *sought, struct target_user *ret)
{
    DIR *proc = opendir("/proc");
    const char *how = NULL;
    struct dirent *entry;
    while (proc != NULL && how == NULL && (entry = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]) || strtol(entry->d_name, NULL, 10) == (long)getpid())
            continue;
        how = is_mapped_by(entry->d_name, sought)   ? "mapped into memory by"
              : is_opened_by(entry->d_name, sought) ? "open in"
                                                    : NULL;
        if (how != NULL)
            name_process(how, entry->d_name, ret);
    }
    if (proc != NULL)
        closedir(proc);
    return how != NULL;
}

/* The path that the kernel shows may be one of another mount namespace, or have been removed, so the device
 * itself is asked where that is allowed. */
static bool is_behind(const char *loop, const struct sought *sought)
{
    char path[300], backing[512];
    struct loop_info64 info;
    snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", loop);
    if (procfs_read_line(path, backing, sizeof(backing)) != 0)
        return false; /* nothing is behind it */
    snprintf(path, sizeof(path), "/dev/%s", loop);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int code = fd >= 0 ? ioctl(fd, LOOP_GET_STATUS64, &info) : -1;
    if (fd >= 0)
        close(fd);
    if (code != 0)
        return is_sought(backing, sought);
    return sought->n_parts > 0
               ? is_part(sought, (dev_t)info.lo_rdevice)
               : info.lo_device == sought->file.st_dev && info.lo_inode == sought->file.st_ino;
}

static void name_loop(const char *loop, struct target_user *ret)
{
    char node[64];
    struct hostinfo_mount mount;
    snprintf(node, sizeof(node), "/dev/%.50s", loop);
    bool mounted = hostinfo_find_mount_of_disk(node, &mount) == 0;
    snprintf(ret->what, sizeof(ret->what), "the image behind %s%s%s", node, mounted ? ", mounted at " : "",
             mounted ? mount.mount_point : "");
    snprintf(ret->remedy, sizeof(ret->remedy), "%sdetach it (losetup -d %s)", mounted ? "unmount and " : "",
             node);
}

static bool find_loop(const struct sought *sought, struct target_user *ret)
{
    DIR *block = opendir("/sys/block");
    bool found = false;
    struct dirent *entry;
    while (block != NULL && !found && (entry = readdir(block)) != NULL) {
        found = strncmp(entry->d_name, "loop", 4) == 0 && strcmp(entry->d_name, sought->own_loop) != 0 &&
                is_behind(entry->d_name, sought);
        if (found)
            name_loop(entry->d_name, ret);
    }
    if (block != NULL)
        closedir(block);
    return found;
}

/* False where fd cannot be examined. */
static bool describe(int fd, struct sought *ret)
{
    struct fdinfo own;
    struct block_device device;
    char number[16];
    snprintf(number, sizeof(number), "%d", fd);
    if (fstat(fd, &ret->file) != 0)
        return false;
    if (read_fdinfo("self", number, &own))
        ret->inode = own.inode;
    if (block_device_of(fd, &device) == 0) {
        ret->n_parts = block_device_parts(device.number, ret->parts, BLOCK_DEVICE_MAX_PARTS);
        ret->parts[ret->n_parts++] = device.disk_number;
    }
    return true;
}

static bool find_user(const struct sought *sought, bool with_processes, struct target_user *ret)
{
    if (is_swap(sought)) {
        *ret = (struct target_user){"in use as swap space", "swap it off"};
        return true;
    }
    return find_loop(sought, ret) || (with_processes && find_process(sought, ret));
}

bool target_find_user(int fd, bool with_readers, struct target_user *ret)
{
    struct sought sought = {.with_readers = with_readers};
    return describe(fd, &sought) && find_user(&sought, true, ret);
}

static bool find_file_user(const char *image, const struct loop_info64 *info, struct sought *sought,
                           struct target_user *ret)
{
    int fd = open(image, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* The name may stand for another file by now. */
    bool found = describe(fd, sought) && info->lo_device == sought->file.st_dev &&
                 info->lo_inode == sought->file.st_ino && find_user(sought, true, ret);
    close(fd);
    return found;
}

/* The disk behind a loop device, or -1. */
static int open_disk_behind(const char *disk, const struct loop_info64 *info, int flags)
{
    struct block_device device;
    int fd = open(disk, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
    if (fd >= 0 && block_device_of(fd, &device) == 0 && device.number == (dev_t)info->lo_rdevice)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A loop device does not take the disk that it is made of for itself, so the disk can be mounted as well. The
 * kernel is asked last, whose answer has no name. *ret_fd is the disk where nobody uses it, else -1. */
static bool find_disk_user(const char *disk, const struct loop_info64 *info, struct sought *sought,
                           int *ret_fd, struct target_user *ret)
{
    int fd = open_disk_behind(disk, info, 0);
    bool found = fd >= 0 && (target_device_find_holder(fd, ret) ||
                             (describe(fd, sought) && find_user(sought, true, ret)));
    if (fd >= 0)
        close(fd);
    *ret_fd = found ? -1 : open_disk_behind(disk, info, O_EXCL);
    if (!found && *ret_fd < 0)
        *ret = (struct target_user){"in use, or cannot be examined", "end that"};
    return *ret_fd < 0;
}

/* Who else uses the file or disk behind the loop device; of a disk its descriptor, else -1. */
static bool find_user_behind(int fd, int *ret_fd, struct target_user *ret)
{
    struct sought sought = {.with_readers = true};
    struct block_device device;
    struct loop_info64 info;
    char path[96], image[512];
    *ret_fd = -1;
    if (block_device_of(fd, &device) != 0 || ioctl(fd, LOOP_GET_STATUS64, &info) != 0)
        return false;
    snprintf(path, sizeof(path), "/sys/block/%.60s/loop/backing_file", device.disk);
    snprintf(sought.own_loop, sizeof(sought.own_loop), "%.31s", device.disk);
    if (procfs_read_line(path, image, sizeof(image)) != 0)
        return false;
    return info.lo_rdevice != 0 ? find_disk_user(image, &info, &sought, ret_fd, ret)
                                : find_file_user(image, &info, &sought, ret);
}

/* What is behind a loop device may be one, too. */
bool target_find_image_user(int fd, struct target_user *ret)
{
    int behind = -1, next = -1;
    bool found = find_user_behind(fd, &behind, ret);
    while (!found && behind >= 0) {
        found = find_user_behind(behind, &next, ret);
        close(behind);
        behind = next;
    }
    return found;
}

bool target_find_kernel_user(int fd, struct target_user *ret)
{
    struct sought sought = {0};
    return describe(fd, &sought) && find_user(&sought, false, ret);
}

/* Before Linux 5.3 a descriptor that only names the file (O_PATH) kept a lease from being given, too. */
static bool counts_openings(void)
{
    struct utsname system;
    unsigned version = 0, patch = 0;
    return uname(&system) == 0 && sscanf(system.release, "%u.%u", &version, &patch) == 2 &&
           (version > 5 || (version == 5 && patch >= 3));
}

bool target_is_shared(int fd)
{
    /* Whoever opens the file while the lease is ours waits until it is given back, and we get a signal: the
     * usual one would end the process, this one is ignored. */
    if (fcntl(fd, F_SETSIG, SIGURG) != 0)
        return false;
    if (fcntl(fd, F_SETLEASE, F_WRLCK) != 0)
        return errno == EAGAIN && counts_openings();
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}
