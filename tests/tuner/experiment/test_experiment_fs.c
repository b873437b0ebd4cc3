/* Tests of `fstune experiment` on a real file system: sizes of one file, signals, going on, the history. */
#include "tests/tuner/rig.h"

#include <signal.h>
#include <sys/stat.h>

static struct rig_run run;

static const char config[] =
    "# two conditions and a factor\n"
    "request_size = [\"4k\", \"64k\"]; pattern = \"randread,randwrite\";\n"
    "file_size = \"128m,144m\"; queue_depth = 4; replays = 2;\n"
    "duration = \"100ms\"; warmup_limit = \"50ms\"; no_lock = true; path = \"dir\";\n";

FIXTURE(enter_all)
{
    if (rig_enter(test_state) != 0 || mkdir("dir", 0755) != 0)
        return -1;
    rig_write("sizes.conf", "%s", config);
    return 0;
}

GROUP(enter_all, rig_leave);
GROUP_NEEDS(rig_find_program);

TEST(smaller_files_are_the_beginning_of_the_largest)
{
    json_auto_t *document = rig_document("experiment sizes.conf --json --quiet");
    const json_t *point;
    size_t i;
    CHECK_JSON(document, "name=sizes", "points#=8", "system.test_file_bytes=150994944");
    json_array_foreach(json_at(document, "points"), i, point)
    {
        CHECK_JSON(point, "replays=2");
        assert_true(json_number_at(point, "mean") > 0);
    }
    assert_int_equal(rig_count_entries("dir"), 0);
}

/* The journal's first line tells what is measured; each run has one after it. */
static bool journal_has_runs(const char *name)
{
    FILE *journal = fopen(name, "re");
    int n_lines = 0;
    for (int c = 0; journal != NULL && (c = getc(journal)) != EOF;)
        n_lines += c == '\n';
    if (journal != NULL)
        fclose(journal);
    return n_lines > 1;
}

TEST(a_signal_ends_an_experiment_that_can_go_on)
{
    static const char *const words[] = {"experiment",  "sizes.conf", "--json",  "--replays",
                                        "20",          "--resume",   "j.jsonl", "--quiet",
                                        "--file-size", "128m",       NULL};
    rig_start(&run, NULL, words);
    for (int i = 0; i < 3000 && !journal_has_runs("j.jsonl"); i++)
        usleep(20000);
    assert_int_equal(kill(run.pid, SIGINT), 0);
    rig_finish(&run);
    assert_int_equal(run.code, 130);
    json_t *document = rig_json(&run);
    json_int_t n_runs = json_integer_value(json_object_get(document, "runs"));
    assert_true(json_is_true(json_object_get(document, "interrupted")));
    assert_true(n_runs > 0 && n_runs < 80);
    json_decref(document);
    rig_free(&run);
    rig_run_line(&run, "experiment sizes.conf --json --replays 20 --resume j.jsonl --quiet --file-size 128m "
                       "--max-write 0");
    /* Without anything more to write, the runs of the journal are all that there is. */
    assert_int_equal(run.code, 1);
    rig_free(&run);
    rig_run_line(&run,
                 "experiment sizes.conf --json --replays 20 --resume j.jsonl --dry-run --file-size 128m");
    document = rig_json(&run);
    assert_int_equal(json_integer_value(json_object_get(document, "runs_made")), n_runs);
    json_decref(document);
    rig_free(&run);
}

TEST(what_is_saved_holds_the_document)
{
    rig_ends("experiment sizes.conf --json --quiet --pattern randwrite --file-size 128m --save h.db", 0, "");
    rig_ends("history list --db h.db --json", 0, "\"experiment\"");
    rig_ends("history verify --db h.db", 0, "");
}

TEST(runs_of_several_conditions_are_kept_with_them)
{
    rig_ends("experiment sizes.conf --json --quiet --alignment 512,4k --save c.db", 0, "");
    json_t *document = rig_document("history show 1 --db c.db --json");
    const json_t *replay;
    size_t i, n = 0;
    /* 2 request sizes x 2 patterns x 2 file sizes x 2 alignments x 2 replays */
    CHECK_JSON(document, "runs#=32");
    json_array_foreach(json_at(document, "runs"), i, replay) n +=
        strcmp(json_string_value(json_object_get(replay, "conditions")),
               "pattern=randwrite file_size=144m alignment=512") == 0;
    assert_int_equal(n, 4);
    json_decref(document);
    rig_ends("history verify --db c.db", 0, "");
}

TEST(direct_io_that_is_not_proved_leaves_the_design)
{
    json_auto_t *document = rig_document(
        "experiment sizes.conf --json --quiet --pattern randread --file-size 128m --path /dev/shm "
        "--direct 0,1");
    CHECK_JSON(document, "points#=2", "fixed.direct=0", "dropped#=1");
}

static size_t n_at(const json_t *document, const char *factor, json_int_t level)
{
    const json_t *point;
    size_t i, n = 0;
    json_array_foreach(json_object_get(document, "points"), i, point)
    {
        const json_t *value = json_object_get(json_object_get(point, "levels"), factor);
        n += json_integer_value(value) == level && json_number_value(json_object_get(point, "mean")) > 0;
    }
    return n;
}

#define LAYOUTS                                                                                              \
    "experiment sizes.conf --quiet --pattern randread --file-size 128m --request-size 4k --files 1,3,16 "    \
    "--alignment 512,4k "

TEST(number_of_files_and_alignment_vary)
{
    json_t *document = rig_document(LAYOUTS "--json");
    CHECK_JSON(document, "points#=6");
    assert_int_equal(n_at(document, "files", 1), 2);
    assert_int_equal(n_at(document, "files", 3), 2);
    assert_int_equal(n_at(document, "files", 16), 2);
    assert_int_equal(n_at(document, "alignment", 512), 3);
    /* Each number of files has data of its own; 3 files hold whole MiB each. */
    json_int_t written = json_integer_value(json_object_get(document, "bytes_written")),
               filled = (128 + 126 + 128) << 20, proofs = 3 * (json_int_t)TARGET_PROOF_MOST_BYTES;
    assert_true(written >= filled && written <= filled + proofs);
    json_decref(document);
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(layouts_are_columns_of_the_table_and_lines_of_the_plan)
{
    rig_ends(LAYOUTS "--format csv", 0, "\"files\",\"alignment\"");
    rig_run_line(&run, LAYOUTS "--dry-run");
    assert_int_equal(run.code, 0);
    CHECK_HAS(run.out, "on 3 targets", "at most 576m written");
    rig_free(&run);
    rig_ends(LAYOUTS "--verify", 2, "--verify and several numbers of --files");
}

TEST(targets_beyond_the_write_budget_are_refused)
{
    rig_ends(LAYOUTS "--max-write 200m", 1, "raise --max-write");
    assert_int_equal(rig_count_entries("dir"), 0);
}
