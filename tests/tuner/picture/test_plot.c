/* Scripts of every kind: texts stay texts, data blocks hold numbers, and what is missing is said. */
#include "tests/test.h"
#include "tuner/picture/plot.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>

#define EVIL "`touch x` $(y) 'q' system(\\\"z\\\") %n \\\\ \\n!ls"

static char *script;
static struct err err;

static int draw(const char *kind, const char *text, struct plot_request request)
{
    struct plot_data data;
    free(script);
    script = NULL;
    err = (struct err){0};
    assert_int_equal(plot_data_read(&data, text, strlen(text), &err), 0);
    FILE *out = memory_stream(&script);
    int result = plot_find(kind)->draw(&request, &data, out, &err);
    fclose(out);
    plot_data_done(&data);
    return result;
}

FIXTURE(done)
{
    free(script);
    script = NULL;
    return 0;
}

EACH_TEST(NULL, done);

static struct plot_request request_of(enum plot_terminal terminal)
{
    return (struct plot_request){
        .terminal = terminal, .width = 900, .height = 560, .title = "", .x = "", .y = "", .where = ""};
}

static const char table[] =
    "request_size,queue_depth,throughput_bps,std_bps,latency_mean_ns,latency_p50_ns,latency_p99_ns\n"
    "4k,1,1e9,5e6,1000,900,1e4\n4k,8,2e9,3e8,2000,1500,1e4\n64k,1,3e9,,3000,2500,\n"
    "64k,8,2.5e9,5e8,900,800,9e3\n";

/* The numbers 1 to n as the values of a member. */
static void add_numbers(FILE *out, const char *key, size_t n)
{
    fprintf(out, "\"%s\":[", key);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%zu", i > 0 ? "," : "", i + 1);
    fputs("],", out);
}

TEST(columns_of_several_writes_show_mean_range_and_the_worst_state)
{
    char *text = NULL;
    FILE *out = memory_stream(&text);
    fputs("{\"schema\":\"fstune/write-prediction/1\",", out);
    add_numbers(out, "costs_s", 2999);
    add_numbers(out, "dirty_bytes", 2999);
    fputs("\"states\":[{\"state\":\"throttle_run\",\"chunk\":0},{\"state\":\"free_run\",\"chunk\":3}]}", out);
    fclose(out);
    assert_int_equal(draw("prediction", text, request_of(PLOT_PNG)), 0);
    free(text);
    /* Two writes each, the last alone; writes 2 and 3 are one column, throttled by half. */
    CHECK_HAS(script, "\n2.5 3.5 3 4 4\n", "\n2998 2999 2999 2999 2999\nEOD\n", "\nper_column = 2\n",
              "\n$bands << EOD\n-0.5 3.5 2\n3.5 2998.5 0\nEOD\n");
}

/* Everything outside of single quotes, data blocks and the line breaks of titles. */
static void strip_texts(char *text)
{
    char *out = text;
    bool quoted = false;
    for (const char *in = text; *in != '\0'; in++) {
        if (*in == '\'')
            quoted = !quoted;
        else if (!quoted)
            *out++ = *in;
        else
            assert_true(*in != '\n');
    }
    assert_false(quoted);
    *out = '\0';
}

TEST(texts_of_a_prediction_stay_texts_and_states_are_bands)
{
    assert_int_equal(
        draw("prediction",
             "{\"schema\":\"fstune/write-prediction/1\",\"mode\":\"" EVIL "\",\"naive_total_s\":6,"
             "\"limits\":{\"background_bytes\":5e6,\"hard_bytes\":8e6},\"host\":{\"hostname\":\"" EVIL
             "\",\"file_system\":\"" EVIL "\"},\"costs_s\":[1,2.5,100],\"dirty_bytes\":[1e6,6e6,7e6],"
             "\"states\":[{\"state\":\"free_run\",\"chunk\":0},{\"state\":\"throttle_run\",\"chunk\":1}]}",
             request_of(PLOT_SVG)),
        0);
    CHECK_HAS(script, "\n$bands << EOD\n-0.5 0.5 0\n0.5 2.5 2\nEOD\n", "\n2 100 100 100 7e+06\n",
              "\ntop_bytes = 9.12e+06\n");
    strip_texts(script);
    CHECK_HAS(script, "-touch x", "-!ls");
    assert_int_equal(draw("prediction", table, request_of(PLOT_SVG)), -ENODATA);
    assert_contains(err.text, "predict write");
}

