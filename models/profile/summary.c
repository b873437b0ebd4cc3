/* models/profile/summary: from counts to shares, sizes, depth and durability. */
#include "models/profile/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODE_SHARE    0.05 /* of the requests, to be told as a usual size */
#define ALIGNED_SHARE 0.99
#define FLUSHED_SHARE 0.9
#define REUSE_SERVED  0.9
#define LEAST_REUSED  0.01

static uint64_t sum(const uint64_t *values, size_t n)
{
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += values[i];
    return total;
}

bool summary_percent(const double share[SUMMARY_N_KINDS], unsigned ret_percent[SUMMARY_N_KINDS])
{
    double kept[SUMMARY_N_KINDS], total = 0;
    unsigned percent[SUMMARY_N_KINDS], given = 0;
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        total += kept[i] = share[i] >= SUMMARY_LEAST_SHARE ? share[i] : 0;
    if (total <= 0)
        return false;
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        given += percent[i] = (unsigned)(100 * kept[i] / total);
    /* What whole numbers lack goes to the largest remainders. */
    for (; given < 100; given++) {
        int most = 0;
        for (int i = 1; i < SUMMARY_N_KINDS; i++) {
            if (100 * kept[i] / total - percent[i] > 100 * kept[most] / total - percent[most])
                most = i;
        }
        percent[most]++;
    }
    memcpy(ret_percent, percent, sizeof percent);
    return true;
}

static void make_shares(struct summary *summary, const struct store *store)
{
    const uint64_t *reads = store->n[PROFILE_READ], *writes = store->n[PROFILE_WRITE];
    const uint64_t n[SUMMARY_N_KINDS] = {reads[STREAM_SEQUENTIAL], writes[STREAM_SEQUENTIAL],
                                         reads[STREAM_RANDOM] + reads[STREAM_STRIDED],
                                         writes[STREAM_RANDOM] + writes[STREAM_STRIDED]};
    uint64_t judged = sum(n, SUMMARY_N_KINDS);
    summary->n_unjudged = store->n_unjudged[PROFILE_READ] + store->n_unjudged[PROFILE_WRITE];
    summary->n_requests = judged + summary->n_unjudged;
    summary->n_strided[PROFILE_READ] = reads[STREAM_STRIDED];
    summary->n_strided[PROFILE_WRITE] = writes[STREAM_STRIDED];
    for (int i = 0; i < SUMMARY_N_KINDS && judged > 0; i++)
        summary->share[i] = (double)n[i] / (double)judged;
    summary->margin = judged > 0 ? 1.96 * sqrt(0.25 / (double)judged) : NAN;
    summary->is_enough = judged >= SUMMARY_LEAST_REQUESTS && judged >= summary->n_unjudged &&
                         summary_percent(summary->share, summary->percent);
}

static void make_sizes(struct summary_sizes *sizes, const struct bins *bins)
{
    sizes->n = bins_n(bins);
    sizes->p50 = bins_quantile(bins, 0.5);
    sizes->p99 = bins_quantile(bins, 0.99);
    sizes->n_modes = bins_modes(bins, MODE_SHARE, sizes->modes, SUMMARY_MODES);
}

static uint64_t find_alignment(const struct store *store)
{
    double n = (double)sum(store->alignment, STORE_ALIGNMENTS), above = 0;
    for (size_t i = STORE_ALIGNMENTS; i > 0 && n > 0; i--) {
        above += (double)store->alignment[i - 1];
        if (above >= ALIGNED_SHARE * n)
            return 1ULL << (i - 1);
    }
    return 0;
}

static void make_depth(struct summary *summary, const struct store *store)
{
    double busy_ns = (double)sum(store->flight.depth_ns + 1, FLIGHT_DEPTHS - 1), seen_ns = 0, area = 0;
    double all_ns = 1e9 * (summary->seconds - summary->paused_s);
    summary->busy_share = all_ns > 0 ? fmin(1, busy_ns / all_ns) : 0;
    for (uint64_t depth = 1; depth < FLIGHT_DEPTHS; depth++) {
        seen_ns += (double)store->flight.depth_ns[depth];
        if (summary->depth_p50 == 0 && busy_ns > 0 && seen_ns >= busy_ns / 2)
            summary->depth_p50 = depth;
        if (store->flight.depth_ns[depth] > 0)
            summary->depth_max = depth;
        area += (double)depth * (double)store->flight.depth_ns[depth];
    }
    double deepest = (double)(FLIGHT_DEPTHS - 1) * (double)store->flight.depth_ns[FLIGHT_DEPTHS - 1];
    area += fmax(0, (double)store->flight.deep_area - deepest);
    summary->depth_mean = busy_ns > 0 ? area / busy_ns : 0;
}

