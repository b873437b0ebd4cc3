/* models/fleet/rules: a short list of rules, each with one setting for a kind of hosts: "on ext4 this one;
 * else that one".
 *
 * The first rule that fits a host counts, and the last one fits all. An exception is made where the rest's
 * setting is proved to hold on a smaller share of the kind than another one does: their Clopper-Pearson
 * intervals, widened for all kinds that were looked at (Bonferroni), do not meet. The shares of a list that
 * was made of the same hosts flatter it; rules_judge asks each host about a list that was made without it. */
#pragma once

#include "models/statistics/student.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULES_MOST        8
#define RULES_LEAST_HOSTS 5
#define RULES_FOLDS       100
#define RULES_REST        SIZE_MAX /* as feature: all hosts that are left */

/* Tables by rows, borrowed. */
struct rules_data {
    size_t n_hosts, n_settings, n_features;
    const signed char
        *within; /* [host][setting]: 1 within the tolerance of the host's best, 0 not, -1 not measured */
    const uint32_t *values; /* [host][feature]: a number of its value; 0: not known */
};

struct rule {
    size_t feature; /* or RULES_REST */
    uint32_t value;
    size_t setting;
    size_t n, n_within; /* hosts that measured it, and those within */
    struct interval share;
};

/* ret_rules: room for RULES_MOST. Their number, 0 where nothing was measured on RULES_LEAST_HOSTS hosts, or
 * -ENOMEM. */
int rules_make(const struct rules_data *data, double confidence, struct rule *ret_rules);

/* The first rule that fits a host with these values. */
const struct rule *rules_find(const struct rule *rules, size_t n, const uint32_t *values);

/* Leave one host out: on how many of those that measured the setting which the others' list names it is
 * within, for the whole list and for one setting for all. Of more hosts than RULES_FOLDS every RULES_FOLDS-th
 * is left out together, because the time grows with the number of lists. 0 or -ENOMEM. */
struct rules_judgement {
    size_t n, n_within;         /* of the list */
    size_t n_one, n_one_within; /* of one setting for all */
};
int rules_judge(const struct rules_data *data, double confidence, struct rules_judgement *ret_judgement);

/* The same of those hosts alone that one of the rules fits, the kind that it is for. */
int rules_judge_kind(const struct rules_data *data, const struct rule *rules, size_t n,
                     const struct rule *kind, double confidence, struct rules_judgement *ret_judgement);
