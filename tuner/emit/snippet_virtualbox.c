/* fstune emit virtualbox: the host's page cache and the guest's flushes, as VBoxManage commands. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>

/* The key of a disk is known and documented for SATA and IDE only. A key of another controller would be
 * accepted, do nothing, and leave the guest's flushes ignored. */
static int check(const struct snippet_request *request, struct err *err)
{
    if (request->bus != SNIPPET_BUS_VIRTIO_BLK)
        return err_set(
            err, -EINVAL,
            "VirtualBox lets flushes through for disks of SATA and IDE controllers only; leave out "
            "--bus %s: the snippet is for SATA",
            snippet_bus_names[request->bus]);
    return snippet_vm_no_directsync(request, "VirtualBox", err);
}

static void print_commands(struct snippet_writer *writer, bool direct)
{
    snippet_comment(
        writer, "run these in a shell as the machine's owner while the machine is off; fill in its name, its "
                "SATA controller's (VBoxManage showvminfo NAME) and the disk's port there");
    fputs("vm='NAME'\ncontroller='SATA'\nport=0\n", writer->out);
    fprintf(writer->out, "VBoxManage storagectl \"$vm\" --name \"$controller\" --hostiocache %s\n",
            direct ? "off" : "on");
    snippet_comment(writer,
                    "by its documentation VirtualBox drops the guest's flushes unless told otherwise, and a "
                    "crash of the host then loses "
                    "what the guest calls durable; 0 lets them through. For IDE write piix3ide for ahci");
    fputs("VBoxManage setextradata \"$vm\" "
          "\"VBoxInternal/Devices/ahci/0/LUN#$port/Config/IgnoreFlush\" 0\n",
          writer->out);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    snippet_comment(writer, "host I/O cache %s: %s", request->recommendation->point.direct ? "off" : "on",
                    snippet_cache_meaning(request));
    snippet_guest_notes(writer, request);
    snippet_vm_note_api(
        writer, request,
        "without the host's cache VirtualBox uses asynchronous I/O, with it a thread of its own");
    snippet_comment(writer, "not mapped: bus %s - the lines are for a SATA controller",
                    snippet_bus_names[request->bus]);
    snippet_comment(writer,
                    "not mapped: image and its format - VBoxManage storageattach names the disk, which is "
                    "VDI, VMDK or VHD as a rule");
    print_commands(writer, request->recommendation->point.direct != 0);
    snippet_comment(writer,
                    "after the next start, IgnoreFlush must stand with value 0 under LUN#PORT/Config in the "
                    "machine's VBox.log; VBoxManage does not notice a wrong key");
    return 0;
}

const struct snippet_ops snippet_virtualbox = {
    .name = "virtualbox",
    .title = "VBoxManage commands for a machine that is off: host cache, and flushes let through",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_PARTLY,
    .api = SNIPPET_SAYS_NOT,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "sh -n FILE; after a start, grep IgnoreFlush in the machine's VBox.log",
    .emit = emit,
};
