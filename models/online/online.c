/* What a slice of time showed decides which setting runs next. */
#include "models/online/online_internal.h"

#include <math.h>
#include <stdlib.h>

/* So many slices of another kind in a row are another phase. */
#define SLICES_OF_A_PHASE 2
#define LATE_SLICES       20
/* A tried slice of half the rate that it is compared with has shown enough. */
#define BAD_SHARE    0.5
#define BAD_REQUESTS 16
/* Where the slices before and after differ by so much, the trial says nothing. */
#define STEADY_RATIO  2.0
#define LATENCY_RATIO 1.03 /* of p99; what is shown to be more is 1.1 times of it at most */
/* One in 100 requests is slow always, and so many more may be because of trials: p99 stays about where it is.
 */
#define SLOW_USUAL   0.01
#define SLOW_SHARE   0.0025
#define USUAL_WEIGHT 0.125 /* of a slice in what is usual */
/* With each trial the worst one is forgotten a little. */
#define FADE 0.95
/* A trial takes the slice that it begins after, its own and the next one. */
#define TRIAL_SLICES 3

void online_init(struct online *online, const struct online_options *options)
{
    *online = (struct online){.options = *options, .kind = KIND_NONE};
    for (unsigned kind = 0; kind < KIND_N; kind++)
        online->mind[kind] = (struct online_mind){.best = options->first, .gain = 1};
    online->limits = latency_limits(&online->mind[0].usual, LATENCY_RATIO); /* none is known */
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
    online->goes_back = online->goes_back || (online->step != ONLINE_IDLE && online->is_other_tried);
    online->step = ONLINE_IDLE;
}

static struct latency_share share_of(const struct online *online, const struct latency_counts *counts)
{
    return latency_share_of(counts, &online->limits);
}

static void add_share(const struct online *online, struct latency_share *share,
                      const struct latency_counts *counts)
{
    struct latency_share more = share_of(online, counts);
    latency_share_add(share, &more);
}

/* How many requests of the trial were slow beyond those that are slow beside it: 1 % are always. */
static double n_made_slow(const struct online *online)
{
    double n = 0;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++) {
        double n_before = (double)online->before_share.n[group];
        double usual = n_before > 0 ? (double)online->before_share.n_slow[group] / n_before : 0;
        n += fmax(0, (double)online->tried_share.n_slow[group] -
                         fmax(SLOW_USUAL, usual) * (double)online->tried_share.n[group]);
    }
    return n;
}

/* Whom the trial makes wait. */
static void charge_waits(struct online *online, struct online_credit *credit)
{
    double n_slow = n_made_slow(online);
    credit->saved.slow_requests -= n_slow - online->n_charged;
    online->n_charged = n_slow;
    if (credit->slice_requests > 0)
        credit->worst_slow_share = fmax(credit->worst_slow_share, n_slow / credit->slice_requests);
}

static double loss_by_rate(const struct online *online, struct online_credit *credit,
                           const struct online_slice *slice)
{
    double lost = fmax(0, online->before_bps * slice->seconds - (double)slice->n_bytes);
    if (credit->slice_bytes > 0)
        credit->worst_slices = fmax(credit->worst_slices, lost / credit->slice_bytes);
    return lost;
}

/* What the last trial costs, until what it began is over and the way back is made; its kind pays. */
static void charge(struct online *online, const struct online_slice *slice)
{
    struct online_setting running = online_running(online);
    bool goes_on = online->step != ONLINE_IDLE;
    bool is_tried = goes_on && online_is_same(&slice->setting, &online->tried);
    double lost = goes_on || online->goes_back ? online->before_bps * slice->switch_seconds : 0;
    add_share(online, &online->tried_share, &slice->late_tried);
    if (is_tried)
        add_share(online, &online->tried_share, &slice->latencies);
    online->goes_back = online->goes_back && online_is_same(&slice->setting, &online->tried) &&
                        !online_is_same(&running, &online->tried);
    if (!online->is_other_tried)
        return;
    struct online_credit *credit = &online->mind[online->tried_kind].credit;
    charge_waits(online, credit);
    lost += is_tried ? loss_by_rate(online, credit, slice) : 0;
    credit->saved.bytes -= lost;
    online->regret_bytes += lost;
}

/* What must be saved up for a trial: it may be as bad as the worst one, serve nothing in a slice as they
 * usually are, and change the way there and back again. */
static struct online_price price_of_trial(const struct online *online)
{
    const struct online_credit *credit = &online->mind[online->kind].credit;
    double bps = credit->slice_seconds > 0 ? credit->slice_bytes / credit->slice_seconds : 0;
    return (struct online_price){
        .bytes = fmax(1, credit->worst_slices) * credit->slice_bytes + 2 * online->worst_switch_seconds * bps,
        .slow_requests = credit->worst_slow_share * credit->slice_requests,
    };
}

