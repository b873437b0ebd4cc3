/* tuner/nightly/retune: a night over all targets: is the machine ready, measure, act on it, remember. */
#pragma once

#include "bench/base/err.h"
#include "bench/host/host_load.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/nightly/retune_measure.h"
#include "tuner/store/history.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RETUNE_TEXT_SIZE    768
#define RETUNE_BACKEND_SIZE 128

/* How long the process that waits for the one that works on a target is patient; in memory of both. */
struct retune_patience {
    atomic_uint_fast64_t end_ns; /* of the monotonic clock */
    atomic_bool hooks;           /* they may be running: a signal waits for their end */
};

/* Beyond the time of what is under way, for a slow disk to write what it holds. */
#define RETUNE_SLACK_NS (300 * CLOCK_NS_PER_S)

/* Differences that the nights of all other targets count for at most: a target's own know it better. */
#define RETUNE_SCATTER_MOST 6

/* What a night touches. */
struct retune_world {
    struct history *history; /* open for writing; borrowed. With `apart` NULL: each process opens its own */
    const char *db;          /* its path */
    const char *host;        /* this machine's name: only its decisions count, and it signs its own */
    int (*measure)(const struct retune_request *request, struct retune_result *ret_result,
                   struct err *err); /* retune_measure */
    void (*look)(struct host_load_facts *facts, int directory_fd, bool after_own_work,
                 const atomic_int *interrupted); /* host_load_read */
    const atomic_int *interrupted;
    bool force;        /* do not ask whether the machine is ready */
    bool apart;        /* a process for each target (see tuner/nightly/retune_steps); else all in this one */
    uint64_t slack_ns; /* RETUNE_SLACK_NS */
    struct retune_patience *patience; /* of whoever waits for this process; NULL: nobody */
};

/* What became of a target's advice. */
enum retune_action {
    RETUNE_STAYS,    /* nothing to change */
    RETUNE_ADVISED,  /* a new setting; there is no snippet, so a person has to apply it */
    RETUNE_REPEATED, /* the same advice as on an earlier night; not applied by anybody as far as we know */
    RETUNE_APPLIED,
    RETUNE_SPARED, /* the new setting was rolled back by hand before; it is not applied again */
    RETUNE_HELD,   /* recorded as advice; `text` says what is missing (see tuner/nightly/retune_record) */
    RETUNE_FAILED, /* it could not be applied; `text` says why, and which file is there */
    RETUNE_N_ACTIONS
};

/* "stays", "advised", "repeated", "applied", "spared", "held", "failed". */
extern const char *const retune_action_names[RETUNE_N_ACTIONS];

struct retune_outcome {
    const struct retune_target *target;
    int exit_code;
    bool measured; /* `night` is set; retune_report_done releases it */
    struct retune_result night;
    int64_t settled_id; /* the newest decision about the current setting when the night began; 0: none */
    enum retune_action action;
    char text[RETUNE_TEXT_SIZE]; /* one line: why it was skipped or failed; of an action its details; or "" */
    bool skipped, failed;        /* not measured: not ready, or an error */
    bool not_begun;              /* a signal came before */
    unsigned n_skipped;          /* nights in a row, this one included */
    char backend[RETUNE_BACKEND_SIZE]; /* whose nights it waited for; "": none */
    uint64_t waited_ns;
    uint64_t kept_bytes; /* written tonight for the file that is kept */
    double ended_s;      /* since 1970 */
};

struct retune_report {
    struct retune_outcome *outcomes;
    size_t n;
    bool interrupted;
    int exit_code; /* the worst: 1 > 4 > 5 > 3 > 0 */
};

/* only: the name of one target, or "" for all. Each has an outcome. What goes wrong with one target is its
 * own, and the next follows. 0; -ENOMEM. */
int retune_run(const struct retune_world *world, const struct retune_config *config, const char *only,
               struct retune_report *ret_report, struct err *err);
void retune_report_done(struct retune_report *report); /* accepts a zeroed one */

/* One target in this process. Returns whether there was a night, be it a failed one. */
bool retune_target(const struct retune_world *world, struct retune_outcome *outcome, bool after_own_work);
/* That it failed, unless a signal is why. */
void retune_fail(const struct retune_world *world, struct retune_outcome *outcome, const char *text);
/* By a signal; that a device is late is a fault of that device only. */
bool retune_is_interrupted(const struct retune_world *world);
/* What is under way may take so long; hooks: they may be running. */
void retune_expect(const struct retune_world *world, uint64_t ns, bool hooks);

/* The worse of two exit codes of targets. */
int retune_worse(int a, int b);

/* Puts the current setting of a target on this machine into the request, as far as the history knows it.
 * *ret_settled_id: the decision that says so, 0 without. 0 or a negative errno. */
int retune_in_force(const struct retune_world *world, const struct retune_target *target,
                    struct retune_request *request, int64_t *ret_settled_id, struct err *err);

/* Whether retune_rollback would find something, and the change that it would take back. Changes nothing; the
 * history may be open for reading only. 0 or -ENOENT, with a line. */
int retune_can_roll_back(const struct retune_world *world, const struct retune_target *target,
                         struct history_change *ret_last, struct err *err);

/* Takes the last change of a target, *ret_last, back: its files, its commands, and the record. 0; -ENOENT:
 * there is nothing to go back to; or what tuner/emit/apply says. */
int retune_rollback(const struct retune_world *world, const struct retune_target *target,
                    struct history_change *ret_last, struct err *err);
