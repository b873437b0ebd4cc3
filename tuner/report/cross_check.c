/* fio beside fstune's own replays. */
#include "tuner/report/cross_check.h"

#include "bench/base/units.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/base/worker.h"
#include "tuner/report/cross_check_fio.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define TIMEOUT_LEAST_NS 60000000000ULL
#define COARSE_LOG       0.0953 /* ln 1.1 */
#define TIMEOUT_TIMES    20     /* what the replay took */
#define SHORT_FIO_MS     50     /* below this a rounding of 0.5 ms is more than 1 % */
#define PAIRS_IN_BLOCK   2

/* Lives on the heap and not on a stack: a thread that hangs in the kernel goes on using it. */
struct fio_turn {
    struct session *session;
    struct measure_plan plan;
    struct fio_job job;
    struct pattern pattern;
    struct point point;
    char file[48];
    uint64_t timeout_ns;
    struct fio_figures figures;
    bool settled;
    struct err err;
};

int cross_check_plan(const struct settings *settings, const struct point *point, struct err *err)
{
    if (settings->runs.cross_check[0] == '\0')
        return 0;
    if (settings->file.simulate[0] != '\0')
        return err_set(err, -EINVAL, "--cross-check: fio cannot run on a simulated surface");
    if (settings->runs.until_steady)
        return err_set(err, -EINVAL,
                       "--cross-check: fio between rounds would disturb --until-steady; give one of them");
    if (!fio_job_has_equal(point))
        return err_set(err, -EINVAL, "--cross-check: fio has nothing equal to %s; choose another --api",
                       api_names[point->api]);
    return 0;
}

int cross_check_open(struct cross_check *check, struct session *session, const struct point *point,
                     struct err *err)
{
    *check = (struct cross_check){.point = *point};
    if (session->settings->runs.cross_check[0] == '\0')
        return 0;
    check->session = session;
    check->bps = calloc(session->settings->runs.replays, sizeof *check->bps);
    if (check->bps == NULL)
        return err_set(err, -ENOMEM, "no memory for runs of fio");
    rng_init(&check->rng, rng_derive(session->seed, 2));
    return cross_check_fio_version(&interrupt_signal, check->version, sizeof check->version, err);
}

void cross_check_close(struct cross_check *check)
{
    free(check->bps);
    check->bps = NULL;
}

static int take_turn(void *context)
{
    struct fio_turn *turn = context;
    const struct measure_env *env = &turn->session->env;
    int result = measure_prepare(env, &turn->plan, &turn->err);
    if (result == 0)
        result =
            cross_check_fio_run(&turn->job, turn->timeout_ns, env->interrupted, &turn->figures, &turn->err);
    int settled = measure_settle(env, &turn->settled, result == 0 ? &turn->err : NULL);
    return result < 0 ? result : settled;
}

static struct fio_turn *turn_new(const struct cross_check *check, const struct sample *latest)
{
    struct session *session = check->session;
    struct fio_turn *turn = calloc(1, sizeof *turn);
    if (turn == NULL)
        return NULL;
    uint64_t timeout_ns = (uint64_t)(latest->seconds * TIMEOUT_TIMES * 1e9);
    turn->session = session;
    turn->pattern = session->settings->workload.pattern;
    turn->point = check->point;
    turn->plan = (struct measure_plan){.pattern = turn->pattern, .point = turn->point};
    turn->timeout_ns = timeout_ns > TIMEOUT_LEAST_NS ? timeout_ns : TIMEOUT_LEAST_NS;
    /* The file may have no name: fio reaches it as runs of fstune do. */
    snprintf(turn->file, sizeof turn->file, "/proc/%ld/fd/%d", (long)getpid(), session->target.fd);
    turn->job = (struct fio_job){
        .pattern = &turn->pattern,
        .point = &turn->point,
        .file = turn->file,
        .file_bytes = session->target.size_bytes,
        .io_bytes = latest->moved_bytes,
        .advise = session->env.advise,
        .skew = session->env.skew,
        .content = session->env.content,
        .shared_region = session->env.shared_region,
        .between_replays = true,
    };
    return turn;
}

