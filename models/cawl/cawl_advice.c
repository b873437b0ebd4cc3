/* Ways of writing a burst, compared by the model. */
#include "models/cawl/cawl_advice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* More chunks tell no more about a burst, and an answer shall be instant. */
#define MAX_CHUNKS       2048
#define GRID_A_OCTAVE    4
#define BISECTIONS       12   /* of a quarter of an octave: far below 1 % */
#define ALIKE_SHARE      0.01 /* ways that differ by less are alike */
#define MAX_BURSTS       64   /* in a row */
#define LEAST_BURSTS     4
#define LEFT_CHUNKS      1024         /* the flusher ends between two of them */
#define MOST_BYTES       (1ULL << 55) /* all offsets of all bursts are below 2^63 */
#define FREE_RUN_FACTOR  64
#define FREE_RUN_DOUBLED 20

const char *const cawl_advice_names[CAWL_ADVICE_N_WAYS] = {"buffered", "buffered_flushed", "direct", "sync"};

/* Requests of a burst, joined to at most max_chunks chunks. */
struct joined {
    uint64_t chunk_bytes, n_chunks;
    double n_each; /* requests in a chunk */
};

static struct joined join_chunks(const struct cawl_advice_burst *burst, uint64_t max_chunks)
{
    uint64_t n = (burst->bytes - 1) / burst->request_bytes + 1;
    uint64_t each = (n - 1) / max_chunks + 1;
    return (struct joined){each * burst->request_bytes, (n - 1) / each + 1, (double)each};
}

/* A joined chunk costs the calls of all its requests, and the small pieces of each of them. */
static struct cawl_host host_of(const struct cawl_advice_burst *burst, const struct joined *joined)
{
    struct cawl_host changed = *burst->host;
    double small_s = cawl_small_s(burst->host, burst->options, (double)burst->request_bytes);
    changed.sc_w_s = joined->n_each * (burst->host->sc_w_s + small_s);
    return changed;
}

/* The chunks of one burst from `chunk` on. */
static void put_burst(const struct cawl_advice_burst *burst, const struct joined *joined,
                      uint64_t offset_bytes, double before_s, struct cawl_chunk *chunk)
{
    for (uint64_t i = 0, done = 0; i < joined->n_chunks; i++, done += joined->chunk_bytes) {
        uint64_t left = burst->bytes - done;
        chunk[i] = (struct cawl_chunk){
            .offset_bytes = offset_bytes + done,
            .size_bytes = left < joined->chunk_bytes ? left : joined->chunk_bytes,
            .delay_s = burst->delay_s * joined->n_each + (i == 0 ? before_s : 0),
        };
    }
}

static int predict_buffered(const struct cawl_advice_burst *burst, const struct joined *joined,
                            const struct cawl_chunk *chunks, size_t n, struct cawl_prediction *ret)
{
    if (joined->n_each <= 1)
        return cawl_predict(burst->host, burst->options, CAWL_NOSYNC, chunks, n, ret);
    const struct cawl_host changed = host_of(burst, joined);
    struct cawl_options large = *burst->options;
    large.small_calls = false;
    return cawl_predict(&changed, &large, CAWL_NOSYNC, chunks, n, ret);
}

/* A single burst, from a clean page cache. */
static int predict_alone(const struct cawl_advice_burst *burst, struct joined *ret_joined,
                         struct cawl_prediction *ret)
{
    *ret_joined = join_chunks(burst, MAX_CHUNKS);
    struct cawl_chunk *chunks = malloc(ret_joined->n_chunks * sizeof *chunks);
    if (chunks == NULL)
        return -ENOMEM;
    put_burst(burst, ret_joined, 0, 0, chunks);
    int result = predict_buffered(burst, ret_joined, chunks, ret_joined->n_chunks, ret);
    free(chunks);
    return result;
}

static int cost_alone(const struct cawl_advice_burst *burst, double *ret_s, double *ret_dirty_bytes)
{
    struct joined joined;
    struct cawl_prediction prediction = {0};
    int result = predict_alone(burst, &joined, &prediction);
    if (result == 0) {
        *ret_s = prediction.total_s;
        *ret_dirty_bytes = prediction.dirty_bytes[prediction.n - 1];
    }
    cawl_prediction_done(&prediction);
    return result;
}

static double computing_s(const struct cawl_advice_burst *burst)
{
    return burst->delay_s * ceil((double)burst->bytes / (double)burst->request_bytes);
}

/* Dirty bytes that bursts leave behind when they have come for long: what arrives while a page waits to
 * expire, but from limit_bg on the flusher works. */
static double left_behind(const struct cawl_advice_burst *burst, double alone_s)
{
    double cycle_s = burst->interval_s + computing_s(burst) + alone_s;
    return fmin(cawl_limit_share(burst->options) * burst->host->limit_bg_bytes,
                (double)burst->bytes / cycle_s * burst->host->dirty_expire_s);
}

