/* The table of ways of doing I/O, by enum api. */
#include "bench/io/ioapi.h"

const struct ioapi_ops *const ioapi_table[API_N] = {
    [API_PSYNC] = &ioapi_psync,   [API_PVEC] = &ioapi_pvec,         [API_POOL] = &ioapi_pool,
    [API_LIBAIO] = &ioapi_libaio, [API_IO_URING] = &ioapi_io_uring,
};
