/* tests/disk/recorder: a file system (FUSE) with one file, `disk`, that records what a disk would get.
 *
 * usage: recorder -o log=FILE,size=BYTES[,flush_us=N] [FUSE options] MOUNTPOINT
 *
 * The file is kept in memory, and holds no zeroes at first, so that a file system over it shows what it never
 * wrote. For every write, range of zeroes and flush that succeeded the log gets five numbers of 64 bits: what
 * it was, when it began and when it had ended (CLOCK_MONOTONIC, ns), offset and length; a write's bytes
 * follow. They stand in the order in which they had ended, which is also that of the changes. flush_us: a
 * flush takes at least so long, as on a disk. */
#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include <errno.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NAME            "disk"
#define DISK_INO        2
#define NEVER_WRITTEN   0xa5
#define LOG_BUFFER_SIZE (1U << 20)

enum what { WRITE, ZEROES, FLUSH };

struct record {
    uint64_t what, begin_ns, end_ns, offset, n_bytes;
};

struct options {
    char *log;
    unsigned long size, flush_us;
};

static struct options options;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static unsigned char *disk;
static FILE *log_file;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Changes the disk and the log as one step. It has ended before the kernel hears of it, so that whatever the
 * kernel does next begins later. */
static int carry_out(struct record record, const char *bytes)
{
    size_t n = record.what == WRITE ? record.n_bytes : 0;
    if (record.offset > options.size || record.n_bytes > options.size - record.offset)
        return ENOSPC;
    pthread_mutex_lock(&lock);
    if (record.what == WRITE)
        memcpy(disk + record.offset, bytes, n);
    else if (record.what == ZEROES)
        memset(disk + record.offset, 0, record.n_bytes);
    record.end_ns = now_ns();
    bool is_logged = fwrite(&record, sizeof(record), 1, log_file) == 1 && fwrite(bytes, 1, n, log_file) == n;
    pthread_mutex_unlock(&lock);
    return is_logged ? 0 : EIO;
}

static struct stat status_of(fuse_ino_t ino)
{
    return (struct stat){.st_ino = ino,
                         .st_mode = ino == DISK_INO ? S_IFREG | 0600 : S_IFDIR | 0700,
                         .st_nlink = 1,
                         .st_uid = getuid(),
                         .st_gid = getgid(),
                         .st_size = ino == DISK_INO ? (off_t)options.size : 0,
                         .st_blocks = ino == DISK_INO ? (blkcnt_t)(options.size / 512) : 0,
                         .st_blksize = 4096};
}

static void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry = {.ino = DISK_INO, .attr = status_of(DISK_INO), .attr_timeout = 1e9};
    if (parent == FUSE_ROOT_ID && strcmp(name, NAME) == 0)
        fuse_reply_entry(request, &entry);
    else
        fuse_reply_err(request, ENOENT);
}

static void on_getattr(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
    struct stat status = status_of(ino);
    (void)info;
    fuse_reply_attr(request, &status, 1e9);
}

/* No page cache stands between the device and the log. */
static void on_open(fuse_req_t request, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    info->direct_io = 1;
    fuse_reply_open(request, info);
}

static void on_read(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    uint64_t at = (uint64_t)offset, left = at < options.size ? options.size - at : 0;
    (void)ino;
    (void)info;
    fuse_reply_buf(request, (const char *)disk + (left > 0 ? at : 0), size < left ? size : left);
}

static void on_write(fuse_req_t request, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
                     struct fuse_file_info *info)
{
    struct record record = {.what = WRITE, .begin_ns = now_ns(), .offset = (uint64_t)offset, .n_bytes = size};
    int error = carry_out(record, bytes);
    (void)ino;
    (void)info;
    if (error == 0)
        fuse_reply_write(request, size);
    else
        fuse_reply_err(request, error);
}

static void on_fsync(fuse_req_t request, fuse_ino_t ino, int data_only, struct fuse_file_info *info)
{
    struct record record = {.what = FLUSH, .begin_ns = now_ns()};
    (void)ino;
    (void)data_only;
    (void)info;
    usleep((useconds_t)options.flush_us);
    fuse_reply_err(request, carry_out(record, ""));
}

/* A discarded range reads as zeroes afterwards. */
static void on_fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length,
                         struct fuse_file_info *info)
{
    struct record record = {
        .what = ZEROES, .begin_ns = now_ns(), .offset = (uint64_t)offset, .n_bytes = (uint64_t)length};
    bool makes_zeroes = (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0;
    (void)ino;
    (void)info;
    fuse_reply_err(request, makes_zeroes ? carry_out(record, "") : EOPNOTSUPP);
}

static const struct fuse_lowlevel_ops operations = {
    .lookup = on_lookup,
    .getattr = on_getattr,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .fallocate = on_fallocate,
};

static const struct fuse_opt option_table[] = {{"log=%s", offsetof(struct options, log), 0},
                                               {"size=%lu", offsetof(struct options, size), 0},
                                               {"flush_us=%lu", offsetof(struct options, flush_us), 0},
                                               FUSE_OPT_END};

static bool open_disk(void)
{
    disk = mmap(NULL, options.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    log_file = fopen(options.log, "wbe");
    if (disk == MAP_FAILED || log_file == NULL)
        return false;
    memset(disk, NEVER_WRITTEN, options.size);
    return setvbuf(log_file, NULL, _IOFBF, LOG_BUFFER_SIZE) == 0;
}

/* Ends when the file system is unmounted or a signal comes. */
static int serve(struct fuse_session *session, const char *mountpoint)
{
    struct fuse_loop_config *config = fuse_loop_cfg_create();
    int result = 1;
    if (config == NULL)
        return 1;
    if (fuse_set_signal_handlers(session) == 0 && fuse_session_mount(session, mountpoint) == 0) {
        result = fuse_session_loop_mt(session, config) == 0 ? 0 : 1;
        fuse_session_unmount(session);
        fuse_remove_signal_handlers(session);
    }
    fuse_loop_cfg_destroy(config);
    return result;
}

int main(int argc, char **argv)
{
    struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
    struct fuse_cmdline_opts line = {0};
    int result = 2;
    if (fuse_opt_parse(&arguments, &options, option_table, NULL) != 0 ||
        fuse_parse_cmdline(&arguments, &line) != 0 || line.mountpoint == NULL || options.log == NULL ||
        options.size == 0 || !open_disk()) {
        fputs("usage: recorder -o log=FILE,size=BYTES[,flush_us=N] MOUNTPOINT\n", stderr);
        goto out;
    }
    struct fuse_session *session = fuse_session_new(&arguments, &operations, sizeof operations, NULL);
    if (session != NULL) {
        result = serve(session, line.mountpoint);
        fuse_session_destroy(session);
    }
    /* A log that is cut short would hide writes. */
    if (fclose(log_file) != 0)
        result = 1;
out:
    free(line.mountpoint);
    free(options.log);
    fuse_opt_free_args(&arguments);
    return result;
}
