/* tuner/emit/snippet_plan: see the header. */
#include "tuner/emit/snippet_plan.h"

#include "bench/base/units.h"
#include "bench/host/block_device.h"

#include <errno.h>
#include <inttypes.h>
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

static bool is_below(const char *path, const char *directory)
{
    return strncmp(path, directory, strlen(directory)) == 0;
}

static int look_at_image(struct snippet_plan *plan, const char *path, struct err *err)
{
    struct stat status, node;
    if (path[0] == '\0')
        return 0;
    if (stat(path, &status) != 0) {
        /* The machine that the lines are for may be another one. */
        plan->disk = is_below(path, "/dev/") && !is_below(path, "/dev/shm/") ? SNIPPET_PLAN_DEVICE
                                                                             : SNIPPET_PLAN_UNSEEN;
        return 0;
    }
    if (S_ISBLK(status.st_mode)) {
        plan->disk = SNIPPET_PLAN_DEVICE;
        plan->is_mapped = is_device_mapper(status.st_rdev);
        /* Links are made anew at every start by whom they lead to, nodes in the order of the search. */
        if (lstat(path, &node) == 0 && S_ISBLK(node.st_mode) && !plan->is_mapped)
            block_device_find_link(BLOCK_DEVICE_BY_ID, status.st_rdev, plan->by_id, sizeof plan->by_id);
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

/* Falls back from io_uring where it may be missing: a machine must start, if need be slower. */
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
    *plan = (struct snippet_plan){.n_iothreads = count_iothreads(request, product)};
    if (snippet_version_before(request, product->least[0], product->least[1]))
        return err_set(err, -EINVAL, "--target-version %u.%u: what is emitted needs %s %u.%u or later",
                       request->version[0], request->version[1], product->name, product->least[0],
                       product->least[1]);
    choose_engine(plan, request, product);
    size_queue(plan, request, product);
    return look_at_image(plan, request->image, err);
}

/* "" where the product never has it. */
static void set_version(struct snippet_template *run, const char *name, const unsigned version[2])
{
    snippet_value(run, name, "%s", "");
    if (version[0] > 0)
        snippet_value(run, name, "%u.%u", version[0], version[1]);
}

/* Each segment of a request takes an entry of the queue. */
static void set_largest(struct snippet_template *run, const struct snippet_plan *plan)
{
    char size[UNITS_TEXT_SIZE];
    uint64_t most =
        plan->entries > 0 ? (uint64_t)(plan->entries - RESERVED_ENTRIES) * SEGMENT_BYTES : UINT64_MAX;
    snippet_value(run, "most_size", "%s", units_format_size(most, size));
    snippet_value(run, "is_split", "%d",
                  factors_largest_size_bytes(&run->request->recommendation->point) > most);
}

void snippet_plan_set(struct snippet_template *run, const struct snippet_plan *plan,
                      const struct snippet_plan_product *product)
{
    static const char *const disks[] = {"unseen", "file", "device"};
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {
        {"sparse", plan->is_sparse},        {"too_old", plan->is_too_old}, {"forbidden", plan->is_forbidden},
        {"queue_size", plan->queue_size},   {"entries", plan->entries},    {"commands", plan->commands},
        {"n_iothreads", plan->n_iothreads},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        snippet_value(run, numbers[i].name, "%u", numbers[i].value);
    snippet_value(run, "disk", "%s", disks[plan->disk]);
    snippet_value(run, "by_id", "%s", plan->by_id);
    snippet_value(run, "aio", "%s", plan->aio);
    snippet_value(run, "product", "%s", product->name);
    set_version(run, "io_uring_version", product->io_uring);
    set_version(run, "mapping_version", product->mapping);
    snippet_value(run, "mapping_name", "%s", product->mapping_name != NULL ? product->mapping_name : "");
    set_largest(run, plan);
}
