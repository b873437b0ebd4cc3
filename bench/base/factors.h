/* bench/base/factors: a point of the factor space (interfaces, section 3) and the rules that make one legal.
 *
 * Only what is true everywhere stands here (ranges, psync has depth 1 ...); what one file or machine allows
 * is the target's. */
#pragma once

#include "bench/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* In order of simplicity: the order in which ties are broken. */
enum api { API_PSYNC, API_PVEC, API_POOL, API_LIBAIO, API_IO_URING, API_N };
enum sync { SYNC_NONE, SYNC_END, SYNC_EACH, SYNC_N };

enum factor {
    FACTOR_REQUEST_SIZE,
    FACTOR_QUEUE_DEPTH,
    FACTOR_DIRECT,
    FACTOR_API,
    FACTOR_THREADS,
    FACTOR_SYNC,
    FACTOR_WRITE_SIZE, /* of writes, where it is another than that of reads */
    FACTOR_N
};

#define FACTORS_REQUEST_SIZE_MIN_BYTES 512ULL
#define FACTORS_REQUEST_SIZE_MAX_BYTES (512ULL << 20)
#define FACTORS_QUEUE_DEPTH_MAX        1024U
#define FACTORS_THREADS_MAX            64U

struct point {
    uint64_t request_size_bytes; /* a multiple of 512 */
    uint32_t queue_depth;        /* requests in flight per thread */
    uint32_t direct;             /* 0 or 1 */
    enum api api;
    uint32_t threads;
    enum sync sync;
    uint64_t
        write_size_bytes; /* size of write requests where it is another one than that of reads; 0: the same */
    uint32_t clients; /* of a file system that do this at once, where a search varies how many; else 0. None
                         of enum factor: only the search for several clients knows it */
};

extern const char *const api_names[API_N];
extern const char *const sync_names[SYNC_N];
extern const char *const factors_keys[FACTOR_N]; /* "request_size" ..., as JSON and journals have them */

/* 0 and the value, or -EINVAL. */
int factors_parse_api(const char *text, enum api *ret_api);
int factors_parse_sync(const char *text, enum sync *ret_sync);

/* A factor's level at a point, enums by value: of FACTOR_WRITE_SIZE the size of writes, whether or not it is
 * that of reads. */
uint64_t factors_level(const struct point *point, enum factor factor);

/* The point of these levels; 0 of FACTOR_WRITE_SIZE stands for the request size. */
struct point factors_point(const uint64_t levels[FACTOR_N]);

/* 0 with the point of these levels, whatever their source; -EINVAL where it is not legal by factors_check. */
int factors_read(const uint64_t levels[FACTOR_N], struct point *ret_point);

/* 0, or -EINVAL with the rule that the point breaks: ranges; psync at depth 1 only; pvec at depth >= 2, at
 * most 1024 buffers and 2 GiB - 4 KiB a call. Of two sizes the larger is a multiple of the smaller, and pvec,
 * whose requests share one vector at one offset, has one size only. */
int factors_check(const struct point *point, struct err *err);

/* Reads and writes have sizes of their own. */
bool factors_is_split(const struct point *point);

/* Makes the size of writes another one than that of reads, or the same. */
void factors_set_write_size(struct point *point, uint64_t bytes);

uint64_t factors_write_size_bytes(const struct point *point);
uint64_t factors_largest_size_bytes(const struct point *point); /* the larger of the two sizes */
/* Largest size x queue_depth x threads, of one client and of all that the point counts. */
uint64_t factors_bytes_of_client(const struct point *point);
uint64_t factors_bytes_in_flight(const struct point *point);
bool factors_equal(const struct point *a, const struct point *b);

/* "64k x 8, direct, io_uring", of two sizes "64k/8k x 8" (reads, writes), with ", 4 threads", ", sync each"
 * and ", 2 clients" where they differ from 1, end and 0. Returns buffer. */
#define FACTORS_TEXT_SIZE 160
const char *factors_format(const struct point *point, char buffer[FACTORS_TEXT_SIZE]);
