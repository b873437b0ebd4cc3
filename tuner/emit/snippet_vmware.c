/* fstune emit vmware: what a guest on VMware can be told; most of it is the hypervisor's own. */
#include "tuner/emit/snippet_vm.h"

/* Of Linux's vmw_pvscsi: requests of one disk, and pages of the adapter's ring for 1024 requests. */
#define DISK_MOST  254U
#define RING_PAGES 32U

static void print_parameters(struct snippet_writer *writer)
{
    snippet_comment(writer,
                    "for the guest's kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub), not for "
                    "the host; or in /etc/modprobe.d: options vmw_pvscsi cmd_per_lun=%u ring_pages=%u",
                    DISK_MOST, RING_PAGES);
    fprintf(writer->out, "vmw_pvscsi.cmd_per_lun=%u vmw_pvscsi.ring_pages=%u\n", DISK_MOST, RING_PAGES);
    snippet_comment(
        writer, "one disk still takes %u at once: spread the load over several disks of the adapter for more",
        DISK_MOST);
}

static void print_depth(struct snippet_writer *writer, const struct snippet_request *request)
{
    uint64_t in_flight = snippet_vm_in_flight(request);
    if (request->bus == SNIPPET_BUS_NVME)
        snippet_comment(writer,
                        "nothing to set: no parameter of a virtual NVMe controller's queues is documented");
    else if (in_flight <= DISK_MOST)
        snippet_comment(
            writer,
            "nothing to set in the guest: pvscsi takes %u requests of a disk by default, %llu were "
            "measured",
            DISK_MOST, (unsigned long long)in_flight);
    else
        print_parameters(writer);
}

static void print_host(struct snippet_writer *writer, const struct snippet_request *request)
{
    snippet_comment(writer,
                    "ESXi host: a device takes 32 requests of a machine while several compete "
                    "(esxcli storage core device set -d DEVICE -O N); VMware advises against changing it");
    snippet_comment(
        writer,
        "Fusion only, in the .vmx file, where the setting is called Hard disk buffering: "
        "hard-disk.hostBuffer = \"%s\"; nothing of the kind is documented for Workstation and ESXi",
        request->recommendation->point.direct ? "disabled" : "enabled");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    int result = snippet_vm_no_directsync(request, "VMware", err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_guest_notes(writer, request);
    snippet_comment(writer,
                    "not mapped: direct %u - no caching of the host is settable for Workstation and ESXi",
                    request->recommendation->point.direct);
    snippet_vm_note_api(writer, request, "VMware has its own");
    snippet_comment(
        writer, "not mapped: image, its format and the bus - the .vmx file names a .vmdk and its adapter");
    print_host(writer, request);
    print_depth(writer, request);
    return 0;
}

const struct snippet_ops snippet_vmware = {
    .name = "vmware",
    .title = "boot parameters of a Linux guest where the depth needs them, else comments alone",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_NOT,
    .api = SNIPPET_SAYS_NOT,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_NOT,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "in the guest: cat /sys/module/vmw_pvscsi/parameters/{cmd_per_lun,ring_pages}",
    .emit = emit,
};
