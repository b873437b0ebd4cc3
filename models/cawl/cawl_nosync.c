/* Algorithm 1: writes that end in the page cache, and the flusher beside them. */
#include "models/cawl/cawl_internal.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define FIRST_CHANGES 16
/* A chunk has at most about so many parts, so that the time stays in proportion to the chunks. */
#define MAX_PARTS 64
/* Piecewise, a rate holds for at most this share of the room between setpoint and limit_hard. */
#define STEP_SHARE (1.0 / 64)
/* Of the room between limit_bg and limit_hard: a smaller fall of dirty is no change of state. */
#define SWING_SHARE 0.01

void cawl_nosync_init(struct cawl_engine *engine, const struct cawl_host *host,
                      const struct cawl_options *options, struct cawl_prediction *prediction)
{
    double share = cawl_limit_share(options);

    *engine = (struct cawl_engine){.host = host, .options = options, .prediction = prediction};
    engine->limit_bg = host->limit_bg_bytes * share;
    engine->limit_hard = host->limit_hard_bytes * share;
    engine->setpoint = (engine->limit_bg + engine->limit_hard) / 2;
    engine->device = cawl_device_of(host, options, true);
    cawl_cache_init(&engine->cache);
}

void cawl_nosync_done(struct cawl_engine *engine)
{
    cawl_map_done(&engine->cache.map);
    cawl_map_done(&engine->touched);
}

static double dirty_of(const struct cawl_engine *engine)
{
    return (double)cawl_cache_dirty(&engine->cache);
}

/* When the oldest dirty block is noticed as expired; INFINITY for an empty cache. */
static double due_time(const struct cawl_engine *engine)
{
    double interval = engine->options->writeback_interval_s;
    double due = cawl_cache_oldest(&engine->cache) + engine->host->dirty_expire_s;

    return interval > 0 && isfinite(due) ? (floor(due / interval) + 1) * interval : due;
}

static bool is_expired(const struct cawl_engine *engine, double now)
{
    double due = due_time(engine);

    /* Pages expire when they are older than the limit; at just that age only if the flusher wakes then. */
    return engine->options->piecewise || engine->options->writeback_interval_s > 0 ? due <= now : due < now;
}

static enum cawl_run run_of(const struct cawl_engine *engine)
{
    double dirty = dirty_of(engine);

    if (dirty >= engine->setpoint)
        return CAWL_THROTTLE_RUN;
    return dirty >= engine->limit_bg || is_expired(engine, engine->time) ? CAWL_ASYNC_RUN : CAWL_FREE_RUN;
}

/* Writes out of the oldest inactive block what a time allows; what it took of that. */
static double write_oldest(struct cawl_engine *engine, double seconds)
{
    struct cawl_block *block = cawl_cache_evictable(&engine->cache);
    uint64_t size = block->size;
    double need = cawl_device_seconds(&engine->device, (double)size - engine->carry);

    if (need <= seconds) {
        engine->carry = 0;
        cawl_cache_clean(&engine->cache, block, size);
    } else {
        double bytes = engine->carry + cawl_device_bytes(&engine->device, seconds);

        need = seconds;
        engine->carry = bytes - floor(bytes);
        cawl_cache_clean(&engine->cache, block, (uint64_t)bytes);
    }
    cawl_device_busy(&engine->device, need);
    return need;
}

/* background_flush. The paper looks at the end of the interval whether something has expired, and then uses
 * all of it; piecewise the flusher begins when the first block expires. */
static void flush(struct cawl_engine *engine, double seconds)
{
    bool piecewise = engine->options->piecewise;
    double left = seconds, now = piecewise ? engine->time : engine->time + seconds;

    while (left > 0 && cawl_cache_dirty(&engine->cache) > 0) {
        double spent;

        if (dirty_of(engine) >= engine->limit_bg || is_expired(engine, now)) {
            spent = write_oldest(engine, left);
            now += piecewise ? spent : 0;
        } else {
            double due = due_time(engine);

            if (!piecewise || due - now >= left)
                break;
            spent = due - now;
            now = due;
            cawl_device_idle(&engine->device, spent);
        }
        left -= spent;
    }
    cawl_device_idle(&engine->device, fmax(left, 0));
}

