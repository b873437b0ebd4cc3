/* bench/target/target_fill: how large the target file may be, and its random contents. */
#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "bench/host/hostinfo.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* This share of the free space is left for the file system's own blocks, so that a file of the planned size
 * passes target_check_free. */
#define METADATA_SHARE 0.02

/* A file that lies in memory leaves as much again: for the buffers, and for the program. */
#define MEMORY_SHARE 0.5

static uint64_t whole_mib(double bytes)
{
    return bytes < 0x1p63 ? (uint64_t)bytes / TARGET_MIB * TARGET_MIB : UINT64_MAX / TARGET_MIB * TARGET_MIB;
}

/* f_bavail, not f_bfree: blocks reserved for root are not ours to take. */
int target_available(int fd, const char *name, uint64_t *ret_bytes, uint64_t *ret_block_bytes,
                     struct err *err)
{
    struct statvfs space;
    struct statfs kind;
    if (fstatvfs(fd, &space) != 0 || fstatfs(fd, &kind) != 0)
        return err_sys(err, -errno, "%s: cannot ask for its free space", name);
    if (ret_block_bytes != NULL)
        *ret_block_bytes = (uint64_t)space.f_frsize;
    uint64_t available = UINT64_MAX;
    if (space.f_blocks != 0)
        available = (uint64_t)space.f_bavail * (uint64_t)space.f_frsize;
    if (kind.f_type == TMPFS_MAGIC || (uint32_t)kind.f_type == RAMFS_MAGIC) {
        struct hostinfo_memory_room room;
        hostinfo_find_memory_room(&room);
        if (room.bytes * MEMORY_SHARE < (double)available)
            available = (uint64_t)(room.bytes * MEMORY_SHARE);
    }
    *ret_bytes = available;
    return 0;
}

/* An upper bound of the file's size and the words for it. */
struct bound {
    uint64_t bytes;
    int code;
    const char *what, *remedy;
};

/* What is left of so many bytes; of no limit, none is taken. */
static uint64_t less(uint64_t bytes, uint64_t taken)
{
    if (bytes == UINT64_MAX)
        return bytes;
    return bytes > taken ? bytes - taken : 0;
}

/* All that can forbid a size is asked before anything is written; only the tightest is worth an error
 * message. */
static struct bound tightest_bound(const struct target_plan *plan, uint64_t available)
{
    struct bound bound = {UINT64_MAX, -ENOSPC, "can be taken with 10 % of the free space kept free",
                          "free some or choose another --path"};
    if (available != UINT64_MAX)
        bound.bytes = less(whole_mib((double)available * (1.0 - TARGET_FREE_SHARE - METADATA_SHARE)),
                           plan->other_bytes);
    const uint64_t n_regions = plan->region.n > 0 ? plan->region.n : 1;
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / n_regions < bound.bytes)
        bound = (struct bound){limit.rlim_cur / n_regions, -EFBIG,
                               "are allowed for a file of this process (ulimit -f)", "raise that limit"};
    if (less(plan->max_write_bytes, plan->other_bytes) < bound.bytes)
        bound = (struct bound){less(plan->max_write_bytes, plan->other_bytes), -EFBIG,
                               "may be written (--max-write)", "raise --max-write"};
    return bound;
}

/* Equal parts of whole MiB. */
static int split_size(const struct target_plan *plan, uint64_t bytes, uint64_t *ret_bytes, struct err *err)
{
    uint64_t n = plan->n_files > 1 ? plan->n_files : 1, part = bytes / n / TARGET_MIB * TARGET_MIB;
    if (part == 0)
        return err_set(err, -EINVAL,
                       "%" PRIu64 " files need at least 1 MiB each; give --file-size %" PRIu64
                       "m or more, or fewer "
                       "--files",
                       n, n);
    *ret_bytes = part * n;
    return 0;
}

