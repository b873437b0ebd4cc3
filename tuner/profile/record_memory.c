/* tuner/profile/record_memory: looks at the heap's tables while the program runs. */
#include "tuner/profile/record_memory.h"

#include "bench/base/clock.h"
#include "bench/profile/launch.h"
#include "bench/profile/program.h"
#include "bench/profile/shared_memory.h"
#include "models/profile/events_row.h"
#include "models/profile/heap.h"
#include "tuner/profile/record.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libfstune-memory.so"
/* Where bench/collector/wrap_memory looks for the tables. */
#define VARIABLE "FSTUNE_PROFILE_HEAP"
#define LOOK_NS  50000000ULL

struct record_memory {
    struct shared_memory shared;
    struct heap *heap;
    char library[PATH_MAX];
    uint64_t start_ns, looked_ns;
    uint64_t told[HEAP_SITES]; /* bytes, as they were told last */
};

int record_memory_open(struct record_memory **ret_memory, const char *program, uint64_t start_ns,
                       struct err *err)
{
    char path[PATH_MAX];
    struct record_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int code = program_find(program, path, sizeof path, err);
    if (code == 0)
        code = record_find_library(LIBRARY, memory->library, sizeof memory->library, err);
    if (code == 0)
        code = shared_memory_open(&memory->shared, sizeof(struct heap), err);
    if (code < 0) {
        record_memory_close(memory);
        return err_prefix(err, "--memory");
    }
    memory->heap = memory->shared.memory;
    memory->start_ns = start_ns;
    heap_init(memory->heap);
    *ret_memory = memory;
    return 0;
}

void record_memory_prepare(const struct record_memory *memory, struct launch *launch)
{
    if (memory == NULL)
        return;
    launch->library = memory->library;
    launch->variable = VARIABLE;
    launch->value = memory->shared.path;
}

/* The program can write into the tables: what is read from them is checked. */
static void tell(const struct record_memory *memory, const struct events_sink *sink,
                 const struct heap_site *site, struct events_row row)
{
    char name[HEAP_NAME_SIZE];
    row.kind = EVENTS_MEMORY;
    row.offset_bytes = site->address;
    if (site->module < HEAP_MODULES) {
        const struct heap_module *module = &memory->heap->modules[site->module];
        snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, module->name);
        row.object = events_row_name(sink, name);
        row.offset_bytes -= module->base;
    }
    sink->add(sink->to, &row);
}

static bool is_ready(const struct heap_site *site)
{
    return __atomic_load_n(&site->is_ready, __ATOMIC_ACQUIRE) != 0;
}

static void look(struct record_memory *memory, const struct events_sink *sink, uint64_t now_ns)
{
    for (uint32_t i = 0; i < HEAP_SITES; i++) {
        const struct heap_site *site = &memory->heap->sites[i];
        uint64_t bytes = is_ready(site) ? __atomic_load_n(&site->bytes, __ATOMIC_RELAXED) : 0;
        if (bytes == memory->told[i] || bytes > EVENTS_FILE_BYTES)
            continue;
        memory->told[i] = bytes;
        tell(memory, sink, site,
             (struct events_row){.time_ns = now_ns - memory->start_ns, .n_bytes = bytes, .n = site->n});
    }
    memory->looked_ns = now_ns;
}

void record_memory_poll(struct record_memory *memory, const struct events_sink *sink)
{
    uint64_t now_ns = clock_now_ns(&clock_monotonic);
    if (memory != NULL && now_ns - memory->looked_ns >= LOOK_NS)
        look(memory, sink, now_ns);
}

void record_memory_restart(struct record_memory *memory, uint64_t start_ns)
{
    if (memory == NULL)
        return;
    memory->start_ns = start_ns;
    memset(memory->told, 0, sizeof memory->told);
    __atomic_store_n(&memory->heap->peak_bytes, 0, __ATOMIC_RELAXED);
}

uint64_t record_memory_end(struct record_memory *memory, const struct events_sink *sink)
{
    if (memory == NULL)
        return 0;
    const struct heap *heap = memory->heap;
    __atomic_store_n(&memory->heap->is_stopped, 1, __ATOMIC_RELAXED);
    look(memory, sink, clock_now_ns(&clock_monotonic));
    uint64_t peak_ns = heap->peak_ns > memory->start_ns ? heap->peak_ns - memory->start_ns : 0;
    for (uint32_t i = 0; i < HEAP_SITES && heap->peak_bytes > 0; i++) {
        const struct heap_site *site = &heap->sites[i];
        if (!is_ready(site) || site->peak_bytes == 0 || site->peak_bytes > EVENTS_FILE_BYTES)
            continue;
        tell(
            memory, sink, site,
            (struct events_row){
                .time_ns = peak_ns, .flags = EVENTS_AT_PEAK, .n_bytes = site->peak_bytes, .n = site->peak_n});
    }
    return heap->n_lost;
}

uint64_t record_memory_maps(const struct record_memory *memory, uint64_t *ret_bytes)
{
    *ret_bytes = sizeof(struct heap);
    return memory != NULL ? memory->heap->n_joined : 0;
}

void record_memory_close(struct record_memory *memory)
{
    if (memory != NULL)
        shared_memory_close(&memory->shared);
    free(memory);
}
