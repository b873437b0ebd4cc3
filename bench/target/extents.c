/* bench/target/extents: how a file lies on its storage stack. */
#include "bench/target/extents.h"

#include <errno.h>
#include <linux/fs.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_EXTENTS 512U /* asked for at once: 28 KiB */
#define EXTENTS_MAX  (1U << 22)
#define GIB          (1ULL << 30)

/* What of a piece lies inside the file: file systems allocate whole blocks, and more than that ahead. */
static uint64_t inside(const struct extents *extents, uint64_t start, uint64_t length)
{
    if (start >= extents->size_bytes)
        return 0;
    return length < extents->size_bytes - start ? length : extents->size_bytes - start;
}

void extents_add(struct extents_walk *walk, const struct fiemap_extent *piece)
{
    struct extents *extents = walk->extents;
    uint64_t bytes = inside(extents, piece->fe_logical, piece->fe_length);
    if (bytes == 0)
        return;
    if (piece->fe_logical > walk->logical_end)
        extents->hole_bytes += piece->fe_logical - walk->logical_end;
    /* Compressed pieces are shorter on the device than in the file, by how much FIEMAP does not say: any step
     * forward that is no longer than the piece counts as following. */
    uint64_t step = piece->fe_physical - walk->physical;
    bool follows = extents->n_extents > 0 && piece->fe_physical > walk->physical &&
                   (walk->encoded ? step <= walk->length : step == walk->length);
    extents->n_fragments += !follows;
    extents->n_extents++;
    if (piece->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
        extents->unwritten_bytes += bytes;
    if (piece->fe_flags & FIEMAP_EXTENT_ENCODED)
        extents->encoded_bytes += bytes;
    walk->physical = piece->fe_physical;
    walk->length = piece->fe_length;
    walk->encoded = (piece->fe_flags & FIEMAP_EXTENT_ENCODED) != 0;
    walk->logical_end = piece->fe_logical + piece->fe_length;
}

void extents_end(struct extents_walk *walk)
{
    if (walk->logical_end < walk->extents->size_bytes)
        walk->extents->hole_bytes += walk->extents->size_bytes - walk->logical_end;
    walk->extents->fiemap_known = walk->extents->holes_known = true;
}

/* An extent as it lies in a part of the file. */
static struct fiemap_extent from(struct fiemap_extent piece, uint64_t base_bytes)
{
    uint64_t before = piece.fe_logical < base_bytes ? base_bytes - piece.fe_logical : 0;
    piece.fe_logical += before - base_bytes;
    piece.fe_physical += before;
    piece.fe_length -= before;
    return piece;
}

/* Page by page to the last extent. 0 or -errno. */
static int walk_fiemap(int fd, uint64_t base_bytes, struct extents_walk *walk, struct fiemap *map)
{
    bool last = false;
    while (!last) {
        *map = (struct fiemap){.fm_start = base_bytes + walk->logical_end,
                               .fm_length = FIEMAP_MAX_OFFSET - base_bytes - walk->logical_end,
                               .fm_flags = FIEMAP_FLAG_SYNC,
                               .fm_extent_count = PAGE_EXTENTS};
        if (ioctl(fd, FS_IOC_FIEMAP, map) != 0)
            return -errno;
        if (map->fm_mapped_extents == 0)
            break;
        uint64_t before = walk->logical_end;
        for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
            struct fiemap_extent piece = from(map->fm_extents[i], base_bytes);
            extents_add(walk, &piece);
            last |= (map->fm_extents[i].fe_flags & FIEMAP_EXTENT_LAST) != 0;
        }
        /* Behind the end of the file nothing counts any more, and a file that others change must not hold us.
         */
        last |= walk->logical_end >= walk->extents->size_bytes || walk->logical_end <= before;
        if (walk->extents->n_extents > EXTENTS_MAX)
            return -EFBIG;
    }
    extents_end(walk);
    return 0;
}

static int ask_fiemap(int fd, uint64_t base_bytes, struct extents *extents)
{
    struct extents_walk walk = {.extents = extents};
    struct fiemap *map = calloc(1, sizeof(*map) + PAGE_EXTENTS * sizeof(map->fm_extents[0]));
    if (map == NULL)
        return -ENOMEM;
    int code = walk_fiemap(fd, base_bytes, &walk, map);
    free(map);
    return code;
}

/* The kernel answers for file systems that know nothing of holes too, with "no hole". A hole that is found is
 * true in any case. The offset moves, so it needs a descriptor of its own. */
static void ask_seek(int fd, uint64_t base_bytes, struct extents *extents)
{
    off_t at = (off_t)base_bytes, size = (off_t)(base_bytes + extents->size_bytes);
    while (at < size) {
        off_t hole = lseek(fd, at, SEEK_HOLE);
        if (hole < 0 || hole >= size)
            break;
        off_t data = lseek(fd, hole, SEEK_DATA);
        if (data < 0 && errno != ENXIO)
            break;
        at = data < 0 || data > size ? size : data;
        extents->hole_bytes += (uint64_t)(at - hole);
    }
    extents->holes_known = extents->hole_bytes > 0;
}

int extents_of(int fd, uint64_t base_bytes, uint64_t length_bytes, struct extents *ret_extents)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return -errno;
    const struct extents none = {.size_bytes =
                                     length_bytes != 0 ? length_bytes : (uint64_t)file.st_size - base_bytes};
    struct extents extents = none;
    int code = ask_fiemap(fd, base_bytes, &extents);
    if (code == -ENOMEM || code == -EFBIG)
        return code;
    if (code != 0) {
        extents = none;
        off_t position = lseek(fd, 0, SEEK_CUR);
        ask_seek(fd, base_bytes, &extents);
        lseek(fd, position, SEEK_SET);
    }
    *ret_extents = extents;
    return 0;
}

double extents_growth_per_gib(const struct extents *before, const struct extents *after)
{
    if (!before->fiemap_known || !after->fiemap_known || after->size_bytes == 0)
        return NAN;
    double jumps = (double)after->n_fragments - (double)before->n_fragments;
    return jumps / ((double)after->size_bytes / (double)GIB);
}
