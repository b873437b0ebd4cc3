/* bench/hostinfo_disk: facts about the disk, its queue and the limits that cgroups put on it. */
#include "bench/hostinfo_internal.h"
#include "bench/procfs.h"

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

/* Facts that are one file each, below the disk's directory. */
static const struct {
    const char *key, *file;
    enum hostinfo_kind kind;
} disk_files[] = {
    {"device_model", "device/model", HOSTINFO_TEXT},
    {"nr_requests", "queue/nr_requests", HOSTINFO_NUMBER},
    {"read_ahead_kb", "queue/read_ahead_kb", HOSTINFO_NUMBER},
    {"max_sectors_kb", "queue/max_sectors_kb", HOSTINFO_NUMBER},
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

/* Our group in the hierarchy that has `controller`, or in the unified one when it is "". Lines:
 * "7:blkio:/a/b", "0::/a". */
static bool find_group(const char *controller, char *buffer, size_t size)
{
    FILE *groups = fopen("/proc/self/cgroup", "re");
    char *line = NULL;
    size_t line_size = 0;
    bool found = false;
    while (groups != NULL && !found && getline(&line, &line_size, groups) > 0) {
        char *list = strchr(line, ':');
        char *group = list != NULL ? strchr(list + 1, ':') : NULL;
        if (group == NULL)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = controller[0] == '\0' ? list[1] == '\0' : procfs_list_has(list + 1, controller);
        if (found)
            snprintf(buffer, size, "%s", group);
    }
    free(line);
    if (groups != NULL)
        fclose(groups);
    return found;
}

/* The rest of the line that begins with the device's number. */
static bool find_device_line(const char *path, const char *numbers, char *buffer, size_t size)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t line_size = 0, length = strlen(numbers);
    bool found = false;
    while (file != NULL && !found && getline(&line, &line_size, file) > 0) {
        if (strncmp(line, numbers, length) != 0 || line[length] != ' ')
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(buffer, size, "%s", line + length + 1);
        found = true;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

/* Limits bind all groups below, so every ancestor is asked, the nearest first. True when the hierarchy could
 * be read at all. */
static bool collect_limits(const char *mount_point, char *group, const char *const *files,
                           const char *numbers, char *text, size_t size)
{
    size_t used = 0;
    if (strcmp(group, "/") == 0)
        group[0] = '\0';
    bool readable = access(mount_point, X_OK) == 0;
    for (;;) {
        for (size_t i = 0; files[i] != NULL; i++) {
            char path[768], limit[96];
            snprintf(path, sizeof(path), "%s%s/%s", mount_point, group, files[i]);
            if (used < size && find_device_line(path, numbers, limit, sizeof(limit)))
                used += (size_t)snprintf(text + used, size - used, "%s%s: %s", used > 0 ? "; " : "", files[i],
                                         limit);
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            break;
        *slash = '\0';
    }
    if (used == 0)
        snprintf(text, size, "none");
    return readable;
}

void hostinfo_add_cgroup(struct hostinfo *info, const struct hostinfo_device *device)
{
    static const char *const v1_files[] = {
        "blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device",
        "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device", NULL};
    static const char *const v2_files[] = {"io.max", NULL};
    struct hostinfo_mount mount;
    char group[400], text[160], numbers[32];
    if (device->sysfs[0] == '\0')
        return;
    /* Throttles are set on whole disks, and the disk's number stands at the end of its sysfs name. */
    snprintf(numbers, sizeof(numbers), "%s", strrchr(device->sysfs, '/') + 1);
    if (find_group("blkio", group, sizeof(group)) &&
        hostinfo_find_mount_of_type("cgroup", "blkio", &mount) == 0 &&
        collect_limits(mount.mount_point, group, v1_files, numbers, text, sizeof(text)))
        hostinfo_add_text(info, "cgroup_v1_blkio_throttle", text);
    if (find_group("", group, sizeof(group)) && hostinfo_find_mount_of_type("cgroup2", NULL, &mount) == 0 &&
        collect_limits(mount.mount_point, group, v2_files, numbers, text, sizeof(text)))
        hostinfo_add_text(info, "cgroup_v2_io_max", text);
}
