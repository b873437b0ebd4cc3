/* Tests of tuner/session/simulator and tuner/session/simulator_table. Closing a zeroed surface is what
 * opening the first one begins with. Descriptions and tables that are not there: tests/golden/expected/wrong.
 */
#include "tests/tuner/rig.h"
#include "tuner/session/simulator.h"

#include <errno.h>
#include <sys/stat.h>

GROUP(rig_enter, rig_leave);

#define COLUMNS      "pattern,request_size,queue_depth,direct,api,threads,throughput_bps"
#define HEADER       COLUMNS "\n"
#define SPLIT_HEADER COLUMNS ",write_request_size\n"

static struct simulator simulator;
static struct err err;

FIXTURE(done)
{
    simulator_close(&simulator);
    return 0;
}

EACH_TEST(NULL, done);

/* Opens a surface of this description over the table points.csv. */
static int open_text(const char *description)
{
    simulator_close(&simulator);
    rig_write("s.conf", "%s", description);
    memset(&err, 0, sizeof err);
    return simulator_open(&simulator, "s.conf", &err);
}

static int open_table(const char *table)
{
    rig_write("points.csv", "%s", table);
    return open_text("points = \"points.csv\";\n");
}

/* Refused, with a text that holds `part`, and nothing is left to free. */
static void check_refused(int result, int code, const char *part)
{
    if (result != code || strstr(err.text, part) == NULL)
        fail_msg("%d instead of %d, wanted '%s', got: %s", result, code, part, err.text);
    assert_int_equal(err.code, code);
    assert_null(simulator.cells);
    assert_null(simulator.trace);
}

static struct pattern pattern_of(const char *name)
{
    struct pattern pattern;
    assert_int_equal(pattern_parse(name, &pattern, NULL), 0);
    return pattern;
}

static struct point uring(uint64_t size, uint32_t depth)
{
    return (struct point){size, depth, 0, API_IO_URING, 1, SYNC_END, 0, 0};
}

static double truth_at(struct point point)
{
    struct pattern pattern = pattern_of("randwrite");
    double bps = -1;
    int result = simulator_truth_bps(&simulator, &pattern, &point, &bps, &err);
    assert_int_equal(result, bps == -1 ? -ENODATA : 0);
    return bps;
}

static const char square[] = HEADER "randwrite,4k,1,0,io_uring,1,100\n"
                                    "randwrite,16384,4,0,io_uring,1,1600\n"
                                    "randwrite,4096,4,0,io_uring,1,200\n"
                                    "randwrite,16k,1,0,io_uring,1,400\n";

/* Tabulated points are exact, logarithms between them are interpolated linearly, nothing is extrapolated. */
TEST(the_truth_is_the_tables_and_what_lies_inside_it)
{
    static const struct {
        uint64_t size_bytes;
        uint32_t depth;
        double bps;
    } rows[] = {
        {4096, 1, 100},
        {16384, 1, 400},
        {4096, 4, 200},
        {16384, 4, 1600},
        {8192, 1, 200},
        {4096, 2, 141.42135623730951},
        {8192, 2, 336.35856610148585}, /* (100 * 400 * 200 * 1600)^(1/4) */
        {12288, 1, 300},               /* log2(3)/2 of the way from 4k to 16k: 100 * 4^(log2(3)/2) */
        {16384, 3, 1200},              /* 400 * 4^(log2(3)/2) */
        {2048, 1, -1},
        {32768, 1, -1},
        {8192, 5, -1},
    };
    assert_int_equal(open_table(square), 0);
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_close(truth_at(uring(rows[i].size_bytes, rows[i].depth)), rows[i].bps, i < 4 ? 0 : 1e-9);
    CHECK_HAS(err.text, "8k x 5, buffered, io_uring", "randwrite");
}

