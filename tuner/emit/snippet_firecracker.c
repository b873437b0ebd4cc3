/* fstune emit firecracker: the body of PUT /drives/ID. Unknown members are refused there, and JSON has no
 * comments, so that every word about it stands beside it. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <jansson.h>

#define QUEUE_MOST 256U /* entries of its only queue; not settable */
#define DRIVE_ID   "data"

static int check(const struct snippet_request *request, struct err *err)
{
    int result = snippet_vm_only_raw(request, "Firecracker", err);
    if (result == 0)
        result = snippet_vm_only_virtio_blk(request, "Firecracker", err);
    if (result == 0)
        result = snippet_vm_no_directsync(request, "Firecracker", err);
    if (result == 0)
        result = snippet_check_path(snippet_image_path(request), "", err);
    return result < 0 ? result : snippet_vm_check_utf8(snippet_image_path(request), err);
}

/* A developer preview is never the default: the version says that somebody chose it. */
static bool is_async(const struct snippet_request *request)
{
    return request->recommendation->point.api == API_IO_URING && snippet_vm_is_version(request, 1, 0);
}

static void note_engine(struct snippet_writer *writer, const struct snippet_request *request)
{
    if (is_async(request))
        snippet_comment(writer,
                        "warning: io_engine Async is a developer preview, by Firecracker's own documentation "
                        "not yet suitable for production; it needs Firecracker 1.0 and Linux 5.10.51 on the "
                        "host; fallback: Sync");
    else if (request->recommendation->point.api == API_IO_URING)
        snippet_comment(writer,
                        "io_engine Sync although io_uring was measured: Async is a developer preview; ask "
                        "for it with --target-version 1.0 or the version that you run");
    else
        snippet_vm_note_api(writer, request, "io_engine Sync makes one blocking call at a time");
    if (!is_async(request) && snippet_vm_in_flight(request) > 1)
        snippet_comment(writer,
                        "Sync keeps one request in flight: expect less than was measured at a queue depth "
                        "above 1");
}

static void print_remarks(struct snippet_writer *writer, const struct snippet_request *request)
{
    snippet_header(writer, request);
    snippet_comment(writer,
                    "where: the body of PUT /drives/%s before the start, or a member of \"drives\" in the "
                    "configuration file; drive_id is yours to choose",
                    DRIVE_ID);
    snippet_comment(writer,
                    "cache_type Writeback: the guest's flushes reach the host's disk. Keep it: the default, "
                    "Unsafe, acknowledges them and does nothing");
    if (request->recommendation->point.direct)
        snippet_comment(writer,
                        "not mapped: direct 1 - Firecracker goes through the host's page cache; expect other "
                        "figures than were measured");
    snippet_guest_notes(writer, request);
    snippet_vm_note_bound(writer, request, QUEUE_MOST, "the queue of a drive");
    note_engine(writer, request);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    int result = check(request, err);
    if (result < 0)
        return result;
    json_t *drive = json_pack("{s:s, s:s, s:b, s:b, s:s, s:s}", "drive_id", DRIVE_ID, "path_on_host",
                              snippet_image_path(request), "is_root_device", 0, "is_read_only", 0,
                              "cache_type", "Writeback", "io_engine", is_async(request) ? "Async" : "Sync");
    if (drive == NULL)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    print_remarks(writer, request);
    result = json_dumpf(drive, writer->out, JSON_INDENT(2));
    json_decref(drive);
    if (result != 0 || fputc('\n', writer->out) == EOF)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    return 0;
}

const struct snippet_ops snippet_firecracker = {
    .name = "firecracker",
    .title = "a drive: body of PUT /drives/ID; what JSON cannot say stands on stderr",
    .comments = SNIPPET_COMMENTS_NONE,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_NOT,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .hint = "curl --unix-socket SOCKET -X PUT http://localhost/drives/data -d @FILE (204: accepted)",
    .emit = emit,
};
