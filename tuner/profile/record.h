/* tuner/profile/record: a program's requests into a store. */
#pragma once

#include "bench/base/err.h"
#include "bench/profile/launch.h"
#include "bench/profile/shared_memory.h"

#include <stdint.h>
#include <sys/types.h>

/* Where bench/collector looks for the store. */
#define RECORD_STORE_VARIABLE "FSTUNE_PROFILE_STORE"

struct hardware_counters;
struct store;
struct profile_request;

/* What was recorded, and how well. */
struct recording {
    struct shared_memory shared;
    struct store *store;
    const char *source;         /* "preload", "trace", or the format of an import */
    const char *const *command; /* NULL: an import */
    pid_t pid;                  /* that was attached to; 0: none */
    struct launch_end end;      /* of a program */
    bool knows_calls;           /* the source tells O_DIRECT and threads */
    bool knows_flushes;
    bool is_part;          /* the program went on after the recording */
    double overhead_share; /* of the time, by an estimate; NaN: unknown */
    /* Of an import: each request, or NULL for a flush, as it goes into the store; NULL: nobody asks. */
    void (*tap)(void *data, const struct profile_request *request);
    void *tap_data;
    int events_code; /* of --save-events; negative: events_err says what is missing there */
    struct err events_err;
    uint64_t n_refused; /* lines of an import that could not be understood */
    /* Of the program, whoever opened them before it started; NULL: nobody asked. record_close closes them. */
    struct hardware_counters *hardware;
};

/* How a program is recorded. */
struct record_options {
    uint64_t store_bytes;
    uint64_t duration_ns;  /* 0: as long as it runs */
    bool output_to_stderr; /* standard output is needed for the document */
    const char *events;    /* where each event goes; "": nowhere */
    bool memory;           /* with events: where memory is allocated */
    /* Called every few milliseconds while it runs; n_lost: what the kernel lost, which the store has at the
     * end. NULL: nobody looks. */
    void (*look)(void *data, const struct store *store, uint64_t n_lost);
    void *look_data;
};

/* Runs the program, whose name is command[0], until it ends. 0 or a negative errno; -EINVAL for a program
 * that cannot be recorded. */
int record_program(struct recording *recording, const char *const *command,
                   const struct record_options *options, struct err *err);

/* The same by the kernel (record_trace.c), for programs that no library can be loaded into, too. */
int record_trace_program(struct recording *recording, const char *const *command,
                         const struct record_options *options, struct err *err);

/* A process that runs already, with its children, until it ends, the time is over or a signal comes. */
int record_trace_process(struct recording *recording, pid_t pid, const struct record_options *options,
                         struct err *err);

/* A library beside this program, or where `make install` puts it. 0 or a negative errno. */
int record_find_library(const char *name, char *path, size_t size, struct err *err);
/* The one with the wrappers, or what the environment names. */
int record_find_wrappers(char *path, size_t size, struct err *err);

/* What processes that are gone had in flight has ended (record_dead.c). */
void record_dead_end(struct store *store);

/* An empty store that begins at start_ns, for an import. */
int record_open(struct recording *recording, uint64_t store_bytes, uint64_t start_ns, struct err *err);
/* The recording has ended. What the program can still write into is copied and checked, and the store is that
 * copy from now on. 0, -ENOMEM, or -EBADMSG where the program has written over it. */
int record_settle(struct recording *recording, struct err *err);
void record_close(struct recording *recording);
