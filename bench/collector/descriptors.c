/* bench/collector/descriptors: a table by number, filled on first use. */
#include "bench/collector/descriptors.h"

#include "bench/collector/sink.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 65536

/* UNKNOWN may have come from anywhere; FRESH was opened here; BUSY is being looked at; OTHER is no file. */
enum { UNKNOWN, FRESH, BUSY, OTHER, FILE_KNOWN };

static struct descriptor table[MOST];
static int highest;
static bool is_restricted;

static struct descriptor *slot_of(int fd)
{
    return fd >= 0 && fd < MOST ? &table[fd] : NULL;
}

static uint32_t state_of(const struct descriptor *descriptor)
{
    return __atomic_load_n(&descriptor->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct descriptor *descriptor, uint32_t state)
{
    __atomic_store_n(&descriptor->state, state, __ATOMIC_RELEASE);
}

/* The wrappers are passed by: what is asked here is no act of the program. */
static int64_t real_position(int fd)
{
    if (is_restricted)
        return -1;
    return syscall(SYS_lseek, fd, 0L, SEEK_CUR);
}

static bool is_system_file(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
           strncmp(path, "/memfd:", 7) == 0;
}

static unsigned flags_of(long status)
{
    unsigned flags = 0;
    if ((status & O_DIRECT) != 0)
        flags |= SINK_DIRECT;
    if ((status & O_DSYNC) != 0)
        flags |= SINK_DURABLE;
    return flags;
}

static bool look(int fd, struct descriptor *descriptor, bool is_fresh)
{
    struct stat status;
    char link[32], path[PATH_MAX];
    long modes = syscall(SYS_fcntl, fd, F_GETFL, 0L);
    if (modes < 0 || (modes & O_PATH) != 0 || fstat(fd, &status) != 0)
        return false;
    descriptor->flags = S_ISSOCK(status.st_mode) ? SINK_SOCKET : 0;
    if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode))
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (is_system_file(path))
        return false;
    int64_t position = real_position(fd);
    descriptor->file = ((uint64_t)status.st_dev << 40) ^ (uint64_t)status.st_ino ^
                       (S_ISBLK(status.st_mode) ? (uint64_t)status.st_rdev << 20 : 0);
    descriptor->file += descriptor->file == 0;
    descriptor->handle = sink_new_handle();
    descriptor->position = position > 0 ? (uint64_t)position : 0;
    descriptor->flags = flags_of(modes);
    descriptor->appends = (modes & O_APPEND) != 0;
    descriptor->is_shared = !is_fresh;
    sink_name(descriptor->file, path);
    return true;
}

static struct descriptor *adopt(int fd, struct descriptor *descriptor)
{
    uint32_t before = state_of(descriptor);
    if (before >= BUSY || !__atomic_compare_exchange_n(&descriptor->state, &before, BUSY, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return NULL;
    bool is_file = look(fd, descriptor, before == FRESH);
    int high = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    while (high < fd &&
           !__atomic_compare_exchange_n(&highest, &high, fd, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    set_state(descriptor, is_file ? FILE_KNOWN : OTHER);
    return is_file ? descriptor : NULL;
}

struct descriptor *descriptors_find(int fd)
{
    struct descriptor *descriptor = slot_of(fd);
    if (descriptor == NULL) {
        if (fd >= 0)
            sink_add(SINK_LOST, 1);
        return NULL;
    }
    uint32_t state = state_of(descriptor);
    if (state == FILE_KNOWN)
        return descriptor;
    if (state == OTHER)
        return NULL;
    if (state == BUSY || is_restricted) {
        sink_add(SINK_LOST, 1);
        return NULL;
    }
    return adopt(fd, descriptor);
}

bool descriptors_is_socket(int fd)
{
    const struct descriptor *descriptor = slot_of(fd);
    return descriptor != NULL && state_of(descriptor) == OTHER && (descriptor->flags & SINK_SOCKET) != 0;
}

void descriptors_forget(int fd)
{
    struct descriptor *descriptor = slot_of(fd);
    if (descriptor == NULL || state_of(descriptor) == UNKNOWN)
        return;
    if (state_of(descriptor) == FILE_KNOWN)
        sink_close(descriptor->file, descriptor->handle);
    set_state(descriptor, UNKNOWN);
}

void descriptors_forget_range(unsigned first, unsigned last)
{
    unsigned high = (unsigned)__atomic_load_n(&highest, __ATOMIC_RELAXED);
    for (unsigned fd = first; fd <= last && fd <= high; fd++)
        descriptors_forget((int)fd);
}

void descriptors_opened(int fd)
{
    struct descriptor *descriptor = slot_of(fd);
    if (descriptor == NULL)
        return;
    descriptors_forget(fd);
    set_state(descriptor, FRESH);
}

void descriptors_copied(int from, int to)
{
    struct descriptor *source = slot_of(from), *copy = slot_of(to);
    if (from == to || source == NULL || copy == NULL)
        return;
    descriptors_forget(to);
    if (state_of(source) == FRESH)
        set_state(source, UNKNOWN);
    if (state_of(source) != FILE_KNOWN)
        return;
    source->is_shared = true;
    *copy = *source;
    int high = __atomic_load_n(&highest, __ATOMIC_RELAXED);
    if (high < to)
        __atomic_store_n(&highest, to, __ATOMIC_RELAXED);
}

void descriptors_share_all(void)
{
    for (int fd = 0; fd <= highest; fd++) {
        if (table[fd].state == FRESH)
            table[fd].state = UNKNOWN;
        table[fd].is_shared = true;
    }
}

void descriptors_restrict(void)
{
    is_restricted = true;
}

uint64_t descriptors_position(int fd, const struct descriptor *descriptor)
{
    int64_t position = descriptor->is_shared ? real_position(fd) : 0;
    return position > 0 ? (uint64_t)position : is_restricted ? descriptor->position : 0;
}

/* What is appended begins at the end of the file, which only the kernel knows. */
uint64_t descriptors_moved(int fd, struct descriptor *descriptor, uint64_t began, uint64_t n_bytes)
{
    if (descriptor->appends && !is_restricted) {
        int64_t position = real_position(fd);
        return position >= (int64_t)n_bytes ? (uint64_t)position - n_bytes : 0;
    }
    if (descriptor->is_shared && !is_restricted)
        return began;
    return __atomic_fetch_add(&descriptor->position, n_bytes, __ATOMIC_RELAXED);
}

void descriptors_passed(int fd, uint64_t n_bytes)
{
    struct descriptor *descriptor = slot_of(fd);
    if (descriptor != NULL && state_of(descriptor) == FILE_KNOWN)
        __atomic_fetch_add(&descriptor->position, n_bytes, __ATOMIC_RELAXED);
}

void descriptors_placed(int fd, uint64_t position)
{
    struct descriptor *descriptor = slot_of(fd);
    if (descriptor != NULL && state_of(descriptor) == FILE_KNOWN)
        __atomic_store_n(&descriptor->position, position, __ATOMIC_RELAXED);
}
