/* Kinds of load. */
#include "models/online/kind.h"

#include <string.h>

enum { DIRECTION_READ, DIRECTION_WRITE, DIRECTION_MIXED, N_DIRECTIONS };
enum { SIZE_SMALL, SIZE_MEDIUM, SIZE_LARGE, N_SIZES };

static const char *const names[KIND_N + 1] = {
    "random-read-small",
    "random-read-medium",
    "random-read-large",
    "random-write-small",
    "random-write-medium",
    "random-write-large",
    "random-mixed-small",
    "random-mixed-medium",
    "random-mixed-large",
    "seq-read-small",
    "seq-read-medium",
    "seq-read-large",
    "seq-write-small",
    "seq-write-medium",
    "seq-write-large",
    "seq-mixed-small",
    "seq-mixed-medium",
    "seq-mixed-large",
    "none",
};

_Static_assert(2 * N_DIRECTIONS * N_SIZES == KIND_N, "every kind has a name");

static unsigned direction_of(unsigned kind)
{
    return kind / N_SIZES % N_DIRECTIONS;
}

unsigned kind_of(const struct kind_counts *counts)
{
    uint64_t n_reads = counts->n[PROFILE_READ], n = n_reads + counts->n[PROFILE_WRITE];
    if (n < KIND_LEAST_REQUESTS)
        return KIND_NONE;
    double read_share = (double)n_reads / (double)n, mean_bytes = (double)counts->n_bytes / (double)n;
    unsigned direction = read_share >= KIND_PURE_SHARE       ? DIRECTION_READ
                         : 1 - read_share >= KIND_PURE_SHARE ? DIRECTION_WRITE
                                                             : DIRECTION_MIXED;
    unsigned size = mean_bytes < KIND_SMALL_BYTES   ? SIZE_SMALL
                    : mean_bytes < KIND_LARGE_BYTES ? SIZE_MEDIUM
                                                    : SIZE_LARGE;
    unsigned is_sequential = 2 * counts->n_sequential > n;
    return (is_sequential * N_DIRECTIONS + direction) * N_SIZES + size;
}

const char *kind_name(unsigned kind)
{
    return names[kind < KIND_N ? kind : KIND_NONE];
}

unsigned kind_find(const char *name)
{
    unsigned kind = 0;
    while (kind < KIND_N && strcmp(names[kind], name) != 0)
        kind++;
    return kind;
}

bool kind_is_sequential(unsigned kind)
{
    return kind < KIND_N && kind >= N_DIRECTIONS * N_SIZES;
}

bool kind_is_large(unsigned kind)
{
    return kind < KIND_N && kind % N_SIZES == SIZE_LARGE;
}

bool kind_only_reads(unsigned kind)
{
    return kind < KIND_N && direction_of(kind) == DIRECTION_READ;
}

bool kind_only_writes(unsigned kind)
{
    return kind < KIND_N && direction_of(kind) == DIRECTION_WRITE;
}