TEST(categories_must_match_exactly)
{
    static const struct point points[] = {{4096, 1, 1, API_IO_URING, 1, SYNC_END, 0, 0},
                                          {4096, 1, 0, API_LIBAIO, 1, SYNC_END, 0, 0},
                                          {4096, 1, 0, API_IO_URING, 2, SYNC_END, 0, 0}};
    const struct point point = uring(4096, 1);
    double bps = 7;
    assert_int_equal(open_table(square), 0);
    for (size_t i = 0; i < N_OF(points); i++)
        assert_close(truth_at(points[i]), -1, 0);
    struct pattern other = pattern_of("randread");
    assert_int_equal(simulator_truth_bps(&simulator, &other, &point, &bps, &err), -ENODATA);
    assert_close(bps, 7, 0);
}

TEST(a_missing_corner_is_no_data_only_where_it_counts)
{
    assert_int_equal(open_table(HEADER "randwrite,4k,1,0,io_uring,1,100\n"
                                       "randwrite,16k,1,0,io_uring,1,400\n"
                                       "randwrite,4k,4,0,io_uring,1,200\n"),
                     0);
    assert_close(truth_at(uring(8192, 1)), 200, 1e-9);
    assert_close(truth_at(uring(4096, 2)), 141.42135623730951, 1e-9);
    assert_close(truth_at(uring(8192, 2)), -1, 0);
    assert_close(truth_at(uring(16384, 4)), -1, 0);
}

TEST(rows_of_one_point_are_averaged)
{
    assert_int_equal(open_table(HEADER "rw,4k,1,0,psync,1,100\n"
                                       "randwrite,4k,1,0,psync,1,7\n"
                                       "rw:50,4096,1,0,psync,1,200\n"
                                       "rw,4k,1,0,psync,1,600\n"),
                     0);
    assert_int_equal(simulator.n_cells, 2);
    struct pattern mixed = pattern_of("rw:50");
    size_t first = 9, n = 9;
    simulator_cells_of(&simulator, &mixed, &first, &n);
    assert_int_equal(n, 1);
    assert_int_equal(simulator.cells[first].n_rows, 3);
    assert_close(simulator.cells[first].throughput_bps, 300, 1e-9);
}

TEST(cells_come_sorted_within_their_pattern)
{
    assert_int_equal(open_table(HEADER "write,8k,1,0,psync,1,1\n"
                                       "randwrite,64k,4,1,io_uring,1,5\n"
                                       "randwrite,64k,1,1,io_uring,1,4\n"
                                       "randwrite,4k,16,1,io_uring,1,3\n"
                                       "randwrite,1m,1,0,psync,1,1\n"
                                       "randwrite,4k,1,1,psync,1,2\n"),
                     0);
    struct pattern pattern = pattern_of("randwrite"), absent = pattern_of("read");
    size_t first = 9, n = 9;
    simulator_cells_of(&simulator, &pattern, &first, &n);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        assert_close(simulator.cells[first + i].throughput_bps, (double)i + 1, 0);
    simulator_cells_of(&simulator, &absent, &first, &n);
    assert_int_equal(n, 0);
}

