/* fstune emit bhyve: a -s option of FreeBSD's hypervisor. */
#include "tuner/emit/snippet_vm.h"

#include <errno.h>

#define OPTION_SIZE (RECOMMENDATION_PATH_SIZE + 256)
#define RING_MOST   128U /* requests that its block layer queues for a disk; compiled in */
#define SLOTS_LEAST 8U   /* ioslots by default, and the threads that serve a disk */

/* A comma ends a value, with nothing to escape it; % begins a reference to another setting. */
static int check(const struct snippet_request *request, struct err *err)
{
    int result = snippet_vm_only_raw(request, "bhyve", err);
    if (result == 0 && request->bus == SNIPPET_BUS_VIRTIO_SCSI)
        return err_set(
            err, -EINVAL,
            "bhyve's virtio-scsi serves targets of ctl(4), not images; use --bus virtio-blk or nvme");
    return result < 0 ? result : snippet_vm_check_whole_path(snippet_image_path(request), ",%", err);
}

static unsigned io_slots(const struct snippet_request *request)
{
    uint64_t in_flight = snippet_vm_in_flight(request);
    if (in_flight < SLOTS_LEAST)
        return SLOTS_LEAST;
    return in_flight > RING_MOST ? RING_MOST : (unsigned)in_flight;
}

static void print_option(struct snippet_writer *writer, const struct snippet_request *request)
{
    char text[OPTION_SIZE], slots[32] = "";
    if (request->bus == SNIPPET_BUS_NVME)
        snprintf(slots, sizeof slots, ",ioslots=%u", io_slots(request));
    snprintf(text, sizeof text, "4,%s,%s%s%s%s", snippet_bus_names[request->bus], snippet_image_path(request),
             request->recommendation->point.direct ? ",nocache" : "", request->directsync ? ",direct" : "",
             slots);
    snippet_vm_print_option(writer, "-s", text);
}

static void note_names(struct snippet_writer *writer, const struct snippet_request *request)
{
    snippet_comment(writer, "cache: %s", snippet_cache_meaning(request));
    snippet_comment(
        writer, "beware of the names: nocache is O_DIRECT, direct is O_SYNC (every write durable before it "
                "counts; slower)");
    snippet_comment(
        writer, "bhyve runs on FreeBSD, measured was on Linux: the figures carry over as far as the storage "
                "is the same");
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    int result = check(request, err);
    if (result < 0)
        return result;
    snippet_header(writer, request);
    note_names(writer, request);
    snippet_guest_notes(writer, request);
    snippet_vm_note_api(writer, request, "eight threads with ordinary calls serve a disk, compiled in");
    snippet_vm_note_bound(writer, request, RING_MOST, "a disk's ring");
    snippet_comment(writer, "where: on bhyve's command line; 4 is the PCI slot, take one that is free");
    print_option(writer, request);
    return 0;
}

const struct snippet_ops snippet_bhyve = {
    .name = "bhyve",
    .title = "a -s option for the command line of bhyve (FreeBSD)",
    .comments = SNIPPET_COMMENTS_HASH,
    .request_size = SNIPPET_SAYS_NOT,
    .queue_depth = SNIPPET_SAYS_PARTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_NOT,
    .threads = SNIPPET_SAYS_NOT,
    .sync = SNIPPET_SAYS_PARTLY,
    .ignores = SNIPPET_IGNORES_VERSION,
    .hint = "bhyve -o config.dump=1 ... prints the options as understood",
    .emit = emit,
};
