/* A picture shows the points that differ in its factors only. */
#include "tests/test.h"
#include "tuner/picture/plot_slice.h"

#include <errno.h>

#define HEAD "request_size,queue_depth,api,throughput_bps\n"
static const char grid[] = HEAD "4k,1,psync,10\n4k,8,pool,20\n64k,8,pool,30\n64k,1,pool,15\n1m,8,pool,25\n"
                                "4k,8,libaio,99\n64k,8,libaio,12\n";

static struct plot_data data;
static struct plot_slice slice;
static struct err err;

static int make(const char *text, size_t n_axes, const char *x, const char *y, const char *where,
                bool numbers)
{
    const struct plot_request request = {.title = "", .x = x, .y = y, .where = where};
    plot_data_done(&data);
    err = (struct err){0};
    assert_int_equal(plot_data_read(&data, text, strlen(text), &err), 0);
    return plot_slice_make(&slice, &request, &data, n_axes, numbers, &err);
}

FIXTURE(done)
{
    plot_data_done(&data);
    return 0;
}

EACH_TEST(NULL, done);

TEST(what_is_fixed_is_as_at_the_best_point)
{
    assert_int_equal(make(grid, 1, "request_size", "", "", false), 0);
    assert_int_equal(slice.axes[0].n, 2);
    assert_int_equal(slice.n_cells, 2);
    assert_close(slice.best->mean_bps, 99, 0);
    assert_close(plot_slice_at(&slice, 1, 0)->mean_bps, 12, 0);
    assert_string_equal(slice.fixed, "depth 8, libaio");
}

TEST(factors_that_are_not_named_are_those_with_most_points)
{
    assert_int_equal(make(grid, 2, "", "", "api=pool", false), 0);
    assert_int_equal(slice.axes[0].factor, PLOT_FACTOR_REQUEST_SIZE);
    assert_int_equal(slice.axes[1].factor, PLOT_FACTOR_QUEUE_DEPTH);
    assert_int_equal(slice.n_cells, 4);
    assert_null(plot_slice_at(&slice, 0, 0)); /* 4k x 1 was measured with psync only */
    assert_close(plot_slice_at(&slice, 1, 1)->mean_bps, 30, 0);
    assert_string_equal(plot_slice_level(&slice, 0, 2)->text, "1m");
    assert_string_equal(slice.fixed, "pool");
}

TEST(an_axis_of_numbers_is_never_words)
{
    assert_int_equal(make(HEAD "4k,1,psync,1\n4k,1,pool,2\n4k,1,libaio,3\n", 1, "", "", "", false), 0);
    assert_int_equal(slice.axes[0].factor, PLOT_FACTOR_API);
    assert_int_equal(make(HEAD "4k,1,psync,1\n4k,1,pool,2\n4k,1,libaio,3\n", 1, "", "", "", true), 0);
    assert_int_equal(slice.axes[0].factor, PLOT_FACTOR_REQUEST_SIZE);
}

TEST(a_wish_that_does_not_fit_is_refused_with_what_there_is)
{
    assert_int_equal(make(grid, 2, "size", "", "", false), -EINVAL);
    assert_int_equal(make(grid, 2, "threads", "", "", false), -EINVAL);
    assert_int_equal(make(grid, 2, "api", "api", "", false), -EINVAL);
    assert_int_equal(make(grid, 1, "", "", "api", false), -EINVAL);
    assert_int_equal(make(grid, 1, "", "", "api=pool,api=pool", false), -EINVAL);
    assert_int_equal(make(grid, 1, "", "", "queue_depth=3", false), -EINVAL);
    assert_contains(err.text, "there are 1, 8");
    assert_int_equal(make(grid, 1, "", "", "api=psync,queue_depth=8", false), -ENODATA);
}

TEST(levels_are_asked_for_in_any_spelling)
{
    assert_int_equal(make(grid, 1, "queue_depth", "", "request-size=65536,api=pool", false), 0);
    assert_int_equal(slice.n_cells, 2);
    assert_int_equal(make("direct,threads,mean\n0,1,5\n1,1,7\n1,2,9\n", 1, "threads", "", "direct=0", false),
                     0);
    assert_close(slice.best->mean_bps, 5, 0);
    assert_int_equal(make("direct,threads,mean\n0,1,5\n1,1,7\n", 1, "threads", "", "direct=buffered", false),
                     0);
}

TEST(distrusted_points_are_counted_not_shown)
{
    static const char text[] =
        "{\"schema\": \"fstune/experiment/1\", \"points\": [{\"threads\": 1, \"mean\": 5},"
        "{\"threads\": 2, \"mean\": 9, \"disqualified_by\": [\"x\"]}]}";
    assert_int_equal(make(text, 1, "", "", "", false), 0);
    assert_int_equal(slice.n_cells, 1);
    assert_int_equal(slice.n_left_out, 1);
    assert_close(slice.max_bps, 5, 0);
}

TEST(more_levels_than_a_picture_holds_are_refused)
{
    char text[4096] = "threads,mean\n";
    size_t used = strlen(text);
    for (int i = 0; i <= PLOT_SLICE_MAX_LEVELS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,%d\n", i + 1, i + 1);
    assert_int_equal(make(text, 1, "", "", "", false), -EINVAL);
    assert_contains(err.text, "more than 64 levels");
}

TEST(points_in_words_leave_out_what_all_share)
{
    char words[PLOT_TEXT_SIZE];
    assert_int_equal(
        make("request_size,queue_depth,threads,direct,mean\n4k,1,2,0,5\n4k,2,2,1,6\n", 1, "", "", "", false),
        0);
    assert_string_equal(plot_slice_words(&data, &data.points[1], words), "4k, depth 2, direct");
    assert_int_equal(make("request_size,threads,mean\n4k,2,5\n4k,1,6\n", 1, "", "", "", false), 0);
    assert_string_equal(plot_slice_words(&data, &data.points[0], words), "4k, 2 threads");
    assert_string_equal(plot_slice_words(&data, &data.points[1], words), "4k, 1 thread");
}
