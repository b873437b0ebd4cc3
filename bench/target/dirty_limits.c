/* Limits of dirty memory: a guard process puts them back whatever happens to this one. */
#include "bench/target/dirty_limits.h"

#include "bench/base/full_io.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/target/dirty_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST_PAGES 16
#define NUMBER_SIZE 32

/* The guard's last word. */
enum { RESTORED = 1, BROKEN = 2 };

const struct dirty_limits_places dirty_limits_system = {"/proc/sys/vm", "/run/fstune"};

static const char *const names[DIRTY_N_VALUES] = {"dirty_bytes", "dirty_ratio", "dirty_background_bytes",
                                                  "dirty_background_ratio"};

enum { RECORD = DIRTY_N_VALUES, N_FILES };

/* All of these are opened before any limit changes. */
struct files {
    int fds[N_FILES]; /* of the values, and of the record of the old ones */
    struct dirty_record record;
};

/* Writes the value with the newline that the kernel wants. */
static int write_value(int fd, uint64_t value)
{
    char text[NUMBER_SIZE];
    size_t length = (size_t)snprintf(text, sizeof(text), "%" PRIu64 "\n", value);
    /* An ordinary file, as in tests, must not keep the end of a longer former value. */
    if (ftruncate(fd, 0) != 0 && errno != EINVAL && errno != EPERM && errno != EACCES)
        return -errno;
    return full_io_write(fd, text, length, 0, NULL);
}

static int read_limit(int fd, uint64_t *ret)
{
    char text[NUMBER_SIZE];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    if (n <= 0)
        return n < 0 ? -errno : -ENODATA;
    text[n] = '\0';
    *ret = strtoull(text, NULL, 10);
    return 0;
}

static void close_files(struct files *files)
{
    for (size_t i = 0; i < N_FILES; i++) {
        if (files->fds[i] >= 0)
            close(files->fds[i]);
    }
}

static int refuse_open(const char *directory, const char *name, int code, struct err *err)
{
    if (code == -EACCES || code == -EPERM || code == -EROFS)
        return err_set(err, code,
                       "%s/%s: may not be written to; dirty limits can be set by root, and in a container "
                       "only where /proc/sys is writable",
                       directory, name);
    return err_sys(err, code, "%s/%s: cannot be opened", directory, name);
}

/* Before the lock is ours, the values may be those of somebody whose guard is about to put others back. */
static int read_old(struct files *files, const char *directory, struct err *err)
{
    for (size_t i = 0; i < DIRTY_N_VALUES; i++) {
        int code = read_limit(files->fds[i], &files->record.old[i]);
        if (code < 0)
            return err_sys(err, code, "%s/%s: cannot be read", directory, names[i]);
    }
    return 0;
}

/* close_files in any case. */
static int open_files(struct files *files, const char *directory, struct err *err)
{
    char path[256];
    for (size_t i = 0; i < N_FILES; i++)
        files->fds[i] = -1;
    for (size_t i = 0; i < DIRTY_N_VALUES; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        files->fds[i] = open(path, O_RDWR | O_CLOEXEC);
        if (files->fds[i] < 0)
            return refuse_open(directory, names[i], -errno, err);
    }
    return 0;
}

/* Of a pair that is all 0 the kernel takes a ratio of 0 for no change, so that it is changed twice. What
 * somebody else has set since stays. */
static int restore_pair(const struct files *files, enum dirty_value bytes, enum dirty_value ratio,
                        uint64_t set_bytes, bool *ret_restored)
{
    const uint64_t *old = files->record.old;
    uint64_t now;
    int code = read_limit(files->fds[bytes], &now);
    if (code < 0 || now != set_bytes)
        return code;
    *ret_restored = true;
    if (old[bytes] > 0)
        return write_value(files->fds[bytes], old[bytes]);
    if (old[ratio] == 0)
        code = write_value(files->fds[ratio], 1);
    int last = write_value(files->fds[ratio], old[ratio]);
    return code < 0 ? code : last;
}

/* The record goes when nothing of what it holds is still to be done; until then the next fstune finds it. */
static int restore_all(const struct files *files, bool *ret_restored)
{
    *ret_restored = false;
    int hard =
        restore_pair(files, DIRTY_HARD_BYTES, DIRTY_HARD_RATIO, files->record.set_hard_bytes, ret_restored);
    int background = restore_pair(files, DIRTY_BACKGROUND_BYTES, DIRTY_BACKGROUND_RATIO,
                                  files->record.set_background_bytes, ret_restored);
    int code = hard < 0 ? hard : background;
    return code < 0 ? code : dirty_record_clear(files->fds[RECORD]);
}

