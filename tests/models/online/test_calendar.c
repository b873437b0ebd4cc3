/* Tests of models/online/calendar. */
#include "models/online/calendar.h"
#include "tests/test.h"

#define BUSY   0U
#define BACKUP 11U

static struct calendar calendar;

FIXTURE(empty)
{
    calendar = (struct calendar){0};
    return 0;
}

EACH_TEST(empty, NULL);

/* So many weeks of hours; what each has, `had` says. */
static void live(unsigned n_weeks, unsigned (*had)(unsigned hour, unsigned n))
{
    for (unsigned n = 0; n < n_weeks * CALENDAR_WEEK_HOURS; n++)
        calendar_tell(&calendar, n % CALENDAR_WEEK_HOURS, had(n % CALENDAR_WEEK_HOURS, n));
}

static unsigned every_night(unsigned hour, unsigned n)
{
    (void)n;
    return hour % CALENDAR_DAY_HOURS == 2 ? BACKUP : BUSY;
}

static unsigned sundays(unsigned hour, unsigned n)
{
    (void)n;
    return hour >= 3 && hour < 6 ? BACKUP : hour % CALENDAR_DAY_HOURS < 8 ? KIND_NONE : BUSY;
}

/* Multiplied and added in 32 bits (Numerical Recipes), the upper bits: without a period that an hour knows.
 */
static unsigned by_chance(unsigned hour, unsigned n)
{
    static uint32_t state;
    (void)hour;
    state = (n == 0 ? 7 : state) * 1664525U + 1013904223U;
    return state >> 31 != 0 ? BACKUP : BUSY;
}

static unsigned foretold(unsigned hour, enum calendar_rule *ret_rule)
{
    unsigned kind = CALENDAR_CLASSES;
    return calendar_foretell(&calendar, hour, &kind, ret_rule) ? kind : CALENDAR_CLASSES;
}

TEST(nothing_is_foretold_of_the_first_day)
{
    enum calendar_rule rule;
    for (unsigned hour = 0; hour < CALENDAR_DAY_HOURS; hour++) {
        assert_int_equal(foretold(hour, &rule), CALENDAR_CLASSES);
        calendar_tell(&calendar, hour, BUSY);
    }
    assert_int_equal(calendar.foretold.n_said, 0);
    assert_false(calendar_is_periodic(&calendar, BUSY));
}

TEST(what_comes_every_night_is_foretold_by_the_hour_of_the_day)
{
    enum calendar_rule rule;
    live(2, every_night);
    assert_int_equal(foretold(2, &rule), BACKUP);
    assert_int_equal(rule, CALENDAR_DAILY);
    assert_int_equal(foretold(3, &rule), BUSY);
    assert_true(calendar_is_periodic(&calendar, BACKUP));
    /* Two nights to learn from, then each of the other twelve. */
    assert_int_equal(calendar.kinds[BACKUP].n_said, 12);
    assert_int_equal(calendar.kinds[BACKUP].n_right, 12);
    assert_int_equal(calendar.n_came[BACKUP], 12);
    assert_true(calendar.foretold.n_right > calendar.plain.n_right);
}

TEST(what_comes_on_sundays_is_foretold_by_the_hour_of_the_week)
{
    enum calendar_rule rule;
    live(8, sundays);
    assert_int_equal(foretold(4, &rule), BACKUP);
    assert_int_equal(rule, CALENDAR_WEEKLY);
    assert_int_equal(foretold(CALENDAR_DAY_HOURS + 4, &rule), KIND_NONE);
    assert_true(calendar_is_periodic(&calendar, BACKUP));
}

TEST(what_comes_by_chance_is_not_called_periodic)
{
    live(8, by_chance);
    assert_false(calendar_is_periodic(&calendar, BACKUP));
    assert_false(calendar_is_periodic(&calendar, BUSY));
    double low, share = calendar_share(&calendar.foretold, &low);
    assert_in_range((unsigned)(100 * share), 40, 60);
}

TEST(a_score_is_of_what_was_said_before)
{
    live(1, every_night);
    struct calendar_score before = calendar.kinds[BACKUP];
    calendar_tell(&calendar, 2, BUSY);
    assert_int_equal(calendar.kinds[BACKUP].n_said, before.n_said + 1);
    assert_int_equal(calendar.kinds[BACKUP].n_right, before.n_right);
}

/* 9 of 10 with 1.645, by another program. */
TEST(the_lower_end_is_wilsons)
{
    double low;
    assert_close(calendar_share(&(struct calendar_score){10, 9}, &low), 0.9, 1e-12);
    assert_close(low, 0.6522549, 1e-6);
    assert_true(isnan(calendar_share(&(struct calendar_score){0, 0}, &low)) && isnan(low));
}
