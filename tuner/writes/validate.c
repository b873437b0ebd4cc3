/* A load of writes: predicted, made for real, compared. */
#include "tuner/writes/validate.h"

#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/progress.h"
#include "tuner/base/publish.h"
#include "tuner/base/worker.h"
#include "tuner/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Dirty memory of others than this is too little to matter; so long it is waited for. */
#define CALM_BYTES    (32ULL << 20)
#define CALM_LIMIT_NS (5 * CLOCK_NS_PER_S)

/* Lives on the heap: a thread that hangs in the kernel goes on using it. */
struct job {
    struct replay_plan plan;
    struct replay_result result;
    struct err err;
};

static enum replay_mode mode_of(const struct validation *validation)
{
    static const enum replay_mode modes[CAWL_N_MODES] = {[CAWL_DIRECT] = REPLAY_DIRECT,
                                                         [CAWL_SYNC] = REPLAY_SYNC,
                                                         [CAWL_NOSYNC] = REPLAY_NOSYNC,
                                                         [CAWL_STDIO] = REPLAY_STDIO};
    return modes[validation->predict->mode];
}

uint64_t validate_extra_bytes(const struct validation *validation)
{
    return replay_extra_bytes(mode_of(validation));
}

static struct replay_plan plan_of_validation(const struct validation *validation)
{
    const struct predict *predict = validation->predict;
    return (struct replay_plan){
        .directory = validation->settings->file.path,
        .mode = mode_of(validation),
        .writes = validation->writes,
        .n = validation->load->n,
        .n_files = (uint32_t)validation->load->n_files,
        .first_touch = predict->options.first_touch,
        .close = predict->options.close,
        .max_write_bytes =
            validation->settings->limits.max_write_bytes / validation->settings->prediction.repetitions,
        .calm_bytes = CALM_BYTES,
        .calm_limit_ns = CALM_LIMIT_NS,
        .seed = validation->predict->seed,
        .clock = &clock_monotonic,
        .interrupted = &interrupt_signal,
    };
}

/* --max-write is for all repetitions together. */
static int check_bytes(const struct validation *validation, struct err *err)
{
    const uint64_t extra = validate_extra_bytes(validation), each = validation->load->total_bytes + extra,
                   most = validation->settings->limits.max_write_bytes;
    const uint32_t n = validation->settings->prediction.repetitions;
    char one[UNITS_TEXT_SIZE], allowed[UNITS_TEXT_SIZE];
    if (each <= most / n)
        return 0;
    return err_set(err, -EFBIG,
                   "%u repetition%s of %s%s are more than the %s of --max-write; raise it, or write less", n,
                   n == 1 ? "" : "s", units_format_bytes(each, one),
                   extra > 0 ? ", some of it to prove direct I/O," : "", units_format_bytes(most, allowed));
}

