/* What is refused, which settings get a burst, and what bursts with known times say. */
/* LINK: -Wl,--wrap=hostinfo_find_memory_room -Wl,--wrap=session_measure */
#include "tests/memory_room.h"
#include "tests/tuner/search/tune_rig.h"
#include "tuner/writes/burst.h"

#include <errno.h>

SEARCHES(enter);

static struct burst burst;

#define GIB (1ULL << 30)

/* Of a burst. */
static enum { NEVER, ALWAYS, WHEN_DIRECT, AFTER_THE_CHOICE } fails;

WRAP(int, session_measure,
     (struct session * opened, struct measure_plan *plan, struct measure_result *ret,
      struct histogram *latency, struct err *why))
{
    size_t n_looks = 0;
    for (size_t i = 0; i < burst.n; i++)
        n_looks += burst.setting[i].n_looks;
    if (fails == ALWAYS || (fails == WHEN_DIRECT && plan->point.direct) ||
        (fails == AFTER_THE_CHOICE && n_looks > 0))
        return err_set(why, -EIO, "the disk is gone");
    return __real_session_measure(opened, plan, ret, latency, why);
}

static int check_of(const char *line, uint64_t file_bytes)
{
    rig_settings_line(&settings, line);
    struct session *opened = rig_open_session(&settings);
    memset(&err, 0, sizeof err);
    int result = burst_check(opened, file_bytes, &err);
    rig_close_session(opened);
    return result;
}

static void check_refused(const char *line, uint64_t file_bytes, const char *part)
{
    assert_int_equal(check_of(line, file_bytes), -EINVAL);
    check_part(err.text, part);
}

TEST(bursts_that_cannot_be_measured_are_refused)
{
    check_refused("--pattern randwrite --simulate peak.conf --burst 64m", GIB, "simulated");
    check_refused("--pattern randrw --burst 64m", GIB, "only writes");
    check_refused("--pattern write --burst 2g", GIB, "--file-size 2g");
    check_refused("--pattern write --burst 256m --max-write 1g", GIB, "--max-write");
    check_refused("--pattern write --burst 900t", UINT64_MAX, "memory");
    check_refused("--pattern write --burst 16m --burst-interval 5s --budget 60s", GIB, "--budget 243s");
    check_refused("--pattern write --burst-interval 2s", GIB, "--burst-interval");
    check_refused("--pattern write --host host.conf", GIB, "--host");
}

TEST(a_memory_cgroup_counts_as_the_machine)
{
    room_bytes = 64 << 20;
    check_refused("--pattern write --burst 33m", GIB, "half of the memory available is 33.6 MB");
    room_bytes = 66 << 20;
    assert_int_equal(check_of("--pattern write --burst 33m", GIB), 0);
    room_bytes = 0;
}

TEST(burst_that_fits_is_taken)
{
    assert_int_equal(check_of("--pattern write --burst 1m", GIB), 0);
}

TEST(unreadable_host_file_is_refused_before_anything_is_written)
{
    assert_int_equal(check_of("--pattern write --burst 1m --host missing.conf", GIB), -ENOENT);
}

TEST(searches_without_bursts_keep_their_budget)
{
    rig_settings(&settings, "--pattern", "write", NULL);
    assert_int_equal(burst_reserved_ns(&settings), 0);
    assert_int_equal(burst_reserved_bytes(&settings), 0);
    rig_settings(&settings, "--pattern", "write", "--burst", "1m", "--budget", "40s", NULL);
    assert_int_equal(burst_reserved_ns(&settings), 10000000000ULL);
    /* All bursts that can be made, and never more than a quarter of what may be written. */
    assert_int_equal(burst_reserved_bytes(&settings), 72ULL << 20);
    settings.limits.max_write_bytes = 64ULL << 20;
    assert_int_equal(burst_reserved_bytes(&settings), 16ULL << 20);
}

/* A setting with bursts of these times, of which the first BURST_LOOKS came before the choice. */
static void add_setting(unsigned direct, const double *accepted_s, double flush_s, size_t n)
{
    struct burst_setting *setting = &burst.setting[burst.n];
    *setting = (struct burst_setting){.point = {65536, 4, direct, API_IO_URING, 1, SYNC_END, 0, 0},
                                      .n_looks = BURST_LOOKS,
                                      .predicted_s = NAN};
    for (size_t i = 0; i < n; i++) {
        setting->accepted_s[i] = accepted_s[i];
        setting->durable_s[i] = accepted_s[i] + flush_s;
    }
    setting->n = n;
    burst.chosen[direct ? BURST_DIRECT : BURST_BUFFERED] = burst.n;
    burst.n++;
}

static void begin(void)
{
    rig_settings(&settings, "--pattern", "write", "--burst", "64m", NULL);
    memset(&burst, 0, sizeof burst);
    burst.settings = &settings;
    burst.chosen[BURST_BUFFERED] = burst.chosen[BURST_DIRECT] = BURST_NONE;
}

