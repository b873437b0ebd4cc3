/* fstune emit kubevirt: a disk of a VirtualMachine. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <string.h>

#define STANDARD_NAME "disk0"
#define NAME_MOST     63U

static int check(const struct snippet_request *request, struct err *err)
{
    if (request->bus == SNIPPET_BUS_NVME)
        return err_set(err, -EINVAL, "KubeVirt has no nvme disk; use --bus virtio-blk or virtio-scsi");
    if (request->directsync && request->recommendation->point.direct)
        return err_set(err, -EINVAL,
                       "KubeVirt has cache none, writethrough and writeback, but no directsync; leave out "
                       "--directsync: the guest's flushes are honoured without it");
    return 0;
}

/* What Kubernetes takes for a name: lower-case letters and digits, dashes inside. */
static bool is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= NAME_MOST && text[0] != '-' && text[length - 1] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static const char *volume_name(const struct snippet_request *request)
{
    return is_name(request->image) ? request->image : STANDARD_NAME;
}

/* io_uring is no value there. */
static const char *io_mode(const struct point *point)
{
    return point->direct && (point->api == API_LIBAIO || point->api == API_IO_URING) ? "native" : "threads";
}

static void note_io(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    if (point->api == API_IO_URING)
        snippet_comment(writer,
                        "io_uring was measured, but KubeVirt cannot ask for it: io: %s is the nearest",
                        io_mode(point));
    else if (point->api == API_LIBAIO && !point->direct)
        snippet_comment(writer,
                        "libaio without direct I/O is synchronous, and refused by QEMU: threads instead");
    else
        snippet_comment(writer, "%s was measured%s: io: %s is the nearest", api_names[point->api],
                        point->api == API_PSYNC ? " at 1 in flight" : "", io_mode(point));
    if (strcmp(io_mode(point), "native") == 0)
        snippet_comment(
            writer, "io: native wants a block volume or a preallocated image: on a sparse one, growing it "
                    "stops the whole guest for moments");
    if (point->direct)
        snippet_comment(writer,
                        "cache: none fails at the start where the volume's file system has no O_DIRECT");
}

static void note_place(struct snippet_writer *writer, const struct snippet_request *request)
{
    snippet_comment(
        writer,
        "where: in a VirtualMachine, these belong under spec.template.spec.domain.devices; \"%s\" is "
        "the name of the volume under spec.template.spec.volumes%s",
        volume_name(request), is_name(request->image) ? "" : ", put yours there");
    if (request->image[0] != '\0' && !is_name(request->image))
        snippet_comment(
            writer,
            "not mapped: image %s - the volume of that name chooses it; --image takes the volume's "
            "name here",
            request->image);
    if (request->image_format != SNIPPET_IMAGE_RAW)
        snippet_comment(writer, "not mapped: image format %s - KubeVirt imports images as raw as a rule",
                        snippet_image_names[request->image_format]);
    if (request->recommendation->point.threads > 1)
        snippet_comment(
            writer,
            "for %u threads, blockMultiQueue: true beside disks gives every disk one queue for each "
            "processor of the guest",
            request->recommendation->point.threads);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    bool is_scsi = request->bus == SNIPPET_BUS_VIRTIO_SCSI;
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_comment(writer, "cache %s: %s", snippet_cache_mode(request), snippet_cache_meaning(request));
    snippet_guest_notes(writer, request);
    note_io(writer, request);
    note_place(writer, request);
    fprintf(writer->out, "disks:\n  - name: \"%s\"\n    disk:\n      bus: %s\n    cache: %s\n    io: %s\n",
            volume_name(request), is_scsi ? "scsi" : "virtio", snippet_cache_mode(request),
            io_mode(&request->recommendation->point));
    if (!is_scsi)
        fputs("    dedicatedIOThread: true\n", writer->out);
    return 0;
}

const struct snippet_ops snippet_kubevirt = {
    .name = "kubevirt",
    .title = "a disk for a VirtualMachine of KubeVirt (YAML); --image is the volume's name",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "kubectl apply --dry-run=server -f MACHINE.yaml",
    .emit = emit,
};
