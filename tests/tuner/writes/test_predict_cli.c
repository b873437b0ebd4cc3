/* Tests of `fstune predict write` as users run it: text, JSON, CSV, pictures, and what is refused. The
 * figures are those of the model, worked out by hand where they are simple. */
#include "tests/test.h"
#include "tests/tuner/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rig_run run;

#define LARGE_SIZE ((size_t)(1 << 20) + 1)

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
    rig_write("bad.conf", "bw_mem = 1e9;\nbw_ramdisk = -1.0;\n");
    rig_write("trace.csv", "file,offset,size,delay_s\na,0,1000000,0\nb,0,1000000,0.5\n");
    char *large = malloc(LARGE_SIZE + 1);
    if (large == NULL)
        return -1;
    memset(large, '#', LARGE_SIZE);
    large[LARGE_SIZE] = '\0';
    rig_write("large.conf", "%s", large);
    free(large);
    rig_write("bad.csv", "offset,size,delay_s\n0,1,0\n0,0,0\n");
    if (symlink("host.conf", "link.csv") != 0)
        return -1;
    return mkdir("dir.png", 0755);
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

#define PREDICT "predict write --host host.conf "
#define LOAD    PREDICT "--total 10m --request-size 1m "

static double number_at(const json_t *document, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(document, key), i));
}

TEST(costs_and_totals_are_those_of_the_model)
{
    json_t *document = rig_document(LOAD "--json --delay 10ms");
    const double cost = 1048576 / 1e9 + 1e-6;
    assert_string_equal(json_string_value(json_object_get(document, "schema")), "fstune/write-prediction/1");
    assert_string_equal(json_string_value(json_object_get(document, "mode")), "nosync");
    assert_int_equal(json_array_size(json_object_get(document, "costs_s")), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_close(number_at(document, "costs_s", i), cost, 1e-11);
        assert_close(number_at(document, "end_s", i), (double)(i + 1) * (cost + 0.01), 1e-9);
        assert_close(number_at(document, "dirty_bytes", i), 1048576.0 * (double)(i + 1), 0.5);
    }
    assert_close(json_number_value(json_object_get(document, "total_s")), 10 * cost, 1e-10);
    assert_close(json_number_value(json_object_get(document, "naive_total_s")), 10 * 1048576 / 1e8, 1e-9);
    assert_int_equal(json_object_size(json_object_get(document, "extensions")), 0);
    const json_t *first = json_array_get(json_object_get(document, "states"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "state")), "free_run");
    assert_int_equal(json_integer_value(json_object_get(first, "chunk")), 0);
    json_decref(document);
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
    assert_int_equal(json_integer_value(json_object_get(json_array_get(states, 1), "chunk")), 96);
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

TEST(text_names_host_load_naive_and_where_states_begin)
{
    static const char *const parts[] = {"Predicted, not measured",
                                        "host.conf: ext4 at /data of box",
                                        "1024 of 1m, 1.07 GB in all, one after another",
                                        "naive (size / device)",
                                        "10.7 s",
                                        "throttle_run",
                                        "The page cache takes 101 MB at full speed",
                                        "writers wait for the device from",
                                        "writers wait at 300 MB"};
    rig_run_line(&run, PREDICT "--total 1g --request-size 1m");
    assert_int_equal(run.code, 0);
    for (size_t i = 0; i < RIG_COUNT(parts); i++) {
        if (strstr(run.out, parts[i]) == NULL)
            fail_msg("'%s' is not in:\n%s", parts[i], run.out);
    }
    rig_free(&run);
    rig_run_line(&run, LOAD);
    assert_non_null(strstr(run.out, "takes all of it at full speed; nobody is made to wait"));
    rig_free(&run);
    rig_run_line(&run, PREDICT "--total 10m --request-size 1g");
    assert_non_null(strstr(run.out, "Writes   1 of 10m, 10.5 MB in all"));
    rig_free(&run);
}

TEST(modes_without_dirty_memory_have_no_states)
{
    static const char *const modes[] = {"direct", "sync", "naive"};
    for (size_t i = 0; i < RIG_COUNT(modes); i++) {
        rig_run(&run, NULL, "predict", "write", "--host", "host.conf", "--total", "10m", "--request-size",
                "1m", "--json", "--mode", modes[i], NULL);
        assert_int_equal(run.code, 0);
        json_t *document = rig_json(&run);
        assert_int_equal(json_array_size(json_object_get(document, "states")), 0);
        assert_close(json_number_value(json_object_get(document, "dirty_peak_bytes")), 0, 0);
        json_decref(document);
        rig_free(&run);
        rig_run(&run, NULL, "predict", "write", "--host", "host.conf", "--total", "10m", "--request-size",
                "1m", "--csv", "-", "--mode", modes[i], NULL);
        assert_non_null(strstr(run.out, ",0,\r\n"));
        assert_null(strstr(run.out, "_run"));
        rig_free(&run);
    }
}

