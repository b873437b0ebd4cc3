/* tuner/profile/record_events: what a recording keeps in a database: each event, and samples of the
 * processor. */
#pragma once

#include "bench/base/err.h"
#include "tuner/profile/record.h"

struct cpu_place;
struct events;
struct events_sink;
struct record_events;

/* Samples of the processor are left out where this user may not have them. 0 or a negative errno. */
int record_events_open(struct record_events **ret_kept, const char *path, const struct recording *recording,
                       struct err *err);
/* Where other events of it go. */
struct events *record_events_database(struct record_events *kept);
const struct events_sink *record_events_sink(const struct record_events *kept);

#define RECORD_EVENTS_SAMPLE_NS 1000000U /* of the processor's time */

/* A place of cpu_samples as events; data: struct events_sink. */
void record_events_take_place(void *data, const struct cpu_place *place);

/* To be called while the program runs. */
void record_events_poll(struct record_events *kept);

/* How it went stands in the recording: a profile is worth having without its events. */
void record_events_end(struct record_events *kept, struct recording *recording, double seconds,
                       uint64_t n_lost);
