/* bench/host/hostinfo: facts about the machine and the file system, and the list that holds them. */
#include "bench/host/hostinfo.h"

#include "bench/host/block_device.h"
#include "bench/host/hostinfo_internal.h"
#include "bench/host/network_mount.h"
#include "bench/host/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#define BALLOONS      "/sys/bus/virtio/drivers/virtio_balloon"
#define REPORTING_BIT 5
#define LARGEST_ORDER 10

/* A zeroed fact at the end of the list; NULL when it is full: fewer facts are better than no measurement. */
static struct hostinfo_fact *add_host_fact(struct hostinfo *info, const char *key, enum hostinfo_kind kind)
{
    if (info->n == HOSTINFO_MAX_FACTS)
        return NULL;
    struct hostinfo_fact *fact = &info->facts[info->n++];
    memset(fact, 0, sizeof(*fact));
    snprintf(fact->key, sizeof(fact->key), "%s", key);
    fact->kind = kind;
    return fact;
}

void hostinfo_add_text(struct hostinfo *info, const char *key, const char *text)
{
    struct hostinfo_fact *fact = add_host_fact(info, key, HOSTINFO_TEXT);
    if (fact != NULL)
        memcpy(fact->text, text, strnlen(text, sizeof(fact->text) - 1)); /* the rest is zero already */
}

void hostinfo_add_number(struct hostinfo *info, const char *key, double number)
{
    /* JSON knows neither infinity nor NaN. */
    struct hostinfo_fact *fact = isfinite(number) ? add_host_fact(info, key, HOSTINFO_NUMBER) : NULL;
    if (fact != NULL)
        fact->number = number;
}

void hostinfo_add_flag(struct hostinfo *info, const char *key, bool flag)
{
    struct hostinfo_fact *fact = add_host_fact(info, key, HOSTINFO_FLAG);
    if (fact != NULL)
        fact->number = flag ? 1 : 0;
}

void hostinfo_add_file_text(struct hostinfo *info, const char *key, const char *path)
{
    char line[256];
    if (procfs_read_line(path, line, sizeof(line)) == 0)
        hostinfo_add_text(info, key, line);
}

void hostinfo_add_file_number(struct hostinfo *info, const char *key, const char *path)
{
    double number;
    if (procfs_read_number(path, &number) == 0)
        hostinfo_add_number(info, key, number);
}

const struct hostinfo_fact *hostinfo_find(const struct hostinfo *info, const char *key)
{
    for (size_t i = 0; i < info->n; i++)
        if (strcmp(info->facts[i].key, key) == 0)
            return &info->facts[i];
    return NULL;
}

double hostinfo_number(const struct hostinfo *info, const char *key)
{
    const struct hostinfo_fact *fact = hostinfo_find(info, key);
    return fact != NULL && fact->kind != HOSTINFO_TEXT ? fact->number : NAN;
}

const char *hostinfo_text(const struct hostinfo *info, const char *key)
{
    const struct hostinfo_fact *fact = hostinfo_find(info, key);
    return fact != NULL && fact->kind == HOSTINFO_TEXT ? fact->text : "";
}

int hostinfo_scan(const char *path, const char *name, double *ret_number)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -errno;
    char *line = NULL;
    size_t size = 0, length = strlen(name);
    int code = -ENOENT;
    while (code != 0 && getline(&line, &size, file) > 0) {
        char *end, *value = line + length;
        /* "MemTotal" must not be found by "Mem", nor "Writeback" in "WritebackTmp". */
        if (strncmp(line, name, length) != 0 || (*value != ':' && *value != ' '))
            continue;
        value += *value == ':';
        double number = strtod(value, &end);
        if (strncmp(end, " kB", 3) == 0)
            number *= 1024;
        if (end == value || !isfinite(number))
            continue;
        *ret_number = number;
        code = 0;
    }
    free(line);
    fclose(file);
    return code;
}

