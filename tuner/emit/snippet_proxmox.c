/* fstune emit proxmox: a drive's property string, as `qm set` and the VM's configuration take it. */
#include "tuner/emit/snippet_plan.h"

#include <errno.h>
#include <string.h>

#define PLACEHOLDER "STORAGE:vm-VMID-disk-0"

/* Proxmox VE's own versions; a queue's size and several IOThreads for a disk are not among its fields. */
static const struct snippet_plan_product product = {
    .name = "Proxmox VE", .least = {4, 0}, .io_uring = {7, 0}, .mapping = {0, 0}};

/* "STORAGE:VOLUME", as pvesm list prints it. */
static bool is_volume(const char *text)
{
    size_t storage = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return storage > 0 && text[storage] == ':' && text[storage + 1] != '\0';
}

static int check(const struct snippet_request *request, struct err *err)
{
    const char *image = request->image;
    if (request->bus == SNIPPET_BUS_NVME)
        return err_set(err, -EINVAL,
                       "--bus nvme: Proxmox VE has no such disks; use virtio-scsi or virtio-blk");
    if (image[0] == '\0')
        return 0;
    if (image[0] != '/' && !is_volume(image))
        return err_set(err, -EINVAL,
                       "--image %.200s: Proxmox VE takes STORAGE:VOLUME (as pvesm list prints it) or an "
                       "absolute path",
                       image);
    /* Of a volume the colon behind the storage is the only one. */
    const char *rest = image[0] == '/' ? image : strchr(image, ':') + 1;
    return snippet_check_path(rest, ",: \"\\", err);
}

static const char *slot_name(const struct snippet_request *request)
{
    return request->bus == SNIPPET_BUS_VIRTIO_SCSI ? "scsi0" : "virtio0";
}

/* On these storages io_uring hangs guests: Proxmox VE itself does not choose it there. */
static const char *unsafe_storage(const struct snippet_request *request, const struct snippet_plan *plan)
{
    const char *file_system = request->recommendation->file_system;
    if (plan->is_mapped)
        return "LVM";
    if (strcmp(file_system, "cifs") == 0 || strcmp(file_system, "smb3") == 0)
        return "CIFS";
    return NULL;
}

/* Returns the storage's kind where io_uring was taken back, NULL where it stands. */
static const char *avoid_io_uring(const struct snippet_request *request, struct snippet_plan *plan)
{
    const char *storage = unsafe_storage(request, plan);
    if (strcmp(plan->aio, "io_uring") != 0 || storage == NULL)
        return NULL;
    plan->aio = snippet_plan_fallback(request);
    return storage;
}

static void note_storage(struct snippet_writer *writer, const struct snippet_request *request,
                         const struct snippet_plan *plan, const char *avoided)
{
    if (avoided != NULL)
        snippet_comment(writer, "io_uring can hang guests on %s: aio=%s instead", avoided, plan->aio);
    if (strcmp(plan->aio, "io_uring") == 0)
        snippet_comment(
            writer, "on storage of type LVM, CIFS%s write aio=%s instead: io_uring can hang guests there",
            request->recommendation->point.direct ? "" : " or krbd", snippet_plan_fallback(request));
    snippet_comment(writer, "not mapped: the queue's size - Proxmox VE has no field for it");
    snippet_comment(writer,
                    "put the VM's number for VMID, and its disk's slot for %s; qm set replaces the "
                    "whole line, so add the fields that are there now (qm config VMID): size=, ssd=, "
                    "discard=, backup=, serial=; the guest is to be shut down and started again",
                    slot_name(request));
}

/* A part with an equals sign would be read as a field of that name: the field's name is then said. */
static void format_drive(char *text, size_t size, const struct snippet_request *request,
                         const struct snippet_plan *plan)
{
    const char *volume = request->image[0] != '\0' ? request->image : PLACEHOLDER;
    bool is_path = volume[0] == '/';
    /* A volume's name says its format, a path is taken for raw. */
    snprintf(text, size, "%s%s%s%s,cache=%s,aio=%s,iothread=1", strchr(volume, '=') != NULL ? "file=" : "",
             volume, is_path ? ",format=" : "", is_path ? snippet_image_names[request->image_format] : "",
             plan->cache, plan->aio);
}

static void print_lines(struct snippet_writer *writer, const struct snippet_request *request,
                        const struct snippet_plan *plan)
{
    char drive[RECOMMENDATION_PATH_SIZE + 128];
    bool is_scsi = request->bus == SNIPPET_BUS_VIRTIO_SCSI;
    format_drive(drive, sizeof drive, request, plan);
    snippet_comment(
        writer, "%sin /etc/pve/qemu-server/VMID.conf:", is_scsi ? "with scsihw: virtio-scsi-single, " : "");
    snippet_comment(writer, "%s: %s", slot_name(request), drive);
    fprintf(writer->out, "qm set VMID %s--%s ", is_scsi ? "--scsihw virtio-scsi-single " : "",
            slot_name(request));
    snippet_escape_shell(writer->out, drive);
    fputc('\n', writer->out);
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    struct snippet_plan plan;
    int result = check(request, err);
    if (result == 0)
        result = snippet_plan_make(&plan, request, &product, err);
    if (result < 0)
        return result;
    if (is_volume(request->image))
        plan.disk = SNIPPET_PLAN_FILE; /* not a path: nothing to be seen */
    const char *avoided = avoid_io_uring(request, &plan);
    snippet_header(writer, request);
    snippet_plan_notes(writer, request, &plan, &product);
    note_storage(writer, request, &plan, avoided);
    print_lines(writer, request, &plan);
    return 0;
}

const struct snippet_ops snippet_proxmox = {
    .name = "proxmox",
    .title = "Proxmox VE's qm set, and the line of VMID.conf",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_NOT,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_PARTLY,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .hint = "qm config VMID, and qm showcmd VMID --pretty",
    .emit = emit,
};
