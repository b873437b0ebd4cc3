/* bench/target/target_keep: a nameless target file gets a name after all, and stays for later nights. */
#pragma once

#include "bench/base/err.h"
#include "bench/target/target.h"

#include <stdint.h>

/* What tells a file from any other that may come under its name: a file that was written to, copied or made
 * anew has another. Not the device, whose number differs from boot to boot. */
struct target_keep_id {
    uint64_t inode, size_bytes;
    uint64_t modified_ns; /* since 1970 */
};

int target_keep_identify(const struct target *target, struct target_keep_id *ret_id, struct err *err);

/* Gives it the name NAME in the directory, for its owner to read only. 0; -EEXIST: the name is taken;
 * -EOPNOTSUPP: this file system has no nameless files, so the file cannot be kept. */
int target_keep_link(const struct target *target, const char *directory, const char *name, struct err *err);

/* Whether directory/name is that very file (id NULL: no file is): 0; -ENOENT: there is none; -ESTALE: it is
 * another one, or not ours alone. */
int target_keep_check(const char *directory, const char *name, const struct target_keep_id *id,
                      struct err *err);
