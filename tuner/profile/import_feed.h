/* tuner/profile/import_feed: what the formats have in common: the store, the time, and requests in flight. */
#pragma once

#include "models/profile/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_FEED_MOST_ENDS 4096

/* An import under way. */
struct import_feed {
    struct store *store;
    void (*tap)(void *data, const struct profile_request *request); /* as in struct recording */
    void *tap_data;
    void *state;      /* of the format */
    bool has_begun;   /* the first time is known */
    uint64_t base_ns; /* of the recording: times count from it */
    uint64_t now_ns;
    uint64_t n_rows, n_refused;
    uint64_t ends_ns[IMPORT_FEED_MOST_ENDS]; /* a heap of when requests in flight end, the earliest first */
    size_t n_ends;
};

/* A format: one function for each line, which ends in a zero and may be changed. 0: it is understood, or says
 * nothing of interest; -EINVAL: it is not. */
struct import_format {
    const char *name;
    size_t state_size;               /* zeroed before the first line */
    bool knows_calls, knows_flushes; /* as in struct recording */
    int (*take_line)(struct import_feed *feed, char *line);
};

extern const struct import_format import_iolog, import_blkparse, import_strace, import_msr, import_alibaba;

/* Time goes on: what ends until then has ended. The first time of all is the beginning. */
void import_feed_time(struct import_feed *feed, uint64_t now_ns);

/* One request is in flight from now on; and will have ended then, which may be in the past. */
void import_feed_begin(struct import_feed *feed);
void import_feed_end_at(struct import_feed *feed, uint64_t end_ns);

/* A request; its start is a time as of import_feed_time. */
void import_feed_take(struct import_feed *feed, const struct profile_request *request);
void import_feed_flush(struct import_feed *feed, uint64_t file, uint64_t spent_ns);

/* A number for a name, and the name into the store. */
uint64_t import_feed_file(struct import_feed *feed, const char *name, size_t length);

/* What is in flight at the end of the file has ended with it. */
void import_feed_finish(struct import_feed *feed);

/* Numbers at the beginning of what *at points to, which moves behind them. False: there is none, or it does
 * not fit into the type. */
bool import_feed_number(char **at, uint64_t *ret);
/* "12.345678" seconds as nanoseconds. */
bool import_feed_seconds(char **at, uint64_t *ret_ns);
/* The word up to a blank, a tabulator or the end; blanks before it are skipped. NULL: there is none. */
char *import_feed_word(char **at);
