/* bench/target/storage_stack_disk: the device and the devices below it, from sysfs. */
#include "bench/host/procfs.h"
#include "bench/target/storage_stack_internal.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
