/* tuner/emit/snippet_vm: refusals and remarks that formats of virtual machines share. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <jansson.h>

int snippet_vm_only_raw(const struct snippet_request *request, const char *consumer, struct err *err)
{
    if (request->image_format == SNIPPET_IMAGE_RAW)
        return 0;
    return err_set(err, -EINVAL,
                   "%s reads raw images only; convert it (qemu-img convert -O raw OLD NEW) and leave out "
                   "--image-format %s",
                   consumer, snippet_image_names[request->image_format]);
}

int snippet_vm_only_virtio_blk(const struct snippet_request *request, const char *consumer, struct err *err)
{
    if (request->bus == SNIPPET_BUS_VIRTIO_BLK)
        return 0;
    return err_set(err, -EINVAL, "%s has no %s disk here; leave out --bus, or use --bus virtio-blk", consumer,
                   snippet_bus_names[request->bus]);
}

int snippet_vm_no_directsync(const struct snippet_request *request, const char *consumer, struct err *err)
{
    if (!request->directsync)
        return 0;
    return err_set(err, -EINVAL,
                   "%s has no mode that makes every write durable; leave out --directsync: the guest's "
                   "flushes are honoured without it",
                   consumer);
}

int snippet_vm_check_whole_path(const char *path, const char *refused, struct err *err)
{
    if (path[0] != '/')
        return err_set(err, -EINVAL, "the path %.200s is relative; give the whole path, from / on", path);
    return snippet_check_path(path, refused, err);
}

int snippet_vm_check_utf8(const char *path, struct err *err)
{
    json_t *text = json_string(path);
    if (text == NULL)
        return err_set(err, -EINVAL,
                       "the path is not UTF-8, which this format cannot express; rename or link the file");
    json_decref(text);
    return 0;
}

bool snippet_vm_is_version(const struct snippet_request *request, unsigned major, unsigned minor)
{
    const unsigned *version = request->version;
    return version[0] > major || (version[0] == major && version[1] >= minor);
}

void snippet_vm_note_api(struct snippet_writer *writer, const struct snippet_request *request,
                         const char *how)
{
    snippet_comment(writer, "not mapped: api %s - %s", api_names[request->recommendation->point.api], how);
}

uint64_t snippet_vm_in_flight(const struct snippet_request *request)
{
    const struct point *point = &request->recommendation->point;
    return (uint64_t)point->queue_depth * point->threads;
}

void snippet_vm_note_bound(struct snippet_writer *writer, const struct snippet_request *request,
                           unsigned most, const char *what)
{
    uint64_t in_flight = snippet_vm_in_flight(request);
    if (in_flight > most)
        snippet_comment(
            writer, "measured with %llu in flight, but %s holds %u at most: expect less than was measured",
            (unsigned long long)in_flight, what, most);
}

void snippet_vm_print_option(struct snippet_writer *writer, const char *option, const char *text)
{
    fprintf(writer->out, "%s ", option);
    snippet_escape_shell(writer->out, text);
    fputc('\n', writer->out);
}
