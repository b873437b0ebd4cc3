/* tuner/emit/analyse: what a database of events says, as text, as a profile, or for other programs to
 * read. */
#pragma once

#include "bench/base/err.h"
#include "tuner/options/settings.h"
#include "tuner/store/events.h"

#include <stdio.h>

/* An iolog of fio's, version 3. All files stand in one, each behind the other, which a replay then needs
 * instead of the program's own. Returns 0 and how large that one has to be. */
int analyse_print_iolog(FILE *out, struct events *events, const struct events_run *run,
                        uint64_t *ret_span_bytes, struct err *err);

/* gmon.out: the samples inside a program or library; path "": the one with the most. path receives whose they
 * are. -ENODATA where there are none. */
int analyse_print_gmon(FILE *out, struct events *events, const struct events_run *run,
                       char path[SETTINGS_TEXT_SIZE], struct err *err);

/* massif.out: memory over time by the place that allocated it, or of EVENTS_NETWORK bytes by thread and
 * direction. -ENODATA where none was recorded. */
int analyse_print_massif(FILE *out, struct events *events, const struct events_run *run,
                         enum events_kind kind, struct err *err);

/* Stacks as flame graphs are drawn of: a line each, the callers first, with its samples of the processor, or
 * with the bytes that the place held at the peak. -ENODATA where there are none. */
int analyse_print_folded(FILE *out, struct events *events, const struct events_run *run, struct err *err);
int analyse_print_folded_memory(FILE *out, struct events *events, const struct events_run *run,
                                struct err *err);

/* Lines of the programs and libraries with most of the processor's time. */
int analyse_print_cpu(FILE *out, struct events *events, const struct events_run *run, struct err *err);
