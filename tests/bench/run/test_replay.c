/* Tests of bench/run/replay: the writes that are made are those of the list, whatever the kernel answers. */
/* LINK: -Wl,--wrap=pwrite64 */
#include "bench/run/replay.h"
#include "tests/bench/target/target_rig.h"
#include "tests/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#define MAX_CALLS 64

struct call {
    uint64_t offset_bytes, size_bytes;
    int flags;
};

static struct call calls[MAX_CALLS];
static size_t n_calls;
static ssize_t (*answer)(size_t call, size_t size); /* NULL: the kernel's */
static atomic_int interrupted;
static uint64_t hand_ns;
static struct clock virtual;

WRAP(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off_t offset))
{
    size_t number = n_calls++;
    if (number < MAX_CALLS)
        calls[number] = (struct call){(uint64_t)offset, size, fcntl(fd, F_GETFL)};
    ssize_t n = answer != NULL ? answer(number, size) : (ssize_t)size;
    return n > 0 ? __real_pwrite64(fd, bytes, (size_t)n, offset) : n;
}

FIXTURE(set_up)
{
    n_calls = 0;
    answer = NULL;
    atomic_store(&interrupted, 0);
    hand_ns = 1000;
    virtual = clock_virtual(&hand_ns);
    return 0;
}

EACH_TEST(set_up, NULL);

static struct replay_plan plan_of(enum replay_mode mode, const struct replay_write *writes, size_t n)
{
    return (struct replay_plan){.directory = directory,
                                .mode = mode,
                                .writes = writes,
                                .n = n,
                                .n_files = 2,
                                .max_write_bytes = UINT64_MAX,
                                .calm_bytes = UINT64_MAX,
                                .seed = 1,
                                .clock = &virtual,
                                .interrupted = &interrupted};
}

static const struct replay_write three[] = {
    {.file = 0, .offset_bytes = 0, .size_bytes = 5000, .delay_ns = 100000000},
    {.file = 1, .offset_bytes = 4096, .size_bytes = 1000, .delay_ns = 0},
    {.file = 0, .offset_bytes = 2500, .size_bytes = 5000, .delay_ns = 35000000},
};

static int run(struct replay_plan *plan, struct replay_result *result, struct err *err)
{
    int code = replay_run(plan, result, err);
    assert_int_equal(rig_count_entries(directory), 0);
    return code;
}

TEST(writes_are_made_in_their_order)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
    struct replay_result result;
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_int_equal(n_calls, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(calls[i].offset_bytes == three[i].offset_bytes);
        assert_true(calls[i].size_bytes == three[i].size_bytes);
        assert_false(calls[i].flags & (O_DSYNC | O_DIRECT));
    }
    assert_int_equal(result.n, 3);
    assert_true(result.written_bytes == 11000);
    replay_done(&result);
    replay_done(&result);
}

TEST(delays_come_before_their_writes_and_cost_nothing)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
    AUTO(replay_done) struct replay_result result;
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_true(result.ends_ns[0] == 100000000 && result.ends_ns[1] == 100000000);
    assert_true(result.ends_ns[2] == 135000000);
    for (size_t i = 0; i < 3; i++)
        assert_true(result.costs_ns[i] == 0);
}

static ssize_t take_a_millisecond(size_t call, size_t size)
{
    hand_ns += 1000000 * (call + 1);
    return (ssize_t)size;
}

TEST(costs_are_the_time_of_the_calls)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
    AUTO(replay_done) struct replay_result result;
    answer = take_a_millisecond;
    assert_int_equal(run(&plan, &result, NULL), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(result.costs_ns[i] == 1000000 * (i + 1));
    assert_true(result.ends_ns[2] == 141000000);
}

TEST(sync_writes_are_durable_when_they_return)
{
    struct replay_plan plan = plan_of(REPLAY_SYNC, three, 3);
    AUTO(replay_done) struct replay_result result;
    assert_int_equal(run(&plan, &result, NULL), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(calls[i].flags & (O_DSYNC | O_DIRECT), O_DSYNC);
}

static ssize_t halve(size_t call, size_t size)
{
    (void)call;
    return (ssize_t)(size / 2 + size % 2);
}

TEST(short_writes_are_continued_and_counted)
{
    const struct replay_write one = {.offset_bytes = 10, .size_bytes = 4};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &one, 1);
    AUTO(replay_done) struct replay_result result;
    answer = halve; /* 2 + 1 + 1 */
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_int_equal(n_calls, 3);
    assert_true(calls[1].offset_bytes == 12 && calls[2].offset_bytes == 13);
    assert_int_equal(result.n_short, 2);
    assert_true(result.written_bytes == 4);
}

