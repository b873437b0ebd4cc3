/* models/profile/look: counts of one moment, and their differences. */
#include "models/profile/look.h"

#include "models/profile/cells.h"

#include <math.h>

static void read_kinds(struct look *look, const struct store *store)
{
    static const enum summary_kind sequential[] = {SUMMARY_SEQ_READ, SUMMARY_SEQ_WRITE};
    static const enum summary_kind random[] = {SUMMARY_RAND_READ, SUMMARY_RAND_WRITE};
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++) {
        look->n[sequential[i]] = cells_read(&store->n[i][STREAM_SEQUENTIAL]);
        look->n[random[i]] =
            cells_read(&store->n[i][STREAM_RANDOM]) + cells_read(&store->n[i][STREAM_STRIDED]);
        look->n_unjudged += cells_read(&store->n_unjudged[i]);
        look->bytes[i] = cells_read(&store->bytes[i]);
    }
}

static void read_sizes(struct bins *copy, const struct bins *bins)
{
    for (size_t i = 0; i < BINS_N; i++) {
        copy->bin[i].n = cells_read(&bins->bin[i].n);
        copy->bin[i].candidate = cells_read(&bins->bin[i].candidate);
    }
}

void look_take(struct look *look, const struct store *store, uint64_t now_ns)
{
    uint64_t since_ns = cells_read(&store->paused_since_ns);
    if (since_ns != 0 && since_ns < now_ns)
        now_ns = since_ns;
    *look = (struct look){.at_ns = now_ns - cells_read(&store->paused_ns),
                          .n_flushes = cells_read(&store->n_flushes),
                          .n_direct = cells_read(&store->n_direct),
                          .n_lost = cells_read(&store->count[STORE_LOST_REQUESTS])};
    read_kinds(look, store);
    flight_sum(&store->flight, now_ns, &look->busy_ns, &look->area_ns);
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++)
        read_sizes(&look->sizes[i], &store->sizes[i]);
}

void look_start(struct look *look, const struct store *store)
{
    *look = (struct look){.at_ns = cells_read(&store->start_ns)};
}

/* A request that is judged again moves from one kind to another, so a count may fall. */
static double grown(uint64_t before, uint64_t after)
{
    return (double)cells_grown(before, after);
}

/* What most of the bin with the most new entries has. */
static uint64_t usual_size(const struct bins *before, const struct bins *after)
{
    size_t most = 0;
    double n_most = 0;
    for (size_t i = 0; i < BINS_N; i++) {
        double n = grown(before->bin[i].n, after->bin[i].n);
        if (n > n_most) {
            n_most = n;
            most = i;
        }
    }
    return n_most > 0 ? after->bin[most].candidate >> BINS_VOTE_BITS : 0;
}

uint64_t look_requests(const struct look *look)
{
    uint64_t n = look->n_unjudged;
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        n += look->n[i];
    return n;
}

void look_compare(const struct look *before, const struct look *after, struct look_rates *ret)
{
    double seconds = grown(before->at_ns, after->at_ns) / 1e9, judged = 0;
    double n = grown(look_requests(before), look_requests(after)), each = seconds > 0 ? 1 / seconds : 0;
    double busy_ns = after->busy_ns - before->busy_ns;
    *ret = (struct look_rates){.seconds = seconds,
                               .all_requests = n * each,
                               .flushes = grown(before->n_flushes, after->n_flushes) * each,
                               .depth = busy_ns > 0 ? (after->area_ns - before->area_ns) / busy_ns : NAN,
                               .direct_share =
                                   n > 0 ? fmin(1, grown(before->n_direct, after->n_direct) / n) : NAN};
    for (int i = 0; i < SUMMARY_N_KINDS; i++)
        judged += grown(before->n[i], after->n[i]);
    for (int i = 0; i < SUMMARY_N_KINDS; i++) {
        ret->requests[i] = grown(before->n[i], after->n[i]) * each;
        ret->share[i] = judged > 0 ? grown(before->n[i], after->n[i]) / judged : NAN;
    }
    for (int i = 0; i < PROFILE_N_DIRECTIONS; i++) {
        ret->bps[i] = grown(before->bytes[i], after->bytes[i]) * each;
        ret->size[i] = usual_size(&before->sizes[i], &after->sizes[i]);
    }
}
