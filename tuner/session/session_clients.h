/* tuner/session/session_clients: what a session asks of the other clients, where several processes, on one
 * machine or on many, load one file system together (tuner/search/clients.h).
 *
 * Every client has a session of its own with the same settings, and a file of its own or a region of one that
 * all share. The one of rank 0 decides, and its session is what the search and the reports see: a run there
 * is one of all clients, with their sums. The others serve. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"

#include <stdbool.h>
#include <stdint.h>

struct session;

struct session_clients {
    uint32_t n, rank;
    uint32_t n_here;    /* on this machine, this one among them */
    bool is_first_here; /* of these; it locks the device */

    /* The session is open here: hears whether it is everywhere. 0; the first refusal, which names its client.
     */
    int (*open)(struct session *session, struct err *err);
    /* Has the other clients make their files while this one makes its own; of one that all share, makes it or
     * opens it, and sets `region`. */
    int (*prepare)(struct session *session, struct err *err);
    /* Own is made, or has failed with `result`: all get the size of the smallest, direct I/O counts where all
     * proved it, and what was written is summed. 0; `result`; or the first failure elsewhere. */
    int (*join)(struct session *session, int result, struct err *err);
    /* Makes the run of session->job, and fills its result and latencies. 0; the first failure of any client;
     * -ENOLINK: one died or stalls; or as measure_run. 0 with was_void: to be made again. */
    int (*run)(struct session *session, struct err *err);
    /* After the last run: looks whether all are still there. */
    void (*finish)(struct session *session);
    /* Of the others: does what is asked for until the end. Returns the exit code. */
    int (*serve)(struct session *session);

    struct target_region region;            /* of the file that all share; fd 0: there is none */
    bool was_void;                          /* the last run */
    uint64_t run_warnings, target_warnings; /* of the last run, from all; sets of tuner/session/warnings */
};

/* The clients of this process; NULL: it measures alone. Set once, before a session is opened. */
struct session_clients *session_clients_here(void);
void session_clients_set(struct session_clients *clients);

/* 1 for NULL. */
/* From one region of a shared file to the next: so much that each begins at a multiple of the largest size of
 * requests, and of the pages of any machine. */
uint64_t session_clients_distance_bytes(const struct settings *settings, uint64_t region_bytes);

uint32_t session_n_clients(const struct session_clients *clients);

/* What can be refused before anything is opened: options that know one client only. */
int session_clients_check(const struct settings *settings, struct err *err);
