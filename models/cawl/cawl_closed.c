/* The modes whose cost is a formula of the chunk: equations 2 and 3, and SimGrid's. */
#include "models/cawl/cawl_internal.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>

struct closed {
    const struct cawl_host *host;
    const struct cawl_options *options;
    struct cawl_device device;
    struct cawl_streams streams;
    struct cawl_map touched; /* with options->first_touch */
};

/* The parts of a request beyond the first. */
static double split_seconds(const struct closed *closed, double size)
{
    double most = closed->options->max_request_bytes;

    return most > 0 ? (ceil(size / most) - 1) * closed->options->split_s : 0;
}

static double call_seconds(const struct closed *closed, const struct cawl_chunk *chunk,
                           struct cawl_stream *stream)
{
    bool is_random = stream->end != chunk->offset_bytes;

    stream->end = chunk->offset_bytes + chunk->size_bytes;
    return closed->host->sc_sw_s + (is_random ? closed->host->c_sk_s : 0);
}

/* Seconds that the device needs for the bytes; its credit is used up by them. */
static double device_seconds(struct closed *closed, double bytes)
{
    double seconds = cawl_device_seconds(&closed->device, bytes);

    cawl_device_busy(&closed->device, seconds);
    return seconds;
}

static double direct_seconds(struct closed *closed, const struct cawl_chunk *chunk,
                             struct cawl_stream *stream)
{
    double size = (double)chunk->size_bytes,
           fixed = call_seconds(closed, chunk, stream) + split_seconds(closed, size);

    cawl_device_idle(&closed->device, fixed);
    return fixed + device_seconds(closed, size);
}

/* Equation 3 with the meaning of its text: what is left over after whole blocks costs a block read and a
 * block written. */
static int sync_seconds(struct closed *closed, const struct cawl_chunk *chunk, struct cawl_stream *stream,
                        double *ret)
{
    const struct cawl_host *host = closed->host;
    uint64_t size = chunk->size_bytes, rem = size % (uint64_t)host->bs_bytes, n_new = 0;
    double written = (double)(size - rem) + (rem > 0 ? host->bs_bytes : 0), before;
    int result = 0;

    if (closed->options->first_touch)
        result = cawl_map_cover(&closed->touched, chunk->file, chunk->offset_bytes, size, &n_new);
    before = call_seconds(closed, chunk, stream) + split_seconds(closed, written) +
             cawl_copy_seconds(host, host->bw_ramdisk_bps, size, n_new) +
             (rem > 0 ? host->bs_bytes / host->bw_rdev_bps : 0);
    cawl_device_idle(&closed->device, before);
    *ret = before + device_seconds(closed, written);
    return result;
}

static int chunk_seconds(struct closed *closed, enum cawl_mode mode, const struct cawl_chunk *chunk,
                         double *ret)
{
    struct cawl_stream *stream = cawl_stream_of(&closed->streams, chunk);

    if (stream == NULL)
        return -ENOMEM;
    cawl_device_idle(&closed->device, chunk->delay_s);
    if (mode == CAWL_SYNC)
        return sync_seconds(closed, chunk, stream, ret);
    *ret = mode == CAWL_DIRECT ? direct_seconds(closed, chunk, stream)
                               : (double)chunk->size_bytes / closed->host->bw_dev_bps;
    return 0;
}

int cawl_closed_predict(const struct cawl_host *host, const struct cawl_options *options, enum cawl_mode mode,
                        const struct cawl_chunk *chunks, struct cawl_prediction *prediction)
{
    struct closed closed = {
        .host = host, .options = options, .device = cawl_device_of(host, options, mode == CAWL_SYNC)};
    int result = 0;
    double time = 0;

    for (size_t i = 0; i < prediction->n && result == 0; i++) {
        result = chunk_seconds(&closed, mode, &chunks[i], &prediction->costs_s[i]);
        time += chunks[i].delay_s + prediction->costs_s[i];
        prediction->end_s[i] = time;
    }
    tdestroy(closed.streams.tree, free);
    cawl_map_done(&closed.touched);
    return result;
}
