/* What a slice of time showed decides which setting runs next. */
#include "models/online/online_internal.h"

#include <math.h>
#include <stdlib.h>

#define WINDOW_SECONDS 60.0
/* So many slices of another kind in a row are another phase. */
#define SLICES_OF_A_PHASE 2
#define LATE_SLICES       20
/* A tried slice of half the rate that it is compared with has shown enough. */
#define BAD_SHARE    0.5
#define BAD_REQUESTS 16
/* Where the slices before and after differ by so much, the trial says nothing. */
#define STEADY_RATIO  2.0
#define LATENCY_RATIO 1.5 /* of p99 */
/* A trial takes the slice that it begins after, its own and the next one. */
#define TRIAL_SLICES 3

void online_init(struct online *online, const struct online_options *options)
{
    *online = (struct online){.options = *options, .kind = KIND_NONE};
    if (options->window_seconds <= 0)
        online->options.window_seconds = WINDOW_SECONDS;
    for (unsigned kind = 0; kind < KIND_N; kind++)
        online->mind[kind] = (struct online_mind){.best = options->first, .gain = 1};
    phases_init(&online->phases);
}

void online_mind_clear(struct online_mind *mind)
{
    fst_search_free(mind->search);
    free(mind->ratios);
    free(mind->waits);
    mind->search = NULL;
    mind->ratios = NULL;
    mind->waits = NULL;
    mind->has_run = mind->is_due = mind->is_away = false;
}

void online_done(struct online *online)
{
    for (unsigned kind = 0; kind < KIND_N; kind++)
        online_mind_clear(&online->mind[kind]);
}

struct online_setting online_running(const struct online *online)
{
    if (online->is_pinned)
        return online->pinned;
    if (online->kind == KIND_NONE)
        return online->options.first;
    const struct online_setting *best = &online->mind[online->kind].best;
    return online->options.may_use(online->options.context, best) ? *best : online->options.first;
}

static void drop_trial(struct online *online)
{
    online->n_dropped += online->step != ONLINE_IDLE;
    online->step = ONLINE_IDLE;
}

/* What was served, and what the running setting would have served beside it. */
static void account(struct online *online, const struct online_slice *slice)
{
    double fade = exp(-(slice->seconds + slice->switch_seconds) / online->options.window_seconds), lost = 0;
    struct online_setting running = online_running(online);
    if (online->step != ONLINE_IDLE)
        lost = online->before_bps * slice->switch_seconds;
    online->window_worst *= fade;
    if (online->step == ONLINE_TRYING && online_is_same(&slice->setting, &online->tried) &&
        !online_is_same(&online->tried, &running)) {
        double lost_by_rate = fmax(0, online->before_bps * slice->seconds - (double)slice->n_bytes);
        online->window_worst =
            fmax(online->window_worst, lost_by_rate / (online->before_bps * online->before_seconds));
        lost += lost_by_rate;
    }
    online->served_bytes += (double)slice->n_bytes;
    online->regret_bytes += lost;
    online->window_bytes = online->window_bytes * fade + (double)slice->n_bytes;
    online->window_regret_bytes = online->window_regret_bytes * fade + lost;
    online->window_switch_seconds = fmax(online->window_switch_seconds * fade, slice->switch_seconds);
}

/* True where the load is of the kind that goes on. */
static bool follow_phase(struct online *online, const struct online_slice *slice)
{
    if (slice->kind == online->kind && slice->kind != KIND_NONE) {
        online->n_other = 0;
        online->mind[slice->kind].n_slices++;
        online->kind_seconds = slice->end_seconds;
        return true;
    }
    drop_trial(online);
    if (slice->kind != KIND_NONE && (online->kind == KIND_NONE || ++online->n_other >= SLICES_OF_A_PHASE)) {
        phases_change(&online->phases, slice->kind, online->kind_seconds);
        online->kind = slice->kind;
        online->kind_seconds = slice->end_seconds;
        online->n_other = 0;
        online->n_switches++;
    }
    return false;
}

/* What the first setting makes requests wait is usual. A best that keeps them waiting much longer than that
 * is compared with it at once. */
static void note_latencies(struct online *online, const struct online_slice *slice)
{
    struct online_mind *mind = &online->mind[online->kind];
    struct online_setting running = online_running(online);
    if (slice->is_whole && online_is_same(&slice->setting, &online->options.first))
        latency_pool_add(&mind->usual, &slice->latencies);
    if (online_is_same(&running, &online->options.first))
        latency_pool_add(&mind->usual, &slice->late_others);
    else if (online->is_check && online->step != ONLINE_IDLE)
        latency_pool_add(&mind->usual, &slice->late_tried);
    if (online_is_other(online, mind) && online_is_same(&slice->setting, &mind->best) &&
        mind->next_check > mind->n_slices &&
        waits_are_clearly_long(
            latency_share_of(&slice->latencies, latency_limit(&mind->usual, LATENCY_RATIO))))
        mind->next_check = mind->n_slices;
}

