/* tuner/session/neighbour_costs: the reference program beside each run, and alone before and after it. */
#include "tuner/session/neighbour_costs.h"

#include "models/impact/base_sequence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define ALONE_PART     2 /* of a run's length the reference runs alone between two runs */
#define ALONE_LEAST_NS (CLOCK_NS_PER_S / 5)
#define ALONE_MOST_NS  (2 * CLOCK_NS_PER_S)
#define STALE_NS       CLOCK_NS_PER_S /* what was alone so long before a run says nothing of it */
#define FIRST_BPS      64e6           /* of the reference's writes, before it was seen */
#define AROUND_RATIO   2              /* what a run takes in all, by its length */
#define RATE_MARGIN    2              /* it may be faster than it was */

bool neighbour_costs_are_wanted(const struct settings *settings)
{
    return settings->search.neighbour_limit_share > 0 || settings->limits.max_cost_share > 0;
}

int neighbour_costs_open(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    if (!neighbour_costs_are_wanted(settings))
        return 0;
    struct neighbour_costs *costs = calloc(1, sizeof *costs);
    if (costs == NULL)
        return err_set(err, -ENOMEM, "no memory for the reference program");
    session->neighbours = costs;
    costs->companion.reference = &costs->reference;
    costs->companion.most_write_bytes = UINT64_MAX;
    costs->last_share = NAN;
    int result =
        reference_open(&costs->reference, REFERENCE_FILES, settings->file.path, NEIGHBOUR_POINTS, err);
    session->env.companion = &costs->companion;
    return result;
}

static void add(struct neighbour_time *time, const struct companion *companion)
{
    time->steps += (double)companion->n_steps;
    time->seconds += companion->seconds;
}

static void take_bytes(struct neighbour_costs *costs)
{
    costs->written_bytes += costs->companion.written_bytes;
    costs->companion.written_bytes = 0;
}

static double rate_of(struct neighbour_time time)
{
    return time.seconds > 0 ? time.steps / time.seconds : NAN;
}

static uint64_t alone_ns(uint64_t run_ns)
{
    const uint64_t ns = run_ns / ALONE_PART;
    return ns < ALONE_LEAST_NS ? ALONE_LEAST_NS : ns > ALONE_MOST_NS ? ALONE_MOST_NS : ns;
}

/* Pauses cost nobody anything: so long that the mean over all of the time comes down to --max-cost. */
static int space_runs(struct session *session, struct neighbour_costs *costs, uint64_t run_ns,
                      struct err *err)
{
    const struct settings *settings = session->settings;
    const uint64_t now_ns = clock_now_ns(&session->clock),
                   end_ns = session->start_ns + settings->limits.budget_ns - session->reserved_ns;
    if (costs->first_ns == 0) {
        costs->first_ns = now_ns;
        pressure_read(&costs->pressure);
    }
    if (!(settings->limits.max_cost_share > 0))
        return 0;
    const double wanted_s = costs->cost_seconds / settings->limits.max_cost_share,
                 wait_s = wanted_s - (double)(now_ns - costs->first_ns) / 1e9;
    if (!(wait_s > 0))
        return 0;
    const double most_s =
        ((double)end_ns - (double)now_ns - AROUND_RATIO * (double)(2 * alone_ns(run_ns) + run_ns)) / 1e9;
    session->paused_out = wait_s > most_s;
    if (session->paused_out)
        return err_set(err, -EDQUOT, "pauses for --max-cost leave no time for another run");
    session_sleep_until(session, now_ns + (uint64_t)(wait_s * 1e9));
    costs->waited_seconds += (double)(clock_now_ns(&session->clock) - now_ns) / 1e9;
    return 0;
}

static int run_alone(struct session *session, struct neighbour_costs *costs, uint64_t run_ns,
                     struct neighbour_time *ret, struct err *err)
{
    struct companion *companion = &costs->companion;
    int result = companion_start(companion, err);
    if (result < 0)
        return result;
    session_sleep_until(session, clock_now_ns(&session->clock) + alone_ns(run_ns));
    result = companion_stop(companion, err);
    if (result < 0)
        return result;
    *ret = (struct neighbour_time){.end_ns = clock_now_ns(&session->clock)};
    add(ret, companion);
    if (companion->seconds > 0)
        costs->fastest_bps = fmax(costs->fastest_bps, (double)companion->written_bytes / companion->seconds);
    take_bytes(costs);
    /* What it left to be written would be charged to the next run. */
    return syncfs(costs->reference.dir_fd) == 0
               ? 0
               : err_sys(err, -errno, "%s: cannot be synced", costs->reference.directory);
}

