/* bench/collector/wrap_memory: the malloc family, for libfstune-memory.so. The calls go to whatever allocator
 * stands behind this library, libc's or another.
 *
 * Blocks that were allocated before the constructors ran, or by a child, are not known; freeing them changes
 * nothing. */
#include "bench/collector/memory_sink.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The recording program sets it to the path of the shared memory. */
#define VARIABLE "FSTUNE_PROFILE_HEAP"

/* As in collector.h; this library has no more of it. */
#define WRAPPER(RESULT, NAME, ...)                                                                           \
    RESULT wrapped_##NAME(__VA_ARGS__) __asm__(#NAME);                                                       \
    __attribute__((visibility("default"))) RESULT wrapped_##NAME(__VA_ARGS__)

#define CALLER __builtin_return_address(0)

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
} real;

static bool is_known; /* the real ones are */

/* What is asked for while they are looked up, by the one thread that there is then; never given back. */
static _Alignas(16) char early[16384];
static size_t n_early;

static void *take_early(size_t n)
{
    size_t at = n_early, room = (n + 15) & ~(size_t)15;
    if (n > sizeof early || room > sizeof early - at)
        return NULL;
    n_early += room;
    return early + at;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void look_up(void *function, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

/* False: the lookup is under way, and asks for memory itself. */
static bool find_real(void)
{
    static bool is_looking;
    if (__atomic_load_n(&is_known, __ATOMIC_ACQUIRE))
        return true;
    if (is_looking)
        return false;
    is_looking = true;
    look_up(&real.malloc, "malloc");
    look_up(&real.free, "free");
    look_up(&real.calloc, "calloc");
    look_up(&real.realloc, "realloc");
    look_up(&real.memalign, "memalign");
    look_up(&real.posix_memalign, "posix_memalign");
    look_up(&real.aligned_alloc, "aligned_alloc");
    __atomic_store_n(&is_known, true, __ATOMIC_RELEASE);
    return true;
}

static void leave(void)
{
    memory_sink_leave();
}

/* The path, /proc/PID/fd/N, names the recording program: one of its children is recorded, and no child of
 * that one. */
static int open_tables(void)
{
    const char *path = getenv(VARIABLE);
    if (path == NULL || strncmp(path, "/proc/", 6) != 0 || strtol(path + 6, NULL, 10) != getppid())
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

__attribute__((constructor)) static void attach(void)
{
    int saved = errno, fd = open_tables();
    struct stat status;
    bool is_attached = false;
    find_real();
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        is_attached = memory != MAP_FAILED && memory_sink_open(memory, size, (uint32_t)getpid());
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (is_attached)
        pthread_atfork(NULL, NULL, leave);
    errno = saved;
}

/* Returns the block. */
static void *taken(void *block, size_t n, const void *caller)
{
    if (block != NULL)
        memory_sink_take(block, n, caller);
    return block;
}

WRAPPER(void *, malloc, size_t n)
{
    return find_real() ? taken(real.malloc(n), n, CALLER) : take_early(n);
}

/* Memory that was never used is zero. */
WRAPPER(void *, calloc, size_t n, size_t size)
{
    if (find_real())
        return taken(real.calloc(n, size), n * size, CALLER);
    return size == 0 || n <= sizeof early / size ? take_early(n * size) : NULL;
}

WRAPPER(void, free, void *block)
{
    struct memory_given given;
    if (block == NULL || is_early(block) || !find_real())
        return;
    memory_sink_give(block, &given);
    real.free(block);
}

static void *move_early(const void *block, size_t n)
{
    size_t held = sizeof early - (size_t)((const char *)block - early);
    void *moved = find_real() ? real.malloc(n) : take_early(n);
    if (moved != NULL)
        memcpy(moved, block, n < held ? n : held);
    return moved;
}

/* The block is given away before the call, and taken back where it was not moved. */
static void *resize(void *block, size_t n, const void *caller)
{
    struct memory_given given;
    if (is_early(block))
        return move_early(block, n);
    if (!find_real())
        return block == NULL ? take_early(n) : NULL;
    bool is_given = block != NULL && memory_sink_give(block, &given);
    void *moved = real.realloc(block, n);
    if (moved == NULL && n > 0 && is_given)
        memory_sink_put_back(block, &given);
    return taken(moved, n, caller);
}

WRAPPER(void *, realloc, void *block, size_t n)
{
    return resize(block, n, CALLER);
}

WRAPPER(void *, reallocarray, void *block, size_t n, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(block, all, CALLER);
}

WRAPPER(void *, memalign, size_t alignment, size_t n)
{
    return find_real() ? taken(real.memalign(alignment, n), n, CALLER) : NULL;
}

WRAPPER(void *, aligned_alloc, size_t alignment, size_t n)
{
    return find_real() ? taken(real.aligned_alloc(alignment, n), n, CALLER) : NULL;
}

WRAPPER(int, posix_memalign, void **ret, size_t alignment, size_t n)
{
    int code = find_real() ? real.posix_memalign(ret, alignment, n) : ENOMEM;
    if (code == 0)
        taken(*ret, n, CALLER);
    return code;
}