/* The lowest descriptor from `from` on that the guard needs, or UINT_MAX. */
static unsigned next_kept(const struct files *files, int socket_fd, unsigned from)
{
    unsigned next = (unsigned)socket_fd >= from ? (unsigned)socket_fd : UINT_MAX;
    for (size_t i = 0; i < N_FILES; i++) {
        unsigned fd = (unsigned)files->fds[i];
        if (fd >= from && fd < next)
            next = fd;
    }
    return next;
}

/* Whoever waits for the end of our output must not wait for the guard. The limit on open files is no bound:
 * it may be a billion, or have been lowered when higher ones were open. A kernel without close_range leaves
 * them open until the guard ends. */
static void close_others(const struct files *files, int socket_fd)
{
    for (unsigned from = 0, kept; from != UINT_MAX; from = kept + 1) {
        kept = next_kept(files, socket_fd, from);
        if (kept > from)
            close_range(from, kept == UINT_MAX ? UINT_MAX : kept - 1, 0);
        if (kept == UINT_MAX)
            break;
    }
}

static void ignore_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    for (int number = 1; number < SIGRTMAX; number++)
        sigaction(number, &ignore, NULL);
}

/* Only what is safe after a fork of a process with threads. */
static _Noreturn void guard(const struct files *files, int socket_fd)
{
    char byte = 0;
    ssize_t n;
    setsid();
    ignore_signals();
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "-1000", 5) < 0)
        close(fd);
    close_others(files, socket_fd);
    if (write(socket_fd, &byte, 1) != 1)
        _exit(0);
    do {
        n = read(socket_fd, &byte, 1);
    } while (n > 0 || (n < 0 && errno == EINTR));
    bool restored;
    byte = restore_all(files, &restored) < 0 ? BROKEN : RESTORED;
    _exit(write(socket_fd, &byte, 1) == 1 && byte == RESTORED ? 0 : 1);
}

