/* bench/target/extents_internal: the counting of extents, open to tests. */
#pragma once

#include "bench/target/extents.h"

#include <linux/fiemap.h>

/* extents->size_bytes is set, everything else zero. Pieces come in the order of the file. */
struct extents_walk {
    struct extents *extents;
    uint64_t logical_end;      /* of the pieces so far */
    uint64_t physical, length; /* of the last piece */
    bool encoded;
};

void extents_add(struct extents_walk *walk, const struct fiemap_extent *piece);
void extents_end(struct extents_walk *walk);
