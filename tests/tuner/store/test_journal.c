/* Tests of tuner/store/journal: what is written is read, broken ends are tolerated, broken anything else is
 * not. */
#include "tests/tuner/store/history_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

GROUP(rig_enter, rig_leave);

static struct journal journal;

static struct journal_run run_of(uint64_t number)
{
    struct journal_run run = {.number = number, .at_seconds = 0.25 * (double)number, .point = fast};
    run.sample = replay_of(number, &fast, 1e9 / 3).sample;
    run.sample.confirming = true;
    return run;
}

/* Instead of the one that is open. */
static void open_journal(const char *path, bool read_only)
{
    journal_done(&journal);
    if (journal_open(&journal, path, read_only, &err) != 0)
        fail_msg("%s: %s", path, err.text);
}

static void begin_journal(void)
{
    assert_int_equal(
        journal_begin(&journal, json_pack("{s:s, s:i}", "schema", JOURNAL_SCHEMA, "seed", 7), &err), 0);
}

static void append(uint64_t number)
{
    const struct journal_run run = run_of(number);
    journal_append(&journal, &run);
}

/* A journal of n runs at `path`. */
static void make(const char *path, size_t n)
{
    unlink(path);
    open_journal(path, false);
    begin_journal();
    for (size_t i = 0; i < n; i++)
        append(i);
    assert_int_equal(journal.failed, 0);
    journal_done(&journal);
}

