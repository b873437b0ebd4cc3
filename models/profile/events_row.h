/* models/profile/events_row: one event as it stands in the database and goes over a link, and who takes such
 * events. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define EVENTS_TEXT_SIZE  256
#define EVENTS_FILE_BYTES (1ULL << 46) /* the largest files that are thought of */

enum events_kind {
    EVENTS_READ = 1,
    EVENTS_WRITE,
    EVENTS_FLUSH, /* of an object; 0: of all */
    EVENTS_REAP,  /* n asynchronous requests have come back */
    EVENTS_CPU,   /* n samples of the processor at an offset of the object, which is a program or a library */
    EVENTS_MEMORY,  /* so much memory is held in n blocks that were allocated at an address of the object */
    EVENTS_FRAME,   /* handle: number of a place that calls others, n: that of its caller, 0: not known; the
                       offset is where the call returns. Of EVENTS_CPU handle is the caller's number */
    EVENTS_NETWORK, /* since its row before a thread has moved so many bytes over sockets, in n calls, in one
                       direction */
    EVENTS_MARK,    /* the program has named this moment; the object's name is that */
    EVENTS_N_KINDS
};

#define EVENTS_AT_PEAK 1 /* flag of EVENTS_MEMORY: when the whole program held most */
/* Flags of EVENTS_NETWORK. */
#define EVENTS_IN  1
#define EVENTS_OUT 2

/* Of an event: as those of profile requests (models/profile/event). */
struct events_row {
    enum events_kind kind;
    uint64_t time_ns;     /* since the recording began */
    uint64_t duration_ns; /* 0: not known */
    uint32_t process, thread, handle, flags;
    uint64_t object; /* number of the file */
    uint64_t offset_bytes, n_bytes, n;
};

/* False: no fstune writes such a row. */
bool events_row_is_sound(const struct events_row *row);

struct events_sink {
    void *to;
    void (*add)(void *to, const struct events_row *row);
    void (*name)(void *to, uint64_t object, const char *name);
};

/* Tells the name of a program or a library. Returns its number. */
uint64_t events_row_name(const struct events_sink *sink, const char *path);
