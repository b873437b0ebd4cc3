/* Rules that find doubtful runs, files and machines, and what warnings mean for a point. */
#include "tuner/session/warnings.h"

#include <math.h>
#include <string.h>

/* A depth below this share of what draining the queue leaves of the asked one was not achieved. */
#define DEPTH_SHARE 0.8
/* See interfaces, section 5. */
#define SELF_CHECK_SHARE 0.10
/* Read-ahead reads more than is asked for, never less: half leaves room for what a cold run may hit. */
#define DEVICE_READ_SHARE 0.5
/* A thread that ever waits for its device does so for longer than a twentieth. */
#define CPU_BOUND_SHARE 0.95
/* Limits work on slices of time, so that a run may end a little below or above one. */
#define CAP_LOW  0.97
#define CAP_HIGH 1.10
/* The journal or a log of a quiet system has a smaller share than this. */
#define NEIGHBOUR_SHARE 0.25
#define NEIGHBOUR_BPS   8e6
#define STEAL_SHARE     0.05
/* /proc/stat counts in these, and two of them may fall into a run by chance. */
#define TICK_S     0.01
#define TICKS_LUCK 2
/* Adjusting a clock (at most 500 ppm) moves it by less in a run; setting it moves it by more. */
#define CLOCK_STEP_S       0.05
#define PINNED_LAST        3     /* newest runs that lie together */
#define PINNED_RANGE       0.005 /* of their mean: token buckets repeat themselves so well, devices do not */
#define PINNED_DROP        1.25
#define RANDOM_FASTER      1.25 /* interleaving and luck explain less */
#define RANDOM_FASTER_CONF 0.999

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

#define NEEDS_LESS_IO                                                                                        \
    (WARNINGS_BIT(WARNING_EXISTING_HAS_HOLES) | WARNINGS_BIT(WARNING_EXISTING_HAS_UNWRITTEN) |               \
     WARNINGS_BIT(WARNING_EXISTING_COMPRESSED))

struct facts {
    const struct warnings_asked *asked;
    const struct target_facts *target_facts;
    bool cold_reads;
    /* Of one run; not set for the rules about file, device and machine. */
    const struct point *point;
    const struct measure_result *result;
    bool
        offered; /* at a rate: the queue is not to be full, and a thread stays awake until a request is due */
    bool needs_less_io; /* the file has parts that are read without I/O, or with little */
};

struct rule {
    enum warning warning;
    bool (*fires)(const struct facts *facts);
};

static bool warmup_not_stable(const struct facts *run)
{
    return run->result->warmup == MEASURE_WARMUP_LIMIT;
}

/* The queue drains at the end of a run: its last requests have half of the others beside them on average. */
static bool depth_not_achieved(const struct facts *run)
{
    if (run->offered)
        return false;
    double depth = run->point->queue_depth;
    double requests = (double)run->result->n_requests / run->point->threads;
    double draining = requests > 0 ? fmin(depth / (2 * requests), 0.5) : 0;
    return run->result->achieved_depth < DEPTH_SHARE * depth * (1 - draining);
}

bool warnings_is_served(uint64_t n_requests, uint64_t n_late)
{
    return (double)n_late <= WARNINGS_LATE_SHARE * (double)(n_requests + n_late);
}

static bool rate_not_served(const struct facts *run)
{
    return run->offered && !warnings_is_served(run->result->n_requests, run->result->n_late);
}

static bool latency_self_check(const struct facts *run)
{
    return run->result->littles_law_error > SELF_CHECK_SHARE;
}

static bool not_cold(const struct facts *run)
{
    return run->cold_reads && run->result->cold == TARGET_COLD_NOT;
}

static bool cache_state_unverified(const struct facts *run)
{
    return run->cold_reads && run->result->cold == TARGET_COLD_UNVERIFIED;
}

static bool not_settled(const struct facts *run)
{
    return !run->result->settled;
}

