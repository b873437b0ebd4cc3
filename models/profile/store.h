/* models/profile/store: everything that is kept of a program's requests, in one piece of memory of fixed
 * size.
 *
 * The memory may be shared by processes: it holds no addresses. Nothing is allocated after store_init, nobody
 * waits (a lock that stays busy is given up, and the request counted as not judged), and what finds no place
 * is counted. A process that is killed at any moment leaves a store that can be read. */
#pragma once

#include "models/profile/bins.h"
#include "models/profile/blocks.h"
#include "models/profile/event.h"
#include "models/profile/flight.h"
#include "models/profile/marks.h"
#include "models/profile/stream.h"
#include "models/profile/timeline.h"

#include <stddef.h>
#include <stdint.h>

#define STORE_MIN_BYTES      (32U << 10)
#define STORE_MAX_BYTES      (64U << 20)
#define STORE_DEFAULT_BYTES  (1U << 20)
#define STORE_ALIGNMENTS     24 /* by the power of two, from 1 byte to 8 MiB */
#define STORE_NAME_SIZE      96
#define STORE_THREAD_WORDS   64
#define STORE_PROCESSES_MOST 64
#define STORE_LOADER_BYTES   16384U /* that the loader of libraries reads in each process, at most */

/* Bits of is_stopped: nothing is recorded while one of them is set. */
enum {
    STORE_OVER = 1,  /* the recording has ended */
    STORE_PAUSED = 2 /* the program said so, and may say otherwise */
};

/* What is counted beside requests. */
enum store_count {
    STORE_EMPTY_READS, /* at the end of the file */
    STORE_FAILED,      /* requests that failed */
    STORE_OTHER_CALLS, /* reads and writes of what is no file: pipes, terminals, sockets */
    STORE_OTHER_BYTES, /* and their bytes */
    STORE_LATE_BYTES,  /* of asynchronous requests, which the system counts elsewhere */
    STORE_MAPS,        /* files mapped into memory */
    STORE_MAPPED_BYTES,
    STORE_RINGS,         /* io_uring: rings set up */
    STORE_PROCESSES,     /* that were recorded */
    STORE_LOST_STREAMS,  /* requests without a place among the streams */
    STORE_LOST_BUSY,     /* requests whose stream was busy too long */
    STORE_LOST_FILES,    /* requests without a place among the files */
    STORE_LOST_REQUESTS, /* that could not be followed at all */
    STORE_EVICTED,       /* streams that made room while they were open */
    STORE_RANGE_FLUSHES, /* sync_file_range, which makes nothing durable by itself */
    STORE_PASSED_BYTES,  /* that the system counts, and that were left out or forgotten on purpose */
    STORE_N_COUNTS
};

struct store_file {
    uint64_t key; /* number of the file; 0: free */
    uint64_t last_ns, last_end[PROFILE_N_DIRECTIONS];
    uint64_t n_unflushed; /* writes since the last flush */
    uint64_t n_flushes;   /* that had something to flush */
    uint32_t is_named, unused;
    char name[STORE_NAME_SIZE]; /* the end of its path, zero-terminated */
};

/* A process that is recorded; what it has in flight ends with it. */
struct store_process {
    uint32_t pid; /* 0: free */
    uint32_t unused;
    uint64_t n_in_flight;
};

struct store {
    uint64_t magic;
    uint64_t n_bytes;                                                 /* of all of it */
    uint64_t n_files, n_streams;                                      /* slots; powers of two */
    uint64_t files_at, streams_at, intervals_at, blocks_at, locks_at; /* in bytes from here */
    uint64_t marks_at;
    uint64_t start_ns, last_ns;
    uint32_t is_stopped, next_handle;
    uint64_t paused_ns, paused_since_ns; /* paused_since_ns 0: it is not */
    uint64_t n_renewed;                  /* by the program itself */

    /* What new beginnings took away, so that sums with it never get less. */
    uint64_t totals_before[MARKS_N_TOTALS], paused_ever_ns, lost_before;

    uint64_t n[PROFILE_N_DIRECTIONS][STREAM_N_ORDERS], n_unjudged[PROFILE_N_DIRECTIONS];
    uint64_t bytes[PROFILE_N_DIRECTIONS], n_flushes;
    uint64_t count[STORE_N_COUNTS];

