/* tuner/report/answer: the whole answer of a search, as figures, as one JSON document, and as text that a
 * person can act on. */
#pragma once

#include "bench/base/err.h"
#include "tuner/search/tune.h"
#include "tuner/session/samples.h"
#include "tuner/session/sustained.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* What a command measured beside the search: lines after the answer, and members of the document. */
struct answer_part {
    void (*add)(json_t *object, const void *context);
    void (*print)(FILE *out, const void *context);
    const void *context;
};

#define ANSWER_MAX_PARTS 6

/* The whole answer of `recommend`. Prepared once, printed as text or JSON. */
struct answer {
    const struct tune *tune;
    bool interrupted;
    bool confirming; /* figures come from the replays after the choice */
    bool has_rows;   /* the rows below are valid */
    struct row chosen, best, baseline, default_setting;
    bool has_baseline, has_default_setting;
    bool splits; /* sizes were searched apart; rows of two sizes and of the one size they are compared with */
    bool has_split, has_unsplit;
    struct row split, unsplit;
    struct objective_ratio speedup, default_speedup; /* throughput of the chosen over the baseline's */
    bool has_sustained;
    struct sustained_verdict sustained; /* of the chosen point */
    const char *reason;                 /* why there is no recommendation, or NULL */
    char reason_text[640];              /* where it has to be made up */
    struct answer_part parts[ANSWER_MAX_PARTS];
    size_t n_parts;
};

void answer_prepare(struct answer *answer, struct tune *tune);

/* Whether the figures of a setting that is named are of the replays after the choice: it has enough of them
 * for an interval, and so has the chosen one, so that rates can be divided. Else they are of all. */
bool answer_takes_fresh(const struct tune *tune, size_t point);

/* Whether the rate of a setting is compared by the replays after the choice: it, the best and the chosen one
 * have enough of them. They alternate, so that their means can be compared as they stand. */
bool answer_is_fresh(const struct tune *tune, size_t i);

/* Logarithm of what a setting reaches in the objective, more is better: of rates that of those replays on the
 * scale of the rest, which is what the search believes of the best; the faster one of the best and the chosen
 * one has that. NaN without runs. */
double answer_worth(const struct tune *tune, size_t i);

/* The figures of a setting, the same wherever they stand: where it is named, or compared by the replays after
 * the choice, those of these replays, else of all. 0, -ENODATA without runs, -ENOMEM. */
int answer_row(const struct answer *answer, size_t i, struct row *ret_row);

/* Whether the storage went at another rate while the setting was measured than in the replays of the
 * recommended one, so that the rate of its row says little beside that: its worth allows for it. */
bool answer_is_of_another_time(const struct answer *answer, size_t i, const struct row *row);

/* Share of what the best reaches (of latencies, how much of this one the lowest is), or of what the chosen
 * one does where that was faster in the replays after the choice; NaN without runs. */
double answer_share(const struct tune *tune, size_t i);

#define ANSWER_LEAST_MORE 0.005 /* below which nothing is said to be faster */

/* Whether the best by the search's estimate was the slower one in the replays after the choice. */
bool answer_best_is_slower(const struct tune *tune);

/* answer_share as whole per cent; what lies below the tolerance is not rounded up to it. */
double answer_percent(const struct tune *tune, size_t i);

/* What may be lost of it: --tolerance, which a profile takes of each part of its score (in whole per cent).
 */
double answer_tolerance_share(const struct tune *tune);

/* The document itself; NULL when memory ran out. */
json_t *report_recommendation_document(const struct answer *answer);
int report_recommendation_json(FILE *out, const struct answer *answer, struct err *err);
int report_recommendation_text(FILE *out, const struct answer *answer, struct err *err);
