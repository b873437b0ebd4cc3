/* bench/target/target_left: marks, and what is removed by them. */
#include "bench/target/target_left.h"

#include "bench/base/full_io.h"
#include "bench/host/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MARK                                                                                                 \
    "fstune 1 owns inode %" PRIu64 "\nmachine %s\nhost %s\nboot %s\npid %" PRIu64 " of %" PRIu64             \
    " since %" PRIu64 "\n"
#define MARK_SCAN                                                                                            \
    "fstune 1 owns inode %" SCNu64 " machine %63s host %71s boot %63s pid %" SCNu64 " of %" SCNu64           \
    " since %" SCNu64
#define MARK_PARTS 7

/* A file that was created and not yet unlinked when its owner died has no contents to lose. */
#define EMPTY_AGE_S 3600

/* Where a directory is larger, the rest is not looked at: measuring does not wait for it. */
#define MOST_ENTRIES 100000

/* The 22nd word of /proc/PID/stat; the second one, the name, may hold anything. False: no such process. */
static bool find_start(uint64_t pid, uint64_t *ret_start)
{
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
    if (procfs_read_line(path, line, sizeof(line)) != 0)
        return false;
    const char *at = strrchr(line, ')');
    return at != NULL && sscanf(at,
                                ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                "%*s %" SCNu64,
                                ret_start) == 1;
}

/* Images are copied to many machines with the word "uninitialized" there. */
static void read_machine(char *machine, size_t size)
{
    if (procfs_read_line("/etc/machine-id", machine, size) != 0 || strlen(machine) != 32 ||
        strspn(machine, "0123456789abcdef") != 32)
        machine[0] = '\0';
}

/* /proc may be that of another PID name space: there our number is another process. */
static bool knows_us(uint64_t pid)
{
    char line[1024];
    return procfs_read_line("/proc/self/stat", line, sizeof(line)) == 0 && strtoull(line, NULL, 10) == pid;
}

void target_left_self(struct target_left_owner *ret_owner)
{
    struct target_left_owner self = {.pid = (uint64_t)getpid()};
    struct utsname names;
    struct stat status;
    read_machine(self.machine, sizeof(self.machine));
    procfs_read_line("/proc/sys/kernel/random/boot_id", self.boot, sizeof(self.boot));
    if (uname(&names) == 0)
        snprintf(self.host, sizeof(self.host), "%s", names.nodename);
    if (stat("/proc/self/ns/pid", &status) == 0)
        self.pid_namespace = (uint64_t)status.st_ino;
    if (knows_us(self.pid))
        find_start(self.pid, &self.start);
    *ret_owner = self;
}

/* /proc mounted with hidepid shows no process that we may not look into: only kill says that there is none.
 */
static bool has_ended(const struct target_left_owner *owner)
{
    uint64_t start;
    if (owner->pid == 0 || owner->pid > INT32_MAX || owner->start == 0)
        return false;
    if (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH)
        return true;
    return find_start(owner->pid, &start) && start != owner->start;
}

bool target_left_is_dead(const struct target_left_owner *owner, const struct target_left_owner *self)
{
    if (self->machine[0] == '\0' || self->host[0] == '\0' || self->boot[0] == '\0' || owner->boot[0] == '\0')
        return false;
    if (strcmp(owner->machine, self->machine) != 0 || strcmp(owner->host, self->host) != 0)
        return false;
    if (strcmp(owner->boot, self->boot) != 0)
        return true;
    return owner->pid_namespace == self->pid_namespace && self->start != 0 && has_ended(owner);
}

int target_left_mark(int fd, uint64_t offset_bytes, const struct target_left_owner *owner)
{
    char block[TARGET_LEFT_BYTES] = "";
    struct stat status;
    if (owner->machine[0] == '\0' || owner->host[0] == '\0' || owner->boot[0] == '\0')
        return -ENODATA;
    if (fstat(fd, &status) != 0)
        return -errno;
    snprintf(block, sizeof(block), MARK, (uint64_t)status.st_ino, owner->machine, owner->host, owner->boot,
             owner->pid, owner->pid_namespace, owner->start);
    int code = full_io_write(fd, block, sizeof(block), offset_bytes, NULL);
    return code == 0 ? full_io_sync(fd) : code;
}

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* What file systems call a file that was unlinked while it was open, and what fstune calls it before. */
static bool may_be_left(const char *name)
{
    return begins(name, ".nfs") || begins(name, ".smb") || begins(name, ".fuse_hidden") ||
           begins(name, ".fstune-");
}

static bool is_dead_mark(int fd, const struct stat *status, const struct target_left_owner *self)
{
    char block[TARGET_LEFT_BYTES + 1] = "";
    struct target_left_owner owner;
    uint64_t inode, size = (uint64_t)status->st_size;
    if (size < TARGET_LEFT_BYTES || full_io_read(fd, block, TARGET_LEFT_BYTES, size - TARGET_LEFT_BYTES) != 0)
        return false;
    return sscanf(block, MARK_SCAN, &inode, owner.machine, owner.host, owner.boot, &owner.pid,
                  &owner.pid_namespace, &owner.start) == MARK_PARTS &&
           inode == (uint64_t)status->st_ino && target_left_is_dead(&owner, self);
}

static bool is_old_and_empty(const char *name, const struct stat *status, time_t now)
{
    return begins(name, ".fstune-") && strspn(name + 8, "0123456789abcdef") == 16 && name[24] == '\0' &&
           status->st_size == 0 && status->st_mtim.tv_sec < now - EMPTY_AGE_S;
}

static bool is_same(const struct stat *status, const struct stat *again)
{
    return status->st_dev == again->st_dev && status->st_ino == again->st_ino && again->st_nlink == 1 &&
           status->st_size == again->st_size;
}

/* Opened only when it may be ours: opening a pipe or a device can have effects. */
static bool is_ours(int list_fd, const char *name, const struct target_left_owner *self, time_t now,
                    struct stat *status)
{
    struct stat opened;
    if (fstatat(list_fd, name, status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status->st_mode) ||
        status->st_uid != geteuid() || status->st_nlink != 1 || (status->st_mode & 07777) != 0600)
        return false;
    if (is_old_and_empty(name, status, now))
        return true;
    int fd = openat(list_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ours = fstat(fd, &opened) == 0 && is_same(status, &opened) && is_dead_mark(fd, status, self);
    close(fd); /* before it is removed: a file that is open would only be renamed again */
    return ours;
}

void target_left_remove(int dir_fd, int new_fd, const struct target_left_owner *self,
                        struct target_left *ret_left)
{
    struct target_left left = {0};
    struct stat new_status;
    int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = list_fd >= 0 && fstat(new_fd, &new_status) == 0 ? fdopendir(list_fd) : NULL;
    struct dirent *entry;
    for (int i = 0; i < MOST_ENTRIES && directory != NULL && (entry = readdir(directory)) != NULL; i++) {
        struct stat status, again;
        if (!may_be_left(entry->d_name) ||
            !is_ours(list_fd, entry->d_name, self, new_status.st_mtim.tv_sec, &status))
            continue;
        if (fstatat(list_fd, entry->d_name, &again, AT_SYMLINK_NOFOLLOW) != 0 || !is_same(&status, &again) ||
            unlinkat(list_fd, entry->d_name, 0) != 0)
            continue;
        left.n++;
        left.bytes += (uint64_t)status.st_size;
    }
    if (directory != NULL)
        closedir(directory);
    else if (list_fd >= 0)
        close(list_fd);
    *ret_left = left;
}
