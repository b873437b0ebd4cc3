/* Tests of the whole program on a real file system: signals in the middle of a run, what is left behind,
 * locks, full and read-only file systems. Some need root, for a mount of their own. */
#include "tests/tuner/commands/cli_rig.h"
#include "tests/tuner/impact/doctor_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

FIXTURE(enter)
{
    return rig_enter(test_state) != 0 || mkdir("dir", 0755) != 0 || mkdir("tiny", 0755) != 0 ? -1 : 0;
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static const char *const searching[] = {"recommend", "--quiet", "--no-lock", "--json",      "--pattern",
                                        "randwrite", "--path",  "dir",       "--file-size", "128m",
                                        "--budget",  "20s",     NULL};

static void stop_after(const char *const *arguments, double seconds, int number)
{
    rig_start(cli_next(), NULL, arguments);
    usleep((useconds_t)(seconds * 1e6));
    assert_int_equal(kill(run.pid, number), 0);
    rig_finish(&run);
}

TEST(a_signal_ends_a_search_with_what_it_has)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < N_OF(numbers); i++) {
        stop_after(searching, 3, numbers[i]);
        assert_int_equal(run.code, 128 + numbers[i]);
        assert_string_equal(run.err, "");
        json_t *document = cli_document();
        CHECK_JSON(document, "interrupted=true", "schema=fstune/recommendation/1");
        assert_int_equal(rig_count_entries("dir"), 0);
    }
}

#define BESIDE                                                                                               \
    "--quiet --no-lock --path dir --file-size 128m --pattern read --beside write:8k,sync=each,rate=1m "      \
    "--beside randread:4k,direct=1,queue_depth=2,rate=512k "