TEST(a_line_for_each_write_of_a_trace)
{
    rig_run_line(&run, PREDICT "--trace trace.csv --csv -");
    assert_int_equal(run.code, 0);
    assert_string_equal(run.out, "chunk,file,offset,size,delay_s,cost_s,end_s,dirty_bytes,state\r\n"
                                 "0,\"a\",0,1000000,0,0.001001,0.001001,1000000,free_run\r\n"
                                 "1,\"b\",0,1000000,0.5,0.001001,0.502002,2000000,free_run\r\n");
    rig_free(&run);
    json_t *document = rig_document(PREDICT "--trace trace.csv --csv lines.csv --json");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(document, "load"), "files")), 2);
    assert_true(rig_exists("lines.csv"));
    json_decref(document);
}

#define RICH "predict write --host rich.conf --json "

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
    for (size_t i = 0; i < RIG_COUNT(extended); i++) {
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
    assert_non_null(strstr(run.out, "as the paper has it"));
    assert_non_null(strstr(run.out, "writers wait at 75.0 MB"));
    rig_free(&run);
}

/* The extensions of a prediction, as their names with blanks behind. */
static const char *extensions_of(const char *line)
{
    static char names[256];
    const char *key;
    json_t *value;
    json_t *document = rig_document(line);
    names[0] = '\0';
    json_object_foreach(json_object_get(document, "extensions"), key, value)
    {
        strcat(names, key);
        strcat(names, " ");
    }
    json_decref(document);
    return names;
}

TEST(the_model_of_linux_takes_what_mode_and_host_allow)
{
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k"), "");
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k --model paper"), "");
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k --model linux"),
                        "rewrites writeback small_calls piecewise balanced ");
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k --model linux --mode sync"),
                        "writeback ");
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k --model linux --mode naive"), "");
    assert_string_equal(extensions_of(LOAD "--json --model linux --extensions writers=2"),
                        "piecewise balanced writers ");
    assert_string_equal(extensions_of(RICH "--total 1m --request-size 4k --mode direct --extensions "
                                           "split-cost=1us"),
                        "max_request_bytes split_s ");
}

/* 1 MiB a writer, of which two have the device. */
TEST(what_is_left_is_work_for_a_device_of_all_writers)
{
    rig_run_line(&run, PREDICT "--total 1m --request-size 1m");
    assert_non_null(strstr(run.out, "1.05 MB is left at the end, 10.5 ms of work for the device.\n"));
    rig_free(&run);
    rig_run_line(&run, PREDICT "--total 1m --request-size 1m --extensions writers=2");
    assert_non_null(strstr(run.out, "Of each of the 2 writers: dirty memory reaches"));
    assert_non_null(strstr(run.out, "21.0 ms of work for the device, with what the others leave."));
    rig_free(&run);
    rig_run_line(&run, "predict write --host rich.conf --total 1m --request-size 1m --extensions writeback");
    assert_non_null(strstr(run.out, "1.05 MB is left at the end, 2.62 ms of work for the device.\n"));
    rig_free(&run);
}

TEST(the_last_flush_leaves_its_bytes_too)
{
    json_t *document = rig_document(PREDICT "--mode stdio --total 1000 --request-size 1000 --json --close");
    assert_close(number_at(document, "dirty_bytes", 0), 0, 0);
    assert_close(json_number_value(json_object_get(document, "dirty_left_bytes")), 1000, 0);
    assert_close(json_number_value(json_object_get(document, "dirty_peak_bytes")), 1000, 0);
    json_decref(document);
    rig_run_line(&run, PREDICT "--mode stdio --total 1000 --request-size 1000 --close");
    assert_non_null(strstr(run.out, "Dirty memory reaches 1.00 kB"));
    assert_non_null(strstr(run.out, "1.00 kB is left at the end"));
    rig_free(&run);
}

TEST(the_same_seed_gives_the_same_order)
{
    char *first;
    rig_run_line(&run, LOAD "--pattern randwrite --seed 5 --csv -");
    first = strdup(run.out);
    rig_free(&run);
    rig_run_line(&run, LOAD "--pattern randwrite --seed 5 --csv -");
    assert_string_equal(run.out, first);
    rig_free(&run);
    free(first);
    rig_run_line(&run, LOAD "--pattern randwrite");
    assert_non_null(strstr(run.out, ", seed "));
    rig_free(&run);
}

