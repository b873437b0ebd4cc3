/* tuner/profile/memory_sink: what the wrappers of the heap see goes into the heap's tables. Part of
 * libfstune-memory.so alone. */
#include "bench/collector/memory_sink.h"

#include "bench/base/clock.h"
#include "models/profile/heap.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct heap *heap; /* NULL: nothing is recorded */
static char program[HEAP_NAME_SIZE];

bool memory_sink_open(void *memory, size_t size, uint32_t pid)
{
    struct heap *found = memory;
    if (!heap_is_sound(found, size) || !heap_join(found, pid))
        return false;
    long n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    heap = found;
    return true;
}

void memory_sink_leave(void)
{
    heap = NULL;
}

/* Of what libc offers for this, the one that takes no lock; older ones have none. */
static bool find(uint64_t address, struct heap_place *ret)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0 || found.dlfo_link_map == NULL)
        return false;
    const char *name = found.dlfo_link_map->l_name;
    *ret = (struct heap_place){.base = found.dlfo_link_map->l_addr,
                               .name = name != NULL && name[0] != '\0' ? name : program};
    return true;
#else
    (void)address;
    (void)ret;
    return false;
#endif
}

static uint64_t now_ns(void)
{
    return clock_now_ns(&clock_monotonic);
}

static bool is_on(void)
{
    return heap != NULL && __atomic_load_n(&heap->is_stopped, __ATOMIC_RELAXED) == 0;
}

void memory_sink_take(const void *block, size_t n_bytes, const void *address)
{
    if (is_on())
        heap_take(heap, (uintptr_t)block, n_bytes, (uintptr_t)address, find, now_ns);
}

bool memory_sink_give(const void *block, struct memory_given *ret)
{
    struct heap_given given;
    if (!is_on() || !heap_give(heap, (uintptr_t)block, &given))
        return false;
    *ret = (struct memory_given){given.site, given.n_bytes};
    return true;
}

void memory_sink_put_back(const void *block, const struct memory_given *given)
{
    const struct heap_given back = {given->site, given->n_bytes};
    if (heap != NULL)
        heap_put_back(heap, (uintptr_t)block, &back);
}
