/* models/profile/backlog: batches that were sent, or wait to be, until the other side has them safe. Of fixed
 * size: who adds to it looks for room first. */
#pragma once

#include "models/profile/batch.h"

#define BACKLOG_BATCHES 64U

struct backlog {
    uint64_t first, next; /* numbers of the oldest one that is kept, and of the one to come */
    uint64_t sending;     /* the one that is sent next; first to next */
    size_t n_sent;        /* bytes of it */
    uint64_t again;       /* where sending goes on once it is sent whole; next: nowhere else */
    struct {
        size_t n;
        uint8_t bytes[BATCH_MOST_BYTES];
    } slots[BACKLOG_BATCHES];
};

/* How many more find room. */
size_t backlog_room(const struct backlog *backlog);

/* A finished batch, which has the number `next`. */
void backlog_put(struct backlog *backlog, const struct batch_writer *writer);

/* What is to be sent now; NULL: nothing. */
const uint8_t *backlog_pending(const struct backlog *backlog, size_t *ret_n);
void backlog_sent(struct backlog *backlog, size_t n);

/* The other side has all below this number. */
void backlog_release(struct backlog *backlog, uint64_t number);

/* Sending begins anew with this number, over another link at once, else when the batch that is on its way has
 * gone. 0, or -EINVAL where it is not kept. */
int backlog_go_back(struct backlog *backlog, uint64_t number, bool is_new_link);
