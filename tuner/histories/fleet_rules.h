/* tuner/histories/fleet_rules: which settings are within the tolerance on what kind of host, as text and as
 * fstune/fleet-rules/1. */
#pragma once

#include "models/fleet/rules.h"
#include "tuner/histories/fleet_data.h"
#include "tuner/histories/fleet_table.h"

#include <stdio.h>

#define FLEET_CONFIDENCE 0.95

struct fleet_rules_request {
    double tolerance_share;
    bool json;
};

/* The rules of one pattern. */
struct fleet_rules {
    const struct fleet_data *data; /* borrowed */
    const char *pattern;
    struct fleet_table table;
    struct rule rules[RULES_MOST];
    size_t n;
};

/* Of the runs [first, end) of the data, which are of one pattern. 0 or -ENOMEM; fleet_table_done ends its
 * table. */
int fleet_rules_make(struct fleet_rules *list, const struct fleet_data *data, size_t first, size_t end,
                     double tolerance_share);

/* On how many of n hosts something holds, with its interval. */
json_t *fleet_rules_share_json(size_t n_within, size_t n);
void fleet_rules_share_text(FILE *out, size_t n_within, size_t n);
/* {"feature", "value", "setting"} and the share. */
json_t *fleet_rules_rule_json(const struct fleet_rules *list, const struct rule *rule);

/* The rules of every pattern as a document, a new reference. 0 or a negative errno. */
int fleet_rules_document(const struct fleet_data *data, double tolerance_share, json_t **ret_document,
                         struct err *err);

/* Prints the rules of every pattern of the data. 0 or a negative errno. */
int fleet_rules_print(FILE *out, const struct fleet_data *data, const struct fleet_rules_request *request,
                      struct err *err);
