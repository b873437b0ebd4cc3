/* fstune doctor: what can be measured here, how noisily, and what stands in the way. */
#include "bench/base/err.h"
#include "bench/io/ioapi.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/impact/doctor.h"
#include "tuner/options/options.h"
#include "tuner/report/report_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Added to the time of filling and runs: for reading the drive's counters twice, and for settling. */
#define GRACE_SECONDS 10.0

struct doctor {
    struct doctor_facts facts;
    struct members_study members;
    struct doctor_report report;
};

static void probe_apis(struct doctor_facts *facts)
{
    for (size_t i = 0; i < API_N; i++) {
        struct err err = {0};
        facts->apis[i].works = ioapi_table[i]->probe(&err) == 0;
        snprintf(facts->apis[i].why_not, sizeof facts->apis[i].why_not, "%.300s", err.text);
    }
}

/* What `recommend` would take here without --file-size. */
static void estimate_file(const struct session *session, struct doctor_facts *facts)
{
    struct err err = {0};
    struct target_plan plan = {
        .directory = session->settings->file.path,
        .size_bytes = TARGET_SIZE_DEFAULT_BYTES,
        .size_is_default = true,
        .max_write_bytes = UINT64_MAX,
        .clock = &session->clock,
    };
    if (target_estimate(&plan, &facts->file_bytes, &err) < 0)
        snprintf(facts->file_why, sizeof facts->file_why, "%.300s", err.text);
}

static void note_target(const struct session *session, int result, const struct err *err,
                        struct doctor_facts *facts)
{
    const struct target *target = &session->target;
    facts->has_target = result == 0;
    facts->target_code = result;
    snprintf(facts->target_why, sizeof facts->target_why, "%.300s", err->text);
    if (result < 0)
        return;
    facts->direct_read = target->direct_read;
    facts->direct_write = target->direct_write;
    facts->direct_align_bytes = target->direct_offset_align_bytes;
    snprintf(facts->direct_why, sizeof facts->direct_why, "%s", target->direct_why);
}

/* Ticks are the kernel's hundredths of a second, of all processors together. */
static double steal_share(const struct session *session)
{
    const struct hostinfo_fact *before = hostinfo_find(&session->host, "steal_ticks_before"),
                               *after = hostinfo_find(&session->host, "steal_ticks_after"),
                               *cpus = hostinfo_find(&session->host, "cpus");
    if (before == NULL || after == NULL || cpus == NULL)
        return NAN;
    double seconds = session_seconds(session), ticks = (double)sysconf(_SC_CLK_TCK) * seconds * cpus->number;
    /* Unknown below a second: a tick is a hundredth of a second, which is too coarse. */
    return seconds >= 1 && ticks > 0 ? (after->number - before->number) / ticks : NAN;
}

/* The noise floor is the first place's own. */
static void measure_all(struct session *session, struct doctor *doctor)
{
    struct members *members = session->env.members;
    session->env.members = NULL;
    doctor_noise_measure(session, &doctor->facts.noise);
    session->env.members = members;
    if (atomic_load(&interrupt_signal) == 0)
        doctor_members_measure(session, &doctor->members, doctor->facts.members_why);
    doctor->facts.members = &doctor->members;
}

/* Everything that a check looks at. Only a lock that another holds, and a broken machine, end the command. */
static int collect_doctor_facts(struct session *session, struct doctor *doctor, struct err *err)
{
    struct doctor_facts *facts = &doctor->facts;
    struct err target_err = {0};
    facts->host = &session->host;
    facts->steal_share = NAN;
    facts->noise.run_cv = facts->noise.window_cv = facts->noise.half_width_share = NAN;
    facts->noise.mean_bps = facts->noise.run_seconds = NAN;
    facts->noise.interval = (struct interval){NAN, NAN};
    probe_apis(facts);
    facts->is_existing = session->settings->file.existing[0] != '\0';
    if (!facts->is_existing)
        estimate_file(session, facts);
    int result = session_prepare(session, &target_err);
    if (result == -EWOULDBLOCK)
        return err_set(err, result, "%s", target_err.text);
    hostinfo_collect_limits(&session->host, session->directory_fd);
    note_target(session, result, &target_err, facts);
    if (result == 0)
        measure_all(session, doctor);
    else
        snprintf(facts->noise.why, sizeof facts->noise.why, "not measured: %.400s", target_err.text);
    facts->interrupted = atomic_load(&interrupt_signal) != 0;
    session_finish(session);
    facts->steal_share = steal_share(session);
    facts->never_quiet = session->env.settle_limit_ns < MEASURE_SETTLE_NS;
    facts->health =
        session->drive_health_after.known ? session->drive_health_after : session->drive_health_before;
    return 0;
}

static int examine_and_print(struct session *session, struct err *err)
{
    /* Large for a stack. */
    struct doctor *doctor = calloc(1, sizeof *doctor);
    if (doctor == NULL)
        return err_set(err, -ENOMEM, "no memory");
    int result = collect_doctor_facts(session, doctor, err);
    progress_clear(&session->progress);
    if (result == 0) {
        doctor_examine(&doctor->facts, &doctor->report);
        result = session->settings->json
                     ? doctor_report_json(stdout, session, &doctor->facts, &doctor->report, err)
                     : doctor_report_text(stdout, session, &doctor->facts, &doctor->report, err);
    }
    if (result == 0)
        result = command_code(doctor->report.n_findings > 0 ? EXIT_FINDINGS : EXIT_DONE);
    members_study_done(&doctor->members);
    free(doctor);
    return result;
}

/* Where no file can be made, that is a finding and not the end. */
static int check_and_print_doctor_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    struct err why = {0};
    uint64_t file_bytes = 0;
    char path[SETTINGS_TEXT_SIZE];
    FILE *out = command_plan_stream(settings);
    int result = session_estimate(session, &file_bytes, &why);
    session->seconds_at_most = DOCTOR_NOISE_LIMIT_SECONDS * (settings_n_places(settings) > 1 ? 2 : 1) +
                               GRACE_SECONDS + report_plan_fill_seconds(settings, file_bytes);
    if (settings->dry_run && settings->json)
        return report_plan_json(stdout, session, file_bytes, result == 0 ? 1 : 0, err);
    if (out == NULL)
        return 0;
    if (result < 0) {
        fprintf(out, "plan: doctor looks at %s, nothing is written: %s\n",
                text_printable(settings_place(settings), path, sizeof path), why.text);
        return 0;
    }
    fprintf(out, "plan: doctor, %d runs of %.0f ms", DOCTOR_NOISE_RUNS,
            (double)DOCTOR_NOISE_DURATION_NS / 1e6);
    report_plan_end(out, session, file_bytes);
    return 0;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "say what can be measured here, how noisily, and what stands in the way",
    .run = command_run_measuring,
    .description =
        "Looks at a directory's file system and at the machine: which APIs and whether direct I/O work, how "
        "much short runs scatter, what limits, shares or slows the storage. Every finding comes with advice. "
        "Exit code 3 when there is one.",
    .example = "fstune doctor --path /var/lib/vms",
    .options = OPTIONS_DOCTOR,
    .no_pattern = true,
    .plan = check_and_print_doctor_plan,
    .measure = examine_and_print,
};
