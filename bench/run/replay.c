/* bench/run/replay: writes made for real. */
#include "bench/run/replay.h"

#include "bench/base/units.h"
#include "bench/io/arena.h"
#include "bench/run/replay_internal.h"
#include "bench/target/target_scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Reading /proc/vmstat between the writes takes one part in so many of the time, but it is read at least once
 * in the longest period. */
#define SAMPLE_SHARE      20
#define SAMPLE_LEAST_NS   1000000ULL
#define SAMPLE_LONGEST_NS 20000000ULL
/* A delay is slept in pieces of this length, with a look for interruptions after each. */
#define SLEEP_NS    10000000ULL
#define CLOCK_TRIES 100

struct replay {
    const struct replay_plan *plan;
    struct replay_result *result;
    struct target target;
    struct replay_file *files;
    struct replay_warm warm;
    struct arena arena; /* what is written: the same bytes by every call */
    size_t n_samples_room;
    uint64_t start_ns, clock_ns, sampled_ns, period_ns;
};

static int check_write(const struct replay_plan *plan, size_t i, struct err *err)
{
    const struct replay_write *write = &plan->writes[i];
    if (write->file >= plan->n_files)
        return err_set(err, -EINVAL, "write %zu: there is no file %" PRIu32, i, write->file);
    if (write->size_bytes == 0 || write->size_bytes > INT64_MAX ||
        write->offset_bytes > INT64_MAX - write->size_bytes)
        return err_set(err, -EINVAL, "write %zu: %" PRIu64 " bytes at %" PRIu64 " cannot be written", i,
                       write->size_bytes, write->offset_bytes);
    return 0;
}

/* Sum of the sizes, and the most that all files will hold together: holes need no space, but nobody can rely
 * on them. */
static int sum_up(const struct replay_plan *plan, uint64_t *ret_written, uint64_t *ret_held, struct err *err)
{
    uint64_t written = 0, held = 0;
    uint64_t *ends = calloc(plan->n_files, sizeof *ends);
    int code = ends == NULL ? err_set(err, -ENOMEM, "no memory for %" PRIu32 " files", plan->n_files) : 0;
    for (size_t i = 0; i < plan->n && code == 0; i++) {
        const struct replay_write *write = &plan->writes[i];
        code = check_write(plan, i, err);
        if (code == 0 && __builtin_add_overflow(written, write->size_bytes, &written))
            code = err_set(err, -EFBIG, "the sum of all sizes does not fit in 64 bits");
        uint64_t end = write->offset_bytes + write->size_bytes;
        if (code == 0 && end > ends[write->file])
            ends[write->file] = end;
    }
    for (uint32_t i = 0; i < plan->n_files && code == 0; i++)
        if (__builtin_add_overflow(held, ends[i], &held))
            code = err_set(err, -EFBIG, "the files together do not fit in 64 bits");
    free(ends);
    *ret_written = written;
    *ret_held = held;
    return code;
}

uint64_t replay_extra_bytes(enum replay_mode mode)
{
    return mode == REPLAY_DIRECT ? TARGET_SCRATCH_PROOF_BYTES : 0;
}

static int check(const struct replay_plan *plan, uint64_t *ret_held, struct err *err)
{
    uint64_t written;
    if (plan->n == 0 || plan->n_files == 0)
        return err_set(err, -EINVAL, "there is nothing to write");
    int code = sum_up(plan, &written, ret_held, err);
    if (code != 0)
        return code;
    char need[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE];
    if (__builtin_add_overflow(written, replay_extra_bytes(plan->mode), &written) ||
        written > plan->max_write_bytes)
        return err_set(err, -EFBIG, "%s are to be written, %s may be (--max-write); raise it or write less",
                       units_format_bytes(written, need), units_format_bytes(plan->max_write_bytes, have));
    return 0;
}

int replay_check(const struct replay_plan *plan, struct err *err)
{
    uint64_t held;
    int code = check(plan, &held, err);
    return code != 0 ? code : target_scratch_check(plan->directory, held, err);
}

static int check_alignment(struct replay *replay, struct err *err)
{
    uint32_t align;
    int code = target_scratch_direct(&replay->target, &align, err);
    replay->result->written_bytes += replay->target.proof_bytes;
    for (size_t i = 0; code == 0 && i < replay->plan->n; i++) {
        const struct replay_write *write = &replay->plan->writes[i];
        if (write->offset_bytes % align != 0 || write->size_bytes % align != 0)
            code = err_set(err, -EINVAL,
                           "write %zu, %" PRIu64 " bytes at %" PRIu64
                           ": direct writes need multiples of %" PRIu32
                           " here; choose such sizes or another mode",
                           i, write->size_bytes, write->offset_bytes, align);
    }
    return code;
}

