/* tuner/profile/analyse_iolog: requests in fio's words. */
#include "tuner/profile/analyse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FILE_NAME  "fstune-replay"
#define GRAIN      (1ULL << 20)
#define MOST_FILES 65536
#define MOST_BYTES (1ULL << 54) /* of a file; no file system has larger ones */

struct file_place {
    uint64_t object, end_bytes, begin_bytes;
};

struct log {
    FILE *out;
    struct file_place *places; /* by the hash of the object */
    size_t n_places;
    uint64_t time_us;
};

static struct file_place *find_place(const struct log *log, uint64_t object)
{
    uint64_t hash = object * 0x9e3779b97f4a7c15ULL >> 32;
    for (size_t i = 0; i < 2 * MOST_FILES; i++) {
        struct file_place *place = &log->places[(hash + i) % (2 * MOST_FILES)];
        if (place->object == object || place->end_bytes == 0)
            return place;
    }
    return NULL;
}

static bool is_transfer(const struct events_row *row)
{
    return row->kind == EVENTS_READ || row->kind == EVENTS_WRITE;
}

static int measure(void *data, const struct events_row *row, struct err *err)
{
    struct log *log = data;
    if (!is_transfer(row))
        return 0;
    if (row->offset_bytes > MOST_BYTES || row->n_bytes > MOST_BYTES)
        return err_set(err, -EBADMSG, "it holds a request that makes no sense; restore a copy");
    struct file_place *place = find_place(log, row->object);
    uint64_t end = row->offset_bytes + row->n_bytes;
    if (place->end_bytes == 0 && ++log->n_places > MOST_FILES)
        return err_set(err, -EFBIG, "the recording has more than %d files, too many for one iolog", MOST_FILES);
    place->object = row->object;
    place->end_bytes = end > place->end_bytes ? end : place->end_bytes;
    return 0;
}

static uint64_t place_files(struct log *log)
{
    uint64_t at = 0;
    for (size_t i = 0; i < 2 * MOST_FILES; i++) {
        log->places[i].begin_bytes = at;
        at += (log->places[i].end_bytes + GRAIN - 1) / GRAIN * GRAIN;
    }
    return at;
}

static int print_action(void *data, const struct events_row *row, struct err *err)
{
    struct log *log = data;
    (void)err;
    if (!is_transfer(row) && row->kind != EVENTS_FLUSH)
        return 0;
    log->time_us = row->time_ns / 1000;
    if (row->kind == EVENTS_FLUSH) {
        fprintf(log->out, "%" PRIu64 " " FILE_NAME " sync 0 0\n", log->time_us);
        return 0;
    }
    fprintf(log->out, "%" PRIu64 " " FILE_NAME " %s %" PRIu64 " %" PRIu64 "\n", log->time_us,
            row->kind == EVENTS_READ ? "read" : "write",
            row->offset_bytes + find_place(log, row->object)->begin_bytes, row->n_bytes);
    return 0;
}

int analyse_print_iolog(FILE *out, struct events *events, const struct events_run *run,
                        uint64_t *ret_span_bytes, struct err *err)
{
    struct log log = {.out = out, .places = calloc(2 * MOST_FILES, sizeof *log.places)};
    if (log.places == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int code = events_each(events, run->id, measure, &log, err);
    if (code == 0 && log.n_places == 0)
        code = err_set(err, -ENODATA, "the recording has no reads and writes of files");
    if (code == 0) {
        *ret_span_bytes = place_files(&log);
        fputs("fio version 3 iolog\n0 " FILE_NAME " add\n0 " FILE_NAME " open\n", out);
        code = events_each(events, run->id, print_action, &log, err);
    }
    if (code == 0)
        fprintf(out, "%" PRIu64 " " FILE_NAME " close\n", log.time_us);
    free(log.places);
    return code;
}
