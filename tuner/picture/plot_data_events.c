/* The requests of a recording, as data of pictures. */
#include "models/profile/cells.h"
#include "tuner/picture/plot_data.h"
#include "tuner/store/events.h"
#include "tuner/store/events_place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_ENTRIES (1U << 18) /* of sampled blocks */

struct reading {
    struct plot_load *load;
    struct events_place *place;
    struct blocks blocks;
    struct blocks_entry *entries;
    uint64_t n_rows, each; /* one of so many is shown */
};

static int count(void *data, const struct events_row *row, struct err *err)
{
    struct plot_load *load = data;
    (void)err;
    if (row->kind != EVENTS_READ && row->kind != EVENTS_WRITE)
        return 0;
    load->n[row->kind == EVENTS_WRITE]++;
    load->seconds = fmax(load->seconds, (double)row->time_ns / 1e9);
    return 0;
}

/* By a hash, because every n-th may always be of the same kind. */
static bool is_shown(const struct reading *reading)
{
    return reading->load->n_shown < PLOT_LOAD_SHOWN && cells_hash(reading->n_rows) % reading->each == 0;
}

static int take(void *data, const struct events_row *row, struct err *err)
{
    struct reading *reading = data;
    struct plot_load *load = reading->load;
    const bool writes = row->kind == EVENTS_WRITE;
    (void)err;
    if ((!writes && row->kind != EVENTS_READ) || row->n_bytes == 0)
        return 0;
    reading->n_rows++;
    double at_s = (double)row->time_ns / 1e9;
    size_t bin = (size_t)(at_s / load->seconds * PLOT_LOAD_BINS);
    unsigned size = 63 - (unsigned)__builtin_clzll(row->n_bytes);
    load->bytes[writes][bin < PLOT_LOAD_BINS ? bin : PLOT_LOAD_BINS - 1] += (double)row->n_bytes;
    load->n_by_size[writes][size < PLOT_LOAD_SIZES ? size : PLOT_LOAD_SIZES - 1]++;
    blocks_take(&reading->blocks, reading->entries, row->object, row->offset_bytes, row->n_bytes);
    if (is_shown(reading))
        load->shown[load->n_shown++] = (struct plot_load_request){
            at_s, (double)(events_place_of(reading->place, row->object) + row->offset_bytes), writes};
    return 0;
}

static int read_load(struct reading *reading, struct events *events, const struct events_run *run,
                     struct err *err)
{
    struct plot_load *load = reading->load;
    int result = events_place_files(&reading->place, events, run->id, err);
    if (result == 0)
        result = events_each(events, run->id, count, load, err);
    if (result < 0)
        return result;
    load->seconds = isfinite(run->seconds) && run->seconds > load->seconds ? run->seconds : load->seconds;
    load->seconds = load->seconds > 0 ? load->seconds : 1e-9;
    load->span_bytes = (double)events_place_span(reading->place);
    reading->each = (load->n[0] + load->n[1]) / (PLOT_LOAD_SHOWN * 9 / 10) + 1;
    reading->blocks.n_entries = N_ENTRIES;
    result = events_each(events, run->id, take, reading, err);
    load->n_caches = blocks_curve(&reading->blocks, load->caches);
    return result;
}

static int read_run(struct plot_data *data, struct events *events, int64_t run_id, struct err *err)
{
    struct events_run run;
    struct reading reading = {.load = data->load, .entries = calloc(N_ENTRIES, sizeof *reading.entries)};
    int result =
        reading.entries != NULL ? events_find(events, run_id, &run, err) : err_set(err, -ENOMEM, "no memory");
    if (result == 0)
        result = read_load(&reading, events, &run, err);
    if (result == 0)
        snprintf(data->place, sizeof data->place, "%s", run.command);
    events_place_free(reading.place);
    free(reading.entries);
    return result;
}

int plot_data_events(struct plot_data *data, const char *path, int64_t run_id, struct err *err)
{
    struct events *events;
    data->source = PLOT_EVENTS;
    data->load = calloc(1, sizeof *data->load);
    if (data->load == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = events_open(&events, path, false, err);
    if (result < 0)
        return result;
    result = read_run(data, events, run_id, err);
    events_close(events);
    return result;
}
