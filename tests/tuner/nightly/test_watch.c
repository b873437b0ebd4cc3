/* Tests of tuner/profile/watch: weeks of slices in virtual time, what is kept of them and foretold, and how a
 * search takes it over. */
#include "tests/tuner/store/history_rig.h"

#include "models/profile/store.h"
#include "tuner/histories/watch_report.h"
#include "tuner/histories/watch_use.h"
#include "tuner/nightly/watch.h"
#include "tuner/options/options.h"
#include "tuner/profile/profile_use.h"
#include "tuner/profile/record.h"
#include "tuner/store/history_watch.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#define HOUR_S  3600.0
#define SLICE_S 600.0
/* A Sunday, 00:00 in UTC. */
#define SUNDAY_S 1793491200.0

static struct recording recording;
static struct watch_report report;
static char said[4096];

FIXTURE(begin)
{
    rig_enter(test_state);
    begin_history("h.db");
    setenv("TZ", "UTC0", 1);
    tzset();
    recording = (struct recording){.source = "trace", .knows_calls = true, .knows_flushes = true};
    assert_int_equal(record_open(&recording, STORE_MIN_BYTES, 0, &err), 0);
    return 0;
}

FIXTURE(end)
{
    record_close(&recording);
    history_close(&history);
    return rig_leave(test_state);
}

EACH_TEST(begin, end);

enum load { IDLE, TABLE, BACKUP };

/* What a slice of this load asks for. */
static void ask(enum load load)
{
    for (uint64_t i = 0; i < (load == IDLE ? 3 : 200); i++) {
        struct profile_request request = {.start_ns = recording.store->last_ns + 1000,
                                          .file = load,
                                          .handle = load,
                                          .thread = 1,
                                          .n_bytes = load == BACKUP ? 1U << 20 : 8192};
        request.offset_bytes = load == BACKUP ? i << 20 : i * 7919 % 5000 * 8192;
        store_take(recording.store, &request);
    }
}

static void live(struct watch *watch, double from_s, double hours, enum load (*of)(double at_s))
{
    for (double at_s = from_s; at_s < from_s + hours * HOUR_S; at_s += SLICE_S) {
        ask(of(at_s));
        now_s = at_s + SLICE_S;
        if (watch_slice(watch, &recording, at_s, SLICE_S, recording.store->last_ns, &err) != 0)
            fail_msg("%s", err.text);
        assert_int_equal(bins_n(&recording.store->sizes[PROFILE_READ]), 0);
    }
}

static unsigned hour_of(double at_s)
{
    return (unsigned)((at_s - SUNDAY_S) / HOUR_S) % CALENDAR_WEEK_HOURS;
}

/* A table in use, a backup each night from 2 to 4, on Sunday also from 12 to 15, and nights are idle. */
static enum load an_office(double at_s)
{
    unsigned hour = hour_of(at_s) % 24;
    if (hour == 2 || hour == 3 || (hour_of(at_s) >= 12 && hour_of(at_s) < 15))
        return BACKUP;
    return hour < 7 || hour > 20 ? IDLE : TABLE;
}

static enum load only_a_table(double at_s)
{
    (void)at_s;
    return TABLE;
}

static struct watch fresh_watch(const char *place)
{
    return (struct watch){.history = &history, .place = place, .kind = KIND_NONE};
}

static void look(const char *place)
{
    if (watch_report_make(&report, &history, place, now_s, &err) != 0)
        fail_msg("%s", err.text);
}

TEST(six_weeks_foretell_the_night_and_the_sunday)
{
    struct watch watch = fresh_watch("path /srv");
    unsigned backup = kind_find("seq-read-large"), table = kind_find("random-read-small");
    live(&watch, SUNDAY_S, 6 * CALENDAR_WEEK_HOURS, an_office);
    look("path /srv");
    assert_close(report.seconds, 6 * CALENDAR_WEEK_HOURS * HOUR_S, 1e-3);
    assert_close(report.loads[backup].seconds, 6 * 17 * HOUR_S, 1e-3);
    assert_int_equal(watch_report_most(&report), table);
    assert_true(calendar_is_periodic(&report.calendar, backup));
    struct watch_visit visit;
    /* The seventh Sunday: the night, the office's day until noon, the second backup. */
    assert_true(watch_report_next(&report, now_s, &visit));
    assert_int_equal(visit.kind, backup);
    assert_close(visit.start_s, now_s + 2 * HOUR_S, 1);
    assert_close(visit.end_s, now_s + 4 * HOUR_S, 1);
    assert_true(watch_report_next(&report, now_s + 12 * HOUR_S, &visit));
    assert_int_equal(visit.kind, backup);
    assert_int_equal(visit.rule, CALENDAR_WEEKLY);
    assert_close(visit.end_s, now_s + 15 * HOUR_S, 1);
    /* Only what the weeks had to be learnt from was missed: three of 17 hours on two Sundays. */
    struct calendar_score score = report.calendar.kinds[backup];
    assert_int_equal(score.n_right, score.n_said);
    assert_in_range(report.calendar.n_came[backup] - score.n_right, 6, 9);
}