static void begin(struct online *online, const struct online_slice *slice)
{
    /* There, and back again. */
    double switches = 2 * online->window_switch_seconds * online_rate(slice);
    double expected =
        online->window_regret_bytes + fmax(1, online->window_worst) * (double)slice->n_bytes + switches;
    double over_seconds = slice->end_seconds + TRIAL_SLICES * online->last_wall_seconds;
    struct online_setting running = online_running(online);
    online->limit = latency_limit(&online->mind[online->kind].usual, LATENCY_RATIO);
    if (!online_is_same(&slice->setting, &running) ||
        expected > online->options.regret_share * online->window_bytes ||
        phases_may_end(&online->phases, slice->end_seconds, over_seconds) || slice->n_tried_under_way > 0 ||
        !online_trial_begin(online, slice))
        return;
    online->beside_share = latency_share_of(&slice->latencies, online->limit);
    online->before_bps = online_rate(slice);
    online->before_seconds = slice->seconds;
    online->step = ONLINE_TRYING;
    online->n_late = 0;
}

void online_add_share(struct latency_share *share, const struct latency_counts *counts, unsigned limit)
{
    struct latency_share more = latency_share_of(counts, limit);
    share->n += more.n;
    share->n_slow += more.n_slow;
}

/* The tried setting may come late, when it has to wait for the client's flush. */
static void look_at_tried(struct online *online, const struct online_slice *slice)
{
    if (!online_is_same(&slice->setting, &online->tried)) {
        if (++online->n_late > LATE_SLICES)
            drop_trial(online);
        return;
    }
    if (!slice->is_whole) {
        drop_trial(online);
        return;
    }
    online->tried_bps = online_rate(slice);
    online->tried_share = latency_share_of(&slice->latencies, online->limit);
    online_add_share(&online->beside_share, &slice->late_others, online->limit);
    online->step = ONLINE_AFTER;
    online->n_late = 0;
}

/* The slowest requests of a trial end after its slice, and are waited for. */
static void look_after(struct online *online, const struct online_slice *slice)
{
    struct online_setting running = online_running(online);
    bool is_running = online_is_same(&slice->setting, &running);
    double change = online_rate(slice) / online->before_bps;
    online_add_share(&online->tried_share, &slice->late_tried, online->limit);
    online_add_share(&online->beside_share, &slice->late_others, online->limit);
    if ((!is_running || slice->n_tried_under_way > 0) && ++online->n_late <= LATE_SLICES)
        return;
    if (!is_running || !slice->is_whole || change > STEADY_RATIO || change < 1 / STEADY_RATIO) {
        drop_trial(online);
        return;
    }
    online_trial_end(online, slice);
    online->step = ONLINE_IDLE;
}

struct online_setting online_next(struct online *online, const struct online_slice *slice)
{
    account(online, slice);
    online->last_wall_seconds = slice->end_seconds - online->now_seconds;
    online->now_seconds = slice->end_seconds;
    bool is_known = follow_phase(online, slice) && slice->seconds > 0 && slice->n_bytes > 0;
    bool may_try = !online->is_frozen && !online->is_pinned && !online->options.dry_run;
    if (online->step == ONLINE_TRYING && !online->options.may_use(online->options.context, &online->tried))
        drop_trial(online);
    if (is_known)
        note_latencies(online, slice);
    if (is_known && may_try) {
        if (online->step == ONLINE_TRYING)
            look_at_tried(online, slice);
        else if (online->step == ONLINE_AFTER)
            look_after(online, slice);
        if (online->step == ONLINE_IDLE && slice->is_whole)
            begin(online, slice);
    }
    return online->step == ONLINE_TRYING ? online->tried : online_running(online);
}

bool online_should_end(const struct online *online, uint64_t n_requests, uint64_t n_bytes, double seconds)
{
    return online->step == ONLINE_TRYING &&
           (n_requests >= BAD_REQUESTS || seconds >= online->before_seconds) &&
           (double)n_bytes < BAD_SHARE * online->before_bps * seconds;
}

uint64_t online_slow_ns(const struct online *online)
{
    bool can_be = online->step == ONLINE_TRYING && !online->is_check && online->limit > 0;
    return can_be ? latency_end_ns(online->limit - 1) : UINT64_MAX;
}

bool online_waits_too_long(const struct online *online, const struct latency_counts *latencies)
{
    return online_slow_ns(online) < UINT64_MAX &&
           waits_are_clearly_long(latency_share_of(latencies, online->limit));
}

void online_freeze(struct online *online)
{
    drop_trial(online);
    online->is_frozen = true;
}

void online_thaw(struct online *online)
{
    online->is_frozen = false;
}

void online_pin(struct online *online, const struct online_setting *setting)
{
    drop_trial(online);
    online->is_pinned = setting != NULL;
    if (setting != NULL)
        online->pinned = *setting;
}

void online_forget(struct online *online)
{
    drop_trial(online);
    online->generation++;
    phases_init(&online->phases);
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        online_mind_clear(&online->mind[kind]);
        online->mind[kind] = (struct online_mind){.best = online->options.first, .gain = 1};
    }
}

void online_remember(struct online *online, unsigned kind, const struct online_setting *best, double gain)
{
    online->mind[kind] = (struct online_mind){.is_settled = true, .best = *best, .gain = gain};
}
