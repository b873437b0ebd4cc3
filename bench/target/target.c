/* bench/target/target: opening, creating and closing the file that is measured. */
#include "bench/target/target.h"

#include "bench/base/access.h"
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/target/target_internal.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* A name that was not removed would stay behind, so removing it is tried twice. */
#define UNLINK_TRIES 3

/* Of the kernel's sources; linux/magic.h lacks them. */
#define CONFIGFS_MAGIC 0x62656570U
#define MQUEUE_MAGIC   0x19800202U
#define FUSECTL_MAGIC  0x65735543U

/* Descriptors that are left for everything else that the program opens. */
#define OTHER_DESCRIPTORS 64

uint32_t target_n_files(const struct target *target)
{
    return target->n_files > 1 ? target->n_files : 1;
}

uint64_t target_file_bytes(const struct target *target)
{
    return target->size_bytes / target_n_files(target);
}

const int *target_fds(const struct target *target)
{
    return target->n_files > 1 ? target->fds : &target->fd;
}

struct target target_one(const struct target *target, uint32_t file)
{
    struct target one = *target;
    one.fd = target_fds(target)[file];
    one.size_bytes = target_file_bytes(target);
    one.n_files = 1;
    one.fds = NULL;
    return one;
}

void target_allow_descriptors(uint64_t n)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    rlim_t wanted = n + OTHER_DESCRIPTORS;
    if (limit.rlim_max != RLIM_INFINITY && wanted > limit.rlim_max)
        wanted = limit.rlim_max;
    if (wanted <= limit.rlim_cur)
        return;
    limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* A working directory can outlive its name; nothing can be created in it then, whatever access() says. Some
 * file systems give directories 0 links always, and a name may look like anything: both signs are needed. */
static bool is_removed(int dir_fd)
{
    static const char sign[] = " (deleted)";
    char link[32], path[4096];
    struct stat status;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
    ssize_t n = readlink(link, path, sizeof(path));
    return n > (ssize_t)strlen(sign) && memcmp(path + n - strlen(sign), sign, strlen(sign)) == 0 &&
           fstat(dir_fd, &status) == 0 && status.st_nlink == 0;
}

/* Runs open the file anew through it: asked before the file is filled. */
static int check_proc(const char *name, struct err *err)
{
    if (access("/proc/self/fd", F_OK) == 0)
        return 0;
    return err_set(err, -ENODEV, "%s: cannot be reopened because /proc is not mounted; mount it", name);
}

/* Some of them let anybody call creat() and fail then with an error that says little; none has O_TMPFILE,
 * which would tell before. */
static bool is_kernels_own(int dir_fd)
{
    static const uint32_t kinds[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,  DEBUGFS_MAGIC,
        TRACEFS_MAGIC,    SECURITYFS_MAGIC, PSTOREFS_MAGIC,     BPF_FS_MAGIC,         DEVPTS_SUPER_MAGIC,
        SELINUX_MAGIC,    EFIVARFS_MAGIC,   BINFMTFS_MAGIC,     RDTGROUP_SUPER_MAGIC, AUTOFS_SUPER_MAGIC,
        CONFIGFS_MAGIC,   MQUEUE_MAGIC,     FUSECTL_MAGIC};
    struct statfs kind;
    bool found = false;
    if (fstatfs(dir_fd, &kind) != 0)
        return false;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && !found; i++)
        found = (uint32_t)kind.f_type == kinds[i];
    return found;
}

/* O_PATH: a directory that may be written to but not listed is good enough. */
int target_open_directory(const char *path, int *ret_fd, struct err *err)
{
    if (check_proc(path, err) < 0)
        return -ENODEV;
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        int code = -errno;
        if (code == -ENOTDIR)
            return err_set(err, code, "%s: is not a directory; give --path a directory", path);
        if (code == -ENOENT)
            return err_set(err, code, "%s: there is no such directory; create it or give another --path",
                           path);
        return err_sys(err, code, "%s: cannot be opened as the directory of the target file", path);
    }
    if (is_removed(fd)) {
        close(fd);
        return err_set(err, -ENOENT, "%s: the directory has been removed; give another --path", path);
    }
    if (is_kernels_own(fd)) {
        close(fd);
        return err_set(
            err, -EOPNOTSUPP,
            "%s: is a view of the kernel, not a place for files; give --path a directory of a file "
            "system that keeps data",
            path);
    }
    /* Asked before anything is created, so that a dry run finds the same faults as the real one. */
    int code = access_directory(fd, ".");
    if (code < 0) {
        close(fd);
        if (code == -EROFS)
            return err_set(err, code, "%s: the file system is read-only; give --path a writable directory",
                           path);
        return err_sys(err, code, "%s: no file can be created here; give --path a directory you may write to",
                       path);
    }
    *ret_fd = fd;
    return 0;
}

