/* Entry, checks, and the modes that are formulas. */
#include "models/cawl/cawl.h"

#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>

const char *const cawl_mode_names[CAWL_N_MODES] = {"direct", "sync", "nosync", "stdio", "naive"};
const char *const cawl_run_names[CAWL_N_RUNS] = {"free_run", "async_run", "throttle_run"};

static bool is_positive(double value)
{
    return value > 0 && isfinite(value);
}

static bool is_cost(double value)
{
    return value >= 0 && isfinite(value);
}

static bool host_is_valid(const struct cawl_host *host)
{
    return is_positive(host->bw_mem_bps) && is_positive(host->bw_ramdisk_bps) &&
           is_cost(host->bw_ramdisk_first_touch_bps) && is_positive(host->bw_reduced_bps) &&
           is_cost(host->bw_rewrite_bps) && is_cost(host->bw_writeback_bps) && is_cost(host->bw_page_bps) &&
           is_cost(host->bw_buffer_bps) && is_cost(host->sc_f_s) && is_positive(host->bw_dev_bps) &&
           is_positive(host->bw_rdev_bps) && is_cost(host->sc_w_s) && is_cost(host->sc_sw_s) &&
           is_cost(host->c_sk_s) && is_positive(host->bs_bytes) && is_positive(host->bf_bytes) &&
           host->bs_bytes >= 1 && host->bf_bytes >= 1 && host->bf_bytes < (double)INT64_MAX &&
           host->bs_bytes < (double)INT64_MAX && is_positive(host->limit_bg_bytes) &&
           host->limit_bg_bytes < host->limit_hard_bytes && host->limit_hard_bytes < (double)INT64_MAX &&
           is_positive(host->dirty_expire_s);
}

static bool options_are_valid(const struct cawl_options *options, const struct cawl_host *host)
{
    return (!options->first_touch || host->bw_ramdisk_first_touch_bps > 0) &&
           (!options->rewrites || host->bw_rewrite_bps > 0) &&
           (!options->writeback || host->bw_writeback_bps > 0) &&
           (!options->small_calls || (host->bw_page_bps > 0 && host->bw_buffer_bps > 0)) &&
           is_cost(options->limit_share) && options->limit_share <= 1 &&
           is_cost(options->writeback_interval_s) && is_cost(options->allocation_bps) &&
           is_cost(options->max_request_bytes) && is_cost(options->split_s) &&
           is_cost(options->burst_bytes) && is_cost(options->burst_bps) &&
           (options->burst_bytes == 0 ||
            options->burst_bps > fmax(host->bw_dev_bps, options->writeback ? host->bw_writeback_bps : 0));
}

static bool chunks_are_valid(const struct cawl_chunk *chunks, size_t n)
{
    uint64_t total = 0;

    for (size_t i = 0; i < n; i++) {
        const struct cawl_chunk *chunk = &chunks[i];

        if (chunk->size_bytes == 0 || chunk->size_bytes > INT64_MAX ||
            chunk->offset_bytes > INT64_MAX - chunk->size_bytes || total > UINT64_MAX - chunk->size_bytes ||
            !is_cost(chunk->delay_s))
            return false;
        total += chunk->size_bytes;
    }
    return true;
}

static int alloc_prediction(struct cawl_prediction *prediction, size_t n)
{
    prediction->n = n;
    prediction->costs_s = calloc(n + 1, sizeof(double));
    prediction->end_s = calloc(n + 1, sizeof(double));
    prediction->dirty_bytes = calloc(n + 1, sizeof(double));
    return prediction->costs_s && prediction->end_s && prediction->dirty_bytes ? 0 : -ENOMEM;
}

static int predict_cached(const struct cawl_host *host, const struct cawl_options *options,
                          enum cawl_mode mode, const struct cawl_chunk *chunks,
                          struct cawl_prediction *prediction)
{
    struct cawl_engine engine;
    int result;

    cawl_nosync_init(&engine, host, options, prediction);
    result = mode == CAWL_STDIO ? cawl_stdio_predict(&engine, chunks) : cawl_nosync_predict(&engine, chunks);
    prediction->left_bytes = (double)cawl_cache_dirty(&engine.cache);
    cawl_nosync_done(&engine);
    return result;
}

static int compare_streams(const void *a, const void *b)
{
    const struct cawl_stream *x = a, *y = b;

    return (x->file > y->file) - (x->file < y->file);
}

struct cawl_stream *cawl_stream_of(struct cawl_streams *streams, const struct cawl_chunk *chunk)
{
    if (streams->last != NULL && streams->last->file == chunk->file)
        return streams->last;

    struct cawl_stream *added = malloc(sizeof *added), **found;

    if (added == NULL)
        return NULL;
    *added = (struct cawl_stream){.file = chunk->file, .end = chunk->offset_bytes};
    found = tsearch(added, &streams->tree, compare_streams);
    if (found == NULL || *found != added)
        free(added);
    streams->last = found == NULL ? NULL : *found;
    return streams->last;
}

static void sum_costs(struct cawl_prediction *prediction)
{
    prediction->total_s = prediction->close_s;
    for (size_t i = 0; i < prediction->n; i++)
        prediction->total_s += prediction->costs_s[i];
}

int cawl_predict(const struct cawl_host *host, const struct cawl_options *options, enum cawl_mode mode,
                 const struct cawl_chunk *chunks, size_t n, struct cawl_prediction *ret)
{
    struct cawl_prediction prediction = {0};
    int result;

    if (!host_is_valid(host) || !options_are_valid(options, host) || (unsigned)mode >= CAWL_N_MODES ||
        !chunks_are_valid(chunks, n))
        return -EINVAL;
    result = alloc_prediction(&prediction, n);
    if (result == 0)
        result = mode == CAWL_NOSYNC || mode == CAWL_STDIO
                     ? predict_cached(host, options, mode, chunks, &prediction)
                     : cawl_closed_predict(host, options, mode, chunks, &prediction);
    if (result != 0) {
        cawl_prediction_done(&prediction);
        return result;
    }
    sum_costs(&prediction);
    *ret = prediction;
    return 0;
}

double cawl_written_back_s(const struct cawl_host *host, const struct cawl_options *options, double bytes)
{
    struct cawl_device device = cawl_device_of(host, options, true);

    device.burst_bps = 0;
    return cawl_device_seconds(&device, bytes);
}

double cawl_small_s(const struct cawl_host *host, const struct cawl_options *options, double bytes)
{
    if (!options->small_calls)
        return 0;
    return fmin(bytes, CAWL_SMALL_BYTES) * fmax(1 / host->bw_page_bps - 1 / host->bw_ramdisk_bps, 0);
}

double cawl_limit_share(const struct cawl_options *options)
{
    double share = options->limit_share > 0 ? options->limit_share : 1;

    return options->n_writers > 1 ? share / options->n_writers : share;
}

void cawl_prediction_done(struct cawl_prediction *prediction)
{
    free(prediction->costs_s);
    free(prediction->end_s);
    free(prediction->dirty_bytes);
    free(prediction->changes);
    *prediction = (struct cawl_prediction){0};
}
