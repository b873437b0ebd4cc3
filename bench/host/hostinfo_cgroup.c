/* bench/host/hostinfo_cgroup: the limits that control groups put on this process. */
#include "bench/host/hostinfo_internal.h"
#include "bench/host/procfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A visitor gets the directory of our group, then those of its ancestors, whose limits bind us too - but for
 * blkio of version 1, which is flat: there a limit binds the tasks of its own group only. */
struct visitor {
    void (*visit)(const struct visitor *visitor, const char *directory);
    bool own_group_only;
    const char *numbers; /* "8:0" of the disk; NULL when not about one */
    void *result;
};

/* What a list of limits is written to. */
struct limit_text {
    const char *const *files;
    char *text;
    size_t used, size;
};

static const char *const v1_files[] = {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device",
                                       "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device",
                                       NULL};
static const char *const v2_files[] = {"io.max", NULL};

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

/* True when the hierarchy could be read at all. */
static bool visit_groups(const char *type, const char *controller, const struct visitor *visitor)
{
    struct hostinfo_mount mount;
    char group[400], directory[700];
    bool unified = controller[0] == '\0';
    if (!find_group(controller, group, sizeof(group)) ||
        hostinfo_find_mount_of_type(type, unified ? NULL : controller, &mount) != 0 ||
        access(mount.mount_point, X_OK) != 0)
        return false;
    /* A container sees its own group as the root of what is mounted, under the name that it has outside. */
    size_t length = strlen(mount.root);
    if (strncmp(group, mount.root, length) == 0 && (group[length] == '/' || group[length] == '\0'))
        memmove(group, group + length, strlen(group + length) + 1);
    if (strcmp(group, "/") == 0)
        group[0] = '\0';
    for (;;) {
        snprintf(directory, sizeof(directory), "%s%s", mount.mount_point, group);
        visitor->visit(visitor, directory);
        char *slash = strrchr(group, '/');
        if (slash == NULL || visitor->own_group_only)
            return true;
        *slash = '\0';
    }
}

static void append_limits(const struct visitor *visitor, const char *directory)
{
    struct limit_text *list = visitor->result;
    for (size_t i = 0; list->files[i] != NULL; i++) {
        char path[768], limit[96];
        snprintf(path, sizeof(path), "%s/%s", directory, list->files[i]);
        if (list->used < list->size && procfs_find_line(path, visitor->numbers, " ", limit, sizeof(limit)))
            list->used += (size_t)snprintf(list->text + list->used, list->size - list->used, "%s%s: %s",
                                           list->used > 0 ? "; " : "", list->files[i], limit);
    }
}

static void add_limits(struct hostinfo *info, const char *key, const char *type, const char *controller,
                       const char *const *files, const char *numbers)
{
    char text[160] = "none";
    struct limit_text list = {.files = files, .text = text, .size = sizeof(text)};
    struct visitor visitor = {.visit = append_limits, .numbers = numbers, .result = &list};
    visitor.own_group_only = controller[0] != '\0';
    if (visit_groups(type, controller, &visitor))
        hostinfo_add_text(info, key, text);
}

/* Throttles are set on whole disks, and the disk's number stands at the end of its sysfs name. */
static const char *disk_numbers(const struct hostinfo_device *device)
{
    return device->sysfs[0] != '\0' ? strrchr(device->sysfs, '/') + 1 : NULL;
}

void hostinfo_add_cgroup(struct hostinfo *info, const struct hostinfo_device *device)
{
    const char *numbers = disk_numbers(device);
    if (numbers == NULL)
        return;
    add_limits(info, "cgroup_v1_blkio_throttle", "cgroup", "blkio", v1_files, numbers);
    add_limits(info, "cgroup_v2_io_max", "cgroup2", "", v2_files, numbers);
}

static void lower(double *cap, double limit)
{
    if (limit > 0 && (*cap == 0 || limit < *cap))
        *cap = limit;
}

void hostinfo_parse_io_max(const char *line, struct hostinfo_caps *caps)
{
    const struct {
        const char *name;
        double *cap;
    } words[] = {{"rbps=", &caps->read_bps},
                 {"wbps=", &caps->write_bps},
                 {"riops=", &caps->read_iops},
                 {"wiops=", &caps->write_iops}};
    for (const char *at = line; *at != '\0'; at += strspn(at, " ")) {
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
            size_t length = strlen(words[i].name);
            if (strncmp(at, words[i].name, length) == 0 && at[length] >= '0' && at[length] <= '9')
                lower(words[i].cap, strtod(at + length, NULL));
        }
        at += strcspn(at, " ");
    }
}

