/* fstune emit libvirt: the elements of a domain that the disk needs, each in its place. */
#include "tuner/emit/snippet_plan.h"

#include <errno.h>

/* The controller's iothread is the youngest part that is always emitted. */
static const struct snippet_plan_product product = {.name = "libvirt",
                                                    .least = {1, 3},
                                                    .io_uring = {6, 3},
                                                    .queue_size = {7, 8},
                                                    .mapping = {10, 0},
                                                    .mapping_name = "<iothreads> in <driver>, with QEMU 9.0"};

static int check(const struct snippet_request *request, struct err *err)
{
    const char *path = snippet_image_path(request);
    if (request->bus == SNIPPET_BUS_NVME)
        return err_set(err, -EINVAL,
                       "--bus nvme: libvirt has no attributes for what was measured on such a disk; use "
                       "virtio-blk or virtio-scsi, or emit qemu");
    if (path[0] != '/')
        return err_set(err, -EINVAL, "--image %.200s: libvirt takes absolute paths only", path);
    int result = snippet_check_path(path, "", err);
    return result < 0 ? result : snippet_check_utf8(path, err);
}

static void print_iothreads(FILE *out, const struct snippet_plan *plan)
{
    fputs(">\n        <iothreads>\n", out);
    for (unsigned i = 1; i <= plan->n_iothreads; i++)
        fprintf(out, "          <iothread id='%u'/>\n", i);
    fputs("        </iothreads>\n      </driver>\n", out);
}

/* Of a SCSI disk the thread and the queue belong to the controller. */
static void print_driver(FILE *out, const struct snippet_request *request, const struct snippet_plan *plan)
{
    fprintf(out, "      <driver name='qemu' type='%s' cache='%s' io='%s'",
            snippet_image_names[request->image_format], plan->cache, plan->aio);
    if (request->bus != SNIPPET_BUS_VIRTIO_BLK) {
        fputs("/>\n", out);
        return;
    }
    if (plan->n_iothreads > 1)
        fprintf(out, " queues='%u'", plan->n_iothreads);
    if (plan->queue_size > 0)
        fprintf(out, " queue_size='%u'", plan->queue_size);
    if (plan->n_iothreads > 1)
        print_iothreads(out, plan);
    else
        fputs(" iothread='1'/>\n", out);
}

static void print_disk(FILE *out, const struct snippet_request *request, const struct snippet_plan *plan)
{
    bool is_device = plan->disk == SNIPPET_PLAN_DEVICE, is_scsi = request->bus == SNIPPET_BUS_VIRTIO_SCSI;
    fprintf(out, "    <disk type='%s' device='disk'>\n", is_device ? "block" : "file");
    print_driver(out, request, plan);
    fprintf(out, "      <source %s='", is_device ? "dev" : "file");
    snippet_escape_xml(out, snippet_image_path(request));
    fprintf(out, "'/>\n      <target dev='%s' bus='%s'/>\n", is_scsi ? "sda" : "vda",
            is_scsi ? "scsi" : "virtio");
    if (is_scsi)
        fputs("      <address type='drive' controller='0'/>\n", out);
    fputs("    </disk>\n", out);
}

static void print_fragment(struct snippet_writer *writer, const struct snippet_request *request,
                           const struct snippet_plan *plan)
{
    FILE *out = writer->out;
    fputs("<domain>\n", out);
    snippet_comment(writer, "directly in your <domain>; where it has the element already, the larger number");
    fprintf(out, "  <iothreads>%u</iothreads>\n  <devices>\n", plan->n_iothreads);
    if (request->bus == SNIPPET_BUS_VIRTIO_SCSI) {
        snippet_comment(writer, "in <devices>, in the place of the controller that the disk hangs on");
        fprintf(out,
                "    <controller type='scsi' index='0' model='virtio-scsi'>\n"
                "      <driver iothread='1' cmd_per_lun='%u'/>\n    </controller>\n",
                plan->commands);
    }
    snippet_comment(writer, "in <devices>; of a disk that is there already replace <driver> alone");
    print_disk(out, request, plan);
    fputs("  </devices>\n</domain>\n", out);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    struct snippet_plan plan;
    int result = check(request, err);
    if (result == 0)
        result = snippet_plan_make(&plan, request, &product, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_plan_notes(writer, request, &plan, &product);
    if (request->bus == SNIPPET_BUS_VIRTIO_SCSI)
        snippet_comment(writer, "not mapped: the queue's size of a SCSI controller - QEMU's own holds");
    snippet_comment(writer, "parts of a domain, not a whole one: virsh edit NAME, then power the guest off "
                            "and on (a reboot inside does not do)");
    print_fragment(writer, request, &plan);
    return 0;
}

const struct snippet_ops snippet_libvirt = {
    .name = "libvirt",
    .title = "libvirt's <iothreads>, <disk> and SCSI <controller>, for virsh edit",
    .comments = SNIPPET_COMMENTS_XML,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_PARTLY,
    .sync = SNIPPET_SAYS_PARTLY,
    .hint = "in virsh edit NAME, which refuses what it cannot read; then virsh domxml-to-native qemu-argv "
            "--domain NAME",
    .emit = emit,
};
