/* Facts of the file, the device and the machine. */
#include "tuner/session/warnings.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo.h"

#include <math.h>

#define IDLE_NS (CLOCK_NS_PER_S / 10)

void target_facts_init(struct target_facts *target_facts)
{
    *target_facts = (struct target_facts){.stack.free_share = NAN, .growth_per_gib = NAN};
    target_facts->idle = (struct run_monitor_idle){
        .device_read_bps = NAN,
        .device_written_bps = NAN,
        .device_busy_share = NAN,
        .in_flight_mean = NAN,
        .own_bytes = NAN,
        .psi_io_some_share = NAN,
        .psi_io_some_avg10_share = NAN,
        .steal_share = NAN,
        .machine_busy_share = NAN,
        .load1_per_cpu = NAN,
    };
}

/* A user's file may have grown since; what others have of a file is not ours. */
static int extents_of_target(const struct target *target, struct extents *ret_extents)
{
    return extents_of(target->fd, target->base_bytes, target->owned ? target_file_bytes(target) : 0,
                      ret_extents);
}

void target_facts_collect(struct target_facts *target_facts, const struct target *target,
                          const struct hostinfo_device *device)
{
    target_facts_init(target_facts);
    target_facts->existing = !target->owned;
    target_facts->file_bytes = target->size_bytes;
    storage_stack_of(target->fd, &target_facts->stack);
    if (extents_of_target(target, &target_facts->extents) < 0)
        target_facts->extents = (struct extents){0};
    /* fstune's own data are random: looking at them would only fill the cache. */
    target_facts->compressibility_known =
        target_facts->existing && compressibility_of(target->fd, &target_facts->compressibility) == 0;
    target_facts->free_pages_taken = hostinfo_free_pages_are_taken();
    run_monitor_idle(device, IDLE_NS, &target_facts->idle);
}

void target_facts_finish(struct target_facts *target_facts, const struct target *target)
{
    struct extents after;
    if (target_facts->extents.fiemap_known && target->writable && extents_of_target(target, &after) == 0)
        target_facts->growth_per_gib = extents_growth_per_gib(&target_facts->extents, &after);
}