bool warnings_counts_reads(const struct storage_stack *stack)
{
    return stack->device[0] != '\0' && !stack->network && !stack->fuse && !stack->in_memory &&
           !stack->overlay;
}

/* Holes and the like need no I/O; they have warnings of their own. */
static bool served_from_cache(const struct facts *run)
{
    return run->cold_reads && !run->needs_less_io && warnings_counts_reads(&run->target_facts->stack) &&
           run->result->monitor.own_read_bytes < DEVICE_READ_SHARE * (double)run->result->total_bytes_read;
}

static bool at_cap(double rate, double cap)
{
    return cap > 0 && rate >= CAP_LOW * cap && rate <= CAP_HIGH * cap;
}

/* Buffered requests are merged on their way, so that limits on IOPS say nothing about them. What a run showed
 * above a limit is not in its rate, which then is the limit (tuner/session/known_limits). */
static bool rate_capped(const struct facts *run)
{
    const struct storage_stack *stack = &run->target_facts->stack;
    const struct measure_result *result = run->result;
    double bytes = (double)(result->bytes_read + result->bytes_written);
    if (result->burst_bps > 0)
        return true;
    if (!stack->caps_known || bytes <= 0 || result->seconds <= 0)
        return false;
    double read_bps = (double)result->bytes_read / result->seconds;
    double write_bps = (double)result->bytes_written / result->seconds;
    double read_iops = result->iops * (double)result->bytes_read / bytes;
    bool direct = run->point->direct != 0;
    return at_cap(read_bps, stack->cap_read_bps) || at_cap(write_bps, stack->cap_write_bps) ||
           (direct && (at_cap(read_iops, stack->cap_read_iops) ||
                       at_cap(result->iops - read_iops, stack->cap_write_iops)));
}

/* Where a limit holds runs back, a busy thread does not: more of them would reach the same rate. */
static bool generator_cpu_bound(const struct facts *run)
{
    if (run->offered || rate_capped(run))
        return false;
    const struct run_monitor *monitor = &run->result->monitor;
    double n_cpus = fmax(run->target_facts->idle.n_cpus, 1);
    return monitor->busiest_thread_cpu_share >= CPU_BOUND_SHARE ||
           monitor->busiest_helper_cpu_share >= CPU_BOUND_SHARE ||
           monitor->process_cpu_share >= CPU_BOUND_SHARE * n_cpus;
}

static bool throttled_during_run(const struct facts *run)
{
    return run->result->monitor.throttled > 0;
}

static bool foreign(double device_bytes, double own_bytes, double share_of, double seconds)
{
    double others = device_bytes - own_bytes;
    return others > NEIGHBOUR_SHARE * share_of && others > NEIGHBOUR_BPS * seconds;
}

/* The kernel counts whose reads they are. Writeback belongs to nobody, so twice the run's own bytes are
 * taken, for journals and copies; flushing each write costs more than that and is left out. */
static bool neighbour_busy(const struct facts *run)
{
    const struct run_monitor *monitor = &run->result->monitor;
    double bytes = (double)(run->result->total_bytes_read + run->result->total_bytes_written);
    double written = (double)run->result->total_bytes_written;
    bool reads = warnings_counts_reads(&run->target_facts->stack) &&
                 foreign(monitor->device_read_bytes, monitor->own_read_bytes, bytes, monitor->span_s);
    bool writes = run->point->sync != SYNC_EACH && !run->asked->beside &&
                  !run->target_facts->stack.copies_on_write &&
                  foreign(monitor->device_written_bytes, 2 * written, bytes, monitor->span_s);
    return reads || writes;
}

static bool steal(const struct facts *run)
{
    const struct run_monitor *monitor = &run->result->monitor;
    double n_cpus = fmax(run->target_facts->idle.n_cpus, 1);
    return monitor->steal_share > STEAL_SHARE + TICKS_LUCK * TICK_S / (monitor->span_s * n_cpus);
}

