/* tests/faults/fault: what a call of the failing file system can meet. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

enum op {
    OP_READ,
    OP_WRITE,
    OP_FSYNC,
    OP_OPEN,
    OP_CREATE,
    OP_UNLINK,
    OP_STATFS,
    OP_FALLOCATE,
    OP_GETATTR,
    N_OPS
};
static const char *const op_names[N_OPS] = {"read",   "write",  "fsync",     "open",   "create",
                                            "unlink", "statfs", "fallocate", "getattr"};

enum kind {
    KIND_NONE,
    KIND_EIO,
    KIND_ENOSPC,
    KIND_EROFS,
    KIND_EINTR,
    KIND_SHORT,
    KIND_STALL,
    KIND_LOSE,
    KIND_FLIP,
    KIND_ENODATA, /* what kernels say of unreadable media */
    N_KINDS
};
static const char *const kind_names[N_KINDS] = {"none",  "eio",   "enospc", "erofs", "eintr",
                                                "short", "stall", "lose",   "flip",  "enodata"};
static const int kind_errors[N_KINDS] = {[KIND_EIO] = EIO,
                                         [KIND_ENOSPC] = ENOSPC,
                                         [KIND_EROFS] = EROFS,
                                         [KIND_EINTR] = EINTR,
                                         [KIND_ENODATA] = ENODATA};

struct fault {
    enum op op;
    enum kind kind;
    uint64_t n;
    bool ever;
    double seconds; /* of a stall; 0: until the fault is cleared */
    uint64_t n_calls, n_struck;
    uint64_t generation; /* a stall ends when it changes */
};
