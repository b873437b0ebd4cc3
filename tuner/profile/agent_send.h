/* tuner/profile/agent_send: what the agent tells, on its way to the manager: batches that are filled, those
 * that the manager does not have yet, and the link. */
#pragma once

#include "bench/base/err.h"
#include "bench/profile/wire.h"
#include "models/profile/backlog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_SEND_TOLD 4096U /* a power of two */

struct agent_send {
    /* The caller sets these; the rest is zeroed at first. */
    const char *address; /* NULL: standard input and output */
    const char *const *command;
    uint64_t wait_ns;   /* for a link that is cut, at the end */
    uint64_t sample_ns; /* that a sample of the processor stands for; 0: there are none */
    uint64_t (*n_lost)(void);
    void (*obey)(enum batch_order order); /* BATCH_SEND: the manager may be another one than before */
    bool is_ending;                       /* from now on it waits for room */

    struct batch_writer rows; /* that is being filled */
    bool has_rows;
    uint64_t rows_since_ns, n_rows, n_given_up; /* n_given_up: rows that found no room */
    uint64_t told[AGENT_SEND_TOLD];             /* objects whose names were told */
    struct backlog backlog;
    uint64_t n_rows_of[BACKLOG_BATCHES];

    struct wire link;
    struct wire_address resolved;
    uint64_t number, retry_ns, cut_ns; /* number: drawn by chance, by which the manager knows us again */
    struct batch_writer hello;
    size_t n_hello_sent, n_received;
    uint8_t received[BATCH_MOST_BYTES];
    bool is_welcome, is_gone; /* is_gone: the link does not come back */
};

/* A line on standard error. */
void agent_send_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* With standard input and output as the link, these are no longer our own: output goes to standard error. 0
 * or a negative errno. */
int agent_send_open(struct agent_send *send, struct err *err);

/* Whether there is room for so many batches more; at the end it waits for it. */
bool agent_send_has_room(struct agent_send *send, size_t n);

/* For a struct events_sink. */
void agent_send_row(void *send, const struct events_row *row);
void agent_send_name(void *send, uint64_t object, const char *name);
bool agent_send_is_told(const struct agent_send *send, uint64_t object);

/* A batch of its own: BATCH_RESTART, before which rows that wait are left out, or BATCH_END. */
void agent_send_mark(struct agent_send *send, enum batch_kind kind, uint64_t spent_ns, uint64_t status);

/* Sends and receives what can be without waiting, and rows that have waited for long enough. */
void agent_send_step(struct agent_send *send);
/* The same after a few milliseconds, or when an order comes. */
void agent_send_wait(struct agent_send *send);

/* Until the manager has all, or the link is cut for good. How many events it may lack; 0 with *ret_is_whole:
 * none. */
uint64_t agent_send_finish(struct agent_send *send, bool *ret_is_whole);
