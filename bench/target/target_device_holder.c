/* bench/target/target_device_holder: mounts of a block device, and devices made of it: mapped ones (LVM,
 * dm-crypt, multipath), arrays (md), caches. */
#include "bench/host/block_device.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"
#include "bench/target/target_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static void name_mount(const struct hostinfo_mount *mount, const char *by, struct target_user *ret)
{
    snprintf(ret->what, sizeof(ret->what), "%smounted at %.200s (%.80s)", by, mount->mount_point,
             mount->source);
    snprintf(ret->remedy, sizeof(ret->remedy), "unmount it");
}

/* What is made of it has a name of its own in dm/name, and may be mounted in turn. */
static void name_holder(const char *holder, struct target_user *ret)
{
    char path[320], name[128] = "", number[32];
    unsigned major_number, minor_number;
    struct hostinfo_mount mount;
    snprintf(path, sizeof(path), "/sys/class/block/%.250s/dm/name", holder);
    procfs_read_line(path, name, sizeof(name));
    snprintf(ret->what, sizeof(ret->what), "held by %.60s%s%.120s%s", holder, name[0] != '\0' ? " (" : "",
             name, name[0] != '\0' ? ")" : "");
    snprintf(ret->remedy, sizeof(ret->remedy), "take it out of that");
    snprintf(path, sizeof(path), "/sys/class/block/%.250s/dev", holder);
    if (procfs_read_line(path, number, sizeof(number)) != 0 ||
        sscanf(number, "%u:%u", &major_number, &minor_number) != 2)
        return;
    const dev_t device = makedev(major_number, minor_number);
    if (hostinfo_find_mount_of_parts(&(struct hostinfo_parts){&device, 1}, &mount) == 0) {
        size_t used = strlen(ret->what);
        snprintf(ret->what + used, sizeof(ret->what) - used, ", which is mounted at %.150s",
                 mount.mount_point);
    }
}

static bool find_holder_of(dev_t part, struct target_user *ret)
{
    char path[80];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(part), minor(part));
    DIR *holders = opendir(path);
    struct dirent *entry;
    bool found = false;
    while (holders != NULL && !found && (entry = readdir(holders)) != NULL) {
        found = entry->d_name[0] != '.';
        if (found)
            name_holder(entry->d_name, ret);
    }
    if (holders != NULL)
        closedir(holders);
    return found;
}

bool target_device_find_holder(int fd, struct target_user *ret)
{
    dev_t parts[BLOCK_DEVICE_MAX_PARTS];
    struct block_device device;
    struct hostinfo_mount mount;
    if (block_device_of(fd, &device) != 0)
        return false;
    size_t n = block_device_parts(device.number, parts, BLOCK_DEVICE_MAX_PARTS);
    if (hostinfo_find_mount_of_parts(&(struct hostinfo_parts){parts, n}, &mount) == 0) {
        name_mount(&mount, "", ret);
        return true;
    }
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = find_holder_of(parts[i], ret);
    return found;
}