/* The clock's own cost: the least difference of two readings, one after the other. */
static uint64_t cost_of_clock(const struct clock *clock)
{
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before_ns = clock_now_ns(clock), ns = clock_now_ns(clock) - before_ns;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}

static uint64_t largest_call(const struct replay_plan *plan)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < plan->n; i++)
        largest = plan->writes[i].size_bytes > largest ? plan->writes[i].size_bytes : largest;
    return largest < REPLAY_CALL_MAX_BYTES ? largest : REPLAY_CALL_MAX_BYTES;
}

/* Brings what is used between two stamps into the processor's cache, as far as it fits: a write into a
 * stream's buffer takes less time than memory does. */
static void touch(const struct replay *replay)
{
    const struct replay_plan *plan = replay->plan;
    memset(replay->result->costs_ns, 0xff, plan->n * sizeof *replay->result->costs_ns);
    memset(replay->result->ends_ns, 0xff, plan->n * sizeof *replay->result->ends_ns);
    for (size_t i = 0; i < plan->n; i++)
        (void)*(const volatile uint64_t *)&plan->writes[i].size_bytes;
}

static int allocate(struct replay *replay, struct err *err)
{
    const struct replay_plan *plan = replay->plan;
    struct replay_result *result = replay->result;
    result->costs_ns = malloc(plan->n * sizeof *result->costs_ns);
    result->ends_ns = malloc(plan->n * sizeof *result->ends_ns);
    replay->files = calloc(plan->n_files, sizeof *replay->files);
    if (result->costs_ns == NULL || result->ends_ns == NULL || replay->files == NULL)
        return err_set(err, -ENOMEM, "no memory for the results of %zu writes", plan->n);
    for (uint32_t i = 0; i < plan->n_files; i++)
        replay->files[i].fd = -1;
    return arena_reserve(&replay->arena, largest_call(plan), plan->seed, err);
}

/* Adds a sample where one is due. Without memory for it there is none: the writes are what matters. */
static void sample(struct replay *replay, uint64_t now_ns)
{
    struct replay_result *result = replay->result;
    struct replay_sample new = {.at_ns = now_ns - replay->start_ns};
    if (result->dirty_unknown || now_ns - replay->sampled_ns < replay->period_ns)
        return;
    if (result->n_samples == replay->n_samples_room) {
        size_t room = replay->n_samples_room * 2 + 1024;
        struct replay_sample *larger = realloc(result->samples, room * sizeof *larger);
        if (larger == NULL)
            return;
        result->samples = larger;
        replay->n_samples_room = room;
    }
    result->dirty_unknown = replay_dirty_read(&new.dirty_bytes) != 0;
    if (!result->dirty_unknown)
        result->samples[result->n_samples++] = new;
    replay->sampled_ns = clock_now_ns(replay->plan->clock);
    uint64_t period_ns = (replay->sampled_ns - now_ns) * SAMPLE_SHARE;
    period_ns = period_ns > SAMPLE_LEAST_NS ? period_ns : SAMPLE_LEAST_NS;
    replay->period_ns = period_ns < SAMPLE_LONGEST_NS ? period_ns : SAMPLE_LONGEST_NS;
}

static bool is_interrupted(const struct replay *replay)
{
    return replay->plan->interrupted != NULL && atomic_load(replay->plan->interrupted) != 0;
}

/* *now_ns: the time of the last stamp, then that of the delay's end. */
static int compute(struct replay *replay, uint64_t delay_ns, uint64_t *now_ns)
{
    uint64_t end_ns = *now_ns + delay_ns;
    while (*now_ns < end_ns) {
        if (is_interrupted(replay))
            return -EINTR;
        clock_sleep_until_ns(replay->plan->clock, end_ns - *now_ns < SLEEP_NS ? end_ns : *now_ns + SLEEP_NS);
        sample(replay, clock_now_ns(replay->plan->clock));
        *now_ns = clock_now_ns(replay->plan->clock);
    }
    return 0;
}

static int make_write(struct replay *replay, size_t i)
{
    const struct replay_write *write = &replay->plan->writes[i];
    struct replay_file *file = &replay->files[write->file];
    for (uint64_t done = 0; done < write->size_bytes;) {
        uint64_t rest = write->size_bytes - done;
        uint64_t size = rest < REPLAY_CALL_MAX_BYTES ? rest : REPLAY_CALL_MAX_BYTES;
        int code = replay_file_write(file, replay->arena.memory, size, write->offset_bytes + done,
                                     &replay->result->n_short);
        if (code != 0)
            return code;
        done += size;
        replay->result->written_bytes += size;
        if (done < write->size_bytes && is_interrupted(replay))
            return -EINTR;
    }
    return 0;
}

