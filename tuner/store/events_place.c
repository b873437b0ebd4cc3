/* tuner/store/events_place: a table of beginnings, by the hash of the file's number. */
#include "tuner/store/events_place.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS ((size_t)2 * EVENTS_PLACE_FILES) /* more than there are files, so that a search ends */
#define GRAIN (1ULL << 20)

struct slot {
    uint64_t object, begin_bytes;
    bool is_used;
};

struct events_place {
    struct slot slots[SLOTS];
    size_t n;
    uint64_t span_bytes;
};

static size_t find(const struct events_place *place, uint64_t object)
{
    size_t at = (size_t)(object * 0x9e3779b97f4a7c15ULL >> 32) % SLOTS;
    while (place->slots[at].is_used && place->slots[at].object != object)
        at = (at + 1) % SLOTS;
    return at;
}

static int add(void *data, const struct events_file *file, struct err *err)
{
    struct events_place *place = data;
    if (++place->n > EVENTS_PLACE_FILES)
        return err_set(err, -EFBIG, "the recording has more than %d files", EVENTS_PLACE_FILES);
    place->slots[find(place, file->object)] = (struct slot){file->object, place->span_bytes, true};
    place->span_bytes += (file->end_bytes + GRAIN - 1) / GRAIN * GRAIN;
    return 0;
}

int events_place_files(struct events_place **ret_place, struct events *events, int64_t id, struct err *err)
{
    struct events_place *place = calloc(1, sizeof *place);
    if (place == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = events_each_file(events, id, add, place, err);
    if (result == 0 && place->n == 0)
        result = err_set(err, -ENODATA, "the recording has no reads and writes of files");
    if (result < 0) {
        free(place);
        return result;
    }
    *ret_place = place;
    return 0;
}

uint64_t events_place_of(const struct events_place *place, uint64_t object)
{
    return place->slots[find(place, object)].begin_bytes;
}

uint64_t events_place_span(const struct events_place *place)
{
    return place->span_bytes;
}

void events_place_free(struct events_place *place)
{
    free(place);
}