static int prepare_replay(struct validation *validation, struct err *err)
{
    const struct write_load *load = validation->load;
    int result = check_bytes(validation, err);
    if (result < 0)
        return result;
    validation->writes = calloc(load->n, sizeof *validation->writes);
    validation->runs = calloc(validation->settings->prediction.repetitions, sizeof *validation->runs);
    if (validation->writes == NULL || validation->runs == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu writes", load->n);
    for (size_t i = 0; i < load->n; i++) {
        const struct cawl_chunk *chunk = &load->chunks[i];
        validation->writes[i] = (struct replay_write){.file = chunk->file,
                                                      .offset_bytes = chunk->offset_bytes,
                                                      .size_bytes = chunk->size_bytes,
                                                      .delay_ns = (uint64_t)llround(chunk->delay_s * 1e9)};
    }
    struct replay_plan plan = plan_of_validation(validation);
    return replay_check(&plan, err);
}

/* The sample nearest before the end of each write; the sums are of the whole machine. */
static void take_dirty(const struct replay_result *result, double *ret_dirty_bytes)
{
    size_t at = 0;
    for (size_t i = 0; i < result->n; i++) {
        while (at + 1 < result->n_samples && result->samples[at + 1].at_ns <= result->ends_ns[i])
            at++;
        ret_dirty_bytes[i] = result->n_samples > 0 ? (double)result->samples[at].dirty_bytes : NAN;
    }
}

static int take_run(struct validation *validation, const struct replay_result *result, struct err *err)
{
    struct validate_run *run = &validation->runs[validation->n_runs];
    run->costs_s = malloc(2 * result->n * sizeof *run->costs_s);
    validation->n_runs++;
    if (run->costs_s == NULL)
        return err_set(err, -ENOMEM, "no memory for the costs of %zu writes", result->n);
    run->dirty_bytes = run->costs_s + result->n;
    run->total_s = run->close_s = (double)result->close_ns / 1e9;
    for (size_t i = 0; i < result->n; i++) {
        run->costs_s[i] = (double)result->costs_ns[i] / 1e9;
        run->total_s += run->costs_s[i];
    }
    take_dirty(result, run->dirty_bytes);
    return 0;
}

static void note_run(struct validation *validation, const struct replay_result *result)
{
    struct notes *warnings = &validation->warnings;
    if (!result->calm && !result->dirty_unknown)
        notes_add(
            warnings, "not_calm",
            "other programs kept much memory dirty when the writes began; the figures may be theirs too");
    if (result->dirty_unknown)
        notes_add(warnings, "dirty_unknown", "/proc/vmstat does not tell how much memory is dirty");
    if (result->n_short > 0)
        notes_add(warnings, "short_writes", "%u calls wrote less than asked for and were continued",
                  result->n_short);
}

static int run_job(void *context)
{
    struct job *job = context;
    return replay_run(&job->plan, &job->result, &job->err);
}

static int make_one(struct validation *validation, bool *ret_abandoned, struct err *err)
{
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return err_set(err, -ENOMEM, "no memory");
    job->plan = plan_of_validation(validation);
    int n_continued = interrupt_n_continued();
    int result = worker_call(run_job, job, ret_abandoned, err);
    if (*ret_abandoned)
        return result;
    validation->written_bytes += job->result.written_bytes;
    if (result < 0 && job->err.code != 0)
        err_set(err, result, "%s", job->err.text);
    if (result == 0)
        note_run(validation, &job->result);
    if (result == 0 && interrupt_n_continued() != n_continued)
        notes_add(&validation->warnings, "stopped", "fstune was stopped and continued while it wrote");
    if (result == 0)
        result = take_run(validation, &job->result, err);
    replay_done(&job->result);
    free(job);
    return result;
}

/* Takes the lock of the device that will be written to. */
static int take_lock(struct validation *validation, int *ret_fd, struct err *err)
{
    const struct settings *settings = validation->settings;
    *ret_fd = -1;
    int directory_fd =
        settings->file.no_lock ? -1 : open(settings->file.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0)
        return 0;
    int result = session_lock_device(directory_fd, ret_fd, &validation->warnings, err);
    close(directory_fd);
    return result;
}

static int replay_all(struct validation *validation, bool *ret_abandoned, struct err *err)
{
    struct progress progress;
    int lock_fd;
    *ret_abandoned = false;
    int result = take_lock(validation, &lock_fd, err);
    progress_init(&progress, validation->settings->quiet);
    for (uint32_t i = 0; i < validation->settings->prediction.repetitions && result == 0; i++) {
        progress_show(&progress, "repetition %u of %u", i + 1, validation->settings->prediction.repetitions);
        result = make_one(validation, ret_abandoned, err);
    }
    progress_clear(&progress);
    if (lock_fd >= 0)
        close(lock_fd);
    return result;
}

static int predict_models(struct validation *validation, struct err *err)
{
    const struct write_load *load = validation->load;
    const struct cawl_host *host = &validation->predict->host.host;
    int result = cawl_predict(host, &validation->predict->options, validation->predict->mode, load->chunks,
                              load->n, &validation->cawl.prediction);
    if (result == 0)
        result = cawl_predict(host, &validation->predict->options, CAWL_NAIVE, load->chunks, load->n,
                              &validation->naive.prediction);
    if (result == -ENOMEM)
        return err_set(err, result, "no memory for predicting %zu writes", load->n);
    return result < 0 ? err_sys(err, result, "the writes cannot be predicted") : 0;
}

static void set_error(struct validate_model *model, const struct validation *validation)
{
    model->error = prediction_error_of(model->prediction.costs_s, validation->costs_s, validation->load->n);
    model->total_error_share =
        validation->total_s > 0 ? fabs(model->prediction.total_s - validation->total_s) / validation->total_s
                                : NAN;
}

static void set_range(struct validation *validation)
{
    for (size_t i = 0; i < validation->load->n; i++) {
        validation->low_s[i] = validation->high_s[i] = validation->runs[0].costs_s[i];
        for (size_t j = 1; j < validation->n_runs; j++) {
            validation->low_s[i] = fmin(validation->low_s[i], validation->runs[j].costs_s[i]);
            validation->high_s[i] = fmax(validation->high_s[i], validation->runs[j].costs_s[i]);
        }
    }
}

/* columns: room for n_runs pointers and as many totals behind one another. */
static int take_medians(struct validation *validation, const double **columns, double *totals_s)
{
    size_t n = validation->load->n, n_runs = validation->n_runs;
    for (size_t j = 0; j < n_runs; j++) {
        columns[j] = validation->runs[j].costs_s;
        totals_s[j] = validation->runs[j].total_s;
    }
    int result = prediction_error_medians(columns, n_runs, n, validation->costs_s);
    if (result == 0)
        result = prediction_error_scatter(columns, n_runs, n, &validation->scatter);
    for (size_t j = 0; j < n_runs; j++)
        columns[j] = validation->runs[j].dirty_bytes;
    if (result == 0)
        result = prediction_error_medians(columns, n_runs, n, validation->dirty_bytes);
    validation->total_s = median_of(totals_s, n_runs);
    return result;
}

static int compare_all_runs(struct validation *validation, struct err *err)
{
    size_t n = validation->load->n;
    const double **columns = calloc(validation->n_runs, sizeof *columns);
    double *totals_s = malloc(validation->n_runs * sizeof *totals_s);
    validation->costs_s = malloc(4 * n * sizeof *validation->costs_s);
    int result = columns == NULL || totals_s == NULL || validation->costs_s == NULL ? -ENOMEM : 0;
    if (result == 0) {
        validation->low_s = validation->costs_s + n;
        validation->high_s = validation->low_s + n;
        validation->dirty_bytes = validation->high_s + n;
        result = take_medians(validation, columns, totals_s);
    }
    if (result == 0) {
        set_range(validation);
        set_error(&validation->cawl, validation);
        set_error(&validation->naive, validation);
    }
    free(columns);
    free(totals_s);
    return result < 0 ? err_set(err, result, "no memory for comparing %zu writes", n) : 0;
}

static void done(struct validation *validation)
{
    for (size_t i = 0; i < validation->n_runs; i++)
        free(validation->runs[i].costs_s);
    free(validation->runs);
    free(validation->writes);
    free(validation->costs_s);
    cawl_prediction_done(&validation->cawl.prediction);
    cawl_prediction_done(&validation->naive.prediction);
}

static int print_validate_result(const struct validation *validation, bool as_csv, struct err *err)
{
    if (validation->settings->json)
        return validate_print_json(stdout, validation, err);
    int result =
        as_csv ? validate_print_csv(stdout, validation, err) : validate_print_text(stdout, validation);
    return result < 0 || fflush(stdout) != 0 ? err_set(err, -EIO, "the result could not be printed") : 0;
}

/* An interruption before the first whole repetition leaves the predictions, and a document that says so. */
static int print_nothing_made(struct validation *validation, struct err *err)
{
    validation->total_s = NAN;
    validation->scatter = prediction_error_of(NULL, NULL, 0);
    validation->cawl.error = validation->naive.error = validation->scatter;
    validation->cawl.total_error_share = validation->naive.total_error_share = NAN;
    return validate_print_json(stdout, validation, err);
}

/* Files come last: what was measured is told even where one cannot be made; and they are of a whole
 * validation only. */
static int print_validation(const struct validation *validation, struct err *err)
{
    const struct settings_prediction *asked = &validation->settings->prediction;
    bool to_stdout = strcmp(asked->csv, "-") == 0;
    int result = print_validate_result(validation, to_stdout, err);
    if (validation->interrupted)
        return result;
    if (result == 0 && asked->csv[0] != '\0' && !to_stdout)
        result = publish_print(asked->csv, validate_print_csv, validation, err);
    if (result == 0 && asked->picture[0] != '\0')
        result = validate_picture_draw(validation, err);
    return result;
}

/* Exit code of a validation that was made, whole or in part. */
static int finish_validation(struct validation *validation, int result, struct err *err)
{
    struct err print_err = {0};
    int signal_number = atomic_load(&interrupt_signal);
    validation->interrupted = result == -EINTR;
    if (result == -EOPNOTSUPP)
        return fail_with(EXIT_NOTHING, "%s", err->text);
    bool is_empty = validation->n_runs == 0;
    if (result < 0 && (result != -EINTR || (is_empty && !validation->settings->json)))
        return signal_number > 0 ? fail_with(EXIT_SIGNAL + signal_number, "%s", err->text)
                                 : fail_refused(result, err->text);
    int printed =
        is_empty ? print_nothing_made(validation, &print_err) : compare_all_runs(validation, &print_err);
    if (printed == 0 && !is_empty)
        printed = print_validation(validation, &print_err);
    if (printed < 0)
        return fail_with(EXIT_FAILED, "%s", print_err.text);
    return signal_number > 0 ? EXIT_SIGNAL + signal_number : EXIT_DONE;
}

int validate_write(const struct predict *predict)
{
    const struct settings *settings = predict->settings;
    struct err err = {0};
    bool abandoned = false;
    struct validation *validation = calloc(1, sizeof *validation);
    if (validation == NULL)
        return fail_with(EXIT_FAILED, "no memory");
    *validation = (struct validation){.settings = settings, .predict = predict, .load = &predict->load};
    int code = EXIT_DONE, result = 0;
    if (predict->options.n_writers > 1)
        result = err_set(&err, -EINVAL,
                         "--validate makes the writes of one writer only; leave writers out of --extensions");
    if (result == 0)
        result = predict_models(validation, &err);
    if (result == 0)
        result = prepare_replay(validation, &err);
    if (result < 0) {
        code = fail_refused(result, err.text);
        goto out;
    }
    if (settings->dry_run && settings->json) {
        result = validate_print_plan_json(stdout, validation, &err);
        code = result == 0 ? EXIT_DONE : fail_with(EXIT_FAILED, "%s", err.text);
    } else if (settings->dry_run || !settings->quiet) {
        validate_print_plan(settings->dry_run ? stdout : stderr, validation);
    }
    if (settings->dry_run)
        goto out;
    result = replay_all(validation, &abandoned, &err);
    code = finish_validation(validation, result, &err);
out:
    if (!abandoned) {
        done(validation);
        free(validation);
    }
    return code;
}
