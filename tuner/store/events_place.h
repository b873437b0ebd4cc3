/* tuner/store/events_place: the files of a recording behind each other, as if they were one. */
#pragma once

#include "tuner/store/events.h"

#define EVENTS_PLACE_FILES 65536

struct events_place;

/* 0; -ENODATA: nothing was read or written; -EFBIG: there are more than EVENTS_PLACE_FILES. */
int events_place_files(struct events_place **ret_place, struct events *events, int64_t id, struct err *err);

/* Where the file begins, and how far all of them reach. */
uint64_t events_place_of(const struct events_place *place, uint64_t object);
uint64_t events_place_span(const struct events_place *place);
void events_place_free(struct events_place *place);
