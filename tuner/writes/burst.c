/* Bursts after a search: refusals, the bursts themselves and what they say. */
#include "tuner/writes/burst.h"

#include "bench/base/units.h"
#include "tuner/base/interrupt.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_SHARE    0.25 /* of the budget */
#define WRITE_SHARE   0.25 /* of --max-write */
#define MEMORY_SHARE  0.5  /* of what is available: the page cache must hold a burst and its neighbours */
#define NAP_NS        20000000ULL
#define COST_MARGIN   1.2
#define LEAST_SECONDS 0.05
/* A run that moved a smaller share of the burst was cut off. */
#define WHOLE_SHARE 0.98

/* Of an answer that compares two settings. */
enum { LEAST_AFTER = 2 * BURST_LEAST, LEAST_BURSTS = 2 * BURST_LOOKS + LEAST_AFTER };

uint64_t burst_reserved_ns(const struct settings *settings)
{
    return settings->burst.bytes > 0 ? (uint64_t)((double)settings->limits.budget_ns * TIME_SHARE) : 0;
}

/* A share of --max-write, but no more than all bursts that can be made need. */
uint64_t burst_reserved_bytes(const struct settings *settings)
{
    double most = (double)settings->burst.bytes * (BURST_MAX_SETTINGS * BURST_LOOKS + 2 * BURST_MOST);
    return (uint64_t)fmin((double)settings->limits.max_write_bytes * WRITE_SHARE, most);
}

/* A burst takes at least so long, even on a device that takes it in no time. */
static double least_seconds(const struct settings *settings)
{
    return (double)settings->burst.interval_ns / 1e9 + LEAST_SECONDS;
}

/* The bursts of an answer, with their pauses, and as many seconds. */
static int check_time(const struct settings *settings, struct err *err)
{
    double needed_s = LEAST_BURSTS * least_seconds(settings) * COST_MARGIN;
    char least[UNITS_TEXT_SIZE];
    if (needed_s * 1e9 <= (double)burst_reserved_ns(settings))
        return 0;
    return err_set(err, -EINVAL,
                   "--burst-interval: the %d bursts of an answer with their pauses need %s, a quarter of "
                   "--budget; give --budget %.0fs or a shorter interval",
                   LEAST_BURSTS, units_format_duration((uint64_t)(needed_s * 1e9), least),
                   ceil(needed_s / TIME_SHARE));
}

/* Refuses a burst that cannot be written as often as an answer needs it. */
static int check_room(const struct settings *settings, uint64_t file_bytes, struct err *err)
{
    char burst[UNITS_TEXT_SIZE], room[UNITS_TEXT_SIZE];
    uint64_t bytes = settings->burst.bytes, least = bytes * LEAST_BURSTS;
    struct hostinfo_memory_room memory;
    hostinfo_find_memory_room(&memory);
    units_format_size(bytes, burst);
    if (bytes > file_bytes)
        return err_set(err, -EINVAL, "--burst %s: the file has %s; give --file-size %s or a smaller burst",
                       burst, units_format_size(file_bytes, room), burst);
    if ((double)bytes > MEMORY_SHARE * memory.bytes)
        return err_set(err, -EINVAL, "--burst %s: half of the memory available is %s; give a smaller burst",
                       burst, units_format_bytes((uint64_t)(MEMORY_SHARE * memory.bytes), room));
    if (least > burst_reserved_bytes(settings))
        return err_set(err, -EINVAL,
                       "--burst %s: the bursts of an answer write %s at least, a quarter of "
                       "--max-write; raise that or give a smaller burst",
                       burst, units_format_bytes(least, room));
    return 0;
}

static int check_host(const struct settings *settings, struct err *err)
{
    if (settings->prediction.host[0] == '\0')
        return 0;
    struct host_file *host = malloc(sizeof *host);
    int result = host == NULL ? err_set(err, -ENOMEM, "no memory for the host file")
                              : host_file_read(settings->prediction.host, host, err);
    free(host);
    return result;
}

int burst_check(struct session *session, uint64_t file_bytes, struct err *err)
{
    const struct settings *settings = session->settings;
    if (settings->burst.bytes == 0) {
        if (settings->burst.interval_ns > 0 || settings->prediction.host[0] != '\0')
            return err_set(err, -EINVAL, "--%s: is for bursts; give their size too, as --burst 256m",
                           settings->burst.interval_ns > 0 ? "burst-interval" : "host");
        return 0;
    }
    if (session->simulated)
        return err_set(err, -EINVAL, "--burst: a simulated surface has no page cache; leave --simulate out");
    if (pattern_reads(&settings->workload.pattern))
        return err_set(err, -EINVAL, "--burst: pattern %s reads; give one that only writes, as randwrite",
                       settings->workload.pattern.name);
    int result = check_host(settings, err);
    if (result == 0)
        result = check_time(settings, err);
    if (result == 0)
        result = check_room(settings, file_bytes, err);
    if (result == 0) {
        session->reserved_ns = burst_reserved_ns(settings);
        session->reserved_bytes = burst_reserved_bytes(settings);
    }
    return result;
}

