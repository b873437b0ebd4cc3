/* One setting on several targets, together and each alone. */
#include "tuner/session/members_study.h"

#include "tuner/session/session_members.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SEED_STREAM 7

void members_study_open(struct members_study *study, struct session *session)
{
    *study = (struct members_study){.session = session_n_members(session) > 1 ? session : NULL};
    rng_init(&study->rng, rng_derive(session->seed, SEED_STREAM));
}

bool members_study_is_on(const struct members_study *study)
{
    return study->session != NULL;
}

/* Adds a run, or a member's part of one, as a replay. */
static int add_replay(struct record *record, const struct point *point, const struct sample *sample,
                      const struct histogram *latency, struct err *err)
{
    record->point = *point;
    return record_add(record, sample, latency) < 0 ? err_set(err, -ENOMEM, "no memory for a replay") : 0;
}

int members_study_note(struct members_study *study, const struct measure_plan *plan,
                       const struct measure_result *result, struct err *err)
{
    int code = 0;
    if (!members_study_is_on(study))
        return 0;
    study->joint_bps = result->throughput_bps * initial_transient_of(result).rate_ratio;
    for (uint32_t i = 0; i < study->session->members.n && code == 0; i++) {
        const struct member_figures *figures = &study->session->members.figures[i];
        /* It has the windows of the whole run, so that the same part of its start is left out. */
        const struct measure_result own = session_member_result(study->session, i, result);
        const struct sample sample = sample_of(&own, &figures->latency, 0);
        code = add_replay(&study->together[i], &plan->point, &sample, &figures->latency, err);
    }
    return code;
}

int members_study_alone(struct members_study *study, const struct measure_plan *plan, struct err *err)
{
    size_t order[MEMBERS_MOST];
    double sum_bps = 0;
    int code = 0;
    struct histogram *latency = members_study_is_on(study) ? malloc(sizeof *latency) : NULL;
    if (!members_study_is_on(study))
        return 0;
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    rng_order(&study->rng, order, study->session->members.n);
    for (uint32_t i = 0; i < study->session->members.n && code == 0; i++) {
        struct measure_plan alone = *plan;
        struct measure_result result;
        histogram_init(latency);
        progress_show(&study->session->progress, "%s alone",
                      settings_nth_place(study->session->settings, order[i]));
        code = session_measure_alone(study->session, (uint32_t)order[i], &alone, &result, latency, err);
        if (code < 0)
            break;
        const struct sample sample = sample_of(&result, latency, 0);
        code = add_replay(&study->alone[order[i]], &plan->point, &sample, latency, err);
        sum_bps += sample.throughput_bps;
    }
    free(latency);
    if (code == 0 && sum_bps > 0 && study->joint_bps > 0)
        moments_add(&study->log_share, log(study->joint_bps / sum_bps));
    return code;
}

/* Stops behind the run of all where those alone would not end in time. */
static int make_block(struct members_study *study, const struct measure_plan *plan, double end_seconds,
                      struct histogram *latency, struct err *err)
{
    struct measure_plan joint = *plan;
    struct measure_result result;
    double start = session_seconds(study->session);
    histogram_init(latency);
    progress_show(&study->session->progress, "all members together");
    int code = session_measure(study->session, &joint, &result, latency, err);
    if (code == 0)
        code = members_study_note(study, plan, &result, err);
    double now = session_seconds(study->session);
    if (code < 0 || now + study->session->members.n * (now - start) > end_seconds)
        return code;
    return members_study_alone(study, plan, err);
}

int members_study_blocks(struct members_study *study, const struct measure_plan *plan, size_t least,
                         double end_seconds, struct err *err)
{
    int code = 0;
    if (!members_study_is_on(study))
        return 0;
    struct histogram *latency = malloc(sizeof *latency);
    if (latency == NULL)
        return err_set(err, -ENOMEM, "no memory for a latency histogram");
    double start = session_seconds(study->session), now = start;
    for (size_t i = 0; i < MEMBERS_STUDY_MOST && code == 0; i++) {
        double block = i > 0 ? (now - start) / (double)i : 0;
        if (i >= least && now + block > end_seconds)
            break;
        code = make_block(study, plan, i > 0 || least > 0 ? INFINITY : end_seconds, latency, err);
        now = session_seconds(study->session);
    }
    free(latency);
    return code;
}

double members_study_share(const struct members_study *study)
{
    return study->log_share.n > 0 ? exp(study->log_share.mean) : NAN;
}

struct interval members_study_interval(const struct members_study *study)
{
    struct interval log_interval =
        student_interval(study->log_share, study->session->settings->runs.confidence_share);
    return (struct interval){exp(log_interval.low), exp(log_interval.high)};
}

enum members_verdict members_study_verdict(const struct members_study *study)
{
    struct interval interval = members_study_interval(study);
    return interval.high < MEMBERS_STUDY_SHARED_SHARE   ? MEMBERS_SHARED
           : interval.low >= MEMBERS_STUDY_SHARED_SHARE ? MEMBERS_INDEPENDENT
                                                        : MEMBERS_UNSETTLED;
}

static double mean_bps(const struct record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->n; i++)
        sum += record->samples[i].throughput_bps;
    return record->n > 0 ? sum / (double)record->n : NAN;
}

double members_study_kept(const struct members_study *study, uint32_t member)
{
    return mean_bps(&study->together[member]) / mean_bps(&study->alone[member]);
}

void members_study_done(struct members_study *study)
{
    for (uint32_t i = 0; i < MEMBERS_MOST; i++) {
        record_done(&study->together[i]);
        record_done(&study->alone[i]);
    }
}
