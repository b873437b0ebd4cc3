/* Tests of tuner/search/objective and tuner/search/tune_tell: what is compared, and what is refused. */
#include "tests/tuner/search/tune_rig.h"
#include "tuner/search/objective.h"

#include <errno.h>

SEARCHES(enter);

static const struct sample run_of_1g = {
    .throughput_bps = 1e9, .iops = 15000, .latency_mean_ns = 2e5, .latency_p99_ns = 5e5};

static double response(const char *option, const char *value, double reference)
{
    given(words("peak.conf %s %s", option, value));
    return objective_response(&settings, reference, &run_of_1g);
}

TEST(responses_are_logs_and_higher_is_better)
{
    assert_close(response("--objective", "throughput", 0), log(1e9), 1e-12);
    assert_close(response("--objective", "iops", 0), log(15000), 1e-12);
    assert_close(response("--objective", "latency", 0), -log(2e5), 1e-12);
    assert_close(response("--objective", "p99", 0), -log(5e5), 1e-12);
    assert_close(response("--profile", "max-throughput", 0), log(1e9), 1e-12);
    assert_close(response("--profile", "balanced", 0), log(1e9 / 2e5), 1e-12);
}

TEST(low_latency_counts_the_rate_up_to_the_floor_only)
{
    assert_close(response("--profile", "low-latency", log(2e9)), log(0.5e9 / 2e5), 1e-12);
    assert_close(response("--profile", "low-latency", log(8e9)), log(1e9 / 2e5), 1e-12);
    given("peak.conf --profile low-latency --rate-floor 10%");
    assert_close(objective_response(&settings, log(2e9), &run_of_1g), log(0.2e9 / 2e5), 1e-12);
}

static double margin(const char *option, const char *value)
{
    given(words("peak.conf --tolerance 10%% %s %s", option, value));
    return objective_margin(&settings);
}

TEST(the_tolerance_is_a_loss_of_rate_or_a_rise_of_latency)
{
    assert_close(margin("--objective", "throughput"), -log(0.9), 1e-12);
    assert_close(margin("--objective", "iops"), -log(0.9), 1e-12);
    assert_close(margin("--objective", "latency"), log(1.1), 1e-12);
    assert_close(margin("--objective", "p99"), log(1.1), 1e-12);
    assert_close(margin("--profile", "balanced"), log(1.1) - log(0.9), 1e-12);
    assert_close(margin("--profile", "low-latency"), log(1.1), 1e-12);
}

TEST(an_offered_rate_is_of_bytes_or_of_requests)
{
    const struct point point = {65536, 4, 1, API_IO_URING, 1, SYNC_END, 0, 0};
    given("peak.conf");
    assert_close(objective_offered_bps(&settings, &point), 0, 1e-12);
    given("peak.conf --rate 200m");
    assert_close(objective_offered_bps(&settings, &point), 200 << 20, 1e-6);
    given("peak.conf --rate 100iops");
    assert_close(objective_offered_bps(&settings, &point), 100 * 65536, 1e-6);
}

TEST(a_rate_makes_latency_the_objective)
{
    given("peak.conf --rate 200m");
    assert_int_equal(objective_take_rate(&settings, &err), 0);
    assert_int_equal(settings.search.objective, OBJECTIVE_LATENCY);
    given("peak.conf --rate 200m --objective p99");
    assert_int_equal(objective_take_rate(&settings, &err), 0);
    assert_int_equal(settings.search.objective, OBJECTIVE_P99);
    static const char *const wrong[] = {"--rate 10%", "--rate 1m,2m", "--rate 1m --profiles",
                                        "--rate 1m --objective iops"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        given(words("peak.conf %s", wrong[i]));
        assert_int_equal(objective_take_rate(&settings, &err), -EINVAL);
    }
}

TEST(latencies_want_one_size_and_rates_do_not)
{
    static const char *const names[] = {"throughput", "iops", "latency", "p99"};
    for (size_t i = 0; i < N_OF(names); i++) {
        given(words("peak.conf --objective %s", names[i]));
        assert_int_equal(init(), i < 2 ? 0 : -EINVAL);
        if (i >= 2) {
            assert_non_null(strstr(err.text, "--request-size"));
            assert_non_null(strstr(err.text, names[i]));
        }
    }
}