TEST(a_load_that_returns_is_known)
{
    struct watch watch = fresh_watch("path /srv");
    watch.out = fmemopen(said, sizeof said, "w");
    assert_non_null(watch.out);
    live(&watch, SUNDAY_S, 28, an_office);
    fclose(watch.out);
    assert_non_null(strstr(said, "02:00  seq-read-large: not seen here before\n"));
    assert_non_null(strstr(said, "07:00  random-read-small: not seen here before\n"));
    assert_non_null(strstr(said, "15:00  random-read-small is back: 5.0 hours of it before, until "));
    assert_non_null(strstr(said, "21:00  nothing, or too little to tell\n"));
}

TEST(a_slice_that_a_busy_history_does_not_take_is_missed_and_the_next_is_kept)
{
    sqlite3 *other = NULL;
    struct watch watch = fresh_watch("path /srv");
    assert_int_equal(sqlite3_open("h.db", &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    live(&watch, SUNDAY_S, SLICE_S / HOUR_S / 2, only_a_table);
    assert_int_equal(watch.n_missed, 1);
    sqlite3_close(other);
    live(&watch, SUNDAY_S + SLICE_S, SLICE_S / HOUR_S / 2, only_a_table);
    assert_int_equal(watch.n_missed, 1);
    look("path /srv");
    assert_close(report.seconds, SLICE_S, 1e-9);
    assert_close(report.loads[kind_find("random-read-small")].n_requests, 200, 1e-9);
}

TEST(hours_that_nobody_watched_are_neither_foretold_nor_scored)
{
    struct watch watch = fresh_watch("path /srv");
    live(&watch, SUNDAY_S, 1, only_a_table);
    live(&watch, SUNDAY_S + 30 * HOUR_S, SLICE_S / HOUR_S / 2, only_a_table);
    look("path /srv");
    assert_int_equal(report.calendar.n_hours, 2);
    look("path /elsewhere");
    assert_int_equal(report.calendar.n_hours, 0);
    assert_int_equal(watch_report_most(&report), KIND_NONE);
}

TEST(a_search_tunes_for_the_load_that_is_there_most)
{
    static struct settings settings;
    json_t *document = NULL;
    struct watch watch = fresh_watch("cgroup /system.slice/shop.service");
    const double today_s = (double)time(NULL);
    settings_init(&settings);
    snprintf(settings.search.profile_path, sizeof settings.search.profile_path, "h.db");
    live(&watch, today_s - 100 * 24 * HOUR_S, 24, an_office);
    assert_int_equal(watch_use_load("h.db", ".", &document, &err), -ENODATA);
    assert_non_null(strstr(err.text, "no load in the last 56 days"));
    live(&watch, today_s - 24 * HOUR_S, 24, only_a_table);
    if (profile_use_take(&settings, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(settings.workload.pattern.name, "randread");
    assert_int_equal(settings.workload.levels[FACTOR_REQUEST_SIZE].value[0], 8192);
}

TEST(of_several_places_the_one_that_holds_the_directory_is_meant)
{
    json_t *document = NULL;
    char inner[512], outer[512], here[256];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(outer, sizeof outer, "path %s", here);
    snprintf(inner, sizeof inner, "path %s/in", here);
    assert_int_equal(mkdir("in", 0700), 0);
    assert_int_equal(mkdir("inner", 0700), 0);
    struct watch first = fresh_watch(outer);
    double from_s = (double)time(NULL) - 24 * HOUR_S;
    live(&first, from_s, 3, only_a_table);
    assert_int_equal(watch_use_load("h.db", "/", &document, &err), 0);
    json_decref(document);
    const struct history_watch_slice large = {.start_s = from_s, .seconds = 60, .kind = "seq-read-large"};
    assert_int_equal(history_watch_add(&history, inner, &large, &err), 0);
    assert_int_equal(watch_use_load("h.db", "inner", &document, &err), 0);
    json_decref(document);
    assert_int_equal(watch_use_load("h.db", "in", &document, &err), -ENODATA);
    assert_non_null(strstr(err.text, "has no profile of seq-read-large"));
    assert_int_equal(watch_use_load("h.db", "/", &document, &err), -ENODATA);
    assert_non_null(strstr(err.text, "of 2 watched places none holds /"));
}

TEST(a_history_without_watched_places_says_so)
{
    json_t *document = NULL;
    assert_int_equal(watch_use_load("h.db", ".", &document, &err), -ENODATA);
    assert_non_null(strstr(err.text, "nothing was watched"));
}
