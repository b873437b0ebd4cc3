/* bench/io/content: blocks that compress, and blocks that repeat themselves. */
#include "bench/io/content.h"

#include <string.h>

void content_lay(const struct content *content, unsigned char *buffer, uint64_t bytes, struct rng *rng)
{
    rng_fill(rng, buffer, bytes);
    for (uint64_t at = 0; at < bytes; at += CONTENT_BLOCK_BYTES) {
        uint64_t block = bytes - at < CONTENT_BLOCK_BYTES ? bytes - at : CONTENT_BLOCK_BYTES;
        uint64_t n_zero = (uint64_t)(content->zero_share * (double)block);
        memset(buffer + at + block - n_zero, 0, n_zero);
    }
}

void content_stamp(const struct content *content, unsigned char *buffer, uint64_t bytes, struct rng *rng)
{
    for (uint64_t at = 0; at < bytes; at += CONTENT_BLOCK_BYTES) {
        uint64_t word = rng_next(rng);
        if (content->repeat_share > 0 && rng_uniform(rng) < content->repeat_share)
            word = 0;
        memcpy(buffer + at, &word, sizeof word);
    }
}