static int explain(const struct replay *replay, int code, size_t i, struct err *err)
{
    const struct replay_write *write = &replay->plan->writes[i];
    if (code == -EINTR && is_interrupted(replay))
        return err_set(err, code, "the writes were interrupted");
    if (code == -EINTR) /* by the file system, without an end */
        code = -EIO;
    return err_io(err, code, "%s: write %zu (%" PRIu64 " bytes at %" PRIu64 ") failed", replay->target.name,
                  i, write->size_bytes, write->offset_bytes);
}

/* Stamps are chained: the end of a write is the beginning of the next one, unless something else was done. */
static int make_writes(struct replay *replay, struct err *err)
{
    struct replay_result *result = replay->result;
    const struct clock *clock = replay->plan->clock;
    replay->start_ns = clock_now_ns(clock);
    replay->sampled_ns = 0;
    sample(replay, replay->start_ns);
    uint64_t now_ns = replay->start_ns = clock_now_ns(clock);
    for (size_t i = 0; i < replay->plan->n; i++) {
        int code =
            is_interrupted(replay) ? -EINTR : compute(replay, replay->plan->writes[i].delay_ns, &now_ns);
        if (replay_warm_give(&replay->warm, replay->plan->writes[i].size_bytes))
            now_ns = clock_now_ns(clock);
        if (code == 0)
            code = make_write(replay, i);
        if (code != 0)
            return explain(replay, code, i, err);
        uint64_t end_ns = clock_now_ns(clock), cost_ns = end_ns - now_ns;
        result->costs_ns[i] = cost_ns > replay->clock_ns ? cost_ns - replay->clock_ns : 0;
        result->ends_ns[i] = end_ns - replay->start_ns;
        result->n = i + 1;
        now_ns = end_ns;
        if (end_ns - replay->sampled_ns < replay->period_ns)
            continue;
        sample(replay, end_ns);
        code = target_check_free(&replay->target, err);
        if (code != 0)
            return code;
        now_ns = clock_now_ns(clock);
    }
    return 0;
}

static int flush_streams(struct replay *replay, struct err *err)
{
    uint64_t before_ns = clock_now_ns(replay->plan->clock);
    for (uint32_t i = 0; i < replay->plan->n_files; i++) {
        int code = replay_file_flush(&replay->files[i]);
        if (code != 0)
            return err_io(err, code, "%s: the stream's buffer could not be written", replay->target.name);
    }
    replay->result->close_ns = clock_now_ns(replay->plan->clock) - before_ns;
    return 0;
}

static int prepare(struct replay *replay, struct err *err)
{
    const struct replay_plan *plan = replay->plan;
    int code = plan->mode == REPLAY_DIRECT ? check_alignment(replay, err) : 0;
    if (code == 0)
        code = allocate(replay, err);
    for (uint32_t i = 0; i < plan->n_files && code == 0; i++)
        code = replay_file_open(&replay->files[i], &replay->target, i, plan->mode, err);
    if (code == 0)
        code = replay_dirty_settle(plan, &replay->target, &replay->result->calm, err);
    replay->clock_ns = cost_of_clock(plan->clock);
    if (code == 0) {
        replay_warm_open(&replay->warm, plan);
        touch(replay);
    }
    return code;
}

int replay_run(const struct replay_plan *plan, struct replay_result *ret, struct err *err)
{
    uint64_t held;
    struct replay replay = {.plan = plan, .result = ret};
    *ret = (struct replay_result){0};
    int code = check(plan, &held, err);
    /* Each file has a second descriptor, of its mode. */
    target_allow_descriptors(UINT64_C(2) * plan->n_files);
    if (code == 0)
        code = target_scratch_create(&replay.target, plan->directory, plan->n_files, held, err);
    if (code != 0)
        return code;
    code = prepare(&replay, err);
    if (code == 0)
        code = make_writes(&replay, err);
    if (code == 0 && plan->mode == REPLAY_STDIO && plan->close)
        code = flush_streams(&replay, err);
    for (uint32_t i = 0; replay.files != NULL && i < plan->n_files; i++)
        replay_file_close(&replay.files[i]);
    free(replay.files);
    replay_warm_close(&replay.warm);
    arena_free(&replay.arena);
    target_close(&replay.target);
    return code;
}

void replay_done(struct replay_result *result)
{
    free(result->costs_ns);
    free(result->ends_ns);
    free(result->samples);
    *result = (struct replay_result){0};
}
