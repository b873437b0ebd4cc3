/* Tests of tuner/picture/plot_data_several: a setting of each of several files, told apart by its file. */
#include "tests/tuner/rig.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>

#define HEADER "pattern,request_size,queue_depth,direct,api,throughput_bps\n"

static struct settings_files files;
static struct plot_data data;
static struct err err;

FIXTURE(enter)
{
    files = (struct settings_files){0};
    return rig_enter(test_state);
}

FIXTURE(leave)
{
    plot_data_done(&data);
    return rig_leave(test_state);
}

EACH_TEST(enter, leave);

static void add(const char *name, const char *text)
{
    rig_write(name, "%s", text);
    snprintf(files.path[files.n++], sizeof files.path[0], "%s", name);
}

static const char *title(size_t i)
{
    return data.levels[PLOT_FACTOR_RESULT].level[data.points[i].level[PLOT_FACTOR_RESULT]].text;
}

TEST(each_result_gives_its_best_setting_and_is_named_by_what_differs)
{
    add("before.csv", HEADER "randread,4k,1,1,psync,1e8\nrandread,4k,8,1,io_uring,3e8\n");
    add("after.csv", HEADER "randread,4k,1,1,psync,2e8\nrandread,64k,8,1,io_uring,9e8\n");
    assert_int_equal(plot_data_several(&data, &files, "", &err), 0);
    assert_int_equal(data.n_points, 2);
    assert_string_equal(title(0), "before: 4k");
    assert_string_equal(title(1), "after: 64k");
    assert_true(data.points[0].mean_bps == 3e8 && data.points[1].mean_bps == 9e8);
    /* What they have in common stays with the points, for the head of the picture. */
    assert_true(data.points[0].level[PLOT_FACTOR_QUEUE_DEPTH] != PLOT_NO_LEVEL);
    assert_int_equal(data.points[0].level[PLOT_FACTOR_REQUEST_SIZE], PLOT_NO_LEVEL);
}

TEST(where_names_the_setting_of_each)
{
    add("a.csv", HEADER "randread,4k,1,1,psync,1e8\nrandread,4k,8,1,io_uring,3e8\n");
    add("b.csv", HEADER "randread,4k,1,1,psync,2e8\nrandread,64k,8,1,io_uring,9e8\n");
    assert_int_equal(plot_data_several(&data, &files, "queue_depth=1", &err), 0);
    assert_string_equal(title(0), "a");
    assert_string_equal(title(1), "b");
    assert_true(data.points[0].mean_bps == 1e8 && data.points[1].mean_bps == 2e8);
}

TEST(what_one_file_lacks_is_said_with_its_name)
{
    add("a.csv", HEADER "randread,4k,1,1,psync,1e8\n");
    add("b.csv", HEADER "randread,64k,1,1,psync,2e8\n");
    assert_int_equal(plot_data_several(&data, &files, "request_size=4k", &err), -EINVAL);
    assert_non_null(strstr(err.text, "--from b.csv: --where: no point has request_size=4k; there are 64k"));
}

TEST(twins_are_refused)
{
    add("a.csv", HEADER "randread,4k,1,1,psync,1e8\n");
    add("a.csv", HEADER "randread,4k,1,1,psync,1e8\n");
    assert_int_equal(plot_data_several(&data, &files, "", &err), -EINVAL);
    assert_non_null(strstr(err.text, "--from a.csv: another result has that name"));
}

TEST(results_of_one_name_in_other_folders_differ_by_their_settings)
{
    assert_int_equal(system("mkdir x y"), 0);
    add("x/r.csv", HEADER "randread,4k,1,1,psync,1e8\n");
    add("y/r.csv", HEADER "randwrite,4k,1,0,psync,1e8\n");
    assert_int_equal(plot_data_several(&data, &files, "", &err), 0);
    assert_string_equal(title(0), "r: randread, direct");
    assert_string_equal(title(1), "r: randwrite, buffered");
}