/* fio's writes count like our own. */
static bool may_write(struct cross_check *check, const struct fio_turn *turn)
{
    struct session *session = check->session;
    uint64_t limit = session->write_limit_bytes;
    uint64_t left = limit > session->bytes_written ? limit - session->bytes_written : 0;
    if (!pattern_writes(&turn->pattern) || fio_job_bytes(&turn->job) <= left)
        return true;
    check->ended = true;
    notes_add(&session->warnings, "max_write", "fewer runs of fio than replays: --max-write is used up");
    return false;
}

static void add_fio_run(struct cross_check *check, const struct fio_figures *figures)
{
    check->bps[check->n++] = figures->throughput_bps;
    if (figures->span_ms < SHORT_FIO_MS)
        notes_add(&check->session->warnings, "cross_check_short",
                  "fio counts whole milliseconds, and its runs took fewer than %d of them; use a longer "
                  "--duration or a larger --file-size",
                  SHORT_FIO_MS);
    check->starts_unknown |= !figures->span_known;
    if (!figures->span_known)
        notes_add(
            &check->session->warnings, "cross_check_starts",
            "this fio does not tell when its jobs began (newer ones do): the longest run time of a job is "
            "taken for that of all, and fio looks too fast where they ran one after the other");
}

static int run_fio(struct cross_check *check, const struct record *record, struct err *err)
{
    struct session *session = check->session;
    struct fio_turn *turn = turn_new(check, &record->samples[record->n - 1]);
    if (turn == NULL)
        return err_set(err, -ENOMEM, "no memory for a run of fio");
    if (!may_write(check, turn)) {
        free(turn);
        return 0;
    }
    int result = worker_call(take_turn, turn, &session->abandoned, err);
    if (session->abandoned)
        return result; /* the turn is left to the thread that hangs */
    if (result < 0 && turn->err.code != 0)
        err_set(err, result, "%s", turn->err.text);
    /* Of a run that failed nobody knows how much it wrote: all of it, to be safe. */
    bool writes = pattern_writes(&turn->pattern);
    session->bytes_read += turn->figures.bytes_read;
    session->bytes_written += result == 0 ? turn->figures.bytes_written
                              : writes    ? fio_job_bytes(&turn->job)
                                          : 0;
    if (result == 0)
        add_fio_run(check, &turn->figures);
    free(turn);
    return result;
}

int cross_check_before(struct cross_check *check, const struct record *record, struct err *err)
{
    if (check->session == NULL || check->ended)
        return 0;
    /* fio moves the bytes of a replay, so that the very first pair begins with one. */
    bool opens_block = record->n % PAIRS_IN_BLOCK == 0;
    if (opens_block)
        check->block_first = record->n > 0 && (rng_next(&check->rng) >> 63) != 0;
    check->second_first = opens_block ? check->block_first : !check->block_first;
    return check->second_first ? run_fio(check, record, err) : 0;
}

int cross_check_after(struct cross_check *check, const struct record *record, struct err *err)
{
    if (check->session == NULL || check->ended || check->second_first)
        return 0;
    return run_fio(check, record, err);
}

