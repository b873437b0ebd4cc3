/* bench/target/storage_stack: what lies under a file. */
#include "bench/target/storage_stack.h"

#include "bench/host/procfs.h"
#include "bench/target/storage_stack_internal.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

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
        stack->in_memory |= storage_stack_type_is_memory(mount.file_system);
    hostinfo_find_device(fd, &below);
    if (below.sysfs[0] != '\0')
        add_caps(stack, &below);
    close(fd);
}

static void add_space(struct storage_stack *stack, int fd)
{
    struct statvfs space;
    stack->free_share = NAN;
    if (fstatvfs(fd, &space) != 0 || space.f_blocks == 0)
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
    if (hostinfo_find_mount(fd, &mount) == 0)
        storage_stack_add_mount(ret_storage_stack, &mount, flags_of(fd));
    hostinfo_find_device(fd, &device);
    if (device.sysfs[0] != '\0') {
        storage_stack_add_disk(ret_storage_stack, device.sysfs);
        add_caps(ret_storage_stack, &device);
        add_image(ret_storage_stack, &device);
    }
    add_space(ret_storage_stack, fd);
}
