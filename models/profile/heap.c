/* models/profile/heap: a table of blocks by their address, and one of the places that allocated them. */
#include "models/profile/heap.h"

#include "models/profile/cells.h"

#include <string.h>

#define MAGIC     0x31306d656d736670ULL
#define PROBES    32U
#define SITE_BITS 12 /* HEAP_SITES fits in */
#define SITE_MASK ((1ULL << SITE_BITS) - 1)
#define RESERVED  1U /* no block has this address */
#define PEAK_PART 128U
#define PEAK_MIN  256U

enum { FREE, BUSY, KNOWN };

void heap_init(struct heap *heap)
{
    heap->magic = MAGIC;
}

bool heap_is_sound(const struct heap *heap, size_t n_bytes)
{
    return n_bytes == sizeof *heap && heap->magic == MAGIC;
}

bool heap_join(struct heap *heap, uint32_t pid)
{
    uint32_t none = 0;
    bool is_first =
        __atomic_compare_exchange_n(&heap->pid, &none, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (!is_first && none != pid)
        return false;
    heap->n_joined++;
    if (is_first)
        return true;
    heap->lock = 0;
    heap->bytes = heap->n_lost = heap->lost_bytes = heap->peak_bytes = heap->peak_ns = 0;
    memset(heap->modules, 0, sizeof *heap - offsetof(struct heap, modules));
    return true;
}

/* HEAP_MODULES where it has no place. */
static uint32_t find_module(struct heap *heap, uint64_t address, heap_find *find)
{
    struct heap_place place;
    if (!find(address, &place))
        return HEAP_MODULES;
    for (uint32_t i = 0; i < HEAP_MODULES; i++) {
        struct heap_module *module = &heap->modules[i];
        uint32_t none = FREE;
        if (__atomic_load_n(&module->state, __ATOMIC_ACQUIRE) == KNOWN && module->base == place.base)
            return i;
        if (!__atomic_compare_exchange_n(&module->state, &none, BUSY, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        size_t length = strlen(place.name);
        size_t skipped = length < HEAP_NAME_SIZE ? 0 : length - HEAP_NAME_SIZE + 1;
        memcpy(module->name, place.name + skipped, length - skipped);
        module->base = place.base;
        __atomic_store_n(&module->state, KNOWN, __ATOMIC_RELEASE);
        return i;
    }
    return HEAP_MODULES;
}

/* HEAP_SITES where it has no place. */
static uint32_t find_site(struct heap *heap, uint64_t address, heap_find *find)
{
    uint64_t hash = cells_hash(address);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (uint32_t)(hash + i) & (HEAP_SITES - 1);
        struct heap_site *site = &heap->sites[at];
        uint64_t held = cells_read(&site->address);
        if (held == address)
            return at;
        if (held != 0)
            continue;
        if (cells_swap(&site->address, 0, address)) {
            site->module = find_module(heap, address, find);
            __atomic_store_n(&site->is_ready, 1, __ATOMIC_RELEASE);
            return at;
        }
        if (cells_read(&site->address) == address)
            return at;
    }
    return HEAP_SITES;
}

static struct heap_block *find_block(struct heap *heap, uint64_t pointer)
{
    uint64_t hash = cells_hash(pointer);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct heap_block *block = &heap->blocks[(hash + i) & (HEAP_BLOCKS - 1)];
        if (__atomic_load_n(&block->pointer, __ATOMIC_ACQUIRE) == pointer)
            return block;
    }
    return NULL;
}

static bool add_block(struct heap *heap, uint64_t pointer, uint64_t value)
{
    uint64_t hash = cells_hash(pointer);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct heap_block *block = &heap->blocks[(hash + i) & (HEAP_BLOCKS - 1)];
        if (cells_read(&block->pointer) != 0 || !cells_swap(&block->pointer, 0, RESERVED))
            continue;
        block->value = value;
        __atomic_store_n(&block->pointer, pointer, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

/* Two threads at once: one keeps the peak, and a next one comes. */
static void keep_peak(struct heap *heap, uint64_t bytes, uint64_t now_ns)
{
    uint32_t is_free = 0;
    if (!__atomic_compare_exchange_n(&heap->lock, &is_free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    for (uint32_t i = 0; i < HEAP_SITES; i++) {
        struct heap_site *site = &heap->sites[i];
        if (cells_read(&site->address) == 0)
            continue;
        site->peak_bytes = cells_read(&site->bytes);
        site->peak_n = cells_read(&site->n);
    }
    __atomic_store_n(&heap->peak_bytes, bytes, __ATOMIC_RELAXED);
    heap->peak_ns = now_ns;
    cells_give(&heap->lock);
}

static void hold(struct heap *heap, uint32_t site, uint64_t n_bytes, uint64_t n)
{
    cells_add(&heap->sites[site].bytes, n_bytes);
    cells_add(&heap->sites[site].n, n);
    cells_add(&heap->bytes, n_bytes);
}

static void lose(struct heap *heap, uint64_t n_bytes)
{
    cells_add(&heap->n_lost, 1);
    cells_add(&heap->lost_bytes, n_bytes);
}

void heap_take(struct heap *heap, uint64_t pointer, uint64_t n_bytes, uint64_t address, heap_find *find,
               uint64_t (*now_ns)(void))
{
    uint32_t site = find_site(heap, address, find);
    if (site == HEAP_SITES || n_bytes >> (64 - SITE_BITS) != 0 ||
        !add_block(heap, pointer, n_bytes << SITE_BITS | site)) {
        lose(heap, n_bytes);
        return;
    }
    hold(heap, site, n_bytes, 1);
    uint64_t bytes = cells_read(&heap->bytes), peak = cells_read(&heap->peak_bytes);
    uint64_t step = peak / PEAK_PART > PEAK_MIN ? peak / PEAK_PART : PEAK_MIN;
    if (bytes < 1ULL << 63 && bytes >= peak + step)
        keep_peak(heap, bytes, now_ns());
}

bool heap_give(struct heap *heap, uint64_t pointer, struct heap_given *ret)
{
    struct heap_block *block = find_block(heap, pointer);
    if (block == NULL)
        return false;
    *ret = (struct heap_given){.site = (uint32_t)(block->value & SITE_MASK) & (HEAP_SITES - 1),
                               .n_bytes = block->value >> SITE_BITS};
    __atomic_store_n(&block->pointer, 0, __ATOMIC_RELEASE);
    hold(heap, ret->site, 0 - ret->n_bytes, UINT64_MAX);
    return true;
}

void heap_put_back(struct heap *heap, uint64_t pointer, const struct heap_given *given)
{
    if (add_block(heap, pointer, given->n_bytes << SITE_BITS | given->site))
        hold(heap, given->site, given->n_bytes, 1);
    else
        lose(heap, given->n_bytes);
}