static ssize_t interrupt_at_first(size_t call, size_t size)
{
    errno = EINTR;
    return call < 3 ? -1 : (ssize_t)size;
}

TEST(interrupted_calls_are_made_again)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 1);
    AUTO(replay_done) struct replay_result result;
    answer = interrupt_at_first;
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_int_equal(n_calls, 4);
    assert_int_equal(result.n_short, 3);
}

static int failing_code;

static ssize_t fail_second(size_t call, size_t size)
{
    errno = failing_code;
    return call == 1 ? (failing_code == 0 ? 0 : -1) : (ssize_t)size;
}

TEST(a_failed_write_is_named_and_keeps_those_before)
{
    static const int codes[][2] = {{EIO, -EIO}, {ENOSPC, -ENOSPC}, {EFBIG, -EFBIG}, {0, -EIO}};
    for (size_t i = 0; i < N_OF(codes); i++) {
        struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
        AUTO(replay_done) struct replay_result result;
        struct err err = {0};
        n_calls = 0;
        failing_code = codes[i][0];
        answer = fail_second;
        assert_int_equal(run(&plan, &result, &err), codes[i][1]);
        assert_int_equal(result.n, 1);
        assert_true(result.written_bytes == 5000);
        assert_non_null(strstr(err.text, "write 1 (1000 bytes at 4096) failed"));
    }
}

static ssize_t interrupt_for_ever(size_t call, size_t size)
{
    (void)call;
    (void)size;
    errno = EINTR;
    return -1;
}

TEST(endless_interruptions_are_an_error)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 1);
    AUTO(replay_done) struct replay_result result;
    answer = interrupt_for_ever;
    assert_int_equal(run(&plan, &result, NULL), -EIO);
    assert_int_equal(result.n, 0);
}

static ssize_t signal_meanwhile(size_t call, size_t size)
{
    atomic_store(&interrupted, call == 0 ? SIGINT : 0);
    return (ssize_t)size;
}

TEST(a_signal_ends_it_before_the_next_write)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
    AUTO(replay_done) struct replay_result result;
    answer = signal_meanwhile;
    assert_int_equal(run(&plan, &result, NULL), -EINTR);
    assert_int_equal(n_calls, 1);
    assert_int_equal(result.n, 1);
}

/* The clock's sleep is where the signal comes. */
static uint64_t now_of(const struct clock *clock)
{
    return *clock->virtual_ns;
}

static void sleep_and_signal(const struct clock *clock, uint64_t deadline_ns)
{
    *clock->virtual_ns = deadline_ns;
    atomic_store(&interrupted, SIGINT);
}

TEST(a_signal_ends_a_long_delay)
{
    static const struct clock_ops ops = {now_of, sleep_and_signal};
    const struct clock clock = {&ops, &hand_ns};
    const struct replay_write late = {.size_bytes = 1, .delay_ns = UINT64_C(3600) * CLOCK_NS_PER_S};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &late, 1);
    AUTO(replay_done) struct replay_result result;
    plan.clock = &clock;
    assert_int_equal(run(&plan, &result, NULL), -EINTR);
    assert_true(hand_ns < CLOCK_NS_PER_S);
    assert_int_equal(n_calls, 0);
}

static ssize_t pretend(size_t call, size_t size)
{
    (void)size;
    return call == 0 ? 1 : 0; /* a whole one would be 128 MiB */
}

TEST(a_large_write_is_made_with_several_calls)
{
    const struct replay_write large = {.size_bytes = REPLAY_CALL_MAX_BYTES + 1};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &large, 1);
    AUTO(replay_done) struct replay_result result;
    plan.first_touch = true;
    answer = pretend;
    assert_int_equal(run(&plan, &result, NULL), -EIO);
    assert_true(calls[0].size_bytes == REPLAY_CALL_MAX_BYTES);
}