    uint64_t spent_ns[PROFILE_N_DIRECTIONS];
    uint64_t n_direct, n_durable, n_async, n_ringed;
    uint64_t n_empty_flushes, n_flushed_writes, flush_ns;
    uint64_t alignment[STORE_ALIGNMENTS];
    uint64_t threads[STORE_THREAD_WORDS]; /* a bit for each number of a thread, modulo their count */

    struct flight flight;
    struct store_process processes[STORE_PROCESSES_MOST];

    struct bins sizes[PROFILE_N_DIRECTIONS], between; /* between: writes from flush to flush */
    struct timeline timeline;
    struct blocks blocks;
    struct marks marks;
};

/* Prepares zeroed memory. 0, or -EINVAL for a size out of range. */
int store_init(struct store *store, size_t n_bytes, uint64_t now_ns);

/* All counts begin anew. Files that are known, numbers of open ones, names of marks, what is in flight and a
 * pause stay. What others put into the store meanwhile is before it or behind it. */
void store_renew(struct store *store, uint64_t now_ns);

/* Nothing is recorded from now on, and again. Time goes on, but is no part of what is recorded. Both may come
 * twice. */
void store_pause(struct store *store, uint64_t now_ns);
void store_go_on(struct store *store, uint64_t now_ns);
bool store_is_paused(const struct store *store);
/* From start_ns to last_ns; 0 where a thread that began before start_ns has just told of it. */
uint64_t store_spent_ns(const struct store *store);
/* The part of it that was paused. */
uint64_t store_paused_ns(const struct store *store);

/* This moment has a name, which is not empty. Returns the key by which marks_find_name knows it; 0: it found
 * no place. */
uint64_t store_mark(struct store *store, const char *name, uint64_t now_ns);
/* As marks_list, until now. */
size_t store_list_marks(const struct store *store, struct mark ret[MARKS_MOST]);

/* Whether this memory of n_bytes holds a store whose parts lie inside, so that it can be read whatever its
 * counts are. */
bool store_is_sound(const struct store *store, size_t n_bytes);

struct store_file *store_files(const struct store *store);
struct stream *store_streams(const struct store *store);
struct timeline_interval *store_intervals(const struct store *store);
struct blocks_entry *store_blocks(const struct store *store);
struct mark *store_marks(const struct store *store);

/* A number for a file that was opened, never twice the same in a store. */
uint32_t store_new_handle(struct store *store);

/* Requests go to the kernel and come back: what the depth over time is made of. */
void store_begin(struct store *store, uint64_t now_ns, uint32_t n);
void store_end(struct store *store, uint64_t now_ns, uint32_t n);
/* The time until now is no part of it. */
void store_skip(struct store *store, uint64_t now_ns);

/* A place for a process; it counts there what it has in flight beside store_begin and store_end. NULL: there
 * is none, and what it leaves behind stays in flight. */
struct store_process *store_join(struct store *store, uint32_t pid);
/* The process is gone: what it had in flight has ended. Nobody else uses the place meanwhile. */
void store_leave(struct store *store, struct store_process *process, uint64_t now_ns);

/* A request is going to come: its places are fetched into the processor's cache meanwhile. */
void store_expect(const struct store *store, uint64_t file, uint64_t offset_bytes);

/* A request; in the order in which they began, as far as one can know. */
void store_take(struct store *store, const struct profile_request *request);
/* How long one took, which may be known later. */
void store_took(struct store *store, enum profile_direction direction, uint64_t spent_ns);

/* A flush of a file, or of all files with number 0. */
void store_flush(struct store *store, uint64_t file, uint64_t now_ns, uint64_t spent_ns);

void store_close(struct store *store, uint64_t file, uint32_t handle);

/* The name of a file, of which the end is kept. */
void store_name(struct store *store, uint64_t file, const char *name);
/* The same again. False: it has none, or no place. */
bool store_find_name(const struct store *store, uint64_t file, char ret_name[STORE_NAME_SIZE]);

void store_count(struct store *store, enum store_count what, uint64_t n);
/* STORE_LOST_REQUESTS, also of before the store was renewed. */
uint64_t store_lost_ever(const struct store *store);
