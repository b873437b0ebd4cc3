/* models/cawl/cawl: what is refused, what holds for all loads, hosts and options, a plain second version. */

#include "tests/models/cawl/cawl_plain.h"
#include "tests/models/cawl/cawl_rig.h"
#include "tests/models/rng.h"

#include <errno.h>

static void check_refused(const struct cawl_host *host, const struct cawl_options *options,
                          enum cawl_mode mode, const struct cawl_chunk *chunk)
{
    struct cawl_prediction prediction = {.n = 77};

    assert_int_equal(cawl_predict(host, options, mode, chunk, 1, &prediction), -EINVAL);
    assert_int_equal(prediction.n, 77);
}

TEST(hosts_out_of_range_are_refused)
{
    static const size_t positive[] = {
        offsetof(struct cawl_host, bw_mem_bps),       offsetof(struct cawl_host, bw_ramdisk_bps),
        offsetof(struct cawl_host, bw_reduced_bps),   offsetof(struct cawl_host, bw_dev_bps),
        offsetof(struct cawl_host, bw_rdev_bps),      offsetof(struct cawl_host, bs_bytes),
        offsetof(struct cawl_host, bf_bytes),         offsetof(struct cawl_host, limit_bg_bytes),
        offsetof(struct cawl_host, limit_hard_bytes), offsetof(struct cawl_host, dirty_expire_s)};
    static const size_t costs[] = {
        offsetof(struct cawl_host, sc_w_s),         offsetof(struct cawl_host, sc_sw_s),
        offsetof(struct cawl_host, c_sk_s),         offsetof(struct cawl_host, bw_ramdisk_first_touch_bps),
        offsetof(struct cawl_host, bw_rewrite_bps), offsetof(struct cawl_host, bw_writeback_bps),
        offsetof(struct cawl_host, bw_page_bps),    offsetof(struct cawl_host, bw_buffer_bps),
        offsetof(struct cawl_host, sc_f_s)};
    const double bad[] = {-1, NAN, INFINITY, 0};
    const struct cawl_chunk chunk = {0, 0, 10, 0};

    for (size_t i = 0; i < N_OF(positive) + N_OF(costs); i++) {
        bool may_be_0 = i >= N_OF(positive);

        for (size_t j = 0; j < (may_be_0 ? 3 : 4); j++) {
            struct cawl_host host = cawl_rig_host();

            memcpy((char *)&host + (may_be_0 ? costs[i - N_OF(positive)] : positive[i]), &bad[j],
                   sizeof(double));
            check_refused(&host, &plain_model, may_be_0 ? CAWL_DIRECT : CAWL_NOSYNC, &chunk);
        }
    }

    struct cawl_host host = cawl_rig_host();

    host.limit_bg_bytes = host.limit_hard_bytes;
    check_refused(&host, &plain_model, CAWL_NOSYNC, &chunk);
}

TEST(options_out_of_range_are_refused)
{
    const struct cawl_options bad[] = {
        {.limit_share = 1.01},
        {.limit_share = -0.1},
        {.writeback_interval_s = -1},
        {.allocation_bps = NAN},
        {.max_request_bytes = -1},
        {.split_s = INFINITY},
        {.burst_bytes = -1},
        {.burst_bytes = 10},
        {.burst_bytes = 10, .burst_bps = 10},
        {.writeback = true, .burst_bytes = 10, .burst_bps = 40},
    };
    struct cawl_host host = cawl_rig_host();
    const struct cawl_chunk chunk = {0, 0, 10, 0};

    for (size_t i = 0; i < N_OF(bad); i++)
        check_refused(&host, &bad[i], CAWL_NOSYNC, &chunk);
    host.bw_ramdisk_first_touch_bps = 0;
    check_refused(&host, &(struct cawl_options){.first_touch = true}, CAWL_NOSYNC, &chunk);
    host = cawl_rig_host();
    host.bw_rewrite_bps = 0;
    check_refused(&host, &(struct cawl_options){.rewrites = true}, CAWL_NOSYNC, &chunk);
    host.bw_writeback_bps = 0;
    check_refused(&host, &(struct cawl_options){.writeback = true}, CAWL_SYNC, &chunk);
    host.bw_page_bps = 0;
    check_refused(&host, &(struct cawl_options){.small_calls = true}, CAWL_NOSYNC, &chunk);
    host = cawl_rig_host();
    host.bw_buffer_bps = 0;
    check_refused(&host, &(struct cawl_options){.small_calls = true}, CAWL_STDIO, &chunk);
    check_refused(&host, &plain_model, CAWL_N_MODES, &chunk);
}

