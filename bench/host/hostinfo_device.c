/* bench/host/hostinfo_device: from a file to its mount, its block device, and facts about the disk and its
 * queue. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
#define STATX_MNT_ID_AT 0x90 /* offset of stx_mnt_id: headers before Linux 5.8 have a spare word there */

/* The words of mountinfo have no blanks; those of the names are escaped. */
static void copy_word(char *to, size_t size, const char *word)
{
    snprintf(to, size, "%s", word);
    procfs_unescape(to);
}

/* "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw": the optional words before the dash vary in
 * number. */
bool hostinfo_parse_mount(char *line, struct hostinfo_mount *ret_mount)
{
    char *words[6], *rest = NULL, *save = NULL;
    size_t n = 0;
    char *dash = strstr(line, " - ");
    if (dash == NULL)
        return false;
    *dash = '\0'; /* keeps the optional words away from the three behind it */
    for (char *word = strtok_r(line, " ", &save); word != NULL && n < 6; word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    char *file_system = strtok_r(dash + 3, " \n", &rest);
    char *source = strtok_r(NULL, " \n", &rest);
    char *super_options = strtok_r(NULL, " \n", &rest);
    if (n < 6 || source == NULL)
        return false;
    if (sscanf(words[0], "%" SCNu64, &ret_mount->id) != 1 ||
        sscanf(words[2], "%u:%u", &ret_mount->major_number, &ret_mount->minor_number) != 2)
        return false;
    copy_word(ret_mount->root, sizeof(ret_mount->root), words[3]);
    copy_word(ret_mount->mount_point, sizeof(ret_mount->mount_point), words[4]);
    copy_word(ret_mount->mount_options, sizeof(ret_mount->mount_options), words[5]);
    copy_word(ret_mount->file_system, sizeof(ret_mount->file_system), file_system);
    copy_word(ret_mount->source, sizeof(ret_mount->source), source);
    copy_word(ret_mount->super_options, sizeof(ret_mount->super_options),
              super_options != NULL ? super_options : "");
    return true;
}

/* Walks the mounts of this process. A match ends the walk; `last` keeps the last match instead, the one that
 * lies on top. */
static int walk_mounts(bool (*matches)(const struct hostinfo_mount *mount, const void *key), const void *key,
                       bool last, struct hostinfo_mount *ret_mount)
{
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    struct hostinfo_mount mount;
    bool found = false;
    while (mounts != NULL && (last || !found) && getline(&line, &size, mounts) > 0)
        if (hostinfo_parse_mount(line, &mount) && matches(&mount, key)) {
            *ret_mount = mount;
            found = true;
        }
    free(line);
    if (mounts != NULL)
        fclose(mounts);
    return found ? 0 : -ENOENT;
}

static bool has_id(const struct hostinfo_mount *mount, const void *key)
{
    return mount->id == *(const uint64_t *)key;
}

static bool has_device(const struct hostinfo_mount *mount, const void *key)
{
    return makedev(mount->major_number, mount->minor_number) == *(const dev_t *)key;
}

bool hostinfo_is_device(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISBLK(status.st_mode);
}

int hostinfo_find_mount(int fd, struct hostinfo_mount *ret_mount)
{
    struct statx status;
    struct stat plain;
    uint64_t id;
    if (hostinfo_is_device(fd))
        return -ENOENT; /* the mount that its node is in says nothing of the device */
    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) == 0 && (status.stx_mask & STATX_MNT_ID) != 0) {
        memcpy(&id, (const unsigned char *)&status + STATX_MNT_ID_AT, sizeof(id));
        if (walk_mounts(has_id, &id, false, ret_mount) == 0)
            return 0;
    }
    /* Kernels without mount numbers, and old filters of containers, which forbid statx: several mounts of one
     * device differ in their options only, and the last one lies on top. */
    return fstat(fd, &plain) == 0 ? walk_mounts(has_device, &plain.st_dev, true, ret_mount) : -ENOENT;
}

int hostinfo_find_super(int fd, unsigned *ret_major, unsigned *ret_minor)
{
    struct hostinfo_mount mount;
    int code = hostinfo_find_mount(fd, &mount);
    if (code == 0) {
        *ret_major = mount.major_number;
        *ret_minor = mount.minor_number;
    }
    return code;
}

