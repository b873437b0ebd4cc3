/* Several places: do they share a bottleneck? */
#include "tuner/impact/doctor.h"

#include "tuner/session/members_report.h"
#include "tuner/session/session_members.h"

#include <stdio.h>

#define REQUEST_BYTES (128U << 10)
#define QUEUE_DEPTH   8
#define DURATION_NS   (CLOCK_NS_PER_S / 4)
#define LIMIT_SECONDS 20.0

static bool all_direct(struct session *session)
{
    bool direct = true;
    for (uint32_t i = 0; i < session_n_members(session); i++)
        direct &= session_member_target(session, i)->direct_read == TARGET_DIRECT_PROVED;
    return direct;
}

/* Large requests at some depth, so that what is shared is reached; the pool works everywhere. */
static struct measure_plan plan_of_members(struct session *session)
{
    struct measure_plan plan = {
        .point = {.request_size_bytes = REQUEST_BYTES,
                  .queue_depth = QUEUE_DEPTH,
                  .direct = all_direct(session) ? 1 : 0,
                  .api = API_POOL,
                  .threads = 1,
                  .sync = SYNC_END},
        .duration_ns = DURATION_NS,
        .warmup_limit_ns = DURATION_NS / 2,
        .warmup_coef = session->settings->runs.warmup_coef_share,
        .warmup_window = session->settings->runs.warmup_window,
        .batch_requests = session->settings->runs.batch_requests,
    };
    pattern_parse("randread", &plan.pattern, NULL);
    return plan;
}

void doctor_members_measure(struct session *session, struct members_study *study, char why[ERR_TEXT_SIZE])
{
    struct err err = {0};
    members_study_open(study, session);
    if (!members_study_is_on(study))
        return;
    const struct measure_plan plan = plan_of_members(session);
    int result = members_study_blocks(study, &plan, MEMBERS_STUDY_LEAST,
                                      session_seconds(session) + LIMIT_SECONDS, &err);
    if (result < 0)
        snprintf(why, ERR_TEXT_SIZE, "%s", err.text);
}

void doctor_members_check(const struct doctor_facts *facts, struct doctor_report *report)
{
    static const char *const advice =
        "count on the rate together; for the sum, put them on disks, controllers or links of their own";
    static const char *const longer = "look again while the machine is quiet";
    char text[MEMBERS_REPORT_SIZE];
    if (facts->members == NULL || !members_study_is_on(facts->members))
        return;
    if (facts->members_why[0] != '\0') {
        doctor_say(report, DOCTOR_FINDING, "see to it and run doctor again", "not measured: %.250s",
                   facts->members_why);
        return;
    }
    if (facts->members->log_share.n == 0)
        return;
    enum members_verdict verdict = members_study_verdict(facts->members);
    doctor_say(report,
               verdict == MEMBERS_SHARED        ? DOCTOR_FINDING
               : verdict == MEMBERS_INDEPENDENT ? DOCTOR_OK
                                                : DOCTOR_NOTE,
               verdict == MEMBERS_SHARED        ? advice
               : verdict == MEMBERS_INDEPENDENT ? NULL
                                                : longer,
               "random reads of 128k x 8: %s", members_report_verdict(facts->members, text));
}
