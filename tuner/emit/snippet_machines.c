/* tuner/emit/snippet: QEMU and its managers: their versions, and what their templates leave to C. */
#include "tuner/emit/snippet_plan.h"
#include "tuner/emit/snippet_template.h"

#include <errno.h>
#include <string.h>

#define NVME_PAGE_BYTES 4096U
#define NVME_MDTS       7U /* QEMU's own: requests up to 512k */

/* -blockdev, queue-size and write-cache are all there from 2.12 on. */
static const struct snippet_plan_product qemu = {.name = "QEMU",
                                                 .least = {2, 12},
                                                 .io_uring = {5, 0},
                                                 .queue_size = {2, 12},
                                                 .sizes_scsi_queue = true,
                                                 .mapping = {9, 0},
                                                 .mapping_name = "iothread-vq-mapping"};

/* The controller's iothread is the youngest part that is always emitted. */
static const struct snippet_plan_product libvirt = {.name = "libvirt",
                                                    .least = {1, 3},
                                                    .io_uring = {6, 3},
                                                    .queue_size = {7, 8},
                                                    .mapping = {10, 0},
                                                    .mapping_name = "<iothreads> in <driver>, with QEMU 9.0"};

/* Proxmox VE's own versions; a queue's size and several IOThreads for a disk are not among its fields. */
static const struct snippet_plan_product proxmox = {
    .name = "Proxmox VE", .least = {4, 0}, .io_uring = {7, 0}};

static int set_plan(struct snippet_template *run, struct snippet_plan *plan,
                    const struct snippet_plan_product *product)
{
    int result = snippet_plan_make(plan, run->request, product, run->err);
    if (result == 0)
        snippet_plan_set(run, plan, product);
    return result;
}

/* The largest transfer is a power of two of pages. */
static unsigned nvme_mdts(const struct snippet_request *request)
{
    unsigned mdts = NVME_MDTS;
    while (((uint64_t)NVME_PAGE_BYTES << mdts) < factors_largest_size_bytes(&request->recommendation->point))
        mdts++;
    return mdts;
}

int snippet_own_qemu(struct snippet_template *run)
{
    struct snippet_plan plan;
    char mapping[FACTORS_THREADS_MAX * 24] = "";
    int result = set_plan(run, &plan, &qemu);
    size_t length = 0;
    for (unsigned i = 0; result == 0 && i < plan.n_iothreads && i < FACTORS_THREADS_MAX; i++)
        length += (size_t)snprintf(mapping + length, sizeof mapping - length, "%s{\"iothread\":\"fst%u\"}",
                                   i > 0 ? "," : "", i);
    snippet_value(run, "mapping", "%s", mapping);
    snippet_value(run, "mdts", "%u", nvme_mdts(run->request));
    return result;
}

int snippet_own_libvirt(struct snippet_template *run)
{
    struct snippet_plan plan;
    if (run->request->self_tuning && strstr(run->request->image, "--") != NULL)
        return err_set(
            run->err, -EINVAL,
            "--image %.200s: the line of nbdkit stands in a comment, where XML allows no two dashes; "
            "rename or link the file",
            run->request->image);
    return set_plan(run, &plan, &libvirt);
}

/* "STORAGE:VOLUME", as pvesm list prints it. */
static bool is_volume(const char *text)
{
    size_t storage = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    return storage > 0 && text[storage] == ':' && text[storage + 1] != '\0';
}

static int check_volume(const char *image, struct err *err)
{
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

int snippet_own_proxmox(struct snippet_template *run)
{
    const struct snippet_request *request = run->request;
    struct snippet_plan plan;
    int result = check_volume(request->image, run->err);
    if (result == 0)
        result = set_plan(run, &plan, &proxmox);
    if (result < 0)
        return result;
    const char *storage = unsafe_storage(request, &plan);
    bool avoids = strcmp(plan.aio, "io_uring") == 0 && storage != NULL;
    snippet_value(run, "avoided", "%s", avoids ? storage : "");
    if (avoids)
        snippet_value(run, "aio", "%s", snippet_plan_fallback(request));
    /* A volume's name is no path: nothing is to be seen. */
    if (is_volume(request->image))
        snippet_value(run, "disk", "file");
    return 0;
}
