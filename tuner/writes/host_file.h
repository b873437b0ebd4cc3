/* tuner/writes/host_file: the file that `fstune calibrate` writes and the predictions read: libconfig, the
 * digest's names, rates in bytes/s, costs in seconds, sizes in bytes, as numbers or as texts with a suffix
 * ("4k", "3.1G"). NAME_interval = [low, high] stands beside what was measured. */
#pragma once

#include "bench/base/err.h"
#include "models/cawl/cawl.h"
#include "models/statistics/student.h"

#include <stddef.h>
#include <stdio.h>

/* The parameters of struct cawl_host, in the order of its members. */
struct host_parameter {
    const char *name;    /* "bw_mem", ... as in the file */
    const char *meaning; /* a comment of the file; one line */
    enum host_unit { HOST_BPS, HOST_BYTES, HOST_SECONDS } unit;
    bool measured; /* else read from the system: no interval */
    bool optional; /* the file may lack it */
};

#define HOST_N_PARAMETERS 19

/* Places in host_parameters. */
enum host_index {
    HOST_BW_MEM,
    HOST_BW_RAMDISK,
    HOST_BW_RAMDISK_FIRST_TOUCH,
    HOST_BW_REDUCED,
    HOST_BW_REWRITE,
    HOST_BW_DEV,
    HOST_BW_RDEV,
    HOST_BW_WRITEBACK,
    HOST_BW_PAGE,
    HOST_BW_BUFFER,
    HOST_SC_W,
    HOST_SC_SW,
    HOST_SC_F,
    HOST_C_SK,
    HOST_BS,
    HOST_BF,
    HOST_LIMIT_BG,
    HOST_LIMIT_HARD,
    HOST_DIRTY_EXPIRE
};

extern const struct host_parameter host_parameters[HOST_N_PARAMETERS];

/* A parameter by its place. */
double host_value(const struct cawl_host *host, size_t i);
void host_set_value(struct cawl_host *host, size_t i, double value);

#define HOST_TEXT_SIZE 512

struct host_file {
    struct cawl_host host;
    struct interval intervals[HOST_N_PARAMETERS];                    /* NaN: none */
    double page_size_bytes, max_request_bytes, writeback_interval_s; /* 0: not known */
    /* Where and when, for people; "" where not known. */
    char hostname[HOST_TEXT_SIZE], path[HOST_TEXT_SIZE], file_system[HOST_TEXT_SIZE], kernel[HOST_TEXT_SIZE],
        date[HOST_TEXT_SIZE];
};

/* Reads and checks. Unknown names, missing or repeated values, values out of range, limit_bg >= limit_hard:
 * -EINVAL and "FILE:LINE: ..."; or the errno of opening it. */
int host_file_read(const char *path, struct host_file *ret, struct err *err);

/* A struct host_file as host_file_read reads it back, to the same doubles. 0 or a negative errno. */
int host_file_write(FILE *out, const void *file, struct err *err);
