/* fstune calibrate: what writes cost on this machine and file system, for the predictions. */
#include "bench/base/err.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/report/report_plan.h"
#include "tuner/writes/calibrate.h"

#include <errno.h>
#include <stdlib.h>

#define FILE_BYTES    (256ULL << 20) /* for seeks and reads */
#define GRACE_SECONDS 5.0
#define WIDE_SIZE     128

static int calibrate_exit_code(const struct calibration *calibration)
{
    char wide[WIDE_SIZE];
    if (!calibration->complete)
        return command_code(EXIT_NOTHING);
    return command_code(calibration->n_rounds < CALIBRATE_LEAST_ROUNDS ||
                                calibrate_find_wide(calibration->values, wide, sizeof wide) > 0
                            ? EXIT_INCONCLUSIVE
                            : EXIT_DONE);
}

static void note_outcome(struct calibration *calibration)
{
    struct session *session = calibration->session;
    char wide[WIDE_SIZE];
    if (calibration->complete && calibrate_find_wide(calibration->values, wide, sizeof wide) > 0)
        notes_add(&session->warnings, "calibrate_wide",
                  "%s: the rounds differ too much for a figure; calibrate again while the machine is quiet",
                  wide);
    if (!calibration->complete || calibration->interrupted)
        notes_add(&session->warnings, "calibrate_incomplete", "parameters are missing%s",
                  session->settings->output[0] != '\0'
                      ? ": no file was written, because no prediction could use it"
                      : "");
    else if (calibration->n_rounds < CALIBRATE_LEAST_ROUNDS)
        notes_add(&session->warnings, "calibrate_few_rounds",
                  "only %zu round%s fitted into the budget; %d and more tell the scatter: raise --budget",
                  calibration->n_rounds, calibration->n_rounds == 1 ? "" : "s", CALIBRATE_LEAST_ROUNDS);
    if (session->target_facts.stack.virtual_disk)
        notes_add(&session->warnings, "virtual_disk",
                  "the disk is a virtual one: bw_rdev may be the rate of its host's memory");
    if (calibration->in_memory)
        notes_add(&session->warnings, "memory_backed",
                  "files lie in memory here: bw_dev, bw_rdev, sc_sw and c_sk are what memory costs");
}

/* The file holds what an uninterrupted command measured. Where it cannot be written, what was measured is
 * told all the same. */
static int deliver(struct calibration *calibration, struct err *err)
{
    struct session *session = calibration->session;
    const struct settings *settings = session->settings;
    int result = 0;
    session_finish(session);
    progress_clear(&session->progress);
    note_outcome(calibration);
    if (calibration->complete && !calibration->interrupted && settings->output[0] != '\0')
        result = publish_print(settings->output, host_file_write, &calibration->file, err);
    struct err report_err = {0};
    int reported = settings->json ? calibrate_report_json(stdout, calibration, &report_err)
                                  : calibrate_report_text(stdout, calibration, &report_err);
    return result < 0 || reported == 0 ? result : err_set(err, reported, "%s", report_err.text);
}

/* Whoever may not set them learns it before anything is written. */
static int check_limits(const struct settings *settings, struct err *err)
{
    if (!settings->calibrate.limits_given)
        return 0;
    int result = dirty_limits_check(&dirty_limits_system, settings->calibrate.limits_bytes[0],
                                    settings->calibrate.limits_bytes[1], err);
    return result < 0 ? err_prefix(err, "--set-dirty-limits") : 0;
}

/* With the lock of the device held: another that calibrates or measures there would meet these limits. */
static int set_limits(struct calibration *calibration, struct err *err)
{
    const struct settings *settings = calibration->session->settings;
    if (!settings->calibrate.limits_given)
        return 0;
    int result =
        dirty_limits_set(&calibration->limits, &dirty_limits_system, settings->calibrate.limits_bytes[0],
                         settings->calibrate.limits_bytes[1], err);
    if (result < 0)
        return err_prefix(err, "--set-dirty-limits");
    notes_add(&calibration->session->warnings, "dirty_limits_set",
              "the dirty limits are those of --set-dirty-limits, and not the machine's own");
    return 0;
}

