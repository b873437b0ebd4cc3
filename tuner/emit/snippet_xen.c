/* fstune emit xen: a disk of an xl configuration file. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>
#include <string.h>

/* File systems on a disk of this host, and devices that are the network's in spite of it. O_DIRECT through
 * qdisk is not safe over a network: pages may be sent again after the guest has got them back. */
static const char *const local_file_systems[] = {"ext2", "ext3",     "ext4",  "xfs",      "btrfs", "f2fs",
                                                 "jfs",  "bcachefs", "nilfs", "reiserfs", "zfs"};
static const char *const network_devices[] = {"nbd", "rbd", "drbd"};

static bool is_local(const struct recommendation *recommendation)
{
    for (size_t i = 0; i < sizeof network_devices / sizeof network_devices[0]; i++) {
        if (strncmp(recommendation->device, network_devices[i], strlen(network_devices[i])) == 0)
            return false;
    }
    for (size_t i = 0; i < sizeof local_file_systems / sizeof local_file_systems[0]; i++) {
        if (strcmp(recommendation->file_system, local_file_systems[i]) == 0)
            return true;
    }
    return false;
}

/* target= takes the rest of the text, but what xl makes of it for a guest's emulated disk splits at commas;
 * quotes and backslashes are the configuration file's, and it knows no others. */
static int check(const struct snippet_request *request, struct err *err)
{
    int result = snippet_vm_no_directsync(request, "Xen's qdisk", err);
    if (result == 0 && request->bus != SNIPPET_BUS_VIRTIO_BLK)
        return err_set(err, -EINVAL, "Xen's disks are on its own paravirtual bus (xvda); leave out --bus %s",
                       snippet_bus_names[request->bus]);
    return result < 0 ? result : snippet_vm_check_whole_path(snippet_image_path(request), ",'\"\\[]", err);
}

static void note_cache(struct snippet_writer *writer, const struct snippet_request *request)
{
    const struct recommendation *recommendation = request->recommendation;
    if (!recommendation->point.direct)
        snippet_comment(writer, "qdisk without direct-io-safe: %s", snippet_cache_meaning(request));
    else if (is_local(recommendation))
        snippet_comment(
            writer,
            "direct-io-safe: %s. Take it out if the image lies on NFS, iSCSI or any other network "
            "storage, also below %s: it can crash the host there",
            snippet_cache_meaning(request), recommendation->file_system);
    else
        snippet_comment(
            writer,
            "not mapped: direct 1 - direct-io-safe is left out, because it is not known to be safe "
            "on %s%s%s (only on a file system on a local disk); qdisk then goes through the "
            "host's page cache: expect other figures than were measured",
            recommendation->file_system[0] != '\0' ? recommendation->file_system : "an unknown file system",
            recommendation->device[0] != '\0' ? " on " : "", recommendation->device);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    const struct recommendation *recommendation = request->recommendation;
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    note_cache(writer, request);
    snippet_guest_notes(writer, request);
    snippet_vm_note_api(writer, request, "the backend chooses");
    snippet_comment(writer,
                    "not mapped: bus %s - Xen has its own; the guest's rings are its own parameters "
                    "(xen-blkfront)",
                    snippet_bus_names[request->bus]);
    snippet_comment(writer,
                    "where: in the guest's xl configuration; merge with the disks that stand there. target= "
                    "stays last");
    fprintf(writer->out, "disk = [ 'format=%s,vdev=xvda,access=rw,backendtype=qdisk,%starget=%s' ]\n",
            snippet_image_names[request->image_format],
            recommendation->point.direct && is_local(recommendation) ? "direct-io-safe," : "",
            snippet_image_path(request));
    return 0;
}

const struct snippet_ops snippet_xen = {
    .name = "xen",
    .title = "a disk for an xl configuration file",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_PARTLY,
    .api = SNIPPET_SAYS_NOT,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "xl create --dryrun FILE (on a Xen host) prints the disk as understood",
    .emit = emit,
};