/* What is no size, count, pattern or API at all is the matter of tests/bench/base. */
TEST(garbage_in_a_field_is_refused_with_its_line)
{
    static const struct {
        const char *row, *what;
    } cases[] = {
        {"wrote,4k,1,0,psync,1,100", "pattern"},
        {"randwrite,4q,1,0,psync,1,100", "request_size"},
        {"randwrite,4k,1025,0,io_uring,1,100", "queue_depth"},
        {"randwrite,4k,1,2,psync,1,100", "direct"},
        {"randwrite,4k,1,0,uring,1,100", "api"},
        {"randwrite,4k,1,0,psync,65,100", "threads"},
        {"randwrite,4k,1,0,psync,1,", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,0", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,-5", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,nan", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,inf", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,1e400", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,1e300", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,1e-300", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,0x10", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,100k", "throughput_bps"},
        {"randwrite,4k,1,0,psync,1,1,5", "8 fields instead of 7"},
        {"randwrite,4k,1,0,psync,1", "6 fields instead of 7"},
        {",,,,,,,,,,,,,,,,,,,,,,", "23 fields instead of 7"},
        /* Every field is fine, but no such point can exist. */
        {"randwrite,5000,1,0,psync,1,100", "512"},
        {"randwrite,4k,0,0,io_uring,1,100", "queue_depth"},
        {"randwrite,4k,4,0,psync,1,100", "psync"},
        {"randwrite,4k,1,0,pvec,1,100", "pvec"},
        {"randwrite,4k,1,0,psync,0,100", "threads"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        rig_write("points.csv", HEADER "randwrite,4k,1,0,psync,1,100\n\n%s\n", cases[i].row);
        int result = open_text("points = \"points.csv\";\n");
        check_refused(result, -EINVAL, "points.csv:4: ");
        check_refused(result, -EINVAL, cases[i].what);
    }
}

static double split_truth(uint32_t depth, uint64_t write_bytes)
{
    struct point point = uring(4096, depth);
    point.write_size_bytes = write_bytes;
    return truth_at(point);
}

TEST(two_sizes_must_stand_in_the_table)
{
    assert_int_equal(open_table(SPLIT_HEADER "randwrite,4k,1,0,io_uring,1,100,\n"
                                             "randwrite,4k,1,0,io_uring,1,300,4096\n"
                                             "randwrite,4k,1,0,io_uring,1,500,16k\n"
                                             "randwrite,4k,4,0,io_uring,1,700,16k\n"),
                     0);
    assert_int_equal(simulator.n_cells, 3);
    assert_close(split_truth(1, 0), 200, 0);
    assert_close(split_truth(1, 16384), 500, 0);
    assert_close(split_truth(2, 16384), -1, 0);
    assert_non_null(strstr(err.text, "4k/16k x 2"));
    assert_close(split_truth(1, 8192), -1, 0);
}

TEST(a_wrong_table_is_refused_with_its_line)
{
    static const char *const cases[][2] = {
        {"", "no row"},
        {HEADER, "no row"},
        {HEADER "\n\n", "no row"},
        {"randwrite,4k,1,0,psync,1,100\n", "points.csv:1: "},
        {"request_size,pattern\n", "points.csv:1: "},
        {COLUMNS ",write_size\nrandrw:50,4k,1,0,io_uring,1,100,4k\n", "points.csv:1"},
        {SPLIT_HEADER "randrw:50,4k,1,0,io_uring,1,100,abc\n", "points.csv:2: 'abc'"},
        {SPLIT_HEADER "randrw:50,4k,1,0,io_uring,1,100,6k\n", "points.csv:2: write_request_size"},
        {SPLIT_HEADER "randrw:50,4k,1,0,io_uring,1,100\n", "7 fields instead of 8"},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        check_refused(open_table(cases[i][0]), -EINVAL, cases[i][1]);
}

TEST(a_zero_byte_is_refused)
{
    static const char table[] = HEADER "randwrite,4k,1,0,psync,1,100\0,and more\n";
    rig_write_bytes("points.csv", table, sizeof table - 1);
    check_refused(open_text("points = \"points.csv\";\n"), -EINVAL, "points.csv:2: ");
}

TEST(other_line_ends_are_accepted)
{
    assert_int_equal(open_table(COLUMNS "\r\n"
                                        "randwrite,4k,1,0,psync,1,100\r\n"
                                        "randwrite,8k,1,0,psync,1,1.5e2"),
                     0);
    assert_int_equal(simulator.n_cells, 2);
}

TEST(a_table_that_cannot_be_read_is_named)
{
    assert_int_equal(mkdir("folder.csv", 0755), 0);
    assert_true(open_text("points = \"folder.csv\";") < 0);
    assert_non_null(strstr(err.text, "folder.csv"));
}

TEST(files_lie_beside_the_description)
{
    assert_int_equal(mkdir("sub", 0755), 0);
    rig_write("sub/t.csv", HEADER "randwrite,4k,1,0,psync,1,100\n");
    rig_write("sub/s.conf", "points = \"t.csv\";\n");
    assert_int_equal(simulator_open(&simulator, "sub/s.conf", &err), 0);
    simulator_close(&simulator);
    rig_write("sub/s.conf", "points = \"sub/t.csv\";\n");
    assert_int_equal(simulator_open(&simulator, "sub/s.conf", &err), -ENOENT);
}

TEST(noise_defaults_to_none)
{
    assert_int_equal(open_table(square), 0);
    const struct simulator_noise none = {
        .outlier_factor = 1, .level_factor = 1, .warmup_factor = 1, .pulse_share = 1};
    assert_memory_equal(&simulator.world.noise, &none, sizeof none);
    assert_ptr_equal(simulator.world.now_ns, &simulator.now_ns);
    assert_string_equal(simulator.name, "s.conf");
}

TEST(every_key_of_noise_is_read)
{
    rig_write("points.csv", "%s", square);
    assert_int_equal(
        open_text("name = \"ext4\"; points = \"points.csv\"; noise = { op_cv = 0.1; op_ar1 = 0.2;\n"
                  "run_cv = 0.3; run_cv_seconds = 4; outlier_probability = 0.5;\n"
                  "outlier_factor = 6.0; drift_per_hour = -7.0; warmup_seconds = 8;\n"
                  "warmup_factor = 0.9; setup_seconds = 10; level_share = 0.25;\n"
                  "level_probability = 0.75; level_factor = 11; pulse_seconds = 12;\n"
                  "pulse_share = 0.125; };\n"),
        0);
    const struct simulator_noise noise = {.op_cv = 0.1,
                                          .op_ar1 = 0.2,
                                          .run_cv = 0.3,
                                          .run_cv_seconds = 4,
                                          .outlier_probability = 0.5,
                                          .outlier_factor = 6,
                                          .level_share = 0.25,
                                          .level_probability = 0.75,
                                          .level_factor = 11,
                                          .drift_per_hour = -7,
                                          .warmup_seconds = 8,
                                          .warmup_factor = 0.9,
                                          .pulse_seconds = 12,
                                          .pulse_share = 0.125,
                                          .setup_seconds = 10};
    assert_memory_equal(&simulator.world.noise, &noise, sizeof noise);
    assert_string_equal(simulator.name, "ext4");
}

TEST(a_wrong_description_is_refused_with_its_line)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"points = \n;", "s.conf:2"},
        {"\npoint = \"points.csv\";", "s.conf:2: unknown key point"},
        {"points = \"points.csv\";\n\nnoise = { run_vc = 1; };", "s.conf:3: unknown key noise.run_vc"},
        {"points = \"points.csv\"; noise = 3;", "noise must be a group"},
        {"points = \"points.csv\"; noise = [1];", "noise must be a group"},
        {"points = \"points.csv\"; noise = ({});", "noise must be a group"},
        {"points = \"points.csv\"; noise = { run_cv = \"5%\"; };", "run_cv must be a number"},
        {"points = \"points.csv\"; noise = { run_cv = true; };", "run_cv must be a number"},
        {"points = \"points.csv\"; noise = { run_cv = [1]; };", "run_cv must be a number"},
        {"points = \"points.csv\"; noise = { run_cv = -0.1; };", "run_cv must be a number from 0"},
        {"points = \"points.csv\"; noise = { op_ar1 = 1; };", "op_ar1 must be a number from 0"},
        {"points = \"points.csv\"; noise = { op_cv = 11; };", "op_cv must be"},
        {"points = \"points.csv\"; noise = { outlier_probability = 1.01; };", "outlier_probability must be"},
        {"points = \"points.csv\"; noise = { outlier_factor = 0; };", "outlier_factor must be"},
        {"points = \"points.csv\"; noise = { level_share = 1.5; };", "level_share must be"},
        {"points = \"points.csv\"; noise = { level_factor = 0.9; };", "level_factor must be a number from 1"},
        {"points = \"points.csv\"; noise = { warmup_factor = 0.0; };", "warmup_factor must be"},
        {"points = \"points.csv\"; noise = { pulse_share = 0; };", "pulse_share must be"},
        {"points = \"points.csv\"; noise = { pulse_seconds = -1; };", "pulse_seconds must be"},
        {"points = \"points.csv\"; noise = { setup_seconds = 1e9; };", "setup_seconds must be"},
        {"points = \"points.csv\"; noise = { run_cv_seconds = 1e400; };", "1e400"},
        {"points = \"points.csv\"; noise = { setup_seconds = 3000000000; };", "3000000000"},
        {"name = \"x\";", "points"},
        {"", "points"},
        {"points = 5;", "s.conf:1: points must be a text"},
        {"points = \"points.csv\"; name = 5;", "name must be a text"},
        {"points = \"points.csv\"; trace = 5;", "trace must be a text"},
        {"points = \"points.csv\"; points = \"points.csv\";", "repeated"},
    };
    rig_write("points.csv", "%s", square);
    for (size_t i = 0; i < N_OF(cases); i++)
        check_refused(open_text(cases[i].text), -EINVAL, cases[i].part);
}

