/* tuner/store/history: what was measured, night after night, in one SQLite file,
 * or in the tables of a PostgreSQL server that a fleet shares (configs/fleet.sql).
 *
 * A run is one command that measured. Its replays are added one by one, as they are made; its answer follows
 * at its end. A run whose process died keeps all replays that were added, and stays HISTORY_UNFINISHED.
 *
 * Durability. What history_add_replay has returned 0 for survives the end of the process, however it comes
 * (kill -9): it is in the write-ahead log, which the kernel holds. It survives a loss of power from the next
 * history_finish_run, history_begin_run or history_add_change on, which wait for the disk; replays do not,
 * because an fsync between two runs would disturb what is measured. Every call is one transaction.
 *
 * Two processes may write at once: a transaction takes milliseconds, and waits up to HISTORY_BUSY_MS for
 * another's. The file must lie on a local file system.
 *
 * The file is untrusted input: texts are of limited length, and a value that is out of range is -EBADMSG.
 *
 * Errors of all calls: 0 or -EINVAL (it is no history, or one of a newer fstune), -ENOENT (no such file or
 * run), -EBUSY, -ENOSPC, -EROFS, -EACCES, -EIO, -EBADMSG (damaged), -ENOMEM, with a text. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "bench/host/hostinfo.h"
#include "models/statistics/student.h"
#include "tuner/session/samples.h"
#include "tuner/store/sql.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_SCHEMA_VERSION   4
#define HISTORY_BUSY_MS          5000
#define HISTORY_TEXT_SIZE        256
#define HISTORY_FINGERPRINT_SIZE 17 /* 16 hexadecimal digits */
#define HISTORY_UUID_SIZE        33 /* 32 hexadecimal digits */
#define HISTORY_CONDITIONS_SIZE  160

struct privacy;
struct session;

struct history {
    struct sql db;           /* zeroed: not open */
    struct privacy *privacy; /* NULL: names go in as they are */
    double (*now_s)(void *context);
    void *now_context;
};

struct history_place {
    const char *path;
    const char *name; /* of the path in messages; NULL: the path itself */
    bool identify;    /* names and serials go to a server as they are, else as pseudonyms (store/privacy.h) */
    bool write;       /* a missing file is made, readable by its owner only; else it is -ENOENT */
    /* Seconds since 1970, of what is recorded; NULL: the machine's clock. */
    double (*now_s)(void *context);
    void *now_context;
};

/* Where the history is when nobody says: $STATE_DIRECTORY/history.db (a service's own directory),
 * $XDG_STATE_HOME/fstune/history.db, or ~/.local/state/fstune/history.db. Nothing is created. 0; -ENOENT when
 * none of the variables is set; -ENAMETOOLONG. */
int history_default_path(char *path, size_t size, struct err *err);

/* Makes the directories above a path that are missing, 0700. */
int history_make_directories(const char *path, struct err *err);

/* Opens a history; one of an older schema is brought up to date. A file that is no history is refused and
 * stays as it is; an empty one becomes a history when it is opened for writing. history_close accepts a
 * zeroed one. */
int history_open(struct history *history, const struct history_place *place, struct err *err);
void history_close(struct history *history);

/* 0 where a file is a history that this fstune reads; what history_open says where not. Looking leaves
 * nothing beside it. */
int history_look(const char *path, struct err *err);

/* --- what is measured on --- */

/* Identity of what was measured, the same on every boot, kernel and path: a hash of the text that
 * history_identity makes. */
void history_fingerprint(const char *identity, char ret_fingerprint[HISTORY_FINGERPRINT_SIZE]);

/* One line of JSON: file system type, mount options, its block and the device's logical and physical block
 * sizes, rotational, and the device's model with the file system's size; where it has no model, the file
 * behind a loop device or the mount's source. Of a surface its name and number of points. Not the host,
 * kernel, path, scheduler or load. session: prepared. NULL when memory ran out; the caller frees it. */
char *history_identity(const struct session *session);

/* --- writing --- */

struct history_header {
    const char *command;    /* "recommend", "measure", "retune" */
    const char *target;     /* its name in a configuration; "" without */
    const char *pattern;    /* normalised */
    const char *hostname;   /* "": not known */
    const char *identity;   /* see history_identity */
    const json_t *settings; /* an object, borrowed; NULL: none */
    const json_t *system;   /* the same */
    uint64_t seed;
};