TEST(chunks_out_of_range_are_refused)
{
    struct cawl_host host = cawl_rig_host();
    const struct cawl_chunk bad[] = {{0, 0, 0, 0},          {0, INT64_MAX, 1, 0}, {0, UINT64_MAX, 2, 0},
                                     {0, 0, UINT64_MAX, 0}, {0, 0, 1, -1},        {0, 0, 1, NAN}};
    const struct cawl_chunk too_much[] = {{0, 0, INT64_MAX, 0}, {0, 0, INT64_MAX, 0}, {0, 0, INT64_MAX, 0}};
    struct cawl_prediction prediction;

    for (size_t i = 0; i < N_OF(bad); i++)
        check_refused(&host, &plain_model, CAWL_STDIO, &bad[i]);
    assert_int_equal(cawl_predict(&host, &plain_model, CAWL_NAIVE, too_much, 3, &prediction), -EINVAL);
}

TEST(nothing_costs_nothing)
{
    for (enum cawl_mode mode = 0; mode < CAWL_N_MODES; mode++) {
        struct cawl_prediction prediction =
            cawl_rig_predict(&(struct cawl_options){.close = true}, mode, NULL, 0);

        assert_int_equal(prediction.n, 0);
        assert_close(prediction.total_s, 0, 0);
        assert_int_equal(prediction.n_changes, 0);
        cawl_prediction_done(&prediction);
        cawl_prediction_done(&prediction);
    }
}

#define LOAD_CHUNKS 60

static double draw(double most)
{
    return gsl_rng_uniform_int(rng, 3) == 0 ? 0 : most * gsl_rng_uniform_pos(rng);
}

static struct cawl_host draw_host(void)
{
    struct cawl_host host = cawl_rig_host();

    host.bw_ramdisk_bps = 1 + 200 * gsl_rng_uniform(rng);
    host.bw_ramdisk_first_touch_bps = 1 + 200 * gsl_rng_uniform(rng);
    host.bw_reduced_bps = 1 + 200 * gsl_rng_uniform(rng);
    host.bw_dev_bps = 1 + 100 * gsl_rng_uniform(rng);
    host.sc_w_s = draw(0.5);
    host.bf_bytes = 1 + (double)gsl_rng_uniform_int(rng, 300);
    host.limit_bg_bytes = 1 + 500 * gsl_rng_uniform(rng);
    host.limit_hard_bytes = host.limit_bg_bytes + 1e-3 + 500 * gsl_rng_uniform(rng);
    host.dirty_expire_s = 0.1 + 30 * gsl_rng_uniform(rng);
    return host;
}

static struct cawl_options draw_options(const struct cawl_host *host)
{
    struct cawl_options options = {.first_touch = gsl_rng_uniform_int(rng, 2),
                                   .close = gsl_rng_uniform_int(rng, 2),
                                   .piecewise = gsl_rng_uniform_int(rng, 2),
                                   .balanced = gsl_rng_uniform_int(rng, 2)};

    options.limit_share = draw(1);
    options.n_writers = (uint32_t)gsl_rng_uniform_int(rng, 4);
    options.writeback_interval_s = draw(10);
    options.allocation_bps = draw(100);
    options.burst_bytes = draw(500);
    options.burst_bps = host->bw_dev_bps + 1 + draw(300);
    return options;
}