static bool clock_step(const struct facts *run)
{
    return fabs(run->result->monitor.clock_step_s) > CLOCK_STEP_S ||
           run->result->monitor.suspended_s > CLOCK_STEP_S;
}

static bool run_cut(const struct facts *run)
{
    return run->result->cut;
}

/* Writes through the page cache take new pages, and so do reads of what is not in it. */
static bool memory_first_touch(const struct facts *run)
{
    return run->target_facts->free_pages_taken && run->point->direct == 0 &&
           (pattern_writes(&run->asked->pattern) || run->cold_reads);
}

/* Buffered requests are gathered and cut anew on their way to the server. */
static bool network_slots(const struct facts *run)
{
    const struct network_mount *server = &run->target_facts->stack.server;
    const struct point *point = run->point;
    double least = INFINITY;
    if (pattern_reads(&run->asked->pattern))
        least = network_mount_pieces((double)point->request_size_bytes, server->read_bytes);
    if (pattern_writes(&run->asked->pattern))
        least = fmin(least, network_mount_pieces((double)factors_level(point, FACTOR_WRITE_SIZE),
                                                 server->write_bytes));
    return point->direct != 0 && server->slots > 0 &&
           (double)point->queue_depth * point->threads * least > server->slots;
}

static bool client_disk_cache(const struct facts *run)
{
    return run->cold_reads && run->point->direct == 0 && run->target_facts->stack.server.disk_cache;
}

static const struct rule run_rules[] = {
    {WARNING_WARMUP_NOT_STABLE, warmup_not_stable},
    {WARNING_DEPTH_NOT_ACHIEVED, depth_not_achieved},
    {WARNING_LATENCY_SELF_CHECK, latency_self_check},
    {WARNING_RATE_NOT_SERVED, rate_not_served},
    {WARNING_NOT_COLD, not_cold},
    {WARNING_CACHE_STATE_UNVERIFIED, cache_state_unverified},
    {WARNING_NOT_SETTLED, not_settled},
    {WARNING_SERVED_FROM_CACHE, served_from_cache},
    {WARNING_GENERATOR_CPU_BOUND, generator_cpu_bound},
    {WARNING_RATE_CAPPED, rate_capped},
    {WARNING_THROTTLED_DURING_RUN, throttled_during_run},
    {WARNING_NEIGHBOUR_BUSY, neighbour_busy},
    {WARNING_STEAL, steal},
    {WARNING_CLOCK_STEP, clock_step},
    {WARNING_RUN_CUT, run_cut},
    {WARNING_MEMORY_FIRST_TOUCH, memory_first_touch},
    {WARNING_NETWORK_SLOTS, network_slots},
    {WARNING_CLIENT_DISK_CACHE, client_disk_cache},
};

/* --- about the file, the device and the machine --- */

static bool has_share(const struct target_facts *target_facts, uint64_t bytes)
{
    return target_facts->existing && (double)bytes > HOLE_SHARE * (double)target_facts->extents.size_bytes;
}

static bool existing_has_holes(const struct facts *facts)
{
    const struct extents *extents = &facts->target_facts->extents;
    return extents->holes_known && has_share(facts->target_facts, extents->hole_bytes);
}

static bool existing_has_unwritten(const struct facts *facts)
{
    const struct extents *extents = &facts->target_facts->extents;
    return extents->fiemap_known && has_share(facts->target_facts, extents->unwritten_bytes);
}

/* Encrypted extents are told as encoded too, but are as long as their data. */
static bool existing_compressed(const struct facts *facts)
{
    const struct target_facts *target_facts = facts->target_facts;
    return target_facts->extents.fiemap_known && !target_facts->stack.encrypted &&
           has_share(target_facts, target_facts->extents.encoded_bytes);
}

