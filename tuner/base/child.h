/* tuner/base/child: runs another program, with a text for its input and its output in memory. */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CHILD_OUTPUT_MAX_BYTES (64U << 20) /* of each stream; what comes beyond is dropped */

struct child {
    const char *const *arguments;  /* the program, looked up in PATH, first; NULL last */
    const char *input;             /* NULL: none */
    uint64_t timeout_ns;           /* 0: no limit */
    const atomic_int *interrupted; /* may be NULL */
};

struct child_result {
    char *output, *errors; /* terminated texts; owned by the caller, child_free releases them */
    size_t output_size;    /* without the termination */
    int code;              /* exit code, or minus the signal's number */
};

/* Runs it in a process group of its own and waits until it has ended. It
 * inherits no descriptor. 0, whatever its exit code; -ENOENT: there is no such program; -ETIMEDOUT or -EINTR:
 * its whole group was killed; other negative errno. ret is filled only on 0. */
int child_run(const struct child *child, struct child_result *ret, struct err *err);

/* Accepts a zeroed result. */
void child_free(struct child_result *result);