int neighbour_costs_before_run(struct session *session, uint64_t run_ns, struct err *err)
{
    struct neighbour_costs *costs = session->neighbours;
    if (costs == NULL)
        return 0;
    costs->beside = (struct neighbour_time){0};
    costs->last_share = NAN;
    int result = space_runs(session, costs, run_ns, err);
    if (result < 0)
        return result;
    costs->before = costs->after;
    costs->after = (struct neighbour_time){0};
    /* What follows one run comes before the next. */
    return !(costs->before.seconds > 0) || clock_now_ns(&session->clock) - costs->before.end_ns > STALE_NS
               ? run_alone(session, costs, run_ns, &costs->before, err)
               : 0;
}

int neighbour_costs_after_run(struct session *session, uint64_t run_ns, struct err *err)
{
    struct neighbour_costs *costs = session->neighbours;
    if (costs == NULL)
        return 0;
    add(&costs->beside, &costs->companion);
    take_bytes(costs);
    return run_alone(session, costs, run_ns, &costs->after, err);
}

double neighbour_costs_last(const struct session *session)
{
    return session->neighbours != NULL ? session->neighbours->last_share : NAN;
}

void neighbour_costs_count(struct session *session)
{
    struct neighbour_costs *costs = session->neighbours;
    if (costs == NULL)
        return;
    take_bytes(costs);
    session->bytes_written += costs->written_bytes;
    costs->written_bytes = 0;
    if (!(costs->beside.seconds > 0 && costs->after.seconds > 0))
        return;
    const struct neighbour_time alone = {.steps = costs->before.steps + costs->after.steps,
                                         .seconds = costs->before.seconds + costs->after.seconds};
    const double cost_share =
        base_sequence_cost_of_rates(rate_of(alone), rate_of(costs->beside), NEIGHBOUR_POINTS);
    costs->last_share = cost_share;
    moments_add(&costs->runs, cost_share);
    costs->busy_seconds += costs->beside.seconds;
    /* A cost below 0 is chance, and evens out; but nobody owes us anything. */
    costs->cost_seconds = fmax(costs->cost_seconds + cost_share * costs->beside.seconds, 0);
}

struct neighbour_total neighbour_costs_total(const struct session *session)
{
    const struct neighbour_costs *costs = session->neighbours;
    struct neighbour_total total = {.cost_share = NAN};
    struct pressure now;
    if (costs == NULL || costs->first_ns == 0)
        return total;
    total.runs = costs->runs;
    total.seconds = (double)(clock_now_ns(&session->clock) - costs->first_ns) / 1e9;
    total.busy_seconds = costs->busy_seconds;
    total.waited_seconds = costs->waited_seconds;
    total.cost_share = costs->runs.n > 0 ? costs->cost_seconds / total.seconds : NAN;
    pressure_read(&now);
    for (int kind = 0; kind < PRESSURE_N; kind++)
        total.some_shares.some_s[kind] = (now.some_s[kind] - costs->pressure.some_s[kind]) / total.seconds;
    return total;
}

double neighbour_costs_write_bytes(const struct session *session, double seconds)
{
    const struct neighbour_costs *costs = session->neighbours;
    if (!neighbour_costs_are_wanted(session->settings))
        return 0;
    const double bps = costs != NULL && costs->fastest_bps > 0 ? RATE_MARGIN * costs->fastest_bps : FIRST_BPS;
    return bps * (seconds + 2 * (double)alone_ns((uint64_t)(seconds * 1e9)) / 1e9);
}

/* The reference runs before, beside and after a run. */
void neighbour_costs_allow(struct session *session, double bytes)
{
    if (session->neighbours != NULL)
        session->neighbours->companion.most_write_bytes = bytes > 3 ? (uint64_t)(bytes / 3) : 1;
}

void neighbour_costs_close(struct session *session)
{
    struct neighbour_costs *costs = session->neighbours;
    if (costs == NULL)
        return;
    companion_stop(&costs->companion, NULL);
    reference_close(&costs->reference);
    free(costs);
    session->neighbours = NULL;
}
