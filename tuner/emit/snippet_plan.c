/* tuner/emit/snippet_plan: see the header. */
#include "tuner/emit/snippet_plan.h"

#include "bench/base/units.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SEGMENT_BYTES    4096U
#define RESERVED_ENTRIES 2U
#define QUEUE_DEFAULT    256U /* QEMU's own, from machine types 5.0 on */
#define COMMANDS_LEAST   128U /* QEMU's own cmd_per_lun */
#define BLOCK_BYTES      512U /* of st_blocks */

static bool is_device_mapper(dev_t device)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/dm", major(device), minor(device));
    return access(path, F_OK) == 0;
}

static int look(struct snippet_plan *plan, const char *path, struct err *err)
{
    struct stat status;
    if (path[0] == '\0' || stat(path, &status) != 0)
        return 0;
    if (S_ISBLK(status.st_mode)) {
        plan->disk = SNIPPET_PLAN_DEVICE;
        plan->is_mapped = is_device_mapper(status.st_rdev);
        return 0;
    }
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "--image %.200s is neither a file nor a block device; name the disk",
                       path);
    plan->disk = SNIPPET_PLAN_FILE;
    plan->is_sparse = (uint64_t)status.st_blocks * BLOCK_BYTES < (uint64_t)status.st_size;
    return 0;
}

const char *snippet_plan_fallback(const struct snippet_request *request)
{
    return request->recommendation->point.direct ? "native" : "threads";
}

/* The mapping is for a version that is known to have it. */
static unsigned count_iothreads(const struct snippet_request *request,
                                const struct snippet_plan_product *product)
{
    if (request->bus == SNIPPET_BUS_NVME)
        return 0;
    bool can_map = product->mapping[0] > 0 && request->version[0] > 0 &&
                   !snippet_version_before(request, product->mapping[0], product->mapping[1]);
    return can_map && request->bus == SNIPPET_BUS_VIRTIO_BLK ? request->recommendation->point.threads : 1;
}

static unsigned count_commands(const struct snippet_request *request, unsigned entries)
{
    const struct point *point = &request->recommendation->point;
    uint64_t commands = (uint64_t)point->queue_depth * point->threads;
    if (commands < COMMANDS_LEAST)
        return COMMANDS_LEAST;
    return commands > entries - RESERVED_ENTRIES ? entries - RESERVED_ENTRIES : (unsigned)commands;
}

static void size_queue(struct snippet_plan *plan, const struct snippet_request *request,
                       const struct snippet_plan_product *product)
{
    bool is_scsi = request->bus == SNIPPET_BUS_VIRTIO_SCSI;
    if (request->bus == SNIPPET_BUS_NVME)
        return;
    bool can_say = product->queue_size[0] > 0 && (!is_scsi || product->sizes_scsi_queue) &&
                   !snippet_version_before(request, product->queue_size[0], product->queue_size[1]);
    plan->queue_size = can_say ? snippet_queue_size(request, 1) : 0;
    plan->entries = can_say ? plan->queue_size : QUEUE_DEFAULT;
    if (is_scsi)
        plan->commands = count_commands(request, plan->entries);
}

/* A machine that does not start in the morning is worse than one that is slower. */
static void choose_engine(struct snippet_plan *plan, const struct snippet_request *request,
                          const struct snippet_plan_product *product)
{
    plan->aio = snippet_aio(request);
    if (strcmp(plan->aio, "io_uring") != 0)
        return;
    plan->is_too_old = snippet_version_before(request, product->io_uring[0], product->io_uring[1]);
    plan->is_forbidden = recommendation_fact_number(request->recommendation, "io_uring_disabled") > 0;
    if (plan->is_too_old || plan->is_forbidden)
        plan->aio = snippet_plan_fallback(request);
}

int snippet_plan_make(struct snippet_plan *plan, const struct snippet_request *request,
                      const struct snippet_plan_product *product, struct err *err)
{
    *plan = (struct snippet_plan){.cache = snippet_cache_mode(request),
                                  .n_iothreads = count_iothreads(request, product),
                                  .is_write_through = request->directsync};
    if (snippet_version_before(request, product->least[0], product->least[1]))
        return err_set(err, -EINVAL, "--target-version %u.%u: what is emitted needs %s %u.%u or later",
                       request->version[0], request->version[1], product->name, product->least[0],
                       product->least[1]);
    choose_engine(plan, request, product);
    size_queue(plan, request, product);
    return look(plan, request->image, err);
}