struct cross_check_result cross_check_judge(struct moments own_logs, const double *bps, size_t n,
                                            double confidence)
{
    struct cross_check_result result = {
        .mean_bps = NAN, .ratio = NAN, .interval = {NAN, NAN}, .why_not = "there are no runs to compare"};
    if (n == 0 || own_logs.n == 0)
        return result;
    struct moments logs = moments_of_logs(bps, n);
    result.mean_bps = moments_of(bps, n).mean;
    result.ratio = exp(own_logs.mean - logs.mean);
    if (n >= 3 && own_logs.n >= 3) {
        struct interval interval = welch_interval(welch_of(own_logs, logs), confidence);
        result.interval = (struct interval){exp(interval.low), exp(interval.high)};
    }
    result.known = isfinite(result.interval.low) || fabs(result.ratio - 1) <= CROSS_CHECK_AGREES_SHARE;
    double width = log(result.interval.high) - log(result.interval.low);
    result.coarse = !(width <= 2 * COARSE_LOG); /* true for NaN */
    result.agrees = fabs(result.ratio - 1) <= CROSS_CHECK_AGREES_SHARE ||
                    (result.interval.low <= 1 && result.interval.high >= 1);
    result.why_not = result.agrees      ? NULL
                     : !result.known    ? "too few runs to tell: --replays 3 at least"
                     : result.ratio > 1 ? "fstune is more than 3 % faster, beyond the scatter of the runs"
                                        : "fio is more than 3 % faster, beyond the scatter of the runs";
    return result;
}

static struct cross_check_result judge_cross_check(const struct cross_check *check,
                                                   const struct record *record)
{
    struct cross_check_result result =
        cross_check_judge(record_log_moments(record, false), check->bps, check->n,
                          check->session->settings->runs.confidence_share);
    if (check->starts_unknown && check->n > 0) {
        result.known = result.agrees = false;
        result.why_not = "cannot be known: this fio does not tell when its jobs began, and looks too fast "
                         "where they ran one after the other";
    }
    return result;
}

static json_t *json_list_of_differences(const struct pattern *pattern, const struct point *point)
{
    json_t *list = json_array();
    const char *text;
    for (size_t i = 0; list != NULL && (text = fio_job_difference(pattern, point, i)) != NULL; i++)
        json_array_append_new(list, json_string(text));
    return list;
}

json_t *cross_check_json(const struct cross_check *check, const struct record *record)
{
    const struct settings *settings = check->session->settings;
    struct cross_check_result result = judge_cross_check(check, record);
    json_t *runs = json_array();
    for (size_t i = 0; i < check->n; i++)
        json_array_append_new(runs, json_number(check->bps[i]));
    return json_pack(
        "{s:s, s:o, s:I, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "tool", "fio", "version",
        json_text(check->version), "replays", (json_int_t)check->n, "mean_bps", json_number(result.mean_bps),
        "ratio", json_interval(result.ratio, result.interval.low, result.interval.high), "coarse",
        result.coarse, "agrees", result.known ? json_boolean(result.agrees) : json_null(), "why_not",
        result.why_not != NULL ? json_string(result.why_not) : json_null(), "differences",
        json_list_of_differences(&settings->workload.pattern, &check->point), "runs", runs);
}

void cross_check_print(FILE *out, const struct cross_check *check, const struct record *record)
{
    char mean[UNITS_TEXT_SIZE];
    const struct settings *settings = check->session->settings;
    struct cross_check_result result = judge_cross_check(check, record);
    fprintf(out, "fio %-8s %s, %zu runs", check->version, text_short_rate(result.mean_bps, mean), check->n);
    if (isfinite(result.ratio))
        fprintf(out, "; fstune / fio = %.3f", result.ratio);
    if (isfinite(result.interval.low))
        fprintf(out, "  (%g %% interval %.3f to %.3f)", settings->runs.confidence_share * 100,
                result.interval.low, result.interval.high);
    if (!result.known)
        fprintf(out, "\n             %s\n", result.why_not);
    else
        fprintf(out, "\n             %s%s%s\n",
                result.agrees ? "they agree" : "they do not agree: ", result.agrees ? "" : result.why_not,
                result.coarse ? ", as far as runs that scatter so much can tell" : "");
    const char *text;
    for (size_t i = 0; (text = fio_job_difference(&settings->workload.pattern, &check->point, i)) != NULL;
         i++)
        fprintf(out, "             not the same: %s\n", text);
}
