/* tuner/profile/trace_feed: numbers for open files, and names for files. */
#include "tuner/profile/trace_feed.h"

#include "models/profile/cells.h"
#include "models/profile/store.h"
#include "tuner/store/events.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trace_feed_place *place_of(struct trace_feed_place *places, uint64_t key)
{
    return &places[cells_hash(key) & (TRACE_FEED_PLACES - 1)];
}

static struct trace_feed_place *find_opened(struct trace_feed *feed, uint64_t key)
{
    struct trace_feed_place *place = place_of(feed->opened, key);
    if (place->key != key)
        *place = (struct trace_feed_place){.key = key, .handle = store_new_handle(feed->store)};
    return place;
}

/* The path of a descriptor that is still what it was in the event. */
static bool read_path(const struct trace_event *event, char *path, size_t size)
{
    char link[64];
    struct stat status;
    snprintf(link, sizeof link, "/proc/%u/fd/%d", (unsigned)event->process, (int)event->fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length <= 0 || stat(link, &status) != 0 || status.st_ino != event->inode)
        return false;
    path[length] = '\0';
    return true;
}

/* Without a trailing slash; "" is the root. */
static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* What is known of the file; its name is asked for when it is met first. */
static struct trace_feed_place *find_file(struct trace_feed *feed, const struct trace_event *event,
                                          const char *given_name)
{
    struct trace_feed_place *place = place_of(feed->files, event->file);
    char path[PATH_MAX];
    if (place->key == event->file)
        return place;
    *place = (struct trace_feed_place){.key = event->file};
    bool is_known = event->fd >= 0 && read_path(event, path, sizeof path);
    place->is_left_out = is_known && strncmp(path, "/memfd:", 7) == 0;
    if (feed->below != NULL) {
        place->is_left_out = !is_known || !is_below(path, feed->below);
        /* Whoever has it open now has ended; the next one may tell where it is. */
        place->key = is_known ? event->file : 0;
        store_count(feed->store, STORE_LOST_FILES, !is_known);
    }
    const char *name = is_known ? path : given_name;
    if (!place->is_left_out && name != NULL && name[0] != '\0') {
        store_name(feed->store, event->file, name);
        if (feed->events != NULL)
            events_name(feed->events, event->file, name);
    }
    return place;
}

static void take_open(struct trace_feed *feed, const struct trace_name *name)
{
    struct trace_feed_place *opened = place_of(feed->opened, name->event.opened);
    if (opened->key == name->event.opened)
        store_close(feed->store, name->event.file, opened->handle);
    *opened = (struct trace_feed_place){.key = name->event.opened, .handle = store_new_handle(feed->store)};
    find_file(feed, &name->event, name->name);
}

static unsigned flags_of(unsigned seen)
{
    return ((seen & TRACE_DIRECT) != 0 ? PROFILE_DIRECT : 0U) |
           ((seen & TRACE_DURABLE) != 0 ? PROFILE_DURABLE : 0U) |
           ((seen & TRACE_ASYNC) != 0 ? PROFILE_ASYNC : 0U) |
           ((seen & TRACE_RINGED) != 0 ? PROFILE_RING : 0U);
}

static uint64_t since_start(const struct trace_feed *feed, uint64_t time_ns)
{
    return time_ns > feed->store->start_ns ? time_ns - feed->store->start_ns : 0;
}

/* As it stands in the database of events. */
static void keep(const struct trace_feed *feed, const struct trace_event *event, enum events_kind kind,
                 uint32_t handle)
{
    const bool has_ended = event->end_ns > event->start_ns;
    if (feed->events != NULL)
        events_add(feed->events,
                   &(struct events_row){.kind = kind,
                                        .time_ns = since_start(feed, event->start_ns),
                                        .duration_ns = has_ended ? event->end_ns - event->start_ns : 0,
                                        .process = event->process,
                                        .thread = event->thread,
                                        .handle = handle,
                                        .flags = flags_of(event->flags),
                                        .object = event->file,
                                        .offset_bytes = event->offset_bytes,
                                        .n_bytes = event->n_bytes,
                                        .n = 1});
}

static struct trace_feed_process *find_process(struct trace_feed *feed, uint32_t number)
{
    struct trace_feed_process *process = &feed->processes[cells_hash(number) & (TRACE_FEED_PROCESSES - 1)];
    if (process->process != number)
        *process = (struct trace_feed_process){.process = number};
    return process;
}

/* A mark names no file, so it counts by its process: not where that has no file below the directory. */
static bool is_of_others(struct trace_feed *feed, const struct trace_mark *mark)
{
    if (feed->below == NULL)
        return false;
    struct trace_feed_process *process = find_process(feed, mark->process);
    if (mark->kind == TRACE_BEGIN)
        process->n_flying += mark->n;
    else
        process->n_flying -= mark->n < process->n_flying ? mark->n : process->n_flying;
    return !process->is_below;
}

