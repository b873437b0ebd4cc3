/* tuner/session/beside_loads: the loads of --beside in a session. */
#include "tuner/session/beside_loads.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define P99           0.99
#define CONFIDENCE    0.95
#define MOST_EXPECTED 500.0

/* Alone: a twentieth of the budget, within these. */
#define BEFORE_SHARE    20
#define BEFORE_LEAST_NS (CLOCK_NS_PER_S / 2)
#define BEFORE_MOST_NS  (BESIDE_LOADS_ALONE_SECONDS * CLOCK_NS_PER_S)
#define BEFORE_WRITES   4 /* and a quarter of what --max-write leaves */

static int make_targets(struct session *session, struct beside *beside, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < beside->n && result == 0; i++) {
        struct target *target = &beside->target[i];
        result = session_make_load_target(session, TARGET_SIZE_MIN_BYTES, target, err);
        if (result < 0)
            break;
        session->bytes_written += target->filled_bytes + target->proof_bytes;
        const struct beside_load *load = &beside->load[i];
        if (load->direct && target->direct_offset_align_bytes > 0 &&
            load->request_bytes % target->direct_offset_align_bytes != 0)
            result =
                err_set(err, -EINVAL,
                        "--beside %s: direct requests are multiples of %u bytes here; give such a size, or "
                        "direct=0",
                        session->settings->beside.text[i], target->direct_offset_align_bytes);
    }
    return result;
}

void beside_loads_count(struct session *session)
{
    const struct beside *beside = session->beside != NULL ? &session->beside->beside : NULL;
    for (size_t i = 0; beside != NULL && i < beside->n; i++) {
        session->bytes_read += beside->figures[i].bytes_read;
        session->bytes_written += beside->figures[i].bytes_written;
    }
}

static int run_alone(struct session *session, struct beside_loads *loads, struct err *err)
{
    uint64_t time_ns = session->settings->limits.budget_ns / BEFORE_SHARE;
    time_ns = time_ns < BEFORE_LEAST_NS  ? BEFORE_LEAST_NS
              : time_ns > BEFORE_MOST_NS ? BEFORE_MOST_NS
                                         : time_ns;
    const uint64_t limit_ns = session->settings->beside.limit_p99_ns;
    uint64_t limit_bytes = session->write_limit_bytes, written = session->bytes_written;
    loads->beside.most_write_bytes = limit_bytes > written ? (limit_bytes - written) / BEFORE_WRITES + 1 : 1;
    int result = beside_start(&loads->beside, err);
    uint64_t end_ns = clock_now_ns(&session->clock) + time_ns, now_ns;
    while (result == 0 && atomic_load(session->env.interrupted) == 0 && !atomic_load(&loads->beside.spent) &&
           (now_ns = clock_now_ns(&session->clock)) < end_ns)
        clock_sleep_until_ns(&session->clock, now_ns + CLOCK_NS_PER_S / 50);
    if (result == 0)
        result = beside_stop(&loads->beside, err);
    for (size_t i = 0; i < loads->beside.n && result == 0; i++) {
        loads->before[i] = loads->beside.figures[i];
        if (limit_ns > 0 && beside_loads_judge(&loads->before[i].latency, limit_ns) == BESIDE_OVER)
            notes_add(&session->warnings, "beside_over_limit_alone",
                      "the load %s is above --beside-limit even alone; no setting can change that",
                      session->settings->beside.text[i]);
    }
    beside_loads_count(session);
    return result;
}

int beside_loads_open(struct session *session, struct err *err)
{
    const struct settings_beside *asked = &session->settings->beside;
    if (asked->n == 0)
        return 0;
    struct beside_loads *loads = calloc(1, sizeof *loads);
    if (loads == NULL)
        return err_set(err, -ENOMEM, "no memory for the loads beside");
    session->beside = loads;
    loads->beside.clock = &session->clock;
    loads->beside.n = asked->n;
    loads->beside.seed = rng_derive(session->seed, 3);
    for (size_t i = 0; i < asked->n; i++)
        loads->beside.load[i] = asked->load[i];
    int result = make_targets(session, &loads->beside, err);
    if (result == 0)
        result = run_alone(session, loads, err);
    session->env.beside = &loads->beside;
    return result;
}

static struct beside_record *find_record(const struct beside_loads *loads, const struct point *point)
{
    size_t i = 0;
    while (i < loads->n && !factors_equal(&loads->records[i].point, point))
        i++;
    return i < loads->n ? &loads->records[i] : NULL;
}

static struct beside_record *add_record(struct beside_loads *loads, const struct point *point)
{
    if (loads->n == loads->capacity) {
        size_t capacity = 2 * loads->capacity + 16;
        struct beside_record *list = realloc(loads->records, capacity * sizeof *list);
        if (list == NULL)
            return NULL;
        loads->records = list;
        loads->capacity = capacity;
    }
    struct beside_figures *figures = calloc(loads->beside.n, sizeof *figures);
    if (figures == NULL)
        return NULL;
    for (size_t i = 0; i < loads->beside.n; i++)
        histogram_init(&figures[i].latency);
    loads->records[loads->n] = (struct beside_record){.point = *point, .figures = figures};
    return &loads->records[loads->n++];
}

