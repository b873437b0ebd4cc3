/* models/profile/places: a hash table of fixed size. */
#include "models/profile/places.h"

#include "models/profile/cells.h"

#define MOST_PROBES 64U

bool places_add(struct places *places, uint64_t object, uint64_t offset_bytes, uint64_t n)
{
    uint64_t at = cells_hash(object ^ cells_hash(offset_bytes));
    for (uint64_t i = 0; i < MOST_PROBES; i++) {
        struct place_count *count = &places->counts[(at + i) & (PLACES_MOST - 1)];
        if (count->n == 0)
            *count = (struct place_count){.object = object, .offset_bytes = offset_bytes};
        else if (count->object != object || count->offset_bytes != offset_bytes)
            continue;
        count->n += n;
        return true;
    }
    return false;
}
