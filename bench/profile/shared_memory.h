/* bench/profile/shared_memory: memory without a name, for other processes to map. */
#pragma once

#include "bench/base/err.h"

#include <stddef.h>

#define SHARED_MEMORY_PATH_SIZE 64

struct shared_memory {
    void *memory; /* zeroed */
    size_t size;
    int fd;
    char path[SHARED_MEMORY_PATH_SIZE]; /* by which others open it while this process lives */
};

/* Nothing of it is left behind, however the process ends. 0 or a negative errno. */
int shared_memory_open(struct shared_memory *shared, size_t size, struct err *err);
void shared_memory_close(struct shared_memory *shared);
