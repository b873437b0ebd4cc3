/* tests/models/profile/store_rig: a store in memory of its own, and requests to put into it. */
#pragma once

#include "models/profile/store.h"
#include "models/profile/summary.h"
#include "tests/test.h"

#define RIG_MS 1000000ULL

static struct store *store;
static struct summary summary;

static inline void rig_open(size_t n_bytes)
{
    free(store);
    store = calloc(1, n_bytes);
    assert_non_null(store);
    assert_int_equal(store_init(store, n_bytes, 0), 0);
}

FIXTURE(rig_setup)
{
    rig_open(STORE_DEFAULT_BYTES);
    return 0;
}

FIXTURE(rig_teardown)
{
    free(store);
    store = NULL;
    return 0;
}

static inline void rig_take(enum profile_direction direction, uint64_t file, uint64_t offset,
                            uint64_t n_bytes)
{
    const struct profile_request request = {.start_ns = store->last_ns + 1000,
                                            .file = file,
                                            .handle = (uint32_t)file,
                                            .thread = 1,
                                            .offset_bytes = offset,
                                            .n_bytes = n_bytes,
                                            .direction = direction};
    store_take(store, &request);
}

static inline void rig_read(uint64_t file, uint64_t offset, uint64_t n_bytes)
{
    rig_take(PROFILE_READ, file, offset, n_bytes);
}

static inline void rig_write(uint64_t file, uint64_t offset, uint64_t n_bytes)
{
    rig_take(PROFILE_WRITE, file, offset, n_bytes);
}

/* The same numbers every time, evenly spread (Knuth's generator). */
static inline uint64_t rig_random(uint64_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state >> 33) % below;
}

static inline const struct summary *rig_summary(void)
{
    summary_make(&summary, store);
    return &summary;
}