static uint64_t deadline_ns(const struct tune *tune)
{
    return tune->session->start_ns + tune->settings->limits.budget_ns;
}

/* The pause before a burst. -EINTR when interrupted. */
static int pause_before(const struct tune *tune, struct err *err)
{
    uint64_t now_ns = tune_now_ns(tune), until_ns = now_ns + tune->settings->burst.interval_ns;
    for (; now_ns < until_ns; now_ns = tune_now_ns(tune)) {
        uint64_t nap_ns = until_ns - now_ns < NAP_NS ? until_ns - now_ns : NAP_NS;
        if (atomic_load(&interrupt_signal) != 0)
            return err_set(err, -EINTR, "interrupted");
        clock_sleep_until_ns(&tune->session->clock, now_ns + nap_ns);
    }
    return 0;
}

/* The flush at the end is in the span, whatever was asked for: both times come from one run. */
static struct measure_plan plan_of_burst_run(const struct tune *tune, const struct point *point)
{
    const struct settings *settings = tune->settings;
    uint64_t now_ns = tune_now_ns(tune), end_ns = deadline_ns(tune);
    uint64_t left_ns = end_ns > now_ns + CLOCK_NS_PER_S ? end_ns - now_ns : CLOCK_NS_PER_S;
    /* A buffered run of planned length is bounded by what filling wrote in that time. */
    double filling_s = 4 * (double)settings->burst.bytes / fmax(tune->session->target.fill_bps, 1e6);
    struct measure_plan plan = {
        .pattern = settings->workload.pattern,
        .point = *point,
        .duration_ns = left_ns + (uint64_t)(filling_s * 1e9),
        .whole = true,
        .longest_ns = left_ns,
        .warmup_coef = settings->runs.warmup_coef_share,
        .warmup_window = settings->runs.warmup_window,
        .batch_requests = settings->runs.batch_requests,
        .max_bytes = settings->burst.bytes,
    };
    if (plan.point.sync == SYNC_NONE)
        plan.point.sync = SYNC_END;
    return plan;
}

/* Refuses a burst that would be cut short: a part of one would say nothing. */
static int check_bytes(struct burst *burst, const struct tune *tune, struct err *err)
{
    const struct session *session = tune->session;
    uint64_t limit = session->write_limit_bytes, written = session->bytes_written;
    if (written <= limit && limit - written >= tune->settings->burst.bytes)
        return 0;
    burst->wrote_out = true;
    return err_set(err, -EDQUOT, "--max-write leaves no room for another burst");
}

static void note_failed(struct burst *burst, const struct tune *tune, struct burst_setting *setting,
                        const char *why)
{
    char text[FACTORS_TEXT_SIZE];
    setting->failed = true;
    snprintf(burst->failure, sizeof burst->failure,
             "the bursts of every setting that was tried failed, the last one because: %s", why);
    notes_add(&tune->session->dropped, factors_format(&setting->point, text), "a burst failed: %s", why);
}

/* One burst. 0, also where the setting failed; -EINTR, -EDQUOT and what ends the command. */
static int one_burst(struct burst *burst, struct tune *tune, struct burst_setting *setting,
                     struct histogram *latency, struct err *err)
{
    struct session *session = tune->session;
    struct measure_result measured;
    struct err why = {0};
    int result = check_bytes(burst, tune, err);
    if (result == 0)
        result = pause_before(tune, err);
    if (result < 0)
        return result;
    struct measure_plan plan = plan_of_burst_run(tune, &setting->point);
    histogram_init(latency);
    progress_show(&session->progress, "burst %zu of a setting %s the choice", setting->n + 1,
                  setting->n < BURST_LOOKS ? "before" : "after");
    result = session_measure(session, &plan, &measured, latency, &why);
    if (result < 0 && (result == -EINTR || result == -EDQUOT || session->target_lost || session->abandoned))
        return err_set(err, result, "%s", why.text);
    if (result < 0) {
        note_failed(burst, tune, setting, why.text);
        return 0;
    }
    double asked = (double)burst->settings->burst.bytes, moved = (double)measured.bytes_written;
    double least = fmin(asked * WHOLE_SHARE, asked - (double)(plan.point.request_size_bytes *
                                                              plan.point.queue_depth * plan.point.threads));
    if (moved < least) {
        note_failed(burst, tune, setting, "it was not over in time");
        return 0;
    }
    double scale = asked / moved;
    setting->accepted_s[setting->n] = (measured.seconds - measured.flush_seconds) * scale;
    setting->durable_s[setting->n++] = measured.seconds * scale;
    return 0;
}

