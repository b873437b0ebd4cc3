/* The opened session of one command: what it measures with, and its runs. */
#include "tuner/session/session.h"

#include "bench/base/units.h"
#include "bench/host/device_lock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/worker.h"
#include "tuner/session/beside_loads.h"
#include "tuner/session/known_limits.h"
#include "tuner/session/neighbour_costs.h"
#include "tuner/session/session_check.h"
#include "tuner/session/session_members.h"
#include "tuner/session/session_target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A run is void when the machine was suspended for longer than this during it. */
#define SUSPENDED_NS 100000000ULL
/* Disturbed runs are repeated as long as they are few: on a machine that is never quiet it would not help. */
#define REPEATS_LEAST 2
#define RUNS_A_REPEAT 20
/* Devices that are never quiet are not waited for in full before every run. */
#define NOT_SETTLED_LIMIT 3
#define IMPATIENT_NS      50000000ULL
/* A signal is waited for no longer. */
#define NAP_NS (CLOCK_NS_PER_S / 50)

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void init_env(struct session *session)
{
    const struct settings *settings = session->settings;
    session->env = (struct measure_env){
        .clock = &session->clock,
        .target = session->simulated ? NULL : &session->target,
        .world = session->simulated ? &session->simulator.world : NULL,
        .truth_bps = simulator_truth_bps,
        .truth_context = &session->simulator,
        .interrupted = &interrupt_signal,
        .cache = settings->workload.cache,
        .advise = settings->workload.advise,
        .cooperative_ring = settings_wants_modern_ring(settings) && ioapi_uring_cooperates(),
        .shared_region = settings->workload.shared_region,
        .alignment_bytes = settings->workload.alignment_bytes,
        .skew = settings->workload.skew,
        .content = settings->workload.content,
        .verify = settings->workload.verify ? &session->verify : NULL,
        .arena = &session->arena,
        .settle_limit_ns = MEASURE_SETTLE_NS,
    };
    /* A file of the user's is likely to be cached already, and dropping it would disturb its owner. A device
     * is not, and is too large for it. */
    if (settings->file.existing[0] != '\0' && !settings->workload.cache_given &&
        !hostinfo_is_device(session->directory_fd))
        session->env.cache = MEASURE_CACHE_WARM;
}

/* Half of what a memory group of version 1 has left: the other half is for the program. */
static void find_dirty_room(struct session *session)
{
    struct hostinfo_memory_room room;
    if (session->simulated)
        return;
    hostinfo_find_memory_room(&room);
    if (isfinite(room.v1_bytes))
        session->env.dirty_room_bytes = (uint64_t)fmax(room.v1_bytes / 2, 1);
}

static void init_warnings(struct session *session)
{
    const struct settings *settings = session->settings;
    session->asked = (struct warnings_asked){
        .pattern = settings->workload.pattern,
        .cold = session->env.cache == MEASURE_CACHE_COLD && !session->simulated,
        .sync_pinned = settings->workload.levels[FACTOR_SYNC].n <= 1,
        .beside = settings->beside.n > 0 || neighbour_costs_are_wanted(settings),
    };
    target_facts_init(&session->target_facts);
}

static int open_real(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    const char *place = settings_place(settings);
    int flags = settings->file.existing[0] != '\0' ? O_PATH | O_CLOEXEC : O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    session->directory_fd = open(place, flags);
    if (session->directory_fd < 0)
        return err_sys(err, -errno, "cannot open %s %s",
                       settings->file.existing[0] != '\0' ? "file" : "directory", place);
    return 0;
}

static void note_layout(struct session *session)
{
    const struct settings *settings = session->settings;
    char size[UNITS_TEXT_SIZE];
    /* In an experiment these are factors or stand among the fixed settings. */
    if (settings->experiment.on)
        return;
    if (settings->file.n > 1)
        notes_add(&session->warnings, "files", "the data were spread over %u files (--files)",
                  settings->file.n);
    if (settings->workload.alignment_bytes != 0)
        notes_add(&session->warnings, "alignment",
                  "requests started %s behind multiples of their size where that is larger (--alignment)",
                  units_format_size(settings->workload.alignment_bytes, size));
}

