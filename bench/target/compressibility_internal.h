/* bench/target/compressibility_internal: open to tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of whole words of 8 bytes; the rest is ignored. */
uint64_t compressibility_hash(const unsigned char *block, size_t size);
