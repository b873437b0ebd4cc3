/* bench/io/ioapi: the seam between the pump and the ways of doing I/O (interfaces, section 3).
 *
 * A row of ioapi_table is one way. Its state lives in caller's memory of `state_size` bytes. A *call* (struct
 * io_call) is what is handed to the kernel: mostly one request; pvec's call carries queue_depth requests at
 * one offset.
 *
 *   open -> { submit | reap }* -> close
 *
 * Outcome of a call: `result`, bytes moved or a negative errno. A failed or short transfer is still an
 * outcome; the pump turns it into an error. submit and reap themselves fail (negative errno and err) only
 * when the API as such is broken. EINTR is retried inside.
 *
 * Adding one: a file that ends in its row, the row in ioapi.c, the name in bench/base/factors, and its name
 * in the option --api; docs/adding.md has the list. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/base/factors.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io_call {
    void *buffer;  /* size_bytes, aligned to the request size or the page size, whichever is smaller; pvec
                      splits it into n_requests equal parts */
    int fd;        /* the file's */
    uint32_t file; /* its number, where a run has several */
    uint64_t offset_bytes; /* in the file */
    uint64_t size_bytes;   /* of the whole call */
    bool is_write;
    uint32_t slot;       /* index of this call among the queue_depth calls of its queue; constant */
    uint32_t n_requests; /* requests that this call stands for; > 1 for pvec and for a surface without latency
                            noise */
    uint32_t n_rounds; /* of them one after another: latency of a request = latency of the call / n_rounds */
    uint64_t submitted_ns; /* the pump's stamp */
    int64_t result;        /* bytes moved, or a negative errno; valid once reaped */
};

#define IOAPI_NO_END UINT64_MAX

struct simulator_run; /* bench/io/ioapi_simulator.h */

struct ioapi_config {
    int fd;           /* a descriptor of the run, to try things on; ignored by the surface */
    uint32_t n_calls; /* calls in flight at most: the queue depth (pvec: 1) */
    uint64_t request_size_bytes;
    uint32_t requests_per_call;      /* pvec: the queue depth; else 1 */
    bool cooperative_ring;           /* io_uring: completions wait until the program enters the kernel */
    bool sync_each;                  /* a write completes only when it is durable */
    struct simulator_run *simulator; /* the simulated run, for the surface only */
};

struct ioapi_ops {
    const char *name;
    enum api api; /* API_N for the surface */
    size_t state_size;
    bool inline_io; /* submit may do the I/O itself before it returns */

    /* 0 when it can run on this machine; else a negative errno and why, in words that name the remedy
     * ("kernel.io_uring_disabled is 2: ..."). */
    int (*probe)(struct err *err);

    int (*open)(void *state, const struct ioapi_config *config, struct err *err);

    /* Hands over up to n calls, in order; *ret_n of them were accepted. 0 accepted is legal only while others
     * are in flight (the kernel asks to wait: reap, then try again); with none in flight EAGAIN is an error.
     */
    int (*submit)(void *state, struct io_call *const *calls, size_t n, size_t *ret_n, struct err *err);

    /* Waits for at least one completion and takes up to max; sets result. Must not be called with nothing in
     * flight. When the pump's clock comes to until_ns (IOAPI_NO_END: never), it takes what is there, which
     * may be nothing; a time that is past makes it a look. */
    int (*reap)(void *state, struct io_call **calls, size_t max, uint64_t until_ns, size_t *ret_n,
                struct err *err);

    /* Submits and reaps, with nothing else in flight, the same call at `n` offsets one after another, until
     * one does not move all its bytes or *stop (may be NULL) is not 0: the number made whole. offset_bytes
     * and result are those of the last one made. NULL where an API gains nothing by it over submit and reap.
     */
    size_t (*transfer)(void *state, struct io_call *call, const uint64_t *offsets_bytes, size_t n,
                       const atomic_int *stop);

    /* Accepts a zeroed or half-opened state. Calls still in flight are waited for or cancelled; buffers are
     * free afterwards. With calls in flight, only the thread that submitted them may close. */
    void (*close)(void *state);
};

/* Whether the kernel has cooperative task running for io_uring (5.19). False also where io_uring does not
 * work at all. */
bool ioapi_uring_cooperates(void);

/* By enum api. */
extern const struct ioapi_ops *const ioapi_table[API_N];

extern const struct ioapi_ops ioapi_psync, ioapi_pvec, ioapi_pool, ioapi_libaio, ioapi_io_uring,
    ioapi_simulator;
