/* bench/host/hostinfo_internal: what the hostinfo_*.c files share; the parsers are open to tests. */
#pragma once

#include "bench/host/hostinfo.h"

#include <sys/types.h>

/* A line of /proc/PID/mountinfo, escapes removed; texts are cut to fit. */
struct hostinfo_mount {
    uint64_t id;
    unsigned major_number, minor_number;
    char root[256]; /* of the mount within its file system */
    char mount_point[256], mount_options[96], file_system[48], source[256], super_options[512];
};

/* Reads one line in place (it is changed). False when it is no such line; *ret_mount is then undefined. */
bool hostinfo_parse_mount(char *line, struct hostinfo_mount *ret_mount);

/* The mount that fd lives on. 0 or -ENOENT; a block device lives on none. */
int hostinfo_find_mount(int fd, struct hostinfo_mount *ret_mount);

/* Numbers of devices. */
struct hostinfo_parts {
    const dev_t *numbers;
    size_t n;
};

/* The first mount of one of these. 0 or -ENOENT. */
int hostinfo_find_mount_of_parts(const struct hostinfo_parts *parts, struct hostinfo_mount *ret_mount);

/* The first mount of this type whose super block options have `option` (NULL: any). 0 or -ENOENT. */
int hostinfo_find_mount_of_type(const char *file_system, const char *option,
                                struct hostinfo_mount *ret_mount);

/* The first mount of this disk, given as its node ("/dev/loop0"), or of one of its partitions. 0 or -ENOENT.
 */
int hostinfo_find_mount_of_disk(const char *node, struct hostinfo_mount *ret_mount);

/* Facts are dropped silently when the list is full; a text is cut, a number that is not finite is left out.
 */
void hostinfo_add_text(struct hostinfo *info, const char *key, const char *text);
void hostinfo_add_number(struct hostinfo *info, const char *key, double number);
void hostinfo_add_flag(struct hostinfo *info, const char *key, bool flag);

/* As above from the first line of a file; nothing when it cannot be read. */
void hostinfo_add_file_text(struct hostinfo *info, const char *key, const char *path);
void hostinfo_add_file_number(struct hostinfo *info, const char *key, const char *path);

/* Facts about the disk: hostinfo_device.c; its cgroup limits: hostinfo_cgroup.c. */
void hostinfo_add_disk(struct hostinfo *info, const struct hostinfo_device *device);
void hostinfo_add_cgroup(struct hostinfo *info, const struct hostinfo_device *device);

/* The lowest limits of this process's group and, in version 2, its ancestors; 0: none. */
struct hostinfo_caps {
    bool known; /* a hierarchy that could limit the disk was readable */
    double read_bps, write_bps, read_iops, write_iops;
};

void hostinfo_find_caps(const struct hostinfo_device *device, struct hostinfo_caps *ret_caps);

/* Lowers the caps to what a line of io.max says behind the device's number: "rbps=1048576 wbps=max". Unknown
 * words and "max" change nothing. */
void hostinfo_parse_io_max(const char *line, struct hostinfo_caps *caps);

/* Periods in which CPU quotas of our groups held us back so far: cpu.stat nr_throttled, own group and
 * ancestors. NaN where nothing counts. */
double hostinfo_cpu_throttled(void);

/* The value of "name: 123 kB" or "name 123" in a file of such lines; kB are turned into bytes. 0, -ENOENT, or
 * the errno of opening. */
int hostinfo_scan(const char *path, const char *name, double *ret_number);