int beside_loads_note(struct session *session, const struct point *point, struct err *err)
{
    struct beside_loads *loads = session->beside;
    if (loads == NULL)
        return 0;
    if (atomic_load(&loads->beside.spent)) {
        session->wrote_out = true;
        return err_set(err, -EDQUOT,
                       "the loads beside have used up the write budget of %" PRIu64 " bytes; raise "
                       "--max-write, or give the loads a rate",
                       session->settings->limits.max_write_bytes);
    }
    struct beside_record *record = find_record(loads, point);
    if (record == NULL)
        record = add_record(loads, point);
    if (record == NULL)
        return err_set(err, -ENOMEM, "no memory for the loads beside");
    for (size_t i = 0; i < loads->beside.n; i++) {
        const struct beside_figures *last = &loads->beside.figures[i];
        struct beside_figures *all = &record->figures[i];
        histogram_merge(&all->latency, &last->latency);
        all->bytes_read += last->bytes_read;
        all->bytes_written += last->bytes_written;
        all->seconds += last->seconds;
    }
    return 0;
}

/* Of events of which `expected` are: the probability of at most k. */
static double poisson_at_most(uint64_t k, double expected)
{
    double term = exp(-expected), sum = term;
    for (uint64_t i = 1; i <= k; i++) {
        term *= expected / (double)i;
        sum += term;
    }
    return sum;
}

/* Whether the k-th largest latency, k = 1 being the largest, is above the limit. */
static bool is_above(const struct histogram *latency, uint64_t k, uint64_t limit_ns)
{
    uint64_t ns = 0;
    double share = 1 - ((double)k - 0.5) / (double)latency->n;
    return k <= latency->n && histogram_quantile_ns(latency, share, &ns) == 0 && ns > limit_ns;
}

enum beside_verdict beside_loads_judge(const struct histogram *latency, uint64_t limit_ns)
{
    double expected = (1 - P99) * (double)latency->n;
    uint64_t over = 1, within = 0;
    if (latency->n == 0)
        return BESIDE_UNSETTLED;
    /* Beyond this the exponential is too small to be added up, and the estimate is good enough. */
    if (expected > MOST_EXPECTED)
        return is_above(latency, (uint64_t)expected, limit_ns) ? BESIDE_OVER : BESIDE_WITHIN;
    while (poisson_at_most(over - 1, expected) < CONFIDENCE)
        over++;
    while (poisson_at_most(within, expected) <= 1 - CONFIDENCE)
        within++;
    if (is_above(latency, over, limit_ns))
        return BESIDE_OVER;
    return within > 0 && !is_above(latency, within, limit_ns) ? BESIDE_WITHIN : BESIDE_UNSETTLED;
}

bool beside_loads_over_limit(const struct session *session, const struct point *point)
{
    const struct settings_beside *asked = &session->settings->beside;
    const struct beside_figures *during =
        asked->limit_p99_ns > 0 ? beside_loads_during(session, point) : NULL;
    bool over = false;
    for (size_t i = 0; during != NULL && i < asked->n; i++)
        over |= beside_loads_judge(&during[i].latency, asked->limit_p99_ns) == BESIDE_OVER;
    return over;
}

/* A load without a rate is taken to be no faster than the fastest that was seen, or than it was alone. */
double beside_loads_write_bytes(const struct session *session, double seconds)
{
    const struct settings_beside *asked = &session->settings->beside;
    const struct beside_loads *loads = session->beside;
    double bytes = 0;
    for (size_t i = 0; i < asked->n; i++) {
        const struct beside_load *load = &asked->load[i];
        bool is_known = loads != NULL && loads->before[i].seconds > 0;
        double alone_bps = is_known ? (double)loads->before[i].bytes_written / loads->before[i].seconds : 0;
        double rate_bps =
            load->rate_bps > 0 ? (double)load->rate_bps : fmax(fmax(session->fastest_bps, alone_bps), 1);
        bytes += pattern_writes(&load->pattern) ? rate_bps * seconds : 0;
    }
    return bytes;
}

void beside_loads_allow(struct session *session, double bytes)
{
    if (session->beside != NULL)
        session->beside->beside.most_write_bytes = bytes > 1 ? (uint64_t)bytes : 1;
}

const struct beside_figures *beside_loads_during(const struct session *session, const struct point *point)
{
    const struct beside_record *record = session->beside != NULL ? find_record(session->beside, point) : NULL;
    return record != NULL ? record->figures : NULL;
}

void beside_loads_close(struct session *session)
{
    struct beside_loads *loads = session->beside;
    if (loads == NULL)
        return;
    beside_stop(&loads->beside, NULL);
    for (size_t i = 0; i < loads->beside.n; i++)
        target_close(&loads->beside.target[i]);
    for (size_t i = 0; i < loads->n; i++)
        free(loads->records[i].figures);
    free(loads->records);
    free(loads);
    session->beside = NULL;
}