TEST(samples_begin_before_the_writes_and_keep_their_distance)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 3);
    AUTO(replay_done) struct replay_result result;
    assert_int_equal(run(&plan, &result, NULL), 0);
    if (result.dirty_unknown)
        skip();
    assert_true(result.n_samples >= 10); /* a delay of 100 ms in steps of 10 */
    assert_true(result.samples[0].at_ns == 0);
    for (size_t i = 1; i < result.n_samples; i++)
        assert_true(result.samples[i].at_ns >= result.samples[i - 1].at_ns + 1000000);
    assert_true(result.calm);
}

TEST(a_restless_machine_is_waited_for_and_told)
{
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, three, 1);
    AUTO(replay_done) struct replay_result result;
    plan.calm_bytes = 0; /* hardly ever */
    plan.calm_limit_ns = 50000000;
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_true(result.calm || hand_ns >= 151000000 - 1000000);
}

TEST(streams_write_their_buffers_at_the_end_where_asked)
{
    struct replay_plan plan = plan_of(REPLAY_STDIO, three, 3);
    AUTO(replay_done) struct replay_result result;
    plan.close = true;
    assert_int_equal(run(&plan, &result, NULL), 0);
    assert_int_equal(n_calls, 0); /* the C library's own */
    assert_int_equal(result.n, 3);
}

static void refused(struct replay_plan plan, int code, const char *text)
{
    struct err err = {0};
    struct replay_result result;
    assert_int_equal(replay_check(&plan, &err), code);
    if (strstr(err.text, text) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, text);
    assert_int_equal(run(&plan, &result, NULL), code);
    replay_done(&result);
    assert_int_equal(n_calls, 0);
}

static void write_refused(struct replay_write write, int code, const char *text)
{
    refused(plan_of(REPLAY_NOSYNC, &write, 1), code, text);
}

TEST(what_cannot_be_written_is_refused_before)
{
    const struct replay_write eleven = {.size_bytes = 11};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &eleven, 1);
    struct replay_write twice[] = {
        {.size_bytes = INT64_MAX}, {.size_bytes = INT64_MAX}, {.size_bytes = INT64_MAX}};
    refused(plan_of(REPLAY_NOSYNC, &eleven, 0), -EINVAL, "nothing to write");
    write_refused((struct replay_write){.file = 2}, -EINVAL, "write 0: there is no file 2");
    write_refused((struct replay_write){.size_bytes = 0}, -EINVAL, "write 0: 0 bytes");
    write_refused((struct replay_write){.offset_bytes = INT64_MAX, .size_bytes = 1}, -EINVAL,
                  "cannot be written");
    refused(plan_of(REPLAY_NOSYNC, twice, 3), -EFBIG, "64 bits");
    write_refused((struct replay_write){.size_bytes = 1ULL << 61}, -ENOSPC, "the writes need");
    plan.max_write_bytes = 10;
    refused(plan, -EFBIG, "--max-write");
    plan.max_write_bytes = 11 + replay_extra_bytes(REPLAY_DIRECT);
    plan.mode = REPLAY_DIRECT;
    plan.directory = "/nowhere/at/all";
    refused(plan, -ENOENT, "no such directory");
    plan.max_write_bytes--;
    refused(plan, -EFBIG, "--max-write");
    plan.mode = REPLAY_NOSYNC;
    plan.max_write_bytes = 11;
    plan.directory = "/nowhere/at/all";
    refused(plan, -ENOENT, "no such directory");
}

static int run_limited(void)
{
    const struct rlimit limit = {.rlim_cur = MIB, .rlim_max = MIB};
    const struct replay_write large = {.size_bytes = 3 * MIB};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &large, 1);
    struct replay_result result;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 77;
    int code = replay_run(&plan, &result, NULL);
    replay_done(&result);
    return code == -EFBIG || code == -ENOSPC ? 0 : 1;
}

TEST(the_limit_on_file_sizes_is_obeyed)
{
    child_expect(run_limited);
}

static int run_with_few_descriptors(void)
{
    struct rlimit limit;
    const struct replay_write last = {.file = 199, .size_bytes = 10};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, &last, 1);
    struct replay_result result;
    plan.n_files = 200;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < 600)
        return 0;
    limit.rlim_cur = 100;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 77;
    int code = replay_run(&plan, &result, NULL);
    replay_done(&result);
    return -code;
}

TEST(the_soft_limit_on_open_files_is_raised_for_all_of_them)
{
    child_expect(run_with_few_descriptors);
}