TEST(what_is_written_is_read)
{
    struct stat status;
    make("j", 3);
    assert_int_equal(stat("j", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    open_journal("j", true);
    assert_int_equal(journal.n_runs, 3);
    assert_int_equal(json_integer_value(json_object_get(journal.header, "seed")), 7);
    const struct journal_run expected = run_of(2), got = journal.runs[2];
    check_same(
        &(struct history_replay){
            .number = got.number, .at_seconds = got.at_seconds, .point = got.point, .sample = got.sample},
        &(struct history_replay){
            .number = 2, .at_seconds = 0.5, .point = expected.point, .sample = expected.sample});
    assert_false(journal.torn);
    journal_done(&journal);
}

/* A journal of these bytes is torn, keeps its whole runs, and is whole again once it goes on. */
static void check_goes_on(const char *bytes, size_t size, bool torn, bool has_header)
{
    rig_write_bytes("cut", bytes, size);
    open_journal("cut", false);
    assert_int_equal(journal.torn, torn);
    assert_int_equal(journal.header != NULL, has_header);
    size_t whole = journal.n_runs;
    begin_journal();
    append(9);
    open_journal("cut", true);
    assert_false(journal.torn);
    assert_int_equal(journal.n_runs, whole + 1);
    assert_int_equal(journal.runs[whole].number, 9);
    journal_done(&journal);
    unlink("cut");
}

/* By a kill, anywhere behind the first line. */
TEST(cut_off_anywhere_it_goes_on)
{
    size_t size = 0;
    make("j", 2);
    AUTO(auto_free) char *text = bytes_of("j", &size);
    for (size_t cut = (size_t)(strchr(text, '\n') - text) + 1; cut < size; cut += 13)
        check_goes_on(text, cut, text[cut - 1] != '\n', true);
}

/* A header that was cut off after any byte leaves an empty journal, which is begun anew. */
TEST(a_header_cut_off_anywhere_is_begun_anew)
{
    size_t size = 0, first = 0;
    make("j", 1);
    AUTO(auto_free) char *text = bytes_of("j", &size);
    while (text[first] != '\n')
        first++;
    for (size_t cut = 0; cut <= first; cut++) {
        rig_write_bytes("cut", text, cut);
        open_journal("cut", false);
        assert_null(journal.header);
        assert_int_equal(journal.torn, cut > 0);
        begin_journal();
        append(0);
        journal_done(&journal);
        check_bytes("cut", text, size);
        unlink("cut");
    }
}

/* Zeros stand for what a crash kept from the disk: from any byte on to the end, or as a hole with lines
 * behind. */
TEST(zeros_from_anywhere_on_are_left_out)
{
    size_t size = 0;
    make("j", 3);
    AUTO(auto_free) char *text = bytes_of("j", &size);
    size_t first = (size_t)(strchr(text, '\n') - text) + 1;
    for (size_t cut = 1; cut < size; cut += cut < 2 * first ? 1 : 61) {
        size_t hole = size - cut < 100 ? size - cut : cut % 2 == 0 ? size - cut : 100;
        char *holed = test_malloc(size);
        memcpy(holed, text, size);
        memset(holed + cut, 0, hole);
        check_goes_on(holed, size, true, cut >= first);
        test_free(holed);
    }
}

TEST(a_mark_makes_what_was_before_prior_knowledge)
{
    make("j", 3);
    open_journal("j", false);
    journal_mark(&journal);
    append(3);
    open_journal("j", true);
    assert_int_equal(journal.n_runs, 4);
    assert_int_equal(journal.first, 3);
    journal_done(&journal);
}

/* Runs of another length say nothing about those to come; a mark before them has nothing left to mark. */
TEST(a_decided_length_is_read_and_drops_the_runs_before_it)
{
    const struct journal_length decided = {75000000, 600000000, 150000000, false};
    make("j", 3);
    open_journal("j", false);
    assert_int_equal(journal.length.run_ns, 0);
    journal_mark(&journal);
    journal_decide(&journal, &decided);
    append(3);
    assert_int_equal(journal.failed, 0);
    open_journal("j", true);
    assert_false(journal.torn);
    assert_int_equal(journal.n_runs, 1);
    assert_int_equal(journal.runs[0].number, 3);
    assert_int_equal(journal.first, 0);
    assert_int_equal(journal.length.run_ns, 75000000);
    assert_int_equal(journal.length.warmup_limit_ns, 600000000);
    assert_int_equal(journal.length.warmup_least_ns, 150000000);
    journal_done(&journal);
}

static int parse_length(const char *length)
{
    char text[512];
    int n =
        snprintf(text, sizeof text,
                 "{\"schema\":\"fstune/journal/1\"}\n{\"length\":%s}\n{\"mark\":\"disagrees\"}\n", length);
    return journal_parse(&journal, text, (size_t)n, &err);
}

TEST(a_length_out_of_its_range_is_refused)
{
    static const char *const good[] = {
        "{\"run_ns\":50000000,\"warmup_limit_ns\":0,\"warmup_least_ns\":0}",
        "{\"run_ns\":3600000000000,\"warmup_limit_ns\":3600000000000,\"warmup_least_ns\":3600000000000}",
    };
    static const char *const bad[] = {
        "{\"run_ns\":49999999,\"warmup_limit_ns\":0,\"warmup_least_ns\":0}",
        "{\"run_ns\":3600000000001,\"warmup_limit_ns\":0,\"warmup_least_ns\":0}",
        "{\"run_ns\":50000000,\"warmup_limit_ns\":3600000000001,\"warmup_least_ns\":0}",
        "{\"run_ns\":50000000,\"warmup_limit_ns\":-1,\"warmup_least_ns\":0}",
        "{\"run_ns\":50000000,\"warmup_limit_ns\":0,\"warmup_least_ns\":-1}",
        "{\"run_ns\":50000000,\"warmup_limit_ns\":0,\"warmup_least_ns\":3600000000001}",
        "{\"run_ns\":5e7,\"warmup_limit_ns\":0,\"warmup_least_ns\":0}",
        "{\"run_ns\":\"50000000\",\"warmup_limit_ns\":0,\"warmup_least_ns\":0}",
        "{\"run_ns\":50000000,\"warmup_limit_ns\":0}",
        "{}",
        "75000000",
        "null",
    };
    for (size_t i = 0; i < N_OF(good); i++) {
        if (parse_length(good[i]) != 0)
            fail_msg("%s: %s", good[i], err.text);
        journal_done(&journal);
    }
    for (size_t i = 0; i < N_OF(bad); i++) {
        if (parse_length(bad[i]) != -EINVAL)
            fail_msg("%s was accepted", bad[i]);
        assert_non_null(strstr(err.text, "line 2"));
    }
}

TEST(what_is_no_journal_is_refused_and_left_alone)
{
    static const char *const texts[] = {"precious data\n",
                                        "{}\n",
                                        "[1]\n",
                                        "{\"schema\": \"fstune/plan/1\"}\n",
                                        "{\"schema\": \"fstune/journal/1\"}",
                                        "precious data",
                                        "{}",
                                        "{\"schema\":\"fstune/journal/10\"",
                                        "{\"schema\":\"fstune/journal/1\"\n",
                                        "\n\n"};
    mkdir("dir", 0755);
    mkfifo("fifo", 0644);
    for (size_t i = 0; i < N_OF(texts); i++) {
        rig_write("no", "%s", texts[i]);
        assert_int_equal(journal_open(&journal, "no", false, &err), -EINVAL);
        assert_non_null(strstr(err.text, "not a journal"));
        check_bytes("no", texts[i], strlen(texts[i]));
        unlink("no");
    }
    rig_write_bytes("zeros", "\0\0\0", 3); /* they could be anybody's */
    assert_int_equal(journal_open(&journal, "zeros", false, &err), -EINVAL);
    assert_true(journal_open(&journal, "dir", false, &err) < 0);
    assert_true(journal_open(&journal, "fifo", false, &err) < 0);
    assert_int_equal(symlink("j", "link"), 0);
    assert_true(journal_open(&journal, "link", false, &err) < 0);
    assert_int_equal(journal_open(&journal, "none/j", false, &err), -ENOENT);
}

/* One value of a good line replaced; behind it stands another good line, so that it is not the torn end. */
TEST(a_wrong_number_is_refused_with_its_line)
{
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"\"iops\":5086", "\"iops\":-086"},
        {"\"iops\":5086.", "\"iops\":\"50\",\"more\":0."},
        {"\"seconds\":0.1", "\"seconds\":-0.1"},
        {"\"queue_depth\":8", "\"queue_depth\":0"},
        {"\"queue_depth\":8", "\"queue_depth\":8.5"},
        {"\"request_size\":65536", "\"request_size\":65537"},
        {"\"io_uring\"", "\"io_thing\""},
        {"\"sync\":\"end\"", "\"sync\":\"now\""},
        {"1000000,", "9000000,"},
        {"\"requests\":100", "\"requests\":0"},
        {"\"bytes\":1048576", "\"bytes\":-1"},
        {"\"warmup\":\"limit\"", "\"warmup\":\"hot\""},
        {"\"sampled\":true", "\"sampled\":1"},
        {"\"doubts\":[\"", "\"doubts\":[\"x"},
        {"\"run\":0", "\"run\":-1"},
        {"\"at_seconds\":0", "\"at_seconds\":-3"},
    };
    size_t size = 0;
    make("j", 2);
    AUTO(auto_free) char *text = bytes_of("j", &size);
    for (size_t i = 0; i < N_OF(changes); i++) {
        char changed[8192];
        const char *at = strstr(text, changes[i].from);
        assert_non_null(at);
        int length = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, changes[i].to,
                              at + strlen(changes[i].from));
        if (journal_parse(&journal, changed, (size_t)length, &err) != -EINVAL)
            fail_msg("%s was accepted", changes[i].to);
        assert_non_null(strstr(err.text, "line 2"));
    }
}

TEST(a_second_command_is_kept_out)
{
    struct journal second;
    make("j", 1);
    open_journal("j", false);
    assert_int_equal(journal_open(&second, "j", false, &err), -EAGAIN);
    assert_non_null(strstr(err.text, "another fstune"));
    assert_int_equal(journal_open(&second, "j", true, &err), 0);
    journal_done(&second);
    journal_done(&journal);
}

TEST(a_failed_write_ends_the_journal)
{
    struct journal_run run = run_of(1);
    make("j", 1);
    open_journal("j", false);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(full >= 0 && dup3(full, journal.fd, O_CLOEXEC) == journal.fd);
    close(full);
    journal_append(&journal, &run);
    assert_int_equal(journal.failed, -ENOSPC);
    assert_int_equal(journal.fd, -1);
    journal_append(&journal, &run);
    journal_mark(&journal);
    journal_decide(&journal, &(struct journal_length){.run_ns = 75000000});
    journal_done(&journal);
}

TEST(an_empty_file_is_an_empty_journal)
{
    rig_write("nothing", "%s", "");
    open_journal("nothing", false);
    assert_null(journal.header);
    open_journal("absent", true);
    assert_false(rig_exists("absent"));
    journal_done(&journal);
}
