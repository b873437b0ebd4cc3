/* bench/target/target: the file that is measured, and the state of its cache (interfaces, section 4 and 5).
 *
 * fstune's own file is nameless (O_TMPFILE, else created with O_EXCL|O_NOFOLLOW and unlinked at once), so
 * that nothing is left even after SIGKILL. A user's file is opened only through target_open_existing and its
 * guards. A file is never extended after filling, but for the mark of target_left. */
#pragma once

#include "bench/base/clock.h"
#include "bench/base/err.h"
#include "bench/io/verify.h"
#include "bench/target/target_left.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

_Static_assert(sizeof(off_t) == 8, "files may be larger than 2 GiB: build with -D_FILE_OFFSET_BITS=64");

#define TARGET_SIZE_DEFAULT_BYTES (1ULL << 30)
#define TARGET_SIZE_MIN_BYTES     (128ULL << 20)
#define TARGET_FREE_SHARE         0.10 /* of what statvfs calls available, kept free */
#define TARGET_FILL_SHARE         0.20 /* of the budget may go into filling */

enum target_proof {
    TARGET_DIRECT_UNTRIED,
    TARGET_DIRECT_PROVED,
    TARGET_DIRECT_REFUSED,   /* the open or the transfer failed: no O_DIRECT here */
    TARGET_DIRECT_BUFFERED,  /* it succeeded but its pages were found in the page cache */
    TARGET_DIRECT_UNVERIFIED /* it succeeded but neither cachestat nor mincore can tell */
};

#define TARGET_PROOF_MOST_BYTES (64ULL << 20)

enum target_cold { TARGET_COLD_VERIFIED, TARGET_COLD_NOT, TARGET_COLD_UNVERIFIED };

struct target {
    int fd; /* master descriptor, buffered */
    /* Several files (--files): they are one target whose data are spread over them. */
    uint32_t n_files; /* 0 and 1: fd alone */
    int *fds;         /* of several files, fd first; else NULL */
    bool owned;       /* fstune created it */
    bool is_device;   /* a block device of the user's */
    bool writable;
    bool tmpfile;            /* O_TMPFILE worked */
    struct target_left left; /* removed before: of an fstune that had died */
    uint64_t
        size_bytes; /* whole blocks written; of several files together, of which each has its equal part */
    uint64_t base_bytes; /* where it begins in its file: 0, unless others have other parts of that. What is
                            told of a target counts from there, and what reads or writes it from 0 */
    char name[160];      /* for messages: the user's file, or "the target file in DIR" */
    uint64_t available_bytes; /* free for us before the target was made; UINT64_MAX: the file system does not
                                 tell */
    double fill_bps;          /* rate of filling, final fdatasync included; 0 when not filled */
    double fill_seconds;
    uint64_t filled_bytes; /* written by filling, also by one that failed, and as marks of target_left */
    uint64_t proof_bytes;  /* and by proving direct I/O, TARGET_PROOF_MOST_BYTES at most */
    uint64_t fs_block_bytes;
    uint32_t
        direct_offset_align_bytes; /* from STATX_DIOALIGN, else found by probing, 512 .. 4096; 0 unknown */
    enum target_proof direct_read, direct_write;
    char direct_why[160]; /* words for a proof that failed */
};

/* One of n regions of a file (target_shared), equally far apart. */
struct target_region {
    int fd;       /* of the file; target_create takes it over. 0: no file is shared */
    bool tmpfile; /* it never had a name */
    uint32_t n, index;
    uint64_t size_bytes, distance_bytes; /* planned for all of them together */
};

