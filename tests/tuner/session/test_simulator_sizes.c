/* Tests of tuner/session/simulator: rows with two request sizes, of reads and of writes. */
#include "tests/tuner/rig.h"
#include "tuner/session/simulator.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

#define HEADER "pattern,request_size,queue_depth,direct,api,threads,throughput_bps"

static struct simulator simulator;
static struct err err;

static int open_table(const char *table)
{
    rig_write("points.csv", "%s", table);
    rig_write("s.conf", "points = \"points.csv\";\n");
    memset(&err, 0, sizeof err);
    return simulator_open(&simulator, "s.conf", &err);
}

/* -1: not in the table. */
static double truth_of(uint32_t depth, uint64_t write_bytes)
{
    struct point point = {4096, depth, 0, API_IO_URING, 1, SYNC_END, write_bytes};
    struct pattern pattern;
    double bps = -1;
    assert_int_equal(pattern_parse("randrw:50", &pattern, NULL), 0);
    int result = simulator_truth_bps(&simulator, &pattern, &point, &bps, &err);
    assert_int_equal(result, bps == -1 ? -ENODATA : 0);
    return bps;
}

TEST(two_sizes_must_stand_in_the_table)
{
    assert_int_equal(open_table(HEADER ",write_request_size\n"
                                       "randrw:50,4k,1,0,io_uring,1,100,\n"
                                       "randrw:50,4k,1,0,io_uring,1,300,4096\n"
                                       "randrw:50,4k,1,0,io_uring,1,500,16k\n"
                                       "randrw:50,4k,4,0,io_uring,1,700,16k\n"),
                     0);
    assert_int_equal(simulator.n_cells, 3);
    assert_close(truth_of(1, 0), 200, 0);
    assert_close(truth_of(1, 16384), 500, 0);
    assert_close(truth_of(2, 16384), -1, 0);
    assert_non_null(strstr(err.text, "4k/16k x 2"));
    assert_close(truth_of(1, 8192), -1, 0);
    simulator_close(&simulator);
}

TEST(sizes_of_writes_are_checked)
{
    static const char *const rows[][2] = {
        {HEADER ",write_request_size\nrandrw:50,4k,1,0,io_uring,1,100,abc\n", "points.csv:2: 'abc'"},
        {HEADER ",write_request_size\nrandrw:50,4k,1,0,io_uring,1,100,6k\n",
         "points.csv:2: write_request_size"},
        {HEADER ",write_request_size\nrandrw:50,4k,1,0,io_uring,1,100\n", "7 fields instead of 8"},
        {HEADER ",write_size\nrandrw:50,4k,1,0,io_uring,1,100,4k\n", "points.csv:1"},
        {HEADER "\nrandrw:50,4k,1,0,io_uring,1,100,4k\n", "8 fields instead of 7"},
    };
    for (size_t i = 0; i < RIG_COUNT(rows); i++) {
        assert_int_equal(open_table(rows[i][0]), -EINVAL);
        assert_non_null(strstr(err.text, rows[i][1]));
        assert_null(simulator.cells);
    }
}