/* Enough bursts in a row to reach the hard limit where they pile up. */
static size_t bursts_in_a_row(const struct cawl_advice_burst *burst)
{
    double n = ceil(2 * burst->host->limit_hard_bytes / (double)burst->bytes);
    return n < LEAST_BURSTS ? LEAST_BURSTS : n > MAX_BURSTS ? MAX_BURSTS : (size_t)n;
}

/* The last of several bursts, the first of which finds what others have left. */
static int cost_later(const struct cawl_advice_burst *burst, double *seconds, double *dirty_bytes)
{
    size_t n_bursts = bursts_in_a_row(burst), n = 0;
    struct joined joined = join_chunks(burst, MAX_CHUNKS / n_bursts);
    struct cawl_prediction prediction = {0};
    struct cawl_chunk *chunks = malloc((LEFT_CHUNKS + n_bursts * joined.n_chunks) * sizeof *chunks);
    double left_bytes = left_behind(burst, *seconds);
    if (chunks == NULL)
        return -ENOMEM;
    for (uint64_t piece = (uint64_t)(left_bytes / LEFT_CHUNKS); n < LEFT_CHUNKS && piece > 0; n++)
        chunks[n] = (struct cawl_chunk){.file = 1, .offset_bytes = n * piece, .size_bytes = piece};
    for (size_t i = 0; i < n_bursts; i++, n += joined.n_chunks)
        put_burst(burst, &joined, i * burst->bytes, i > 0 ? burst->interval_s : 0, chunks + n);
    int result = predict_buffered(burst, &joined, chunks, n, &prediction);
    if (result == 0) {
        *seconds = 0;
        for (size_t i = n - joined.n_chunks; i < n; i++)
            *seconds += prediction.costs_s[i];
        *dirty_bytes = prediction.dirty_bytes[n - 1];
    }
    cawl_prediction_done(&prediction);
    free(chunks);
    return result;
}

/* Requests that are durable one by one cost the same each, but the first, which may seek, and the last, which
 * may be smaller. */
static int cost_each(const struct cawl_advice_burst *burst, enum cawl_mode mode, double *ret_s)
{
    uint64_t n_whole = burst->bytes / burst->request_bytes, rest = burst->bytes % burst->request_bytes;
    uint64_t step = burst->request_bytes * (burst->random ? 2 : 1);
    struct cawl_chunk chunks[3] = {{.size_bytes = burst->request_bytes},
                                   {.size_bytes = burst->request_bytes, .offset_bytes = step},
                                   {.size_bytes = rest > 0 ? rest : 1, .offset_bytes = 2 * step}};
    struct cawl_prediction prediction = {0};
    int result = cawl_predict(burst->host, burst->options, mode, chunks, 3, &prediction);
    if (result == 0) {
        const double *cost = prediction.costs_s;
        *ret_s = (n_whole > 0 ? cost[0] + (double)(n_whole - 1) * cost[1] : 0) + (rest > 0 ? cost[2] : 0);
    }
    cawl_prediction_done(&prediction);
    return result;
}

int cawl_advice_cost(const struct cawl_advice_burst *burst, struct cawl_advice_cost *ret)
{
    struct cawl_advice_cost cost = {0};
    if (burst->bytes == 0 || burst->request_bytes == 0 || burst->request_bytes > MOST_BYTES ||
        burst->bytes > MOST_BYTES || !(burst->interval_s >= 0) || burst->options->burst_bytes > 0)
        return -EINVAL;
    double *seconds = cost.seconds;
    int result = cost_each(burst, CAWL_DIRECT, &seconds[CAWL_ADVICE_DIRECT]);
    if (result == 0)
        result = cost_each(burst, CAWL_SYNC, &seconds[CAWL_ADVICE_SYNC]);
    if (result == 0)
        result = cost_alone(burst, &seconds[CAWL_ADVICE_BUFFERED], &cost.dirty_bytes);
    if (result < 0)
        return result;
    seconds[CAWL_ADVICE_FLUSHED] = seconds[CAWL_ADVICE_BUFFERED] +
                                   cawl_written_back_s(burst->host, burst->options, cost.dirty_bytes) +
                                   burst->host->sc_sw_s;
    if (burst->interval_s > 0) {
        double cycle_s = burst->interval_s + computing_s(burst) + seconds[CAWL_ADVICE_BUFFERED];
        cost.piles_up = cawl_written_back_s(burst->host, burst->options, (double)burst->bytes) > cycle_s;
        result = cost_later(burst, &seconds[CAWL_ADVICE_BUFFERED], &cost.dirty_bytes);
    }
    if (result == 0)
        *ret = cost;
    return result;
}