uint64_t hostinfo_memory_available_bytes(void)
{
    double bytes;
    return hostinfo_scan("/proc/meminfo", "MemAvailable", &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

/* Processors do not agree on which names there are; after each come tabs and a colon. */
static bool find_cpuinfo(const char *name, char *buffer, size_t size)
{
    return procfs_find_line("/proc/cpuinfo", name, "\t:", buffer, size);
}

/* What the firmware and the hypervisor say of themselves; "none" only where the processor would show a
 * hypervisor (x86). */
static void add_virtualisation(struct hostinfo *info)
{
    char flags[8192], text[256], vendor[96], product[96];
    bool has_flags = find_cpuinfo("flags", flags, sizeof(flags));
    bool is_guest = has_flags && strstr(flags, " hypervisor") != NULL;
    if (procfs_read_line("/sys/hypervisor/type", text, sizeof(text)) == 0) {
        hostinfo_add_text(info, "virtualisation", text);
        return;
    }
    bool named = procfs_read_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor)) == 0 &&
                 procfs_read_line("/sys/class/dmi/id/product_name", product, sizeof(product)) == 0;
    /* Without that flag (other processors) only a name that says so tells a guest. */
    is_guest = is_guest || (named && !has_flags &&
                            (strstr(product, "Virtual") != NULL || strstr(vendor, "QEMU") != NULL));
    if (is_guest && named) {
        snprintf(text, sizeof(text), "guest on %s %s", vendor, product);
        hostinfo_add_text(info, "virtualisation", text);
    } else if (is_guest) {
        hostinfo_add_text(info, "virtualisation", "guest");
    } else if (has_flags) {
        hostinfo_add_text(info, "virtualisation", "none");
    }
}

/* Feature bit 5 is free page reporting (virtio specification 1.2, section 5.5.3). */
static bool has_virtio_balloon(bool reporting)
{
    DIR *devices = opendir(BALLOONS);
    bool found = false;
    struct dirent *entry;
    while (devices != NULL && !found && (entry = readdir(devices)) != NULL) {
        char path[320], features[256] = "";
        if (strncmp(entry->d_name, "virtio", 6) != 0)
            continue; /* a device is bound, not merely a driver built in */
        snprintf(path, sizeof(path), BALLOONS "/%.200s/features", entry->d_name);
        found = !reporting || (procfs_read_line(path, features, sizeof(features)) == 0 &&
                               strlen(features) > REPORTING_BIT && features[REPORTING_BIT] == '1');
    }
    if (devices != NULL)
        closedir(devices);
    return found;
}

bool hostinfo_free_pages_are_taken(void)
{
    double order;
    /* No block of free memory is larger than 2^10 pages: a higher order switches reporting off. */
    return has_virtio_balloon(true) &&
           (procfs_read_number("/sys/module/page_reporting/parameters/page_reporting_order", &order) != 0 ||
            order <= LARGEST_ORDER);
}

/* Either means that the host may have to find a page of memory at its first touch. */
static void add_balloon(struct hostinfo *info)
{
    bool balloon = has_virtio_balloon(false), reporting = access("/sys/module/page_reporting", F_OK) == 0;
    hostinfo_add_text(info, "balloon",
                      balloon && reporting ? "virtio_balloon, page_reporting"
                      : balloon            ? "virtio_balloon"
                      : reporting          ? "page_reporting"
                                           : "none");
}

/* The machine itself: nothing here changes while fstune runs, but for the available memory. */
static void add_machine(struct hostinfo *info)
{
    struct utsname names;
    char model[160];
    double bytes;
    if (uname(&names) == 0) {
        hostinfo_add_text(info, "hostname", names.nodename);
        hostinfo_add_text(info, "kernel", names.release);
        hostinfo_add_text(info, "machine", names.machine);
    }
    if (find_cpuinfo("model name", model, sizeof(model)) || find_cpuinfo("Model", model, sizeof(model)) ||
        find_cpuinfo("cpu", model, sizeof(model)))
        hostinfo_add_text(info, "cpu_model", model);
    hostinfo_add_number(info, "cpus", (double)sysconf(_SC_NPROCESSORS_ONLN));
    if (hostinfo_scan("/proc/meminfo", "MemTotal", &bytes) == 0)
        hostinfo_add_number(info, "memory_bytes", bytes);
    if (hostinfo_scan("/proc/meminfo", "MemAvailable", &bytes) == 0)
        hostinfo_add_number(info, "memory_available_bytes", bytes);
    struct hostinfo_memory_room room;
    hostinfo_find_memory_room(&room);
    hostinfo_add_number(info, "memory_room_bytes", room.bytes);
    add_virtualisation(info);
    add_balloon(info);
}

/* Without the serial number, which the name holds as a rule where it is known. */
static void add_device_itself(struct hostinfo *info, int fd)
{
    char link[sizeof info->facts[0].text];
    struct hostinfo_device device;
    double sectors;
    char path[80];
    hostinfo_add_text(info, "file_system", HOSTINFO_NO_FILE_SYSTEM);
    hostinfo_find_device(fd, &device);
    block_device_node(makedev(device.major_number, device.minor_number), path, sizeof(path));
    if (path[0] != '\0')
        hostinfo_add_text(info, "mount_source", path);
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/size", device.major_number, device.minor_number);
    if (procfs_read_number(path, &sectors) == 0)
        hostinfo_add_number(info, "device_bytes", sectors * 512);
    if (block_device_find_link(BLOCK_DEVICE_BY_ID, makedev(device.major_number, device.minor_number), link,
                               sizeof(link)) == 0)
        hostinfo_add_text(info, "device_by_id", link);
}

