/* bench/target/storage_stack: what lies under a file. */
#include "bench/target/storage_stack.h"

#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"
#include "bench/target/dirty_limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/fs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- what file systems do to the data, by type, mount options and the file's own flags ---- */

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

static bool type_is_memory(const char *file_system)
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

/* ---- the device and the devices below it, from sysfs ---- */

#define DISKS_MAX 32U /* below a device mapper; also ends a circle */

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool read_text(const char *sysfs, const char *file, char *text, size_t size)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/%s", sysfs, file) < (int)sizeof(path) &&
           procfs_read_line(path, text, size) == 0;
}

/* "vda", the name of the directory that the link in /sys/dev/block leads to. */
static void read_disk_name(const char *sysfs, char *name, size_t size)
{
    char *path = realpath(sysfs, NULL);
    snprintf(name, size, "%s", path != NULL ? basename(path) : "");
    free(path);
}

/* Names that hypervisors and clouds give to the disks they emulate; a disk that is passed through keeps its
 * maker's. */
static bool is_emulated(const char *sysfs, const char *name)
{
    static const char *const words[] = {"QEMU", "VBOX",           "VMware",         "Virtual",
                                        "Msft", "Amazon Elastic", "PersistentDisk", "Xen"};
    static const char *const files[] = {"device/vendor", "device/model"};
    if (begins(name, "vd") || begins(name, "xvd"))
        return true;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char text[128];
        bool known = read_text(sysfs, files[i], text, sizeof(text));
        for (size_t j = 0; known && j < sizeof(words) / sizeof(words[0]); j++)
            if (strstr(text, words[j]) != NULL)
                return true;
    }
    return false;
}

/* One disk. Facts of the lower ones only add: a mapper over a loop device is one too. */
static void add_one(struct storage_stack *stack, const char *sysfs, const char *name)
{
    char text[160];
    if (begins(name, "loop")) {
        stack->loop = true;
        stack->loop_direct_io = read_text(sysfs, "loop/dio", text, sizeof(text)) && strcmp(text, "0") != 0;
    }
    stack->in_memory |= begins(name, "ram") || begins(name, "zram") || begins(name, "pmem");
    stack->virtual_disk |= stack->guest && is_emulated(sysfs, name);
    stack->network |= begins(name, "nbd") || begins(name, "rbd") || begins(name, "drbd");
    if (read_text(sysfs, "dm/uuid", text, sizeof(text))) {
        stack->encrypted |= begins(text, "CRYPT-");
        stack->may_deduplicate |= begins(text, "VDO-");
    }
}

/* The directory of a disk below; of the whole disk where a partition is used. NULL when it is none. */
static char *find_slave(const char *sysfs, const char *name)
{
    char path[PATH_MAX];
    if (name[0] == '.' || snprintf(path, sizeof(path), "%s/slaves/%s", sysfs, name) >= (int)sizeof(path))
        return NULL;
    char *real = realpath(path, NULL);
    if (real != NULL && snprintf(path, sizeof(path), "%s/partition", real) < (int)sizeof(path) &&
        access(path, F_OK) == 0)
        dirname(real); /* cuts the text in place */
    return real;
}

static size_t queue_slaves(const char *sysfs, char **queue, size_t n)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%s/slaves", sysfs) >= (int)sizeof(path))
        return n;
    DIR *slaves = opendir(path);
    struct dirent *entry;
    while (slaves != NULL && n < DISKS_MAX && (entry = readdir(slaves)) != NULL) {
        queue[n] = find_slave(sysfs, entry->d_name);
        n += queue[n] != NULL;
    }
    if (slaves != NULL)
        closedir(slaves);
    return n;
}

