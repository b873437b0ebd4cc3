/* Who led a search, as its journal tells it. */
#include "tests/test.h"
#include "tuner/picture/page_inside.h"

/* Runs of points that differ in their queue depth. */
static struct journal_run run_of(uint32_t queue_depth, double at_seconds, double throughput_bps)
{
    struct journal_run run = {.at_seconds = at_seconds};
    run.point = (struct point){.request_size_bytes = 4096,
                               .queue_depth = queue_depth,
                               .direct = 1,
                               .api = API_IO_URING,
                               .threads = 1,
                               .sync = SYNC_END};
    run.sample.throughput_bps = throughput_bps;
    return run;
}

static json_t *course_of(struct journal_run *runs, size_t n, size_t first)
{
    const struct journal journal = {.runs = runs, .n_runs = n, .first = first};
    json_t *document = json_object();
    const struct page_request request = {.journal = &journal};
    const struct page page = {.request = &request, .document = document};
    json_t *course = page_search(&page);
    json_decref(document);
    assert_non_null(course);
    return course;
}

static double member(const json_t *course, size_t step, size_t i)
{
    return json_number_value(json_array_get(json_array_get(json_object_get(course, "steps"), step), i));
}

TEST(the_highest_mean_so_far_leads)
{
    struct journal_run runs[] = {run_of(1, 1, 100), run_of(2, 2, 300), run_of(2, 3, 100), run_of(1, 4, 260)};
    static const struct {
        double leader, n, mean;
    } expected[] = {{0, 1, 100}, {1, 1, 300}, {1, 2, 200}, {1, 2, 200}};
    json_auto_t *course = course_of(runs, 4, 0);
    assert_int_equal(json_array_size(json_object_get(course, "steps")), 4);
    assert_int_equal(json_array_size(json_object_get(course, "settings")), 2);
    for (size_t i = 0; i < 4; i++) {
        assert_close(member(course, i, 3), expected[i].leader, 0);
        assert_close(member(course, i, 4), expected[i].n, 0);
        assert_close(member(course, i, 5), expected[i].mean, 1e-9);
    }
}

TEST(an_interval_needs_three_runs_of_the_leader)
{
    struct journal_run runs[] = {run_of(1, 1, 90), run_of(1, 2, 100), run_of(1, 3, 110)};
    json_auto_t *course = course_of(runs, 3, 0);
    const json_t *steps = json_object_get(course, "steps");
    assert_true(json_is_null(json_array_get(json_array_get(steps, 1), 6)));
    /* Student's t for 2 degrees of freedom at 97.5 % is 4.303; the standard error 10 / sqrt(3). */
    assert_close(member(course, 2, 6), 100 - 4.303 * 5.7735, 0.01);
    assert_close(member(course, 2, 7), 100 + 4.303 * 5.7735, 0.01);
}

TEST(runs_that_no_longer_held_do_not_count)
{
    struct journal_run runs[] = {run_of(1, 1, 900), run_of(2, 2, 100)};
    json_t *course = course_of(runs, 2, 1), *none = course_of(runs, 2, 2);
    assert_int_equal(json_array_size(json_object_get(course, "steps")), 1);
    assert_close(member(course, 0, 5), 100, 1e-9);
    assert_int_equal(json_array_size(json_object_get(none, "steps")), 0);
    json_decref(course);
    json_decref(none);
}
