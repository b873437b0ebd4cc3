/* Tests of opening a history: only histories are opened, and older ones brought up to date. Histories with
 * damaged bytes are the matter of tests/fuzz/fuzz_history.c. */
#include "tests/tuner/store/history_rig.h"
#include "tuner/store/database.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

/* Refused with one line, and neither the file nor its neighbourhood changes. */
static void check_refused(const char *path, int code, const char *part)
{
    size_t size, n_entries = rig_count_entries(".");
    AUTO(auto_free) char *bytes = bytes_of(path, &size);
    for (int write = 0; write < 2; write++) {
        assert_int_equal(open_at(&history, path, write == 1), code);
        assert_null(history.db.ops);
        assert_null(strchr(err.text, '\n'));
        if (strstr(err.text, part) == NULL)
            fail_msg("'%s' is not in '%s'", part, err.text);
    }
    check_bytes(path, bytes, size);
    assert_int_equal(rig_count_entries("."), n_entries);
}

TEST(what_is_no_history_is_refused_and_left_alone)
{
    rig_write("text", "a text that is long enough to hold the hundred bytes of a header of SQLite's, "
                      "though it is none, and longer than that");
    check_refused("text", -EINVAL, "no history of fstune");
    rig_write("short", "SQLite format 3");
    check_refused("short", -EINVAL, "no history of fstune");
    rig_write_blocks("blocks", 65536);
    check_refused("blocks", -EINVAL, "no history of fstune");
    assert_false(database_is_one("short") || database_is_one("blocks") || database_is_one("missing"));
}

TEST(a_database_of_another_program_is_refused_and_left_alone)
{
    run_sql("foreign", "CREATE TABLE bookmarks(a); INSERT INTO bookmarks VALUES(1)");
    assert_true(database_is_one("foreign"));
    check_refused("foreign", -EINVAL, "another program");
    run_sql("foreign", "PRAGMA journal_mode = WAL; PRAGMA user_version = 1");
    check_refused("foreign", -EINVAL, "another program");
}

TEST(a_newer_schema_is_refused_and_left_alone)
{
    begin_history("newer");
    history_close(&history);
    run_sql("newer", "PRAGMA user_version = 5");
    check_refused("newer", -EINVAL, "schema 5, this one knows 4");
}

TEST(a_missing_file_is_made_only_for_writing)
{
    assert_int_equal(open_at(&history, "missing", false), -ENOENT);
    assert_false(rig_exists("missing"));
    rig_write("empty", "%s", "");
    assert_int_equal(open_at(&history, "empty", false), -EINVAL);
    reopen_history("empty", true);
    reopen_history("empty", false);
    history_close(&history);
    assert_int_equal(open_at(&history, ".", true), -EINVAL);
    assert_int_equal(open_at(&history, "no/such/folder", true), -ENOENT);
}

TEST(an_older_schema_is_brought_up_to_date)
{
    struct history_replay *replays;
    size_t n;
    for (int write = 0; write < 2; write++) {
        begin_history("older");
        add_whole_run(2e8);
        history_close(&history);
        make_first_schema("older");
        assert_int_equal(open_at(&history, "older", write == 1), 0);
        assert_int_equal(history_replays(&history, 1, &replays, &n, &err), 0);
        assert_int_equal(n, 6);
        assert_int_equal(replays[0].windows.n, 0);
        assert_close(replays[0].sample.throughput_bps, 2e8, 1);
        free(replays);
        assert_int_equal(n_findings(), 0);
        add_whole_run(1e8);
        history_close(&history);
        reopen_history("older", false);
        history_close(&history);
    }
}

TEST(a_truncated_history_is_refused_and_left_alone)
{
    size_t size;
    begin_history("long");
    add_whole_run(1e8);
    history_close(&history);
    AUTO(auto_free) char *bytes = bytes_of("long", &size);
    static const size_t lengths[] = {1, 99, 100, 4096, 20480};
    for (size_t i = 0; i < N_OF(lengths); i++) {
        assert_true(lengths[i] < size);
        rig_write_bytes("cut", bytes, lengths[i]);
        check_refused("cut", lengths[i] < 100 ? -EINVAL : -EBADMSG,
                      lengths[i] < 100 ? "no history" : "damaged");
    }
}