/* btrfs mounts have a number of their own and name one of their devices as the source. */
static bool is_on_parts(const struct hostinfo_mount *mount, const void *key)
{
    const struct hostinfo_parts *parts = key;
    struct stat node;
    bool has_node = mount->source[0] == '/' && stat(mount->source, &node) == 0 && S_ISBLK(node.st_mode);
    for (size_t i = 0; i < parts->n; i++)
        if (makedev(mount->major_number, mount->minor_number) == parts->numbers[i] ||
            (has_node && node.st_rdev == parts->numbers[i]))
            return true;
    return false;
}

int hostinfo_find_mount_of_parts(const struct hostinfo_parts *parts, struct hostinfo_mount *ret_mount)
{
    return walk_mounts(is_on_parts, parts, false, ret_mount);
}

struct type_key {
    const char *file_system, *option;
};

static bool has_type(const struct hostinfo_mount *mount, const void *key)
{
    const struct type_key *type = key;
    return strcmp(mount->file_system, type->file_system) == 0 &&
           (type->option == NULL || procfs_list_has(mount->super_options, type->option));
}

int hostinfo_find_mount_of_type(const char *file_system, const char *option, struct hostinfo_mount *ret_mount)
{
    struct type_key key = {file_system, option};
    return walk_mounts(has_type, &key, false, ret_mount);
}

static bool is_of_disk(const struct hostinfo_mount *mount, const void *node)
{
    size_t n = strlen(node);
    return strncmp(mount->source, node, n) == 0 && (mount->source[n] == '\0' || mount->source[n] == 'p');
}

int hostinfo_find_mount_of_disk(const char *node, struct hostinfo_mount *ret_mount)
{
    return walk_mounts(is_of_disk, node, false, ret_mount);
}

/* Anonymous device numbers (btrfs, tmpfs, overlay) have no entry. */
static bool is_block_device(unsigned major_number, unsigned minor_number)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major_number, minor_number);
    return access(path, F_OK) == 0;
}

/* Numbers of the device under fd: st_dev where it is one; else (btrfs) the node that the mount names as its
 * source. */
static bool find_numbers(int fd, unsigned *ret_major, unsigned *ret_minor)
{
    struct stat file, node;
    struct hostinfo_mount mount;
    if (fstat(fd, &file) != 0)
        return false;
    dev_t dev = S_ISBLK(file.st_mode) ? file.st_rdev : file.st_dev;
    if (!is_block_device(major(dev), minor(dev))) {
        if (hostinfo_find_mount(fd, &mount) != 0 || mount.source[0] != '/' ||
            stat(mount.source, &node) != 0 || !S_ISBLK(node.st_mode))
            return false;
        dev = node.st_rdev;
    }
    *ret_major = major(dev);
    *ret_minor = minor(dev);
    return true;
}

void hostinfo_find_device(int fd, struct hostinfo_device *ret_device)
{
    struct hostinfo_device device = {0};
    char path[96], numbers[32];
    if (find_numbers(fd, &device.major_number, &device.minor_number)) {
        int n = snprintf(device.sysfs, sizeof(device.sysfs), "/sys/dev/block/%u:%u", device.major_number,
                         device.minor_number);
        snprintf(path, sizeof(path), "%.*s/partition", n, device.sysfs);
        if (access(path, F_OK) == 0) {
            /* The entry is a link into the disk's directory, so that its ".." is the disk. */
            snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", device.major_number,
                     device.minor_number);
            if (procfs_read_line(path, numbers, sizeof(numbers)) == 0)
                snprintf(device.sysfs, sizeof(device.sysfs), "/sys/dev/block/%s", numbers);
        }
        /* In a container /sys may be missing, or show another machine. */
        if (access(device.sysfs, F_OK) != 0)
            device.sysfs[0] = '\0';
    }
    *ret_device = device;
}

