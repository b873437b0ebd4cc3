/* tuner/writes/write_load: loads made of a few numbers. Traces are read in write_load_read.c. */
#include "tuner/writes/write_load.h"

#include "bench/base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_load_plan(const struct write_load_plan *plan, struct err *err)
{
    if (plan->total_bytes == 0 || plan->total_bytes > WRITE_LOAD_MAX_BYTES)
        return err_set(err, -EINVAL, "total: %" PRIu64 " bytes cannot be written; use 1 to 2^62",
                       plan->total_bytes);
    if (plan->request_size_bytes == 0)
        return err_set(err, -EINVAL, "request size: 0 bytes cannot be written");
    if (!(plan->delay_s >= 0 && plan->delay_s <= WRITE_LOAD_MAX_DELAY_S))
        return err_set(err, -EINVAL, "delay: %g s is out of range; use 0 to %g", plan->delay_s,
                       WRITE_LOAD_MAX_DELAY_S);
    if (!(plan->rewrite_share >= 0 && plan->rewrite_share < 1))
        return err_set(err, -EINVAL, "rewrite: a share of %g is out of range; use 0 to 0.999",
                       plan->rewrite_share);
    if (plan->random && plan->rewrite_share > 0)
        return err_set(err, -EINVAL, "rewrite: random writes have no write before to overlap; use write");
    if ((plan->total_bytes - 1) / plan->request_size_bytes >= WRITE_LOAD_MAX_CHUNKS)
        return err_set(err, -EINVAL,
                       "more than %d writes; use larger requests or a smaller total (%" PRIu64
                       " bytes at a time make %" PRIu64 ")",
                       WRITE_LOAD_MAX_CHUNKS, plan->request_size_bytes,
                       (plan->total_bytes - 1) / plan->request_size_bytes + 1);
    return 0;
}

/* Chunk i of a file written once from its beginning to its end. */
static struct cawl_chunk chunk_at(const struct write_load_plan *plan, size_t i)
{
    const uint64_t offset = i * plan->request_size_bytes, left = plan->total_bytes - offset;
    return (struct cawl_chunk){.offset_bytes = offset,
                               .size_bytes =
                                   left < plan->request_size_bytes ? left : plan->request_size_bytes,
                               .delay_s = plan->delay_s};
}

static void move_back(struct cawl_chunk *chunks, size_t n, double share)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t size = chunks[i].size_bytes, wanted = (uint64_t)llround(share * (double)size);
        const uint64_t overlap = wanted < size ? wanted : size; /* 2^60 bytes do not fit into a double */
        chunks[i].offset_bytes = chunks[i - 1].offset_bytes + chunks[i - 1].size_bytes - overlap;
    }
}

/* Fisher and Yates: every order is as likely. */
static void shuffle(struct cawl_chunk *chunks, size_t n, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = n; i > 1; i--) {
        const size_t other = (size_t)(rng_uniform(&rng) * (double)i);
        const struct cawl_chunk held = chunks[i - 1];
        chunks[i - 1] = chunks[other];
        chunks[other] = held;
    }
}

static int allocate_load(struct write_load *load, size_t n)
{
    *load = (struct write_load){.n = n, .n_files = 1};
    load->chunks = malloc(n * sizeof *load->chunks);
    load->extent_bytes = calloc(1, sizeof *load->extent_bytes);
    load->files = calloc(1, sizeof *load->files);
    if (load->files != NULL)
        load->files[0] = strdup("");
    if (load->chunks != NULL && load->extent_bytes != NULL && load->files != NULL && load->files[0] != NULL)
        return 0;
    write_load_done(load);
    return -ENOMEM;
}

int write_load_generate(const struct write_load_plan *plan, struct write_load *ret, struct err *err)
{
    struct write_load load;
    int result = check_load_plan(plan, err);
    if (result < 0)
        return result;
    const size_t n = (size_t)((plan->total_bytes - 1) / plan->request_size_bytes + 1);
    result = allocate_load(&load, n);
    if (result < 0)
        return err_set(err, result, "no memory for %zu writes", n);
    for (size_t i = 0; i < n; i++)
        load.chunks[i] = chunk_at(plan, i);
    if (plan->random)
        shuffle(load.chunks, n, plan->seed);
    else if (plan->rewrite_share > 0)
        move_back(load.chunks, n, plan->rewrite_share);
    load.total_bytes = plan->total_bytes;
    load.extent_bytes[0] = plan->rewrite_share > 0
                               ? load.chunks[n - 1].offset_bytes + load.chunks[n - 1].size_bytes
                               : plan->total_bytes;
    *ret = load;
    return 0;
}

void write_load_done(struct write_load *load)
{
    for (size_t i = 0; load->files != NULL && i < load->n_files; i++)
        free(load->files[i]);
    free(load->chunks);
    free(load->files);
    free(load->extent_bytes);
    *load = (struct write_load){0};
}