static const struct {
    const char *line, *part;
} wrong_lines[] = {
    {"predict", "fstune predict write"},
    {"predict read --host host.conf", "fstune predict write"},
    {"predict write --total 1m --request-size 4k", "--host is missing"},
    {PREDICT, "--total is missing"},
    {PREDICT "--total 1m", "--request-size is missing"},
    {PREDICT "--total 0 --request-size 4k", "--total: "},
    {PREDICT "--total 1000t --request-size 1", "more than 20000000 writes"},
    {PREDICT "--trace trace.csv --total 1m", "--total: the writes come from --trace"},
    {PREDICT "--trace trace.csv --request-size 1m", "--request-size: the writes come from"},
    {PREDICT "--trace trace.csv --pattern write", "--pattern: the writes come from"},
    {PREDICT "--trace trace.csv --delay 1s", "--delay: the writes come from"},
    {PREDICT "--trace trace.csv --rewrite 5%", "--rewrite: the writes come from"},
    {PREDICT "--trace absent.csv", "absent.csv"},
    {PREDICT "--trace bad.csv", "bad.csv:3: size: "},
    {LOAD "--pattern read", "--pattern: "},
    {LOAD "--mode fast", "--mode: "},
    {LOAD "--rewrite 100%", "--rewrite: "},
    {LOAD "--rewrite 5% --pattern randwrite", "--rewrite: writes in random order"},
    {LOAD "--mode naive --extensions writers=2", "writers means nothing with --mode naive"},
    {LOAD "--close", "--close is for --mode stdio"},
    {LOAD "--model best", "--model: "},
    {LOAD "--extensions fast", "'fast' is not known"},
    {LOAD "--extensions close", "'close' is not known"},
    {LOAD "--extensions piecewise,,balanced", "single commas"},
    {LOAD "--extensions piecewise=1", "piecewise takes no value"},
    {LOAD "--extensions writers", "write writers=VALUE with a number of"},
    {LOAD "--extensions writers=1000001", "write writers=VALUE with a number of"},
    {LOAD "--extensions limit-share=5", "a share of up to"},
    {LOAD "--extensions limit-share=0%", "a share of up to"},
    {LOAD "--extensions writeback-interval=2h", "a time of"},
    {LOAD "--extensions allocation-rate=fast", "a size of"},
    {LOAD "--mode direct --extensions first-touch", "first-touch means nothing with --mode direct"},
    {LOAD "--extensions first-touch", "no bw_ramdisk_first_touch"},
    {LOAD "--extensions rewrites", "no bw_rewrite"},
    {LOAD "--extensions writeback", "no bw_writeback"},
    {LOAD "--extensions small-calls", "no bw_page"},
    {LOAD "--mode sync --extensions small-calls", "small-calls means nothing"},
    {LOAD "--mode direct --extensions limit-share=5%", "limit-share means nothing"},
    {LOAD "--extensions split-cost=1ms", "split-cost means nothing"},
    {LOAD "--mode direct --extensions split-cost=1ms", "no max_request"},
    {LOAD "--extensions burst-credit=1g", "belong together"},
    {LOAD "--extensions burst-credit=1g,burst-rate=1m", "burst-rate: the host file's bw_dev"},
    {LOAD "--rewrites", "use --model linux, or --extensions rewrites"},
    {"advise write --host host.conf --total 1m --request-size 4k --extensions burst-rate=1g,burst-credit=1g",
     "burst-rate means nothing to advise"},
    {LOAD "--json --csv -", "--json and --csv -"},
    {LOAD "--json --plot -", "--plot - "},
    {LOAD "--plot costs.gif", "--plot: costs.gif"},
    {LOAD "--plot dir.png", "--plot: "},
    {LOAD "--csv link.csv", "--csv: "},
    {LOAD "--repetitions 4", "--repetitions is for --validate"},
    {LOAD "--max-write 4g", "--max-write is for --validate"},
    {LOAD "--dry-run", "--dry-run is for --validate"},
    {LOAD "--path .", "--path: does nothing without --validate"},
    {LOAD "--no-lock", "--no-lock: does nothing without --validate"},
    {LOAD "--csv host.conf", "--csv: host.conf is read"},
    {PREDICT "--trace trace.csv --csv trace.csv", "--csv: trace.csv is read"},
    {LOAD "--csv absent/costs.csv", "--csv: absent/costs.csv: "},
    {LOAD "--plot absent/costs.png", "--plot: absent/costs.png: "},
    {LOAD "--validate --mode naive", "--validate: "},
    {LOAD "--validate --plot -", "--validate --plot"},
    {LOAD "--queue-depth 4", "--queue-depth: this command has no such option"},
    {"predict write --host absent.conf --total 1m --request-size 1m", "absent.conf"},
    {"predict write --host large.conf --total 1m --request-size 1m", "larger than 1 MiB"},
    {"predict write --host bad.conf --total 1m --request-size 1m", "bad.conf:2: bw_ramdisk"},
};

TEST(wrong_lines_are_refused_in_one_line)
{
    for (size_t i = 0; i < RIG_COUNT(wrong_lines); i++)
        rig_refused(wrong_lines[i].line, 2, wrong_lines[i].part);
}

TEST(the_script_of_a_kept_prediction_names_its_states)
{
    rig_run_line(&run, PREDICT "--total 1g --request-size 1m --json");
    rig_write_bytes("kept.json", run.out, run.out_size);
    rig_free(&run);
    rig_run_line(&run, "plot prediction --from kept.json -o kept.png --script");
    if (run.code != 0)
        fail_msg("%s", run.err);
    assert_non_null(strstr(run.out, "['async_run', 'throttle_run']"));
    assert_non_null(strstr(run.out, "ext4 of box"));
    assert_non_null(strstr(run.out, "'writers wait'"));
    rig_free(&run);
    rig_refused("plot bars --from kept.json --script", 5, "use plot prediction");
    rig_refused("plot prediction --from kept.json --script --x request_size", 2, "a prediction has none");
    rig_refused("plot prediction --from kept.json --script --where direct=1", 2, "a prediction has none");
}
