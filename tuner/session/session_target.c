/* tuner/session/session_target: the file or device of a session: planned, made or opened, filled and proved.
 */
#include "tuner/session/session_target.h"

#include "tuner/base/interrupt.h"
#include "tuner/session/beside_loads.h"
#include "tuner/session/known_limits.h"
#include "tuner/session/neighbour_costs.h"
#include "tuner/session/session.h"

#include <inttypes.h>

static void show_filling(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    struct session *session = context;
    progress_show(&session->progress, "filling the test file: %.0f %% of %" PRIu64 " MiB",
                  100.0 * (double)done_bytes / (double)total_bytes, total_bytes >> 20);
}

static struct target_plan target_plan_of(struct session *session)
{
    const struct settings *settings = session->settings;
    return (struct target_plan){
        .directory = settings->file.path,
        /* Another run comes to it soon, and a device that stands still would hold it up here. */
        .tries = settings->dry_run,
        .size_bytes = settings->file.size_bytes,
        .size_is_default = !settings->file.size_given,
        .n_files = settings->file.n,
        .other_bytes = settings->beside.n * TARGET_SIZE_MIN_BYTES,
        .budget_ns = settings->limits.budget_ns,
        .max_write_bytes = settings->limits.max_write_bytes,
        .seed = rng_derive(session->seed, 1),
        .clock = &session->clock,
        .interrupted = &interrupt_signal,
        .prepare_script = settings->file.prepare[0] != '\0' ? settings->file.prepare : NULL,
        .prepare_timeout_ns = settings->file.prepare_timeout_ns,
        .verify = settings->workload.verify ? &session->verify : NULL,
        .progress = show_filling,
        .progress_context = session,
    };
}

/* What the user has allowed for --existing. */
static struct target_existing existing_of(const struct settings *settings)
{
    return (struct target_existing){
        .path = settings->file.existing,
        .for_writing = pattern_writes(&settings->workload.pattern),
        .overwrite = settings->file.overwrite,
        .destroy_device_bytes = settings->file.destroy_device_bytes,
        .ignore_signature = settings->file.ignore_signature,
    };
}

/* It stays open, so that what is written to is what the guards have looked at. */
static int open_existing(struct session *session, struct err *err)
{
    struct target_existing existing = existing_of(session->settings);
    if (session->existing.fd > 0)
        return 0;
    return target_open_existing(&session->existing, &existing, err);
}

static int size_of_existing(struct session *session, uint64_t *ret_file_bytes, struct err *err)
{
    int result = open_existing(session, err);
    if (result == 0)
        *ret_file_bytes = session->existing.size_bytes;
    return result;
}

static int take_existing(struct session *session, struct err *err)
{
    struct target_existing existing = existing_of(session->settings);
    int result = open_existing(session, err);
    if (result == 0)
        result = target_check_again(&session->existing, &existing, err);
    if (result < 0)
        return result;
    session->target = session->existing;
    session->existing = (struct target){0};
    return 0;
}

int session_estimate(struct session *session, uint64_t *ret_file_bytes, struct err *err)
{
    if (session->simulated) {
        *ret_file_bytes = UINT64_MAX;
        return 0;
    }
    if (session->settings->file.existing[0] != '\0')
        return size_of_existing(session, ret_file_bytes, err);
    struct target_plan plan = target_plan_of(session);
    return target_estimate(&plan, ret_file_bytes, err);
}

static int read_fill_back(struct session *session, struct err *err)
{
    uint64_t bytes = 0;
    int result = measure_read_back(&session->env, &bytes, err);
    session->bytes_read += bytes;
    return result;
}

/* The proof may write what filling all targets leaves of --max-write, in equal parts; half of it where runs
 * write, too. `before` was written to targets of another kind. */
static int prove_direct(const struct session *session, uint64_t before, struct target *target,
                        struct err *err)
{
    uint64_t n = session->n_targets > 1 ? session->n_targets : 1,
             limit = session->settings->limits.max_write_bytes;
    uint64_t filled = before + n * target->filled_bytes, room = limit > filled ? (limit - filled) / n : 0;
    if (pattern_writes(&session->settings->workload.pattern))
        room /= 2;
    return target_prove_direct_within(target, room < TARGET_PROOF_MOST_BYTES ? room : TARGET_PROOF_MOST_BYTES,
                                      err);
}

int session_target_open(void *context)
{
    struct session *session = context;
    const struct settings *settings = session->settings;
    struct err *err = &session->job.err;
    int result;
    if (settings->file.existing[0] != '\0') {
        result = take_existing(session, err);
    } else {
        struct target_plan plan = target_plan_of(session);
        result = target_create(&session->target, &plan, err);
        if (result == 0 && settings->workload.verify)
            result = read_fill_back(session, err);
    }
    if (result == 0)
        result = prove_direct(session, 0, &session->target, err);
    session->bytes_written += session->target.filled_bytes + session->target.proof_bytes;
    if (result < 0)
        return result;
    target_facts_collect(&session->target_facts, &session->target, &session->env.device);
    session->env.rate_is_limited = known_limits_exist(&session->target_facts.stack);
    result = beside_loads_open(session, err);
    return result == 0 ? neighbour_costs_open(session, err) : result;
}

/* Another target than the session's. */
static int make_other(struct session *session, struct target_plan *plan, uint64_t stream, uint64_t before,
                      struct target *ret_target, struct err *err)
{
    uint64_t limit = session->settings->limits.max_write_bytes;
    plan->size_is_default = false;
    plan->other_bytes = 0;
    plan->max_write_bytes = limit > session->bytes_written ? limit - session->bytes_written : 0;
    plan->seed = rng_derive(plan->seed, stream);
    plan->prepare_script = NULL;
    int result = target_create(ret_target, plan, err);
    return result < 0 ? result : prove_direct(session, before, ret_target, err);
}

int session_make_target(struct session *session, uint32_t n_files, struct target *ret_target, struct err *err)
{
    struct target_plan plan = target_plan_of(session);
    plan.n_files = n_files;
    plan.size_bytes = session->target.size_bytes;
    return make_other(session, &plan, n_files, 0, ret_target, err);
}

int session_make_load_target(struct session *session, uint64_t size_bytes, struct target *ret_target,
                             struct err *err)
{
    struct target_plan plan = target_plan_of(session);
    plan.n_files = 1;
    plan.size_bytes = size_bytes;
    plan.verify = NULL;
    return make_other(session, &plan, session->bytes_written, session->bytes_written, ret_target, err);
}
