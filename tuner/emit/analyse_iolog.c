/* tuner/emit/analyse_iolog: requests in fio's words. */
#include "tuner/emit/analyse.h"
#include "tuner/store/events_place.h"

#include <inttypes.h>

#define FILE_NAME "fstune-replay"

struct log {
    FILE *out;
    struct events_place *place;
    uint64_t time_us;
};

static int print_action(void *data, const struct events_row *row, struct err *err)
{
    struct log *log = data;
    (void)err;
    if (row->kind != EVENTS_READ && row->kind != EVENTS_WRITE && row->kind != EVENTS_FLUSH)
        return 0;
    log->time_us = row->time_ns / 1000;
    if (row->kind == EVENTS_FLUSH) {
        fprintf(log->out, "%" PRIu64 " " FILE_NAME " sync 0 0\n", log->time_us);
        return 0;
    }
    fprintf(log->out, "%" PRIu64 " " FILE_NAME " %s %" PRIu64 " %" PRIu64 "\n", log->time_us,
            row->kind == EVENTS_READ ? "read" : "write",
            row->offset_bytes + events_place_of(log->place, row->object), row->n_bytes);
    return 0;
}

int analyse_print_iolog(FILE *out, struct events *events, const struct events_run *run,
                        uint64_t *ret_span_bytes, struct err *err)
{
    struct log log = {.out = out};
    int code = events_place_files(&log.place, events, run->id, err);
    if (code < 0)
        return code;
    *ret_span_bytes = events_place_span(log.place);
    fputs("fio version 3 iolog\n0 " FILE_NAME " add\n0 " FILE_NAME " open\n", out);
    code = events_each(events, run->id, print_action, &log, err);
    fprintf(out, "%" PRIu64 " " FILE_NAME " close\n", log.time_us);
    events_place_free(log.place);
    return code;
}
