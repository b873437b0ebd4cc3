/* bench/target/compressibility: what a file's data are like, from blocks sampled all over it.
 *
 * Compressible, all-zero or repeated data are served faster than incompressible ones by file systems and
 * devices that compress or deduplicate. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COMPRESSIBILITY_BLOCK_BYTES 65536U
#define COMPRESSIBILITY_BLOCKS      64U

/* Shares are of the blocks sampled, 0..1. */
struct compressibility {
    double
        compressible_share; /* blocks that shrink to 7/8 or less: what a file system would store compressed */
    double duplicate_share; /* blocks equal to an earlier one of the sample, zeros among them (by a 64 bit
                               hash) */
};

/* Reads COMPRESSIBILITY_BLOCKS blocks at equal distances, the last one at the end; smaller files have fewer.
 * The pages read stay in the cache: call it before target_drop_cache. 0; -ENODATA for a file of less than one
 * block; -ENOMEM; the errno of reading. */
int compressibility_of(int fd, struct compressibility *ret_compressibility);

/* Of whole words of 8 bytes; the rest is ignored. For tests. */
uint64_t compressibility_hash(const unsigned char *block, size_t size);