static int start_guard(struct dirty_limits *limits, const struct files *files, struct err *err)
{
    int fds[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return err_sys(err, -errno, "the guard of the dirty limits cannot be started");
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]); /* with a copy of this end the guard would never see it closed */
        guard(files, fds[1]);
    }
    int code = pid < 0 ? -errno : 0;
    close(fds[1]);
    unsigned n_tries = 0;
    ssize_t n = -1;
    if (pid > 0) {
        do {
            n = read(fds[0], &byte, 1);
        } while (n < 0 && retry_interrupted(&n_tries));
    }
    if (n == 1) {
        *limits = (struct dirty_limits){.guard_fd = fds[0], .guard = pid};
        return 0;
    }
    close(fds[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return err_sys(err, code < 0 ? code : -ECHILD, "the guard of the dirty limits cannot be started");
}

static int set_values(const struct files *files)
{
    int code = write_value(files->fds[DIRTY_HARD_BYTES], files->record.set_hard_bytes);
    return code < 0 ? code
                    : write_value(files->fds[DIRTY_BACKGROUND_BYTES], files->record.set_background_bytes);
}

static int check_values(uint64_t background_bytes, uint64_t hard_bytes, struct err *err)
{
    uint64_t least = LEAST_PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
    if (background_bytes >= least && background_bytes < hard_bytes)
        return 0;
    return err_set(err, -EINVAL,
                   "the background limit must be at least %" PRIu64 " bytes and below the hard limit", least);
}

int dirty_limits_check(const struct dirty_limits_places *places, uint64_t background_bytes,
                       uint64_t hard_bytes, struct err *err)
{
    struct files files;
    int code = check_values(background_bytes, hard_bytes, err);
    if (code < 0)
        return code;
    code = open_files(&files, places->limits, err);
    close_files(&files);
    return code;
}

/* The lock goes over to the guard, too, and ends when the old values stand again. */
static int open_record(struct files *files, const struct dirty_limits_places *places, struct err *err)
{
    bool restored;
    int code = dirty_record_open(places->record, true, &files->fds[RECORD], err);
    if (code < 0)
        return code == -EWOULDBLOCK ? err_set(err, -EBUSY, "%s", err != NULL ? err->text : "") : code;
    if (dirty_record_read(files->fds[RECORD], &files->record) && (code = restore_all(files, &restored)) < 0)
        return err_sys(err, code, "%s: the limits that another fstune left cannot be put back",
                       places->limits);
    return read_old(files, places->limits, err);
}

/* The old values are kept before the guard starts, and it starts before anything changes. */
static int keep_old(struct dirty_limits *limits, struct files *files,
                    const struct dirty_limits_places *places, struct err *err)
{
    int code = dirty_record_write(files->fds[RECORD], &files->record);
    if (code < 0)
        err_sys(err, code, "%s: the old dirty limits cannot be kept here", places->record);
    else
        code = start_guard(limits, files, err);
    if (code < 0)
        dirty_record_clear(files->fds[RECORD]);
    return code;
}

int dirty_limits_set(struct dirty_limits *limits, const struct dirty_limits_places *places,
                     uint64_t background_bytes, uint64_t hard_bytes, struct err *err)
{
    struct files files;
    int code = check_values(background_bytes, hard_bytes, err);
    if (code < 0)
        return code;
    /* Opened now: once a limit has changed, no opening may fail any more. */
    code = open_files(&files, places->limits, err);
    if (code == 0)
        code = open_record(&files, places, err);
    files.record.set_hard_bytes = hard_bytes;
    files.record.set_background_bytes = background_bytes;
    if (code == 0)
        code = keep_old(limits, &files, places, err);
    if (code == 0) {
        /* A copy of the lock: without a guard, too, no other fstune takes this one for dead. */
        limits->record_fd = fcntl(files.fds[RECORD], F_DUPFD_CLOEXEC, 0);
        limits->places = places;
        code = set_values(&files);
        if (code < 0) {
            dirty_limits_restore(limits, NULL);
            err_sys(err, code, "%s: the dirty limits cannot be set", places->limits);
        }
    }
    close_files(&files);
    return code;
}

int dirty_limits_recover(const struct dirty_limits_places *places, bool *ret_restored, struct err *err)
{
    struct files files;
    int record_fd, code;
    char path[128];
    *ret_restored = false;
    /* Also in a user namespace, whose root may not set them and sees files of the true root as nobody's. */
    snprintf(path, sizeof(path), "%s/dirty_bytes", places->limits);
    if (access(path, W_OK) != 0)
        return 0;
    code = dirty_record_open(places->record, false, &record_fd, err);
    bool is_left_to_the_next = code == -EMFILE || code == -ENFILE;
    if (code == -ENOENT || code == -EACCES || code == -EWOULDBLOCK || is_left_to_the_next)
        return 0;
    if (code < 0)
        return code;
    if (!dirty_record_read(record_fd, &files.record)) {
        close(record_fd);
        return 0;
    }
    code = open_files(&files, places->limits, err);
    files.fds[RECORD] = record_fd;
    if (code == 0 && (code = restore_all(&files, ret_restored)) < 0)
        err_sys(err, code, "%s: the limits that another fstune left cannot be put back", places->limits);
    close_files(&files);
    return code;
}

int dirty_limits_restore(struct dirty_limits *limits, struct err *err)
{
    char byte = 0;
    unsigned n_tries = 0;
    if (limits->guard_fd <= 0)
        return 0;
    /* Closing alone would not reach the guard while a child of ours has a copy of the descriptor. */
    shutdown(limits->guard_fd, SHUT_WR);
    while (read(limits->guard_fd, &byte, 1) < 0 && retry_interrupted(&n_tries)) {
    }
    close(limits->guard_fd);
    /* Where SIGCHLD is ignored there is no status, but the guard is gone then too. */
    n_tries = 0;
    while (waitpid(limits->guard, NULL, 0) < 0 && retry_interrupted(&n_tries)) {
    }
    const struct dirty_limits was = *limits;
    bool restored;
    *limits = (struct dirty_limits){0};
    if (byte != RESTORED)
        flock(was.record_fd, LOCK_UN);
    if (was.record_fd >= 0)
        close(was.record_fd);
    if (byte == RESTORED || dirty_limits_recover(was.places, &restored, NULL) == 0)
        return 0;
    return err_set(err, -EIO,
                   "the dirty limits could not be put back; the next fstune tries again; look at "
                   "vm.dirty_bytes and vm.dirty_background_bytes");
}

/* The kernel gives a group the share of the limits that its memory is of what can be dirty at all: free
 * memory and pages of files (mm/page-writeback.c, domain_dirty_limits). */
static double group_share(void)
{
    struct hostinfo_memory_room room;
    double free_bytes = 0, active = 0, inactive = 0;
    hostinfo_find_memory_room(&room);
    if (hostinfo_scan("/proc/meminfo", "MemFree", &free_bytes) != 0 ||
        hostinfo_scan("/proc/meminfo", "Active(file)", &active) != 0 ||
        hostinfo_scan("/proc/meminfo", "Inactive(file)", &inactive) != 0)
        return 1;
    double whole = free_bytes + active + inactive;
    return whole > 0 ? fmin(1, room.v2_bytes / whole) : 1;
}

int dirty_limits_thresholds(struct dirty_thresholds *ret)
{
    double background = 0, hard = 0, page = (double)sysconf(_SC_PAGESIZE);
    if (hostinfo_scan("/proc/vmstat", "nr_dirty_background_threshold", &background) != 0 ||
        hostinfo_scan("/proc/vmstat", "nr_dirty_threshold", &hard) != 0)
        return -ENOENT;
    double share = group_share();
    *ret = (struct dirty_thresholds){background * page * share, hard * page * share, share};
    return 0;
}
