/* tuner/session/session_target: the file or device of a session: planned, made or opened, filled and proved.
 */
#include "tuner/session/session_target.h"

#include "tuner/base/interrupt.h"
#include "tuner/session/beside_loads.h"
#include "tuner/session/neighbour_costs.h"
#include "tuner/session/session.h"
#include "tuner/session/session_members.h"

#include <errno.h>
#include <inttypes.h>

static void show_filling(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    struct session *session = context;
    progress_show(&session->progress, "filling the test file: %.0f %% of %" PRIu64 " MiB",
                  100.0 * (double)done_bytes / (double)total_bytes, total_bytes >> 20);
}

/* The part of a shared file that is ours, or will be. */
static struct target_region region_of(const struct session *session)
{
    const struct session_clients *clients = session->clients;
    if (clients == NULL || !session->settings->file.shared)
        return (struct target_region){0};
    struct target_region region = clients->region;
    region.n = clients->n;
    return region;
}

static struct target_plan target_plan_of(struct session *session, uint32_t member)
{
    const struct settings *settings = session->settings;
    return (struct target_plan){
        .directory = settings_nth_place(settings, member),
        /* Another run comes to it soon, and a device that stands still would hold it up here. */
        .tries = settings->dry_run,
        .size_bytes = settings->file.size_bytes,
        .size_is_default = !settings->file.size_given,
        .n_files = settings->file.n,
        .region = region_of(session),
        .other_bytes = settings->beside.n * TARGET_SIZE_MIN_BYTES,
        .budget_ns = settings->limits.budget_ns / session_n_members(session),
        .max_write_bytes = settings->limits.max_write_bytes / session_n_clients(session->clients),
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
static struct target_existing existing_of(const struct settings *settings, uint32_t member)
{
    return (struct target_existing){
        .path = settings_nth_place(settings, member),
        .for_writing = pattern_writes(&settings->workload.pattern),
        .overwrite = settings->file.overwrite,
        .destroy_device_bytes = settings->file.destroy_device_bytes[member],
        .ignore_signature = settings->file.ignore_signature,
    };
}

/* It stays open, so that what is written to is what the guards have looked at. */
static int open_existing(struct session *session, uint32_t member, struct err *err)
{
    struct target_existing existing = existing_of(session->settings, member);
    struct target *target = session_member_existing(session, member);
    return target->fd > 0 ? 0 : target_open_existing(target, &existing, err);
}

static int size_of_existing(struct session *session, uint32_t member, uint64_t *ret_file_bytes,
                            struct err *err)
{
    int result = open_existing(session, member, err);
    if (result == 0)
        *ret_file_bytes = session_member_existing(session, member)->size_bytes;
    return result;
}

static int take_existing(struct session *session, uint32_t member, struct err *err)
{
    struct target_existing existing = existing_of(session->settings, member);
    struct target *target = session_member_existing(session, member);
    int result = open_existing(session, member, err);
    if (result == 0)
        result = target_check_again(target, &existing, err);
    if (result < 0)
        return result;
    *session_member_target(session, member) = *target;
    *target = (struct target){0};
    return 0;
}

/* Members of one file system need room for each other's files. Clients may all have the same one. */
static uint64_t bytes_of_others(const struct session *session, uint32_t first, uint32_t member, uint64_t size)
{
    uint64_t n_clients = session_n_clients(session->clients);
    return (session_members_beside(session, first, member) - 1 + n_clients - 1) * size;
}

static int estimate_own(struct session *session, uint32_t member, uint64_t *ret_file_bytes, struct err *err)
{
    struct target_plan plan = target_plan_of(session, member);
    plan.max_write_bytes /= session_n_members(session);
    plan.other_bytes += bytes_of_others(session, 0, member, plan.size_bytes);
    int result = target_estimate(&plan, ret_file_bytes, err);
    bool alone = session_n_members(session) == 1 && session_n_clients(session->clients) == 1;
    if (result != -ENOSPC || !plan.size_is_default || alone)
        return result;
    plan = target_plan_of(session, member);
    plan.size_bytes = TARGET_SIZE_MIN_BYTES;
    plan.other_bytes += bytes_of_others(session, 0, member, plan.size_bytes);
    return target_estimate(&plan, ret_file_bytes, err);
}

/* Of several members the smallest. */
int session_estimate(struct session *session, uint64_t *ret_file_bytes, struct err *err)
{
    bool existing = session->settings->file.existing[0] != '\0';
    uint64_t least = UINT64_MAX, bytes = 0;
    int result = 0;
    for (uint32_t i = 0; i < session_n_members(session) && result == 0 && !session->simulated; i++) {
        result = existing ? size_of_existing(session, i, &bytes, err) : estimate_own(session, i, &bytes, err);
        least = bytes < least ? bytes : least;
    }
    if (result == 0)
        *ret_file_bytes = least;
    return result;
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

static int make_own(struct session *session, uint32_t member, uint64_t size_bytes, struct err *err)
{
    struct target_plan plan = target_plan_of(session, member);
    uint32_t n_left = session_n_members(session) - member;
    if (session_n_clients(session->clients) > 1) {
        plan.size_bytes = size_bytes;
        plan.other_bytes += bytes_of_others(session, member, member, size_bytes);
    }
    if (session_n_members(session) > 1) {
        plan.size_bytes = size_bytes;
        plan.other_bytes += bytes_of_others(session, member, member, size_bytes);
        plan.max_write_bytes = (plan.max_write_bytes - session->bytes_written) / n_left;
    }
    int result = target_create(session_member_target(session, member), &plan, err);
    if (result == 0 && session->settings->workload.verify)
        result = read_fill_back(session, err);
    return result;
}

static int open_member(struct session *session, uint32_t member, uint64_t size_bytes, struct err *err)
{
    struct target *target = session_member_target(session, member);
    struct target_facts *facts =
        member == 0 ? &session->target_facts : &session->other[member - 1].target_facts;
    int result = session->settings->file.existing[0] != '\0' ? take_existing(session, member, err)
                                                             : make_own(session, member, size_bytes, err);
    if (result == 0)
        result = prove_direct(session, 0, target, err);
    session->bytes_written += target->filled_bytes + target->proof_bytes;
    /* Other clients may still fill theirs: the device is not idle. */
    if (result == 0 && session->clients == NULL)
        target_facts_collect(facts, target,
                             member == 0 ? &session->env.device : &session->members.device[member]);
    return result;
}

static int open_all(struct session *session, struct err *err)
{
    uint64_t size_bytes = 0;
    bool shared = session->settings->file.shared;
    bool several = session_n_members(session) > 1 || session_n_clients(session->clients) > 1;
    int result = several && !shared ? session_estimate(session, &size_bytes, err) : 0;
    for (uint32_t i = 0; i < session_n_members(session) && result == 0; i++)
        result = open_member(session, i, size_bytes, err);
    return result;
}

int session_target_open(void *context)
{
    struct session *session = context;
    struct err *err = &session->job.err;
    int result = session->clients != NULL ? session->clients->prepare(session, err) : 0;
    if (result == 0)
        result = open_all(session, err);
    if (session->clients != NULL)
        result = session->clients->join(session, result, err);
    if (result < 0)
        return result;
    if (session->clients != NULL)
        target_facts_collect(&session->target_facts, &session->target, &session->env.device);
    session_members_join(session);
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
    struct target_plan plan = target_plan_of(session, 0);
    plan.n_files = n_files;
    plan.size_bytes = session->target.size_bytes;
    return make_other(session, &plan, n_files, 0, ret_target, err);
}

int session_make_load_target(struct session *session, uint64_t size_bytes, struct target *ret_target,
                             struct err *err)
{
    struct target_plan plan = target_plan_of(session, 0);
    plan.n_files = 1;
    plan.size_bytes = size_bytes;
    plan.verify = NULL;
    return make_other(session, &plan, session->bytes_written, session->bytes_written, ret_target, err);
}