/* The looks are far off: they take no part in the figures. */
static const double fast_s[] = {9, 9, 0.099, 0.1, 0.101, 0.1}, slow_s[] = {9, 9, 0.39, 0.4, 0.41, 0.4};

/* A fast buffered setting, the first, and a slow direct one, which is durable sooner. */
static void judge_fast_and_slow(void)
{
    begin();
    add_setting(0, fast_s, 0.5, 6);
    add_setting(1, slow_s, 0.01, 6);
    burst_judge(&burst);
}

TEST(faster_class_wins_with_its_gain)
{
    judge_fast_and_slow();
    assert_int_equal(burst.best, 0);
    assert_true(burst.has_gain && burst.conclusive);
    assert_close(burst.gain, 4, 0.01);
    assert_true(burst.gain_ci.low > 3.8 && burst.gain_ci.low < 4 && burst.gain_ci.high > 4);
    assert_close(burst_figure(&burst, 0, false).mean, 0.1, 1e-9);
    assert_close(burst_figure(&burst, 0, true).mean, 0.6, 1e-9);
    assert_int_equal(burst_figure(&burst, 0, false).n, 4);
    /* What is durable is another question, with another answer. */
    burst.by_durable = true;
    burst_judge(&burst);
    assert_int_equal(burst.best, 1);
    assert_close(burst.gain, 0.6 / 0.41, 0.02);
}

TEST(classes_that_scatter_alike_are_not_settled)
{
    static const double a[] = {9, 9, 0.1, 0.2, 0.3}, b[] = {9, 9, 0.12, 0.19, 0.31};
    begin();
    add_setting(0, a, 0, 5);
    add_setting(1, b, 0, 5);
    burst_judge(&burst);
    assert_int_not_equal(burst.best, BURST_NONE);
    assert_false(burst.conclusive);
    assert_true(burst.gain_ci.low < 1 && burst.gain_ci.high > 1);
}

TEST(too_few_bursts_are_no_answer)
{
    begin();
    add_setting(0, fast_s, 0, BURST_LOOKS + BURST_LEAST - 1);
    burst_judge(&burst);
    assert_int_equal(burst.best, BURST_NONE);
    burst.setting[0].n++;
    burst_judge(&burst);
    assert_int_equal(burst.best, 0);
    assert_false(burst.has_gain);
    burst.setting[0].failed = true;
    burst_judge(&burst);
    assert_int_equal(burst.best, BURST_NONE);
}

/* What the bursts add to an answer. */
static json_t *make_answer(void)
{
    json_t *added = json_object();
    burst_answer_part(&burst).add(added, &burst);
    return added;
}

TEST(document_holds_both_settings_and_the_gain)
{
    judge_fast_and_slow();
    json_t *whole = make_answer(), *object = json_object_get(whole, "burst"),
           *gain = json_object_get(object, "gain");
    assert_int_equal(json_integer_value(json_object_get(object, "bytes")), 64 << 20);
    CHECK_JSON(object, "judged_by=accepted");
    assert_close(json_real_value(json_object_get(gain, "mean")), 4, 0.01);
    json_t *buffered = json_object_get(object, "buffered"),
           *point = json_object_get(object, "recommendation");
    assert_int_equal(json_integer_value(json_object_get(buffered, "bursts")), 4);
    assert_int_equal(json_integer_value(json_object_get(point, "direct")), 0);
    CHECK_JSON(object, "model=null", "looks#=2");
    json_decref(whole);
}

TEST(text_says_which_setting_and_that_a_steady_load_has_another)
{
    AUTO(auto_free) char *text = NULL;
    judge_fast_and_slow();
    burst.falls_behind = true;
    FILE *out = memory_stream(&text);
    burst_answer_part(&burst).print(out, &burst);
    fclose(out);
    static const char *const parts[] = {"Bursts       of 64m",
                                        "64k x 4, buffered, io_uring",
                                        "accepted in 100 ms",
                                        "durable in 600 ms",
                                        "4.00 times as fast as the best direct setting",
                                        "For a steady load",
                                        "too short"};
    for (size_t i = 0; i < N_OF(parts); i++)
        check_part(text, parts[i]);
    assert_null(strstr(text, "not settled"));
}

TEST(bursts_can_contradict_the_model)
{
    begin();
    add_setting(0, slow_s, 0, 6);
    add_setting(1, fast_s, 0, 6);
    burst_judge(&burst);
    assert_false(burst_contradicts(&burst));
    burst.has_model = true;
    burst.crossings.first = CAWL_ADVICE_BUFFERED;
    burst.predicted.seconds[CAWL_ADVICE_BUFFERED] = 1;
    burst.predicted.seconds[CAWL_ADVICE_DIRECT] = 2;
    assert_true(burst_contradicts(&burst));
    burst.predicted.seconds[CAWL_ADVICE_DIRECT] = 0.5;
    assert_false(burst_contradicts(&burst));
    burst.predicted.seconds[CAWL_ADVICE_DIRECT] = 2;
    burst.conclusive = false;
    assert_false(burst_contradicts(&burst));
}

