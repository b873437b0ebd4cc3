/* bench/target/compressibility_internal: open to tests. */
#ifndef FSTUNE_BENCH_TARGET_COMPRESSIBILITY_INTERNAL_H
#define FSTUNE_BENCH_TARGET_COMPRESSIBILITY_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* Of whole words of 8 bytes; the rest is ignored. */
uint64_t compressibility_hash(const unsigned char *block, size_t size);

#endif