/* Options of the mount point and of the super block, as mountinfo keeps them apart; each may slow writes
 * down. */
static void add_file_system(struct hostinfo *info, int fd)
{
    struct hostinfo_mount mount;
    struct network_mount server;
    struct statvfs space;
    if (hostinfo_find_mount(fd, &mount) == 0) {
        char options[640];
        hostinfo_add_text(info, "file_system", mount.file_system);
        hostinfo_add_text(info, "mount_source", mount.source);
        hostinfo_add_text(info, "mount_point", mount.mount_point);
        snprintf(options, sizeof(options), "%s;%s", mount.mount_options, mount.super_options);
        hostinfo_add_text(info, "mount_options", options);
        network_mount_read(&mount, &server);
        network_mount_add(info, &server);
    }
    if (fstatvfs(fd, &space) == 0) {
        hostinfo_add_number(info, "fs_block_bytes", (double)space.f_frsize);
        hostinfo_add_number(info, "fs_size_bytes", (double)space.f_blocks * (double)space.f_frsize);
        hostinfo_add_number(info, "fs_available_bytes", (double)space.f_bavail * (double)space.f_frsize);
    }
}

/* Above these, writers are made to wait: where they are out of reach of a short run, a buffered figure is one
 * of memory. */
static void add_dirty_limits(struct hostinfo *info)
{
    double pages, page = (double)sysconf(_SC_PAGESIZE);
    hostinfo_add_file_number(info, "dirty_ratio_percent", "/proc/sys/vm/dirty_ratio");
    hostinfo_add_file_number(info, "dirty_background_ratio_percent", "/proc/sys/vm/dirty_background_ratio");
    hostinfo_add_file_number(info, "dirty_bytes", "/proc/sys/vm/dirty_bytes");
    hostinfo_add_file_number(info, "dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes");
    if (hostinfo_scan("/proc/vmstat", "nr_dirty_threshold", &pages) == 0)
        hostinfo_add_number(info, "dirty_limit_bytes", pages * page);
    if (hostinfo_scan("/proc/vmstat", "nr_dirty_background_threshold", &pages) == 0)
        hostinfo_add_number(info, "dirty_background_limit_bytes", pages * page);
}

/* What decides whether io_uring can run, and with which buffers. */
static void add_limits(struct hostinfo *info)
{
    struct rlimit limit;
    hostinfo_add_file_number(info, "io_uring_disabled", "/proc/sys/kernel/io_uring_disabled");
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY)
        hostinfo_add_text(info, "memlock_limit_bytes", "unlimited");
    else
        hostinfo_add_number(info, "memlock_limit_bytes", (double)limit.rlim_cur);
}

/* 1 while a battery discharges; absent on a machine without power supplies. */
static void add_battery(struct hostinfo *info)
{
    DIR *supplies = opendir("/sys/class/power_supply");
    bool any = false, discharging = false;
    struct dirent *entry;
    while (supplies != NULL && (entry = readdir(supplies)) != NULL) {
        char path[320], line[64];
        if (entry->d_name[0] == '.')
            continue;
        /* The battery of a mouse or a pen has the scope "Device" and says nothing of this machine. */
        snprintf(path, sizeof(path), "/sys/class/power_supply/%s/scope", entry->d_name);
        if (procfs_read_line(path, line, sizeof(line)) == 0 && strcmp(line, "Device") == 0)
            continue;
        any = true;
        snprintf(path, sizeof(path), "/sys/class/power_supply/%s/status", entry->d_name);
        if (procfs_read_line(path, line, sizeof(line)) == 0 && strcmp(line, "Discharging") == 0)
            discharging = true;
    }
    if (supplies != NULL)
        closedir(supplies);
    if (any)
        hostinfo_add_flag(info, "on_battery", discharging);
}

void hostinfo_collect(struct hostinfo *info, int fd)
{
    struct hostinfo_device device;
    info->n = 0;
    hostinfo_find_device(fd, &device);
    add_machine(info);
    if (hostinfo_is_device(fd))
        add_device_itself(info, fd);
    else
        add_file_system(info, fd);
    hostinfo_add_disk(info, &device);
    hostinfo_add_cgroup(info, &device);
    add_dirty_limits(info);
    add_limits(info);
    add_battery(info);
}
