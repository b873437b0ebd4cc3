/* tuner/writes/write_load: the writes that are predicted or made: read from a trace or generated. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct write_load {
    struct cawl_chunk *chunks;
    size_t n;
    char **files; /* their names, by struct cawl_chunk.file; a generated load has one, "" */
    size_t n_files;
    uint64_t total_bytes;   /* sum of the sizes */
    uint64_t *extent_bytes; /* by file: the largest offset + size */
};

struct write_load_plan {
    bool random;                 /* offsets drawn from the whole, aligned to the size, each once before one
                                    comes again; else one after another */
    uint64_t total_bytes;        /* > 0; the last chunk may be smaller */
    uint64_t request_size_bytes; /* > 0 */
    double delay_s;              /* before each chunk, the first included */
    double rewrite_share; /* 0..1 (1 excluded), sequential only: each chunk but the first begins so much
                             of its size before the end of the one before (the paper's figure 7) */
    uint64_t seed;
};

/* At most this many chunks, so far into a file, and so long a pause. */
#define WRITE_LOAD_MAX_CHUNKS  20000000
#define WRITE_LOAD_MAX_BYTES   (UINT64_C(1) << 62)
#define WRITE_LOAD_MAX_DELAY_S 1e9

/* -EINVAL with what is wrong, -ENOMEM. ret only on 0; write_load_done frees it. */
int write_load_generate(const struct write_load_plan *plan, struct write_load *ret, struct err *err);

/* CSV `file,offset,size,delay_s` with a header line naming the columns in any order; `file` may be absent.
 * Bad lines: -EINVAL and "FILE:LINE: ...". "-" is standard input. */
int write_load_read(const char *path, struct write_load *ret, struct err *err);

/* Accepts a zeroed one. */
void write_load_done(struct write_load *load);
