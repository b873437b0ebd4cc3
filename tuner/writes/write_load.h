/* tuner/writes/write_load: the writes that are predicted or made: read from a trace or generated. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"
#include "tuner/options/settings.h"

#include <stddef.h>
#include <stdint.h>

struct write_load {
    struct cawl_chunk *chunks;
    size_t n;
    char **files; /* their names, by struct cawl_chunk.file; a generated load has one, "" */
    size_t n_files;
    uint64_t total_bytes; /* sum of the sizes */
};

/* At most this many chunks, so far into a file, and so long a pause. */
#define WRITE_LOAD_MAX_CHUNKS  20000000
#define WRITE_LOAD_MAX_BYTES   (UINT64_C(1) << 62)
#define WRITE_LOAD_MAX_DELAY_S 1e9

/* From the options of a load that do not contradict each other. The last chunk may be smaller. Random:
 * offsets drawn from the whole, aligned to the size, each once before one comes again. rewrite_share: each
 * chunk but the first begins so much of its size before the end of the one before (the paper's figure 7).
 * -EINVAL for too many chunks, -ENOMEM. ret only on 0; write_load_done frees it. */
int write_load_generate(const struct settings_prediction *asked, uint64_t seed, struct write_load *ret,
                        struct err *err);

/* CSV `file,offset,size,delay_s` with a header line naming the columns in any order; `file` may be absent.
 * Bad lines: -EINVAL and "FILE:LINE: ...". "-" is standard input. */
int write_load_read(const char *path, struct write_load *ret, struct err *err);

/* Accepts a zeroed one. */
void write_load_done(struct write_load *load);