/* fstune's own file is random data, which nothing compresses. */
static bool compressible_data(const struct facts *facts)
{
    const struct target_facts *target_facts = facts->target_facts;
    const struct compressibility *compressibility = &target_facts->compressibility;
    if (!target_facts->existing || !target_facts->compressibility_known)
        return false;
    return (target_facts->stack.compresses && compressibility->compressible_share > COMPRESSIBLE_SHARE) ||
           (target_facts->stack.may_deduplicate && compressibility->duplicate_share > DUPLICATE_SHARE);
}

static bool memory_backed_loop(const struct facts *facts)
{
    return facts->target_facts->stack.loop && !facts->target_facts->stack.loop_direct_io;
}

static bool memory_backed(const struct facts *facts)
{
    return facts->target_facts->stack.in_memory;
}

static bool file_fits_device_cache(const struct facts *facts)
{
    return facts->target_facts->stack.virtual_disk && facts->cold_reads;
}

static bool host_durability(const struct facts *facts)
{
    return facts->target_facts->stack.virtual_disk && pattern_writes(&facts->asked->pattern);
}

static bool nearly_full(const struct facts *facts)
{
    return facts->target_facts->stack.free_share < FREE_SHARE;
}

static bool fragmented(const struct facts *facts)
{
    return facts->target_facts->growth_per_gib > GROWTH_PER_GIB;
}

static bool server_cache(const struct facts *facts)
{
    return facts->target_facts->stack.network && facts->cold_reads;
}

static bool server_durability(const struct facts *facts)
{
    return facts->target_facts->stack.network && pattern_writes(&facts->asked->pattern);
}

static bool soft_mount(const struct facts *facts)
{
    return facts->target_facts->stack.server.soft && pattern_writes(&facts->asked->pattern);
}

static bool device_busy_before(const struct facts *facts)
{
    const struct run_monitor_idle *idle = &facts->target_facts->idle;
    return idle->device_read_bps > IDLE_BPS || idle->device_written_bps > IDLE_BPS ||
           idle->psi_io_some_share > IDLE_PRESSURE;
}

static bool stolen_before(const struct facts *facts)
{
    return facts->target_facts->idle.steal_share > IDLE_STEAL;
}

static const struct rule target_rules[] = {
    {WARNING_EXISTING_HAS_HOLES, existing_has_holes},
    {WARNING_EXISTING_HAS_UNWRITTEN, existing_has_unwritten},
    {WARNING_EXISTING_COMPRESSED, existing_compressed},
    {WARNING_COMPRESSIBLE_DATA, compressible_data},
    {WARNING_MEMORY_BACKED_LOOP, memory_backed_loop},
    {WARNING_MEMORY_BACKED, memory_backed},
    {WARNING_FILE_FITS_DEVICE_CACHE, file_fits_device_cache},
    {WARNING_HOST_DURABILITY, host_durability},
    {WARNING_NEARLY_FULL, nearly_full},
    {WARNING_FRAGMENTED, fragmented},
    {WARNING_SERVER_CACHE, server_cache},
    {WARNING_SERVER_DURABILITY, server_durability},
    {WARNING_SOFT_MOUNT, soft_mount},
    {WARNING_NEIGHBOUR_BUSY, device_busy_before},
    {WARNING_STEAL, stolen_before},
};

/* --- what follows --- */

uint64_t warnings_of_point(const struct warnings_asked *asked, const struct point *point)
{
    uint64_t set = 0;
    if (point->api == API_PVEC && pattern_is_random(&asked->pattern))
        set |= WARNINGS_BIT(WARNING_PVEC_CONTIGUOUS);
    if (point->sync == SYNC_NONE && pattern_writes(&asked->pattern))
        set |= WARNINGS_BIT(WARNING_WRITES_ABSORBED);
    return set;
}

/* Of the rules that fire. */
static uint64_t fire(const struct rule *rules, size_t n, const struct facts *facts)
{
    uint64_t set = 0;
    for (size_t i = 0; i < n; i++) {
        if (rules[i].fires(facts))
            set |= WARNINGS_BIT(rules[i].warning);
    }
    return set;
}