/* One flush for each file that was flushed, with nothing left behind it, is a flush at the end. */
static bool is_flushed_at_end(const struct store *store)
{
    uint64_t n_files = 0, n_flushes = 0;
    for (uint64_t i = 0; i < store->n_files; i++) {
        n_files += store_files(store)[i].n_flushes > 0;
        n_flushes += store_files(store)[i].n_flushes;
    }
    return n_files > 0 && n_flushes == n_files;
}

static void make_sync(struct summary *summary, const struct store *store)
{
    double writes =
        (double)(sum(store->n[PROFILE_WRITE], STREAM_N_ORDERS) + store->n_unjudged[PROFILE_WRITE]);
    uint64_t n_between = bins_n(&store->between);
    if (writes <= 0)
        return;
    summary->between_p50 = bins_quantile(&store->between, 0.5);
    summary->between_mean = n_between > 0 ? (double)store->n_flushed_writes / (double)n_between : 0;
    summary->flushed_share = fmin(1, (double)(store->n_durable + store->n_flushed_writes) / writes);
    /* A flush behind each of most writes: so many flushes as writes, not only many of one write each. */
    bool is_each = (double)(store->n_durable + n_between) >= FLUSHED_SHARE * writes;
    if (store->n_durable == 0 && n_between == 0)
        summary->sync = SUMMARY_SYNC_NONE;
    else if (is_each)
        summary->sync = SUMMARY_SYNC_EACH;
    else
        summary->sync = is_flushed_at_end(store) ? SUMMARY_SYNC_END : SUMMARY_SYNC_EVERY;
}

/* The smallest cache that would serve most uses of blocks that are not the first. */
static double find_working_set(const struct blocks *blocks)
{
    struct blocks_cache curve[BINS_N];
    double n = (double)blocks_n_sampled(blocks), reused = n > 0 ? 1 - (double)blocks->n_first / n : 0;
    size_t n_sizes = blocks_curve(blocks, curve), i = 0;
    if (reused < LEAST_REUSED || reused <= 0 || n_sizes == 0)
        return 0;
    while (i + 1 < n_sizes && curve[i].served_share < REUSE_SERVED * reused)
        i++;
    return curve[i].n_bytes;
}

/* Without memory for the counts the skew stays unknown. */
static void fit_skew(struct zipf *skew, const struct store *store)
{
    const struct blocks_entry *entries = store_blocks(store);
    uint32_t *uses = calloc(store->blocks.n_entries, sizeof *uses);
    size_t n = 0;
    for (uint64_t i = 0; i < store->blocks.n_entries && uses != NULL; i++) {
        if (blocks_counts(&store->blocks, &entries[i]))
            uses[n++] = entries[i].n;
    }
    zipf_fit(skew, uses, n);
    free(uses);
}

static uint64_t count_threads(const struct store *store)
{
    uint64_t n = 0;
    for (size_t i = 0; i < STORE_THREAD_WORDS; i++)
        n += (uint64_t)__builtin_popcountll(store->threads[i]);
    return n;
}

void summary_make(struct summary *summary, const struct store *store)
{
    *summary = (struct summary){.seconds = (double)store_spent_ns(store) / 1e9};
    summary->paused_s = fmin(summary->seconds, (double)store_paused_ns(store) / 1e9);
    make_shares(summary, store);
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++) {
        make_sizes(&summary->sizes[i], &store->sizes[i]);
        summary->spent_s[i] = (double)store->spent_ns[i] / 1e9;
    }
    double n = (double)summary->n_requests, bytes = (double)sum(store->bytes, PROFILE_N_DIRECTIONS);
    const uint64_t *count = store->count;
    summary->n_lost = count[STORE_LOST_REQUESTS];
    summary->alignment_bytes = find_alignment(store);
    make_depth(summary, store);
    summary->direct_share = n > 0 ? (double)store->n_direct / n : 0;
    summary->async_share = n > 0 ? (double)store->n_async / n : 0;
    summary->uses_rings = 2 * store->n_ringed > store->n_async;
    summary->n_threads = count_threads(store);
    make_sync(summary, store);
    summary->flush_s = (double)store->flush_ns / 1e9;
    double block = (double)(1U << BLOCKS_LOG2_BYTES);
    summary->footprint_bytes = blocks_distinct(&store->blocks, store_blocks(store)) * block;
    double sampled = (double)blocks_n_sampled(&store->blocks);
    summary->reused_share = sampled > 0 ? 1 - (double)store->blocks.n_first / sampled : 0;
    summary->working_set_bytes = fmin(find_working_set(&store->blocks), summary->footprint_bytes);
    fit_skew(&summary->skew, store);
    double recorded_s = summary->seconds - summary->paused_s;
    summary->mean_bps = recorded_s > 0 ? bytes / recorded_s : NAN;
}
