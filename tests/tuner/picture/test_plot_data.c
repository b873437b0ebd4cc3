/* What pictures are made of is read from JSON, journals and tables, or refused with the reason. */
#include "tests/test.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>

static struct plot_data data;
static struct err err;

static int read_text(const char *text)
{
    plot_data_done(&data);
    err = (struct err){0};
    return plot_data_read(&data, text, strlen(text), &err);
}

FIXTURE(done)
{
    plot_data_done(&data);
    return 0;
}

static const char *level_of(size_t point, size_t factor)
{
    return data.levels[factor].level[data.points[point].level[factor]].text;
}

TEST_WITH(rows_of_one_point_in_a_table_are_its_runs, NULL, done)
{
    assert_int_equal(read_text("pattern,request_size,direct,throughput_bps\n"
                               "read,64k,1,100\nread,4096,0,50\nread,65536,1,110\n\nread,64k,1,120\n"),
                     0);
    assert_int_equal(data.n_points, 2);
    assert_close(data.points[0].mean_bps, 110, 1e-9);
    assert_close(data.points[0].std_bps, 10, 1e-9);
    assert_close(data.points[0].ci_high_bps, 110 + 4.302653 * 10 / sqrt(3), 1e-4);
    assert_true(isnan(data.points[1].std_bps) && isnan(data.points[1].ci_low_bps));
    assert_string_equal(level_of(0, PLOT_FACTOR_REQUEST_SIZE), "64k");
    assert_string_equal(level_of(1, PLOT_FACTOR_DIRECT), "buffered");
    /* Levels ascend, whatever came first. */
    assert_int_equal(data.points[1].level[PLOT_FACTOR_REQUEST_SIZE], 0);
    assert_int_equal(data.points[0].level[PLOT_FACTOR_THREADS], PLOT_NO_LEVEL);
}

TEST_WITH(figures_of_a_single_row_stay_as_they_are, NULL, done)
{
    assert_int_equal(read_text("\"request_size\",throughput_bps,std_bps,ci_low_bps,ci_high_bps,mood\r\n"
                               "\"4k\",100,7,,130,good\r\n"),
                     0);
    assert_close(data.points[0].std_bps, 7, 0);
    assert_close(data.points[0].ci_high_bps, 130, 0);
    assert_true(isnan(data.points[0].ci_low_bps));
    assert_string_equal(data.ignored, "mood");
}

TEST_WITH(damaged_tables_are_refused_with_their_line, NULL, done)
{
    static const char *const texts[] = {
        "request_size,throughput_bps\n4k,1\n5q,1\n",   "request_size,throughput_bps\n4k,1\n4k\n",
        "request_size,throughput_bps\n4k,1\n4k,1,1\n", "request_size,throughput_bps\n4k,1\n4k,-1\n",
        "request_size,throughput_bps\n4k,1\n4k,inf\n", "request_size,throughput_bps\n4k,1\n4k,\n",
        "direct,throughput_bps\n1,1\n2,1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(read_text(texts[i]), -EINVAL);
        assert_contains(err.text, "line 3");
    }
    assert_int_equal(read_text("request_size,depth\n4k,1\n"), -EINVAL);
    assert_int_equal(read_text(""), -EINVAL);
    assert_int_equal(read_text("throughput_bps\n"), -ENODATA);
    plot_data_done(&data);
    assert_int_equal(plot_data_read(&data, "a\0b", 3, &err), -EINVAL);
}

TEST_WITH(commas_between_quotes_belong_to_the_field, NULL, done)
{
    assert_int_equal(read_text("\"pattern\",\"request_size\", \"throughput_bps\"\r\n"
                               "\"seq-read=40,rand-write=60\",4096,5\r\n\"a\"\"b,c\",4k,6\n"),
                     0);
    assert_int_equal(data.n_points, 2);
    assert_string_equal(level_of(0, PLOT_FACTOR_PATTERN), "seq-read=40,rand-write=60");
    assert_close(data.points[0].mean_bps, 5, 0);
    assert_close(data.points[1].mean_bps, 6, 0);
    assert_int_equal(read_text("pattern,throughput_bps\n\"read,5\n"), -EINVAL);
}

