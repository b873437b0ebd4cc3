/* bench/host/block_device: what a block device is. */
#include "bench/host/block_device.h"

#include "bench/host/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* sysfs counts in these, whatever the device's sectors are. */
#define SYSFS_SECTOR_BYTES 512U

static void sysfs_of(dev_t number, char *path, size_t size)
{
    snprintf(path, size, "/sys/dev/block/%u:%u", major(number), minor(number));
}

/* The last part of the directory that a link of sysfs leads to: the kernel's name, in which '!' stands for a
 * slash. */
static void read_name(const char *sysfs, char *name, size_t size)
{
    char *path = realpath(sysfs, NULL);
    snprintf(name, size, "%s", path != NULL ? basename(path) : "");
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '!' ? '/' : *c;
    free(path);
}

static bool read_in(const char *sysfs, const char *file, char *text, size_t size)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", sysfs, file) < (int)sizeof path &&
           procfs_read_line(path, text, size) == 0;
}

static bool read_number_in(const char *sysfs, const char *file, uint64_t *ret_number)
{
    char text[32];
    return read_in(sysfs, file, text, sizeof text) && sscanf(text, "%" SCNu64, ret_number) == 1;
}

static bool read_device_number(const char *sysfs, dev_t *ret_number)
{
    char text[32];
    unsigned major_number, minor_number;
    if (!read_in(sysfs, "dev", text, sizeof text) || sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
        return false;
    *ret_number = makedev(major_number, minor_number);
    return true;
}

/* A page of SCSI's vital product data: 4 bytes of head, then the number. */
static void read_scsi_serial(const char *sysfs, char *serial, size_t size)
{
    char path[PATH_MAX];
    unsigned char page[4 + 64] = {0};
    if (snprintf(path, sizeof path, "%s/device/vpd_pg80", sysfs) >= (int)sizeof path)
        return;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    size_t n = fread(page, 1, sizeof page - 1, file), used = 0;
    fclose(file);
    for (size_t i = 4; i < n && used + 1 < size; i++)
        if (page[i] > ' ' && page[i] < 127)
            serial[used++] = (char)page[i];
    serial[used] = '\0';
}

void block_device_identify(const char *sysfs, struct block_device *device)
{
    static const char *const models[] = {"device/model", "dm/name", "loop/backing_file", "device/name"};
    static const char *const serials[] = {"device/serial", "serial", "dm/uuid"};
    device->model[0] = device->serial[0] = '\0';
    for (size_t i = 0; i < sizeof models / sizeof models[0] && device->model[0] == '\0'; i++)
        read_in(sysfs, models[i], device->model, sizeof device->model);
    for (size_t i = 0; i < sizeof serials / sizeof serials[0] && device->serial[0] == '\0'; i++)
        read_in(sysfs, serials[i], device->serial, sizeof device->serial);
    if (device->serial[0] == '\0')
        read_scsi_serial(sysfs, device->serial, sizeof device->serial);
}

/* Without a /sys nothing is known but the number. */
static void name_device(struct block_device *device)
{
    char sysfs[64], disk[80];
    struct stat partition;
    sysfs_of(device->number, sysfs, sizeof sysfs);
    read_name(sysfs, device->name, sizeof device->name);
    /* The entry is a link into the disk's directory, so that its ".." is the disk. */
    snprintf(disk, sizeof disk, "%s/partition", sysfs);
    bool is_partition = stat(disk, &partition) == 0;
    snprintf(disk, sizeof disk, "%s%s", sysfs, is_partition ? "/.." : "");
    device->disk_number = device->number;
    if (is_partition)
        read_device_number(disk, &device->disk_number);
    sysfs_of(device->disk_number, disk, sizeof disk);
    read_name(disk, device->disk, sizeof device->disk);
    block_device_identify(disk, device);
}

int block_device_of(int fd, struct block_device *ret_device)
{
    struct block_device device = {0};
    struct stat status;
    int sector_bytes = 0, read_only = 0;
    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISBLK(status.st_mode))
        return -ENOTBLK;
    if (ioctl(fd, BLKGETSIZE64, &device.size_bytes) != 0 || ioctl(fd, BLKSSZGET, &sector_bytes) != 0)
        return -errno;
    device.number = status.st_rdev;
    device.sector_bytes = (uint32_t)sector_bytes;
    device.read_only = ioctl(fd, BLKROGET, &read_only) == 0 && read_only != 0;
    name_device(&device);
    *ret_device = device;
    return 0;
}

size_t block_device_parts(dev_t number, dev_t *parts, size_t most)
{
    char sysfs[64], path[PATH_MAX], text[16];
    size_t n = 0;
    if (most > 0)
        parts[n++] = number;
    sysfs_of(number, sysfs, sizeof sysfs);
    DIR *directory = opendir(sysfs);
    struct dirent *entry;
    while (directory != NULL && n < most && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%.255s", sysfs, entry->d_name);
        n += read_in(path, "partition", text, sizeof text) && read_device_number(path, &parts[n]);
    }
    if (directory != NULL)
        closedir(directory);
    return n;
}

bool block_device_place(dev_t part, uint64_t *ret_start_bytes, uint64_t *ret_size_bytes)
{
    char sysfs[64], text[16];
    uint64_t start, size;
    sysfs_of(part, sysfs, sizeof sysfs);
    if (!read_in(sysfs, "partition", text, sizeof text) || !read_number_in(sysfs, "start", &start) ||
        !read_number_in(sysfs, "size", &size))
        return false;
    *ret_start_bytes = start * SYSFS_SECTOR_BYTES;
    *ret_size_bytes = size * SYSFS_SECTOR_BYTES;
    return true;
}

void block_device_node(dev_t number, char *path, size_t size)
{
    char sysfs[64], name[64];
    sysfs_of(number, sysfs, sizeof sysfs);
    read_name(sysfs, name, sizeof name);
    snprintf(path, size, "%s%s", name[0] != '\0' ? "/dev/" : "", name);
}

/* The lower the better: a mapped device's name can be given anew, its UUID cannot; numbers alone say least to
 * people. */
static int rank_of(const char *link)
{
    static const char *const dull[] = {"dm-name-", "lvm-pv-", "md-name-", "wwn-", "nvme-eui.", "nvme-nvme."};
    for (size_t i = 0; i < sizeof dull / sizeof dull[0]; i++)
        if (strncmp(link, dull[i], strlen(dull[i])) == 0)
            return 1;
    return 0;
}

static bool leads_to(const char *path, dev_t number)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISBLK(status.st_mode) && status.st_rdev == number;
}

int block_device_find_link(const char *directory, dev_t number, char *path, size_t size)
{
    char best[256] = "", candidate[PATH_MAX];
    DIR *links = opendir(directory);
    struct dirent *entry;
    while (links != NULL && (entry = readdir(links)) != NULL) {
        const char *name = entry->d_name;
        if (name[0] == '.' || snprintf(candidate, sizeof candidate, "%s/%s", directory, name) >= (int)size ||
            !leads_to(candidate, number))
            continue;
        /* Of equal ones the first by name, whatever order the directory has. */
        int order = best[0] == '\0' ? -1 : rank_of(name) - rank_of(best);
        if (order < 0 || (order == 0 && strcmp(name, best) < 0))
            snprintf(best, sizeof best, "%s", name);
    }
    if (links != NULL)
        closedir(links);
    if (best[0] == '\0')
        return -ENOENT;
    snprintf(path, size, "%s/%s", directory, best);
    return 0;
}
