/* tuner/profile/profile_streams: the files that a program used, and how each. */
#pragma once

#include "models/profile/store.h"

#include <jansson.h>
#include <stddef.h>

#define PROFILE_STREAMS_MOST 16

/* The requests of one file in one direction, through all its open files. */
struct profile_stream {
    uint64_t file;
    char name[STORE_NAME_SIZE]; /* the end of the path; "" where it is not known */
    enum profile_direction direction;
    uint64_t n[STREAM_N_ORDERS], n_bytes, size_bytes; /* size: the usual one */
    int64_t stride_bytes;                             /* the last one */
    unsigned n_handles, flags;
    uint32_t thread; /* of its first request */
};

/* Those with the most requests first. Returns how many; *ret_n_more: how many were left out. */
size_t profile_streams_find(const struct store *store, struct profile_stream ret[PROFILE_STREAMS_MOST],
                            size_t *ret_n_more);

json_t *profile_streams_json(const struct store *store);

/* Whether steps of one length are more than chance. */
bool profile_streams_strides(const struct profile_stream *stream);

uint64_t profile_streams_requests(const struct profile_stream *stream);
