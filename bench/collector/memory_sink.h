/* bench/collector/memory_sink: who takes what the wrappers of the heap see. It is called inside malloc and
 * free: it must not allocate, wait or fail. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that the recording program made. False: it is none of ours, or another process has it. */
bool memory_sink_open(void *memory, size_t size, uint32_t pid);
/* A child has memory of its own. */
void memory_sink_leave(void);

/* address: to which the program's call returns. */
void memory_sink_take(const void *block, size_t n_bytes, const void *address);

/* Before a block is freed or moved; then what became of it, where it stayed. False: nothing is known of it.
 */
struct memory_given {
    uint32_t site;
    uint64_t n_bytes;
};
bool memory_sink_give(const void *block, struct memory_given *ret);
void memory_sink_put_back(const void *block, const struct memory_given *given);