#define SETTING                                                                                              \
    "\"request_size\": 4096, \"queue_depth\": 8, \"direct\": 1, \"api\": \"io_uring\", \"threads\": 1, "     \
    "\"sync\": \"end\""
#define OTHER                                                                                                \
    "\"request_size\": 8192, \"queue_depth\": 8, \"direct\": 1, \"api\": \"pool\", \"threads\": 1, "         \
    "\"sync\": \"end\""

TEST_WITH(a_recommendation_knows_roles_and_what_to_distrust, NULL, done)
{
    assert_int_equal(
        read_text("{\"schema\": \"fstune/recommendation/1\", \"pattern\": {\"name\": \"randread\"},"
                  " \"points\": [{" SETTING ", \"mean\": 5e8, \"std\": 0, \"latency_ns\": {\"p99\": 900}, "
                  "\"disqualified_by\": []},"
                  " {" OTHER ", \"mean\": 9e8, \"std\": null, \"disqualified_by\": [\"compressed\"]}],"
                  " \"recommendation\": {" SETTING "}, \"best\": {" SETTING ", \"mean\": 1},"
                  " \"equivalent\": [{" SETTING ", \"mean\": 2}], \"pareto\": [{" OTHER "}],"
                  " \"system\": {\"simulated\": true, \"surface\": \"s\"}}"),
        0);
    assert_int_equal(data.n_points, 2);
    assert_int_equal(data.points[0].marks, PLOT_BEST | PLOT_RECOMMENDED | PLOT_EQUIVALENT);
    assert_int_equal(data.points[1].marks, PLOT_DISTRUSTED);
    assert_close(data.points[0].mean_bps, 5e8, 0); /* as in the points, not as in the roles */
    assert_close(data.points[0].std_bps, 0, 0);
    assert_true(isnan(data.points[1].std_bps));
    assert_close(data.points[0].p99.ns, 900, 0);
    assert_string_equal(level_of(0, PLOT_FACTOR_PATTERN), "randread");
    assert_int_equal(data.levels[PLOT_FACTOR_API].level[0].number, API_POOL);
    assert_true(data.n_front == 1 && data.front[0] == 1);
    assert_string_equal(data.place, "simulated surface \"s\"");
}

TEST_WITH(runs_of_a_measurement_lie_end_to_end, NULL, done)
{
    assert_int_equal(
        read_text(
            "{\"schema\": \"fstune/measurement/1\", \"row\": {" SETTING ", \"mean\": 5e8},"
            " \"sustained\": {\"text\": \"t\", \"burst\": {\"seconds\": 3, \"mean\": 9, \"mean_after\": 4}},"
            " \"runs\": [{\"throughput\": 9, \"seconds\": 2, \"warmup_seconds\": 0.5, \"stable\": true},"
            " {\"throughput\": 4, \"seconds\": 2, \"warmup_seconds\": 0, \"stable\": false, "
            "\"warmed_up\": true}]}"),
        0);
    assert_int_equal(data.n_runs, 2);
    assert_close(data.runs[1].start_seconds, 2.5, 1e-12);
    assert_true(data.runs[0].stable && !data.runs[1].stable);
    assert_close(data.burst_seconds, 3, 0);
    assert_string_equal(data.verdict, "t");
}

#define RUN(number, at, setting, rate)                                                                       \
    "{\"run\":" number ",\"at_seconds\":" at ",\"point\":{" setting "},\"throughput\":" rate                 \
    ",\"iops\":9,\"latency_ns\":{\"mean\":100,\"p99\":null,\"requests\":0,\"quantiles\":[]},"                \
    "\"achieved_depth\":8,\"seconds\":1,\"warmup_seconds\":0.5,\"bytes\":1,\"moved_bytes\":1,"               \
    "\"warmup\":\"limit\",\"sampled\":false,\"fresh\":false,\"doubts\":[]}\n"

