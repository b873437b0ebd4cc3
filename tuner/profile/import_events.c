/* tuner/profile/import_events: the events of a recording through a store, as when they happened. */
#include "tuner/profile/import.h"

#include "tuner/profile/import_feed.h"
#include "tuner/store/events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MOST_PROCESSES 256

struct taking {
    struct import_feed *feed;
    uint32_t processes[MOST_PROCESSES];
    size_t n_processes;
};

static void note_process(struct taking *taking, uint32_t process)
{
    size_t i = 0;
    while (i < taking->n_processes && taking->processes[i] != process)
        i++;
    if (i < taking->n_processes || i == MOST_PROCESSES)
        return;
    taking->processes[taking->n_processes++] = process;
    store_count(taking->feed->store, STORE_PROCESSES, 1);
}

/* An asynchronous request ends when it is reaped, which is an event of its own. */
static void take_request(struct import_feed *feed, const struct events_row *row)
{
    const struct profile_request request = {.start_ns = row->time_ns,
                                            .file = row->object,
                                            .handle = row->handle,
                                            .thread = row->thread,
                                            .offset_bytes = row->offset_bytes,
                                            .n_bytes = row->n_bytes,
                                            .direction =
                                                row->kind == EVENTS_READ ? PROFILE_READ : PROFILE_WRITE,
                                            .flags = row->flags};
    import_feed_begin(feed);
    if ((row->flags & PROFILE_ASYNC) == 0) {
        import_feed_end_at(feed, row->time_ns + row->duration_ns);
        store_took(feed->store, request.direction, row->duration_ns);
    }
    import_feed_take(feed, &request);
}

static void take_mark(struct store *store, const struct events_row *row)
{
    char name[STORE_NAME_SIZE];
    if (store_find_name(store, row->object, name))
        store_mark(store, name, row->time_ns);
}

static int take_event(void *data, const struct events_row *row, struct err *err)
{
    struct taking *taking = data;
    struct import_feed *feed = taking->feed;
    (void)err;
    /* The rest are no requests. */
    if (row->kind >= EVENTS_CPU && row->kind != EVENTS_MARK)
        return 0;
    import_feed_time(feed, row->time_ns);
    if (row->kind == EVENTS_MARK) {
        take_mark(feed->store, row);
        return 0;
    }
    if (row->kind == EVENTS_REAP) {
        store_end(feed->store, row->time_ns, row->n < UINT32_MAX ? (uint32_t)row->n : UINT32_MAX);
        return 0;
    }
    note_process(taking, row->process);
    if (row->kind == EVENTS_FLUSH)
        import_feed_flush(feed, row->object, row->duration_ns);
    else
        take_request(feed, row);
    return 0;
}

static void take_name(void *data, uint64_t object, const char *name)
{
    store_name(data, object, name);
}

int import_events(struct recording *recording, struct events *events, const struct events_run *run,
                  uint64_t store_bytes, struct err *err)
{
    int code = record_open(recording, store_bytes, 0, err);
    struct taking taking = {.feed = calloc(1, sizeof *taking.feed)};
    if (code == 0 && taking.feed == NULL)
        code = err_set(err, -ENOMEM, "no memory");
    recording->source = run->source;
    recording->overhead_share = NAN;
    recording->knows_calls = recording->knows_flushes = true;
    if (code == 0) {
        taking.feed->store = recording->store;
        /* Times count from the beginning of the recording. */
        taking.feed->has_begun = true;
        store_count(recording->store, STORE_LOST_REQUESTS, run->n_lost);
        code = events_each_name(events, run->id, take_name, recording->store, err);
    }
    if (code == 0)
        code = events_each(events, run->id, take_event, &taking, err);
    if (code == 0)
        import_feed_finish(taking.feed);
    free(taking.feed);
    return code;
}
