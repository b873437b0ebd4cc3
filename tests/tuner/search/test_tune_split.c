/* Tests of tuner/search/tune_split: two request sizes are recommended where they are proved to be faster, and
 * only there. */
#include "tests/tuner/search/tune_rig.h"

static const unsigned sizes[] = {4096, 16384, 65536, 262144, 1048576};
#define N_SIZES N_OF(sizes)

/* Throughput falls off around the best size of reads and that of writes, in powers of two. */
static void split_simulator(const char *name, double best_read, double best_write, bool has_one_size)
{
    char file[64];
    rig_write(strcat(strcpy(file, name), ".conf"),
              "name = \"%s\"; points = \"%s.csv\"; noise = { run_cv = 0.05; setup_seconds = 0.05; };\n", name,
              name);
    FILE *table = fopen(strcat(strcpy(file, name), ".csv"), "w");
    assert_non_null(table);
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps,write_request_size\n", table);
    for (size_t i = 0; i < N_SIZES * N_SIZES * 3; i++) {
        unsigned reads = sizes[i % N_SIZES], writes = sizes[i / N_SIZES % N_SIZES];
        unsigned depth = 1U << 2 * (i / N_SIZES / N_SIZES);
        double bps = 1e9 * exp(-0.025 * pow(log2(reads) - best_read, 2) -
                               0.025 * pow(log2(writes) - best_write, 2) - 0.05 * pow(log2(depth) - 4, 2));
        if (has_one_size || reads != writes)
            fprintf(table, "randrw:70,%u,%u,1,io_uring,1,%.17g,%u\n", reads, depth, bps, writes);
    }
    assert_int_equal(fclose(table), 0);
}

FIXTURE(enter_split)
{
    if (enter(test_state) != 0)
        return -1;
    split_simulator("apart", 20, 14, true);
    split_simulator("alike", 16, 16, true);
    split_simulator("never", 20, 14, false);
    return 0;
}

SEARCHES(enter_split);

#define SPLIT ".conf --pattern randrw:70 --split-sizes --budget 60s --seed "

TEST(two_sizes_are_recommended_where_they_are_faster)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        search(words("apart" SPLIT "%u", seed));
        assert_int_equal(chosen()->request_size_bytes, 1048576);
        assert_int_equal(chosen()->write_size_bytes, 16384);
        assert_true(answer.splits && answer.has_split && answer.has_unsplit);
        /* The best of one size is 64k or 256k: exp(0.5) of it is gained. */
        assert_false(factors_is_split(&answer.unsplit.point));
        assert_true(tune.split_gain.has && tune.split_gain.ci.low > 1);
        assert_close(tune.split_gain.mean, exp(0.5), 0.15);
        assert_true(answer.unsplit.replays >= ENGINE_CONFIRMING_LEAST);
        assert_false(is_warned_of("split_not_worth"));
        assert_true(is_warned_of("split_shares"));
    }
}

TEST(one_size_is_recommended_where_two_gain_nothing)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        search(words("alike" SPLIT "%u", seed));
        assert_int_equal(chosen()->request_size_bytes, 65536);
        assert_false(factors_is_split(chosen()));
        assert_int_equal(tune.unsplit, tune.engine.chosen);
        assert_true(is_warned_of("split_not_worth"));
    }
}

/* The search itself prefers two sizes; faster on average alone is no proof. */
TEST(a_gain_without_proof_is_none)
{
    search("apart" SPLIT "1");
    size_t split = tune.split, unsplit = tune.unsplit;
    assert_int_equal(tune.engine.chosen, split);
    for (size_t i = 0; i < tune.records[split].n; i++)
        tune.records[split].samples[i].throughput_bps = answer.unsplit.mean_bps * (i % 2 == 0 ? 2.6 : 0.5);
    tune_weigh_split(&tune);
    assert_true(tune.split_gain.has && tune.split_gain.mean > 1 && tune.split_gain.ci.low < 1);
    assert_int_equal(tune.engine.chosen, unsplit);
    assert_true(is_warned_of("split_not_worth"));
}

TEST(without_a_point_of_one_size_nothing_is_compared)
{
    search("never" SPLIT "1");
    assert_true(factors_is_split(chosen()));
    assert_int_equal(tune.unsplit, ENGINE_NONE);
    assert_true(answer.splits && !answer.has_unsplit && !tune.split_gain.has);
    assert_true(is_warned_of("split_not_compared"));
}

TEST(the_answer_names_both_sizes_and_the_gain)
{
    char *text = NULL;
    size_t size = 0;
    search("apart" SPLIT "2");
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_recommendation_json(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
    json_t *document = json_loads(text, 0, NULL);
    json_t *recommendation = json_object_get(document, "recommendation"),
           *split = json_object_get(document, "split");
    CHECK_JSON(recommendation, "write_request_size=16384");
    assert_true(json_number_value(json_object_get(json_object_get(split, "gain"), "ci_low")) > 1);
    CHECK_JSON(split, "unsplit.write_request_size=absent");
    assert_non_null(json_object_get(json_object_get(split, "unsplit"), "mean"));
    json_decref(document);
    free(text);
    out = open_memstream(&text, &size);
    assert_int_equal(report_recommendation_text(out, &answer, &err), 0);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "request size 1m of reads and 16k of writes"));
    assert_non_null(strstr(text, "--request-size 1m --write-request-size 16k"));
    assert_non_null(strstr(text, "one size for reads and writes"));
    free(text);
}

TEST(a_table_of_one_size_cannot_be_split)
{
    given("calm.conf --split-sizes");
    assert_int_equal(init(), -EINVAL);
    assert_non_null(strstr(err.text, "column write_request_size"));
}

TEST(without_the_option_two_sizes_stay_out)
{
    search("apart.conf --pattern randrw:70 --budget 20s --seed 1");
    assert_int_equal(tune.space.n_points, N_SIZES * 3);
    assert_int_equal(tune.space.n_dims, FACTOR_N - 1);
    assert_false(factors_is_split(chosen()) || answer.splits);
}

TEST(a_current_setting_may_have_two_sizes)
{
    search("apart.conf --pattern randrw:70 --budget 20s --seed 1 --current "
           "request_size=4k,write_request_size=64k,direct=1,api=io_uring");
    assert_int_equal(answer.baseline.point.write_size_bytes, 65536);
    assert_true(answer.has_baseline && answer.baseline.replays >= ENGINE_CONFIRMING_LEAST);
}