/* slowest_s: of the bursts so far, with all that is around them. */
static bool has_time(const struct tune *tune, double slowest_s, size_t n_bursts)
{
    double needed_ns = (double)n_bursts * slowest_s * COST_MARGIN * 1e9;
    return (double)tune_now_ns(tune) + needed_ns <= (double)deadline_ns(tune);
}

/* One burst of each of the settings, in random order. 1: time or bytes are over. */
static int round_of(struct burst *burst, struct tune *tune, const size_t *which, size_t n, double *slowest_s,
                    struct histogram *latency, struct err *err)
{
    size_t order[BURST_MAX_SETTINGS];
    memcpy(order, which, n * sizeof order[0]);
    gsl_ran_shuffle(tune->engine.rng, order, n, sizeof order[0]);
    if (!has_time(tune, *slowest_s, n))
        return 1;
    for (size_t i = 0; i < n; i++) {
        struct burst_setting *setting = &burst->setting[order[i]];
        uint64_t start_ns = tune_now_ns(tune);
        if (!has_time(tune, *slowest_s, 1))
            return 1;
        int result = setting->failed ? 0 : one_burst(burst, tune, setting, latency, err);
        if (result == -EINTR)
            tune->engine.stop = ENGINE_STOP_INTERRUPTED;
        if (result < 0)
            return result == -EINTR || result == -EDQUOT || result == -ETIME ? 1 : result;
        *slowest_s = fmax(*slowest_s, (double)(tune_now_ns(tune) - start_ns) / 1e9);
    }
    return 0;
}

/* Times of the kind that decides. */
static const double *judged_s(const struct burst *burst, const struct burst_setting *setting)
{
    return burst->by_durable ? setting->durable_s : setting->accepted_s;
}

struct burst_figure burst_figure(const struct burst *burst, size_t setting, bool durable)
{
    const struct burst_setting *of = &burst->setting[setting];
    const double *values = durable ? of->durable_s : of->accepted_s;
    struct moments moments = moments_of(values + of->n_looks, of->n - of->n_looks);
    return (struct burst_figure){moments.n, moments.mean,
                                 student_interval(moments, burst->settings->runs.confidence_share)};
}

/* The quickest of a class by the bursts so far. */
static size_t quickest(const struct burst *burst, enum burst_class class)
{
    size_t found = BURST_NONE;
    double least = INFINITY;
    for (size_t i = 0; i < burst->n; i++) {
        const struct burst_setting *setting = &burst->setting[i];
        double mean = moments_of(judged_s(burst, setting), setting->n).mean;
        bool is_direct = setting->point.direct != 0;
        if (is_direct == (class == BURST_DIRECT) && !setting->failed && setting->n > 0 && mean < least) {
            found = i;
            least = mean;
        }
    }
    return found;
}

/* Writing a buffered burst back takes longer than the time until the next. */
static bool falls_behind(const struct burst *burst, size_t buffered)
{
    const struct burst_setting *setting = &burst->setting[buffered];
    double flush_s =
        moments_of(setting->durable_s, setting->n).mean - moments_of(setting->accepted_s, setting->n).mean;
    double interval_s = (double)burst->settings->burst.interval_ns / 1e9;
    return interval_s > 0 && flush_s > interval_s;
}

static void choose_burst_setting(struct burst *burst)
{
    burst->chosen[BURST_BUFFERED] = quickest(burst, BURST_BUFFERED);
    if (burst->chosen[BURST_BUFFERED] != BURST_NONE && falls_behind(burst, burst->chosen[BURST_BUFFERED])) {
        burst->falls_behind = burst->by_durable = true;
        burst->chosen[BURST_BUFFERED] = quickest(burst, BURST_BUFFERED);
    }
    burst->chosen[BURST_DIRECT] = quickest(burst, BURST_DIRECT);
    for (size_t i = 0; i < burst->n; i++)
        burst->setting[i].n_looks = burst->setting[i].n;
}

static struct moments log_moments(const struct burst *burst, size_t setting)
{
    const struct burst_setting *of = &burst->setting[setting];
    return moments_of_logs(judged_s(burst, of) + of->n_looks, of->n - of->n_looks);
}

static bool is_answer(const struct burst *burst, size_t setting)
{
    return setting != BURST_NONE && !burst->setting[setting].failed &&
           burst->setting[setting].n - burst->setting[setting].n_looks >= BURST_LEAST;
}

