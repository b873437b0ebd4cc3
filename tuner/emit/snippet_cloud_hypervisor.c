/* fstune emit cloud-hypervisor: a --disk option. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <string.h>

#define OPTION_SIZE   (RECOMMENDATION_PATH_SIZE + 256)
#define LARGEST_BYTES ((uint64_t)4088 << 10) /* a queue of 1024 holds two entries and 1022 pages */

/* Its parser drops every double quote, keeps a comma between two of them, counts brackets everywhere, and
 * trims a value's blanks; nothing escapes a quote. */
static int check(const struct snippet_request *request, struct err *err)
{
    const char *path = snippet_image_path(request);
    int result = snippet_vm_only_virtio_blk(request, "Cloud Hypervisor", err);
    if (result == 0)
        result = snippet_vm_no_directsync(request, "Cloud Hypervisor", err);
    if (result == 0)
        result = snippet_check_path(path, "\"[]", err);
    if (result == 0)
        result = snippet_vm_check_utf8(path, err);
    if (result == 0 && (path[0] == ' ' || path[strlen(path) - 1] == ' '))
        return err_set(
            err, -EINVAL,
            "the path begins or ends with a blank, which Cloud Hypervisor drops; rename or link the "
            "file");
    return result;
}

static bool knows_image_type(const struct snippet_request *request)
{
    return request->version[0] + request->version[1] == 0 || snippet_vm_is_version(request, 50, 1);
}

static void print_option(struct snippet_writer *writer, const struct snippet_request *request)
{
    char text[OPTION_SIZE], type[32] = "";
    const struct point *point = &request->recommendation->point;
    const char *path = snippet_image_path(request);
    const char *quote = strchr(path, ',') != NULL ? "\"" : "";
    if (knows_image_type(request))
        snprintf(type, sizeof type, ",image_type=%s", snippet_image_names[request->image_format]);
    snprintf(text, sizeof text, "path=%s%s%s%s,direct=%s,num_queues=%u,queue_size=%u", quote, path, quote,
             type, point->direct ? "on" : "off", point->threads, snippet_queue_size(request, point->threads));
    snippet_vm_print_option(writer, "--disk", text);
}

static void note_image_type(struct snippet_writer *writer, const struct snippet_request *request)
{
    if (knows_image_type(request))
        snippet_comment(
            writer,
            "needs: Cloud Hypervisor 50.1; leave out image_type before (or say --target-version), where "
            "it is refused. From 50.1 on a raw disk without it cannot write its first sector");
    if (request->image_format == SNIPPET_IMAGE_QCOW2)
        snippet_comment(
            writer,
            "a qcow2 image is served without io_uring: raw is nearer to what was measured. One that has a "
            "backing file needs backing_files=on as well");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct point *point = &request->recommendation->point;
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_comment(writer, "direct=%s: %s", point->direct ? "on" : "off", snippet_cache_meaning(request));
    snippet_guest_notes(writer, request);
    snippet_vm_note_api(writer, request,
                        "it takes the first of io_uring, libaio and plain calls that the host allows");
    note_image_type(writer, request);
    if (factors_largest_size_bytes(point) > LARGEST_BYTES)
        snippet_comment(
            writer, "the guest splits requests above 4088k: the largest queue has no room for more pages");
    if (point->direct)
        snippet_comment(
            writer, "with direct=on the guest sees the logical block size of the storage below the image; "
                    "a guest installed on another one does not find its partitions");
    if (point->threads > 1)
        snippet_comment(writer, "num_queues=%u needs as many processors in the guest (--cpus boot=%u)",
                        point->threads, point->threads);
    snippet_comment(writer,
                    "where: on the command line of cloud-hypervisor; several disks follow one --disk");
    print_option(writer, request);
    return 0;
}

const struct snippet_ops snippet_cloud_hypervisor = {
    .name = "cloud-hypervisor",
    .title = "a --disk option for the command line of cloud-hypervisor",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_NOT,
    .threads = SNIPPET_SAYS_PARTLY,
    .sync = SNIPPET_SAYS_PARTLY,
    .hint = "start cloud-hypervisor with it; GET /api/v1/vm.info shows the disk as understood",
    .emit = emit,
};
