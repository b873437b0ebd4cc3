/* Blocks of dirty bytes in an array without order, which the fast structures of models/cawl are compared
 * with. */
#pragma once

#include "models/cawl/cawl_internal.h"

#include "tests/test.h"

#define CAWL_PLAIN_MAX 4096

/* Bytes may be fractions, as in the paper. */
struct cawl_plain_block {
    uint32_t file;
    double offset, size, endtime;
    enum cawl_list list;
};

struct cawl_plain {
    struct cawl_plain_block blocks[CAWL_PLAIN_MAX];
    size_t n;
};

static inline double cawl_plain_bytes(const struct cawl_plain *plain, enum cawl_list list)
{
    double sum = 0;

    for (size_t i = 0; i < plain->n; i++)
        sum += plain->blocks[i].list == list ? plain->blocks[i].size : 0;
    return sum;
}

static inline double cawl_plain_inactive(const struct cawl_plain *plain)
{
    return cawl_plain_bytes(plain, CAWL_FRESH) + cawl_plain_bytes(plain, CAWL_AGED);
}

static inline double cawl_plain_dirty(const struct cawl_plain *plain)
{
    return cawl_plain_inactive(plain) + cawl_plain_bytes(plain, CAWL_ACTIVE);
}

/* Older, or as old and before it in the same write. */
static inline bool cawl_plain_older(const struct cawl_plain_block *a, const struct cawl_plain_block *b)
{
    if (a->endtime < b->endtime || a->endtime > b->endtime)
        return a->endtime < b->endtime;
    return a->list != b->list ? a->list < b->list : a->offset < b->offset;
}

static inline struct cawl_plain_block *cawl_plain_oldest(struct cawl_plain *plain, bool active)
{
    struct cawl_plain_block *oldest = NULL;

    for (size_t i = 0; i < plain->n; i++) {
        struct cawl_plain_block *block = &plain->blocks[i];

        if ((block->list == CAWL_ACTIVE) == active && (oldest == NULL || cawl_plain_older(block, oldest)))
            oldest = block;
    }
    return oldest;
}

/* What is written back next; NULL when nothing is dirty. */
static inline struct cawl_plain_block *cawl_plain_evictable(struct cawl_plain *plain)
{
    struct cawl_plain_block *active;

    while ((active = cawl_plain_oldest(plain, true)) != NULL &&
           (cawl_plain_oldest(plain, false) == NULL ||
            cawl_plain_bytes(plain, CAWL_ACTIVE) > 2 * cawl_plain_inactive(plain) + 1))
        active->list = CAWL_AGED;
    return cawl_plain_oldest(plain, false);
}

static inline void cawl_plain_clean(struct cawl_plain *plain, struct cawl_plain_block *block, double bytes)
{
    if (bytes < block->size) {
        block->offset += bytes;
        block->size -= bytes;
    } else {
        *block = plain->blocks[--plain->n];
    }
}

/* The bytes up to an end, if there are any; the rest is as in the block. */
static inline void cawl_plain_put(struct cawl_plain *plain, struct cawl_plain_block block, double end)
{
    block.size = end - block.offset;
    if (block.size > 0)
        plain->blocks[plain->n++] = block;
    assert_true(plain->n < CAWL_PLAIN_MAX);
}

static inline int cawl_plain_compare(const void *a, const void *b)
{
    const struct cawl_plain_block *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

static inline void cawl_plain_write(struct cawl_plain *plain, uint32_t file, double from, double to,
                                    double endtime)
{
    static struct cawl_plain old;
    struct cawl_plain_block fresh = {file, from, 0, endtime, CAWL_FRESH}, active = fresh;
    double at = from; /* the end of the run of overlapped bytes that begins at active.offset */

    old = *plain;
    qsort(old.blocks, old.n, sizeof old.blocks[0], cawl_plain_compare);
    plain->n = 0;
    active.list = CAWL_ACTIVE;
    for (size_t i = 0; i < old.n; i++) {
        struct cawl_plain_block block = old.blocks[i];
        double begin = block.offset, end = begin + block.size;

        if (block.file != file || end <= from || begin >= to) {
            cawl_plain_put(plain, block, end);
            continue;
        }
        cawl_plain_put(plain, block, fmin(end, from));
        block.offset = fmax(begin, to);
        cawl_plain_put(plain, block, end);
        if (begin > at) {
            cawl_plain_put(plain, active, at);
            fresh.offset = at;
            cawl_plain_put(plain, fresh, begin);
            active.offset = begin;
        }
        at = fmin(end, to);
    }
    cawl_plain_put(plain, active, at);
    fresh.offset = at;
    cawl_plain_put(plain, fresh, to);
}
