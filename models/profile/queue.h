/* models/profile/queue: events one by one, from the threads and processes of a program to the one reader
 * beside it, in shared memory of fixed size.
 *
 * Nobody waits: where there is no room, or a place is fought for too long, an event is counted as lost. A
 * process that is killed while it writes leaves a place that the reader passes over, and one that goes on
 * only then spoils at most the event that stands there now, which the reader sees by its sum and counts as
 * lost. The reader keeps its own place: nothing that the program writes here can lead it astray. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kind beside those of events_row: the program has forgotten what was recorded, and begins anew at start_ns
 * for the n_bytes-th time. */
#define QUEUE_RENEWED UINT16_MAX

struct queue_event {
    uint64_t start_ns, duration_ns; /* duration_ns 0: not known */
    uint64_t file, offset_bytes;
    uint64_t n_bytes; /* of EVENTS_REAP: how many requests; of EVENTS_CPU: how many samples */
    uint32_t handle, thread, process;
    uint16_t kind, flags; /* as in models/profile/events_row */
};

struct queue_slot {
    uint64_t turn; /* whose it is: the number of the next event, or one more once it is there */
    uint64_t sum;  /* of the event and its number */
    struct queue_event event;
};

struct queue {
    uint64_t magic, n_slots; /* a power of two */
    uint64_t n_lost;
    uint32_t is_paused;
    uint32_t sample_ns; /* of the processor's time between two samples that the program takes; 0: none */
    uint64_t next;      /* number of the next event */
    uint64_t spare[3];
    struct queue_slot slots[];
};

/* What the reader knows. */
struct queue_reader {
    uint64_t next, n_lost;
    uint64_t waits_since_ns; /* for the event that stands next; 0: it does not */
    size_t n_slots;
};

/* Prepares zeroed memory. 0, or -EINVAL where it is too small. */
int queue_init(struct queue *queue, size_t n_bytes);
bool queue_is_sound(const struct queue *queue, size_t n_bytes);

/* An event is going to come: its place is fetched into the processor's cache meanwhile. */
void queue_expect(const struct queue *queue);
void queue_put(struct queue *queue, const struct queue_event *event);

/* The next event; false: there is none now. */
bool queue_get(struct queue *queue, struct queue_reader *reader, uint64_t now_ns, struct queue_event *ret);

/* Events that were lost until now. */
uint64_t queue_lost(const struct queue *queue, const struct queue_reader *reader);
