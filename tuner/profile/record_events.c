/* tuner/profile/record_events: the database beside a recording. */
#include "tuner/profile/record_events.h"

#include "bench/profile/cpu_samples.h"
#include "tuner/store/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE_NS 1000000U /* of the processor's time */

struct record_events {
    struct events *events;
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
    if (code == 0 && recording->command != NULL && cpu_samples_open(&kept->samples, SAMPLE_NS, NULL) < 0)
        kept->samples = NULL;
    if (code == 0)
        code = events_begin(kept->events, name, "trace", kept->samples != NULL ? SAMPLE_NS : 0, err);
    if (code < 0) {
        cpu_samples_close(kept->samples);
        events_close(kept->events);
        free(kept);
        return code;
    }
    *ret_kept = kept;
    return 0;
}

struct events *record_events_database(struct record_events *kept)
{
    return kept != NULL ? kept->events : NULL;
}

void record_events_poll(struct record_events *kept)
{
    if (kept == NULL)
        return;
    if (kept->samples != NULL)
        cpu_samples_poll(kept->samples);
    events_keep(kept->events);
}

/* FNV-1a. */
static uint64_t number_of(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; path[i] != '\0'; i++)
        hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3ULL;
    return hash + (hash == 0);
}

uint64_t record_events_name(struct events *events, const char *path)
{
    uint64_t number = number_of(path);
    events_name(events, number, path);
    return number;
}

/* One event for each place: its samples may lie anywhere in the time. */
static void take_place(void *data, const char *path, uint64_t offset_bytes, uint64_t n)
{
    struct record_events *kept = data;
    struct events_row row = {
        .kind = EVENTS_CPU, .offset_bytes = offset_bytes, .n = n, .duration_ns = n * SAMPLE_NS};
    if (path != NULL)
        row.object = record_events_name(kept->events, path);
    events_add(kept->events, &row);
}

void record_events_end(struct record_events *kept, struct recording *recording, double seconds,
                       uint64_t n_lost)
{
    if (kept == NULL)
        return;
    if (kept->samples != NULL) {
        cpu_samples_poll(kept->samples);
        cpu_samples_each(kept->samples, take_place, kept);
        n_lost += cpu_samples_lost(kept->samples);
    }
    recording->events_code = events_end(kept->events, seconds, n_lost, &recording->events_err);
    cpu_samples_close(kept->samples);
    events_close(kept->events);
    free(kept);
}
