/* bench/target/storage_stack_internal: the parts of storage_stack_of; those without a descriptor are open to
 * tests. */
#pragma once

#include "bench/host/hostinfo_internal.h"
#include "bench/target/storage_stack.h"

/* What the type and the options of a mount say of a file with these flags (FS_COMPR_FL ... of linux/fs.h; 0:
 * none or unknown). */
void storage_stack_add_mount(struct storage_stack *stack, const struct hostinfo_mount *mount, unsigned flags);

/* True for tmpfs and its like. */
bool storage_stack_type_is_memory(const char *file_system);

/* A disk by its directory in sysfs, and the disks below it. storage stack->guest is set before. */
void storage_stack_add_disk(struct storage_stack *stack, const char *sysfs);
