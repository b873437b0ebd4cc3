/* models/profile/places: samples of the processor's time, counted by place. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PLACES_MOST 4096U /* a power of two */

struct place_count {
    uint64_t object, offset_bytes; /* object 0: nobody knows where */
    uint64_t n;                    /* 0: this one is free */
};

struct places {
    struct place_count counts[PLACES_MOST];
};

/* False: there is no room for another place until the table is emptied. n is not 0. */
bool places_add(struct places *places, uint64_t object, uint64_t offset_bytes, uint64_t n);
