/* bench/collector/collector: the memory that is shared with fstune, and the two halves of a call. */
#include "bench/collector/collector.h"

#include "bench/base/clock_quick.h"
#include "bench/collector/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_attached, is_restricted;
static pid_t owner;
static __thread uint32_t thread;

void *collector_real(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (address == NULL)
        _exit(127);
    return address;
}

bool collector_is_on(void)
{
    return is_attached && sink_is_on();
}

bool collector_is_followed(void)
{
    return is_attached && sink_is_followed();
}

uint64_t collector_now_ns(void)
{
    return clock_quick_ns();
}

uint32_t collector_thread(void)
{
    if (thread == 0)
        thread = is_restricted ? (uint32_t)((uintptr_t)&thread >> 6) : (uint32_t)syscall(SYS_gettid);
    return thread;
}

bool collector_owns_descriptors(void)
{
    return is_attached && (is_restricted || syscall(SYS_getpid) == owner);
}

void collector_restrict(void)
{
    sampler_leave();
    is_restricted = true;
    descriptors_restrict();
}

void collector_leave(void)
{
    sampler_leave();
    is_attached = false;
}

static void after_fork_in_parent(void)
{
    descriptors_share_all();
}

static void after_fork_in_child(void)
{
    thread = 0;
    if (!is_restricted)
        owner = (pid_t)syscall(SYS_getpid);
    if (is_attached)
        clock_quick_start();
    if (is_attached)
        sink_join(is_restricted ? 0 : (uint32_t)owner);
    sampler_after_fork();
    descriptors_share_all();
}

/* The descriptor is closed again: the program finds none that it did not open. */
__attribute__((constructor)) static void attach(void)
{
    int saved = errno;
    const char *path = getenv(COLLECTOR_VARIABLE);
    int fd = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *memory = (void *)syscall(SYS_mmap, 0L, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
        is_attached = memory != MAP_FAILED && sink_open(memory, size);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    owner = (pid_t)syscall(SYS_getpid);
    if (is_attached)
        clock_quick_start();
    if (is_attached)
        sink_join((uint32_t)owner);
    if (is_attached)
        pthread_atfork(NULL, after_fork_in_parent, after_fork_in_child);
    if (is_attached && sink_sample_ns() > 0)
        sampler_start();
    errno = saved;
}

static struct collector_call begin(int fd, int64_t offset, unsigned flags, bool is_second)
{
    struct collector_call call = {.fd = fd, .moves = offset < 0, .is_second = is_second};
    if (!collector_is_on()) {
        call.is_passed = collector_is_followed();
        return call;
    }
    int saved = errno;
    call.descriptor = descriptors_find(fd);
    call.is_other = call.descriptor == NULL;
    if (call.is_other)
        call.flags = flags | (descriptors_is_socket(fd) ? SINK_SOCKET : 0U);
    if (call.descriptor != NULL) {
        call.flags = flags | call.descriptor->flags;
        call.offset = call.moves ? descriptors_position(fd, call.descriptor) : (uint64_t)offset;
        /* What moves along is near what came before. */
        if (!call.moves)
            sink_expect(call.descriptor->file, call.offset);
        call.start_ns = collector_now_ns();
        if (!is_second)
            sink_begin(call.start_ns, 1);
    }
    errno = saved;
    return call;
}

struct collector_call collector_begin(int fd, int64_t offset, unsigned flags)
{
    return begin(fd, offset, flags, false);
}

struct collector_call collector_begin_second(int fd, int64_t offset, unsigned flags)
{
    return begin(fd, offset, flags, true);
}

static void take(const struct collector_call *call, uint64_t end_ns, uint64_t n_bytes)
{
    uint64_t offset = call->offset;
    bool appends = (call->flags & SINK_WRITES) != 0 && call->descriptor->appends;
    if (call->moves || appends)
        offset = descriptors_moved(call->fd, call->descriptor, offset, n_bytes);
    const struct sink_request request = {.start_ns = call->start_ns,
                                         .end_ns = end_ns,
                                         .file = call->descriptor->file,
                                         .handle = call->descriptor->handle,
                                         .thread = collector_thread(),
                                         .offset_bytes = offset,
                                         .n_bytes = n_bytes,
                                         .flags = call->flags};
    sink_take(&request);
}

/* What is not recorded moves the descriptor all the same. */
static ssize_t pass(const struct collector_call *call, ssize_t result)
{
    if (result <= 0)
        return result;
    if (call->moves)
        descriptors_passed(call->fd, (uint64_t)result);
    sink_add(SINK_PASSED, (uint64_t)result);
    return result;
}

ssize_t collector_end(const struct collector_call *call, ssize_t result)
{
    if (call->descriptor == NULL && !call->is_other)
        return call->is_passed ? pass(call, result) : result;
    int saved = errno;
    if (call->is_other) {
        sink_add(SINK_OTHER, result > 0 ? (uint64_t)result : 0);
        if (result > 0 && (call->flags & SINK_SOCKET) != 0)
            sink_network(collector_thread(), call->flags & SINK_WRITES, (uint64_t)result);
        errno = saved;
        return result;
    }
    uint64_t now_ns = collector_now_ns();
    if (!call->is_second)
        sink_end(now_ns, 1);
    /* One that ends in a pause took time that is not told, and so its bytes are not, either. */
    if (!collector_is_on())
        pass(call, result);
    else if (result > 0)
        take(call, now_ns, (uint64_t)result);
    else
        sink_add(result < 0 ? SINK_FAILED : SINK_EMPTY_READ, 1);
    errno = saved;
    return result;
}

int collector_flushed(int fd, uint64_t start_ns, int result)
{
    int saved = errno;
    const struct descriptor *descriptor = collector_is_on() && result == 0 ? descriptors_find(fd) : NULL;
    if (descriptor != NULL)
        sink_flush(descriptor->file, start_ns, collector_now_ns());
    errno = saved;
    return result;
}
