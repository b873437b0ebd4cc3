/* bench/target/extents: how a file lies on its storage stack, from FIEMAP, else from SEEK_HOLE.
 *
 * Reading what was never written measures memory, not the device: holes and unwritten extents come back as
 * zeros without I/O, encoded (compressed) extents and inline data with less I/O than bytes. */
#pragma once

#include <linux/fiemap.h>
#include <stdbool.h>
#include <stdint.h>

/* Bytes are of the file, within its size. Sums other than hole_bytes are 0 where FIEMAP is not known. */
struct extents {
    uint64_t size_bytes;      /* of the file, or of the part of it that was asked for */
    uint64_t n_extents;       /* pieces as FIEMAP tells them; 0 unless fiemap_known */
    uint64_t n_fragments;     /* pieces that do not follow their predecessor on the device, + 1; on btrfs with
                                 compression extents are at most 128 KiB, and this one counts only real jumps */
    uint64_t hole_bytes;      /* nothing allocated: FIEMAP's gaps, else SEEK_HOLE */
    uint64_t unwritten_bytes; /* FIEMAP_EXTENT_UNWRITTEN: allocated, reads as zeros without I/O */
    uint64_t encoded_bytes;   /* FIEMAP_EXTENT_ENCODED: compressed or encrypted by the file system */
    bool fiemap_known;        /* everything above holds */
    bool holes_known;         /* hole_bytes holds: FIEMAP, or a SEEK_HOLE that the file system really has */
};

/* From base_bytes on, of length_bytes or, where that is 0, to the end of the file.
 *
 * Flushes the file first (FIEMAP_FLAG_SYNC), so that delayed allocation is over; not timed. 0; -EFBIG beyond
 * 2^22 extents; the errno of fstat. A file system that tells nothing is 0 with both flags false. */
int extents_of(int fd, uint64_t base_bytes, uint64_t length_bytes, struct extents *ret_extents);

/* How much more broken up a file is after than before: extra jumps per GiB of file; NaN when unknown. One
 * jump per 128 MiB block group is normal, so some 8 per GiB mean nothing. */
double extents_growth_per_gib(const struct extents *before, const struct extents *after);

/* The counting, open to tests: extents->size_bytes is set, everything else zero. Pieces come in the order of
 * the file. */
struct extents_walk {
    struct extents *extents;
    uint64_t logical_end;      /* of the pieces so far */
    uint64_t physical, length; /* of the last piece */
    bool encoded;
};

void extents_add(struct extents_walk *walk, const struct fiemap_extent *piece);
void extents_end(struct extents_walk *walk);
