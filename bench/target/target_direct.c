/* bench/target/target_direct: does O_DIRECT really pass by the page cache here?
 *
 * A flag that is accepted proves nothing: tmpfs ignores it, and btrfs turns direct writes to checksummed
 * files into buffered ones. So data are moved and their pages looked for. After a read they would still be
 * there. After a write btrfs has already written them out and forgotten them, therefore a second thread looks
 * while the write is under way. */
#include "bench/base/full_io.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef STATX_DIOALIGN
#define STATX_DIOALIGN 0x2000U
#endif
/* Offset of stx_dio_offset_align in struct statx: headers before Linux 6.1 have spare words there. */
#define STATX_DIO_OFFSET_ALIGN_AT 0x9c

#define ALIGN_MIN  512U
#define ALIGN_MAX  4096U
#define N_PLACES   4
#define NEIGHBOURS 64U /* of a place, on either side */
#define ROUNDS_MAX 16  /* of writes at all places until enough looks fell inside them */
#define LOOKS_MIN  8

_Static_assert((uint64_t)N_PLACES *ROUNDS_MAX *TARGET_MIB == TARGET_PROOF_MOST_BYTES, "as the header says");

struct probe {
    struct target *target;
    int fd; /* O_DIRECT */
    unsigned char *block;
    size_t block_bytes;
    uint64_t places[N_PLACES];
    uint64_t most_write_bytes;
};

/* Keeps the reason of a verdict that is not "proved". */
__attribute__((format(printf, 3, 4))) static enum target_proof
verdict(struct target *target, enum target_proof proof, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(target->direct_why, sizeof(target->direct_why), format, args);
    va_end(args);
    return proof;
}

/* Of both directions. */
static int settle(struct target *target, enum target_proof proof, const char *why)
{
    target->direct_read = verdict(target, proof, "%s", why);
    target->direct_write = target->writable ? proof : TARGET_DIRECT_UNTRIED;
    return 0;
}

/* Everything else that a transfer can fail with is a fault of the target, not an answer. */
static bool means_refused(int code)
{
    return code == -EINVAL || code == -EOPNOTSUPP || code == -ENOSYS;
}

/* The kernel's word on alignment. True when it gave one; an alignment of 0 is its way to say that there is no
 * direct I/O. */
