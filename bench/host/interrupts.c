/* Interrupts of a disk, from /sys and /proc/irq. */
#include "bench/host/interrupts.h"
#include "bench/host/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES    "/sys/devices/"
#define MOST_COUNT 8192 /* characters: a number for each processor */
#define MOST_SHARE 0.9  /* of all interrupts, for a disk that has one queue */

bool interrupts_parse_list(const char *list, cpu_set_t *ret_processors)
{
    CPU_ZERO(ret_processors);
    const char *at = list;
    while (*at != '\0') {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        bool is_number = end != at;
        if (is_number && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            is_number = end != at;
        }
        if (!is_number || first > last || last >= CPU_SETSIZE || (*end != ',' && *end != '\0')) {
            CPU_ZERO(ret_processors);
            return false;
        }
        for (unsigned long cpu = first; cpu <= last; cpu++)
            CPU_SET(cpu, ret_processors);
        at = *end == ',' ? end + 1 : end;
    }
    return CPU_COUNT(ret_processors) > 0;
}

/* How often it came, on all processors: "0,1763991". */
static uint64_t count_of(const char *interrupt)
{
    char path[PATH_MAX], counts[MOST_COUNT];
    uint64_t n = 0;
    snprintf(path, sizeof path, "/sys/kernel/irq/%s/per_cpu_count", interrupt);
    if (procfs_read_line(path, counts, sizeof counts) != 0)
        return 0;
    for (char *at = counts, *end; *at != '\0'; at = *end == ',' ? end + 1 : end) {
        n += strtoull(at, &end, 10);
        if (end == at)
            break;
    }
    return n;
}

/* The directory of the disk's own interrupts is that of the nearest thing above it which has some: a
 * controller on the PCI bus. */
static DIR *open_interrupts(const struct hostinfo_device *device)
{
    char place[PATH_MAX], path[PATH_MAX + 16];
    DIR *directory = NULL;
    if (device->sysfs[0] == '\0' || realpath(device->sysfs, place) == NULL)
        return NULL;
    while (directory == NULL && strncmp(place, DEVICES, strlen(DEVICES)) == 0) {
        snprintf(path, sizeof path, "%s/msi_irqs", place);
        directory = opendir(path);
        *strrchr(place, '/') = '\0';
    }
    return directory;
}

int interrupts_find(const struct hostinfo_device *device, cpu_set_t *ret_processors)
{
    char most[NAME_MAX + 1] = "", path[PATH_MAX], list[MOST_COUNT];
    uint64_t n_most = 0, n_all = 0;
    DIR *directory = open_interrupts(device);
    if (directory == NULL)
        return -ENOENT;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        uint64_t n = entry->d_name[0] != '.' ? count_of(entry->d_name) : 0;
        n_all += n;
        if (n > n_most) {
            n_most = n;
            snprintf(most, sizeof most, "%s", entry->d_name);
        }
    }
    closedir(directory);
    if (n_most == 0 || (double)n_most < MOST_SHARE * (double)n_all)
        return -ENOENT;
    snprintf(path, sizeof path, "/proc/irq/%s/effective_affinity_list", most);
    if (procfs_read_line(path, list, sizeof list) != 0 || !interrupts_parse_list(list, ret_processors))
        return -ENOENT;
    return 0;
}