static void lower_v1(const struct visitor *visitor, const char *directory)
{
    struct hostinfo_caps *caps = visitor->result;
    double *const values[] = {&caps->read_bps, &caps->write_bps, &caps->read_iops, &caps->write_iops};
    for (size_t i = 0; v1_files[i] != NULL; i++) {
        char path[768], limit[96];
        snprintf(path, sizeof(path), "%s/%s", directory, v1_files[i]);
        if (procfs_find_line(path, visitor->numbers, " ", limit, sizeof(limit)))
            lower(values[i], strtod(limit, NULL));
    }
}

static void lower_v2(const struct visitor *visitor, const char *directory)
{
    char path[768], limit[160];
    snprintf(path, sizeof(path), "%s/io.max", directory);
    if (procfs_find_line(path, visitor->numbers, " ", limit, sizeof(limit)))
        hostinfo_parse_io_max(limit, visitor->result);
}

void hostinfo_find_caps(const struct hostinfo_device *device, struct hostinfo_caps *ret_caps)
{
    *ret_caps = (struct hostinfo_caps){0};
    struct visitor v1 = {
        .visit = lower_v1, .own_group_only = true, .numbers = disk_numbers(device), .result = ret_caps};
    struct visitor v2 = {.visit = lower_v2, .numbers = v1.numbers, .result = ret_caps};
    if (v1.numbers == NULL)
        return;
    bool v1_known = visit_groups("cgroup", "blkio", &v1);
    bool v2_known = visit_groups("cgroup2", "", &v2);
    ret_caps->known = v1_known || v2_known;
}

static void add_throttled(const struct visitor *visitor, const char *directory)
{
    double *sum = visitor->result, n;
    char path[768];
    snprintf(path, sizeof(path), "%s/cpu.stat", directory);
    if (hostinfo_scan(path, "nr_throttled", &n) == 0)
        *sum = isnan(*sum) ? n : *sum + n;
}

double hostinfo_cpu_throttled(void)
{
    double sum = NAN;
    struct visitor visitor = {.visit = add_throttled, .result = &sum};
    visit_groups("cgroup", "cpu", &visitor);
    visit_groups("cgroup2", "", &visitor);
    return sum;
}

/* A file of a group's directory; more than any memory where it holds no number ("max") or is missing. */
static double group_number(const char *directory, const char *name)
{
    char path[768];
    double number;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return procfs_read_number(path, &number) == 0 ? number : INFINITY;
}

/* The kernel can drop pages of files, so they count as room; it cannot drop those of files in memory. */
static double group_file_bytes(const char *directory, const char *files, const char *in_memory)
{
    char path[768];
    double number, kept;
    snprintf(path, sizeof(path), "%s/memory.stat", directory);
    return hostinfo_scan(path, files, &number) == 0 && hostinfo_scan(path, in_memory, &kept) == 0
               ? fmax(0, number - kept)
               : 0;
}

static void lower_memory(double *room, double limit, double used, double file_bytes)
{
    if (isfinite(limit) && isfinite(used))
        *room = fmin(*room, fmax(0, limit - used) + file_bytes);
}

static void lower_memory_v1(const struct visitor *visitor, const char *directory)
{
    double limit = group_number(directory, "memory.limit_in_bytes");
    if (limit < (double)(UINT64_C(1) << 62)) /* near the largest number: none */
        lower_memory(visitor->result, limit, group_number(directory, "memory.usage_in_bytes"),
                     group_file_bytes(directory, "total_cache", "total_shmem"));
}

static void lower_memory_v2(const struct visitor *visitor, const char *directory)
{
    double limit = fmin(group_number(directory, "memory.max"), group_number(directory, "memory.high"));
    lower_memory(visitor->result, limit, group_number(directory, "memory.current"),
                 group_file_bytes(directory, "file", "shmem"));
}

void hostinfo_find_memory_room(struct hostinfo_memory_room *ret_room)
{
    *ret_room = (struct hostinfo_memory_room){.v1_bytes = INFINITY, .v2_bytes = INFINITY};
    struct visitor v1 = {.visit = lower_memory_v1, .result = &ret_room->v1_bytes};
    struct visitor v2 = {.visit = lower_memory_v2, .result = &ret_room->v2_bytes};
    visit_groups("cgroup", "memory", &v1);
    visit_groups("cgroup2", "", &v2);
    double bytes = (double)hostinfo_memory_available_bytes();
    ret_room->bytes = fmin(bytes > 0 ? bytes : INFINITY, fmin(ret_room->v1_bytes, ret_room->v2_bytes));
}
