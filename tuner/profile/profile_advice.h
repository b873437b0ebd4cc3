/* tuner/profile/profile_advice: what a profile means for the options of `fstune recommend`: which factors the
 * program fixes, which are free, and what it does today. */
#pragma once

#include "bench/base/factors.h"
#include "bench/base/pattern.h"
#include "models/profile/summary.h"

#include <stdbool.h>

struct profile_advice {
    bool has_pattern;
    char pattern[PATTERN_NAME_SIZE]; /* as --pattern takes it */
    bool fixed[FACTOR_N];            /* the program decides it */
    uint64_t level[FACTOR_N];        /* what it does today, in the ranges of the options */
};

/* The name of these shares as --pattern takes them. False: there is none. */
bool profile_advice_name(const unsigned percent[SUMMARY_N_KINDS], char name[PATTERN_NAME_SIZE]);

void profile_advice_make(struct profile_advice *advice, const struct summary *summary);

/* A level as the option takes it, "8k" or "libaio". Returns buffer, of UNITS_TEXT_SIZE. */
const char *profile_advice_level(const struct profile_advice *advice, enum factor factor, char *buffer);
