/* tests/bench/io/ioapi_rig: opens a way of doing I/O and keeps its queue full, checking the contract of
 * bench/io/ioapi.h on the way. */
#pragma once

#include "bench/io/ioapi.h"
#include "tests/test.h"

#include <fcntl.h>

#define RIG_DEPTH_MAX 64
#define RIG_TOTAL_MAX 512
#define RIG_POISON    0xEE

struct rig {
    const struct ioapi_ops *ops;
    void *io;
    struct ioapi_config config;
    size_t call_bytes;
    unsigned char *buffers; /* n_calls x call_bytes */
    struct io_call calls[RIG_DEPTH_MAX];
    bool flying[RIG_DEPTH_MAX];
    size_t issue[RIG_DEPTH_MAX]; /* which transfer of the run a slot carries */
    size_t n_flying;
    uint64_t salt; /* distinguishes the contents of successive writes */
    struct err err;
};

struct rig_outcome {
    size_t n_issued, n_reaped;
    size_t n_whole, n_short, n_failed;
    int64_t results[RIG_TOTAL_MAX]; /* by transfer */
    const void *bad_buffer;         /* of the last call that was not moved whole */
};

/* A nameless file in `directory`, open for reading and writing. */
static inline int rig_file(const char *directory, int flags)
{
    char path[] = "./fstune-test-XXXXXX";
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0 && flags == 0) { /* a file system without O_TMPFILE */
        fd = mkstemp(path);
        assert_true(fd >= 0);
        unlink(path);
    }
    return fd;
}

/* Another descriptor of the same file. */
static inline int rig_reopen(int fd, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int again = open(path, flags | O_CLOEXEC);
    assert_true(again >= 0);
    return again;
}

/* File contents as a function of the place in the file. */
static inline uint64_t rig_word(uint64_t offset, uint64_t salt)
{
    return (offset / 8 + 1) * 0x9E3779B97F4A7C15ULL ^ salt;
}

static inline void rig_fill(void *buffer, uint64_t offset, size_t size, uint64_t salt)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = rig_word(offset + i, salt);
        memcpy((unsigned char *)buffer + i, &word, 8);
    }
}

static inline bool rig_matches(const void *buffer, uint64_t offset, size_t size, uint64_t salt)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = rig_word(offset + i, salt);
        if (memcmp((const unsigned char *)buffer + i, &word, size - i < 8 ? size - i : 8) != 0)
            return false;
    }
    return true;
}

/* Sets up `depth` requests in flight in the form that the API has them, and opens it. Returns what open
 * returns. */
static inline int rig_open(struct rig *rig, const struct ioapi_ops *ops, int fd, uint32_t depth,
                           size_t request_bytes, bool sync_each)
{
    uint32_t n_calls = ops->api == API_PSYNC || ops->api == API_PVEC ? 1 : depth;
    uint32_t n_requests = ops->api == API_PVEC ? (depth < 2 ? 2 : depth) : 1;
    memset(rig, 0, sizeof(*rig));
    rig->ops = ops;
    rig->config = (struct ioapi_config){.fd = fd,
                                        .n_calls = n_calls,
                                        .request_size_bytes = request_bytes,
                                        .requests_per_call = n_requests,
                                        .sync_each = sync_each};
    rig->call_bytes = request_bytes * n_requests;
    rig->salt = 1;
    rig->io = malloc(ops->state_size); /* not calloc, whose failures are injected */
    rig->buffers = aligned_alloc(4096, (n_calls * rig->call_bytes + 4095) / 4096 * 4096);
    assert_non_null(rig->io);
    assert_non_null(rig->buffers);
    memset(rig->io, 0, ops->state_size);
    for (uint32_t i = 0; i < n_calls; i++)
        rig->calls[i] = (struct io_call){.fd = fd,
                                         .buffer = rig->buffers + i * rig->call_bytes,
                                         .size_bytes = rig->call_bytes,
                                         .slot = i,
                                         .n_requests = n_requests,
                                         .n_rounds = 1};
    return ops->open(rig->io, &rig->config, &rig->err);
}

static inline void rig_close(struct rig *rig)
{
    rig->ops->close(rig->io);
    free(rig->buffers);
    free(rig->io);
}

static inline void rig_aim(struct rig *rig, uint32_t slot, bool is_write, uint64_t offset)
{
    struct io_call *call = &rig->calls[slot];
    call->is_write = is_write;
    call->offset_bytes = offset;
    call->result = INT64_MIN;
    if (is_write)
        rig_fill(call->buffer, offset, rig->call_bytes, rig->salt);
    else
        memset(call->buffer, RIG_POISON, rig->call_bytes);
}

