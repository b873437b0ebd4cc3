/* Disjoint ranges of files. They are found by their ends: what looks for a place asks for the first range
 * that ends behind it, and a range that is written back loses its front. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

uint32_t cawl_map_behind(const struct cawl_map *map, uint32_t file, uint64_t offset)
{
    uint32_t found = cawl_tree_behind(&map->tree, file, offset);

    return found != CAWL_NONE && map->blocks[found].file == file ? found : CAWL_NONE;
}

static int more_blocks(struct cawl_map *map, uint32_t n)
{
    uint32_t capacity = map->capacity + map->capacity / 2 + n + FIRST_CAPACITY;

    if (capacity <= map->capacity)
        return -ENOMEM;

    struct cawl_age *ages = realloc(map->ages, capacity * sizeof(*ages));

    if (ages == NULL)
        return -ENOMEM;
    map->ages = ages;

    struct cawl_block *blocks = realloc(map->blocks, capacity * sizeof(*blocks));

    if (blocks == NULL)
        return -ENOMEM;
    map->blocks = blocks;
    map->capacity = capacity;
    if (map->n_used == 0)
        map->n_used = 1; /* block 0 is CAWL_NONE */
    return 0;
}

int cawl_map_reserve(struct cawl_map *map, uint32_t n)
{
    /* Free blocks are not counted: they are only chained. */
    int result = map->n_used + n < map->capacity ? 0 : more_blocks(map, n);

    return result == 0 ? cawl_tree_reserve(&map->tree, n) : result;
}

static uint32_t new_block(struct cawl_map *map)
{
    uint32_t block = map->free;

    if (block == CAWL_NONE)
        return map->n_used++;
    map->free = map->ages[block].next;
    return block;
}

uint32_t cawl_map_add(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size)
{
    uint32_t added = new_block(map);

    map->blocks[added] = (struct cawl_block){.offset = offset, .size = size, .file = file};
    cawl_tree_add(&map->tree, file, offset + size, added);
    return added;
}

void cawl_map_remove(struct cawl_map *map, uint32_t removed)
{
    const struct cawl_block *block = &map->blocks[removed];

    cawl_tree_remove(&map->tree, block->file, block->offset + block->size);
    map->ages[removed].next = map->free;
    map->free = removed;
}

void cawl_map_done(struct cawl_map *map)
{
    free(map->blocks);
    free(map->ages);
    cawl_tree_done(&map->tree);
    *map = (struct cawl_map){0};
}

int cawl_map_cover(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size, uint64_t *ret_new)
{
    uint64_t begin = offset, end = offset + size, known = 0;
    /* A range that ends where this one begins is joined too. */
    uint64_t from = offset > 0 ? offset - 1 : 0;
    uint32_t next;
    int result = cawl_map_reserve(map, 1);

    if (result != 0)
        return result;
    while ((next = cawl_map_behind(map, file, from)) != CAWL_NONE && map->blocks[next].offset <= end) {
        struct cawl_block *range = &map->blocks[next];
        uint64_t range_end = range->offset + range->size;
        uint64_t low = range->offset > offset ? range->offset : offset;
        uint64_t high = range_end < end ? range_end : end;

        known += high > low ? high - low : 0;
        begin = range->offset < begin ? range->offset : begin;
        if (range_end >= end) {
            range->size = range_end - begin;
            range->offset = begin;
            *ret_new = size - known;
            return 0;
        }
        cawl_map_remove(map, next);
    }
    cawl_map_add(map, file, begin, end - begin);
    *ret_new = size - known;
    return 0;
}