TEST(texts_from_outside_never_leave_their_quotes)
{
    static const char text[] =
        "{\"schema\": \"fstune/recommendation/1\", \"pattern\": {\"name\": \"" EVIL "\"},"
        "\"system\": {\"hostname\": \"" EVIL "\", \"device\": \"" EVIL "\"}, \"points\": ["
        "{\"request_size\": 4096, \"api\": \"" EVIL
        "\", \"mean\": 5, \"latency_ns\": {\"mean\": 4, \"p50\": 4, \"p99\": 9}},"
        "{\"request_size\": 8192, \"api\": \"" EVIL
        "\", \"mean\": 6, \"latency_ns\": {\"mean\": 4, \"p50\": 4, \"p99\": 9}},"
        "{\"request_size\": 4096, \"api\": \"b\", \"mean\": 7, \"latency_ns\": {\"mean\": 3, \"p50\": 3, "
        "\"p99\": 9}}]}";
    const struct plot_ops *ops;
    size_t n = 0;
    for (size_t i = 0; (ops = plot_row(i)) != NULL; i++) {
        struct plot_request request = request_of(PLOT_PNG);
        request.title = "a`b`'; system('c') #\\";
        if (draw(ops->name, text, request) == -ENODATA)
            continue;
        assert_int_equal(err.code, 0);
        strip_texts(script);
        assert_null(strpbrk(script, "`!"));
        CHECK_HAS(script, "-system", "-touch x");
        n++;
    }
    assert_int_equal(n, 6); /* without time and convergence, which need runs */
}

TEST(atomic_tests_have_a_line_each_and_texts_stay_texts)
{
    static const char atoms[] =
        "{\"schema\":\"fstune/atoms/1\",\"system\":{\"hostname\":\"" EVIL "\"},\"atoms\":["
        "{\"name\":\"syscall\",\"median\":{\"mean\":2e-6,\"ci_low\":1e-6,\"ci_high\":4e-6}},"
        "{\"name\":\"absent\",\"median\":{\"mean\":null,\"ci_low\":null,\"ci_high\":null}},"
        "{\"name\":\"" EVIL "\",\"median\":{\"mean\":3e-3,\"ci_low\":null,\"ci_high\":null}}]}";
    assert_int_equal(draw("atoms", atoms, request_of(PLOT_SVG)), 0);
    CHECK_HAS(script, "\n1 1 2e-06 1e-06 4e-06", "\n1 2 0.003 0.003 0.003", "\nn_lines = 2\n");
    strip_texts(script);
    assert_lacks(script, "touch x");
    assert_int_equal(draw("cost", atoms, request_of(PLOT_SVG)), -ENODATA);
    assert_contains(err.text, "fstune cost");
}

TEST(a_cost_has_a_line_for_each_load_and_a_series_for_each_reference)
{
    static const char cost[] = "{\"schema\":\"fstune/cost/1\",\"loads\":[{\"load\":\"5m\",\"references\":["
                               "{\"reference\":\"files\",\"pcost\":0.1,\"ci_low\":0.05,\"ci_high\":0.15},"
                               "{\"reference\":\"cpu\",\"pcost\":0.2,\"ci_low\":null,\"ci_high\":null}]},"
                               "{\"load\":\"9m\",\"references\":["
                               "{\"reference\":\"cpu\",\"pcost\":0.5,\"ci_low\":0.25,\"ci_high\":0.75}]}]}";
    assert_int_equal(draw("cost", cost, request_of(PLOT_PNG)), 0);
    CHECK_HAS(script, "\n1 1 10 5 15", "\n2 1 20 20 20", "\n2 2 50 25 75", "'5m'", "'cpu'",
              "\nn_lines = 2\nn_series = 2\n");
    assert_int_equal(draw("atoms", cost, request_of(PLOT_PNG)), -ENODATA);
}

TEST(a_text_keeps_whole_characters_and_loses_control)
{
    free(script);
    FILE *out = memory_stream(&script);
    plot_script_text(out, "it's\x1b[2J\xc2\x9b", 80);
    plot_script_text(out, "gr\xc3\xb6\xc3\x9f", 3);
    fclose(out);
    assert_string_equal(script, "'it''s?[2J?''gr...'");
}

TEST(every_kind_has_a_row_and_draws_what_it_can_from_a_table)
{
    static const char *const kinds[] = {"bars", "bars3d", "lines", "heatmap", "percentiles", "pareto"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (int terminal = PLOT_PNG; terminal <= PLOT_DUMB; terminal++) {
            assert_int_equal(draw(kinds[i], table, request_of((enum plot_terminal)terminal)), 0);
            CHECK_HAS(script, "plot ", "-nan", "-inf");
        }
    }
    assert_null(plot_find("pie"));
}

TEST(kinds_that_need_runs_say_where_to_get_them)
{
    assert_int_equal(draw("time", table, request_of(PLOT_PNG)), -ENODATA);
    assert_contains(err.text, "fstune measure");
    assert_int_equal(draw("convergence", table, request_of(PLOT_PNG)), -ENODATA);
    assert_contains(err.text, "--resume");
    assert_int_equal(draw("percentiles", "threads,mean\n1,5\n", request_of(PLOT_PNG)), -ENODATA);
}