int target_plan_size(const struct target_plan *plan, uint64_t available, uint64_t *ret_bytes, struct err *err)
{
    uint64_t requested = plan->size_bytes / TARGET_MIB * TARGET_MIB;
    if (requested == 0)
        return err_set(err, -EINVAL,
                       "a target file of %" PRIu64 " bytes is too small; give --file-size 1m or more",
                       plan->size_bytes);
    struct bound bound = tightest_bound(plan, available);
    uint64_t least = requested; /* what the user asked for by number is taken whole or not at all */
    if (plan->size_is_default && least > TARGET_SIZE_MIN_BYTES)
        least = TARGET_SIZE_MIN_BYTES;
    if (bound.bytes < least) {
        char have[UNITS_TEXT_SIZE], need[UNITS_TEXT_SIZE], missing[UNITS_TEXT_SIZE];
        return err_set(err, bound.code, "%s: a target file of %s does not fit: %s %s, %s are missing; %s%s",
                       plan->directory, units_format_bytes(least, need),
                       units_format_bytes(bound.bytes, have), bound.what,
                       units_format_bytes(least - bound.bytes, missing), bound.remedy,
                       plan->size_is_default ? "" : " or give a smaller --file-size");
    }
    uint64_t bytes = requested <= bound.bytes ? requested : bound.bytes / TARGET_MIB * TARGET_MIB;
    return split_size(plan, bytes, ret_bytes, err);
}

/* XFS reserves up to the size of a growing file behind its end and gives that back later: it counts as free.
 */
static int available_with_reserve(const struct target *target, uint64_t *ret_bytes, struct err *err)
{
    struct stat status;
    int code = target_available(target->fd, target->name, ret_bytes, NULL, err);
    if (code != 0)
        return code;
    if (fstat(target->fd, &status) != 0)
        return err_sys(err, -errno, "%s: cannot ask for its free space", target->name);
    uint64_t allocated = (uint64_t)status.st_blocks * 512, size = (uint64_t)status.st_size;
    if (allocated > size && *ret_bytes < UINT64_MAX - (allocated - size))
        *ret_bytes += allocated - size;
    return 0;
}

int target_check_free(const struct target *target, struct err *err)
{
    uint64_t now;
    int code = available_with_reserve(target, &now, err);
    if (code != 0 || target->available_bytes == UINT64_MAX)
        return code;
    double keep = (double)target->available_bytes * TARGET_FREE_SHARE;
    if ((double)now < keep) {
        char left[UNITS_TEXT_SIZE], floor_text[UNITS_TEXT_SIZE];
        return err_set(
            err, -ENOSPC,
            "%s: only %s are left on its file system, %s must stay free; free some space or choose "
            "another --path",
            target->name, units_format_bytes(now, left), units_format_bytes((uint64_t)keep, floor_text));
    }
    return 0;
}

/* The errors that a user can do something about get words for it. */
static int fill_error(const struct target *target, int code, uint64_t done, struct err *err)
{
    static const struct {
        int code;
        const char *text;
    } words[] = {
        {-ENOSPC, "the file system is full; free some space, give a smaller --file-size or another --path"},
        {-EDQUOT, "your disk quota is used up; give a smaller --file-size or another --path"},
        {-EFBIG,
         "the file may not become so large; raise the limit (ulimit -f) or give a smaller --file-size"},
    };
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].code == code)
            return err_set(err, code, "%s: filling stopped after %s: %s", target->name,
                           units_format_bytes(done, text), words[i].text);
    return err_io(err, code, "%s: filling stopped after %s", target->name, units_format_bytes(done, text));
}

struct filling {
    struct target *target;
    const struct target_plan *plan;
    uint64_t start_ns, done, total;
    uint64_t part; /* of the total in each file; of one file, no end */
    uint64_t checkpoint_bytes;
};

/* Never 0, it is divided by. */
static double elapsed_seconds(const struct filling *filling)
{
    uint64_t ns = clock_now_ns(filling->plan->clock) - filling->start_ns;
    return ns > 0 ? (double)ns / (double)CLOCK_NS_PER_S : 1e-9;
}

/* Shrinks a default size to what the rate seen so far can fill in its share of the budget, but not below the
 * minimum nor what is there. */
static void fit_to_budget(struct filling *filling)
{
    if (!filling->plan->size_is_default || filling->plan->budget_ns == 0)
        return;
    double share_s = TARGET_FILL_SHARE * (double)filling->plan->budget_ns / (double)CLOCK_NS_PER_S;
    uint64_t fits = whole_mib((double)filling->done / elapsed_seconds(filling) * share_s);
    if (fits < TARGET_SIZE_MIN_BYTES)
        fits = TARGET_SIZE_MIN_BYTES;
    if (fits < filling->done)
        fits = filling->done;
    if (fits < filling->total)
        filling->total = fits;
}

