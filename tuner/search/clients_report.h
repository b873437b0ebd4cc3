/* tuner/search/clients_report: what each client reached in the last runs of a setting, as JSON and as text.
 * Nothing where there is one client. */
#pragma once

#include "tuner/session/session.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* The last n_runs runs of a point; 0, and NULL, where there is none. */
struct clients_report {
    const struct session *session;
    const struct point *point;
    size_t n_runs;
};

/* Adds "clients", "clients_file", "clients_detail", "clients_fairness" and "clock_error_ns". */
void clients_report_json(json_t *object, const struct clients_report *report);

void clients_report_text(FILE *out, const struct clients_report *report);
