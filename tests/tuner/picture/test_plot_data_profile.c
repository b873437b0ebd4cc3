/* Tests of tuner/picture/plot_data_profile: a document of fstune profile, whole, old and damaged. */
#include "tests/test.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>

static struct plot_data data;
static struct err err;

#define BEGIN    "{\"schema\": \"fstune/profile/1\", \"command\": [\"dd\", \"if=x\"], \"seconds\": "
#define INTERVAL ", \"over_time\": {\"interval_s\": 2, "

FIXTURE(begin)
{
    data = (struct plot_data){0};
    err = (struct err){0};
    return 0;
}

FIXTURE(end)
{
    plot_data_done(&data);
    return 0;
}

EACH_TEST(begin, end);

static int read_text(const char *text)
{
    return plot_data_json(&data, text, &err);
}

TEST(counts_become_rates)
{
    assert_int_equal(
        read_text(BEGIN
                  "5.5" INTERVAL
                  "\"bytes\": [200, 400, 300], \"seq_read\": [2, 4, 3], \"rand_write\": [0, 0, 6]}, "
                  "\"request_size\": {\"read\": {\"histogram\": [0, 9]}, \"write\": "
                  "{\"histogram\": [0, 0, 6]}}, \"caches\": [{\"bytes\": 4096, \"served_share\": 0.5}], "
                  "\"phases\": [{\"start_s\": 0}, {\"start_s\": 4}]}"),
        0);
    const struct plot_load *load = data.load;
    assert_int_equal(data.source, PLOT_PROFILE);
    assert_string_equal(data.place, "dd if=x");
    assert_int_equal(load->n_intervals, 3);
    assert_close(load->intervals[1].per_s[0], 2, 1e-12);
    assert_close(load->intervals[0].bps, 100, 1e-12);
    /* The last one is 1.5 s long. */
    assert_close(load->intervals[2].bps, 200, 1e-12);
    assert_close(load->intervals[2].per_s[3], 4, 1e-12);
    assert_close(load->seconds, 5.5, 1e-12);
    assert_int_equal(load->n[0], 9);
    assert_int_equal(load->n_by_size[1][2], 6);
    assert_int_equal(load->n_caches, 1);
    assert_int_equal(load->n_phases, 1);
    assert_close(load->phase_s[0], 4, 0);
}

TEST(a_short_rest_is_told_with_the_interval_before)
{
    assert_int_equal(read_text(BEGIN "4.5" INTERVAL "\"bytes\": [200, 400, 100]}}"), 0);
    assert_int_equal(data.load->n_intervals, 2);
    assert_close(data.load->intervals[1].bps, 200, 1e-12);
    assert_close(data.load->seconds, 4.5, 1e-12);
}

TEST(a_recording_of_no_length_has_one_interval)
{
    assert_int_equal(read_text(BEGIN "0" INTERVAL "\"bytes\": [200]}}"), 0);
    assert_int_equal(data.load->n_intervals, 1);
    assert_close(data.load->intervals[0].bps, 100, 1e-12);
}

TEST(a_document_that_does_not_tell_what_came_when_is_refused_with_words)
{
    static const char *const texts[] = {
        BEGIN "5}",
        BEGIN "5, \"over_time\": 7}",
        BEGIN "5, \"over_time\": {\"interval_s\": 0, \"bytes\": [1]}}",
        BEGIN "5, \"over_time\": {\"interval_s\": null, \"bytes\": [1]}}",
        BEGIN "5" INTERVAL "\"bytes\": []}}",
        BEGIN "5" INTERVAL
              "\"bytes\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
              "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}",
    };
    for (size_t i = 0; i < N_OF(texts); i++) {
        assert_int_equal(read_text(texts[i]), -ENODATA);
        assert_non_null(strstr(err.text, "record it again"));
        plot_data_done(&data);
    }
}

TEST(what_is_no_count_is_nothing)
{
    assert_int_equal(
        read_text(BEGIN
                  "-1" INTERVAL
                  "\"bytes\": [-5, \"x\", 1e300], \"seq_read\": 4}, \"request_size\": [], \"phases\": 3, "
                  "\"command\": null, \"caches\": [null, {\"bytes\": -1, \"served_share\": 0.5}, "
                  "{\"bytes\": 1, \"served_share\": 7}]}"),
        -EINVAL); /* a key twice */
    assert_int_equal(
        read_text("{\"schema\": \"fstune/profile/1\", \"seconds\": -1" INTERVAL
                  "\"bytes\": [-5, \"x\", 1e300], \"seq_read\": 4}, \"request_size\": [], \"phases\": 3, "
                  "\"command\": [7], \"caches\": [null, {\"bytes\": -1, \"served_share\": 0.5}, "
                  "{\"bytes\": 1, \"served_share\": 7}]}"),
        0);
    assert_true(data.load->n_intervals >= 1);
    for (size_t i = 0; i < data.load->n_intervals; i++)
        assert_true(data.load->intervals[i].bps == 0 &&
                    data.load->intervals[i].to_s > data.load->intervals[i].from_s);
    assert_int_equal(data.load->n_caches, 0);
    assert_int_equal(data.load->n_phases, 0);
}

TEST(counts_that_no_program_makes_still_have_a_sum)
{
    static const char each[] = "1e18,1e18,1e18,1e18,1e18,1e18,1e18,1e18,1e18,1e18,";
    char text[1024];
    snprintf(text, sizeof text,
             BEGIN "5" INTERVAL
                   "\"bytes\": [1]}, \"request_size\": {\"read\": {\"histogram\": [%s%s%s%s1]}}}",
             each, each, each, each);
    assert_int_equal(read_text(text), 0);
    assert_true((double)data.load->n[0] >= 40 * (double)data.load->n_by_size[0][0]);
    assert_true(data.load->n_by_size[0][0] > 0);
}