static struct facts facts_of(const struct warnings_asked *asked, const struct target_facts *target_facts)
{
    return (struct facts){.asked = asked,
                          .target_facts = target_facts,
                          .cold_reads = asked->cold && pattern_reads(&asked->pattern)};
}

uint64_t warnings_of_target(const struct warnings_asked *asked, const struct target_facts *target_facts)
{
    const struct facts facts = facts_of(asked, target_facts);
    return fire(target_rules, sizeof target_rules / sizeof target_rules[0], &facts);
}

uint64_t warnings_of_run(const struct warnings_asked *asked, const struct target_facts *target_facts,
                         const struct measure_plan *plan, const struct measure_result *result)
{
    struct facts run = facts_of(asked, target_facts);
    run.point = &plan->point;
    run.result = result;
    run.offered = plan->rate_bps > 0;
    run.needs_less_io = (warnings_of_target(asked, target_facts) & NEEDS_LESS_IO) != 0;
    return warnings_of_point(asked, &plan->point) |
           fire(run_rules, sizeof run_rules / sizeof run_rules[0], &run);
}

bool warnings_pinned(const double *bps, size_t n)
{
    if (n <= PINNED_LAST)
        return false;
    double low = INFINITY, high = 0, before = 0;
    for (size_t i = 0; i < n - PINNED_LAST; i++)
        before = fmax(before, bps[i]);
    for (size_t i = n - PINNED_LAST; i < n; i++) {
        low = fmin(low, bps[i]);
        high = fmax(high, bps[i]);
    }
    return high - low <= PINNED_RANGE * high && before >= PINNED_DROP * high;
}

bool warnings_random_faster(struct moments random, struct moments sequential)
{
    struct welch welch = welch_of(random, sequential);
    if (welch.df <= 0)
        return false;
    struct interval interval = welch_interval(welch, RANDOM_FASTER_CONF);
    return interval.low > 0 && welch.difference > log(RANDOM_FASTER);
}

static bool conditions_hold(unsigned conditions, const struct warnings_asked *asked,
                            const struct point *point)
{
    unsigned wanted = point->direct != 0 ? WARNINGS_DIRECT : WARNINGS_BUFFERED;
    return (conditions & wanted) != 0 &&
           ((conditions & WARNINGS_IF_READS) == 0 || pattern_reads(&asked->pattern)) &&
           ((conditions & WARNINGS_IF_COLD) == 0 || asked->cold) &&
           ((conditions & WARNINGS_IF_SYNC_CHOSEN) == 0 || !asked->sync_pinned);
}

uint64_t warnings_disqualifying(uint64_t set, const struct warnings_asked *asked, const struct point *point)
{
    uint64_t disqualifying = 0;
    for (unsigned i = 0; i < WARNING_N; i++) {
        if ((set & WARNINGS_BIT(i)) != 0 && conditions_hold(warnings_table[i].disqualifies, asked, point))
            disqualifying |= WARNINGS_BIT(i);
    }
    return disqualifying;
}

uint64_t warnings_passing(uint64_t set)
{
    uint64_t passing = 0;
    for (unsigned i = 0; i < WARNING_N; i++) {
        if (warnings_table[i].passes)
            passing |= WARNINGS_BIT(i);
    }
    return set & passing;
}

void warnings_note(struct notes *warnings, uint64_t warning_set, uint64_t disqualifying)
{
    for (unsigned i = 0; i < WARNING_N; i++) {
        const struct warnings_row *row = &warnings_table[i];
        if ((disqualifying & WARNINGS_BIT(i)) != 0)
            notes_disqualify(warnings, row->code, "%s (--accept %s takes it as it is)", row->text, row->code);
        else if ((warning_set & WARNINGS_BIT(i)) != 0)
            notes_add(warnings, row->code, "%s", row->text);
    }
}
