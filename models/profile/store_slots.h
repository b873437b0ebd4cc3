/* models/profile/store_slots: places for files and streams. Each has eight slots where it may stand; when
 * they are taken, the one that matters least makes room. */
#pragma once

#include "models/profile/store.h"

#define STORE_SLOTS_WAYS 8

/* The file's slot, made where it is missing; NULL where there is none. */
struct store_file *store_slots_file(struct store *store, uint64_t file, uint64_t now_ns);

/* The slot of the request's stream, made where it is missing, with its lock taken; NULL where there is none
 * or the lock is busy, which is counted. */
struct stream *store_slots_stream(struct store *store, const struct profile_request *request);
