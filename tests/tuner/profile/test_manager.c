/* Tests of tuner/profile/manager: what comes over a link, and what of it is kept. The agent is a program that
 * prints batches which were made before, and hears nothing. */
#include "tuner/profile/manager.h"

#include "models/profile/batch.h"
#include "tests/folder.h"
#include "tuner/base/interrupt.h"
#include "tuner/store/events.h"

#include <errno.h>
#include <signal.h>

static struct batch_writer writer;
static struct manager_result result;
static struct err err;
static FILE *said;

GROUP(enter_folder, remove_folder);

static int begin(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    unlink("e.db");
    unlink("e.db-wal");
    unlink("e.db-shm");
    err = (struct err){0};
    said = fopen("said", "w");
    return said != NULL ? 0 : -1;
}

static void end_batch(void)
{
    batch_finish(&writer);
    assert_int_equal(fwrite(writer.bytes, 1, writer.n, said), writer.n);
}

static void say_hello(uint64_t number)
{
    batch_begin(&writer, BATCH_HELLO, number);
    batch_add_number(&writer, 77);
    batch_add_number(&writer, 1000000);
    batch_add_text(&writer, "the command");
    end_batch();
}

/* A batch with one row at this time. */
static void say_row(uint64_t number, uint64_t time_ns, uint64_t n_lost)
{
    batch_begin(&writer, BATCH_ROWS, number);
    batch_add_number(&writer, n_lost);
    batch_add_name(&writer, 5, "/a file");
    batch_add_row(&writer, &(struct events_row){
                               .kind = EVENTS_READ, .time_ns = time_ns, .object = 5, .n_bytes = 1, .n = 1});
    end_batch();
}

static void say_mark(enum batch_kind kind, uint64_t number, uint64_t n_lost, uint64_t status)
{
    batch_begin(&writer, kind, number);
    batch_add_number(&writer, n_lost);
    batch_add_number(&writer, 2500000000U);
    batch_add_number(&writer, status);
    end_batch();
}

static int run(void)
{
    static const char *const program[] = {"cat", "said", NULL};
    const struct manager_options options = {
        .events = "e.db", .program = program, .wait_ns = 1000000000U, .is_quiet = true};
    fclose(said);
    return manager_run(&options, &result, &err);
}

static int sum_times(void *data, const struct events_row *row, struct err *unused)
{
    (void)unused;
    *(uint64_t *)data += row->time_ns;
    return 0;
}

/* What is kept of a recording: the sum of the times tells which rows. */
static struct events_run look(int64_t id, uint64_t *ret_times)
{
    struct events *events;
    struct events_run found = {0};
    *ret_times = 0;
    assert_int_equal(events_open(&events, "e.db", false, &err), 0);
    assert_int_equal(events_find(events, id, &found, &err), 0);
    assert_int_equal(events_each(events, id, sum_times, ret_times, &err), 0);
    events_close(events);
    return found;
}

TEST_WITH(what_is_said_is_kept, begin, NULL)
{
    uint64_t times;
    say_hello(3);
    say_row(3, 1, 0);
    say_row(4, 10, 6);
    say_mark(BATCH_END, 5, 8, 1 + 256);
    assert_int_equal(run(), 0);
    assert_int_equal(result.n, 2);
    assert_int_equal(result.n_lost, 8);
    assert_int_equal(result.status, 256);
    assert_false(result.goes_on);
    struct events_run found = look(1, &times);
    assert_int_equal(times, 11);
    assert_int_equal(found.n_lost, 8);
    assert_int_equal(found.sample_ns, 1000000);
    assert_close(found.seconds, 2.5, 1e-9);
    assert_string_equal(found.command, "the command");
    assert_string_equal(found.source, "preload");
}

TEST_WITH(what_comes_twice_or_too_early_is_left_out, begin, NULL)
{
    uint64_t times;
    say_hello(0);
    say_row(0, 1, 0);
    say_row(0, 10, 0);
    say_row(2, 100, 0);
    say_row(1, 1000, 0);
    assert_int_equal(run(), -EPIPE);
    assert_int_equal(result.n_damaged, 1);
    look(1, &times);
    assert_int_equal(times, 1001);
}

TEST_WITH(what_is_damaged_is_left_out_with_all_after_it, begin, NULL)
{
    uint64_t times;
    say_hello(0);
    say_row(0, 1, 0);
    say_row(1, 10, 0);
    say_row(2, 100, 0);
    fseek(said, -30 - (long)writer.n, SEEK_CUR);
    fputc('!', said);
    assert_int_equal(run(), -EPIPE);
    assert_non_null(strstr(err.text, "1 events are kept"));
    assert_true(isnan(look(1, &times).seconds));
    assert_int_equal(times, 1);
}

TEST_WITH(another_recording_begins_at_a_restart, begin, NULL)
{
    uint64_t times;
    say_hello(0);
    say_row(0, 1, 0);
    say_mark(BATCH_RESTART, 1, 4, 0);
    say_row(2, 10, 0);
    say_mark(BATCH_END, 3, 0, 0);
    assert_int_equal(run(), 0);
    assert_true(result.goes_on);
    assert_int_equal(look(1, &times).n_lost, 4);
    assert_int_equal(times, 1);
    assert_int_equal(look(2, &times).n_lost, 0);
    assert_int_equal(times, 10);
}

TEST_WITH(an_agent_of_another_version_is_refused, begin, NULL)
{
    say_hello(0);
    batch_begin(&writer, BATCH_ROWS, 0);
    writer.bytes[5] = BATCH_VERSION + 1;
    end_batch();
    assert_int_equal(run(), -EPROTO);
    assert_non_null(strstr(err.text, "of one release"));
}

TEST_WITH(a_program_that_is_no_agent_is_told, begin, NULL)
{
    fputs("bash: fstune-agent: command not found\n", said);
    assert_int_equal(run(), -EPIPE);
    assert_non_null(strstr(err.text, "before an agent answered"));
    assert_int_equal(result.run_id, 0);
}

TEST_WITH(a_database_that_is_none_is_refused_before_anything_starts, begin, NULL)
{
    FILE *file = fopen("e.db", "w");
    fputs("no database at all, but long enough for a head of one: 0123456789012345678901234567890123456789",
          file);
    fputs("0123456789012345678901234567890123456789", file);
    fclose(file);
    assert_true(run() < 0);
    assert_non_null(strstr(err.text, "--save-events"));
}
