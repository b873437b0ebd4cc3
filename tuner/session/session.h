/* tuner/session/session: what one command has open - clock, target or surface, device lock, recorded system -
 * and the runs made with it. */
#pragma once

#include "bench/host/hostinfo.h"
#include "bench/io/arena.h"
#include "bench/run/measure.h"
#include "tuner/base/notes.h"
#include "tuner/base/progress.h"
#include "tuner/options/settings.h"
#include "tuner/session/drive_health.h"
#include "tuner/session/session_clients.h"
#include "tuner/session/simulator.h"
#include "tuner/session/warnings.h"

#include <stdbool.h>
#include <stdint.h>

/* What the thread of a run or of the preparation works on. An abandoned thread goes on using it, so it does
 * not live on a stack. */
struct session_job {
    struct measure_plan plan;
    struct measure_result result;
    struct histogram latency;
    struct err err;
};

/* A further target that is loaded together with the first. */
struct session_other {
    int directory_fd; /* 0: not open */
    struct target target, existing;
    struct target_facts target_facts;
};

/* Allocate it on the heap, and do not free it when `abandoned` is set. */
struct session {
    const struct settings *settings;
    struct session_clients *clients; /* borrowed; NULL: this process measures alone */
    struct session_job job;
    bool simulated;
    struct simulator simulator;
    struct clock clock;
    struct target target;
    struct target existing; /* the user's, open since its guards looked at it; moved to `target` */
    struct arena arena;
    struct session_other other[MEMBERS_MOST - 1]; /* settings_n_places of them less one */
    struct members members;                       /* all of these, where there are several */
    uint32_t alone;                               /* the member that runs alone now, from 1; 0: none */
    struct beside_loads *beside;                  /* of --beside, see beside_loads; NULL without */
    struct neighbour_costs *neighbours; /* of --neighbour-limit, see neighbour_costs; NULL without */
    struct verify verify;               /* of --verify; closed without */
    struct measure_env env;
    struct hostinfo host;
    struct drive_health drive_health_before, drive_health_after; /* not read on a surface */
    struct warnings_asked asked;
    struct target_facts target_facts; /* nothing known on a surface */
    int directory_fd, lock_fd;
    uint64_t seed;
    uint64_t start_ns;
    uint64_t end_ns;                      /* no run and no filling lasts longer; UINT64_MAX: no end */
    uint32_t n_targets;                   /* that the command fills, all of one size; 0 is 1 */
    uint64_t n_runs;                      /* started; numbers the seeds */
    uint64_t write_limit_bytes;           /* of bytes_written, for now; at most --max-write */
    uint64_t reserved_ns, reserved_bytes; /* of the budget and of --max-write, for what follows the search */
    uint64_t bytes_read, bytes_written;   /* filling, proofs of direct I/O and warm-up included */
    double seconds_at_most;               /* of the whole command; set by its plan */
    uint64_t repaid_ns;                   /* before it, a run would make up for a burst of the one before */
    double fastest_bps;                   /* highest rate of writing seen, filling included */
    unsigned n_not_settled;               /* in a row */
    uint64_t n_disturbed;                 /* runs repeated because of a passing disturbance */
    bool abandoned; /* a run hangs in the kernel: nothing it uses may be touched or freed */
    /* The file system runs out of free space, or somebody uses the user's file: the command must end. */
    bool target_lost;
    bool wrote_out;        /* a run did not start because it could have crossed --max-write */
    bool paused_out;       /* or because the pause before it, for --max-cost, took the rest of the time */
    struct resume *resume; /* of --resume, see tuner/search/resume; NULL without */
    struct prior *prior;   /* of --prior, see tuner/search/prior; NULL without */
    struct save *save;     /* of --save, see tuner/store/save; NULL without */
    const struct tune_policy *policy; /* borrowed, see tuner/search/tune; NULL: the usual one */
    struct notes warnings, dropped;
    struct progress progress;
};

/* Starts the clock and opens the surface, or checks the directory; nothing is written. session_close accepts
 * a zeroed session. */
int session_open(struct session *session, const struct settings *settings, struct err *err);

/* Locks the device below a directory against a second fstune, as long as *ret_fd is open (-1: nothing is
 * locked). What could not be locked is a warning. 0, or -EWOULDBLOCK: another one measures it. */
int session_lock_device(int directory_fd, int *ret_fd, struct notes *warnings, struct err *err);

/* Size the target file would have; of --existing, which stays open from here on, its size, after its guards;
 * UINT64_MAX on a surface. */
int session_estimate(struct session *session, uint64_t *ret_file_bytes, struct err *err);

/* Sleeps by the session's clock, until a signal asks for the end at the latest. */
void session_sleep_until(const struct session *session, uint64_t end_ns);

/* Takes the lock, creates and fills the target (or opens --existing), proves direct I/O. Nothing to do on a
 * surface. -EINTR when interrupted. */
int session_prepare(struct session *session, struct err *err);

/* Another own target of the prepared session's size, spread over so many files: filled, direct I/O proved.
 * For a worker, like a run; its bytes are not counted yet. The caller closes it, also after an error. */
int session_make_target(struct session *session, uint32_t n_files, struct target *ret_target,
                        struct err *err);

/* The same of this size, in one file, for a load of --beside. */
int session_make_load_target(struct session *session, uint64_t size_bytes, struct target *ret_target,
                             struct err *err);

/* One run as session_job says, for a client that another one leads. -EINTR also when it was given up. */
int session_run_job(struct session *session, struct err *err);

/* One run. Retried when it was void (Ctrl-Z, suspend). 0; -EINTR: interrupted; -EDQUOT with wrote_out: the
 * write budget does not allow it; or the first failed request's error. latency must be initialised. */
int session_measure(struct session *session, struct measure_plan *plan, struct measure_result *ret,
                    struct histogram *latency, struct err *err);

/* The same of one member while the others are idle. It may be what all of them together are not: neither the
 * settings' records nor the search know it. */
int session_measure_alone(struct session *session, uint32_t member, struct measure_plan *plan,
                          struct measure_result *ret, struct histogram *latency, struct err *err);

/* After the last run: the load and the drive's counters once more. Nothing to do on a surface. */
void session_finish(struct session *session);
/* Warnings about a run that was just made. */
uint64_t session_warnings(const struct session *session, const struct measure_plan *plan,
                          const struct measure_result *result);

/* What speaks against a point whose replays have these warnings, those of file and machine included, less
 * what --accept accepts. Empty: it can be recommended. */
uint64_t session_disqualifying(const struct session *session, uint64_t warning_set,
                               const struct point *point);

/* Adds what is known of file and machine to the warnings; to be called after the last run. */
void session_note_target(struct session *session);

double session_seconds(const struct session *session); /* since session_open */

void session_close(struct session *session);
