/* tuner/profile/record_cost: the work of the wrappers, done again on a store of its own and timed. */
#include "tuner/profile/record_cost.h"

#include "bench/base/clock_quick.h"
#include "models/profile/store.h"

#include <math.h>
#include <stdlib.h>

#define N_REQUESTS 20000

/* As the wrappers do it: two looks at the clock, and places for the beginning, the end and the request. */
static void take_one(struct store *store, uint64_t i)
{
    uint64_t block = i * 2654435761U % 65536;
    struct profile_request request = {.start_ns = clock_quick_ns(),
                                      .file = 1,
                                      .handle = 1,
                                      .thread = 1,
                                      .offset_bytes = block << BLOCKS_LOG2_BYTES,
                                      .n_bytes = 1U << BLOCKS_LOG2_BYTES};
    store_expect(store, request.file, request.offset_bytes);
    store_begin(store, request.start_ns, 1);
    uint64_t end_ns = clock_quick_ns();
    store_end(store, end_ns, 1);
    store_take(store, &request);
    store_took(store, PROFILE_READ, end_ns - request.start_ns);
}

/* Of one request, in ns. */
static double measure(void)
{
    struct store *store = calloc(1, STORE_DEFAULT_BYTES);
    clock_quick_start();
    uint64_t start_ns = clock_quick_ns();
    if (store == NULL || store_init(store, STORE_DEFAULT_BYTES, start_ns) < 0) {
        free(store);
        return NAN;
    }
    for (uint64_t i = 0; i < N_REQUESTS; i++)
        take_one(store, i);
    uint64_t spent_ns = clock_quick_ns() - start_ns;
    free(store);
    return (double)spent_ns / N_REQUESTS;
}

double record_cost_share(const struct store *store)
{
    double n = (double)bins_n(&store->sizes[PROFILE_READ]) + (double)bins_n(&store->sizes[PROFILE_WRITE]);
    double seconds = (double)(store->last_ns - store->start_ns) / 1e9;
    return seconds > 0 ? fmin(1, n * measure() / 1e9 / seconds) : NAN;
}