int hostinfo_in_flight(const struct hostinfo_device *device, uint64_t *ret_in_flight)
{
    char path[160], line[64];
    uint64_t reads, writes;
    if (device->sysfs[0] == '\0')
        return -ENOENT;
    snprintf(path, sizeof(path), "%s/inflight", device->sysfs);
    if (procfs_read_line(path, line, sizeof(line)) != 0 ||
        sscanf(line, "%" SCNu64 " %" SCNu64, &reads, &writes) != 2)
        return -ENOENT;
    *ret_in_flight = reads + writes;
    return 0;
}

/* "vda1" from the link /sys/dev/block/M:m. */
static void add_name(struct hostinfo *info, const char *key, const char *sysfs)
{
    char *path = realpath(sysfs, NULL);
    if (path != NULL)
        hostinfo_add_text(info, key, basename(path));
    free(path);
}

/* "[none] mq-deadline" -> "none" */
static void add_scheduler(struct hostinfo *info, const char *path)
{
    char line[160];
    if (procfs_read_line(path, line, sizeof(line)) != 0)
        return;
    char *open = strchr(line, '['), *close = strchr(line, ']');
    if (open == NULL || close == NULL || close < open) {
        hostinfo_add_text(info, "scheduler", line);
        return;
    }
    *close = '\0';
    hostinfo_add_text(info, "scheduler", open + 1);
}

/* "sda sdb": the devices that a mapped one (LVM, dm-crypt) or an array (md) is made of, as many as fit. */
static void add_below(struct hostinfo *info, const struct hostinfo_device *device)
{
    char path[192], names[160] = "";
    size_t used = 0;
    snprintf(path, sizeof(path), "%s/slaves", device->sysfs);
    DIR *directory = opendir(path);
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || used + n + 2 > sizeof(names))
            continue;
        used +=
            (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? " " : "", entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
    if (used > 0)
        hostinfo_add_text(info, "device_below", names);
}

/* Facts that are one file each, below the disk's directory. */
static const struct {
    const char *key, *file;
    enum hostinfo_kind kind;
} disk_files[] = {
    {"device_model", "device/model", HOSTINFO_TEXT},
    {"nr_requests", "queue/nr_requests", HOSTINFO_NUMBER},
    {"read_ahead_kb", "queue/read_ahead_kb", HOSTINFO_NUMBER},
    {"max_sectors_kb", "queue/max_sectors_kb", HOSTINFO_NUMBER},
    {"max_hw_sectors_kb", "queue/max_hw_sectors_kb", HOSTINFO_NUMBER},
    {"logical_block_bytes", "queue/logical_block_size", HOSTINFO_NUMBER},
    {"physical_block_bytes", "queue/physical_block_size", HOSTINFO_NUMBER},
    {"rotational", "queue/rotational", HOSTINFO_FLAG},
    {"write_cache", "queue/write_cache", HOSTINFO_TEXT},
    {"fua", "queue/fua", HOSTINFO_FLAG},
    {"discard_granularity_bytes", "queue/discard_granularity", HOSTINFO_NUMBER},
    {"discard_max_bytes", "queue/discard_max_bytes", HOSTINFO_NUMBER},
    {"loop_backing_file", "loop/backing_file", HOSTINFO_TEXT},
    {"loop_direct_io", "loop/dio", HOSTINFO_FLAG},
};

void hostinfo_add_disk(struct hostinfo *info, const struct hostinfo_device *device)
{
    char path[192];
    double flag;
    if (device->sysfs[0] == '\0')
        return;
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", device->major_number, device->minor_number);
    add_name(info, "device", path);
    add_name(info, "device_whole", device->sysfs);
    add_below(info, device);
    snprintf(path, sizeof(path), "%s/queue/scheduler", device->sysfs);
    add_scheduler(info, path);
    for (size_t i = 0; i < sizeof(disk_files) / sizeof(disk_files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", device->sysfs, disk_files[i].file);
        if (disk_files[i].kind == HOSTINFO_TEXT)
            hostinfo_add_file_text(info, disk_files[i].key, path);
        else if (disk_files[i].kind == HOSTINFO_NUMBER)
            hostinfo_add_file_number(info, disk_files[i].key, path);
        else if (procfs_read_number(path, &flag) == 0)
            hostinfo_add_flag(info, disk_files[i].key, flag != 0);
    }
}