/* What each load reached alone, and what beside the setting. */
TEST(loads_run_beside_and_are_told)
{
    static const char *const times[] = {"before", "during"};
    json_t *document =
        cli_json(0, "measure --json --request-size 1m --queue-depth 4 --direct 0 --api io_uring "
                    "--replays 3 --duration 300ms " BESIDE "--beside-limit p99=10m");
    const json_t *list = json_object_get(document, "beside"), *load;
    size_t i;
    assert_int_equal(json_array_size(list), 2);
    json_array_foreach(list, i, load)
    {
        for (size_t j = 0; j < N_OF(times); j++) {
            const json_t *figures = json_object_get(load, times[j]);
            assert_true(cli_integer(figures, "requests") > 0);
            assert_true(cli_number(figures, "seconds") > 0);
            assert_true(cli_number(figures, "latency_ns.p99") > 0);
        }
        /* Nothing takes ten minutes. */
        const char *verdict = json_string_value(json_object_get(load, "limit_is"));
        assert_true(verdict != NULL && strcmp(verdict, "not kept") != 0);
    }
    CHECK_JSON(list, "0.sync=each", "1.queue_depth=2");
    assert_true(cli_integer(document, "bytes_written") > 3 * (128 << 20));
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(writes_of_loads_beside_keep_max_write)
{
    json_t *document =
        cli_json(CLI_ANY, "recommend --json --quiet --no-lock --path dir --file-size 128m --budget 4s "
                          "--pattern randread --request-size 64k,1m --queue-depth 1,4 "
                          "--max-write 600m --beside write:64k,queue_depth=2");
    /* The allowance ends the search on a fast disk, the budget on a slow one, which may have an answer. */
    bool chosen = !json_is_null(json_object_get(document, "recommendation"));
    assert_int_equal(run.code, !chosen ? 5 : json_is_true(json_object_get(document, "conclusive")) ? 0 : 3);
    assert_in_range(cli_integer(document, "search.bytes_written"), 256 << 20, 600ULL << 20);
}

TEST(no_setting_keeps_a_limit_that_nothing_can_keep)
{
    json_t *document =
        cli_json(5, "recommend --json --budget 4s --request-size 64k,1m --queue-depth 1,4 " BESIDE
                    "--beside-limit p99=1us");
    CHECK_JSON(document, "recommendation=null", "beside#=2");
    CHECK_HAS(run.out, "beside_over_limit", "beside_over_limit_alone");
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(loads_beside_exclude_what_has_no_place_for_them)
{
    static const struct cli_failure lines[] = {
        {"recommend --pattern read --beside write:8k --simulate peak.conf",
         "--beside and --simulate exclude"},
        {"recommend --pattern read --beside write:8k --existing dir", "--beside and --existing exclude"},
        {"recommend --pattern write --beside write:8k --path dir --burst 64m",
         "--beside and --burst exclude"},
    };
    CLI_ALL_FAIL(2, lines);
}

TEST(a_signal_while_filling_is_answered_too)
{
    static const char *const filling[] = {"recommend", "--quiet", "--no-lock", "--json",      "--pattern",
                                          "randwrite", "--path",  "dir",       "--file-size", "2g",
                                          "--budget",  "60s",     NULL};
    stop_after(filling, 0.2, SIGINT);
    assert_int_equal(run.code, 128 + SIGINT);
    json_t *document = cli_document();
    assert_true(json_is_true(json_object_get(document, "interrupted")));
    assert_non_null(json_object_get(document, "search"));
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(a_second_signal_ends_at_once)
{
    rig_start(cli_next(), NULL, searching);
    usleep(2000000);
    kill(run.pid, SIGINT);
    kill(run.pid, SIGTERM);
    rig_finish(&run);
    assert_true(run.code == 128 + SIGINT || run.code == 128 + SIGTERM);
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(nothing_is_left_after_sigkill)
{
    stop_after(searching, 2, SIGKILL);
    assert_int_equal(run.code, -SIGKILL);
    assert_int_equal(run.out_size, 0);
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(a_short_search_answers_within_its_budget)
{
    rig_run_line(cli_next(),
                 "recommend --quiet --no-lock --json --pattern randread --path dir --file-size 128m "
                 "--budget 5s --request-size 4k,64k --queue-depth 1,4");
    json_t *document = cli_document(), *search = json_object_get(document, "search");
    assert_true(run.code == 0 || run.code == 3);
    assert_true(json_is_object(json_object_get(document, "recommendation")));
    assert_true(cli_number(search, "seconds") < 10);
    assert_in_range(cli_integer(search, "bytes_written"), 128 << 20, (128 << 20) + TARGET_PROOF_MOST_BYTES);
    assert_true(json_is_false(json_at(document, "system.simulated")));
    assert_int_equal(rig_count_entries("dir"), 0);
}

TEST(the_write_budget_holds_on_a_disk)
{
    json_t *document = cli_json(CLI_ANY, "recommend --quiet --no-lock --json --pattern randwrite --path dir "
                                         "--file-size 128m --budget 5s --max-write 512m"),
           *search = json_object_get(document, "search");
    assert_true(cli_integer(search, "bytes_written") <= 512 << 20);
    assert_true(cli_integer(search, "bytes_written") >= 128 << 20);
}

#define MEASURE(pattern)                                                                                     \
    "measure", "--quiet", "--no-lock", "--json", "--pattern", pattern, "--request-size", "4k",               \
        "--queue-depth", "1", "--direct", "0", "--api", "psync", "--replays", "2", "--duration", "50ms"

TEST(an_existing_file_is_read_and_left_as_it_is)
{
    rig_write_blocks("data", 16 << 20);
    assert_int_equal(system("cp data copy"), 0);
    assert_int_equal(chmod("data", 0444), 0);
    rig_run(cli_next(), NULL, MEASURE("randread"), "--existing", "data", NULL);
    assert_int_equal(run.code, 0);
    json_t *document = cli_document();
    assert_int_equal(cli_integer(document, "bytes_written"), 0);
    assert_int_equal(system("cmp -s data copy"), 0);
    assert_int_equal(chmod("data", 0644), 0);
}

TEST(an_existing_file_is_overwritten_in_place)
{
    struct stat before, after;
    rig_write_blocks("data", 16 << 20);
    assert_int_equal(stat("data", &before), 0);
    rig_run(cli_next(), NULL, MEASURE("randwrite"), "--existing", "data", "--overwrite", NULL);
    assert_int_equal(run.code, 0);
    cli_document();
    assert_int_equal(stat("data", &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_int_not_equal(system("cmp -s data copy"), 0);
}

TEST(a_locked_file_is_not_overwritten)
{
    rig_write_blocks("data", 16 << 20);
    int fd = open("data", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    rig_run(cli_next(), NULL, MEASURE("write"), "--existing", "data", "--overwrite", NULL);
    cli_failed(2, "locked");
    assert_int_equal(flock(fd, LOCK_UN), 0);
    struct flock byte = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &byte), 0);
    rig_run(cli_next(), NULL, MEASURE("write"), "--existing", "data", "--overwrite", NULL);
    cli_failed(2, "locked");
    close(fd);
    assert_int_equal(system("cmp -s data copy"), 0);
}

TEST(a_second_fstune_waits_for_nobody)
{
    static const char *const first[] = {"recommend", "--quiet", "--pattern",   "randread", "--path", "dir",
                                        "--budget",  "20s",     "--file-size", "128m",     NULL};
    struct rig_run other;
    rig_start(&other, NULL, first);
    usleep(1500000);
    rig_run_line(cli_next(), "recommend --quiet --pattern randread --path dir --budget 5s");
    kill(other.pid, SIGTERM);
    rig_finish(&other);
    /* By a third one, which has the lock; or a user who has nowhere to lock. */
    bool disturbed = other.code != 128 + SIGTERM || strstr(run.out, "second fstune:") != NULL;
    rig_free(&other);
    if (!disturbed)
        cli_failed(1, "--no-lock");
    if (disturbed) {
        print_message("skipped: the device is measured already, or this user cannot lock it\n");
        skip();
    }
}

static bool mount_storage_stack(void)
{
    return mount_tiny(0, "size=160m");
}

static void run_in_tiny(bool (*in_child)(void), const char *file_size)
{
    if (geteuid() != 0)
        skip();
    rig_run(cli_next(), in_child, "recommend", "--quiet", "--no-lock", "--pattern", "randwrite", "--path",
            "tiny", "--budget", "3s", "--file-size", file_size, NULL);
    if (run.code == 99)
        skip(); /* a container that may not mount */
}

/* Ten percent stay free. */
TEST(a_file_system_without_room_or_read_only_is_refused)
{
    static const struct {
        bool (*in_child)(void);
        const char *file_size;
    } rows[] = {{mount_small, "128m"}, {mount_storage_stack, "150m"}, {mount_read_only, "128m"}};
    for (size_t i = 0; i < N_OF(rows); i++) {
        run_in_tiny(rows[i].in_child, rows[i].file_size);
        cli_failed(1, "tiny");
    }
}

TEST(a_file_that_just_fits_is_measured)
{
    run_in_tiny(mount_storage_stack, "128m");
    assert_true(run.code == 0 || run.code == 3);
    assert_string_equal(run.err, "");
}
