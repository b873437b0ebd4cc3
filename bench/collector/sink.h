/* bench/collector/sink: who takes what the wrappers see. It is called inside the program's own calls, by all
 * its threads and in signal handlers: it must not allocate, wait or fail. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flags of a request; SINK_SOCKET: of a descriptor. */
enum {
    SINK_WRITES = 1,
    SINK_DIRECT = 2,
    SINK_DURABLE = 4,
    SINK_ASYNC = 8,
    SINK_RINGED = 16,
    SINK_SOCKET = 32
};

struct sink_request {
    uint64_t start_ns;
    uint64_t end_ns; /* 0: it is under way */
    uint64_t file;
    uint32_t handle, thread;
    uint64_t offset_bytes, n_bytes;
    unsigned flags;
};

enum sink_count {
    SINK_EMPTY_READ,
    SINK_FAILED,
    SINK_OTHER, /* a call on what is no file; n: its bytes */
    SINK_LATE,  /* n: bytes of requests that the system does not count with the program's reads and writes */
    SINK_MAP,   /* n: bytes mapped */
    SINK_RING,
    SINK_LOST,
    SINK_RANGE_FLUSH,
    SINK_PASSED /* n: bytes of a call that is not recorded, which the system counts */
};

/* The memory that the recording program made. False: it is none of ours, and nothing is recorded. */
bool sink_open(void *memory, size_t size);

/* The number of this process, after sink_open and in each child; 0: it may not ask for it. */
void sink_join(uint32_t pid);

/* False: nothing is recorded now. */
bool sink_is_on(void);
/* False: nothing will be recorded any more. While this is true and sink_is_on is not,
 * the places of descriptors and what is in flight are still followed. */
bool sink_is_followed(void);

/* False: what is told goes nowhere, because the agent's manager said so. */
bool sink_is_heard(void);

/* What the program says of its recording. The name is not empty. */
void sink_pause(uint64_t now_ns);
void sink_go_on(uint64_t now_ns);
void sink_renew(uint64_t now_ns);
void sink_mark(uint64_t now_ns, uint32_t thread, const char *name);

uint32_t sink_new_handle(void);
/* Before the call, which then has the time that the memory takes. */
void sink_expect(uint64_t file, uint64_t offset_bytes);
void sink_begin(uint64_t now_ns, uint32_t n);
void sink_end(uint64_t now_ns, uint32_t n);
/* The same of asynchronous ones, also of those that are not recorded; sink_end may come in a pause, too. */
void sink_submit(uint64_t now_ns, uint32_t n);
void sink_reap(uint64_t now_ns, uint32_t n);
void sink_take(const struct sink_request *request);
void sink_flush(uint64_t file, uint64_t start_ns, uint64_t end_ns); /* file 0: all */
void sink_close(uint64_t file, uint32_t handle);
void sink_name(uint64_t file, const char *path);
void sink_add(enum sink_count what, uint64_t n);
/* So much of the processor's time is between samples of it (bench/collector/sampler); 0: none are wanted. */
uint64_t sink_sample_ns(void);
/* n samples at a place of a file that is named; file 0: nobody knows where. */
void sink_sample(uint64_t file, uint64_t offset_bytes, uint64_t n);
/* n_bytes went over a socket; flags: SINK_WRITES or none. */
void sink_network(uint32_t thread, unsigned flags, uint64_t n_bytes);