static double n_requests(const struct latency_counts *counts)
{
    double n = 0;
    for (unsigned group = 0; group < LATENCY_N_CLASSES; group++)
        for (unsigned i = 0; i < LATENCY_N_BUCKETS; i++)
            n += counts->n[group][i];
    return n;
}

static void note_usual(struct online_credit *credit, const struct online_slice *slice, double n)
{
    double weight = credit->slice_seconds > 0 ? USUAL_WEIGHT : 1;
    credit->slice_bytes += weight * ((double)slice->n_bytes - credit->slice_bytes);
    credit->slice_seconds += weight * (slice->seconds - credit->slice_seconds);
    credit->slice_requests += weight * (n - credit->slice_requests);
}

/* What was served pays for trials. */
static void account(struct online *online, const struct online_slice *slice)
{
    online->served_bytes += (double)slice->n_bytes;
    online->worst_switch_seconds = fmax(online->worst_switch_seconds, slice->switch_seconds);
    charge(online, slice);
    if (online->kind == KIND_NONE || slice->kind != online->kind)
        return;
    struct online_credit *credit = &online->mind[online->kind].credit;
    double n = n_requests(&slice->latencies);
    credit->saved.bytes += online->options.regret_share * (double)slice->n_bytes;
    credit->saved.slow_requests += SLOW_SHARE * n;
    if (online->step == ONLINE_IDLE && !online->goes_back) {
        note_usual(credit, slice, n);
        struct online_price enough = price_of_trial(online);
        credit->saved.bytes = fmin(credit->saved.bytes, enough.bytes);
        credit->saved.slow_requests = fmin(credit->saved.slow_requests, enough.slow_requests);
    }
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
    struct latency_limits limits = latency_limits(&mind->usual, LATENCY_RATIO);
    struct latency_share share = latency_share_of(&slice->latencies, &limits);
    if (online_is_other(online, mind) && online_is_same(&slice->setting, &mind->best) &&
        mind->next_check > mind->n_slices && waits_are_clearly_long(&share))
        mind->next_check = mind->n_slices;
}

static bool is_paid(const struct online *online)
{
    const struct online_price *saved = &online->mind[online->kind].credit.saved;
    struct online_price price = price_of_trial(online);
    return saved->bytes >= price.bytes && saved->slow_requests >= price.slow_requests;
}

static void begin(struct online *online, const struct online_slice *slice)
{
    struct online_mind *mind = &online->mind[online->kind];
    struct online_setting running = online_running(online);
    double over_seconds = slice->end_seconds + TRIAL_SLICES * online->last_wall_seconds;
    if (slice->n_tried_under_way > 0)
        return; /* what is slow is so by the limits of its trial */
    online->limits = latency_limits(&mind->usual, LATENCY_RATIO);
    if (!is_paid(online) || !online_is_same(&slice->setting, &running) ||
        phases_may_end(&online->phases, slice->end_seconds, over_seconds) ||
        !online_trial_begin(online, slice))
        return;
    online->before_share = online->beside_share = share_of(online, &slice->latencies);
    online->before_bps = online_rate(slice);
    online->before_seconds = slice->seconds;
    online->tried_kind = online->kind;
    online->is_other_tried = !online_is_same(&online->tried, &running);
    online->goes_back = false;
    online->tried_share = (struct latency_share){0};
    online->n_charged = 0;
    mind->credit.worst_slices *= FADE;
    mind->credit.worst_slow_share *= FADE;
    online->worst_switch_seconds *= FADE;
    online->step = ONLINE_TRYING;
    online->n_late = 0;
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
    add_share(online, &online->beside_share, &slice->late_others);
    online->step = ONLINE_AFTER;
    online->n_late = 0;
}

/* The slowest requests of a trial end after its slice, and are waited for. */
static void look_after(struct online *online, const struct online_slice *slice)
{
    struct online_setting running = online_running(online);
    bool is_running = online_is_same(&slice->setting, &running);
    double change = online_rate(slice) / online->before_bps;
    add_share(online, &online->beside_share, &slice->late_others);
    if ((!is_running || slice->n_tried_under_way > 0) && ++online->n_late <= LATE_SLICES)
        return;
    if (!is_running || !slice->is_whole || change > STEADY_RATIO || change < 1 / STEADY_RATIO) {
        drop_trial(online);
        return;
    }
    add_share(online, &online->beside_share, &slice->latencies);
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
    bool can_be = online->step == ONLINE_TRYING && !online->is_check;
    return can_be ? latency_limits_ns(&online->limits) : UINT64_MAX;
}

bool online_waits_too_long(const struct online *online, const struct latency_counts *latencies)
{
    struct latency_share share = share_of(online, latencies);
    return online_slow_ns(online) < UINT64_MAX && waits_are_clearly_long(&share);
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
    online->is_other_tried = online->goes_back = false;
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
