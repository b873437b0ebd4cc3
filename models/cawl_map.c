/* Disjoint ranges of files in a treap. The priority of a block is a scrambled index: as good as chance for
 * the balance, and the same in every run. */
#include "models/cawl_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

static uint32_t priority(uint32_t block)
{
    /* The finaliser of MurmurHash3: every bit of the index reaches every bit of the result. */
    block ^= block >> 16;
    block *= 0x85ebca6bu;
    block ^= block >> 13;
    block *= 0xc2b2ae35u;
    return block ^ block >> 16;
}

static bool before(const struct cawl_block *block, uint32_t file, uint64_t offset)
{
    return block->file < file || (block->file == file && block->offset < offset);
}

uint32_t cawl_map_behind(const struct cawl_map *map, uint32_t file, uint64_t offset)
{
    uint32_t found = CAWL_NONE, at = map->root;

    while (at != CAWL_NONE) {
        const struct cawl_block *block = &map->blocks[at];

        if (block->file > file || (block->file == file && block->offset + block->size > offset)) {
            found = at;
            at = block->left;
        } else {
            at = block->right;
        }
    }
    return found != CAWL_NONE && map->blocks[found].file == file ? found : CAWL_NONE;
}

/* Aligned, so that no block lies in two lines of the processor's cache. */
static struct cawl_block *more_blocks(const struct cawl_map *map, uint32_t capacity)
{
    const size_t line_bytes = 64;
    size_t bytes = capacity * sizeof(*map->blocks);
    struct cawl_block *blocks = aligned_alloc(line_bytes, (bytes + line_bytes - 1) / line_bytes * line_bytes);

    if (blocks != NULL && map->n_used > 0)
        memcpy(blocks, map->blocks, map->n_used * sizeof(*blocks));
    return blocks;
}

int cawl_map_reserve(struct cawl_map *map, uint32_t n)
{
    /* Free blocks are not counted: they are only chained. */
    if (map->n_used + n < map->capacity)
        return 0;

    uint32_t capacity = map->capacity + map->capacity / 2 + n + FIRST_CAPACITY;

    if (capacity <= map->capacity)
        return -ENOMEM;

    struct cawl_age *ages = realloc(map->ages, capacity * sizeof(*ages));

    if (ages == NULL)
        return -ENOMEM;
    map->ages = ages;

    struct cawl_block *blocks = more_blocks(map, capacity);

    if (blocks == NULL)
        return -ENOMEM;
    free(map->blocks);
    map->blocks = blocks;
    map->capacity = capacity;
    if (map->n_used == 0)
        map->n_used = 1; /* block 0 is CAWL_NONE */
    return 0;
}

static uint32_t new_block(struct cawl_map *map)
{
    uint32_t block = map->free;

    if (block == CAWL_NONE)
        return map->n_used++;
    map->free = map->blocks[block].left;
    return block;
}

/* What lies before the key goes to *left, the rest to *right. */
static void split(struct cawl_map *map, uint32_t at, const struct cawl_block *key, uint32_t *left,
                  uint32_t *right)
{
    while (at != CAWL_NONE) {
        struct cawl_block *block = &map->blocks[at];

        if (before(block, key->file, key->offset)) {
            *left = at;
            left = &block->right;
            at = block->right;
        } else {
            *right = at;
            right = &block->left;
            at = block->left;
        }
    }
    *left = *right = CAWL_NONE;
}

uint32_t cawl_map_add(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size)
{
    uint32_t added = new_block(map), *link = &map->root;
    struct cawl_block *block = &map->blocks[added];

    *block = (struct cawl_block){.offset = offset, .size = size, .file = file};
    while (*link != CAWL_NONE && priority(*link) >= priority(added)) {
        struct cawl_block *at = &map->blocks[*link];

        link = before(at, file, offset) ? &at->right : &at->left;
    }
    split(map, *link, block, &block->left, &block->right);
    *link = added;
    return added;
}

void cawl_map_remove(struct cawl_map *map, uint32_t removed)
{
    struct cawl_block *block = &map->blocks[removed];
    uint32_t *link = &map->root, left = block->left, right = block->right;

    while (*link != removed) {
        struct cawl_block *at = &map->blocks[*link];

        link = before(at, block->file, block->offset) ? &at->right : &at->left;
    }
    while (left != CAWL_NONE && right != CAWL_NONE) {
        if (priority(left) >= priority(right)) {
            *link = left;
            link = &map->blocks[left].right;
            left = *link;
        } else {
            *link = right;
            link = &map->blocks[right].left;
            right = *link;
        }
    }
    *link = left != CAWL_NONE ? left : right;
    block->left = map->free;
    map->free = removed;
}

void cawl_map_done(struct cawl_map *map)
{
    free(map->blocks);
    free(map->ages);
    *map = (struct cawl_map){0};
}

int cawl_map_cover(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size, uint64_t *ret_new)
{
    uint64_t begin = offset, end = offset + size, known = 0;
    /* A range that ends where this one begins is joined too. */
    uint64_t from = offset > 0 ? offset - 1 : 0;
    int result = cawl_map_reserve(map, 1);

    if (result != 0)
        return result;
    for (;;) {
        uint32_t next = cawl_map_behind(map, file, from);

        if (next == CAWL_NONE || map->blocks[next].offset > offset + size)
            break;

        struct cawl_block range = map->blocks[next];
        uint64_t range_end = range.offset + range.size;
        uint64_t low = range.offset > offset ? range.offset : offset;
        uint64_t high = range_end < offset + size ? range_end : offset + size;

        known += high > low ? high - low : 0;
        begin = range.offset < begin ? range.offset : begin;
        end = range_end > end ? range_end : end;
        cawl_map_remove(map, next);
    }
    cawl_map_add(map, file, begin, end - begin);
    *ret_new = size - known;
    return 0;
}
