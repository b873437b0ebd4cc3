/* Facts of the file, the device and the machine. */
#include "tuner/session/ground.h"

#include "bench/base/clock.h"
#include "bench/host/hostinfo.h"

#include <math.h>

#define IDLE_NS (CLOCK_NS_PER_S / 10)

void ground_collect(struct doubts_ground *ground, const struct target *target,
                    const struct hostinfo_device *device)
{
    doubts_ground_init(ground);
    ground->existing = !target->owned;
    ground->file_bytes = target->size_bytes;
    medium_of(target->fd, &ground->medium);
    if (extents_of(target->fd, &ground->extents) < 0)
        ground->extents = (struct extents){0};
    /* fstune's own data are random: looking at them would only fill the cache. */
    ground->content_known = ground->existing && content_of(target->fd, &ground->content) == 0;
    ground->free_pages_taken = hostinfo_free_pages_are_taken();
    watch_idle(device, IDLE_NS, &ground->idle);
}

void ground_finish(struct doubts_ground *ground, const struct target *target)
{
    struct extents after;
    if (ground->extents.fiemap_known && target->writable && extents_of(target->fd, &after) == 0)
        ground->growth_per_gib = extents_growth_per_gib(&ground->extents, &after);
}