TEST_WITH(a_journal_gives_runs_in_time_and_points_of_them, NULL, done)
{
    assert_int_equal(
        read_text("{\"schema\":\"fstune/journal/1\",\"pattern\":\"read\",\"objective\":\"latency\"}\n" RUN(
            "0", "2", SETTING, "10") RUN("1", "4", OTHER, "20") RUN("2", "6", SETTING, "12")),
        0);
    assert_int_equal(data.n_runs, 3);
    assert_int_equal(data.n_points, 2);
    assert_close(data.points[data.runs[2].point].mean_bps, 11, 1e-12);
    assert_close(data.points[0].latency_mean_ns, 100, 1e-9);
    assert_close(data.runs[1].start_seconds, 2.5, 1e-12);
    assert_true(data.lower_is_better && !data.runs[0].stable);
}

TEST_WITH(cells_of_an_experiment_carry_what_is_fixed_and_their_answers, NULL, done)
{
    assert_int_equal(
        read_text("{\"schema\": \"fstune/experiment/1\", \"confidence\": 0.9, "
                  "\"fixed\": {\"pattern\": \"randread\", \"threads\": 1, \"cache\": \"cold\"}, \"points\": ["
                  "{\"request_size\": 4096, \"mean\": 5, \"levels\": {\"file_size\": 1048576}},"
                  "{\"request_size\": 4096, \"mean\": null, \"failed\": \"no space\", \"levels\": "
                  "{\"file_size\": 4194304}},"
                  "{\"request_size\": 8192, \"mean\": 6, \"levels\": {\"file_size\": 1048576}},"
                  "{\"request_size\": 8192, \"mean\": 7, \"levels\": {\"file_size\": 4194304}}],"
                  "\"analysis\": {\"answers\": [{\"best\": 3, \"equivalent\": [2, 9, -1, \"x\"]}, "
                  "{\"best\": 0}]}}"),
        0);
    assert_int_equal(data.n_points, 4);
    assert_close(data.confidence_share, 0.9, 1e-12);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(level_of(i, PLOT_FACTOR_PATTERN), "randread");
        assert_string_equal(level_of(i, PLOT_FACTOR_CACHE), "cold");
        assert_string_equal(level_of(i, PLOT_FACTOR_FILE_SIZE), i % 2 == 0 ? "1m" : "4m");
    }
    assert_true(isnan(data.points[1].mean_bps));
    assert_int_equal(data.points[0].marks, PLOT_BEST);
    assert_int_equal(data.points[1].marks, 0);
    assert_int_equal(data.points[2].marks, PLOT_EQUIVALENT);
    assert_int_equal(data.points[3].marks, PLOT_BEST);
}

TEST_WITH(an_experiment_without_fixed_factors_is_read_and_damaged_cells_are_refused, NULL, done)
{
    assert_int_equal(read_text("{\"schema\": \"fstune/experiment/1\", \"points\": [{\"request_size\": 4096, "
                               "\"mean\": 5}]}"),
                     0);
    assert_int_equal(data.n_points, 1);
    assert_int_equal(read_text("{\"schema\": \"fstune/experiment/1\", \"points\": [7]}"), -EINVAL);
    assert_int_equal(
        read_text("{\"schema\": \"fstune/experiment/1\", \"fixed\": [], \"points\": [{\"mean\": 5}]}"),
        -EINVAL);
}

TEST_WITH(other_documents_are_refused, NULL, done)
{
    assert_int_equal(read_text("{\"schema\": \"fstune/other/1\"}"), -EINVAL);
    assert_int_equal(read_text("{\"schema\": "), -EINVAL);
    assert_int_equal(read_text("{\"schema\": \"fstune/recommendation/1\", \"points\": []}"), -ENODATA);
    assert_int_equal(read_text("{\"schema\": \"fstune/recommendation/1\", \"points\": [3]}"), -EINVAL);
    assert_int_equal(
        read_text("{\"schema\": \"fstune/recommendation/1\", \"points\": [{\"request_size\": -4}]}"),
        -EINVAL);
    assert_int_equal(read_text("{\"schema\":\"fstune/journal/1\",\"pattern\":\"read\"}\n"), -ENODATA);
    plot_data_done(&data);
    assert_int_equal(plot_data_load(&data, "/nonexistent/file", &err), -ENOENT);
}

#define PREDICTION "{\"schema\":\"fstune/write-prediction/1\",\"mode\":\"nosync\",\"naive_total_s\":6,"