void cawl_nosync_wait(struct cawl_engine *engine, double seconds)
{
    flush(engine, seconds);
    engine->time += seconds;
}

static double device_bps(const struct cawl_engine *engine)
{
    const double moment_s = 1e-3;

    return cawl_device_bytes(&engine->device, moment_s) / moment_s;
}

double cawl_copy_seconds(const struct cawl_host *host, double bps, uint64_t size, uint64_t n_new)
{
    double new_bps = fmin(bps, host->bw_ramdisk_first_touch_bps);

    return n_new > 0 ? (double)(size - n_new) / bps + (double)n_new / new_bps : (double)size / bps;
}

/* At limit_hard the rate is 0, and just below it nearly so: no write waits longer than until the flusher has
 * come down to where pos_ratio is 1. */
static double throttled_seconds(const struct cawl_engine *engine, uint64_t size, uint64_t n_new)
{
    bool balanced = engine->options->balanced;
    double most = fmin(engine->host->bw_reduced_bps, engine->host->bw_ramdisk_bps);
    double base = balanced ? device_bps(engine) : engine->bw_avg;
    double centre = balanced ? (engine->setpoint + engine->limit_hard) / 2 : engine->setpoint;
    double dirty = dirty_of(engine);
    double pos_ratio = 1 + pow((centre - dirty) / (engine->limit_hard - centre), 3);
    double wait = dirty > centre ? cawl_device_seconds(&engine->device, dirty - centre) : 0;
    double longest = wait + cawl_copy_seconds(engine->host, fmin(base, most), size, n_new);

    if (!(pos_ratio > 0))
        return longest;
    return fmin(cawl_copy_seconds(engine->host, fmin(base * pos_ratio, most), size, n_new), longest);
}

/* Of bytes that are not dirty yet. */
static double part_seconds(const struct cawl_engine *engine, enum cawl_run run, uint64_t size, uint64_t n_new)
{
    if (size == 0)
        return 0;

    double most = engine->host->bw_ramdisk_bps;

    if (run == CAWL_THROTTLE_RUN)
        return throttled_seconds(engine, size, n_new);
    return cawl_copy_seconds(
        engine->host, run == CAWL_ASYNC_RUN ? fmin(most, engine->host->bw_reduced_bps) : most, size, n_new);
}

/* Bytes until the state changes, if all of them are new. */
static double border_bytes(const struct cawl_engine *engine, enum cawl_run run)
{
    double dirty = dirty_of(engine), rate = engine->host->bw_ramdisk_bps;

    if (run == CAWL_FREE_RUN)
        return fmin(engine->limit_bg - dirty, (due_time(engine) - engine->time) * rate);
    rate = fmin(rate, engine->host->bw_reduced_bps);
    if (run == CAWL_THROTTLE_RUN || dirty < engine->limit_bg || rate <= device_bps(engine))
        return 0;
    return (engine->setpoint - dirty) / (1 - device_bps(engine) / rate);
}

/* How much of what is left of a chunk is written at one rate. */
static uint64_t part_bytes(const struct cawl_engine *engine, enum cawl_run run, uint64_t size, uint64_t left)
{
    double room = engine->limit_hard - engine->setpoint, least = (double)size / MAX_PARTS, part = room;

    if (engine->options->piecewise)
        part = fmin(fmax(border_bytes(engine, run), room * STEP_SHARE), room);
    part = ceil(fmax(part, least));
    return part < (double)left ? (uint64_t)part : left;
}

/* Under a lasting load dirty swings about a border by a chunk: that is no change of state. */
static bool is_news(const struct cawl_engine *engine, enum cawl_run run)
{
    const struct cawl_prediction *prediction = engine->prediction;

    if (prediction->n_changes == 0)
        return true;

    enum cawl_run last = prediction->changes[prediction->n_changes - 1].run;
    double border = last == CAWL_THROTTLE_RUN ? engine->setpoint : engine->limit_bg;

    if (run >= last)
        return run > last;
    return dirty_of(engine) < border - (engine->limit_hard - engine->limit_bg) * SWING_SHARE;
}

