/* bench/host/hostinfo_disk: facts about the disk and its queue. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
