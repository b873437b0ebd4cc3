/* bench/host/block_device: what a block device is: its names, size, maker and parts.
 *
 * What cannot be asked stays 0 or "". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOCK_DEVICE_MAX_PARTS 260U /* GPT has 128 partitions as a rule, the kernel 255 */

/* Where links stand that name a device by its maker, serial number or contents, whatever order the kernel
 * finds devices in. */
#define BLOCK_DEVICE_BY_ID "/dev/disk/by-id"

struct block_device {
    dev_t number, disk_number; /* disk_number: of the whole disk, which may be the device itself */
    char name[64], disk[64];   /* of the kernel: "sdb1" and "sdb" */
    uint64_t size_bytes;
    uint32_t sector_bytes; /* logical */
    bool read_only;
    char model[160], serial[80];
};

/* Of an opened block device (not O_PATH). 0; -ENOTBLK; or the errno of asking for its size. */
int block_device_of(int fd, struct block_device *ret_device);

/* The numbers of the device itself and of its partitions, at most `most`; how many. */
size_t block_device_parts(dev_t number, dev_t *parts, size_t most);

/* A partition's place on its disk. False for whole disks. */
bool block_device_place(dev_t part, uint64_t *ret_start_bytes, uint64_t *ret_size_bytes);

/* "/dev/sdb1", or "" where the kernel's name is not known. */
void block_device_node(dev_t number, char *path, size_t size);

/* The link in the directory that leads to the device: the one that says most to people. 0 or -ENOENT. */
int block_device_find_link(const char *directory, dev_t number, char *path, size_t size);

/* Model and serial number of a disk by its directory in sysfs; open to tests. */
void block_device_identify(const char *sysfs, struct block_device *device);
