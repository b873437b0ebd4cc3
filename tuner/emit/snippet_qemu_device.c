/* tuner/emit/snippet_qemu: IOThreads and devices, and the words of both forms. */
#include "tuner/emit/snippet_qemu.h"

#include "bench/base/units.h"

#include <string.h>

#define NVME_PAGE_BYTES 4096U
#define NVME_MDTS       7U /* QEMU's own: requests up to 512k */

/* -blockdev, queue-size and write-cache are all there from 2.12 on. */
const struct snippet_plan_product snippet_qemu_product = {.name = "QEMU",
                                                          .least = {2, 12},
                                                          .io_uring = {5, 0},
                                                          .queue_size = {2, 12},
                                                          .sizes_scsi_queue = true,
                                                          .mapping = {9, 0},
                                                          .mapping_name = "iothread-vq-mapping"};

static bool is_plain(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        bool alphanumeric = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        if (!alphanumeric && strchr("/._-+:@%=,", *c) == NULL)
            return false;
    }
    return true;
}

void snippet_qemu_path(FILE *out, const char *path)
{
    bool quoted = !is_plain(path);
    if (quoted)
        fputc('\'', out);
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == ',')
            fputs(",,", out);
        else if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
    if (quoted)
        fputc('\'', out);
}

void snippet_qemu_objects(FILE *out, const struct snippet_plan *plan)
{
    for (unsigned i = 0; i < plan->n_iothreads; i++)
        fprintf(out, "-object iothread,id=fst%u\n", i);
}

static const char *write_cache(const struct snippet_plan *plan)
{
    return plan->is_write_through ? "off" : "on";
}

/* Lists exist in the JSON form of -device only. */
static void print_mapped(FILE *out, const struct snippet_plan *plan)
{
    fputs("-device '{\"driver\":\"virtio-blk-pci\",\"drive\":\"fst-d0\",\"iothread-vq-mapping\":[", out);
    for (unsigned i = 0; i < plan->n_iothreads; i++)
        fprintf(out, "%s{\"iothread\":\"fst%u\"}", i > 0 ? "," : "", i);
    fprintf(out, "],\"num-queues\":%u,\"queue-size\":%u,\"write-cache\":\"%s\"}'\n", plan->n_iothreads,
            plan->queue_size, write_cache(plan));
}

static void print_scsi(FILE *out, const struct snippet_plan *plan)
{
    fprintf(out, "-device virtio-scsi-pci,id=fst-s0,iothread=fst0,virtqueue_size=%u,cmd_per_lun=%u\n",
            plan->queue_size, plan->commands);
    fprintf(out, "-device scsi-hd,bus=fst-s0.0,drive=fst-d0,write-cache=%s\n", write_cache(plan));
}

/* The largest transfer is a power of two of pages. */
static unsigned nvme_mdts(const struct snippet_request *request)
{
    unsigned mdts = NVME_MDTS;
    while (((uint64_t)NVME_PAGE_BYTES << mdts) < factors_largest_size_bytes(&request->recommendation->point))
        mdts++;
    return mdts;
}

void snippet_qemu_devices(FILE *out, const struct snippet_request *request, const struct snippet_plan *plan)
{
    if (request->bus == SNIPPET_BUS_VIRTIO_SCSI)
        print_scsi(out, plan);
    else if (request->bus == SNIPPET_BUS_NVME)
        fprintf(out, "-device nvme,drive=fst-d0,serial=fstune0,mdts=%u,write-cache=%s\n", nvme_mdts(request),
                write_cache(plan));
    else if (plan->n_iothreads > 1)
        print_mapped(out, plan);
    else
        fprintf(out, "-device virtio-blk-pci,drive=fst-d0,iothread=fst0,queue-size=%u,write-cache=%s\n",
                plan->queue_size, write_cache(plan));
}

void snippet_qemu_notes(struct snippet_writer *writer, const struct snippet_request *request,
                        const struct snippet_plan *plan)
{
    snippet_header(writer, request);
    snippet_plan_notes(writer, request, plan, &snippet_qemu_product);
    if (request->bus == SNIPPET_BUS_NVME)
        snippet_comment(writer, "QEMU's nvme has no IOThread: its main loop serves the disk");
    if (plan->n_iothreads > 1)
        snippet_comment(writer, "num-queues: at least one a thread; the guest's number of processors is good "
                                "where that is more");
    snippet_comment(writer, "options for qemu-system-*: add them to the command line, in this order, in the "
                            "place of the disk's own");
}