static void note_needs(struct snippet_writer *writer, const struct snippet_request *request,
                       const struct snippet_plan *plan, const struct snippet_plan_product *product)
{
    if (plan->is_forbidden)
        snippet_comment(writer,
                        "the measured host keeps io_uring to privileged processes (kernel.io_uring_disabled "
                        "is not 0): %s stands here instead",
                        plan->aio);
    else if (plan->is_too_old)
        snippet_comment(writer, "io_uring needs %s %u.%u or later: %s stands here instead", product->name,
                        product->io_uring[0], product->io_uring[1], plan->aio);
    if (strcmp(plan->aio, "io_uring") == 0)
        snippet_comment(writer,
                        "needs: %s %u.%u or later, and io_uring in the host's QEMU and kernel "
                        "(kernel.io_uring_disabled = 0)",
                        product->name, product->io_uring[0], product->io_uring[1]);
    if (plan->n_iothreads > 1)
        snippet_comment(writer, "needs: %s %u.%u or later (%s)", product->name, product->mapping[0],
                        product->mapping[1], product->mapping_name);
    else if (request->recommendation->point.threads > 1 && product->mapping[0] > 0 &&
             request->bus == SNIPPET_BUS_VIRTIO_BLK)
        snippet_comment(writer,
                        "one IOThread serves the disk; %s %u.%u and later can spread its queues over "
                        "several, emitted with --target-version %u.%u",
                        product->name, product->mapping[0], product->mapping[1], product->mapping[0],
                        product->mapping[1]);
}

static void note_image(struct snippet_writer *writer, const struct snippet_request *request,
                       const struct snippet_plan *plan)
{
    if (request->image[0] == '\0')
        snippet_comment(writer, "put the path of the image in the place of the one here (or use --image)");
    else if (plan->disk == SNIPPET_PLAN_UNSEEN)
        snippet_comment(writer, "the image cannot be seen from here: taken for a file, not a block device");
    if (plan->is_sparse && strcmp(plan->aio, "native") == 0)
        snippet_comment(writer,
                        "the image is sparse, and native can block the guest while blocks are allocated: "
                        "preallocate it (fallocate, or qemu-img create -o preallocation=falloc)");
    if (request->image_format == SNIPPET_IMAGE_QCOW2)
        snippet_comment(writer, "qcow2 writes tables of its own, which were not measured; with -o "
                                "preallocation=falloc a new image writes the fewest");
}

/* Each segment of a request takes an entry of the queue. */
static void note_split(struct snippet_writer *writer, const struct snippet_request *request,
                       const struct snippet_plan *plan)
{
    char size[UNITS_TEXT_SIZE];
    if (plan->entries == 0)
        return;
    uint64_t most = (uint64_t)(plan->entries - RESERVED_ENTRIES) * SEGMENT_BYTES;
    if (factors_largest_size_bytes(&request->recommendation->point) > most)
        snippet_comment(
            writer, "requests above %s can be split: a queue of %u holds that much in pages of 4k, and %s",
            units_format_size(most, size), plan->entries,
            plan->queue_size > 0 ? "a larger one is not legal" : "its size cannot be said here");
}

void snippet_plan_notes(struct snippet_writer *writer, const struct snippet_request *request,
                        const struct snippet_plan *plan, const struct snippet_plan_product *product)
{
    snippet_comment(writer, "cache mode %s: %s", plan->cache, snippet_cache_meaning(request));
    if (request->directsync)
        snippet_comment(writer, "durable writes are a flush behind each one, not O_DSYNC: slower than "
                                "what was measured");
    if (!request->recommendation->point.direct)
        snippet_comment(writer, "do not migrate a running guest over shared storage with the host's cache in "
                                "between");
    snippet_machine_notes(writer, request);
    note_needs(writer, request, plan, product);
    note_split(writer, request, plan);
    note_image(writer, request, plan);
    snippet_comment(writer, "not measured, keep yours: discard, serial, boot order, limits");
}