/* EISDIR: a kernel without O_TMPFILE; ENOENT and EINVAL: seen from network and FUSE file systems. */
static bool means_no_tmpfile(int code)
{
    return code == -EOPNOTSUPP || code == -EISDIR || code == -ENOENT || code == -EINVAL;
}

static int open_tmpfile(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

static bool is_smb(int dir_fd)
{
    struct statfs kind;
    return fstatfs(dir_fd, &kind) == 0 &&
           ((uint32_t)kind.f_type == SMB2_SUPER_MAGIC || (uint32_t)kind.f_type == CIFS_SUPER_MAGIC);
}

/* SMB asks by names, so that a file without one can be written to, and neither opened again nor asked. */
static int check_reopens(int fd, const char *directory, struct err *err)
{
    int again;
    int code = target_reopen(fd, directory, O_RDONLY, &again, NULL);
    if (code == 0)
        close(again);
    if (code != -ENOENT && code != -ESTALE)
        return 0; /* other errors are told where they matter */
    return err_set(err, -EOPNOTSUPP,
                   "%s: this file system (SMB is one) cannot open a file again that has no name left; make a "
                   "file there and give it by --existing",
                   directory);
}

int target_create_named(int dir_fd, const char *directory, char name[TARGET_NAME_SIZE], int *ret_fd,
                        struct err *err)
{
    snprintf(name, TARGET_NAME_SIZE, ".fstune-%016" PRIx64, rng_seed_from_system());
    int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(err, -errno, "the target file in %s: cannot be created", directory);
    *ret_fd = fd;
    return 0;
}

int target_remove_name(int dir_fd, const char *directory, const char *name, struct err *err)
{
    int code = 0;
    for (int i = 0; i < UNLINK_TRIES; i++) {
        code = unlinkat(dir_fd, name, 0) == 0 ? 0 : -errno;
        if (code == 0 || code == -ENOENT) /* -ENOENT: somebody else has removed it */
            return 0;
    }
    return err_sys(err, code, "%s/%s: was created and cannot be removed again; remove it", directory, name);
}

/* For file systems without O_TMPFILE: the name exists for a moment only and nobody can have prepared a link
 * under it. */
static int create_and_unlink(int dir_fd, const char *directory, int *ret_fd, struct err *err)
{
    char name[TARGET_NAME_SIZE];
    int fd, code = target_create_named(dir_fd, directory, name, &fd, err);
    if (code != 0)
        return code;
    code = target_remove_name(dir_fd, directory, name, err);
    if (code == 0)
        code = check_reopens(fd, directory, err);
    if (code == 0)
        *ret_fd = fd;
    else
        close(fd);
    return code;
}

/* A file without a name and without contents, at once closed, shows quotas and security modules that refuse
 * the real one. Only where it shows most is one with a name tried, which changes the directory. */
static int try_nameless(int dir_fd, const char *directory, struct err *err)
{
    int fd = open_tmpfile(dir_fd), code = 0;
    if (fd < 0 && means_no_tmpfile(fd) && is_smb(dir_fd))
        code = create_and_unlink(dir_fd, directory, &fd, err);
    else if (fd < 0 && !means_no_tmpfile(fd))
        code = err_sys(err, fd, "the target file in %s: cannot be created", directory);
    if (fd >= 0)
        close(fd);
    return code;
}

int target_estimate(const struct target_plan *plan, uint64_t *ret_size_bytes, struct err *err)
{
    uint64_t available;
    int dir_fd;
    int code = target_open_directory(plan->directory, &dir_fd, err);
    if (code != 0)
        return code;
    if (plan->tries)
        code = try_nameless(dir_fd, plan->directory, err);
    if (code == 0 && plan->prepare_script != NULL && access(plan->prepare_script, R_OK) != 0)
        code = err_sys(err, -errno, "--prepare %s: cannot be read", plan->prepare_script);
    if (code == 0)
        code = target_available(dir_fd, plan->directory, &available, NULL, err);
    close(dir_fd);
    return code != 0 ? code : target_plan_size(plan, available, ret_size_bytes, err);
}

int target_create_nameless(int dir_fd, const char *directory, int *ret_fd, bool *ret_tmpfile, struct err *err)
{
    int fd = open_tmpfile(dir_fd);
    *ret_tmpfile = fd >= 0;
    if (fd >= 0) {
        *ret_fd = fd;
        return 0;
    }
    if (means_no_tmpfile(fd))
        return create_and_unlink(dir_fd, directory, ret_fd, err);
    return err_sys(err, fd, "the target file in %s: cannot be created", directory);
}

/* Makes the other files of plan->n_files beside target->fd, still empty. */
static int create_others(struct target *target, const struct target_plan *plan, int dir_fd, struct err *err)
{
    bool tmpfile;
    if (plan->n_files <= 1)
        return 0;
    target_allow_descriptors(plan->n_files);
    target->fds = calloc(plan->n_files, sizeof *target->fds);
    if (target->fds == NULL)
        return err_set(err, -ENOMEM, "%s: no memory for %u files", target->name, plan->n_files);
    target->fds[0] = target->fd;
    target->n_files = 1;
    for (uint32_t i = 1; i < plan->n_files; i++) {
        int code = target_create_nameless(dir_fd, plan->directory, &target->fds[i], &tmpfile, err);
        if (code == -EMFILE)
            return err_set(err, code,
                           "%s: %u files cannot be open at a time; raise the limit (ulimit -n) or lower "
                           "--files",
                           target->name, plan->n_files);
        if (code != 0)
            return code;
        target->n_files = i + 1;
    }
    return 0;
}

static int take_region(struct target *target, const struct target_plan *plan, uint64_t *ret_size_bytes,
                       struct err *err)
{
    const struct target_region *region = &plan->region;
    target->fd = region->fd;
    target->tmpfile = region->tmpfile;
    target->base_bytes = region->index * region->distance_bytes;
    if (ret_size_bytes != NULL)
        *ret_size_bytes = region->size_bytes;
    return target_available(target->fd, target->name, &target->available_bytes, &target->fs_block_bytes, err);
}

int target_create_empty(struct target *target, const struct target_plan *plan, uint64_t *ret_size_bytes,
                        struct err *err)
{
    int dir_fd;
    snprintf(target->name, sizeof(target->name), "the target file in %s", plan->directory);
    if (plan->region.fd > 0)
        return take_region(target, plan, ret_size_bytes, err);
    int code = target_open_directory(plan->directory, &dir_fd, err);
    if (code != 0)
        return code;
    code = target_available(dir_fd, plan->directory, &target->available_bytes, &target->fs_block_bytes, err);
    if (code == 0 && ret_size_bytes != NULL)
        code = target_plan_size(plan, target->available_bytes, ret_size_bytes, err);
    if (code == 0)
        code = target_create_nameless(dir_fd, plan->directory, &target->fd, &target->tmpfile, err);
    if (code == 0)
        code = create_others(target, plan, dir_fd, err);
    close(dir_fd);
    return code;
}

/* Where names only change when files are unlinked, those of a machine that crashes stay. */
static void remove_left(struct target *target, const struct target_plan *plan)
{
    struct target_left_owner self;
    int dir_fd = open(plan->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return;
    target_left_self(&self);
    target_left_remove(dir_fd, target->fd, &self, &target->left);
    close(dir_fd);
}

/* Behind the data, and after them: not every file system has holes. A file is as good without its mark, so
 * what may be written bounds it. */
static void mark(struct target *target, const struct target_plan *plan)
{
    struct target_left_owner self;
    const struct target_region *region = &plan->region;
    uint64_t end_bytes = region->fd > 0 ? region->n * region->distance_bytes : target_file_bytes(target);
    target_left_self(&self);
    /* Of a shared file it is the maker's machine that may have to remove it. */
    for (uint32_t i = 0; i < target_n_files(target) && region->index == 0; i++) {
        if (plan->max_write_bytes - target->filled_bytes < TARGET_LEFT_BYTES + plan->other_bytes)
            return;
        int code = target_left_mark(target_fds(target)[i], end_bytes, &self);
        target->filled_bytes +=
            code == -ENODATA ? 0 : TARGET_LEFT_BYTES; /* a failed one may be there in part */
        if (code != 0)
            return;
    }
}

/* Everything is put together in `made`, so that the caller's struct stays untouched until it is complete. */
int target_create(struct target *target, const struct target_plan *plan, struct err *err)
{
    struct target made = {.owned = true, .writable = true};
    uint64_t size_bytes;
    int code = target_create_empty(&made, plan, &size_bytes, err);
    if (code == 0 && plan->prepare_script != NULL)
        code = target_prepare(&made, plan, err);
    if (code == 0 && plan->verify != NULL)
        code = verify_open(plan->verify, size_bytes, plan->n_files, plan->seed, err);
    if (code == 0 && !made.tmpfile)
        remove_left(&made, plan);
    if (code == 0)
        code = target_fill(&made, plan, size_bytes, err);
    if (code == 0 && !made.tmpfile)
        mark(&made, plan);
    if (code == 0) {
        *target = made;
        return 0;
    }
    target->filled_bytes = made.filled_bytes;
    target_close(&made);
    return code;
}

static void close_others(struct target *target)
{
    for (uint32_t i = 1; target->fds != NULL && i < target->n_files; i++)
        close(target->fds[i]);
    free(target->fds);
    target->fds = NULL;
    target->n_files = 0;
}

void target_close(struct target *target)
{
    if (target == NULL)
        return;
    close_others(target);
    if (target->fd < 1)
        return;
    close(target->fd);
    target->fd = 0;
}

int target_reopen(int fd, const char *name, int flags, int *ret_fd, struct err *err)
{
    /* The name may be gone, and a second descriptor must have its own flags: dup would share them. */
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = open(path, flags | O_CLOEXEC | O_NOCTTY);
    if (opened >= 0) {
        *ret_fd = opened;
        return 0;
    }
    int code = -errno;
    if (code == -ENOENT && check_proc(name, err) < 0)
        return -ENODEV;
    if (code == -EINVAL && (flags & O_DIRECT) != 0)
        return err_set(err, code, "%s: its file system has no direct I/O (O_DIRECT)", name);
    return err_sys(err, code, "%s: cannot be opened", name);
}

int target_open_run(const struct target *target, bool direct, bool write, int *ret_fd, struct err *err)
{
    return target_open_file(target, 0, direct, write, ret_fd, err);
}

int target_open_file(const struct target *target, uint32_t file, bool direct, bool write, int *ret_fd,
                     struct err *err)
{
    if (write && !target->writable)
        return err_set(err, -EPERM, "%s: was opened for reading only", target->name);
    uint64_t now_bytes;
    /* Writing on would make a user's file long again that somebody has cut meanwhile. */
    if (!target->owned && target_size_of(target->fd, &now_bytes) == 0 && now_bytes < target->size_bytes)
        return err_set(err, -ESTALE, "%s: %s; nothing more is measured", target->name,
                       target->is_device && now_bytes == 0
                           ? "is gone: it was removed, or its image or medium was taken out"
                           : "has been made shorter by somebody else");
    return target_reopen(target_fds(target)[file], target->name,
                         (write ? O_RDWR : O_RDONLY) | (direct ? O_DIRECT : 0), ret_fd, err);
}

int target_sync(const struct target *target)
{
    int code = 0;
    for (uint32_t i = 0; i < target_n_files(target) && code == 0; i++)
        code = full_io_sync(target_fds(target)[i]);
    return code;
}

int target_flush(const struct target *target, struct err *err)
{
    int code = target_sync(target);
    if (code != 0)
        return err_io(err, code, "%s: fdatasync failed; what was written may be lost", target->name);
    return 0;
}
