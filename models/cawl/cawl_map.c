/* Disjoint ranges of files, in libc's balanced tree. They are found by their ends: what looks for a place
 * asks for the first range that ends behind it, and a range that is written back loses its front. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

static int compare_ends(const void *a, const void *b)
{
    const struct cawl_block *x = a, *y = b;
    uint64_t x_end = x->offset + x->size, y_end = y->offset + y->size;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x_end > y_end) - (x_end < y_end);
}

/* A place, and the first range behind it of those that the search came by. */
struct probe {
    uint32_t file;
    uint64_t offset;
    struct cawl_block **found;
};

/* Never equal: the search goes on to the place of a range that would end there. */
static int compare_probe(const void *key, const void *passed)
{
    const struct probe *probe = key;
    const struct cawl_block *block = passed;
    if (block->file != probe->file)
        return block->file < probe->file ? 1 : -1;
    if (block->offset + block->size <= probe->offset)
        return 1;
    *probe->found = (struct cawl_block *)(uintptr_t)passed;
    return -1;
}

struct cawl_block *cawl_map_behind(const struct cawl_map *map, uint32_t file, uint64_t offset)
{
    struct cawl_block *found = NULL;
    const struct probe probe = {file, offset, &found};
    tfind(&probe, &map->tree, compare_probe);
    return found;
}

struct cawl_block *cawl_map_add(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size)
{
    struct cawl_block *added = malloc(sizeof *added);
    if (added == NULL)
        return NULL;
    *added = (struct cawl_block){.offset = offset, .size = size, .file = file};
    if (tsearch(added, &map->tree, compare_ends) != NULL)
        return added;
    free(added);
    return NULL;
}

void cawl_map_remove(struct cawl_map *map, struct cawl_block *removed)
{
    tdelete(removed, &map->tree, compare_ends);
    free(removed);
}

void cawl_map_done(struct cawl_map *map)
{
    tdestroy(map->tree, free);
    map->tree = NULL;
}

int cawl_map_cover(struct cawl_map *map, uint32_t file, uint64_t offset, uint64_t size, uint64_t *ret_new)
{
    uint64_t begin = offset, end = offset + size, known = 0;
    /* A range that ends where this one begins is joined too. */
    uint64_t from = offset > 0 ? offset - 1 : 0;
    struct cawl_block *range;
    while ((range = cawl_map_behind(map, file, from)) != NULL && range->offset <= end) {
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
        cawl_map_remove(map, range);
    }
    *ret_new = size - known;
    return cawl_map_add(map, file, begin, end - begin) == NULL ? -ENOMEM : 0;
}