/* Rates of the windows of one run, a few milliseconds each: how even it was. n 0: not known. */
struct history_windows {
    size_t n;
    double seconds; /* of one window */
    double mean_bps, std_bps, least_bps, most_bps;
};

struct history_replay {
    uint64_t number;   /* unique within the run */
    double at_seconds; /* since the run began, when it was over */
    struct point point;
    struct sample sample;
    bool aside; /* its run was found to be of another length than those that count (see history_set_aside) */
    struct history_windows windows;
    /* In a run that history_summarise took, a replay stands for n_replays of one setting: its figures are
     * their means, and std_bps is the standard deviation of their rates. In another run that was read they
     * are 1 and NaN. A replay that is to be added may have 0, which means 1. */
    size_t n_replays;
    double std_bps;
    /* What else told the points of an experiment apart, as "pattern=randread cache=cold"; "": nothing. */
    char conditions[HISTORY_CONDITIONS_SIZE];
};

enum history_status {
    HISTORY_UNFINISHED, /* under way, or its process died */
    HISTORY_DONE,
    HISTORY_INCONCLUSIVE,
    HISTORY_NOTHING, /* measured, but nothing to recommend */
    HISTORY_INTERRUPTED,
    HISTORY_FAILED,
    HISTORY_SKIPPED, /* not measured, because the machine was not fit for it */
    HISTORY_N_STATUSES
};

extern const char *const history_status_names[HISTORY_N_STATUSES];

int history_begin_run(struct history *history, const struct history_header *header, int64_t *ret_run_id,
                      struct err *err);
int history_add_replay(struct history *history, int64_t run_id, const struct history_replay *replay,
                       struct err *err);
/* The replays added so far do not count among those to come: runs are of another length from now on. */
int history_set_aside(struct history *history, int64_t run_id, struct err *err);
/* document: the answer as printed by --json, borrowed; NULL: there is none. A recommendation in it becomes
 * the run's. Allowed once. */
int history_finish_run(struct history *history, int64_t run_id, enum history_status status, int exit_code,
                       const json_t *document, struct err *err);

/* Where a run comes from, and how it ended. */
struct history_origin {
    char uuid[HISTORY_UUID_SIZE];
    const char *version;
    double started_s, finished_s; /* since 1970; NaN: unfinished */
    enum history_status status;
    int exit_code;
};

/* Adds a whole run of another history, in one transaction. 1: it was added; 0: it is here; or a negative
 * errno, and nothing of it is here, or all of it where the connection broke in the last moment: try again. */
int history_take_run(struct history *history, const struct history_header *header,
                     const struct history_origin *origin, const struct history_replay *replays, size_t n,
                     const json_t *document, struct err *err);

/* A decision about the current setting of a target. */
enum history_kind {
    HISTORY_CHANGE_FIRST,    /* the current setting before the first night */
    HISTORY_CHANGE_MADE,     /* new settings are recommended, or applied */
    HISTORY_CHANGE_ROLLBACK, /* the settings before the last change are in force again */
    HISTORY_CHANGE_NONE,     /* a night without a change, with its evidence */
    HISTORY_CHANGE_SKIPPED,  /* a night without a measurement, with its reason */
    HISTORY_CHANGE_ALARM,    /* fallen behind, or slower than before */
    HISTORY_CHANGE_N
};

extern const char *const history_kind_names[HISTORY_CHANGE_N];

struct history_change {
    int64_t id;                   /* set by reading */
    double at_s;                  /* since 1970; set by adding */
    char host[HISTORY_TEXT_SIZE]; /* of the machine that decided; "": not known */
    /* Set by reading: of what the newest of its runs measured; "": it rests on none. */
    char fingerprint[HISTORY_FINGERPRINT_SIZE];
    char target[HISTORY_TEXT_SIZE]; /* its name in the configuration */
    enum history_kind kind;
    bool has_from, has_to;
    struct point from, to;
    int64_t run_ids[2]; /* of the nights that it rests on, the newest first; 0: none */
    char text[1024];    /* the evidence or reason, for people */
};

int history_add_change(struct history *history, const struct history_change *change, struct err *err);

/* Adds one of another history, whose run_ids are of this one: 1, or 0 where it is here. */
int history_take_change(struct history *history, const struct history_change *change, const char *uuid,
                        struct err *err);

/* Sends the runs and changes of a file's history that a server does not have; each whole, and the changes
 * after the runs. Runs that may be under way stay for the next time. *ret_n_runs and *ret_n_changes count
 * those that were sent, also after a failure: the next call goes on. */
