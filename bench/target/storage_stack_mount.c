/* bench/target/storage_stack_mount: what file systems do to the data, by type, mount options and the file's
 * own flags. */
#include "bench/host/procfs.h"
#include "bench/target/storage_stack_internal.h"

#include <linux/fs.h>
#include <string.h>

#define IS_MEMORY    1U
#define IS_OVERLAY   2U
#define IS_NETWORK   4U
#define IS_COW       8U
#define COMPRESSES   16U /* always, or by default */
#define DEDUPLICATES 32U /* cannot be asked */

/* A type that is not listed does nothing of this, or nothing is known of it. */
static const struct {
    const char *type;
    unsigned traits;
} types[] = {
    {"btrfs", IS_COW},
    {"f2fs", IS_COW},
    {"nilfs2", IS_COW},
    {"bcachefs", IS_COW},
    {"zfs", IS_COW | COMPRESSES | DEDUPLICATES},
    {"squashfs", COMPRESSES},
    {"erofs", COMPRESSES},
    {"ubifs", COMPRESSES | IS_COW},
    {"jffs2", COMPRESSES | IS_COW},
    {"tmpfs", IS_MEMORY},
    {"ramfs", IS_MEMORY},
    {"devtmpfs", IS_MEMORY},
    {"hugetlbfs", IS_MEMORY},
    {"overlay", IS_OVERLAY},
    {"aufs", IS_OVERLAY},
    {"ecryptfs", IS_OVERLAY},
    {"fuse.fuse-overlayfs", IS_OVERLAY},
    {"nfs", IS_NETWORK},
    {"nfs4", IS_NETWORK},
    {"cifs", IS_NETWORK},
    {"smb3", IS_NETWORK},
    {"9p", IS_NETWORK},
    {"virtiofs", IS_NETWORK},
    {"vboxsf", IS_NETWORK},
    {"ceph", IS_NETWORK},
    {"afs", IS_NETWORK},
    {"coda", IS_NETWORK},
    {"lustre", IS_NETWORK},
    {"beegfs", IS_NETWORK},
    {"fuse.sshfs", IS_NETWORK},
    {"fuse.glusterfs", IS_NETWORK},
    {"fuse.s3fs", IS_NETWORK},
    {"fuse.rclone", IS_NETWORK},
};

static unsigned traits_of(const char *type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].type, type) == 0)
            return types[i].traits;
    return 0;
}

bool storage_stack_type_is_memory(const char *file_system)
{
    return (traits_of(file_system) & IS_MEMORY) != 0;
}

/* True when a word of the list begins so and does not end in "none" or "no". */
static bool has_value(const char *list, const char *prefix)
{
    size_t length = strlen(prefix);
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t word = strcspn(at, ",");
        bool off = (word == length + 4 && memcmp(at + length, "none", 4) == 0) ||
                   (word == length + 2 && memcmp(at + length, "no", 2) == 0);
        if (word > length && memcmp(at, prefix, length) == 0 && !off)
            return true;
        at += word;
    }
    return false;
}

/* Without checksums btrfs compresses nothing, whatever else was asked for. */
static void add_btrfs(struct storage_stack *stack, const char *options, unsigned flags)
{
    bool in_place = (flags & FS_NOCOW_FL) != 0 || procfs_list_has(options, "nodatacow");
    bool plain = in_place || procfs_list_has(options, "nodatasum");
    bool forced = has_value(options, "compress-force=");
    bool asked = forced || (flags & FS_COMPR_FL) != 0 ||
                 (has_value(options, "compress=") && (flags & FS_NOCOMP_FL) == 0);
    stack->copies_on_write = !in_place;
    stack->compresses = asked && !plain;
}

void storage_stack_add_mount(struct storage_stack *stack, const struct hostinfo_mount *mount, unsigned flags)
{
    const char *type = mount->file_system, *options = mount->super_options;
    unsigned traits = traits_of(type);
    stack->in_memory = (traits & IS_MEMORY) != 0;
    stack->overlay = (traits & IS_OVERLAY) != 0;
    stack->network = (traits & IS_NETWORK) != 0;
    stack->fuse = strncmp(type, "fuse", 4) == 0 && strcmp(type, "fusectl") != 0;
    stack->copies_on_write = (traits & IS_COW) != 0;
    stack->may_deduplicate = (traits & DEDUPLICATES) != 0;
    stack->compresses = (traits & COMPRESSES) != 0 || (flags & FS_COMPR_FL) != 0;
    stack->encrypted = (flags & FS_ENCRYPT_FL) != 0;
    if (strcmp(type, "btrfs") == 0)
        add_btrfs(stack, options, flags);
    else if (strcmp(type, "f2fs") == 0)
        stack->compresses |= has_value(options, "compress_extension=");
    else if (strcmp(type, "bcachefs") == 0)
        stack->compresses |=
            has_value(options, "compression=") || has_value(options, "background_compression=");
}