int session_open(struct session *session, const struct settings *settings, struct err *err)
{
    memset(session, 0, sizeof *session);
    session->settings = settings;
    session->clients = session_clients_here();
    session->write_limit_bytes = settings->limits.max_write_bytes;
    session->end_ns = UINT64_MAX;
    session->directory_fd = session->lock_fd = session->target.fd = -1;
    /* The shift makes it a seed that --seed takes and a signed number of JSON holds. */
    session->seed = settings->seed_given ? settings->seed : rng_seed_from_system() >> 1;
    session->simulated = settings->file.simulate[0] != '\0';
    progress_init(&session->progress, settings->quiet);
    int result = session_check(settings, err);
    if (result < 0)
        return result;
    note_layout(session);
    if (session->simulated) {
        result = simulator_open(&session->simulator, settings->file.simulate, err);
        session->clock = clock_virtual(&session->simulator.now_ns);
    } else {
        result = open_real(session, err);
        if (result == 0)
            result = session_members_open(session, err);
        session->n_targets = session_n_members(session);
        session->clock = clock_monotonic;
    }
    init_env(session);
    find_dirty_room(session);
    init_warnings(session);
    session->start_ns = clock_now_ns(&session->clock);
    return result < 0 || session->clients == NULL ? result : session->clients->open(session, err);
}

int session_lock_device(int directory_fd, int *ret_fd, struct notes *warnings, struct err *err)
{
    struct err why = {0};
    int result = device_lock_take(directory_fd, ret_fd, &why);
    if (result == -EWOULDBLOCK)
        return err_set(err, result,
                       "another fstune is measuring this device; wait for it to end, or give --no-lock to "
                       "measure all the same");
    if (result < 0)
        notes_add(warnings, "no_lock", "the device could not be locked against a second fstune%s: %s",
                  *ret_fd >= 0 ? " of root or the nightly service" : "", why.text);
    return 0;
}

/* A thread that never came back has a request that hangs; one that did says what it was at. */
static void describe_late(const struct session *session, struct err *err)
{
    if (session->abandoned || session->job.err.code == 0)
        err_prefix(err, "%s", settings_place(session->settings));
    else
        err_set(err, -ETIME,
                "the time was over: %s; allow more time (--budget), or give a smaller --file-size",
                session->job.err.text);
}

int session_prepare(struct session *session, struct err *err)
{
    if (session->simulated)
        return 0;
    hostinfo_collect(&session->host, session->directory_fd);
    hostinfo_collect_load(&session->host, session->directory_fd, "before");
    hostinfo_find_device(session->directory_fd, &session->env.device);
    int result = 0;
    /* Clients on one machine measure its device together. */
    if (!session->settings->file.no_lock && (session->clients == NULL || session->clients->is_first_here))
        result = session_lock_device(session->directory_fd, &session->lock_fd, &session->warnings, err);
    if (result == 0)
        result = session_members_lock(session, err);
    if (result < 0)
        return result;
    drive_health_read(&session->host, &session->clock, &interrupt_signal, &session->drive_health_before);
    result = worker_call_until(session->end_ns, session_target_open, session, &session->abandoned, err);
    progress_clear(&session->progress);
    if (result == -ETIME)
        describe_late(session, err);
    if (session->abandoned)
        return result;
    if (result < 0 && result != -ETIME && session->job.err.code != 0)
        err_set(err, result, "%s", session->job.err.text);
    const struct target_left *left = &session->target.left;
    char bytes[UNITS_TEXT_SIZE];
    if (left->n > 0)
        notes_add(&session->warnings, "left_removed",
                  "%" PRIu64 " files (%s) that an fstune of this machine had left when it died were removed",
                  left->n, units_format_bytes(left->bytes, bytes));
    session->fastest_bps = session->target.fill_bps;
    return result;
}

static int do_run(void *context)
{
    struct session *session = context;
    struct session_job *job = &session->job;
    if (session->clients != NULL)
        return session->clients->run(session, &job->err);
    int result = neighbour_costs_before_run(session, job->plan.duration_ns, &job->err);
    if (result == 0)
        result = measure_run(&session->env, &job->plan, &job->result, &job->latency, &job->err);
    return result == 0 ? neighbour_costs_after_run(session, job->plan.duration_ns, &job->err) : result;
}

/* What its own requests write at twice the fastest rate seen, within all that bounds them. */
static double expected_bytes(const struct session *session, const struct measure_plan *plan, double seconds)
{
    uint64_t least = MEASURE_MIN_REQUESTS * factors_largest_size_bytes(&plan->point);
    double most = (double)measure_cap_bytes(&session->env, &plan->pattern, &plan->point) *
                  session_n_clients(session->clients);
    double expected = fmin(fmax(2 * seconds * session->fastest_bps, (double)least), most);
    /* A run of planned bytes writes no more than those. */
    return plan->max_bytes != 0 ? fmin(expected, (double)plan->max_bytes) : expected;
}

/* May this run start? It must not be able to cross the write budget: its writes, and those of the loads
 * beside, are bounded by what is left, and what is left must be enough for what is expected. */
