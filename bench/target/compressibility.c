/* bench/target/compressibility: what a file's data are like. */
#include "bench/target/compressibility.h"

#include "bench/base/full_io.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The fastest level, as file systems use fast compressors. */
#define LEVEL 1
/* btrfs and zfs keep a block compressed only when that saves space; an eighth is zfs's rule. */
#define COMPRESSIBLE 0.875

struct sampler {
    unsigned char *block, *packed;
    uLong packed_bytes;
    uint64_t hashes[COMPRESSIBILITY_BLOCKS];
    uint32_t n, n_compressible, n_duplicate; /* blocks */
};

/* FNV-1a over words: two of 64 blocks collide by chance once in 10^16 files. */
uint64_t compressibility_hash(const unsigned char *block, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, block + at, sizeof(word));
        hash = (hash ^ word) * 0x100000001b3ULL;
        hash ^= hash >> 32; /* without it the high bits of a word would never reach the low ones */
    }
    return hash;
}

static bool seen_before(const struct sampler *sampler, uint64_t hash)
{
    for (uint32_t i = 0; i < sampler->n; i++)
        if (sampler->hashes[i] == hash)
            return true;
    return false;
}

static int add_block(struct sampler *sampler)
{
    uLongf packed = sampler->packed_bytes;
    if (compress2(sampler->packed, &packed, sampler->block, COMPRESSIBILITY_BLOCK_BYTES, LEVEL) != Z_OK)
        return -ENOMEM;
    uint64_t hash = compressibility_hash(sampler->block, COMPRESSIBILITY_BLOCK_BYTES);
    sampler->n_compressible += (double)packed <= COMPRESSIBLE * COMPRESSIBILITY_BLOCK_BYTES;
    sampler->n_duplicate += seen_before(sampler, hash);
    sampler->hashes[sampler->n++] = hash;
    return 0;
}

/* Whole blocks of the file, so that equal blocks of images and databases can be found equal. */
static int sample(int fd, uint64_t n_file_blocks, struct sampler *sampler)
{
    uint32_t n = COMPRESSIBILITY_BLOCKS;
    int code = 0;
    if (n_file_blocks < n)
        n = (uint32_t)n_file_blocks;
    for (uint32_t i = 0; i < n && code == 0; i++) {
        uint64_t index = (n_file_blocks - 1) * i / (n > 1 ? n - 1 : 1);
        code = full_io_read(fd, sampler->block, COMPRESSIBILITY_BLOCK_BYTES,
                            index * COMPRESSIBILITY_BLOCK_BYTES);
        if (code == 0)
            code = add_block(sampler);
    }
    return code;
}

int compressibility_of(int fd, struct compressibility *ret_compressibility)
{
    uint64_t n_file_blocks;
    int code = target_size_of(fd, &n_file_blocks);
    if (code != 0)
        return code;
    n_file_blocks /= COMPRESSIBILITY_BLOCK_BYTES;
    if (n_file_blocks == 0)
        return -ENODATA;
    struct sampler sampler = {.packed_bytes = compressBound(COMPRESSIBILITY_BLOCK_BYTES)};
    sampler.block = malloc(COMPRESSIBILITY_BLOCK_BYTES);
    sampler.packed = malloc(sampler.packed_bytes);
    code = -ENOMEM;
    if (sampler.block != NULL && sampler.packed != NULL)
        code = sample(fd, n_file_blocks, &sampler);
    if (code == 0)
        *ret_compressibility =
            (struct compressibility){.compressible_share = (double)sampler.n_compressible / sampler.n,
                                     .duplicate_share = (double)sampler.n_duplicate / sampler.n};
    free(sampler.block);
    free(sampler.packed);
    return code;
}
