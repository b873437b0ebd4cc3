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
#include <unistd.h>

#define LIST_SIZE 512

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
    char path[PATH_MAX];
    uint64_t n = 0, one;
    snprintf(path, sizeof path, "/sys/kernel/irq/%s/per_cpu_count", interrupt);
    FILE *in = fopen(path, "re");
    while (in != NULL && fscanf(in, "%" SCNu64, &one) == 1) {
        n += one;
        if (fgetc(in) != ',')
            break;
    }
    if (in != NULL)
        fclose(in);
    return n;
}

static bool has_one_queue(const struct hostinfo_device *device)
{
    char path[sizeof device->sysfs + 8];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/mq", device->sysfs);
    DIR *directory = device->sysfs[0] != '\0' ? opendir(path) : NULL;
    if (directory == NULL)
        return false;
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n == 1;
}

static bool is_pci(const char *place)
{
    char path[PATH_MAX + 16], subsystem[PATH_MAX];
    snprintf(path, sizeof path, "%s/subsystem", place);
    ssize_t n = readlink(path, subsystem, sizeof subsystem - 1);
    if (n <= 0)
        return false;
    subsystem[n] = '\0';
    const char *name = strrchr(subsystem, '/');
    return name != NULL && strcmp(name, "/pci") == 0;
}

/* Of the controller on the PCI bus that the disk belongs to. NULL: it has none, or takes no messages. */
static DIR *open_interrupts(const struct hostinfo_device *device)
{
    char place[PATH_MAX], path[PATH_MAX + 16];
    char *end;
    if (realpath(device->sysfs, place) == NULL)
        return NULL;
    while (!is_pci(place)) {
        end = strrchr(place, '/');
        if (end == NULL || end == place)
            return NULL;
        *end = '\0';
    }
    snprintf(path, sizeof path, "%s/msi_irqs", place);
    return opendir(path);
}

int interrupts_find(const struct hostinfo_device *device, cpu_set_t *ret_processors)
{
    char most[NAME_MAX + 1] = "", path[PATH_MAX], list[LIST_SIZE];
    uint64_t n_most = 0;
    DIR *directory = has_one_queue(device) ? open_interrupts(device) : NULL;
    if (directory == NULL)
        return -ENOENT;
    /* A controller may have one more for changes of itself. */
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        uint64_t n = entry->d_name[0] != '.' ? count_of(entry->d_name) : 0;
        if (n > n_most) {
            n_most = n;
            snprintf(most, sizeof most, "%s", entry->d_name);
        }
    }
    closedir(directory);
    if (n_most == 0)
        return -ENOENT;
    snprintf(path, sizeof path, "/proc/irq/%s/effective_affinity_list", most);
    if (procfs_read_line(path, list, sizeof list) != 0 || !interrupts_parse_list(list, ret_processors))
        return -ENOENT;
    return 0;
}
