/* bench/run/replay_warm: touched memory for the page cache to take.
 *
 *
 * Free pages that a virtual machine has handed back to its host cost ten times more to touch, and Linux hands
 * large free pages back after 2 s. So memory is touched before the first write, and given back only just
 * before it is needed: what was freed last is taken first. */
#include "bench/host/hostinfo.h"
#include "bench/io/arena.h"
#include "bench/run/replay_internal.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

/* Given back in whole pieces of a size that large pages of the page cache are made of; and so much more than
 * a write needs, because others take some. */
#define PIECE_BYTES  (4ULL << 20)
#define MARGIN_BYTES (16ULL << 20)

/* Half of what this process may use: a memory cgroup has less than the machine, and ends who takes more. */
static uint64_t room_bytes(void)
{
    struct hostinfo_memory_room room;
    hostinfo_find_memory_room(&room);
    return isfinite(room.bytes) ? (uint64_t)(room.bytes / 2) : 0;
}

static uint64_t cache_bytes(const struct replay_plan *plan)
{
    uint64_t bytes = MARGIN_BYTES, room = room_bytes();
    for (size_t i = 0; i < plan->n && bytes < room; i++)
        bytes += plan->writes[i].size_bytes;
    return (bytes < room ? bytes : room) / PIECE_BYTES * PIECE_BYTES;
}

void replay_warm_open(struct replay_warm *warm, const struct replay_plan *plan)
{
    *warm = (struct replay_warm){0};
    uint64_t bytes = plan->first_touch || plan->mode == REPLAY_DIRECT ? 0 : cache_bytes(plan);
    if (bytes == 0)
        return;
    unsigned char *memory = arena_map(bytes, MAP_NORESERVE);
    if (memory == MAP_FAILED)
        return;
    *warm = (struct replay_warm){.memory = memory, .size_bytes = bytes};
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (uint64_t at = 0; at < bytes; at += page) {
        if (at % PIECE_BYTES == 0 && plan->interrupted != NULL && atomic_load(plan->interrupted) != 0)
            return;
        *(volatile unsigned char *)(memory + at) = 1;
    }
}

bool replay_warm_give(struct replay_warm *warm, uint64_t size_bytes)
{
    warm->wanted_bytes += size_bytes;
    uint64_t end = warm->wanted_bytes + MARGIN_BYTES;
    end = end < warm->size_bytes ? end / PIECE_BYTES * PIECE_BYTES : warm->size_bytes;
    if (end <= warm->given_bytes)
        return false;
    (void)madvise(warm->memory + warm->given_bytes, end - warm->given_bytes, MADV_DONTNEED);
    warm->given_bytes = end;
    return true;
}

void replay_warm_close(struct replay_warm *warm)
{
    if (warm->memory != NULL)
        munmap(warm->memory, warm->size_bytes);
    *warm = (struct replay_warm){0};
}
