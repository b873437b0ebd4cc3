/* tuner/store/recommendation: an answer of `recommend` as the writers of snippets need it: the setting, its
 * evidence, and where it was measured.
 *
 * Always read from the JSON document (interfaces, section 6), whether that was just made, kept in a file or
 * in the history: what is emitted is what was reported. The document is untrusted input: every text is of
 * limited length and may hold any character, so that a writer escapes or refuses it for its format. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "bench/base/pattern.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define RECOMMENDATION_TEXT_SIZE 256
#define RECOMMENDATION_PATH_SIZE 4096

struct recommendation {
    struct pattern pattern;
    struct point point;                                         /* legal by factors_check */
    double mean_bps, ci_low_bps, ci_high_bps, confidence_share; /* NaN: not known */
    uint64_t replays;
    double iops, latency_mean_ns, latency_p99_ns; /* NaN: not known */
    double probability;                           /* that nothing is better by more than the tolerance; NaN */
    double speedup, speedup_low, speedup_high;    /* over the baseline; NaN: not known */
    bool conclusive;
    double offered_bps; /* while it was measured; NaN: as fast as it went */
    bool offered_at_random;

    /* Where and when; "" where the document does not say. */
    bool simulated;
    char version[32];     /* of fstune */
    char measured_at[40]; /* ISO 8601, UTC */
    char hostname[RECOMMENDATION_TEXT_SIZE], kernel[RECOMMENDATION_TEXT_SIZE], file_system[64], device[64];
    char path[RECOMMENDATION_PATH_SIZE]; /* the directory that was measured */

    const json_t *document; /* borrowed: lives as long as what recommendation_read was given */
};

/* 0; -EINVAL where the document is no answer of `recommend`, or is damaged; -ENODATA where it is one without
 * a recommendation, with its reason. The text says which. */
int recommendation_read(struct recommendation *recommendation, const json_t *document, struct err *err);

/* A fact of `system`: NaN, or NULL, where it is absent or of another type. Borrowed. */
double recommendation_fact_number(const struct recommendation *recommendation, const char *key);
const char *recommendation_fact_text(const struct recommendation *recommendation, const char *key);
