/* bench/io/content: what writes consist of, where they are to be compressible or to repeat themselves.
 *
 * Each block of 4 KiB is random in front and zero behind, so that as much of it compresses away as was asked
 * for. Its first word is new with each write, so that no two blocks are the same; of those that are to repeat
 * themselves it is 0, so that they are what the same part of the same buffer was before. */
#pragma once

#include "bench/base/rng.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTENT_BLOCK_BYTES 4096

struct content {
    double zero_share;   /* of each block; 0..0.95 */
    double repeat_share; /* of the blocks; 0..0.99 */
};

static inline bool content_is_plain(const struct content *content)
{
    return content->zero_share <= 0 && content->repeat_share <= 0;
}

/* The whole of a buffer, before its first write. */
void content_lay(const struct content *content, unsigned char *buffer, uint64_t bytes, struct rng *rng);

/* What changes before each write. */
void content_stamp(const struct content *content, unsigned char *buffer, uint64_t bytes, struct rng *rng);