static void draw_chunks(struct cawl_chunk *chunks)
{
    uint64_t largest = 1 + gsl_rng_uniform_int(rng, 3) * 150 + gsl_rng_uniform_int(rng, 50);
    double delay = draw(20);
    uint64_t next = 0;

    for (size_t i = 0; i < LOAD_CHUNKS; i++) {
        uint64_t offset = gsl_rng_uniform_int(rng, 2) ? next : gsl_rng_uniform_int(rng, 2000);
        uint64_t size = 1 + gsl_rng_uniform_int(rng, largest);
        uint32_t file = (uint32_t)gsl_rng_uniform_int(rng, 2);

        chunks[i] = (struct cawl_chunk){file, offset, size, draw(delay)};
        next = offset + size;
    }
}

static void check_properties(const struct cawl_host *host, const struct cawl_options *options,
                             const struct cawl_chunk *chunks, enum cawl_mode mode)
{
    CAWL_RIG_PREDICTION prediction = cawl_rig_predict_on(host, options, mode, chunks, LOAD_CHUNKS);
    double share = options->limit_share > 0 ? options->limit_share : 1, end = 0, total = 0, largest = 0;

    share /= options->n_writers > 1 ? options->n_writers : 1;
    for (size_t i = 0; i < LOAD_CHUNKS; i++) {
        double size = (double)chunks[i].size_bytes, cost = prediction.costs_s[i];

        /* A system call of stdio also takes what was in the buffer. */
        largest = fmax(largest, size + (mode == CAWL_STDIO ? host->bf_bytes : 0));
        end += cost + chunks[i].delay_s;
        total += cost;
        assert_true(isfinite(cost) && cost > 0);
        if (mode == CAWL_NOSYNC)
            assert_true(cost >= size / host->bw_ramdisk_bps * (1 - 1e-12));
        assert_true(prediction.dirty_bytes[i] >= 0);
        assert_true(prediction.dirty_bytes[i] <= host->limit_hard_bytes * share + largest + 1);
        assert_close(prediction.end_s[i], end, 1e-9 * end);
    }
    assert_close(prediction.total_s, total + prediction.close_s, 1e-9 * end);
    for (size_t i = 1; i < prediction.n_changes; i++) {
        const struct cawl_change *change = &prediction.changes[i];

        assert_true(change->run != change[-1].run && change->chunk >= change[-1].chunk);
        assert_true(change->at_s >= change[-1].at_s && change->written_bytes >= change[-1].written_bytes);
    }
}

TEST(dirty_and_costs_stay_in_bounds_for_random_loads)
{
    gsl_rng_set(rng, 0);
    struct cawl_chunk chunks[LOAD_CHUNKS];

    for (int load = 0; load < 4000; load++) {
        struct cawl_host host = draw_host();
        struct cawl_options options = load % 2 ? draw_options(&host) : plain_model;

        draw_chunks(chunks);
        check_properties(&host, &options, chunks, load % 3 ? CAWL_NOSYNC : CAWL_STDIO);
    }
}

/* Algorithm 1 as the paper prints it, with an array of blocks and in doubles; what the header adds is only
 * the wait at limit_hard. */
struct printed {
    const struct cawl_host *host;
    struct cawl_plain plain;
    double time, io_time, bw_avg;
};

static bool printed_expired(const struct printed *printed)
{
    for (size_t i = 0; i < printed->plain.n; i++) {
        if (printed->plain.blocks[i].endtime < printed->time - printed->host->dirty_expire_s)
            return true;
    }
    return false;
}

static void printed_flush(struct printed *printed, double interval)
{
    while (interval > 0 && printed->plain.n > 0 &&
           (cawl_plain_dirty(&printed->plain) >= printed->host->limit_bg_bytes || printed_expired(printed))) {
        struct cawl_plain_block *block = cawl_plain_evictable(&printed->plain);
        double needed = block->size / printed->host->bw_dev_bps;

        cawl_plain_clean(&printed->plain, block, interval * printed->host->bw_dev_bps);
        interval -= needed;
    }
}