int cawl_advice_remembered(const struct cawl_advice_burst *burst, struct cawl_advice_memo *memo,
                           struct cawl_advice_cost *ret)
{
    for (size_t i = 0; i < memo->n; i++) {
        if (memo->bytes[i] == burst->bytes) {
            *ret = memo->cost[i];
            return 0;
        }
    }
    int result = cawl_advice_cost(burst, ret);
    if (result == 0 && memo->n < CAWL_ADVICE_MEMO) {
        memo->bytes[memo->n] = burst->bytes;
        memo->cost[memo->n++] = *ret;
    }
    return result;
}

double cawl_advice_step(double bytes)
{
    return bytes * exp2(1.0 / GRID_A_OCTAVE);
}

uint64_t cawl_advice_whole(const struct cawl_advice_burst *burst, double bytes)
{
    return (uint64_t)fmax(floor(bytes / (double)burst->request_bytes), 1) * burst->request_bytes;
}

struct race {
    struct cawl_advice_burst burst;
    enum cawl_advice_way first, second;
    double lead;
    struct cawl_advice_memo *memo;
};

/* Log of how many times as fast the first way is as the second, over the lead that it shall have. */
static int lead_of(struct race *race, double bytes, double *ret_log)
{
    struct cawl_advice_cost cost;
    race->burst.bytes = cawl_advice_whole(&race->burst, bytes);
    int result = cawl_advice_remembered(&race->burst, race->memo, &cost);
    if (result == 0)
        *ret_log = log(cost.seconds[race->second] / cost.seconds[race->first] / race->lead);
    return result;
}

/* Finds where the lead is 0 between two sizes with leads of opposite signs. */
static int bisect(struct race *race, double low, double low_lead, double high, double *ret_bytes)
{
    double middle_lead;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = sqrt(low * high);
        int result = lead_of(race, middle, &middle_lead);
        if (result < 0)
            return result;
        if ((middle_lead > 0) == (low_lead > 0))
            low = middle;
        else
            high = middle;
    }
    *ret_bytes = sqrt(low * high);
    return 0;
}

int cawl_advice_crossings(const struct cawl_advice_burst *burst, enum cawl_advice_way first,
                          enum cawl_advice_way second, double lead, uint64_t low_bytes, uint64_t high_bytes,
                          struct cawl_advice_memo *memo,
                          struct cawl_advice_crossing ret[CAWL_ADVICE_MAX_CROSSINGS], size_t *ret_n)
{
    struct race race = {*burst, first, second, lead, memo};
    struct cawl_advice_crossing found[CAWL_ADVICE_MAX_CROSSINGS];
    double last = 0, last_lead = 0, now_lead;
    size_t n = 0;
    if (low_bytes == 0 || high_bytes <= low_bytes || !(lead > 0))
        return -EINVAL;
    for (double bytes = (double)low_bytes; n < CAWL_ADVICE_MAX_CROSSINGS; bytes = cawl_advice_step(bytes)) {
        bytes = fmin(bytes, (double)high_bytes);
        int result = lead_of(&race, bytes, &now_lead);
        bool sensitivity = result == 0 && fabs(now_lead) > ALIKE_SHARE;
        if (sensitivity && last_lead != 0 && (now_lead > 0) != (last_lead > 0)) {
            found[n].first_below = last_lead > 0;
            result = bisect(&race, last, last_lead, bytes, &found[n++].bytes);
        }
        if (result < 0)
            return result;
        if (sensitivity) {
            last = bytes;
            last_lead = now_lead;
        }
        if (bytes >= (double)high_bytes)
            break;
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = found[i];
    *ret_n = n;
    return 0;
}

/* Bytes before the first change of a burst that leaves free_run; INFINITY: none does. */
static int leaves_free_run(const struct cawl_advice_burst *burst, double *ret_bytes)
{
    struct joined joined;
    struct cawl_prediction prediction = {0};
    int result = predict_alone(burst, &joined, &prediction);
    *ret_bytes = INFINITY;
    for (size_t i = 0; result == 0 && i < prediction.n_changes && isinf(*ret_bytes); i++) {
        if (prediction.changes[i].run != CAWL_FREE_RUN)
            *ret_bytes = (double)prediction.changes[i].chunk * (double)joined.chunk_bytes;
    }
    cawl_prediction_done(&prediction);
    return result;
}

int cawl_advice_free_run(const struct cawl_advice_burst *burst, double *ret_bytes)
{
    struct cawl_advice_burst longer = *burst;
    double bytes = INFINITY;
    int result = 0;
    if (burst->request_bytes == 0 || !(burst->host->limit_hard_bytes > 0))
        return -EINVAL;
    /* The least size first: in a longer burst requests are joined to larger chunks. */
    for (int i = 0; i < FREE_RUN_DOUBLED && result == 0 && isinf(bytes); i++) {
        double size = burst->host->limit_bg_bytes * 1.25 * exp2(i);
        if (size > FREE_RUN_FACTOR * burst->host->limit_hard_bytes)
            break;
        longer.bytes = (uint64_t)size;
        result = leaves_free_run(&longer, &bytes);
    }
    if (result == 0)
        *ret_bytes = bytes;
    return result;
}
