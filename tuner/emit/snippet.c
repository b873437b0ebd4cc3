/* tuner/emit/snippet: the table of formats, and making one snippet. */
#include "tuner/emit/snippet.h"

#include "tuner/base/snippet_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const struct snippet_ops snippet_qemu, snippet_qemu_drive, snippet_libvirt, snippet_proxmox;
extern const struct snippet_ops snippet_virtualbox, snippet_vmware, snippet_firecracker,
    snippet_cloud_hypervisor, snippet_crosvm, snippet_bhyve, snippet_xen, snippet_kubevirt;
extern const struct snippet_ops snippet_fio, snippet_udev, snippet_postgresql, snippet_mysql, snippet_rocksdb,
    snippet_seastar;
extern const struct snippet_ops snippet_shell, snippet_json;

/* In the order of their names. */
static const struct snippet_ops *const table[SNIPPET_FORMATS_N] = {
    &snippet_qemu,       &snippet_qemu_drive, &snippet_libvirt,     &snippet_proxmox,
    &snippet_virtualbox, &snippet_vmware,     &snippet_firecracker, &snippet_cloud_hypervisor,
    &snippet_crosvm,     &snippet_bhyve,      &snippet_xen,         &snippet_kubevirt,
    &snippet_fio,        &snippet_udev,       &snippet_postgresql,  &snippet_mysql,
    &snippet_rocksdb,    &snippet_seastar,    &snippet_shell,       &snippet_json,
};

const char *const snippet_image_names[SNIPPET_IMAGE_N] = {"raw", "qcow2"};
const char *const snippet_bus_names[SNIPPET_BUS_N] = {"virtio-blk", "virtio-scsi", "nvme"};

const struct snippet_ops *snippet_row(size_t i)
{
    return i < SNIPPET_FORMATS_N ? table[i] : NULL;
}

const struct snippet_ops *snippet_find(const char *name)
{
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        if (strcmp(ops->name, name) == 0)
            return ops;
    }
    return NULL;
}

/* A wish that the snippet does not fulfil is not dropped in silence, that for durability least of all. */
static void note_ignored(struct snippet_writer *writer, const struct snippet_ops *ops,
                         const struct snippet_request *request)
{
    const struct {
        unsigned option;
        bool given; /* and not what holds without it */
        const char *name, *instead;
    } options[] = {
        {SNIPPET_IGNORES_IMAGE, request->image[0] != '\0', "--image", ""},
        {SNIPPET_IGNORES_IMAGE_FORMAT, request->image_format != SNIPPET_IMAGE_RAW, "--image-format", ""},
        {SNIPPET_IGNORES_BUS, request->bus != SNIPPET_BUS_VIRTIO_BLK, "--bus", ""},
        {SNIPPET_IGNORES_DIRECTSYNC, request->directsync, "--directsync",
         ": nothing here makes every write durable, the application has to ask for that"},
        {SNIPPET_IGNORES_VERSION, request->version[0] + request->version[1] > 0, "--target-version", ""},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (options[i].given && (ops->ignores & options[i].option) != 0)
            snippet_comment(writer, "%s is not used by %s%s", options[i].name, ops->name, options[i].instead);
    }
}

/* A stream into memory fails only where memory does. */
static int close_text(FILE *stream)
{
    bool failed = ferror(stream) != 0;
    return fclose(stream) != 0 || failed ? -ENOMEM : 0;
}

int snippet_make(const struct snippet_ops *ops, const struct snippet_request *request, char **ret_text,
                 char **ret_remarks, struct err *err)
{
    char *text = NULL, *remarks = NULL;
    size_t n_text = 0, n_remarks = 0;
    int result = -ENOMEM;
    if (request->n_more > 0 && !ops->takes_several)
        return err_set(err, -EINVAL,
                       "%zu answers were given, and this format takes one; leave the others out",
                       request->n_more + 1);
    struct snippet_writer writer = {.out = open_memstream(&text, &n_text),
                                    .remarks = open_memstream(&remarks, &n_remarks),
                                    .comments = ops->comments};
    if (writer.out != NULL && writer.remarks != NULL) {
        note_ignored(&writer, ops, request);
        result = ops->emit(&writer, request, err);
    } else
        err_set(err, -ENOMEM, "no memory for the snippet");
    if (writer.out != NULL && close_text(writer.out) < 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory for the snippet");
    if (writer.remarks != NULL && close_text(writer.remarks) < 0 && result == 0)
        result = err_set(err, -ENOMEM, "no memory for the snippet");
    if (result < 0) {
        free(text);
        free(remarks);
        return result;
    }
    *ret_text = text;
    *ret_remarks = remarks;
    return 0;
}