/* A failure is printed at once and becomes a warning; the results are printed all the same. */
static int restore_limits(struct calibration *calibration)
{
    struct err err = {0};
    int result = dirty_limits_restore(&calibration->limits, &err);
    if (result < 0) {
        notes_add(&calibration->session->warnings, "dirty_limits_left", "%s", err.text);
        fail_with(EXIT_FAILED, "%s", err.text);
    }
    return result;
}

static int calibrate_and_print(struct session *session, struct err *err)
{
    struct calibration *calibration = calloc(1, sizeof *calibration);
    if (calibration == NULL)
        return err_set(err, -ENOMEM, "no memory");
    calibration->session = session;
    int result = check_limits(session->settings, err);
    if (result == 0)
        result = session_prepare(session, err);
    if (result == 0)
        result = set_limits(calibration, err);
    if (result == 0) {
        hostinfo_collect_limits(&session->host, session->directory_fd);
        result = calibrate_run(calibration, err);
    }
    progress_clear(&session->progress);
    int restored = restore_limits(calibration);
    /* Also before anything was measured, and even where no target was made, a document is due. */
    calibration->interrupted |= result == -EINTR;
    if (result == 0 || result == -EINTR)
        result = deliver(calibration, err);
    if (result == -EINTR)
        result = command_code(-EINTR);
    else if (result == 0)
        result = restored < 0 ? EXIT_FAILED : calibrate_exit_code(calibration);
    bool abandoned = session->abandoned;
    calibrate_done(calibration);
    if (!abandoned)
        free(calibration);
    return result;
}

static int check_and_print_calibrate_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    char duration[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    uint64_t file_bytes = 0;
    int result = session_estimate(session, &file_bytes, err);
    if (result == 0)
        result = calibrate_check_writes(
            settings->limits.max_write_bytes, file_bytes,
            file_bytes > settings->file.size_bytes ? file_bytes : settings->file.size_bytes, err);
    if (result == 0 && settings->output[0] != '\0')
        result = publish_check(settings->output, err);
    if (result < 0)
        return result;
    session->seconds_at_most = (double)settings->limits.budget_ns / 1e9 + GRACE_SECONDS;
    session->end_ns = session->start_ns + (uint64_t)(1e9 * session->seconds_at_most);
    if (settings->dry_run && settings->json)
        return report_plan_json(stdout, session, file_bytes, HOST_N_PARAMETERS, err);
    FILE *out = command_plan_stream(settings);
    if (out == NULL)
        return 0;
    fprintf(out, "plan: calibrate, at most %d rounds in %s", CALIBRATE_MOST_ROUNDS,
            units_format_duration(settings->limits.budget_ns, duration));
    if (settings->calibrate.limits_given)
        fprintf(out, ", vm.dirty_background_bytes %s and vm.dirty_bytes %s meanwhile",
                units_format_size(settings->calibrate.limits_bytes[0], low),
                units_format_size(settings->calibrate.limits_bytes[1], high));
    report_plan_end(out, session, file_bytes);
    return 0;
}

static int settle_calibrate_settings(struct settings *settings, struct err *err)
{
    settings->file.size_bytes = FILE_BYTES;
    return pattern_parse("write", &settings->workload.pattern, err);
}

const struct command command_calibrate = {
    .name = "calibrate",
    .summary = "measure what writes cost here, for predictions",
    .run = command_run_measuring,
    .description = "Measures the parameters of the CAWL model of writes on a machine and a file system - "
                   "rates of memory, page cache and device, fixed costs of calls, a seek - each with an "
                   "interval, and reads the limits of dirty memory. The file is what `predict` and `advise` "
                   "read.",
    .example = "fstune calibrate --path /var/lib/vms --output host.conf",
    .options = OPTIONS_CALIBRATE,
    .settle = settle_calibrate_settings,
    .plan = check_and_print_calibrate_plan,
    .measure = calibrate_and_print,
};
