/* Tests of tuner/writes/host_file: the round trip, forms of values, and what is refused, with its line. */
#include "tests/tuner/rig.h"
#include "tuner/writes/host_file.h"

#include <errno.h>

GROUP(rig_enter, rig_leave);

static struct err err;

/* Values that have no short form, each its own. */
static struct host_file example(void)
{
    struct host_file file = {
        .page_size_bytes = 4096, .max_request_bytes = 1310720, .writeback_interval_s = 5};
    double *values = (double *)(void *)&file.host;
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        values[i] = 1e9 / (3 + (double)i);
        file.intervals[i] = (struct interval){NAN, NAN};
        if (host_parameters[i].measured)
            file.intervals[i] = (struct interval){values[i] / 3, values[i] * 1.1};
    }
    file.host.sc_w_s = 1.0 / 3e6;
    file.host.c_sk_s = 0;
    file.host.limit_bg_bytes = 1e8;
    file.host.limit_hard_bytes = 5017939968;
    strcpy(file.hostname, "a \"b\" \\ c");
    strcpy(file.path, "/x\ty");
    strcpy(file.date, "2026-01-02T03:04:05Z");
    return file;
}

static void write_example(const struct host_file *file)
{
    FILE *out = fopen("host.conf", "w");
    assert_non_null(out);
    assert_int_equal(host_file_write(out, file, NULL), 0);
    assert_int_equal(fclose(out), 0);
}

TEST(what_is_written_reads_back_exactly)
{
    struct host_file file = example(), back;
    write_example(&file);
    assert_int_equal(host_file_read("host.conf", &back, &err), 0);
    assert_memory_equal(&back.host, &file.host, sizeof file.host);
    for (size_t i = 0; i < HOST_N_PARAMETERS; i++) {
        assert_true(isnan(back.intervals[i].low) == isnan(file.intervals[i].low));
        if (host_parameters[i].measured)
            assert_memory_equal(&back.intervals[i], &file.intervals[i], sizeof file.intervals[i]);
    }
    assert_close(back.page_size_bytes, 4096, 0);
    assert_close(back.max_request_bytes, 1310720, 0);
    assert_close(back.writeback_interval_s, 5, 0);
    assert_string_equal(back.hostname, file.hostname);
    assert_string_equal(back.path, file.path);
    assert_string_equal(back.kernel, "");
}

TEST(the_rate_of_first_touch_may_be_missing)
{
    struct host_file file = example(), back;
    file.host.bw_ramdisk_first_touch_bps = 0;
    write_example(&file);
    assert_int_equal(host_file_read("host.conf", &back, &err), 0);
    assert_true(back.host.bw_ramdisk_first_touch_bps == 0);
}

static const char whole[] = "bw_mem = \"8G\"; bw_ramdisk = \"3.5g\";\n"
                            "bw_reduced = 2000000000; bw_dev = 1e9;\n"
                            "bw_rdev = \"1m\"; sc_w = 0.0;\n"
                            "sc_sw = \"30us\"; c_sk = 1.5e-5;\n"
                            "bs = 512; bf = \"4k\"; limit_bg = \"2g\";\n"
                            "limit_hard = 5017939968L; dirty_expire = \"30s\";\n";

TEST(numbers_and_texts_with_suffixes_are_read)
{
    struct host_file file;
    rig_write("host.conf", "%s", whole);
    assert_int_equal(host_file_read("host.conf", &file, &err), 0);
    assert_true(file.host.bw_mem_bps == 8.0 * (1 << 30));
    assert_true(file.host.bw_ramdisk_bps == 3.5 * (1 << 30));
    assert_true(file.host.bw_reduced_bps == 2e9 && file.host.bw_dev_bps == 1e9);
    assert_true(file.host.sc_sw_s == 30e-6 && file.host.c_sk_s == 1.5e-5 && file.host.sc_w_s == 0);
    assert_true(file.host.bf_bytes == 4096 && file.host.bs_bytes == 512);
    assert_true(file.host.limit_hard_bytes == 5017939968.0 && file.host.dirty_expire_s == 30);
    assert_true(isnan(file.intervals[0].low));
}

static const struct {
    const char *line, *why;
    bool alone; /* without the lines of a whole file before it */
} refused[] = {
    {"nonsense = 1;\n", "host.conf:7: nonsense: is not known", false},
    {"\nbs = 4096;\n", "host.conf:8: the setting is repeated", false},
    {"page_size = \"4q\";\n", "host.conf:7: page_size: is no size", false},
    {"page_size = \"4.k\";\n", "host.conf:7: page_size: is no size", false},
    {"page_size = \"4.5\";\n", "host.conf:7: page_size: is no size", false},
    {"page_size = -1;\n", "must not be negative", false},
    {"writeback_interval = \"5\";\n", "is no duration", false},
    {"bw_ramdisk_first_touch = true;\n", "is no rate", false},
    {"bw_mem_interval = [2.0, 1.0];\n", "host.conf:7: bw_mem_interval: is no interval", false},
    {"bw_mem_interval = [2.0];\n", "is no interval", false},
    {"bs_interval = [1.0, 2.0];\n", "bs_interval: is not known", false},
    {"hostname = 3;\n", "wants a text", false},
    {"page_size = 99999999999;\n", "host.conf:7: ", false},
    {"bf = 0.5;\n", "host.conf:1: bf: is out of range; use 1 to 1e18", true},
    {"bw_dev = 1e-300;\n", "bw_dev: is out of range; use 1 to 1e18", true},
    {"bw_dev = 1e300;\n", "bw_dev: is out of range; use 1 to 1e18", true},
    {"bw_ramdisk_first_touch = 0.1;\n", "use 1 to 1e18", true},
    {"sc_w = 1e300;\n", "host.conf:1: sc_w: is out of range; use at most 1e9 seconds", true},
    {"dirty_expire = 1e10;\n", "use at most 1e9 seconds", true},
    {"bw_mem = 1.0;\n\nbw_ramdisk = 1.0;\n", "host.conf:3: the file ends without bw_reduced", true},
    {"bw_mem = 0.0;\n", "host.conf:1: bw_mem: must be more than 0", true},
    {"sc_w = -1.0;\n", "must not be negative", true},
};

TEST(bad_and_missing_values_are_refused_with_their_line)
{
    for (size_t i = 0; i < N_OF(refused); i++) {
        struct host_file file = {.page_size_bytes = 7};
        rig_write("host.conf", "%s%s", refused[i].alone ? "" : whole, refused[i].line);
        assert_int_equal(host_file_read("host.conf", &file, &err), -EINVAL);
        if (strstr(err.text, refused[i].why) == NULL)
            fail_msg("'%s' lacks '%s'", err.text, refused[i].why);
        assert_true(file.page_size_bytes == 7);
    }
}

TEST(a_missing_file_is_told)
{
    struct host_file file;
    assert_int_equal(host_file_read("missing.conf", &file, &err), -ENOENT);
}

TEST(limits_in_the_wrong_order_are_refused)
{
    struct host_file file = example();
    file.host.limit_bg_bytes = file.host.limit_hard_bytes;
    write_example(&file);
    assert_int_equal(host_file_read("host.conf", &file, &err), -EINVAL);
    assert_non_null(strstr(err.text, "limit_bg is not below limit_hard"));
}

TEST(a_full_device_is_an_error_of_writing)
{
    struct host_file file = example();
    AUTO(auto_fclose) FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    setvbuf(out, NULL, _IONBF, 0);
    assert_int_equal(host_file_write(out, &file, NULL), -EIO);
}
