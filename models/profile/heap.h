/* models/profile/heap: the memory that a program has allocated and not freed, by the place of the call.
 *
 * It lies in memory that is shared with the program, has a fixed size and holds no addresses of its own.
 * Nobody waits: what finds no place is counted as lost, with its bytes. At each new peak that is more than a
 * hundredth above the last one, what each place holds is kept, so that the peak is known to that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_SITES     2048U   /* a power of two */
#define HEAP_BLOCKS    131072U /* a power of two */
#define HEAP_MODULES   64U
#define HEAP_NAME_SIZE 120U

/* A program or a library. */
struct heap_module {
    uint64_t base; /* where it was loaded */
    uint32_t state, unused;
    char name[HEAP_NAME_SIZE]; /* the end of its path, zero-terminated */
};

/* A place that allocates. */
struct heap_site {
    uint64_t address; /* to which the call returns, in the program; 0: free */
    uint64_t bytes, n;
    uint64_t peak_bytes, peak_n;
    uint32_t module; /* HEAP_MODULES: not known */
    uint32_t is_ready;
};

struct heap_block {
    uint64_t pointer; /* 0: free */
    uint64_t value;   /* its site in the lower bits, its bytes above */
};

struct heap {
    uint64_t magic;
    uint32_t pid;                        /* of the one process that is recorded; 0: none came */
    uint32_t lock, is_stopped, n_joined; /* n_joined: programs in that process, each by exec */
    uint64_t bytes, n_lost, lost_bytes;
    uint64_t peak_bytes, peak_ns; /* as it was kept last */
    struct heap_module modules[HEAP_MODULES];
    struct heap_site sites[HEAP_SITES];
    struct heap_block blocks[HEAP_BLOCKS];
};

void heap_init(struct heap *heap);
bool heap_is_sound(const struct heap *heap, size_t n_bytes);

/* The process takes it. False: another one has it. One that has become another program begins anew. */
bool heap_join(struct heap *heap, uint32_t pid);

/* Who knows in which module an address lies. False: nobody does. */
struct heap_place {
    uint64_t base;
    const char *name;
};
typedef bool heap_find(uint64_t address, struct heap_place *ret);

/* now_ns is asked for at a new peak only. */
void heap_take(struct heap *heap, uint64_t pointer, uint64_t n_bytes, uint64_t address, heap_find *find,
               uint64_t (*now_ns)(void));

/* Before the block is freed: its address may come again at once. What is given back may be put back, where
 * the block was not freed in the end. False: it was not known. */
struct heap_given {
    uint32_t site;
    uint64_t n_bytes;
};
bool heap_give(struct heap *heap, uint64_t pointer, struct heap_given *ret);
void heap_put_back(struct heap *heap, uint64_t pointer, const struct heap_given *given);
