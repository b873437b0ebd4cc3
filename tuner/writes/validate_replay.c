/* Making a load for real, again and again. */
#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "bench/host/hostinfo.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/progress.h"
#include "tuner/base/worker.h"
#include "tuner/session/session.h"
#include "tuner/writes/validate_internal.h"

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

int validate_replay_prepare(struct validation *validation, struct err *err)
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
    run->costs_s = malloc(result->n * sizeof *run->costs_s);
    run->dirty_bytes = malloc(result->n * sizeof *run->dirty_bytes);
    validation->n_runs++;
    if (run->costs_s == NULL || run->dirty_bytes == NULL)
        return err_set(err, -ENOMEM, "no memory for the costs of %zu writes", result->n);
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

int validate_replay(struct validation *validation, bool *ret_abandoned, struct err *err)
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
