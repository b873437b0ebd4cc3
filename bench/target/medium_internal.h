/* bench/target/medium_internal: the parts of medium_of; those without a descriptor are open to tests. */
#ifndef FSTUNE_BENCH_TARGET_MEDIUM_INTERNAL_H
#define FSTUNE_BENCH_TARGET_MEDIUM_INTERNAL_H

#include "bench/host/hostinfo_internal.h"
#include "bench/target/medium.h"

/* What the type and the options of a mount say of a file with these flags (FS_COMPR_FL ... of linux/fs.h; 0:
 * none or unknown). */
void medium_add_mount(struct medium *medium, const struct hostinfo_mount *mount, unsigned flags);

/* True for tmpfs and its like. */
bool medium_type_is_memory(const char *file_system);

/* A disk by its directory in sysfs, and the disks below it. medium->guest is set before. */
void medium_add_disk(struct medium *medium, const char *sysfs);

#endif
