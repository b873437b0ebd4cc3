/* models/profile/blocks: a sample of the blocks in a table that does not grow. */
#include "models/profile/blocks.h"

#include "models/profile/cells.h"

#include <math.h>

#define PROBES    16
#define SHIFT_MAX 40
/* A request counts at most so many of its blocks, which are 256 MiB. */
#define MOST_BLOCKS 65536
#define CLOCK_SHIFT 4 /* 32 bits then last for 2^36 blocks */

static int is_in_sample(uint64_t key, uint64_t shift)
{
    return (key & ((1ULL << shift) - 1)) == 0;
}

int blocks_counts(const struct blocks *blocks, const struct blocks_entry *entry)
{
    uint64_t key = cells_read(&entry->key);
    return key != 0 && is_in_sample(key, cells_read(&blocks->shift));
}

static uint64_t key_of(uint64_t file, uint64_t block)
{
    return cells_hash(cells_hash(file) + block);
}

static uint64_t place_of(const struct blocks *blocks, uint64_t key)
{
    return (key >> 40) & (blocks->n_entries - 1);
}

void blocks_expect(const struct blocks *blocks, const struct blocks_entry *entries, uint64_t file,
                   uint64_t offset_bytes)
{
    __builtin_prefetch(&entries[place_of(blocks, key_of(file, offset_bytes >> BLOCKS_LOG2_BYTES))], 1);
}

/* The entry of the key, made where it is missing; NULL where there is no room. All probes are looked at
 * before one is taken: an entry may stand behind others that left the sample since. */
static struct blocks_entry *find(struct blocks *blocks, struct blocks_entry *entries, uint64_t key,
                                 int *ret_is_new)
{
    uint64_t shift = cells_read(&blocks->shift), mask = blocks->n_entries - 1, replaced = 0;
    struct blocks_entry *room = NULL;
    for (uint64_t i = 0; i < PROBES; i++) {
        struct blocks_entry *entry = &entries[(place_of(blocks, key) + i) & mask];
        uint64_t held = cells_read(&entry->key);
        if (held == key) {
            *ret_is_new = 0;
            return entry;
        }
        if (room == NULL && (held == 0 || !is_in_sample(held, shift))) {
            room = entry;
            replaced = held;
        }
    }
    if (room == NULL || !cells_swap(&room->key, replaced, key))
        return NULL;
    __atomic_store_n(&room->n, 0, __ATOMIC_RELAXED);
    *ret_is_new = 1;
    return room;
}

static void note_use(struct blocks *blocks, struct blocks_entry *entry, int is_new, uint64_t now)
{
    uint32_t when = (uint32_t)(now >> CLOCK_SHIFT), before = __atomic_load_n(&entry->when, __ATOMIC_RELAXED);
    uint32_t n = __atomic_load_n(&entry->n, __ATOMIC_RELAXED);
    if (is_new)
        cells_add(&blocks->n_first, 1);
    else
        cells_add(&blocks->reuse[bins_of((uint64_t)(uint32_t)(when - before) << CLOCK_SHIFT)], 1);
    __atomic_store_n(&entry->when, when, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->n, n + (n < UINT32_MAX), __ATOMIC_RELAXED);
}

static void take_one(struct blocks *blocks, struct blocks_entry *entries, uint64_t key, uint64_t now)
{
    int is_new = 0;
    struct blocks_entry *entry = find(blocks, entries, key, &is_new);
    uint64_t shift = cells_read(&blocks->shift);
    if (entry != NULL) {
        note_use(blocks, entry, is_new, now);
        return;
    }
    cells_add(&blocks->n_lost, 1);
    if (shift < SHIFT_MAX)
        cells_swap(&blocks->shift, shift, shift + 1);
}

void blocks_take(struct blocks *blocks, struct blocks_entry *entries, uint64_t file, uint64_t offset_bytes,
                 uint64_t n_bytes)
{
    uint64_t first = offset_bytes >> BLOCKS_LOG2_BYTES;
    uint64_t n = ((offset_bytes + n_bytes - 1) >> BLOCKS_LOG2_BYTES) - first + 1;
    uint64_t now = __atomic_fetch_add(&blocks->n_accesses, n, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < n && i < MOST_BLOCKS; i++) {
        uint64_t key = key_of(file, first + i);
        if (key != 0 && is_in_sample(key, cells_read(&blocks->shift)))
            take_one(blocks, entries, key, now + i);
    }
}

void blocks_forget(struct blocks *blocks, struct blocks_entry *entries)
{
    cells_clear(entries, (size_t)blocks->n_entries * sizeof *entries);
    cells_clear(blocks, offsetof(struct blocks, n_entries));
}

uint64_t blocks_n_sampled(const struct blocks *blocks)
{
    uint64_t n = cells_read(&blocks->n_first);
    for (size_t i = 0; i < BINS_N; i++)
        n += cells_read(&blocks->reuse[i]);
    return n;
}

double blocks_distinct(const struct blocks *blocks, const struct blocks_entry *entries)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < blocks->n_entries; i++)
        n += (uint64_t)blocks_counts(blocks, &entries[i]);
    return (double)n * (double)(1ULL << cells_read(&blocks->shift));
}

size_t blocks_curve(const struct blocks *blocks, struct blocks_cache ret[BINS_N])
{
    double n = (double)blocks_n_sampled(blocks), farther = n, size = 0, before = 0, served = 0;
    for (size_t i = 0; i < BINS_N && n > 0; i++) {
        double end = i < 4 ? (double)i + 1 : ldexp(5 + (double)(i % 4), (int)(i / 4) - 1);
        size += (end - before) * farther / n;
        before = end;
        served += (double)blocks->reuse[i];
        farther -= (double)blocks->reuse[i];
        ret[i] = (struct blocks_cache){size * (double)(1U << BLOCKS_LOG2_BYTES), served / n};
    }
    return n > 0 ? BINS_N : 0;
}