/* What began before the first request of a process was seen to count is in flight, too. */
static void count_flying(struct trace_feed *feed, const struct trace_event *event)
{
    struct trace_feed_process *process = find_process(feed, event->process);
    if (feed->below == NULL || process->is_below)
        return;
    process->is_below = true;
    store_begin(feed->store, event->start_ns, process->n_flying);
}

static void take_reap(struct trace_feed *feed, const struct trace_mark *mark)
{
    store_end(feed->store, mark->time_ns, mark->n);
    if (feed->events != NULL)
        events_add(feed->events, &(struct events_row){.kind = EVENTS_REAP,
                                                      .time_ns = since_start(feed, mark->time_ns),
                                                      .n = mark->n});
}

static void take_flush(struct trace_feed *feed, const struct trace_event *event)
{
    store_flush(feed->store, event->file, event->end_ns, event->end_ns - event->start_ns);
    keep(feed, event, EVENTS_FLUSH, 0);
}

static void take_request(struct trace_feed *feed, const struct trace_event *event)
{
    struct trace_feed_place *opened = find_opened(feed, event->opened);
    enum profile_direction direction = (event->flags & TRACE_WRITES) != 0 ? PROFILE_WRITE : PROFILE_READ;
    opened->is_left_out = opened->is_left_out || (event->flags & TRACE_LIBRARY) != 0;
    if (opened->is_left_out || find_file(feed, event, NULL)->is_left_out)
        return;
    count_flying(feed, event);
    const struct profile_request request = {.start_ns = event->start_ns,
                                            .file = event->file,
                                            .handle = opened->handle,
                                            .thread = event->thread,
                                            .offset_bytes = event->offset_bytes,
                                            .n_bytes = event->n_bytes,
                                            .direction = direction,
                                            .flags = flags_of(event->flags)};
    store_take(feed->store, &request);
    keep(feed, event, direction == PROFILE_READ ? EVENTS_READ : EVENTS_WRITE, opened->handle);
    if ((event->flags & TRACE_ASYNC) != 0)
        store_count(feed->store, STORE_LATE_BYTES, event->n_bytes);
    else if (event->end_ns > event->start_ns)
        store_took(feed->store, direction, event->end_ns - event->start_ns);
}

/* Its end comes with it, unless others tell of that. */
static void take_transfer(struct trace_feed *feed, const struct trace_event *event)
{
    const struct trace_mark end = {
        .kind = TRACE_END, .n = 1, .time_ns = event->end_ns, .process = event->process};
    take_request(feed, event);
    if ((event->flags & TRACE_ENDS) != 0 && !is_of_others(feed, &end))
        store_end(feed->store, end.time_ns, end.n);
}

void trace_feed_take(void *data, const void *record)
{
    struct trace_feed *feed = data;
    const struct trace_mark *mark = record;
    const struct trace_event *event = record;
    if (mark->kind <= TRACE_REAP && is_of_others(feed, mark))
        return;
    if (mark->kind == TRACE_BEGIN)
        store_begin(feed->store, mark->time_ns, mark->n);
    else if (mark->kind == TRACE_END)
        store_end(feed->store, mark->time_ns, mark->n);
    else if (mark->kind == TRACE_REAP)
        take_reap(feed, mark);
    else if (mark->kind == TRACE_PROCESS)
        store_count(feed->store, STORE_PROCESSES, mark->n);
    else if (mark->kind == TRACE_REQUEST)
        take_transfer(feed, event);
    else if (mark->kind == TRACE_FLUSH)
        take_flush(feed, event);
    else if (mark->kind == TRACE_OPEN)
        take_open(feed, record);
    else if (mark->kind == TRACE_CLOSE)
        store_close(feed->store, event->file, find_opened(feed, event->opened)->handle);
}

void trace_feed_count(struct trace_feed *feed, const struct trace_counts *counts, bool sees_rings)
{
    store_count(feed->store, STORE_OTHER_CALLS, counts->other_calls);
    store_count(feed->store, STORE_OTHER_BYTES, counts->other_bytes);
    store_count(feed->store, STORE_FAILED, counts->failed);
    store_count(feed->store, STORE_EMPTY_READS, counts->empty_reads);
    store_count(feed->store, STORE_MAPS, counts->maps);
    store_count(feed->store, STORE_MAPPED_BYTES, counts->mapped_bytes);
    store_count(feed->store, STORE_RANGE_FLUSHES, counts->range_flushes);
    store_count(feed->store, STORE_LOST_REQUESTS, counts->lost + counts->foreign);
    store_count(feed->store, STORE_RINGS, !sees_rings);
}
