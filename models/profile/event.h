/* models/profile/event: one request of a program, as wrappers, traces and imported files tell it. */
#pragma once

#include <stdint.h>

enum profile_direction { PROFILE_READ, PROFILE_WRITE, PROFILE_N_DIRECTIONS };

/* Flags of a request. */
enum {
    PROFILE_DIRECT = 1,  /* past the page cache (O_DIRECT) */
    PROFILE_DURABLE = 2, /* a write that is durable when it returns (O_SYNC, O_DSYNC, RWF_DSYNC) */
    PROFILE_ASYNC = 4,   /* handed to the kernel without waiting for it */
    PROFILE_RING = 8     /* of these: through io_uring */
};

struct profile_request {
    uint64_t start_ns;
    uint64_t file;   /* number of the file, not 0 */
    uint32_t handle; /* number of the open file; requests through several are told apart */
    uint32_t thread;
    uint64_t offset_bytes, n_bytes; /* n_bytes > 0 */
    enum profile_direction direction;
    unsigned flags;
};
