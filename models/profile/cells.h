/* models/profile/cells: numbers in the store that several processes change at once, and none waits for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void cells_add(uint64_t *cell, uint64_t n)
{
    __atomic_fetch_add(cell, n, __ATOMIC_RELAXED);
}

static inline uint64_t cells_read(const uint64_t *cell)
{
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

/* Of a cell that one alone changes at a time, such as the holder of a lock, and that others read meanwhile.
 */
static inline void cells_put(uint64_t *cell, uint64_t to)
{
    __atomic_store_n(cell, to, __ATOMIC_RELAXED);
}

static inline void cells_raise(uint64_t *cell, uint64_t to)
{
    uint64_t now = cells_read(cell);
    while (now < to &&
           !__atomic_compare_exchange_n(cell, &now, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* The same where nobody minds that of two at once the lower one may stay: a step less for each request. */
static inline void cells_follow(uint64_t *cell, uint64_t to)
{
    if (cells_read(cell) < to)
        __atomic_store_n(cell, to, __ATOMIC_RELAXED);
}

/* What the cell held; it begins anew. Of several at once one alone gets it. */
static inline uint64_t cells_empty(uint64_t *cell)
{
    return __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
}

/* Zeroes whole words, which others may read and change meanwhile. */
static inline void cells_clear(void *at, size_t n_bytes)
{
    uint64_t *cell = at;
    for (size_t i = 0; i < n_bytes / sizeof *cell; i++)
        __atomic_store_n(&cell[i], 0, __ATOMIC_RELAXED);
}

/* How much a count has grown between two looks; a count may also fall. */
static inline uint64_t cells_grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

/* Puts `to` where `from` is. False where something else is. */
static inline bool cells_swap(uint64_t *cell, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(cell, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* How often a busy lock is looked at: its holder needs less than a microsecond, unless it was killed. */
#define CELLS_PATIENCE 200

/* True: the caller has it and gives it back. False: another one has it; nobody waits for long. */
static inline bool cells_take(uint32_t *lock)
{
    for (unsigned i = 0; i < CELLS_PATIENCE; i++) {
        uint32_t is_free = 0;
        if (__atomic_compare_exchange_n(lock, &is_free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    }
    return false;
}

static inline void cells_give(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* Spreads the bits of a key evenly (the finaliser of MurmurHash3, Appleby 2011). */
static inline uint64_t cells_hash(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33);
}