/* A rate without a median, and one that is no number, have no place in the picture. */
TEST(offered_rates_are_drawn_as_far_as_they_are_known)
{
    assert_int_equal(draw("rate", table, request_of(PLOT_PNG)), -ENODATA);
    assert_contains(err.text, "fstune measure --rate");
    assert_int_equal(
        draw("rate",
             "{\"schema\": \"fstune/measurement/1\", \"row\": {\"request_size\": 4096, \"mean\": 5e6}, "
             "\"rates\": ["
             "{\"offered_bps\": 1e6, \"achieved_bps\": {\"mean\": 999000}, \"latency_ns\": {\"p50\": 70000}},"
             "{\"offered_bps\": 2e6, \"achieved_bps\": {\"mean\": 2e6}, \"latency_ns\": {\"p50\": null}},"
             "{\"offered_bps\": \"x\", \"achieved_bps\": 3, \"latency_ns\": 4}, 5]}",
             request_of(PLOT_PNG)),
        0);
    CHECK_HAS(script, "$rates << EOD\n1e+06 999000 ", "-2e+06 2e+06", "-nan");
}

#define MEASURED(replays, p99)                                                                               \
    "{\"schema\": \"fstune/measurement/1\", \"row\": {\"request_size\": 4096, \"mean\": 5, "                 \
    "\"replays\": " replays ", \"latency_ns\": {\"p50\": 3, \"p99\": " p99 "}}}"

TEST(percentiles_of_too_few_runs_or_requests_are_refused)
{
    assert_int_equal(draw("percentiles", MEASURED("3", "9"), request_of(PLOT_PNG)), 0);
    assert_int_equal(draw("percentiles", MEASURED("2", "9"), request_of(PLOT_PNG)), -ENODATA);
    assert_contains(err.text, "--replays");
    assert_int_equal(draw("percentiles", MEASURED("3", "null"), request_of(PLOT_PNG)), -ENODATA);
}

TEST(the_scatter_of_a_point_is_a_share_of_its_mean)
{
    assert_int_equal(
        draw("bars", "request_size,throughput_bps,std_bps\n4k,100,4.9\n8k,200,\n", request_of(PLOT_PNG)), 0);
    CHECK_HAS(script, "\n0 0 100 NaN NaN 0.049 0 4096 0 NaN\n", "\n1 0 200 NaN NaN -1 2 8192 0 1\n");
}

TEST(a_heat_map_marks_the_best_and_what_is_as_good)
{
    static const char text[] = "{\"schema\": \"fstune/recommendation/1\", \"points\": ["
                               "{\"request_size\": 4096, \"queue_depth\": 1, \"mean\": 5}, "
                               "{\"request_size\": 8192, \"queue_depth\": 1, \"mean\": 6},"
                               "{\"request_size\": 4096, \"queue_depth\": 2, \"mean\": 7}],"
                               "\"recommendation\": {\"request_size\": 8192, \"queue_depth\": 1},"
                               "\"equivalent\": [{\"request_size\": 8192, \"queue_depth\": 1}, "
                               "{\"request_size\": 4096, \"queue_depth\": 2}]}";
    assert_int_equal(draw("heatmap", text, request_of(PLOT_PNG)), 0);
    CHECK_HAS(script, "\n1 0 6 NaN NaN -1 2 8192 0 NaN\n", "\n0 1 7 NaN NaN -1 1 4096 0 NaN\n",
              "\n1 1 NaN NaN NaN -1 -1 8192 0 NaN\n", "best_name = 'recommended'");
}

TEST(lines_refuse_words_and_too_many_of_them)
{
    char many[1024] = "request_size,threads,mean\n";
    struct plot_request request = request_of(PLOT_PNG);
    size_t used = strlen(many);
    request.x = "api";
    assert_int_equal(draw("lines", "api,threads,mean\npool,1,5\npsync,1,6\n", request), -EINVAL);
    for (int i = 1; i <= 9; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, "4k,%d,5\n8k,%d,6\n", i, i);
    request = request_of(PLOT_PNG);
    request.x = "request_size";
    request.y = "threads";
    assert_int_equal(draw("lines", many, request), -EINVAL);
    request.y = "";
    assert_int_equal(draw("lines", many, request), 0); /* one line then */
}

TEST(lines_break_where_a_point_is_missing)
{
    static const char text[] =
        "request_size,queue_depth,mean,ci_low,ci_high\n4k,1,1,0.5,2\n8k,1,2,1,3\n16k,1,3,2,4\n"
        "4k,8,5,4,6\n16k,8,7,6,8\n";
    struct plot_request request = request_of(PLOT_PNG);
    request.x = "request_size";
    request.y = "queue_depth";
    assert_int_equal(draw("lines", text, request), 0);
    assert_contains(script,
                    "$points << EOD\n0 0 1 0.5 2 -1 0 4096 1 1\n1 0 2 1 3 -1 0 8192 1 1\n2 0 3 2 4 -1 0 "
                    "16384 1 1\n\n0 1 5 4 6 -1 0 4096 1 1\n1 1 NaN NaN NaN -1 -1 8192 0 NaN\n2 1 7 ");
}
