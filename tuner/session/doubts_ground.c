/* Rules about the file, the device and the machine. */
#include "tuner/session/doubts.h"

#include <math.h>

/* A user's file may end in a hole of less than a block, or hold a few preallocated ones. */
#define HOLE_SHARE 0.01
/* Files of text inside an image of random data do not matter; a tenth moves figures beyond the tolerance. */
#define COMPRESSIBLE_SHARE 0.1
#define DUPLICATE_SHARE    0.1
#define FREE_SHARE         0.05
/* A jump per block group is normal: some 8 per GiB. */
#define GROWTH_PER_GIB 64
/* On a quiet device 100 ms see a log written or a journal committed, not more. */
#define IDLE_BPS 16e6
/* A commit of the journal makes a task wait for some 10 ms of the 100. */
#define IDLE_PRESSURE 0.30
#define IDLE_STEAL    0.10

struct ground_facts {
    const struct doubts_asked *asked;
    const struct doubts_ground *ground;
};

static bool has_share(const struct doubts_ground *ground, uint64_t bytes)
{
    return ground->existing && (double)bytes > HOLE_SHARE * (double)ground->extents.size_bytes;
}

static bool existing_has_holes(const struct ground_facts *facts)
{
    const struct extents *extents = &facts->ground->extents;
    return extents->holes_known && has_share(facts->ground, extents->hole_bytes);
}

static bool existing_has_unwritten(const struct ground_facts *facts)
{
    const struct extents *extents = &facts->ground->extents;
    return extents->fiemap_known && has_share(facts->ground, extents->unwritten_bytes);
}

/* Encrypted extents are told as encoded too, but are as long as their data. */
static bool existing_compressed(const struct ground_facts *facts)
{
    const struct doubts_ground *ground = facts->ground;
    return ground->extents.fiemap_known && !ground->medium.encrypted &&
           has_share(ground, ground->extents.encoded_bytes);
}

/* fstune's own file is random data, which nothing compresses. */
static bool compressible_data(const struct ground_facts *facts)
{
    const struct doubts_ground *ground = facts->ground;
    const struct content *content = &ground->content;
    if (!ground->existing || !ground->content_known)
        return false;
    return (ground->medium.compresses && content->compressible_share > COMPRESSIBLE_SHARE) ||
           (ground->medium.may_deduplicate && content->duplicate_share > DUPLICATE_SHARE);
}

static bool memory_backed_loop(const struct ground_facts *facts)
{
    return facts->ground->medium.loop && !facts->ground->medium.loop_direct_io;
}

static bool memory_backed(const struct ground_facts *facts)
{
    return facts->ground->medium.in_memory;
}

static bool file_fits_device_cache(const struct ground_facts *facts)
{
    return facts->ground->medium.virtual_disk && facts->asked->cold && pattern_reads(&facts->asked->pattern);
}

static bool nearly_full(const struct ground_facts *facts)
{
    const struct medium *medium = &facts->ground->medium;
    return medium->space_known && medium->free_share < FREE_SHARE;
}

static bool fragmented(const struct ground_facts *facts)
{
    return facts->ground->growth_per_gib > GROWTH_PER_GIB;
}

static bool neighbour_busy(const struct ground_facts *facts)
{
    const struct watch_idle *idle = &facts->ground->idle;
    return idle->device_read_bps > IDLE_BPS || idle->device_written_bps > IDLE_BPS ||
           idle->psi_io_some_share > IDLE_PRESSURE;
}

static bool steal(const struct ground_facts *facts)
{
    return facts->ground->idle.steal_share > IDLE_STEAL;
}

static const struct {
    enum doubt doubt;
    bool (*fires)(const struct ground_facts *facts);
} ground_rules[] = {
    {DOUBT_EXISTING_HAS_HOLES, existing_has_holes},
    {DOUBT_EXISTING_HAS_UNWRITTEN, existing_has_unwritten},
    {DOUBT_EXISTING_COMPRESSED, existing_compressed},
    {DOUBT_COMPRESSIBLE_DATA, compressible_data},
    {DOUBT_MEMORY_BACKED_LOOP, memory_backed_loop},
    {DOUBT_MEMORY_BACKED, memory_backed},
    {DOUBT_FILE_FITS_DEVICE_CACHE, file_fits_device_cache},
    {DOUBT_NEARLY_FULL, nearly_full},
    {DOUBT_FRAGMENTED, fragmented},
    {DOUBT_NEIGHBOUR_BUSY, neighbour_busy},
    {DOUBT_STEAL, steal},
};

void doubts_ground_init(struct doubts_ground *ground)
{
    *ground = (struct doubts_ground){.medium.free_share = NAN, .growth_per_gib = NAN};
    ground->idle = (struct watch_idle){
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

uint64_t doubts_of_ground(const struct doubts_asked *asked, const struct doubts_ground *ground)
{
    const struct ground_facts facts = {asked, ground};
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof ground_rules / sizeof ground_rules[0]; i++) {
        if (ground_rules[i].fires(&facts))
            set |= DOUBTS_BIT(ground_rules[i].doubt);
    }
    return set;
}
