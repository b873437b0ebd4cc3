/* tuner/store/history_watch: the loads that `fstune watch` has seen, in tables of their own beside the runs:
 * for each place and hour how long each kind of load was there, and a profile of each kind.
 *
 * The tables are made where they are missing, in a file; a history without them, as on a server, has none of
 * these. A slice that was added survives the end of the process; a loss of power may cost the last ones.
 * history_merge and history_prune leave these tables alone. Errors as in history.h. */
#pragma once

#include "tuner/store/history.h"

#define HISTORY_WATCH_KIND_SIZE 32

struct history_watch_slice {
    double start_s, seconds; /* since 1970; how long it was watched */
    const char *kind;        /* of models/online/kind */
    uint64_t n_requests, n_bytes;
    const json_t *profile; /* of the slice, borrowed; NULL: there is none */
};

/* place: "path /srv", "cgroup NAME". The profile is kept where it has at least twice as many requests as the
 * one before of this kind: so it becomes better, and does not change every day. */
int history_watch_add(struct history *history, const char *place, const struct history_watch_slice *slice,
                      struct err *err);

struct history_watch_place {
    char place[HISTORY_TEXT_SIZE];
    double first_s, last_s; /* since 1970 */
};

/* By name; the caller frees. */
int history_watch_places(struct history *history, struct history_watch_place **ret_places, size_t *ret_n,
                         struct err *err);

struct history_watch_hour {
    int64_t hour; /* since 1970, in UTC */
    char kind[HISTORY_WATCH_KIND_SIZE];
    double seconds, last_s; /* of the hour that had it; the end of the last slice that did */
    uint64_t n_requests, n_bytes;
};

/* Those since then, in the order of time; the caller frees. */
int history_watch_hours(struct history *history, const char *place, double since_s,
                        struct history_watch_hour **ret_hours, size_t *ret_n, struct err *err);

/* -ENODATA: the kind has none. The caller releases it. */
int history_watch_profile(struct history *history, const char *place, const char *kind, json_t **ret_document,
                          struct err *err);
