/* tuner/profile/record_events: the database beside a recording. */
#include "tuner/profile/record_events.h"

#include "bench/profile/cpu_samples.h"
#include "tuner/store/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct record_events {
    struct events *events;
    struct events_sink sink;     /* the same */
    struct cpu_samples *samples; /* NULL: this user may not */
};

/* What is recorded: the command, or the process that was attached to. */
static void name_recording(const struct recording *recording, char *text, size_t size)
{
    const char *const *command = recording->command;
    size_t at = 0;
    snprintf(text, size, "process %ld", (long)recording->pid);
    for (size_t i = 0; command != NULL && command[i] != NULL && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? " " : "", command[i]);
}

int record_events_open(struct record_events **ret_kept, const char *path, const struct recording *recording,
                       struct err *err)
{
    char name[EVENTS_TEXT_SIZE];
    struct record_events *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return err_set(err, -ENOMEM, "no memory");
    name_recording(recording, name, sizeof name);
    int code = events_open(&kept->events, path, true, err);
    /* What runs already does not inherit the samples. */
    if (code == 0 && recording->command != NULL &&
        cpu_samples_open(&kept->samples, RECORD_EVENTS_SAMPLE_NS, NULL) < 0)
        kept->samples = NULL;
    if (code == 0)
        code = events_begin(kept->events, name, "trace", kept->samples != NULL ? RECORD_EVENTS_SAMPLE_NS : 0,
                            err);
    if (code < 0) {
        cpu_samples_close(kept->samples);
        events_close(kept->events);
        free(kept);
        return code;
    }
    kept->sink = events_sink(kept->events);
    *ret_kept = kept;
    return 0;
}

struct events *record_events_database(struct record_events *kept)
{
    return kept != NULL ? kept->events : NULL;
}

const struct events_sink *record_events_sink(const struct record_events *kept)
{
    return kept != NULL ? &kept->sink : NULL;
}

void record_events_poll(struct record_events *kept)
{
    if (kept == NULL)
        return;
    if (kept->samples != NULL)
        cpu_samples_poll(kept->samples);
    events_keep(kept->events, false);
}

/* A place's samples may lie anywhere in the time before. */
void record_events_take_place(void *data, const struct cpu_place *place)
{
    const struct events_sink *sink = data;
    struct events_row row = {.offset_bytes = place->offset_bytes};
    if (place->path != NULL)
        row.object = events_row_name(sink, place->path);
    if (place->number != 0) {
        row.kind = EVENTS_FRAME;
        row.handle = place->number;
        row.n = place->caller;
        sink->add(sink->to, &row);
    }
    if (place->n == 0)
        return;
    row.kind = EVENTS_CPU;
    row.handle = place->caller;
    row.n = place->n;
    row.duration_ns = place->n * RECORD_EVENTS_SAMPLE_NS;
    sink->add(sink->to, &row);
}

void record_events_end(struct record_events *kept, struct recording *recording, double seconds,
                       uint64_t n_lost)
{
    if (kept == NULL)
        return;
    if (kept->samples != NULL) {
        cpu_samples_poll(kept->samples);
        cpu_samples_tell(kept->samples, record_events_take_place, &kept->sink);
        n_lost += cpu_samples_lost(kept->samples);
    }
    recording->events_code = events_end(kept->events, seconds, n_lost, &recording->events_err);
    cpu_samples_close(kept->samples);
    events_close(kept->events);
    free(kept);
}