static double printed_write(struct printed *printed, const struct cawl_chunk *chunk)
{
    const struct cawl_host *host = printed->host;
    double setpoint = (host->limit_bg_bytes + host->limit_hard_bytes) / 2, size = (double)chunk->size_bytes;
    double rate = host->bw_ramdisk_bps, dirty, cost;

    printed->time += chunk->delay_s;
    printed_flush(printed, chunk->delay_s);
    dirty = cawl_plain_dirty(&printed->plain);
    cost = size / rate;
    if (dirty < setpoint && (dirty >= host->limit_bg_bytes || printed_expired(printed))) {
        cost = size / host->bw_reduced_bps;
    } else if (dirty >= setpoint) {
        double pos_ratio = 1 + pow((setpoint - dirty) / (host->limit_hard_bytes - setpoint), 3);
        double wait =
            (dirty - setpoint) / host->bw_dev_bps + size / fmin(printed->bw_avg, host->bw_reduced_bps);

        rate = fmin(printed->bw_avg * pos_ratio, host->bw_reduced_bps);
        cost = rate > 0 ? fmin(size / rate, wait) : wait;
    }
    cost += host->sc_w_s;
    cawl_plain_write(&printed->plain, 0, (double)chunk->offset_bytes,
                     (double)(chunk->offset_bytes + chunk->size_bytes), printed->time + cost);
    printed->bw_avg = (printed->bw_avg * printed->io_time + size) / (printed->io_time + cost);
    printed->time += cost;
    printed->io_time += cost;
    printed_flush(printed, cost);
    return cost;
}

#define PRINTED_CHUNKS 120

static void draw_printed_load(struct cawl_chunk *chunks)
{
    const uint64_t unit = 1 << 20;
    bool random = gsl_rng_uniform(rng) < 0.5;
    double delay = gsl_rng_uniform(rng) < 0.5 ? 0 : 3 * gsl_rng_uniform(rng);
    uint64_t next = 0;

    for (size_t i = 0; i < PRINTED_CHUNKS; i++) {
        uint64_t size = unit + gsl_rng_uniform_int(rng, 40 * unit);

        chunks[i] = (struct cawl_chunk){0, next, size, delay * gsl_rng_uniform(rng)};
        next = random ? gsl_rng_uniform_int(rng, 900 * unit) : next + size - gsl_rng_uniform_int(rng, size);
    }
}

static struct cawl_host draw_printed_host(void)
{
    struct cawl_host host = cawl_rig_host();

    host.bw_ramdisk_bps = 4e9;
    host.bw_reduced_bps = 4e9 * (0.1 + 0.8 * gsl_rng_uniform(rng));
    host.bw_dev_bps = 5e7 + 4e8 * gsl_rng_uniform(rng);
    host.sc_w_s = 1e-3 * gsl_rng_uniform(rng);
    host.limit_bg_bytes = 5e7 + 4e8 * gsl_rng_uniform(rng);
    host.limit_hard_bytes = host.limit_bg_bytes + 9e7 + 4e8 * gsl_rng_uniform(rng);
    host.dirty_expire_s = 1 + 10 * gsl_rng_uniform(rng);
    return host;
}

TEST(random_loads_cost_what_the_printed_algorithm_says)
{
    gsl_rng_set(rng, 0);
    AUTO(auto_free) struct printed *printed = malloc(sizeof(*printed));
    struct cawl_chunk chunks[PRINTED_CHUNKS];

    for (int load = 0; load < 300; load++) {
        struct cawl_host host = draw_printed_host();

        draw_printed_load(chunks);

        CAWL_RIG_PREDICTION prediction =
            cawl_rig_predict_on(&host, &plain_model, CAWL_NOSYNC, chunks, PRINTED_CHUNKS);

        *printed = (struct printed){.host = &host};
        for (size_t i = 0; i < PRINTED_CHUNKS; i++) {
            double cost = printed_write(printed, &chunks[i]);

            /* The engine's bytes are whole: a byte of some 10^8, and pos_ratio is steep at limit_hard. */
            assert_close(prediction.costs_s[i], cost, 1e-4 * cost);
            assert_close(prediction.dirty_bytes[i], cawl_plain_dirty(&printed->plain), 1000);
        }
    }
}