TEST(settings_of_both_classes_get_bursts)
{
    given("calm.conf --seed 3 --budget 60s");
    run();
    memset(&burst, 0, sizeof burst);
    settings.burst.bytes = 64 << 20;
    burst.settings = &settings;
    burst_choose_settings(&burst, &tune);
    size_t n_direct = 0;
    for (size_t i = 0; i < burst.n; i++) {
        n_direct += burst.setting[i].point.direct;
        assert_true(isnan(burst.setting[i].predicted_s));
        for (size_t k = 0; k < i; k++)
            assert_false(factors_equal(&burst.setting[i].point, &burst.setting[k].point));
    }
    assert_true(n_direct == 1 || n_direct == 2);
    assert_true(burst.n >= 2 && burst.n <= 5);
    /* The direct one is the best that was measured: the hill. */
    assert_true(factors_equal(&burst.setting[0].point, &hill));
    /* A burst of one small request leaves the larger sizes out. */
    settings.burst.bytes = 4096;
    burst_choose_settings(&burst, &tune);
    for (size_t i = 0; i < burst.n; i++)
        assert_int_equal(burst.setting[i].point.request_size_bytes, 4096);
}

TEST(model_names_a_request_size_that_the_search_did_not_measure)
{
    rig_settings(&settings, "--pattern", "randwrite", "--simulate", "calm.conf", "--seed", "3", NULL);
    assert_int_equal(init(), 0);
    memset(&burst, 0, sizeof burst);
    settings.burst.bytes = 64 << 20;
    burst.settings = &settings;
    burst.has_model = true;
    burst.host.host = (struct cawl_host){.bw_mem_bps = 8e9,
                                         .bw_ramdisk_bps = 4e9,
                                         .bw_reduced_bps = 2e9,
                                         .bw_dev_bps = 5e8,
                                         .bw_rdev_bps = 1e9,
                                         .sc_w_s = 1e-5,
                                         .sc_sw_s = 1e-4,
                                         .bs_bytes = 512,
                                         .bf_bytes = 4096,
                                         .limit_bg_bytes = 4e8,
                                         .limit_hard_bytes = 8e8,
                                         .dirty_expire_s = 30};
    burst_choose_settings(&burst, &tune);
    /* Nothing is measured yet: the model's choice alone, fewest calls and its plainest setting. */
    assert_int_equal(burst.n, 1);
    assert_true(burst.setting[0].by_model);
    assert_int_equal(burst.setting[0].point.request_size_bytes, 262144);
    assert_int_equal(burst.setting[0].point.queue_depth, 1);
    assert_int_equal(burst.setting[0].point.direct, 0);
    assert_close(burst.setting[0].predicted_s, 256 * 1e-5 + (64 << 20) / 4e9, 1e-6);
}

/* What is left of --max-write is less than a burst: that ends the bursts, and no setting is to blame. */
TEST(a_burst_that_max_write_would_cut_is_not_begun)
{
    given("calm.conf --seed 3 --budget 60s --burst 64m");
    run();
    settings.limits.max_write_given = true;
    settings.limits.max_write_bytes = session->bytes_written + (63ULL << 20);
    assert_int_equal(burst_run(&burst, &tune, &err), 0);
    size_t n = 0;
    for (size_t i = 0; i < burst.n; i++) {
        assert_false(burst.setting[i].failed);
        n += burst.setting[i].n;
    }
    assert_int_equal(n, 0);
    assert_true(burst.wrote_out);
    assert_int_equal(burst.best, BURST_NONE);
    assert_non_null(strstr(burst.why, "--max-write"));
    assert_null(strstr(burst.why, "--budget"));
}

static void run_bursts(int when)
{
    given("calm.conf --seed 3 --budget 60s --burst 64m");
    fails = NEVER;
    run();
    fails = when;
    assert_int_equal(burst_run(&burst, &tune, &err), 0);
    fails = NEVER;
}

TEST(where_every_burst_failed_the_reason_is_told)
{
    run_bursts(ALWAYS);
    assert_int_equal(burst.best, BURST_NONE);
    assert_non_null(strstr(burst.why, "the disk is gone"));
    assert_null(strstr(burst.why, "--budget"));
    run_bursts(AFTER_THE_CHOICE);
    assert_true(burst.chosen[BURST_BUFFERED] != BURST_NONE || burst.chosen[BURST_DIRECT] != BURST_NONE);
    assert_int_equal(burst.best, BURST_NONE);
    assert_non_null(strstr(burst.why, "the disk is gone"));
    json_t *whole = make_answer(), *object = json_object_get(whole, "burst");
    assert_non_null(strstr(json_string_value(json_object_get(object, "reason")), "the disk is gone"));
    json_decref(whole);
}

TEST(a_class_that_failed_leaves_the_other)
{
    run_bursts(WHEN_DIRECT);
    assert_int_equal(burst.chosen[BURST_DIRECT], BURST_NONE);
    assert_int_not_equal(burst.best, BURST_NONE);
    assert_null(burst.why);
}