static bool ask_alignment(struct target *target)
{
    struct statx status;
    if (statx(target->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0 ||
        (status.stx_mask & STATX_DIOALIGN) == 0)
        return false;
    memcpy(&target->direct_offset_align_bytes, (const unsigned char *)&status + STATX_DIO_OFFSET_ALIGN_AT,
           sizeof(target->direct_offset_align_bytes));
    return true;
}

/* Somebody may be using a file that is not ours, and need what is cached of it: only the pages of the places
 * that are looked at are dropped then. */
static bool keeps_others_pages(const struct target *target)
{
    return !target->owned && !target->is_device;
}

/* A place with what is beside it, because pages that the kernel holds together go together. */
static void forget_around(const struct target *target, uint64_t place, uint64_t n_bytes)
{
    uint64_t cached = 1, dirty, beside = UINT64_C(2) * TARGET_MIB, at = target->base_bytes + place,
             before = at < beside ? at : beside;
    /* Pages that another thread just holds survive one call. */
    for (int i = 0; i < 3 && cached != 0; i++) {
        posix_fadvise(target->fd, (off_t)(at - before), (off_t)(before + n_bytes + beside),
                      POSIX_FADV_DONTNEED);
        if (target_cached_pages(target, place, n_bytes, &cached, &dirty) != 0)
            break;
    }
}

/* True when a read of the beginning left its pages in the cache, which are then dropped again. */
static bool left_pages(const struct target *target)
{
    uint64_t cached, dirty;
    if (target_cached_pages(target, 0, UINT64_C(2) * ALIGN_MAX, &cached, &dirty) != 0 || cached == 0)
        return false;
    forget_around(target, 0, UINT64_C(2) * ALIGN_MAX);
    return true;
}

/* For file systems of which the kernel does not say it. btrfs accepts any alignment and reads through the
 * cache below its sector size, so an accepted read counts only when it left nothing there - unless none does,
 * as on tmpfs. */
static int find_alignment(struct probe *probe)
{
    uint32_t accepted = 0, direct = 0;
    if (keeps_others_pages(probe->target))
        forget_around(probe->target, 0, UINT64_C(2) * ALIGN_MAX);
    for (uint32_t align = ALIGN_MIN; align <= ALIGN_MAX && direct == 0; align *= 2) {
        if (pread(probe->fd, probe->block, align, (off_t)(probe->target->base_bytes + align)) < 0) {
            if (errno != EINVAL)
                return -errno;
            continue;
        }
        accepted = accepted != 0 ? accepted : align;
        direct = left_pages(probe->target) ? 0 : align;
    }
    if (accepted == 0)
        return -EINVAL;
    probe->target->direct_offset_align_bytes = direct != 0 ? direct : accepted;
    return 0;
}

/* Of a device that is mounted, the file system keeps pages of its own in the cache, which cannot be dropped:
 * what lies beside them does as well. `place` itself where nothing near it is free of them. */
static uint64_t find_uncached(const struct probe *probe, uint64_t place)
{
    uint64_t cached, dirty, last = probe->target->size_bytes - probe->block_bytes;
    for (uint64_t i = 0; i < NEIGHBOURS && probe->target->is_device; i++) {
        uint64_t at = place + i * TARGET_MIB;
        if (at <= last && target_cached_pages(probe->target, at, probe->block_bytes, &cached, &dirty) == 0 &&
            cached == 0)
            return at;
        at = place - i * TARGET_MIB;
        if (i * TARGET_MIB <= place &&
            target_cached_pages(probe->target, at, probe->block_bytes, &cached, &dirty) == 0 && cached == 0)
            return at;
    }
    return place;
}

/* Whole pages spread over the file, so that one odd extent does not speak for all. */
static void choose_places(struct probe *probe)
{
    const struct target *target = probe->target;
    uint64_t unit = (uint64_t)sysconf(_SC_PAGESIZE);
    if (unit < target->direct_offset_align_bytes)
        unit = target->direct_offset_align_bytes;
    uint64_t block = target->size_bytes < TARGET_MIB ? target->size_bytes / unit * unit : TARGET_MIB;
    probe->block_bytes = (size_t)block;
    for (uint64_t i = 0; i < N_PLACES; i++)
        probe->places[i] =
            find_uncached(probe, (target->size_bytes - block) / (N_PLACES - 1) * i / unit * unit);
}

/* True when nothing of the place is cached; else, or when nobody can tell, false and the verdict for it. */
static bool is_uncached(const struct probe *probe, uint64_t place, enum target_proof *ret_proof)
{
    uint64_t cached, dirty;
    if (target_cached_pages(probe->target, place, probe->block_bytes, &cached, &dirty) != 0) {
        *ret_proof =
            verdict(probe->target, TARGET_DIRECT_UNVERIFIED, "neither cachestat nor mincore works here");
        return false;
    }
    if (cached != 0 || dirty != 0) {
        *ret_proof = verdict(probe->target, TARGET_DIRECT_BUFFERED,
                             "%" PRIu64 " pages of it were in the page cache all the same", cached);
        return false;
    }
    return true;
}

static int prove_reads(struct probe *probe, enum target_proof *ret_proof)
{
    enum target_proof proof = TARGET_DIRECT_PROVED;
    for (int i = 0; i < N_PLACES && proof == TARGET_DIRECT_PROVED; i++) {
        if (keeps_others_pages(probe->target))
            forget_around(probe->target, probe->places[i], probe->block_bytes);
        if (!is_uncached(probe, probe->places[i], &proof)) {
            /* Nobody else has our own file: its file system never lets pages go. Somebody may be reading the
             * user's. */
            if (proof == TARGET_DIRECT_BUFFERED && !probe->target->owned)
                proof =
                    verdict(probe->target, TARGET_DIRECT_UNVERIFIED, "its cached pages could not be dropped");
            break;
        }
        int code = full_io_read(probe->fd, probe->block, probe->block_bytes,
                                probe->target->base_bytes + probe->places[i]);
        if (code != 0 && !means_refused(code))
            return code;
        if (code != 0)
            proof =
                verdict(probe->target, TARGET_DIRECT_REFUSED, "a direct read failed: %s", strerror(-code));
        else
            is_uncached(probe, probe->places[i], &proof);
    }
    *ret_proof = proof;
    return 0;
}

/* Looks at one place, part by part, until told to stop. Where the kernel has no cachestat, a look at all of
 * it can take longer than the write. */
struct watch {
    const struct probe *probe;
    uint64_t place;
    atomic_bool stop, seen, blind;
    atomic_uint_fast64_t n_looks;
};

static void *watch_pages(void *argument)
{
    struct watch *watch = argument;
    const struct probe *probe = watch->probe;
    uint64_t part = probe->block_bytes / LOOKS_MIN;
    while (!atomic_load(&watch->stop)) {
        uint64_t cached, dirty, at = watch->place + atomic_load(&watch->n_looks) % LOOKS_MIN * part;
        if (target_cached_pages(probe->target, at, part, &cached, &dirty) != 0)
            atomic_store(&watch->blind, true);
        else if (cached != 0 || dirty != 0)
            atomic_store(&watch->seen, true);
        atomic_fetch_add(&watch->n_looks, 1);
    }
    return NULL;
}

/* Rewrites what is at the place under watch. *ret_looks were both begun and finished while the write was
 * under way. */
static int write_watched(struct watch *watch, uint64_t *ret_looks)
{
    const struct probe *probe = watch->probe;
    const uint64_t at_bytes = probe->target->base_bytes + watch->place;
    int code = full_io_read(probe->fd, probe->block, probe->block_bytes, at_bytes);
    if (code != 0)
        return code;
    pthread_t thread;
    code = -pthread_create(&thread, NULL, watch_pages, watch);
    if (code != 0)
        return code;
    while (atomic_load(&watch->n_looks) == 0)
        sched_yield();
    uint64_t before = atomic_load(&watch->n_looks);
    code = full_io_write(probe->fd, probe->block, probe->block_bytes, at_bytes, NULL);
    uint64_t after = atomic_load(&watch->n_looks);
    atomic_store(&watch->stop, true);
    pthread_join(thread, NULL);
    /* Counted only now that the watcher has ended: it reads the target. */
    probe->target->proof_bytes += probe->block_bytes;
    *ret_looks = after > before ? after - before - 1 : 0;
    return code;
}

/* One write at one place. The watcher's findings count before the look afterwards: btrfs passes that one. */
static int prove_write_at(const struct probe *probe, uint64_t place, uint64_t *looks,
                          enum target_proof *ret_proof)
{
    struct watch watch = {.probe = probe, .place = place};
    uint64_t inside = 0;
    *ret_proof = TARGET_DIRECT_PROVED;
    int code = write_watched(&watch, &inside);
    if (code != 0 && !means_refused(code))
        return code;
    *looks += inside;
    if (code != 0)
        *ret_proof =
            verdict(probe->target, TARGET_DIRECT_REFUSED, "a direct write failed: %s", strerror(-code));
    else if (atomic_load(&watch.seen))
        *ret_proof = verdict(probe->target, TARGET_DIRECT_BUFFERED,
                             "direct writes went through the page cache on their way");
    else if (atomic_load(&watch.blind))
        *ret_proof =
            verdict(probe->target, TARGET_DIRECT_UNVERIFIED, "neither cachestat nor mincore works here");
    else
        is_uncached(probe, place, ret_proof); /* before any flush */
    return 0;
}

/* A watcher that never got the processor during a write has seen nothing, and that is no proof: writes are
 * repeated until it has. */
static int prove_writes(const struct probe *probe, enum target_proof *ret_proof)
{
    uint64_t looks = 0, most = probe->most_write_bytes / probe->block_bytes;
    enum target_proof proof = TARGET_DIRECT_PROVED;
    for (uint64_t i = 0; proof == TARGET_DIRECT_PROVED && i < (uint64_t)N_PLACES * ROUNDS_MAX; i++) {
        if (i >= N_PLACES && looks >= LOOKS_MIN)
            break;
        if (i == most) {
            *ret_proof = verdict(probe->target, TARGET_DIRECT_UNVERIFIED,
                                 "--max-write leaves too few bytes to prove direct writes");
            return 0;
        }
        int code = prove_write_at(probe, probe->places[i % N_PLACES], &looks, &proof);
        if (code != 0)
            return code;
    }
    if (proof == TARGET_DIRECT_PROVED && looks < LOOKS_MIN)
        proof = verdict(probe->target, TARGET_DIRECT_UNVERIFIED,
                        "direct writes were over before their pages could be looked for");
    *ret_proof = proof;
    return 0;
}

static int prove_both(struct probe *probe, struct err *err)
{
    struct target *target = probe->target;
    enum target_proof read_proof, write_proof = TARGET_DIRECT_UNTRIED;
    int code = target->direct_offset_align_bytes != 0 ? 0 : find_alignment(probe);
    if (code == -EINVAL)
        return settle(target, TARGET_DIRECT_REFUSED, "direct reads fail at every alignment up to 4096");
    if (code != 0)
        return err_io(err, code, "%s: a direct read failed", target->name);
    choose_places(probe);
    if (probe->block_bytes == 0)
        return settle(target, TARGET_DIRECT_UNVERIFIED, "the file is smaller than a direct request must be");
    code = prove_reads(probe, &read_proof);
    if (code == 0 && target->writable)
        code = prove_writes(probe, &write_proof);
    if (code == -EAGAIN) /* what blocking transfers never say */
        return err_sys(err, code, "%s: no thread can be started to watch direct writes (see ulimit -u)",
                       target->name);
    if (code != 0)
        return err_io(err, code, "%s: a direct transfer failed", target->name);
    target->direct_read = read_proof;
    target->direct_write = write_proof;
    return 0;
}

static int prove_one(struct target *target, uint64_t most_write_bytes, struct err *err)
{
    struct probe probe = {.target = target, .fd = -1, .most_write_bytes = most_write_bytes};
    enum target_cold cold;
    target->direct_why[0] = '\0';
    if (target->size_bytes < (uint64_t)sysconf(_SC_PAGESIZE))
        return settle(target, TARGET_DIRECT_REFUSED, "the file is smaller than a page");
    if (ask_alignment(target) && target->direct_offset_align_bytes == 0)
        return settle(target, TARGET_DIRECT_REFUSED,
                      "the kernel says that this file has no direct I/O (statx)");
    int code = target_open_run(target, true, target->writable, &probe.fd, err);
    if (code == -EINVAL || code == -EOPNOTSUPP)
        return settle(target, TARGET_DIRECT_REFUSED, "its file system does not accept O_DIRECT");
    if (code != 0)
        return code;
    probe.block = aligned_alloc(4096, TARGET_MIB);
    if (probe.block == NULL) {
        code = err_set(err, -ENOMEM, "%s: no memory for probing direct I/O", target->name);
        goto out;
    }
    /* btrfs falls back to buffered reads when the buffer's pages have to be faulted in first. */
    memset(probe.block, 0, TARGET_MIB);
    code = target_flush(target, err);
    if (code == 0 && !keeps_others_pages(target))
        code = target_drop_cache(target, &cold, err);
    if (code == 0)
        code = prove_both(&probe, err);
out:
    free(probe.block);
    close(probe.fd);
    return code;
}

/* One of several files speaks for all: they lie in one directory. */
int target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *err)
{
    struct target first = target_one(target, 0);
    int code = prove_one(&first, most_write_bytes, err);
    first.size_bytes = target->size_bytes;
    first.n_files = target->n_files;
    first.fds = target->fds;
    *target = first;
    return code;
}

int target_prove_direct(struct target *target, struct err *err)
{
    return target_prove_direct_within(target, TARGET_PROOF_MOST_BYTES, err);
}
