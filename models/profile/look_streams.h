/* models/profile/look_streams: the files that a program uses most, between two looks at its store. */
#pragma once

#include "models/profile/look.h"
#include "models/profile/store.h"

#include <stddef.h>
#include <stdint.h>

#define LOOK_BUSIEST 8

/* The requests of one file in one direction, through all its open files. */
struct look_stream {
    uint64_t file;
    uint32_t direction;
    uint64_t n[STREAM_N_ORDERS], n_bytes;
    uint64_t size_bytes; /* the usual one */
    int64_t stride_bytes;
};

/* All streams at a moment, in the order of their files. */
struct look_streams {
    struct look_stream *streams;
    size_t n, room;
};

/* Room for the streams of this store. 0 or -ENOMEM. */
int look_streams_open(struct look_streams *streams, const struct store *store);
void look_streams_close(struct look_streams *streams);

void look_streams_take(struct look_streams *streams, const struct store *store);

/* What came between two looks, of those with the most bytes, the most first. Returns how many. */
size_t look_streams_busiest(const struct look_streams *before, const struct look_streams *after,
                            struct look_stream ret[LOOK_BUSIEST]);

/* Bytes of the four kinds that came between two looks, a second, as parts of the rates of both directions,
 * which are known exactly: the requests of a stream count as alike in size. NaN where no stream tells. */
void look_streams_rates(const struct look_streams *before, const struct look_streams *after,
                        const struct look_rates *rates, double ret_bps[SUMMARY_N_KINDS]);

uint64_t look_streams_requests(const struct look_stream *stream);
