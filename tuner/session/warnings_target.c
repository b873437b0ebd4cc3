/* Rules about the file, the device and the machine. */
#include "tuner/session/warnings.h"

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

struct target_fact {
    const struct warnings_asked *asked;
    const struct target_facts *target_facts;
};

static bool has_share(const struct target_facts *target_facts, uint64_t bytes)
{
    return target_facts->existing && (double)bytes > HOLE_SHARE * (double)target_facts->extents.size_bytes;
}

static bool existing_has_holes(const struct target_fact *facts)
{
    const struct extents *extents = &facts->target_facts->extents;
    return extents->holes_known && has_share(facts->target_facts, extents->hole_bytes);
}

static bool existing_has_unwritten(const struct target_fact *facts)
{
    const struct extents *extents = &facts->target_facts->extents;
    return extents->fiemap_known && has_share(facts->target_facts, extents->unwritten_bytes);
}

/* Encrypted extents are told as encoded too, but are as long as their data. */
static bool existing_compressed(const struct target_fact *facts)
{
    const struct target_facts *target_facts = facts->target_facts;
    return target_facts->extents.fiemap_known && !target_facts->stack.encrypted &&
           has_share(target_facts, target_facts->extents.encoded_bytes);
}

/* fstune's own file is random data, which nothing compresses. */
static bool compressible_data(const struct target_fact *facts)
{
    const struct target_facts *target_facts = facts->target_facts;
    const struct compressibility *compressibility = &target_facts->compressibility;
    if (!target_facts->existing || !target_facts->compressibility_known)
        return false;
    return (target_facts->stack.compresses && compressibility->compressible_share > COMPRESSIBLE_SHARE) ||
           (target_facts->stack.may_deduplicate && compressibility->duplicate_share > DUPLICATE_SHARE);
}

static bool memory_backed_loop(const struct target_fact *facts)
{
    return facts->target_facts->stack.loop && !facts->target_facts->stack.loop_direct_io;
}

static bool memory_backed(const struct target_fact *facts)
{
    return facts->target_facts->stack.in_memory;
}

static bool file_fits_device_cache(const struct target_fact *facts)
{
    return facts->target_facts->stack.virtual_disk && facts->asked->cold &&
           pattern_reads(&facts->asked->pattern);
}

static bool nearly_full(const struct target_fact *facts)
{
    return facts->target_facts->stack.free_share < FREE_SHARE;
}

static bool fragmented(const struct target_fact *facts)
{
    return facts->target_facts->growth_per_gib > GROWTH_PER_GIB;
}

static bool neighbour_busy(const struct target_fact *facts)
{
    const struct run_monitor_idle *idle = &facts->target_facts->idle;
    return idle->device_read_bps > IDLE_BPS || idle->device_written_bps > IDLE_BPS ||
           idle->psi_io_some_share > IDLE_PRESSURE;
}

static bool steal(const struct target_fact *facts)
{
    return facts->target_facts->idle.steal_share > IDLE_STEAL;
}

static const struct {
    enum warning warning;
    bool (*fires)(const struct target_fact *facts);
} target_rules[] = {
    {WARNING_EXISTING_HAS_HOLES, existing_has_holes},
    {WARNING_EXISTING_HAS_UNWRITTEN, existing_has_unwritten},
    {WARNING_EXISTING_COMPRESSED, existing_compressed},
    {WARNING_COMPRESSIBLE_DATA, compressible_data},
    {WARNING_MEMORY_BACKED_LOOP, memory_backed_loop},
    {WARNING_MEMORY_BACKED, memory_backed},
    {WARNING_FILE_FITS_DEVICE_CACHE, file_fits_device_cache},
    {WARNING_NEARLY_FULL, nearly_full},
    {WARNING_FRAGMENTED, fragmented},
    {WARNING_NEIGHBOUR_BUSY, neighbour_busy},
    {WARNING_STEAL, steal},
};

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

uint64_t warnings_of_target(const struct warnings_asked *asked, const struct target_facts *target_facts)
{
    const struct target_fact facts = {asked, target_facts};
    uint64_t set = 0;
    for (size_t i = 0; i < sizeof target_rules / sizeof target_rules[0]; i++) {
        if (target_rules[i].fires(&facts))
            set |= WARNINGS_BIT(target_rules[i].warning);
    }
    return set;
}