int history_push(struct history *server, struct history *file, size_t *ret_n_runs, size_t *ret_n_changes,
                 struct err *err);

/* --- reading --- */

struct history_filter {
    const char *target, *fingerprint, *pattern, *command; /* NULL: any */
    const char *host;                                     /* NULL: any */
    uint32_t statuses;                                    /* set of 1 << enum history_status; 0: any */
    bool with_recommendation;
    size_t limit; /* 0: all */
};

struct history_info {
    int64_t id;                   /* of this file; other files have other ids for the same run */
    char uuid[HISTORY_UUID_SIZE]; /* the same in all files */
    double started_s;             /* since 1970 */
    double finished_s;            /* NaN: unfinished */
    char host[HISTORY_TEXT_SIZE], command[32], target[HISTORY_TEXT_SIZE];
    char pattern[PATTERN_NAME_SIZE], fingerprint[HISTORY_FINGERPRINT_SIZE];
    char file_system[64]; /* "": not known */
    enum history_status status;
    int exit_code; /* -1: unfinished */
    size_t n_replays;
    bool has_point; /* a recommendation, or what `measure` measured */
    struct point point;
    double mean_bps, ci_low_bps, ci_high_bps; /* of it; NaN: not known */
    bool conclusive;
};

/* Runs that pass the filter, the newest first, which is the last begun in this file whatever the clock said
 * then; the caller frees *ret_runs. */
int history_list_runs(struct history *history, const struct history_filter *filter,
                      struct history_info **ret_runs, size_t *ret_n, struct err *err);
/* One run; -ENOENT. */
int history_find_run(struct history *history, int64_t run_id, struct history_info *ret_info, struct err *err);
/* Replays of a run in the order they were made; the caller frees. */
int history_replays(struct history *history, int64_t run_id, struct history_replay **ret_replays,
                    size_t *ret_n, struct err *err);
/* Rates of what a replay stands for, and their natural logarithms: exact for a single one; for others as if
 * they were lognormal. */
struct moments history_rates(const struct history_replay *replay);
struct moments history_log_rates(const struct history_replay *replay);
/* The run's answer; run_id 0: that of the newest run with a recommendation. The caller releases it. -ENODATA
 * where the run has none. */
int history_document(struct history *history, int64_t run_id, json_t **ret_document, struct err *err);
/* Settings and system of a run, objects; either may be NULL. The caller releases them. */
int history_circumstances(struct history *history, int64_t run_id, json_t **ret_settings, json_t **ret_system,
                          struct err *err);

/* Changes of a target and of a host (NULL: of all), the newest first, at most `limit` (0: all); the caller
 * frees. kinds: set of 1 << enum history_kind, 0: any. "Newest" is what was added last, whatever the clock
 * said. */
int history_list_changes(struct history *history, const char *target, const char *host, uint32_t kinds,
                         size_t limit, struct history_change **ret_changes, size_t *ret_n, struct err *err);

/* --- keeping it in order --- */

/* Removes runs with their replays: of each target, host, fingerprint, pattern and command all but the newest
 * `keep` (0: all stay), and those begun before `older_than_s` (since 1970; 0: none). Runs that a change rests
 * on stay, and unfinished ones of the last day, which may be under way. */
int history_prune(struct history *history, size_t keep, double older_than_s, size_t *ret_n_removed,
                  struct err *err);

/* Of each run begun before `older_than_s` that is over, or too old to be under way, the replays of a setting
 * become one, their mean; fresh, cut and set-aside ones stay apart. *ret_n_runs counts those that were not
 * summarised before. Each run is one transaction: after an error those before it stay summarised. -EBADMSG:
 * damaged runs, of which the text names the first, stay as they were; all others are summarised. */
int history_summarise(struct history *history, double older_than_s, size_t *ret_n_runs, struct err *err);

/* SQLite's own check, that of foreign keys, and that every run has the replays and the recommendation that
 * its end recorded. Calls found for every finding. 0 also with findings. */
int history_verify(struct history *history, void (*found)(void *context, const char *text), void *context,
                   struct err *err);

/* Takes over the runs and changes of another history that are not here yet: twice is as good as once. The
 * other one is only read: nothing is written to it or beside it. -EBUSY where it is written all the time. */
int history_merge(struct history *history, const char *path, size_t *ret_n_runs, size_t *ret_n_changes,
                  struct err *err);
