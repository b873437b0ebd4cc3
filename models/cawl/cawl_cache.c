/* The dirty part of the page cache, as blocks. */
#include "models/cawl/cawl_internal.h"

#include <math.h>

static void enlist(struct cawl_cache *cache, enum cawl_list list, uint32_t entered, uint32_t after)
{
    struct cawl_age *ages = cache->map.ages;
    uint32_t next = after == CAWL_NONE ? cache->head[list] : ages[after].next;

    cache->map.blocks[entered].list = list;
    ages[entered].prev = after;
    ages[entered].next = next;
    *(after == CAWL_NONE ? &cache->head[list] : &ages[after].next) = entered;
    *(next == CAWL_NONE ? &cache->tail[list] : &ages[next].prev) = entered;
    cache->bytes[list] += cache->map.blocks[entered].size;
}

static void delist(struct cawl_cache *cache, uint32_t left)
{
    struct cawl_age *ages = cache->map.ages, *age = &ages[left];
    uint32_t list = cache->map.blocks[left].list;

    *(age->prev == CAWL_NONE ? &cache->head[list] : &ages[age->prev].next) = age->next;
    *(age->next == CAWL_NONE ? &cache->tail[list] : &ages[age->next].prev) = age->prev;
    cache->bytes[list] -= cache->map.blocks[left].size;
}

static void add_fresh(struct cawl_cache *cache, uint32_t file, uint64_t begin, uint64_t end, double endtime)
{
    uint32_t added = cawl_map_add(&cache->map, file, begin, end - begin);

    cache->map.ages[added].endtime = endtime;
    enlist(cache, CAWL_FRESH, added, cache->tail[CAWL_FRESH]);
}

/* The block keeps what lies from offset on; what lies before becomes a block of its own, of the same age and
 * list. */
static uint32_t cut(struct cawl_cache *cache, uint32_t block, uint64_t offset)
{
    struct cawl_block old = cache->map.blocks[block];
    uint64_t size = offset - old.offset;

    cawl_cache_clean(cache, block, size);

    uint32_t front = cawl_map_add(&cache->map, old.file, old.offset, size);

    cache->map.ages[front].endtime = cache->map.ages[block].endtime;
    enlist(cache, old.list, front, cache->map.ages[block].prev);
    return front;
}

static void activate(struct cawl_cache *cache, uint32_t block, double endtime)
{
    delist(cache, block);
    cache->map.ages[block].endtime = endtime;
    enlist(cache, CAWL_ACTIVE, block, cache->tail[CAWL_ACTIVE]);
}

/* The block begins where the other ends, which is gone then. */
static void join_blocks(struct cawl_cache *cache, uint32_t block, uint32_t joined)
{
    uint64_t size = cache->map.blocks[joined].size;

    delist(cache, joined);
    cawl_map_remove(&cache->map, joined);
    cache->map.blocks[block].offset -= size;
    cache->map.blocks[block].size += size;
    cache->bytes[cache->map.blocks[block].list] += size;
}

int cawl_cache_write(struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size, double endtime)
{
    uint64_t end = offset + size;
    uint32_t active = CAWL_NONE; /* what was written last, unless that was a gap */

    while (offset < end) {
        /* Per turn at most a gap, and two cuts of one block. */
        int result = cawl_map_reserve(&cache->map, 3);
        uint32_t block = cawl_map_behind(&cache->map, file, offset);

        if (result != 0)
            return result;
        if (block == CAWL_NONE || cache->map.blocks[block].offset >= end) {
            add_fresh(cache, file, offset, end, endtime);
            return 0;
        }
        if (cache->map.blocks[block].offset > offset) {
            uint64_t begin = cache->map.blocks[block].offset;

            add_fresh(cache, file, offset, begin, endtime);
            offset = begin;
            active = CAWL_NONE;
        }
        if (cache->map.blocks[block].offset < offset)
            cut(cache, block, offset);
        if (cache->map.blocks[block].size > end - offset)
            block = cut(cache, block, end);
        offset += cache->map.blocks[block].size;
        /* Without this, writes at odd offsets would cut a file into ever smaller blocks. */
        if (active != CAWL_NONE)
            join_blocks(cache, block, active);
        activate(cache, block, endtime);
        active = block;
    }
    return 0;
}