static int check_write_budget(struct session *session, struct measure_plan *plan, struct err *err)
{
    const struct settings *settings = session->settings;
    const bool writes = pattern_writes(&plan->pattern);
    /* A warm-up may last longer, but then the rate is doubtful anyway; the bounds hold in every case. */
    uint64_t warmup_ns = min_u64(plan->warmup_limit_ns, plan->duration_ns);
    double seconds = (double)(plan->duration_ns + warmup_ns) / 1e9;
    double reference = neighbour_costs_write_bytes(session, seconds);
    double beside = beside_loads_write_bytes(session, seconds) + reference;
    if ((!writes && beside <= 0) || (session->simulated && !settings->limits.max_write_given))
        return 0;
    double own = writes ? expected_bytes(session, plan, seconds) : 0;
    uint64_t limit = session->write_limit_bytes;
    uint64_t left = limit > session->bytes_written ? limit - session->bytes_written : 0;
    double spare = (double)left - own - beside;
    if (writes) {
        uint64_t own_most = beside > 0 ? (uint64_t)fmax(own + spare / 2, 1) : left;
        plan->max_bytes = plan->max_bytes != 0 ? min_u64(plan->max_bytes, own_most) : own_most;
    }
    beside_loads_allow(session, beside - reference + (writes ? spare / 2 : spare));
    neighbour_costs_allow(session, reference);
    if (spare >= 0)
        return 0;
    session->wrote_out = true;
    return err_set(err, -EDQUOT, "the write budget of %" PRIu64 " bytes is used up; raise --max-write",
                   settings->limits.max_write_bytes);
}

static void note_settling(struct session *session, const struct measure_result *result)
{
    session->n_not_settled = result->settled ? 0 : session->n_not_settled + 1;
    if (session->n_not_settled == NOT_SETTLED_LIMIT) {
        session->env.settle_limit_ns = IMPATIENT_NS;
        notes_add(
            &session->warnings, "device_never_quiet",
            "the device is busy with something else than fstune: figures may be too low and scatter more");
    }
}

void session_sleep_until(const struct session *session, uint64_t end_ns)
{
    const struct clock *clock = &session->clock;
    uint64_t now_ns;
    while (atomic_load(session->env.interrupted) == 0 && (now_ns = clock_now_ns(clock)) < end_ns)
        clock_sleep_until_ns(clock, min_u64(now_ns + NAP_NS, end_ns));
}

/* The burst stands beside the figures, which are what lasts. */
static void apply_limits(struct session *session)
{
    struct session_job *job = &session->job;
    char setting[FACTORS_TEXT_SIZE], burst[UNITS_TEXT_SIZE], lasts[UNITS_TEXT_SIZE];
    session_members_apply_limits(session, &job->plan, &job->result);
    if (known_limits_shows_burst(&job->result))
        notes_add(&session->warnings, "rate_capped",
                  "a run of %s showed %s before the limit that a cgroup sets for this device took hold; its "
                  "figure is %s, which lasts",
                  factors_format(&job->plan.point, setting), units_format_rate(job->result.burst_bps, burst),
                  units_format_rate(job->result.throughput_bps, lasts));
}

int session_run_job(struct session *session, struct err *err)
{
    session->job.err = (struct err){0};
    histogram_init(&session->job.latency);
    session_sleep_until(session, session->repaid_ns);
    return session->simulated ? do_run(session)
                              : worker_call_until(session->end_ns, do_run, session, &session->abandoned, err);
}

static int measure_once(struct session *session, const struct measure_plan *plan, struct err *err)
{
    struct session_job *job = &session->job;
    job->plan = *plan;
    job->plan.seed = rng_derive(session->seed, 1000 + session->n_runs++);
    int result = session_run_job(session, err);
    if (session->abandoned)
        return result;
    session->bytes_read += job->result.total_bytes_read;
    session->bytes_written += job->result.total_bytes_written;
    beside_loads_count(session);
    neighbour_costs_count(session);
    if (result < 0)
        return result != -ETIME && job->err.code != 0 ? err_set(err, result, "%s", job->err.text) : result;
    note_settling(session, &job->result);
    /* Each client has applied those of its own machine. */
    if (session->clients == NULL)
        apply_limits(session);
    result = beside_loads_note(session, &plan->point, err);
    if (result < 0)
        return result;
    if (pattern_writes(&plan->pattern))
        session->fastest_bps = fmax(session->fastest_bps, job->result.throughput_bps);
    return 0;
}

uint64_t session_warnings(const struct session *session, const struct measure_plan *plan,
                          const struct measure_result *result)
{
    return session->clients != NULL ? session->clients->run_warnings
                                    : session_members_warnings(session, plan, result);
}

uint64_t session_disqualifying(const struct session *session, uint64_t warning_set, const struct point *point)
{
    warning_set |= session_members_target_warnings(session) | warnings_of_point(&session->asked, point);
    if (session->clients != NULL)
        warning_set |= session->clients->target_warnings;
    if (beside_loads_over_limit(session, point))
        warning_set |= WARNINGS_BIT(WARNING_BESIDE_OVER_LIMIT);
    return warnings_disqualifying(warning_set, &session->asked, point) & ~session->settings->runs.accept;
}

