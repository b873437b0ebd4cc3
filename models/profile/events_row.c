/* models/profile/events_row: what a row may hold, and numbers for names. */
#include "models/profile/events_row.h"

#include <stddef.h>

bool events_row_is_sound(const struct events_row *row)
{
    bool is_transfer = row->kind == EVENTS_READ || row->kind == EVENTS_WRITE;
    if (row->kind == 0 || row->kind >= EVENTS_N_KINDS || row->time_ns > INT64_MAX ||
        row->duration_ns > INT64_MAX)
        return false;
    return !is_transfer ||
           (row->offset_bytes <= EVENTS_FILE_BYTES && row->n_bytes <= EVENTS_FILE_BYTES - row->offset_bytes);
}

/* FNV-1a. */
static uint64_t number_of(const char *path)
{
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (size_t i = 0; path[i] != '\0'; i++)
        hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3ULL;
    return hash + (hash == 0);
}

uint64_t events_row_name(const struct events_sink *sink, const char *path)
{
    uint64_t number = number_of(path);
    sink->name(sink->to, number, path);
    return number;
}
