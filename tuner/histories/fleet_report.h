/* tuner/histories/fleet_report: all that a page says of a fleet (tuner/picture/page_fleet), as one document:
 *
 * {"made_s", "hosts": [{"host", "runs", "failed", "last_s", "file_system", "device", "kernel"}], the one that
 * has been silent the longest first; "answers": [{"pattern", "file_system", "device", "setting", "hosts"}],
 * of the newest answer of each host and storage; "rules", "drift": the documents of fleet_rules and
 * fleet_drift} */
#pragma once

#include "tuner/histories/fleet_data.h"

/* data: all runs of the same history, pattern and time. A new reference. 0 or a negative errno. */
int fleet_report_make(const struct fleet_data *data, struct history *history, const char *pattern,
                      double since_s, double tolerance_share, json_t **ret_document, struct err *err);