/* Submits free slots, at most `chunk` and as many as there are transfers left. */
static inline int rig_submit(struct rig *rig, bool is_write, const uint64_t *offsets, size_t n_total,
                             size_t chunk, struct rig_outcome *outcome, size_t *ret_accepted)
{
    struct io_call *list[RIG_DEPTH_MAX];
    size_t n = 0, n_accepted = SIZE_MAX;
    for (uint32_t slot = 0; slot < rig->config.n_calls && n < chunk && outcome->n_issued + n < n_total;
         slot++) {
        if (rig->flying[slot])
            continue;
        rig_aim(rig, slot, is_write, offsets[outcome->n_issued + n]);
        list[n++] = &rig->calls[slot];
    }
    *ret_accepted = 0;
    if (n == 0)
        return 0;
    int rc = rig->ops->submit(rig->io, list, n, &n_accepted, &rig->err);
    if (rc < 0) {
        assert_true(n_accepted == SIZE_MAX); /* outputs stay untouched on failure */
        return rc;
    }
    assert_true(n_accepted <= n);
    assert_true(n_accepted > 0 || rig->n_flying > 0);
    for (size_t i = 0; i < n_accepted; i++) {
        rig->flying[list[i]->slot] = true;
        rig->issue[list[i]->slot] = outcome->n_issued++;
    }
    rig->n_flying += n_accepted;
    *ret_accepted = n_accepted;
    return 0;
}

static inline void rig_account(struct rig *rig, const struct io_call *call, struct rig_outcome *outcome)
{
    assert_true(call >= rig->calls && call < rig->calls + rig->config.n_calls);
    assert_true(rig->flying[call->slot]); /* once only */
    rig->flying[call->slot] = false;
    rig->n_flying--;
    outcome->n_reaped++;
    outcome->results[rig->issue[call->slot]] = call->result;
    if (call->result != (int64_t)call->size_bytes)
        outcome->bad_buffer = call->buffer;
    if (call->result < 0)
        outcome->n_failed++;
    else if ((uint64_t)call->result < call->size_bytes)
        outcome->n_short++;
    else
        outcome->n_whole++;
    if (call->result > 0 && !call->is_write)
        assert_true(rig_matches(call->buffer, call->offset_bytes, (size_t)call->result, rig->salt));
}

static inline int rig_reap(struct rig *rig, size_t max, struct rig_outcome *outcome)
{
    struct io_call *list[RIG_DEPTH_MAX];
    size_t n = SIZE_MAX;
    int rc = rig->ops->reap(rig->io, list, max, IOAPI_NO_END, &n, &rig->err);
    if (rc < 0) {
        assert_true(n == SIZE_MAX);
        return rc;
    }
    assert_in_range(n, 1, max);
    for (size_t i = 0; i < n; i++)
        rig_account(rig, list[i], outcome);
    return 0;
}

/* Makes n_total transfers at `offsets`, keeping the queue as full as the API lets it be. 0, or the first
 * failure of submit or reap as such, with calls perhaps still in flight. */
static inline int rig_run(struct rig *rig, bool is_write, const uint64_t *offsets, size_t n_total,
                          size_t chunk, struct rig_outcome *outcome)
{
    size_t n_accepted;
    int rc;
    memset(outcome, 0, sizeof(*outcome));
    assert_true(n_total <= RIG_TOTAL_MAX);
    while (outcome->n_reaped < n_total) {
        rc = rig_submit(rig, is_write, offsets, n_total, chunk, outcome, &n_accepted);
        if (rc < 0)
            return rc;
        if (n_accepted > 0 && rig->n_flying < rig->config.n_calls && outcome->n_issued < n_total)
            continue;
        rc = rig_reap(rig, RIG_DEPTH_MAX, outcome);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The places 0, step, 2 step, ... in a shuffled order that is the same in every run. */
static inline void rig_shuffle(uint64_t *offsets, size_t n, size_t step)
{
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        size_t j = (size_t)(random >> 33) % (i + 1);
        if (j != i)
            offsets[i] = offsets[j];
        offsets[j] = i * step;
    }
}

/* The row that an EACH_API test is about: one of ioapi_table, or the last: io_uring with deferred completions
 * (--io-uring-cooperative). */
static const struct ioapi_ops *row;

#define RIG_N_ROWS (API_N + 1)
#define RIG_TABLE  ((1U << API_N) - 1) /* rows without the last */

static inline int rig_open_cooperatively(void *state, const struct ioapi_config *config, struct err *err)
{
    struct ioapi_config own = *config;
    own.cooperative_ring = true;
    return ioapi_io_uring.open(state, &own, err);
}

static inline int rig_take_row(void **state)
{
    row = *(const struct ioapi_ops *const *)*state;
    return 0;
}

static inline void rig_register(unsigned rows, const char *file, int line, const char *name,
                                CMUnitTestFunction function)
{
    static const struct ioapi_ops *table[RIG_N_ROWS];
    static struct ioapi_ops cooperative;
    static char names[200][96];
    static size_t n;
    cooperative = ioapi_io_uring;
    cooperative.open = rig_open_cooperatively;
    for (size_t i = 0; i < RIG_N_ROWS; i++) {
        if ((rows >> i & 1) == 0)
            continue;
        table[i] = i < API_N ? ioapi_table[i] : &cooperative;
        snprintf(names[n], sizeof names[n], "%s%s: %s", table[i]->name, i < API_N ? "" : ", cooperative",
                 name);
        test_register(file, line, names[n++], function, rig_take_row, NULL, &table[i]);
    }
}

/* A test for these rows, 1 << number each. */
#define EACH_API_OF(rows, name)                                                                              \
    static void name(void **test_state);                                                                     \
    __attribute__((constructor)) static void rig_register_##name(void)                                       \
    {                                                                                                        \
        rig_register(rows, __FILE__, __LINE__, #name, name);                                                 \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **test_state)
#define EACH_API(name) EACH_API_OF(~0U, name)
