/* bench/host/hostinfo: the fixed factors of a measurement, recorded and never varied (Erofeev 2021, "factor
 * groups").
 *
 * An ordered list of named facts, each a text, a number or a flag; what cannot be read is absent. Collecting
 * never fails as a whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hostinfo_kind { HOSTINFO_TEXT, HOSTINFO_NUMBER, HOSTINFO_FLAG };

#define HOSTINFO_MAX_FACTS 96

/* In the place of a file system's type where a block device is measured. */
#define HOSTINFO_NO_FILE_SYSTEM "block device"

struct hostinfo_fact {
    char key[48]; /* snake_case with the unit: "memory_bytes", "read_ahead_kb", "dirty_ratio_percent" */
    enum hostinfo_kind kind;
    char text[160]; /* HOSTINFO_TEXT */
    double number;  /* HOSTINFO_NUMBER; HOSTINFO_FLAG as 0 or 1 */
};

struct hostinfo {
    size_t n;
    struct hostinfo_fact facts[HOSTINFO_MAX_FACTS];
};

/* Collects what belongs to the machine and to the file system that fd (a file or directory) lives on, or to
 * the block device that fd is; file_system is then HOSTINFO_NO_FILE_SYSTEM, mount_source its node,
 * device_bytes and device_by_id say how large it is and by which name it is found again: hostname, kernel,
 * cpu_model, cpus, memory_bytes, memory_available_bytes, memory_room_bytes (see below), virtualisation (from
 * /sys/class/dmi, /proc/cpuinfo "hypervisor", /sys/hypervisor), balloon (virtio_balloon, page_reporting),
 * file_system, mount_source, mount_point, mount_options, fs_block_bytes, device, device_whole (the disk of a
 * partition), device_model, scheduler, nr_requests, read_ahead_kb, max_sectors_kb, max_hw_sectors_kb,
 * logical_block_bytes, physical_block_bytes, rotational, write_cache, fua, discard_granularity_bytes,
 * discard_max_bytes (0: no discard), loop_backing_file, loop_direct_io, cgroup_v1_blkio_throttle,
 * cgroup_v2_io_max, dirty_ratio_percent, dirty_background_ratio_percent, dirty_bytes, dirty_background_bytes,
 * dirty_limit_bytes and dirty_background_limit_bytes (from /proc/vmstat thresholds x page size),
 * io_uring_disabled, memlock_limit_bytes, on_battery. */
void hostinfo_collect(struct hostinfo *info, int fd);

/* Adds load and pressure under names with the suffix: load1, psi_io_some_avg10_percent,
 * psi_io_some_avg60_percent, dirty_memory_bytes, writeback_memory_bytes, device_in_flight, steal_ticks;
 * suffix "before" or "after". */
void hostinfo_collect_load(struct hostinfo *info, int fd, const char *suffix);

/* Adds what may stand in a measurement's way: open_files_limit, file_size_limit_bytes (absent when
 * unlimited), aio_max_nr, aio_nr, mount_read_only, pressure_readable, cpu_governor ("powersave", or "mixed").
 */
void hostinfo_collect_limits(struct hostinfo *info, int fd);

/* NULL when absent. */
const struct hostinfo_fact *hostinfo_find(const struct hostinfo *info, const char *key);

/* Of a number or a flag; NaN where there is none. Of a text; "" where there is none. */
double hostinfo_number(const struct hostinfo *info, const char *key);
const char *hostinfo_text(const struct hostinfo *info, const char *key);

/* A device as fstune sees it. */
struct hostinfo_device {
    unsigned major_number,
        minor_number; /* of the block device under the file system; 0,0 when there is none */
    char sysfs[128];  /* /sys/dev/block/M:m of the whole disk, or "" */
};

/* Finds the block device that fd is, or that is below its file system, also for btrfs and others with
 * anonymous device numbers (through mountinfo). */
void hostinfo_find_device(int fd, struct hostinfo_device *ret_device);

/* The number that the kernel knows the file system of fd by, which is not st_dev on btrfs. 0 or -ENOENT. */
int hostinfo_find_super(int fd, unsigned *ret_major, unsigned *ret_minor);

/* Whether fd is itself a block device. */
bool hostinfo_is_device(int fd);

/* Requests in flight at the device now; 0 and the count, or -ENOENT where the kernel does not tell. */
int hostinfo_in_flight(const struct hostinfo_device *device, uint64_t *ret_in_flight);

/* MemAvailable of /proc/meminfo, what the machine's page cache may grow to; 0 when unknown. What this process
 * may take is less: see hostinfo_find_memory_room. */
uint64_t hostinfo_memory_available_bytes(void);

/* Memory that may be used, in bytes; INFINITY: nothing limits it. Pages of files count as room, because they
 * can be had back. Whatever decides how much memory to take asks here: a memory cgroup kills who takes more.
 */
struct hostinfo_memory_room {
    double bytes;    /* MemAvailable, and the lowest limit of the memory cgroups, both versions */
    double v1_bytes; /* of cgroups of version 1 alone: the kernel ends a group that dirties all its pages
                        before they are written back */
    double v2_bytes; /* of cgroups of version 2 alone, whose groups have dirty limits of their own */
};

void hostinfo_find_memory_room(struct hostinfo_memory_room *ret_room);

/* True where the machine's host takes back memory that is free (virtio balloon with free page reporting, on
 * blocks of at most 2^10 pages): the first touch of such a page waits for the host. */
bool hostinfo_free_pages_are_taken(void);
