/* tuner/histories/fleet_prior: what hosts of a fleet know of a pattern, as prior knowledge of a search
 * (fstune/fleet-prior/1).
 *
 * For each setting that several hosts measured: the geometric mean of its rate by its host's best, and how
 * far hosts differ in it. `--prior` reads the document, and its own rules say how far it is believed. */
#pragma once

#include "tuner/histories/fleet_data.h"

/* Settings that fewer hosts measured are left out. */
#define FLEET_PRIOR_LEAST_HOSTS 3

/* The document of one pattern, a new reference, of the newest run of each host. -ENODATA: no setting was
 * measured on enough hosts. */
int fleet_prior_make(const struct fleet_data *data, const char *pattern, json_t **ret_document,
                     struct err *err);
