/* Tests of the figures of `fstune predict write`: they are those of the model, worked out by hand where they
 * are simple. What the command prints and refuses stands in tests/golden. */
#include "tests/tuner/rig.h"

static struct rig_run run;

/* Round figures: 1 GB/s into the page cache, half of it beside writeback, 100 MB/s to the device. */
static const char host[] = "hostname = \"box\";\npath = \"/data\";\nfile_system = \"ext4\";\n"
                           "bw_mem = 2e9;\nbw_ramdisk = 1e9;\nbw_reduced = 5e8;\nbw_dev = 1e8;\n"
                           "bw_rdev = 1e8;\nsc_w = 1e-6;\nsc_sw = 1e-3;\nc_sk = 2e-3;\nbs = 512.0;\n"
                           "bf = 4096.0;\nlimit_bg = 1e8;\nlimit_hard = 3e8;\ndirty_expire = 30.0;\n";

FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write("host.conf", "%s", host);
    rig_write("rich.conf",
              "%sbw_ramdisk_first_touch = 1e8;\nbw_rewrite = 5e9;\nmax_request = \"128k\";\n"
              "bw_writeback = 4e8;\nbw_page = 5e8;\nbw_buffer = 2e10;\nsc_f = 1e-7;\n",
              host);
    return 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define PREDICT "predict write --host host.conf "
#define LOAD    PREDICT "--total 10m --request-size 1m "
#define RICH    "predict write --host rich.conf --json "

static double number_at(const json_t *document, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(document, key), i));
}

TEST(costs_and_totals_are_those_of_the_model)
{
    json_auto_t *document = rig_document(LOAD "--json --delay 10ms");
    const double cost = 1048576 / 1e9 + 1e-6;
    CHECK_JSON(document, "schema=fstune/write-prediction/1", "mode=nosync", "costs_s#=10");
    for (size_t i = 0; i < 10; i++) {
        assert_close(number_at(document, "costs_s", i), cost, 1e-11);
        assert_close(number_at(document, "end_s", i), (double)(i + 1) * (cost + 0.01), 1e-9);
        assert_close(number_at(document, "dirty_bytes", i), 1048576.0 * (double)(i + 1), 0.5);
    }
    assert_close(json_number_value(json_object_get(document, "total_s")), 10 * cost, 1e-10);
    assert_close(json_number_value(json_object_get(document, "naive_total_s")), 10 * 1048576 / 1e8, 1e-9);
    assert_int_equal(json_object_size(json_object_get(document, "extensions")), 0);
    const json_t *first = json_array_get(json_object_get(document, "states"), 0);
    CHECK_JSON(first, "state=free_run", "chunk=0");
}

TEST(states_follow_each_other_with_bytes_and_times)
{
    static const char *const names[] = {"free_run", "async_run", "throttle_run"};
    json_t *document = rig_document(PREDICT "--total 1g --request-size 1m --json"),
           *states = json_object_get(document, "states");
    assert_int_equal(json_array_size(states), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *entry = json_array_get(states, i);
        const json_int_t chunk = json_integer_value(json_object_get(entry, "chunk"));
        assert_string_equal(json_string_value(json_object_get(entry, "state")), names[i]);
        assert_int_equal(json_integer_value(json_object_get(entry, "from_bytes")), chunk << 20);
        if (i > 0)
            assert_close(json_number_value(json_object_get(entry, "from_s")),
                         number_at(document, "end_s", (size_t)chunk - 1), 1e-6);
    }
    /* 100 MB, the first limit, are passed by the 96th MiB. */
    CHECK_JSON(states, "1.chunk=96");
    assert_true(json_number_value(json_object_get(document, "dirty_peak_bytes")) <= 3e8 + 1048576);
    json_decref(document);
    rig_run_line(&run, PREDICT "--total 1g --request-size 1m --csv -");
    const char *last_free = strstr(run.out, "\r\n95,\"\","), *first_async = strstr(run.out, "\r\n96,\"\",");
    assert_true(last_free != NULL && first_async != NULL);
    assert_true(strstr(last_free, ",free_run\r\n") + 10 < strstr(last_free, ",async_run\r\n"));
    assert_true(strstr(last_free, ",free_run\r\n") < first_async);
    assert_null(strstr(first_async, ",free_run\r\n"));
    rig_free(&run);
}

static const struct {
    const char *line, *key;
    int slower; /* 1: it costs more than in the paper's model, -1: less, 0: the same */
} extended[] = {
    {RICH "--total 10m --request-size 1m --extensions first-touch", "first_touch", 1},
    {RICH "--total 10m --request-size 1m --rewrite 50% --extensions rewrites", "rewrites", -1},
    {RICH "--total 1m --request-size 1m --mode sync --extensions writeback", "writeback", -1},
    {RICH "--total 64k --request-size 512 --mode stdio --extensions small-calls", "small_calls", 1},
    {RICH "--total 500m --request-size 256m --extensions piecewise", "piecewise", 1},
    {RICH "--total 1g --request-size 1m --extensions balanced", "balanced", 1},
    {RICH "--total 1g --request-size 1m --extensions limit-share=50%", "limit_share", 1},
    {RICH "--total 1g --request-size 1m --extensions writers=2", "writers", 1},
    {RICH "--total 1g --request-size 1m --extensions writeback-interval=5s", "writeback_interval_s", 0},
    {RICH "--total 1g --request-size 1m --extensions allocation-rate=100m", "allocation_bps", 1},
    {RICH "--total 10m --request-size 1m --mode direct --extensions split-cost=1ms", "split_s", 1},
    {RICH "--total 10m --request-size 1m --mode direct --extensions burst-credit=1g,burst-rate=1g",
     "burst_bps", -1},
};

TEST(an_extension_stands_beside_the_plain_model)
{
    for (size_t i = 0; i < N_OF(extended); i++) {
        rig_run_line(&run, extended[i].line);
        json_t *document = rig_json(&run);
        const json_t *value = json_object_get(json_object_get(document, "extensions"), extended[i].key);
        double more = json_number_value(json_object_get(document, "total_s")) -
                      json_number_value(json_object_get(document, "plain_total_s"));
        if (!json_is_true(value) && !(json_number_value(value) > 0))
            fail_msg("%s: %s", extended[i].line, run.out);
        if ((more > 1e-9) - (more < -1e-9) != extended[i].slower)
            fail_msg("%s: %g s more", extended[i].line, more);
        json_decref(document);
        rig_free(&run);
    }
    rig_run_line(&run,
                 PREDICT "--total 1g --request-size 1m --extensions limit-share=50%,writers=2,piecewise");
    CHECK_HAS(run.out, "as the paper has it", "writers wait at 75.0 MB");
    rig_free(&run);
}