struct target_plan {
    const char *directory;
    bool tries;           /* target_estimate makes a file without a name (SMB: unlinked), and closes it */
    uint64_t size_bytes;  /* wished; reduced per the rules above when size_is_default */
    bool size_is_default; /* the user gave no --file-size */
    uint32_t n_files;     /* to spread it over, in equal parts of whole MiB; 0 is 1. More than one are of
                             the planned size or none, whatever the budget */
    struct target_region region; /* to be filled instead of making a file; target_estimate looks at n alone */
    uint64_t budget_ns;          /* 0: no limit on filling */
    uint64_t other_bytes;        /* kept free and unwritten for other files of the command */
    uint64_t max_write_bytes;    /* filling may not exceed it; UINT64_MAX: no limit */
    uint64_t seed;
    const struct clock *clock;
    const atomic_int *interrupted; /* may be NULL; non-zero ends filling with -EINTR */
    const char *prepare_script;    /* --prepare SCRIPT, or NULL: bash -e, before filling, FSTUNE_DIR and
                                      FSTUNE_FILE set */
    uint64_t prepare_timeout_ns;   /* 0: no limit */
    struct verify *verify;         /* closed; it is opened, and the blocks stamped; NULL: random data alone */
    /* Called every 64 MiB of filling; may be NULL. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
};

/* What target_create would do: size it would take. 0; -ENOSPC when even the minimum does
 * not leave 10 % free (the text says how much is missing); -ENOTDIR, -ENOENT, -EACCES, -EROFS with one line
 * that says what to do. */
int target_estimate(const struct target_plan *plan, uint64_t *ret_size_bytes, struct err *err);

int target_create(struct target *target, const struct target_plan *plan, struct err *err);

/* What the user allows. */
struct target_existing {
    const char *path;
    bool for_writing;
    bool overwrite;                /* --overwrite */
    uint64_t destroy_device_bytes; /* --destroy-device; 0: not given */
    bool ignore_signature;         /* --ignore-signature */
    bool is_served; /* a device is not destroyed, but served to others: what is on it may stay, and refusals
                       name the parameter of nbdkit's plugin, device-size */
};

/* Opens the user's file or block device. for_writing requires `overwrite`, else -EPERM naming --overwrite.
 * Refused (-EINVAL, -EBUSY, -EPERM ...): anything but a regular file or block device (a symbolic link
 * is followed by the kernel's rules, and the opened inode is checked; one to a regular file that is to be
 * overwritten is refused with -ELOOP, unless is_served), and when for_writing: swap, files behind loop
 * devices, that are locked (flock or OFD), open or mapped elsewhere, or have several links; files under 128
 * MiB are allowed but a size of 0 is not. Both locks are held until target_close.
 *
 * A block device to be written needs its size in bytes, too. It is opened O_EXCL until target_close, so that
 * the kernel lets nobody mount it, swap to it or build a device on it meanwhile. It is refused while it, or a
 * part of it, is mounted, swapped to, held, behind a loop device, open or mapped elsewhere, or read-only, and
 * while it carries a signature that libblkid knows unless ignore_signature or is_served. The descriptor of
 * one that is served can write, because the kernel gives ranges back only through the one with O_EXCL. */
int target_open_existing(struct target *target, const struct target_existing *existing, struct err *err);

/* To be asked before the first write to a user's target that has been open for a while. Of a block device the
 * guards look again through the descriptor that they looked through first; a user's file is kept by its
 * locks. 0 or as target_open_existing. */
int target_check_again(const struct target *target, const struct target_existing *existing, struct err *err);

/* To be asked between runs, while no descriptor of a run is open. -EBUSY when somebody has begun to use the
 * user's file otherwise than by reading it; 0 also where the file system has no leases to tell. Of a device:
 * when a loop device has been put on it, which O_EXCL does not hinder, or when somebody uses the file or disk
 * that it is a loop device of, which nobody can be kept from. */
int target_check_alone(const struct target *target, struct err *err);

/* Accepts a zeroed (fd < 1) target. */
void target_close(struct target *target);

/* Fills direct_read, direct_write and the alignments by the contract's proof: statx, then a transfer on the
 * own file whose pages cachestat (else mincore) shows neither cached nor dirty. A write is probed only where
 * the target is owned or overwrite was allowed, and rewrites what was read. 0 even when nothing is proved;
 * negative errno only for a broken target. */
int target_prove_direct(struct target *target, struct err *err);

/* The same with so many bytes written at most; where they are too few for a proof, direct writes stay
 * TARGET_DIRECT_UNVERIFIED. */
int target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *err);

/* Of a target with one file or several: how many, how large each, and their master descriptors. */
uint32_t target_n_files(const struct target *target);
uint64_t target_file_bytes(const struct target *target);
const int *target_fds(const struct target *target);

/* Makes the soft limit on open files large enough for n more, as far as the hard one allows. */
void target_allow_descriptors(uint64_t n);

/* A fresh descriptor of the same file for one run. 0 and the descriptor, owned by the caller. */
int target_open_run(const struct target *target, bool direct, bool write, int *ret_fd, struct err *err);
/* The same of one of several files. */
int target_open_file(const struct target *target, uint32_t file, bool direct, bool write, int *ret_fd,
                     struct err *err);

/* fdatasync on the master descriptors. */
int target_flush(const struct target *target, struct err *err);

/* Drops the file's pages (POSIX_FADV_DONTNEED; the file must be clean) and looks whether they are gone. */
int target_drop_cache(const struct target *target, enum target_cold *ret_cold, struct err *err);

/* Reads the whole file once through the page cache. */
int target_warm_cache(const struct target *target, const atomic_int *interrupted, struct err *err);

/* Cached pages of a range, of the same range in each of several files: 0 and the counts, or -ENOSYS where
 * neither cachestat nor mincore works. dirty is 0 under mincore, and the count for a large device is one of
 * samples. */
int target_cached_pages(const struct target *target, uint64_t offset_bytes, uint64_t length_bytes,
                        uint64_t *ret_cached, uint64_t *ret_dirty);

/* 0 while at least TARGET_FREE_SHARE of what was available before creating stays free, else -ENOSPC. */
int target_check_free(const struct target *target, struct err *err);
