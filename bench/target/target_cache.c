/* bench/target/target_cache: which pages of the target are in the page cache, and getting them out of it or
 * into it.
 *
 * cachestat(2) is asked first. mincore(2) needs a mapping, knows nothing of dirty pages and calls everything
 * resident in files that are neither ours nor writable for us, so it is asked only for those that are. */
#include "bench/base/full_io.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_cachestat
#ifdef __alpha__
#define SYS_cachestat 561
#else
#define SYS_cachestat 451
#endif
#endif

#define PARTS_OF_DEVICE 64U
#define MAP_PART        (64 * TARGET_MIB) /* of a mapping for mincore: 16 Ki bytes of result at 4 KiB pages */

/* The kernel's layout; headers before Linux 6.5 lack it. */
struct cache_range {
    uint64_t offset, length;
};

struct cache_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* Asked once: valgrind complains of every unknown call, and the proof asks thousands of times. */
static atomic_bool cachestat_is_missing;

/* The kernel's own rule for telling the truth, see can_do_mincore() there. */
static bool mincore_tells(const struct target *target)
{
    struct stat status;
    if (target->owned || target->writable || geteuid() == 0)
        return true;
    return fstat(target->fd, &status) == 0 && status.st_uid == geteuid();
}

/* Mapping does not load pages, it only lets them be asked for. */
static int count_resident(int fd, uint64_t offset, size_t length, size_t page, uint64_t *ret_resident)
{
    size_t n_pages = (length + page - 1) / page;
    unsigned char *resident = malloc(n_pages);
    if (resident == NULL)
        return -ENOMEM;
    int code = -ENOSYS;
    void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    if (map != MAP_FAILED && mincore(map, length, resident) == 0) {
        uint64_t n = 0;
        for (size_t i = 0; i < n_pages; i++)
            n += resident[i] & 1;
        *ret_resident = n;
        code = 0;
    }
    if (map != MAP_FAILED)
        munmap(map, length);
    free(resident);
    return code;
}

static int cached_by_mincore(const struct target *target, uint64_t offset, uint64_t length,
                             uint64_t *ret_cached)
{
    if (!mincore_tells(target))
        return -ENOSYS;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t at = offset / page * page, end = offset + length, total = 0;
    /* A look takes a millisecond a part: a disk of terabytes is looked at in places, evenly spread. */
    uint64_t n_parts = (end - at + MAP_PART - 1) / MAP_PART;
    uint64_t stride = target->is_device && n_parts > PARTS_OF_DEVICE ? n_parts / PARTS_OF_DEVICE : 1;
    while (at < end) {
        uint64_t part = end - at < MAP_PART ? end - at : MAP_PART;
        uint64_t resident;
        int code = count_resident(target->fd, at, (size_t)part, page, &resident);
        if (code != 0)
            return code;
        total += resident * stride;
        at += MAP_PART * stride;
    }
    *ret_cached = total;
    return 0;
}

static int cached_of_one(const struct target *target, uint64_t offset_bytes, uint64_t length_bytes,
                         uint64_t *ret_cached, uint64_t *ret_dirty)
{
    struct cache_range range = {target->base_bytes + offset_bytes, length_bytes};
    struct cache_counts counts;
    if (length_bytes == 0) { /* to the kernel 0 means "to the end" */
        *ret_cached = *ret_dirty = 0;
        return 0;
    }
    errno = 0;
    if (!atomic_load(&cachestat_is_missing) && syscall(SYS_cachestat, target->fd, &range, &counts, 0) == 0) {
        *ret_cached = counts.cached;
        *ret_dirty = counts.dirty + counts.writeback;
        return 0;
    }
    if (errno == ENOSYS)
        atomic_store(&cachestat_is_missing, true);
    int code = cached_by_mincore(target, range.offset, length_bytes, ret_cached);
    if (code == 0)
        *ret_dirty = 0;
    return code;
}

int target_cached_pages(const struct target *target, uint64_t offset_bytes, uint64_t length_bytes,
                        uint64_t *ret_cached, uint64_t *ret_dirty)
{
    uint64_t cached, dirty, all_cached = 0, all_dirty = 0;
    for (uint32_t i = 0; i < target_n_files(target); i++) {
        struct target one = target_one(target, i);
        int code = cached_of_one(&one, offset_bytes, length_bytes, &cached, &dirty);
        if (code != 0)
            return code;
        all_cached += cached;
        all_dirty += dirty;
    }
    *ret_cached = all_cached;
    *ret_dirty = all_dirty;
    return 0;
}

int target_drop_cache(const struct target *target, enum target_cold *ret_cold, struct err *err)
{
    enum target_cold cold = TARGET_COLD_NOT;
    /* Pages that another thread just holds survive one call; a file system that never lets go (tmpfs)
     * survives all of them. */
    for (int i = 0; i < 3 && cold == TARGET_COLD_NOT; i++) {
        int code = 0;
        for (uint32_t file = 0; file < target_n_files(target) && code == 0; file++)
            code = -posix_fadvise(target_fds(target)[file], (off_t)target->base_bytes,
                                  (off_t)target_file_bytes(target), POSIX_FADV_DONTNEED);
        if (code != 0)
            return err_sys(err, code, "%s: its cached pages cannot be dropped", target->name);
        uint64_t cached, dirty;
        if (target_cached_pages(target, 0, target_file_bytes(target), &cached, &dirty) != 0)
            cold = TARGET_COLD_UNVERIFIED;
        else if (cached == 0)
            cold = TARGET_COLD_VERIFIED;
    }
    *ret_cold = cold;
    return 0;
}

static int warm_one(const struct target *target, unsigned char *block, const atomic_int *interrupted,
                    struct err *err)
{
    for (uint64_t at = 0; at < target->size_bytes; at += TARGET_MIB) {
        uint64_t left = target->size_bytes - at;
        if (interrupted != NULL && atomic_load(interrupted) != 0)
            return err_set(err, -EINTR, "%s: reading it into the cache was interrupted", target->name);
        int code = full_io_read(target->fd, block, (size_t)(left < TARGET_MIB ? left : TARGET_MIB),
                                target->base_bytes + at);
        if (code != 0)
            return err_io(err, code, "%s: cannot be read at offset %" PRIu64, target->name, at);
    }
    return 0;
}

int target_warm_cache(const struct target *target, const atomic_int *interrupted, struct err *err)
{
    unsigned char *block = malloc(TARGET_MIB);
    if (block == NULL)
        return err_set(err, -ENOMEM, "%s: no memory for reading it", target->name);
    int code = 0;
    for (uint32_t i = 0; i < target_n_files(target) && code == 0; i++) {
        struct target one = target_one(target, i);
        code = warm_one(&one, block, interrupted, err);
    }
    free(block);
    return code;
}
