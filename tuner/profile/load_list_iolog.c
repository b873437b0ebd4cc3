/* tuner/profile/load_list_iolog: the requests of an iolog as they stand there, all files in one, each behind
 * the other. */
#include "tuner/profile/import.h"
#include "tuner/profile/load_list.h"
#include "tuner/profile/profile_document.h"

#include <errno.h>
#include <stdlib.h>

#define FILES_MOST 256
#define GRAIN      (1ULL << 20)
/* FILES_MOST of these are still a number of bytes; no file system has larger ones. */
#define FILE_BYTES_MOST (1ULL << 54)

struct file_span {
    uint64_t file, end_bytes, begin_bytes;
};

struct reading {
    struct load_list *list;
    struct file_span files[FILES_MOST];
    uint32_t *file_of; /* of each request */
    size_t n_files, room;
    bool has_no_memory;
};

/* Files beyond the last place share it. */
static uint32_t find_file(struct reading *reading, uint64_t file)
{
    for (size_t i = 0; i < reading->n_files; i++) {
        if (reading->files[i].file == file)
            return (uint32_t)i;
    }
    if (reading->n_files == FILES_MOST)
        return FILES_MOST - 1;
    reading->files[reading->n_files] = (struct file_span){.file = file};
    return (uint32_t)reading->n_files++;
}

static bool make_room(struct reading *reading)
{
    struct load_list *list = reading->list;
    if (list->n < reading->room)
        return true;
    size_t room = reading->room * 2 + 1024;
    struct requests_item *items = realloc(list->items, room * sizeof *items);
    if (items != NULL)
        list->items = items;
    uint32_t *file_of = items != NULL ? realloc(reading->file_of, room * sizeof *file_of) : NULL;
    if (file_of != NULL) {
        reading->file_of = file_of;
        reading->room = room;
    }
    reading->has_no_memory = file_of == NULL;
    return file_of != NULL;
}

/* A flush belongs to the request before it. */
static void take(void *data, const struct profile_request *request)
{
    struct reading *reading = data;
    struct load_list *list = reading->list;
    if (request == NULL && list->n > 0 && list->n_left_out == 0)
        list->items[list->n - 1].flushes = true;
    if (request == NULL)
        return;
    bool fits = request->n_bytes > 0 && request->n_bytes <= REQUESTS_BYTES_MOST &&
                request->offset_bytes <= FILE_BYTES_MOST;
    if (!fits || list->n == LOAD_LIST_MOST || !make_room(reading)) {
        list->n_left_out++;
        return;
    }
    uint32_t file = find_file(reading, request->file);
    uint64_t end = request->offset_bytes + request->n_bytes;
    if (end > reading->files[file].end_bytes)
        reading->files[file].end_bytes = end;
    reading->file_of[list->n] = file;
    list->writes = list->writes || request->direction == PROFILE_WRITE;
    list->items[list->n++] = (struct requests_item){.at_ns = request->start_ns,
                                                    .offset_bytes = request->offset_bytes,
                                                    .n_bytes = (uint32_t)request->n_bytes,
                                                    .writes = request->direction == PROFILE_WRITE};
}

static void place_files(struct reading *reading, uint64_t most_bytes)
{
    struct load_list *list = reading->list;
    uint64_t at = 0;
    for (size_t i = 0; i < reading->n_files; i++) {
        reading->files[i].begin_bytes = at;
        at += (reading->files[i].end_bytes + GRAIN - 1) / GRAIN * GRAIN;
    }
    list->span_bytes = at < most_bytes ? at : most_bytes;
    for (size_t i = 0; i < list->n; i++) {
        struct requests_item *item = &list->items[i];
        item->offset_bytes += reading->files[reading->file_of[i]].begin_bytes;
        /* Folded by whole requests, so that what was aligned still is. */
        uint64_t n_places = list->span_bytes / item->n_bytes;
        if (item->offset_bytes + item->n_bytes > list->span_bytes && n_places > 0)
            item->offset_bytes = item->offset_bytes / item->n_bytes % n_places * item->n_bytes;
    }
}

int load_list_from_iolog(struct load_list *list, const char *path, uint64_t most_bytes, struct err *err)
{
    static struct summary summary;
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL)
        return err_set(err, -ENOMEM, "no memory");
    reading->list = list;
    struct recording recording = {.tap = take, .tap_data = reading};
    int code = import_file(&recording, "fio-iolog", path, STORE_DEFAULT_BYTES, err);
    if (code == 0 && reading->has_no_memory)
        code = err_set(err, -ENOMEM, "no memory for the requests of %.200s", path);
    if (code == 0) {
        place_files(reading, most_bytes);
        summary_make(&summary, recording.store);
        list->profile = profile_document_make(&recording, &summary);
        list->seconds = summary.seconds;
        list->depth = 1;
        list->source = "fio-iolog";
    }
    record_close(&recording);
    free(reading->file_of);
    free(reading);
    return code;
}