TEST(a_trace_is_read)
{
    rig_write("points.csv", "%s", square);
    rig_write("trace.csv", "seconds,factor\n0,1\n10.5,0.5\n3600,2e0\n");
    assert_int_equal(open_text("points = \"points.csv\"; trace = \"trace.csv\";"), 0);
    assert_int_equal(simulator.world.n_trace, 3);
    assert_ptr_equal(simulator.world.trace, simulator.trace);
    assert_close(simulator.trace[1].seconds, 10.5, 0);
    assert_close(simulator.trace[1].factor, 0.5, 0);
    assert_close(simulator.trace[2].seconds, 3600, 0);
    assert_close(simulator.trace[2].factor, 2, 0);
}

TEST(a_wrong_trace_is_refused_with_its_line)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "no row"},
        {"seconds,factor\n", "no row"},
        {"factor,seconds\n1,0\n", "trace.csv:1: "},
        {"seconds,factor\n0,1\n0,2\n", "trace.csv:3: seconds must ascend"},
        {"seconds,factor\n5,1\n4,2\n", "trace.csv:3: seconds must ascend"},
        {"seconds,factor\n-1,1\n", "trace.csv:2: '-1'"},
        {"seconds,factor\nx,1\n", "seconds"},
        {"seconds,factor\n0,0\n", "factor"},
        {"seconds,factor\n0,-1\n", "factor"},
        {"seconds,factor\n0,1e300\n", "factor"},
        {"seconds,factor\n1e300,1\n", "seconds"},
        {"seconds,factor\n0\n", "1 fields instead of 2"},
        {"seconds,factor\n0,1,2\n", "3 fields instead of 2"},
    };
    rig_write("points.csv", "%s", square);
    for (size_t i = 0; i < N_OF(cases); i++) {
        rig_write("trace.csv", "%s", cases[i].text);
        check_refused(open_text("points = \"points.csv\"; trace = \"trace.csv\";"), -EINVAL, cases[i].part);
    }
    check_refused(open_text("points = \"points.csv\"; trace = \"absent.csv\";"), -ENOENT, "absent.csv");
}

TEST(outputs_stay_untouched_on_failure)
{
    struct simulator_cell *cells = (struct simulator_cell *)&err;
    struct simulator_trace_step *steps = (struct simulator_trace_step *)&err;
    size_t n = 77;
    rig_write("bad.csv", "bad\n");
    assert_int_equal(simulator_table_read("bad.csv", &cells, &n, &err), -EINVAL);
    assert_int_equal(simulator_trace_read("bad.csv", &steps, &n, &err), -EINVAL);
    assert_ptr_equal(cells, &err);
    assert_ptr_equal(steps, &err);
    assert_int_equal(n, 77);
}

TEST(many_rows_are_read)
{
    FILE *file = fopen("points.csv", "w");
    assert_non_null(file);
    fputs(HEADER, file);
    for (int i = 1; i <= 1000; i++)
        fprintf(file, "randwrite,%d,%d,0,io_uring,1,%d\n", 512 * (1 + i / 500), 1 + i % 500, i);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(open_text("points = \"points.csv\";"), 0);
    assert_int_equal(simulator.n_cells, 1000);
}
