/* User buffers that outlive the runs. */
#include "bench/io/arena.h"

#include "bench/base/rng.h"
#include "bench/host/hostinfo.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>

/* Share of the memory that may be used: mapping more succeeds, but touching it gets the process killed. */
#define ROOM_SHARE 0.5

void *arena_map(uint64_t size, int flags)
{
    size_t length = (size_t)size;
    return length == size
               ? mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0)
               : MAP_FAILED;
}

int arena_reserve(struct arena *arena, uint64_t size, uint64_t seed, struct err *err)
{
    if (size <= arena->size)
        return 0;
    struct hostinfo_memory_room room;
    hostinfo_find_memory_room(&room);
    void *memory = (double)size > ROOM_SHARE * room.bytes ? MAP_FAILED : arena_map(size, 0);
    if (memory == MAP_FAILED)
        return err_set(err, -ENOMEM,
                       "no memory for %" PRIu64
                       " bytes of I/O buffers; lower request size, queue depth or threads",
                       size);
    arena_free(arena); /* before the new one is touched */
    struct rng rng;
    rng_init(&rng, seed);
    rng_fill(&rng, memory, (size_t)size);
    arena->memory = memory;
    arena->size = (size_t)size;
    return 0;
}

void arena_free(struct arena *arena)
{
    if (arena->memory != NULL)
        munmap(arena->memory, arena->size);
    arena->memory = NULL;
    arena->size = 0;
}
