/* Finds bursts in the longer runs of the pilot. */
#include "tuner/search/rate_limit_bursts.h"

#include "tuner/search/tune.h"

#include <math.h>

/* Least number of requests per slot of the queue. With fewer, requests complete in groups that look like
 * bursts. */
#define LEAST_ROUNDS 32
/* A pause lasts longer than so many turnovers of the queue; less is how requests of a full queue complete. */
#define PAUSE_ROUNDS 4
/* And longer than this: what is read ahead comes in lumps of many requests, and limits that let something
 * pass more often do not show in the shortest runs. */
#define PAUSE_NS 25e6
/* Share of a run in pauses from which on it counts as bursts: other loads on the disk slow a run down, but do
 * not stop it. */
#define LEAST_IDLE 0.2
/* Runs that the budget is to leave room for; with fewer than the second, runs stay short. */
#define WANTED_RUNS 50
#define FEWEST_RUNS 30

void rate_limit_bursts_add(struct rate_limit_bursts *bursts, const double *rates, size_t n, double rounds)
{
    double share = fmax(PAUSE_ROUNDS / rounds, PAUSE_NS / (double)TUNE_TRANSIENT_RUN_NS);
    double idle = run_length_idle(rates, n, share * (double)n);
    if (isfinite(idle) && rounds >= LEAST_ROUNDS)
        moments_add(&bursts->idles, idle);
}

bool rate_limit_bursts_seen(const struct rate_limit_bursts *bursts)
{
    return bursts->idles.n > 0 && bursts->idles.mean >= LEAST_IDLE;
}

uint64_t rate_limit_bursts_least_ns(const struct tune *tune)
{
    double budget_ns = (double)tune->settings->limits.budget_ns;
    double around_ns = tune->engine.around_seconds * 1e9 + (double)RATE_LIMIT_BURSTS_WARMUP_NS;
    const struct rate_limit_bursts *bursts = &tune->length.bursts;
    if (!(bursts->known || rate_limit_bursts_seen(bursts)) ||
        budget_ns / FEWEST_RUNS - around_ns < (double)RATE_LIMIT_BURSTS_LEAST_NS)
        return 0;
    double wanted_ns = budget_ns / WANTED_RUNS - around_ns;
    return (uint64_t)fmin(fmax(wanted_ns, (double)RATE_LIMIT_BURSTS_LEAST_NS),
                          (double)RATE_LIMIT_BURSTS_MOST_NS);
}

void rate_limit_bursts_tell(const struct tune *tune)
{
    if (rate_limit_bursts_seen(&tune->length.bursts))
        notes_add(
            &tune->session->warnings, "rate_pulses",
            "rates come in bursts with pauses between them, as through a limit that lets so much pass at a "
            "time (%zu longer runs stood still for %.0f %% of the time); runs last %.2f s, and the shorter "
            "they are, the more their rates can be above what lasts: a larger --budget or --duration 1s "
            "tells more truly",
            tune->length.bursts.idles.n, 100 * tune->length.bursts.idles.mean,
            (double)tune->duration_ns / 1e9);
}