void burst_judge(struct burst *burst)
{
    size_t buffered = burst->chosen[BURST_BUFFERED], direct = burst->chosen[BURST_DIRECT];
    burst->best = is_answer(burst, buffered) ? buffered : is_answer(burst, direct) ? direct : BURST_NONE;
    burst->has_gain = is_answer(burst, buffered) && is_answer(burst, direct);
    if (!burst->has_gain)
        return;
    struct moments a = log_moments(burst, buffered), b = log_moments(burst, direct);
    if (b.mean < a.mean)
        burst->best = direct;
    struct welch welch = b.mean < a.mean ? welch_of(a, b) : welch_of(b, a);
    struct interval interval = welch_interval(welch, burst->settings->runs.confidence_share);
    burst->gain = exp(welch.difference);
    burst->gain_ci = (struct interval){exp(interval.low), exp(interval.high)};
    burst->conclusive = interval.low > 0;
}

/* What the model says at the setting that was chosen. */
static void explain_burst_choice(struct burst *burst)
{
    static struct cawl_advice_memo memo;
    size_t buffered = burst->chosen[BURST_BUFFERED];
    if (!burst->has_model || buffered == BURST_NONE)
        return;
    burst->modelled.request_bytes = burst->setting[buffered].point.request_size_bytes;
    memo.n = 0;
    burst->has_model =
        cawl_advice_cost(&burst->modelled, &burst->predicted) == 0 &&
        write_advice_find(&burst->modelled, burst->by_durable ? CAWL_ADVICE_FLUSHED : CAWL_ADVICE_BUFFERED,
                          &memo, &burst->crossings) == 0;
}

bool burst_contradicts(const struct burst *burst)
{
    const double *seconds = burst->predicted.seconds;
    bool says_direct = seconds[CAWL_ADVICE_DIRECT] < seconds[burst->crossings.first];
    return burst->has_model && burst->conclusive &&
           says_direct != (burst->setting[burst->best].point.direct != 0);
}

static int measure_burst(struct burst *burst, struct tune *tune, struct histogram *latency, struct err *err)
{
    size_t which[BURST_MAX_SETTINGS], n = 0;
    double slowest_s = least_seconds(burst->settings);
    int result = 0;
    /* The last were the least promising. */
    while (burst->n > 2 && !has_time(tune, slowest_s, BURST_LOOKS * burst->n + LEAST_AFTER))
        burst->n--;
    for (size_t i = 0; i < burst->n; i++)
        which[i] = i;
    for (size_t look = 0; look < BURST_LOOKS && result == 0; look++)
        result = round_of(burst, tune, which, burst->n, &slowest_s, latency, err);
    choose_burst_setting(burst);
    for (size_t class = 0; class < BURST_N_CLASSES; class ++) {
        if (burst->chosen[class] != BURST_NONE)
            which[n++] = burst->chosen[class];
    }
    for (size_t replay = 0; n > 0 && replay < BURST_MOST && result == 0; replay++)
        result = round_of(burst, tune, which, n, &slowest_s, latency, err);
    return result < 0 ? result : 0;
}

/* Looks at the chosen settings, or at all where none could be chosen. */
static bool all_failed(const struct burst *burst)
{
    size_t buffered = burst->chosen[BURST_BUFFERED], direct = burst->chosen[BURST_DIRECT];
    bool has_choice = buffered != BURST_NONE || direct != BURST_NONE;
    for (size_t i = 0; i < burst->n; i++) {
        if (!burst->setting[i].failed && (!has_choice || i == buffered || i == direct))
            return false;
    }
    return true;
}

/* Why there is no answer. */
static const char *why_not(const struct burst *burst)
{
    if (burst->n == 0)
        return "no setting that can be trusted was measured";
    if (all_failed(burst))
        return burst->failure;
    return burst->wrote_out ? "--max-write allowed too few bursts; raise it"
                            : "time allowed too few bursts; raise --budget";
}

int burst_run(struct burst *burst, struct tune *tune, struct err *err)
{
    const struct settings *settings = tune->settings;
    if (settings->burst.bytes == 0 || tune->engine.stop == ENGINE_STOP_INTERRUPTED ||
        tune->engine.stop == ENGINE_STOP_STALLED)
        return 0;
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    memset(burst, 0, sizeof *burst);
    burst->settings = settings;
    burst->by_durable = settings->workload.levels[FACTOR_SYNC].n > 0 &&
                        settings->workload.levels[FACTOR_SYNC].value[0] != SYNC_NONE;
    burst->has_model = settings->prediction.host[0] != '\0' &&
                       host_file_read(settings->prediction.host, &burst->host, NULL) == 0;
    tune->session->write_limit_bytes = settings->limits.max_write_bytes;
    burst_choose_settings(burst, tune);
    int result = measure_burst(burst, tune, latency, err);
    burst_judge(burst);
    explain_burst_choice(burst);
    if (burst->best == BURST_NONE)
        burst->why = why_not(burst);
    free(latency);
    return result;
}
