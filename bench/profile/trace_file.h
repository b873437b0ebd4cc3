/* bench/profile/trace_file: from a descriptor to what a request has to say of its file. A part of
 * trace.bpf.c. */
#pragma once

#include "bench/profile/trace_kernel.h"

static __always_inline const struct trace_scope *find_scope(void)
{
    __u32 first = 0;
    return bpf_map_lookup_elem(&scope, &first);
}

static __always_inline bool is_of_everybody(void)
{
    const struct trace_scope *limits = find_scope();
    return limits != NULL && limits->of_everybody != 0;
}

static __always_inline struct file *file_of(struct task_struct *task, __s32 fd)
{
    struct file *opened = NULL;
    struct files_struct *files = task->files;
    struct fdtable *table = files != NULL ? files->fdt : NULL;
    if (fd < 0 || table == NULL || (__u32)fd >= table->max_fds)
        return NULL;
    bpf_probe_read_kernel(&opened, sizeof opened, table->fd + fd);
    return opened;
}

/* False: it is no file whose requests count. */
static __always_inline bool look_at(struct file *opened, struct seen_file *ret)
{
    struct inode *inode = opened != NULL ? READ(opened, f_inode) : NULL;
    if (inode == NULL)
        return false;
    __u32 type = READ(inode, i_mode) & TYPE_MASK;
    if (type != TYPE_REGULAR && type != TYPE_BLOCK)
        return false;
    struct super_block *super = READ(inode, i_sb);
    const struct trace_scope *limits = find_scope();
    __u64 device = READ(super, s_dev);
    if (limits == NULL || (limits->device != 0 && device != limits->device))
        return false;
    __u64 magic = READ(super, s_magic);
    if (IS_KERNELS_OWN(magic))
        return false;
    __u32 flags = READ(opened, f_flags);
    ret->opened = opened;
    ret->inode = READ(inode, i_ino);
    ret->file = device << 40 ^ ret->inode;
    if (type == TYPE_BLOCK)
        ret->file ^= (__u64)READ(inode, i_rdev) << 20;
    ret->file += ret->file == 0;
    ret->flags =
        ((flags & OPEN_DIRECT) != 0 ? TRACE_DIRECT : 0) | ((flags & OPEN_DURABLE) != 0 ? TRACE_DURABLE : 0);
    ret->appends = (flags & OPEN_APPENDS) != 0;
    return true;
}
