/* tuner/report/report_history: runs, comparisons and exports of a history, as text, JSON and CSV. */
#pragma once

#include "tuner/store/history.h"
#include "tuner/store/history_compare.h"

#include <stdio.h>

/* Pieces of JSON: new references, NULL without memory. */
json_t *report_history_run_json(const struct history_info *info);
json_t *report_history_replay_json(const struct history_replay *replay);
json_t *report_history_change_json(const struct history_change *change);

void report_history_list(FILE *out, const struct history_info *runs, size_t n);
/* Decisions about the current setting, two lines each: what, and its evidence. */
void report_history_changes(FILE *out, const struct history_change *changes, size_t n);
/* One run: what it is, and its points. */
void report_history_run(FILE *out, const struct history_info *info, const struct history_replay *replays,
                        size_t n);

void report_history_compare(FILE *out, const struct history_info infos[2],
                            const struct history_comparison *comparison);
json_t *report_history_compare_json(const struct history_info infos[2],
                                    const struct history_comparison *comparison);

/* A line of CSV for each replay of a run (RFC 4180: CRLF, quotes doubled). A text that a spreadsheet would
 * take for a formula (it begins with = + - @, a tab or a carriage return) gets an apostrophe before it. */
void report_history_csv_header(FILE *out);
void report_history_csv(FILE *out, const struct history_info *info, const struct history_replay *replays,
                        size_t n);
