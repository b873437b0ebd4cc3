/* bench/target/target_scratch: target files that begin empty and grow by what a command writes into them. */
#pragma once

#include "bench/base/err.h"
#include "bench/target/target.h"

#include <stdbool.h>
#include <stdint.h>

/* n_files >= 1 nameless empty files in the directory, if total_bytes, all that they will ever hold, leaves
 * TARGET_FREE_SHARE free. size_bytes of the target is 0; target_close closes it. Errors as target_estimate.
 */
int target_scratch_create(struct target *target, const char *directory, uint32_t n_files,
                          uint64_t total_bytes, struct err *err);

/* 0 where total_bytes would fit, without touching a file. */
int target_scratch_check(const char *directory, uint64_t total_bytes, struct err *err);

/* Nameless in that directory: O_TMPFILE, else created and unlinked; *ret_tmpfile tells which. */
int target_create_nameless(int dir_fd, const char *directory, int *ret_fd, bool *ret_tmpfile,
                           struct err *err);

/* What target_scratch_direct writes at most; proof_bytes of the target says what it did write. */
#define TARGET_SCRATCH_PROOF_BYTES (TARGET_PROOF_MOST_BYTES + (1ULL << 20))

/* Proves that O_DIRECT does here what its name says (target_prove_direct), on some data that are taken out
 * again. 0 and the alignment that offsets and sizes need; -EOPNOTSUPP: it does not, with the reason. */
int target_scratch_direct(struct target *target, uint32_t *ret_align_bytes, struct err *err);
