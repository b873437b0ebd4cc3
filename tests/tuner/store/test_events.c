/* Tests of tuner/store/events: what is kept is read again, recording by recording. */
#include "tuner/store/events.h"

#include "tests/test.h"

#include <errno.h>
#include <sqlite3.h>

static struct events *events;
static struct err err;
static struct events_row seen[8];
static size_t n_seen;
static char name[64];

static void open_new(void)
{
    unlink("events.db");
    unlink("events.db-wal");
    unlink("events.db-shm");
    assert_int_equal(events_open(&events, "events.db", true, &err), 0);
}

static void close_again(void)
{
    events_close(events);
    events = NULL;
}

static bool enter_folder(void)
{
    static char folder[] = "/tmp/fstune-events-XXXXXX";
    return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static int remember(void *data, const struct events_row *row, struct err *unused)
{
    (void)data;
    (void)unused;
    seen[n_seen++] = *row;
    return n_seen == N_OF(seen) ? -EFBIG : 0;
}

static void remember_name(void *data, uint64_t object, const char *text)
{
    (void)data;
    assert_int_equal(object, UINT64_MAX);
    snprintf(name, sizeof name, "%s", text);
}

static void record(const char *command, uint64_t first_ns)
{
    assert_int_equal(events_begin(events, command, "trace", 0, &err), 0);
    events_add(events, &(struct events_row){.kind = EVENTS_WRITE, .time_ns = first_ns + 5, .n = 1});
    events_add(events, &(struct events_row){.kind = EVENTS_READ,
                                            .time_ns = first_ns,
                                            .duration_ns = 7,
                                            .process = 11,
                                            .thread = 12,
                                            .handle = 13,
                                            .flags = 3,
                                            .object = UINT64_MAX,
                                            .offset_bytes = 1ULL << 40,
                                            .n_bytes = 4096,
                                            .n = 1});
}

TEST(events_are_read_in_the_order_of_their_times)
{
    struct events_run run;
    assert_true(enter_folder());
    open_new();
    record("first", 100);
    events_name(events, UINT64_MAX, "a name");
    assert_int_equal(events_end(events, 2.5, 3, &err), 0);
    close_again();
    assert_int_equal(events_open(&events, "events.db", false, &err), 0);
    assert_int_equal(events_find(events, 0, &run, &err), 0);
    assert_string_equal(run.command, "first");
    assert_int_equal(run.n, 2);
    assert_int_equal(run.n_lost, 3);
    assert_close(run.seconds, 2.5, 1e-9);
    n_seen = 0;
    assert_int_equal(events_each(events, run.id, remember, NULL, &err), 0);
    assert_int_equal(n_seen, 2);
    assert_int_equal(seen[1].kind, EVENTS_WRITE);
    assert_true(seen[0].object == UINT64_MAX && seen[0].offset_bytes == 1ULL << 40);
    assert_true(seen[0].time_ns == 100 && seen[0].duration_ns == 7 && seen[0].n_bytes == 4096);
    assert_true(seen[0].process == 11 && seen[0].thread == 12 && seen[0].handle == 13 && seen[0].flags == 3);
    assert_int_equal(events_each_name(events, run.id, remember_name, NULL, &err), 0);
    assert_string_equal(name, "a name");
    close_again();
}

TEST(recordings_stay_apart_and_one_without_an_end_is_told)
{
    struct events_run run;
    open_new();
    record("first", 0);
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    close_again();
    assert_int_equal(events_open(&events, "events.db", true, &err), 0);
    record("second", 0);
    assert_int_equal(events_find(events, 0, &run, &err), 0);
    assert_string_equal(run.command, "second");
    assert_true(isnan(run.seconds));
    assert_int_equal(events_find(events, 1, &run, &err), 0);
    assert_string_equal(run.command, "first");
    assert_int_equal(events_find(events, 9, &run, &err), -ENOENT);
    close_again();
}

TEST(another_programs_database_is_left_alone)
{
    sqlite3 *db;
    unlink("other.db");
    assert_int_equal(sqlite3_open("other.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(a)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(events_open(&events, "other.db", true, &err), -EINVAL);
    assert_non_null(strstr(err.text, "another program"));
}

TEST(a_kind_that_nobody_writes_is_damage)
{
    open_new();
    record("damaged", 0);
    assert_int_equal(events_end(events, 1, 0, &err), 0);
    close_again();
    sqlite3 *db;
    assert_int_equal(sqlite3_open("events.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE events SET kind = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(events_open(&events, "events.db", false, &err), 0);
    n_seen = 0;
    assert_int_equal(events_each(events, 1, remember, NULL, &err), -EBADMSG);
    assert_int_equal(n_seen, 0);
    close_again();
}