uint64_t cawl_cache_covered(const struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + size, covered = 0;

    while (offset < end) {
        uint32_t found = cawl_map_behind(&cache->map, file, offset);

        if (found == CAWL_NONE || cache->map.blocks[found].offset >= end)
            break;

        const struct cawl_block *block = &cache->map.blocks[found];
        uint64_t from = block->offset > offset ? block->offset : offset;
        uint64_t block_end = block->offset + block->size;

        offset = block_end < end ? block_end : end;
        covered += offset - from;
    }
    return covered;
}

/* CAWL_NONE counts as younger than every block. */
static double age_of(const struct cawl_cache *cache, uint32_t block)
{
    return block == CAWL_NONE ? INFINITY : cache->map.ages[block].endtime;
}

double cawl_cache_oldest(const struct cawl_cache *cache)
{
    double oldest = age_of(cache, cache->head[CAWL_FRESH]);

    oldest = fmin(oldest, age_of(cache, cache->head[CAWL_AGED]));
    return fmin(oldest, age_of(cache, cache->head[CAWL_ACTIVE]));
}

uint32_t cawl_cache_evictable(struct cawl_cache *cache)
{
    while (cache->bytes[CAWL_ACTIVE] / 2 > cache->bytes[CAWL_FRESH] + cache->bytes[CAWL_AGED] ||
           (cache->head[CAWL_FRESH] == CAWL_NONE && cache->head[CAWL_AGED] == CAWL_NONE &&
            cache->head[CAWL_ACTIVE] != CAWL_NONE)) {
        uint32_t block = cache->head[CAWL_ACTIVE];

        delist(cache, block);
        enlist(cache, CAWL_AGED, block, cache->tail[CAWL_AGED]);
    }

    uint32_t fresh = cache->head[CAWL_FRESH], aged = cache->head[CAWL_AGED];

    return age_of(cache, aged) < age_of(cache, fresh) ? aged : fresh;
}

void cawl_cache_clean(struct cawl_cache *cache, uint32_t cleaned, uint64_t bytes)
{
    struct cawl_block *block = &cache->map.blocks[cleaned];

    if (bytes >= block->size) {
        delist(cache, cleaned);
        cawl_map_remove(&cache->map, cleaned);
        return;
    }
    /* The map knows it by its end, which stays. */
    block->offset += bytes;
    block->size -= bytes;
    cache->bytes[block->list] -= bytes;
}

/* Bytes of a list whose links, order and members are as they should be, else UINT64_MAX. */
static uint64_t sound_bytes(const struct cawl_cache *cache, enum cawl_list list)
{
    const struct cawl_block *blocks = cache->map.blocks;
    const struct cawl_age *ages = cache->map.ages;
    uint64_t sum = 0;
    uint32_t prev = CAWL_NONE;

    for (uint32_t at = cache->head[list]; at != CAWL_NONE; prev = at, at = ages[at].next) {
        if (blocks[at].list != list || ages[at].prev != prev || blocks[at].size == 0 ||
            (prev != CAWL_NONE && ages[prev].endtime > ages[at].endtime) ||
            cawl_map_behind(&cache->map, blocks[at].file, blocks[at].offset) != at)
            return UINT64_MAX;
        sum += blocks[at].size;
    }
    return prev == cache->tail[list] ? sum : UINT64_MAX;
}

bool cawl_cache_sound(const struct cawl_cache *cache)
{
    for (enum cawl_list list = 0; list < CAWL_N_LISTS; list++) {
        if (sound_bytes(cache, list) != cache->bytes[list])
            return false;
    }
    return true;
}

void cawl_cache_done(struct cawl_cache *cache)
{
    cawl_map_done(&cache->map);
    *cache = (struct cawl_cache){0};
}
