/* The dirty part of the page cache, as blocks. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <math.h>

void cawl_cache_init(struct cawl_cache *cache)
{
    *cache = (struct cawl_cache){0};
    for (size_t list = 0; list < CAWL_N_LISTS; list++)
        TAILQ_INIT(&cache->lists[list]);
}

static void enlist(struct cawl_cache *cache, enum cawl_list list, struct cawl_block *block)
{
    block->list = list;
    TAILQ_INSERT_TAIL(&cache->lists[list], block, by_age);
    cache->bytes[list] += block->size;
}

static void delist(struct cawl_cache *cache, struct cawl_block *block)
{
    TAILQ_REMOVE(&cache->lists[block->list], block, by_age);
    cache->bytes[block->list] -= block->size;
}

static int add_fresh(struct cawl_cache *cache, uint32_t file, uint64_t begin, uint64_t end, double endtime)
{
    struct cawl_block *added = cawl_map_add(&cache->map, file, begin, end - begin);
    if (added == NULL)
        return -ENOMEM;
    added->endtime = endtime;
    enlist(cache, CAWL_FRESH, added);
    return 0;
}

/* The block keeps what lies from offset on; what lies before becomes a block of its own, of the same age and
 * list. NULL: no memory. */
static struct cawl_block *cut(struct cawl_cache *cache, struct cawl_block *block, uint64_t offset)
{
    uint64_t size = offset - block->offset;
    struct cawl_block *front = cawl_map_add(&cache->map, block->file, block->offset, size);
    if (front == NULL)
        return NULL;
    block->offset = offset;
    block->size -= size;
    front->list = block->list;
    front->endtime = block->endtime;
    TAILQ_INSERT_BEFORE(block, front, by_age);
    return front;
}

static void activate(struct cawl_cache *cache, struct cawl_block *block, double endtime)
{
    delist(cache, block);
    block->endtime = endtime;
    enlist(cache, CAWL_ACTIVE, block);
}

/* The block begins where the other ends, which is gone then. */
static void join_blocks(struct cawl_cache *cache, struct cawl_block *block, struct cawl_block *joined)
{
    uint64_t size = joined->size;
    delist(cache, joined);
    cawl_map_remove(&cache->map, joined);
    block->offset -= size;
    block->size += size;
    cache->bytes[block->list] += size;
}

int cawl_cache_write(struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size, double endtime)
{
    uint64_t end = offset + size;
    struct cawl_block *active = NULL; /* what was written last, unless that was a gap */
    int result = 0;
    while (offset < end && result == 0) {
        struct cawl_block *block = cawl_map_behind(&cache->map, file, offset);
        if (block == NULL || block->offset >= end)
            return add_fresh(cache, file, offset, end, endtime);
        if (block->offset > offset) {
            result = add_fresh(cache, file, offset, block->offset, endtime);
            offset = block->offset;
            active = NULL;
        }
        if (block->offset < offset && cut(cache, block, offset) == NULL)
            return -ENOMEM;
        if (block->size > end - offset)
            block = cut(cache, block, end);
        if (block == NULL)
            return -ENOMEM;
        offset += block->size;
        /* Without this, writes at odd offsets would cut a file into ever smaller blocks. */
        if (active != NULL)
            join_blocks(cache, block, active);
        activate(cache, block, endtime);
        active = block;
    }
    return result;
}

uint64_t cawl_cache_covered(const struct cawl_cache *cache, uint32_t file, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + size, covered = 0;
    const struct cawl_block *block;
    while (offset < end && (block = cawl_map_behind(&cache->map, file, offset)) != NULL &&
           block->offset < end) {
        uint64_t from = block->offset > offset ? block->offset : offset;
        uint64_t block_end = block->offset + block->size;
        offset = block_end < end ? block_end : end;
        covered += offset - from;
    }
    return covered;
}

/* No block counts as younger than every block. */
static double age_of(const struct cawl_block *block)
{
    return block == NULL ? INFINITY : block->endtime;
}

double cawl_cache_oldest(const struct cawl_cache *cache)
{
    double oldest = INFINITY;
    for (size_t list = 0; list < CAWL_N_LISTS; list++)
        oldest = fmin(oldest, age_of(TAILQ_FIRST(&cache->lists[list])));
    return oldest;
}

struct cawl_block *cawl_cache_evictable(struct cawl_cache *cache)
{
    const uint64_t *bytes = cache->bytes;
    struct cawl_block *active;
    while ((active = TAILQ_FIRST(&cache->lists[CAWL_ACTIVE])) != NULL &&
           (bytes[CAWL_FRESH] + bytes[CAWL_AGED] == 0 ||
            bytes[CAWL_ACTIVE] / 2 > bytes[CAWL_FRESH] + bytes[CAWL_AGED])) {
        delist(cache, active);
        enlist(cache, CAWL_AGED, active);
    }
    struct cawl_block *fresh = TAILQ_FIRST(&cache->lists[CAWL_FRESH]),
                      *aged = TAILQ_FIRST(&cache->lists[CAWL_AGED]);
    return age_of(aged) < age_of(fresh) ? aged : fresh;
}

void cawl_cache_clean(struct cawl_cache *cache, struct cawl_block *block, uint64_t bytes)
{
    if (bytes >= block->size) {
        delist(cache, block);
        cawl_map_remove(&cache->map, block);
        return;
    }
    /* The map knows it by its end, which stays. */
    block->offset += bytes;
    block->size -= bytes;
    cache->bytes[block->list] -= bytes;
}

/* Bytes of a list whose order and members are as they should be, else UINT64_MAX. */
static uint64_t sound_bytes(const struct cawl_cache *cache, enum cawl_list list)
{
    const struct cawl_block *block = TAILQ_FIRST(&cache->lists[list]);
    uint64_t sum = 0;
    double last = -INFINITY;
    for (; block != NULL; block = TAILQ_NEXT(block, by_age)) {
        if (block->list != list || block->size == 0 || block->endtime < last ||
            cawl_map_behind(&cache->map, block->file, block->offset) != block)
            return UINT64_MAX;
        sum += block->size;
        last = block->endtime;
    }
    return sum;
}

bool cawl_cache_sound(const struct cawl_cache *cache)
{
    for (enum cawl_list list = 0; list < CAWL_N_LISTS; list++) {
        if (sound_bytes(cache, list) != cache->bytes[list])
            return false;
    }
    return true;
}