void storage_stack_add_disk(struct storage_stack *stack, const char *sysfs)
{
    char name[64], *queue[DISKS_MAX];
    size_t n = 0;
    queue[n++] = strdup(sysfs);
    for (size_t i = 0; i < n && queue[i] != NULL; i++) {
        read_disk_name(queue[i], name, sizeof(name));
        if (i == 0)
            snprintf(stack->device, sizeof(stack->device), "%.31s", name);
        add_one(stack, queue[i], name);
        n = queue_slaves(queue[i], queue, n);
    }
    for (size_t i = 0; i < n; i++)
        free(queue[i]);
}

/* ---- all of it, and limits ---- */

/* 0 where the file system has none. The kernel fills an int, whatever the call's name says. */
static unsigned flags_of(int fd)
{
    unsigned flags = 0;
    return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 ? flags : 0;
}

/* hostinfo's text is "none" on bare metal. */
static bool is_guest(int fd)
{
    struct hostinfo *info = calloc(1, sizeof(*info));
    if (info == NULL)
        return false;
    hostinfo_collect(info, fd);
    const struct hostinfo_fact *fact = hostinfo_find(info, "virtualisation");
    bool guest = fact != NULL && strcmp(fact->text, "none") != 0;
    free(info);
    return guest;
}

static double lower_of(double a, double b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static void add_caps(struct storage_stack *stack, const struct hostinfo_device *device)
{
    struct hostinfo_caps caps;
    hostinfo_find_caps(device, &caps);
    stack->caps_known |= caps.known;
    stack->cap_read_bps = lower_of(stack->cap_read_bps, caps.read_bps);
    stack->cap_write_bps = lower_of(stack->cap_write_bps, caps.write_bps);
    stack->cap_read_iops = lower_of(stack->cap_read_iops, caps.read_iops);
    stack->cap_write_iops = lower_of(stack->cap_write_iops, caps.write_iops);
    struct dirty_thresholds dirty;
    if (dirty_limits_thresholds(&dirty) == 0)
        stack->dirty_background_bytes = dirty.background_bytes;
}

/* The image of a loop device may lie in memory, and limits on the disk it lies on bind as well: the kernel
 * charges a loop device's I/O to the group that asked for it. */
static void add_image(struct storage_stack *stack, const struct hostinfo_device *device)
{
    char path[192], image[512];
    struct hostinfo_device below;
    struct hostinfo_mount mount;
    snprintf(path, sizeof(path), "%s/loop/backing_file", device->sysfs);
    if (procfs_read_line(path, image, sizeof(image)) != 0)
        return;
    int fd = open(image, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return;
    if (hostinfo_find_mount(fd, &mount) == 0)
        stack->in_memory |= type_is_memory(mount.file_system);
    hostinfo_find_device(fd, &below);
    if (below.sysfs[0] != '\0')
        add_caps(stack, &below);
    close(fd);
}

static void add_space(struct storage_stack *stack, int fd)
{
    struct statvfs space;
    stack->free_share = NAN;
    if (hostinfo_is_device(fd) || fstatvfs(fd, &space) != 0 || space.f_blocks == 0)
        return;
    /* As df: what is reserved for root counts neither way. */
    double used = (double)(space.f_blocks - space.f_bfree), unused = (double)space.f_bavail;
    stack->free_share = used + unused > 0 ? unused / (used + unused) : NAN;
}

void storage_stack_of(int fd, struct storage_stack *ret_storage_stack)
{
    struct hostinfo_mount mount;
    struct hostinfo_device device;
    *ret_storage_stack = (struct storage_stack){.guest = is_guest(fd)};
    if (hostinfo_find_mount(fd, &mount) == 0) {
        storage_stack_add_mount(ret_storage_stack, &mount, flags_of(fd));
        if (ret_storage_stack->network)
            network_mount_read(&mount, &ret_storage_stack->server);
    }
    hostinfo_find_device(fd, &device);
    if (device.sysfs[0] != '\0') {
        storage_stack_add_disk(ret_storage_stack, device.sysfs);
        add_caps(ret_storage_stack, &device);
        add_image(ret_storage_stack, &device);
    }
    add_space(ret_storage_stack, fd);
}