void session_note_target(struct session *session)
{
    if (session->simulated || session->target.fd < 0 || session->abandoned)
        return;
    target_facts_finish(&session->target_facts, &session->target);
    for (uint32_t i = 1; i < session_n_members(session); i++)
        target_facts_finish(&session->other[i - 1].target_facts, &session->other[i - 1].target);
    uint64_t warning_set = session_members_target_warnings(session);
    for (unsigned warning = 0; warning < WARNING_N; warning++) {
        if ((warning_set & WARNINGS_BIT(warning)) != 0)
            notes_add(&session->warnings, warnings_table[warning].code, "%s", warnings_table[warning].text);
    }
}

/* Whether the run is repeated, because a passing disturbance would spoil the point and the search. */
static bool is_worth_repeating(struct session *session, const struct measure_plan *plan)
{
    if (session->n_disturbed >= REPEATS_LEAST + session->n_runs / RUNS_A_REPEAT ||
        warnings_passing(session_warnings(session, plan, &session->job.result)) == 0)
        return false;
    session->n_disturbed++;
    notes_add(&session->warnings, "run_repeated",
              "runs that something disturbed from outside were repeated, as long as there were few of them");
    return true;
}

static int check_target(struct session *session, struct err *err)
{
    int result = session_members_check_targets(session, err);
    session->target_lost = result < 0;
    return result;
}

int session_measure(struct session *session, struct measure_plan *plan, struct measure_result *ret,
                    struct histogram *latency, struct err *err)
{
    for (;;) {
        int result = check_write_budget(session, plan, err);
        if (result < 0)
            return result;
        int continued = interrupt_n_continued();
        uint64_t suspended_ns = session->simulated ? 0 : clock_suspended_ns();
        result = measure_once(session, plan, err);
        if (result < 0)
            return result;
        bool void_run = !session->simulated && (interrupt_n_continued() != continued ||
                                                clock_suspended_ns() > suspended_ns + SUSPENDED_NS);
        if (session->clients != NULL && session->clients->was_void)
            continue; /* it has said who spoilt it, and does not go on for ever */
        if (!void_run && is_worth_repeating(session, plan))
            continue;
        if (!void_run)
            break;
        notes_add(&session->warnings, "run_repeated",
                  "the program or the machine was stopped during a run; the run was repeated");
    }
    *ret = session->job.result;
    histogram_merge(latency, &session->job.latency);
    return session->simulated ? 0 : check_target(session, err);
}

int session_measure_alone(struct session *session, uint32_t member, struct measure_plan *plan,
                          struct measure_result *ret, struct histogram *latency, struct err *err)
{
    const struct measure_env all = session->env;
    session->env.members = NULL;
    session->env.target = session_member_target(session, member);
    session->env.device = session->members.device[member];
    session->alone = member + 1;
    int result = session_measure(session, plan, ret, latency, err);
    /* A thread that hangs in the kernel goes on using it. */
    if (session->abandoned)
        return result;
    session->env.members = all.members;
    session->env.target = all.target;
    session->env.device = all.device;
    session->alone = 0;
    return result;
}

static void note_verified(struct session *session)
{
    char compared[UNITS_TEXT_SIZE], passed_over[UNITS_TEXT_SIZE];
    notes_add(&session->warnings, "verify",
              "%s were read and found as written, %s not judged because a write was under way (--verify); "
              "this takes time: do not compare these rates with others",
              units_format_bytes(session->verify.n_compared * VERIFY_BLOCK_BYTES, compared),
              units_format_bytes(session->verify.n_passed_over * VERIFY_BLOCK_BYTES, passed_over));
}

void session_finish(struct session *session)
{
    if (session->settings->workload.verify)
        note_verified(session);
    if (session->simulated)
        return;
    if (session->clients != NULL)
        session->clients->finish(session);
    hostinfo_collect_load(&session->host, session->directory_fd, "after");
    drive_health_read(&session->host, &session->clock, &interrupt_signal, &session->drive_health_after);
}

double session_seconds(const struct session *session)
{
    return (double)(clock_now_ns(&session->clock) - session->start_ns) / 1e9;
}

void session_close(struct session *session)
{
    if (session->abandoned)
        return;
    if (!session->simulated && session->target.fd > 0)
        target_close(&session->target);
    target_close(&session->existing);
    session_members_close(session);
    beside_loads_close(session);
    neighbour_costs_close(session);
    verify_close(&session->verify);
    arena_free(&session->arena);
    simulator_close(&session->simulator);
    /* A zeroed session owns nothing; descriptor 0 is never ours. */
    if (session->lock_fd > 0)
        close(session->lock_fd);
    if (session->directory_fd > 0)
        close(session->directory_fd);
}