#define LATE "{\"state\":\"free_run\",\"chunk\":1}"

TEST_WITH(a_prediction_gives_costs_states_and_limits, NULL, done)
{
    assert_int_equal(read_text(PREDICTION
                               "\"limits\":{\"background_bytes\":5,\"hard_bytes\":1e400},"
                               "\"costs_s\":[1,2.5,3],\"dirty_bytes\":[1,2,3],\"load\":{\"bytes\":3000},"
                               "\"states\":[{\"state\":\"free_run\",\"chunk\":0},"
                               "{\"state\":\"throttle_run\",\"chunk\":2}]}"),
                     -EINVAL);
    assert_int_equal(read_text(PREDICTION
                               "\"limits\":{\"background_bytes\":5,\"hard_bytes\":8},"
                               "\"costs_s\":[1,2.5,3],\"dirty_bytes\":[1,2,3],\"load\":{\"bytes\":3000},"
                               "\"states\":[{\"state\":\"free_run\",\"chunk\":0},"
                               "{\"state\":\"throttle_run\",\"chunk\":2}]}"),
                     0);
    const struct plot_writes *writes = &data.writes;
    assert_int_equal(data.source, PLOT_PREDICTION);
    assert_int_equal(writes->prediction.n, 3);
    assert_close(writes->prediction.costs_s[1], 2.5, 0);
    assert_close(writes->prediction.dirty_bytes[2], 3, 0);
    assert_int_equal(writes->prediction.n_changes, 2);
    assert_int_equal(writes->prediction.changes[1].run, CAWL_THROTTLE_RUN);
    assert_int_equal(writes->prediction.changes[1].chunk, 2);
    assert_close(writes->naive_s, 2, 1e-12);
    assert_close(writes->limit_bg_bytes, 5, 0);
    assert_close(writes->limit_hard_bytes, 8, 0);
    assert_string_equal(writes->load, "3 writes, 3.00 kB in all");
}

TEST_WITH(damaged_predictions_are_refused, NULL, done)
{
    static const char *const wrong[] = {
        "\"states\":[]}",
        "\"costs_s\":[],\"dirty_bytes\":[],\"states\":[]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1,2],\"states\":[]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1]}",
        "\"costs_s\":[-1],\"dirty_bytes\":[1],\"states\":[]}",
        "\"costs_s\":[\"1\"],\"dirty_bytes\":[1],\"states\":[]}",
        "\"costs_s\":[1],\"dirty_bytes\":[null],\"states\":[]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1],\"states\":[{\"state\":\"fast_run\",\"chunk\":0}]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1],\"states\":[{\"state\":\"free_run\",\"chunk\":1}]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1],\"states\":[{\"state\":\"free_run\",\"chunk\":-1}]}",
        "\"costs_s\":[1,1],\"dirty_bytes\":[1,1],\"states\":[" LATE "," LATE "]}",
        "\"costs_s\":[1],\"dirty_bytes\":[1],\"states\":[7]}",
    };
    char text[512];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, PREDICTION "%s", wrong[i]);
        if (read_text(text) != -EINVAL || strstr(err.text, "are damaged") == NULL)
            fail_msg("case %zu: %s", i, err.text);
    }
}

TEST_WITH(points_and_levels_are_limited, NULL, done)
{
    size_t size = (PLOT_MAX_LEVELS + 8) * 16;
    AUTO(auto_free) char *text = malloc(size);
    assert_non_null(text);
    int used = snprintf(text, size, "threads,mean\n");
    for (int i = 0; i <= PLOT_MAX_LEVELS; i++)
        used += snprintf(text + used, size - (size_t)used, "%d,1\n", i + 1);
    assert_int_equal(read_text(text), -EFBIG);
}

TEST(factors_are_found_by_both_spellings)
{
    assert_int_equal(plot_factor_find("request-size"), PLOT_FACTOR_REQUEST_SIZE);
    assert_int_equal(plot_factor_find("queue_depth"), PLOT_FACTOR_QUEUE_DEPTH);
    assert_int_equal(plot_factor_find("queue"), PLOT_FACTOR_N);
    assert_int_equal(plot_factor_find(""), PLOT_FACTOR_N);
}