static int note_change(struct cawl_engine *engine, enum cawl_run run)
{
    struct cawl_prediction *prediction = engine->prediction;
    size_t n = prediction->n_changes;

    if (!is_news(engine, run))
        return 0;
    if (n == engine->max_changes) {
        size_t max = n == 0 ? FIRST_CHANGES : 2 * n;
        struct cawl_change *changes = realloc(prediction->changes, max * sizeof(*changes));

        if (changes == NULL)
            return -ENOMEM;
        prediction->changes = changes;
        engine->max_changes = max;
    }
    prediction->changes[prediction->n_changes++] = (struct cawl_change){
        .run = run, .chunk = engine->chunk, .at_s = engine->time, .written_bytes = engine->written};
    return 0;
}

/* The paper puts the bytes into the cache and then flushes for as long as that took; piecewise the flusher
 * works on what was there before. */
static int write_part(struct cawl_engine *engine, uint32_t file, uint64_t offset, uint64_t size, double cost)
{
    double end = engine->time + cost;
    int result;

    if (engine->options->piecewise)
        flush(engine, cost);
    result = cawl_cache_write(&engine->cache, file, offset, size, end);
    if (!engine->options->piecewise)
        flush(engine, cost);
    engine->bw_avg = (engine->bw_avg * engine->io_time + (double)size) / (engine->io_time + cost);
    engine->time = end;
    engine->io_time += cost;
    engine->written += size;
    return result;
}

int cawl_nosync_write(struct cawl_engine *engine, uint32_t file, uint64_t offset, uint64_t size,
                      double *ret_cost)
{
    uint64_t left = size;
    int result = 0;

    *ret_cost = 0;
    while (left > 0 && result == 0) {
        enum cawl_run run = run_of(engine);
        uint64_t part = part_bytes(engine, run, size, left), n_new = 0;
        double cost = left == size ? engine->host->sc_w_s : 0;
        uint64_t n_dirty =
            engine->options->rewrites ? cawl_cache_covered(&engine->cache, file, offset, part) : 0;

        result = note_change(engine, run);
        if (result == 0 && engine->options->first_touch)
            result = cawl_map_cover(&engine->touched, file, offset, part, &n_new);
        if (result != 0)
            break;
        if (left == size)
            cost += cawl_small_s(engine->host, engine->options, (double)(part - n_dirty));
        cost += part_seconds(engine, run, part - n_dirty, n_new);
        cost += n_dirty > 0 ? (double)n_dirty / engine->host->bw_rewrite_bps : 0;
        result = write_part(engine, file, offset, part, cost);
        *ret_cost += cost;
        offset += part;
        left -= part;
    }
    return result;
}

void cawl_nosync_check(const struct cawl_engine *engine)
{
#ifdef FSTUNE_DEBUG
    /* Looking at every block after every chunk would take hours. */
    if ((engine->chunk & (engine->chunk + 1)) == 0 || engine->chunk + 1 == engine->prediction->n)
        assert(cawl_cache_sound(&engine->cache));
#else
    (void)engine;
#endif
}

int cawl_nosync_predict(struct cawl_engine *engine, const struct cawl_chunk *chunks)
{
    struct cawl_prediction *prediction = engine->prediction;
    int result = 0;

    for (size_t i = 0; i < prediction->n && result == 0; i++) {
        const struct cawl_chunk *chunk = &chunks[i];

        engine->chunk = i;
        cawl_nosync_wait(engine, chunk->delay_s);
        result = cawl_nosync_write(engine, chunk->file, chunk->offset_bytes, chunk->size_bytes,
                                   &prediction->costs_s[i]);
        prediction->end_s[i] = engine->time;
        prediction->dirty_bytes[i] = dirty_of(engine);
        cawl_nosync_check(engine);
    }
    return result;
}
