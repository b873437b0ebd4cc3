/* bench/target_existing: the guards before a file that belongs to the user is read or overwritten. */
#include "bench/procfs.h"
#include "bench/target_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    case S_IFIFO:
        return "a fifo";
    case S_IFSOCK:
        return "a socket";
    default:
        return "something else";
    }
}

/* O_PATH neither waits at a fifo nor wakes a device; what it holds is the inode that is examined and reopened
 * afterwards. */
static int open_inode(const char *path, int *ret_fd, struct stat *ret_status, struct err *err)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "%s: cannot be opened", path);
    int code = 0;
    if (fstat(fd, ret_status) != 0)
        code = err_sys(err, -errno, "%s: cannot be examined", path);
    else if (!S_ISREG(ret_status->st_mode))
        code = err_set(err, -EINVAL, "%s: is %s; only regular files are measured", path,
                       kind_of(ret_status->st_mode));
    if (code != 0) {
        close(fd);
        return code;
    }
    *ret_fd = fd;
    return 0;
}

static bool is_same_file(const char *path, const struct stat *file)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

/* The kernel refuses writes to swap files as well, but only at the first write and not on every version. */
static bool is_swap(const struct stat *file)
{
    FILE *swaps = fopen("/proc/swaps", "re");
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (swaps != NULL && !found && getline(&line, &size, swaps) > 0) {
        line[strcspn(line, " \t\n")] = '\0';
        procfs_unescape(line);
        found = line[0] == '/' && is_same_file(line, file);
    }
    free(line);
    if (swaps != NULL)
        fclose(swaps);
    return found;
}

/* A line of maps: "start-end perms offset major:minor inode path". btrfs shows other device numbers here than
 * stat does, so where they differ the mapping itself is examined. */
static bool maps_line_is(const char *line, const char *pid, const struct stat *file)
{
    uint64_t start, end, inode;
    unsigned major_number, minor_number;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64, &start, &end, &major_number,
               &minor_number, &inode) != 5 ||
        inode != (uint64_t)file->st_ino)
        return false;
    if (makedev(major_number, minor_number) == file->st_dev)
        return true;
    char path[96];
    snprintf(path, sizeof(path), "/proc/%.20s/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
    return is_same_file(path, file);
}

static bool is_mapped_by(const char *pid, const struct stat *file)
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
        found = maps_line_is(line, pid, file);
    free(line);
    fclose(maps);
    return found;
}

/* The process that maps the file, or 0. Best effort: processes of others are not readable for an ordinary
 * user. */
static long find_mapper(const struct stat *file)
{
    DIR *proc = opendir("/proc");
    long mapper = 0;
    struct dirent *entry;
    while (proc != NULL && mapper == 0 && (entry = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid != (long)getpid() && is_mapped_by(entry->d_name, file))
            mapper = pid;
    }
    if (proc != NULL)
        closedir(proc);
    return mapper;
}

/* Programs such as QEMU lock single bytes of an image with OFD locks, others the whole file with flock; ours
 * stays with the descriptor. */
static int take_locks(int fd, const char *path, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES))
        return err_set(err, -EBUSY, "%s: is locked by another process (fcntl); stop it or give another file",
                       path);
    whole.l_type = F_UNLCK;
    fcntl(fd, F_OFD_SETLK, &whole);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return err_set(err, -EBUSY, "%s: is locked by another process (flock); stop it or give another file",
                       path);
    return 0;
}

/* From cheap and certain to costly and best effort. */
static int guard_writing(int fd, const char *path, const struct stat *file, struct err *err)
{
    if (file->st_nlink > 1)
        return err_set(err, -EMLINK,
                       "%s: has %lu names (hard links); overwriting it would change them all; copy it", path,
                       (unsigned long)file->st_nlink);
    if (is_swap(file))
        return err_set(err, -EBUSY, "%s: is in use as swap space; give another file", path);
    int code = take_locks(fd, path, err);
    if (code != 0)
        return code;
    long mapper = find_mapper(file);
    if (mapper != 0)
        return err_set(err, -EBUSY, "%s: is mapped into memory by process %ld; stop it or give another file",
                       path, mapper);
    return 0;
}

/* Locks need the descriptor that the run keeps, so the guards come after opening; opening alone changes
 * nothing. */
static int open_guarded(struct target *target, int inode_fd, bool for_writing, const struct stat *file,
                        struct err *err)
{
    const char *path = target->name;
    int code = target_reopen(inode_fd, path, for_writing ? O_RDWR : O_RDONLY, &target->fd, err);
    if (code == -ETXTBSY)
        return err_set(err, code, "%s: is a running program or swap space; give another file", path);
    if (code == 0 && for_writing)
        code = guard_writing(target->fd, path, file, err);
    if (code == 0 && (code = target_available(target->fd, &target->available_bytes)) != 0)
        err_sys(err, code, "%s: cannot ask for its free space", path);
    if (code == 0)
        code = target_describe(target, err);
    return code;
}

int target_open_existing(struct target *target, const char *path, bool for_writing, bool overwrite,
                         struct err *err)
{
    struct target opened = {.writable = for_writing};
    struct stat file;
    int inode_fd = -1;
    int code = open_inode(path, &inode_fd, &file, err);
    if (code != 0)
        return code;
    snprintf(opened.name, sizeof(opened.name), "%s", path);
    opened.size_bytes = (uint64_t)file.st_size / 512 * 512;
    if (opened.size_bytes == 0)
        code = err_set(err, -EINVAL, "%s: has %lld bytes, less than one request; give a larger file", path,
                       (long long)file.st_size);
    else if (for_writing && !overwrite)
        code = err_set(err, -EPERM, "%s: this pattern would destroy its contents; allow it with --overwrite",
                       path);
    else
        code = open_guarded(&opened, inode_fd, for_writing, &file, err);
    close(inode_fd);
    if (code != 0)
        target_close(&opened);
    else
        *target = opened;
    return code;
}