/* Shrinks a default size when somebody else takes the space, before the share that must stay free is touched.
 */
static void fit_to_space(struct filling *filling)
{
    uint64_t before = filling->target->available_bytes, now;
    if (!filling->plan->size_is_default || before == UINT64_MAX ||
        available_with_reserve(filling->target, &now, NULL) != 0)
        return;
    double room = (double)now - (double)before * (TARGET_FREE_SHARE + METADATA_SHARE / 2);
    uint64_t fits = filling->done + (room > 0 ? whole_mib(room) : 0);
    if (fits >= TARGET_SIZE_MIN_BYTES && fits < filling->total)
        filling->total = fits;
}

/* The flush at each checkpoint bounds what is dirty: the rate is the device's, an interruption never waits
 * for a gigabyte of writeback, and delayed allocation shows a full file system here. */
static int checkpoint(struct filling *filling, struct err *err)
{
    int code = target_sync(filling->target);
    if (code != 0)
        return fill_error(filling->target, code, filling->done, err);
    if (target_n_files(filling->target) == 1) {
        fit_to_budget(filling);
        fit_to_space(filling);
    }
    code = target_check_free(filling->target, err);
    if (code == 0 && filling->plan->progress != NULL)
        filling->plan->progress(filling->plan->progress_context, filling->done, filling->total);
    return code;
}

static int interrupted(const struct filling *filling, struct err *err)
{
    char done[UNITS_TEXT_SIZE], total[UNITS_TEXT_SIZE];
    return err_set(err, -EINTR, "%s: filling was interrupted after %s of %s", filling->target->name,
                   units_format_bytes(filling->done, done), units_format_bytes(filling->total, total));
}

/* Fresh random numbers for every block: copies of one block would be found by file systems and disks that
 * deduplicate. */
static int fill_blocks(struct filling *filling, unsigned char *block, struct err *err)
{
    struct rng rng;
    rng_init(&rng, filling->plan->seed);
    while (filling->done < filling->total) {
        if (filling->plan->interrupted != NULL && atomic_load(filling->plan->interrupted) != 0)
            return interrupted(filling, err);
        rng_fill(&rng, block, TARGET_MIB);
        if (filling->plan->verify != NULL)
            verify_stamp(filling->plan->verify, block, filling->done, TARGET_MIB);
        uint64_t part = filling->part, at = filling->done;
        int fd = target_fds(filling->target)[at / part];
        int code = full_io_write(fd, block, TARGET_MIB, filling->target->base_bytes + at % part, NULL);
        if (code != 0)
            return fill_error(filling->target, code, filling->done, err);
        filling->done += TARGET_MIB;
        if (filling->done % filling->checkpoint_bytes == 0 || filling->done == filling->total)
            code = checkpoint(filling, err);
        if (code != 0)
            return code;
    }
    return 0;
}

/* A memory group of version 1 is ended by the kernel when all its pages are dirty. */
static uint64_t checkpoint_bytes(void)
{
    struct hostinfo_memory_room room;
    hostinfo_find_memory_room(&room);
    return whole_mib(fmax(TARGET_MIB, fmin(TARGET_CHECKPOINT, room.v1_bytes / 4)));
}

int target_fill(struct target *target, const struct target_plan *plan, uint64_t size_bytes, struct err *err)
{
    unsigned char *block = aligned_alloc(4096, TARGET_MIB);
    if (block == NULL)
        return err_set(err, -ENOMEM, "%s: no memory for filling it", target->name);
    memset(block, 0, TARGET_MIB); /* its first page faults belong before the clock */
    struct filling filling = {
        .target = target, .plan = plan, .start_ns = clock_now_ns(plan->clock), .total = size_bytes};
    filling.checkpoint_bytes = checkpoint_bytes();
    filling.part = target_n_files(target) > 1 ? size_bytes / target_n_files(target) : UINT64_MAX;
    int code = fill_blocks(&filling, block, err);
    target->filled_bytes = filling.done;
    if (code == 0) {
        target->size_bytes = filling.done;
        target->fill_seconds = elapsed_seconds(&filling);
        target->fill_bps = (double)filling.done / target->fill_seconds;
    }
    free(block);
    return code;
}
