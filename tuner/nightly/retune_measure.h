/* tuner/nightly/retune_measure: one night of `fstune retune` for one target: measure, and judge.
 *
 * A night is a search like that of `recommend` (tuner/search/tune), with the current setting as its
 * baseline, with what earlier nights measured as prior knowledge (tuner/search/prior), and with the
 * contenders of earlier nights among the interleaved replays after the choice. What it decides stands in
 * models/statistics/nights: only confirming replays count, so that luck in choosing a contender does not
 * flatter it.
 *
 * The memory of a target is the answers of its earlier nights: a document of `recommend` with one member
 * more, "night", which holds the figures that later nights need. */
#pragma once

#include "bench/base/err.h"
#include "models/statistics/nights.h"
#include "tuner/options/settings.h"
#include "tuner/session/session.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NIGHT_FIRST_BUDGET_NS (600 * CLOCK_NS_PER_S)
#define NIGHT_BUDGET_NS       (120 * CLOCK_NS_PER_S)
#define NIGHT_MAX_WRITE_BYTES (8ULL << 30)
#define NIGHT_ALARM_SHARE     0.10
#define NIGHT_NIGHTS_NEEDED   2
#define NIGHT_MAX_CHANGES     2  /* after so many in so many nights, n in all, a change needs 1 + n times */
#define NIGHT_CHANGES_NIGHTS  30 /* the tolerance */
#define NIGHT_MAX_PENDING     3  /* contenders that are taken over to the next night */
#define NIGHT_MAX_PAST        60 /* the newest nights that are looked at */
#define NIGHT_TEXT_SIZE       1024

struct retune_request {
    /* Of the target, as `recommend` takes them; borrowed, copied by retune_measure. budget_ns is not used.
     * tolerance_share is the gain that a change needs; confidence_share that of all intervals. */
    const struct settings *settings;
    uint64_t first_budget_ns; /* where nothing is remembered; the whole of the measuring, filling included */
    uint64_t night_budget_ns; /* else */
    double alarm_share;
    unsigned nights_needed; /* >= 1 */
    bool in_force_given;
    struct nights_scatter scatter; /* of the nights of other targets; zeroed: nothing is known of any */
    struct point in_force;         /* legal; without it the first night's recommendation comes into force */

    /* Answers of earlier nights of this target on the same file system: a new array, oldest first; more than
     * NIGHT_MAX_PAST are cut off. Called once, when the session is prepared and before its first search run;
     * tuner/store/history can tell the fingerprint then, and begin a run. NULL: nothing is remembered. 0 or
     * -errno, which ends the night. */
    int (*recall)(void *context, struct session *session, json_t **ret_documents, struct err *err);
    void *context;
};

/* All defaults: budgets, alarm, nights. settings: borrowed; --current in it becomes in_force. */
void retune_request_init(struct retune_request *request, const struct settings *settings);

enum night_verdict {
    NIGHT_NOTHING,   /* no judgement: interrupted, or nothing trustworthy was measured; see reason */
    NIGHT_FIRST,     /* no current setting is known: the advice is the recommendation of a first tune */
    NIGHT_NO_CHANGE, /* the current setting stays */
    NIGHT_PENDING,   /* they stay, and a contender is measured again next night */
    NIGHT_CHANGE,    /* the advice is another setting than the current one */
    NIGHT_N_VERDICTS
};

/* "nothing", "first", "no_change", "pending", "change". */
extern const char *const night_verdict_names[NIGHT_N_VERDICTS];

/* Why the exit code is 4: a set. */
enum {
    NIGHT_BEHIND_SETTINGS = 1U << 0,  /* a contender is better by more than alarm_share */
    NIGHT_BEHIND_THROUGHPUT = 1U << 1 /* the current setting is slower than in earlier nights */
};

/* A ratio of throughputs (of latencies: the inverse), or a throughput in bytes/s. Without numbers: NaN. */
struct retune_figure {
    double mean;
    struct interval interval; /* at confidence_share */
    size_t n;                 /* of nights; of a single night, of replays */
};

struct retune_result {
    enum night_verdict verdict;
    unsigned behind;   /* 0, or NIGHT_BEHIND_... ; not set with NIGHT_CHANGE for the contender changed to */
    bool first;        /* the first night's budget was used */
    bool interrupted;  /* by a signal; verdict is NIGHT_NOTHING */
    bool has_in_force; /* before this night */
    struct point in_force;
    bool has_recommendation;     /* all verdicts but NIGHT_NOTHING */
    struct point recommendation; /* the setting from now on: the current setting unless first or
                                    change */
    bool has_contender;
    struct point contender;            /* the best other setting of tonight, or what is changed to */
    size_t n_changes;                  /* of the current setting, in the newest NIGHT_CHANGES_NIGHTS nights */
    double needed_share;               /* the gain that a change needed tonight */
    struct retune_figure gain_tonight; /* contender / current setting, of tonight */
    struct retune_figure gain_pooled;  /* the same over the nights that count for it */
    struct retune_figure throughput;   /* of the current setting, tonight; of a first night: of the advice */
    struct retune_figure expected;     /* of it by earlier nights: interval for one night; n: of nights */
    bool drifted; /* the throughput went down by many small steps; expected: the best level that was held */
    char evidence[NIGHT_TEXT_SIZE]; /* one line: what the verdict rests on */
    char reason[NIGHT_TEXT_SIZE];   /* one line for the log: of `behind`, or of NIGHT_NOTHING; else "" */
    json_t *document; /* fstune/recommendation/1 with the member "night"; `recommendation` is the advice; for
                         tuner/store/recommendation, the history, and `recall` of the next night. NULL with a
                         failed night */
    bool conclusive;  /* of a first night: as of `recommend` */
    size_t n_runs;
    uint64_t bytes_written, bytes_read; /* filling included */
    uint64_t filled_bytes;              /* of them for the test file */
    double seconds;                     /* whole night */
};

/* Measures and judges. 0: the result is set, and released with retune_result_done (NIGHT_NOTHING is no
 * error). Negative errno: refused or failed, with a line; -EINVAL: the user's words are the reason. A run
 * that hangs in the kernel keeps what it uses: that memory is not given back. */
int retune_measure(const struct retune_request *request, struct retune_result *ret_result, struct err *err);

/* {"mean", "ci_low", "ci_high", "n"}; NULL when memory ran out. */
json_t *night_figure_json(const struct retune_figure *figure);

void retune_result_done(struct retune_result *result); /* accepts a zeroed one */