TEST(a_profile_brings_its_own_objective)
{
    static const char *const names[] = {"max-throughput", "balanced", "low-latency"};
    for (size_t i = 0; i < N_OF(names); i++) {
        given(words("peak.conf --request-size 64k --objective latency --profile %s", names[i]));
        assert_int_equal(init(), -EINVAL);
        assert_non_null(strstr(err.text, "--objective latency"));
    }
    begin_on("peak.conf --request-size 64k --objective latency --profiles");
}

/* 2 GB/s at 64k are 30,500 requests/s, 0.8 GB/s at 16k and depth 4 are 100,000; 4k has the most. */
TEST(iops_takes_smaller_requests_than_throughput)
{
    struct objective_figure figure;
    search("peak.conf --objective iops --seed 1");
    assert_int_equal(chosen()->request_size_bytes, 4096);
    assert_int_equal(chosen()->queue_depth, 4);
    assert_int_equal(objective_figure(OBJECTIVE_IOPS, &tune.records[tune.engine.chosen], true, 0.95, &figure),
                     0);
    assert_close(figure.mean / (2e9 * exp(-1.6) / 4096), 1, 0.05);
    assert_true(figure.ci.low < figure.mean && figure.mean < figure.ci.high);
    assert_int_equal(figure.n, record_count(&tune.records[tune.engine.chosen], true));
}

TEST(p99_is_searched_where_runs_have_enough_requests)
{
    search("peak.conf --objective p99 --request-size 4k --seed 1");
    assert_int_equal(tune.n_unsupported, 0);
    assert_int_equal(chosen()->queue_depth, 1);
    assert_int_equal(chosen()->direct, 1);
}

/* Requests of 16 ms: some 5 in a run of 100 ms. */
static double slow_bps(const struct point *point)
{
    return (double)point->request_size_bytes * point->queue_depth / 16e-3;
}

TEST(points_without_a_p99_are_left_out_with_the_reason)
{
    bool told = false;
    rig_simulator("slow", "", slow_bps);
    search("slow.conf --objective p99 --request-size 64k --queue-depth 1 --budget 10s --seed 1");
    assert_int_equal(tune.engine.chosen, ENGINE_NONE);
    assert_int_equal(tune.n_unsupported, tune.space.n_points);
    assert_non_null(strstr(answer.reason, "p99"));
    for (size_t i = 0; i < session->dropped.n; i++)
        told = told || strstr(session->dropped.note[i].text, "99th percentile") != NULL;
    assert_true(told);
}

/* Every replay of every point, told under the reference that holds at the end. */
TEST(the_floor_follows_the_highest_rate)
{
    search("peak.conf --profile low-latency --seed 1");
    assert_close(tune.reference_log_bps, profiles_reference(&tune), 0);
    assert_close(exp(tune.reference_log_bps) / 2e9, 1, 0.2);
    for (size_t i = 0; i < tune.space.n_points; i++) {
        double sum = 0;
        for (size_t k = 0; k < tune.records[i].n; k++)
            sum += tune_response(&tune, &tune.records[i].samples[k]);
        assert_int_equal(tune.engine.belief.moments[i].n, tune.records[i].n);
        if (tune.records[i].n > 0)
            assert_close(tune.engine.belief.moments[i].mean, sum / (double)tune.records[i].n, 1e-9);
    }
}

TEST(a_ratio_of_a_point_to_itself_is_one)
{
    struct record record = {0};
    struct objective_ratio ratio;
    ratio = objective_ratio(&record, &record, false, 0.95, objective_table[OBJECTIVE_IOPS].value);
    assert_true(ratio.has);
    assert_close(ratio.mean, 1, 0);
    struct record other = {0};
    assert_false(objective_ratio(&record, &other, false, 0.95, objective_table[OBJECTIVE_IOPS].value).has);
    struct objective_figure figure;
    assert_int_equal(objective_figure(OBJECTIVE_IOPS, &record, false, 0.95, &figure), -ENODATA);
}
