/* fstune advise write as a user runs it. */
#include "tests/tuner/commands/cli_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST                                                                                                 \
    "bw_mem = 8e9; bw_ramdisk = 4e9; bw_ramdisk_first_touch = 4e8; bw_reduced = 2e9; bw_dev = 5e8;\n"        \
    "bw_rdev = 1e9; sc_w = 0.0; sc_sw = 1e-4; c_sk = 1e-4; bs = 512; bf = 4096;\n"                           \
    "limit_bg = 4e8; limit_hard = 8e8; dirty_expire = 30.0;\n"

FIXTURE(enter_with_host)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write("host.conf", "%s", HOST);
    return 0;
}

GROUP(enter_with_host, rig_leave);
GROUP_NEEDS(rig_find_program);

static double mode_seconds(const json_t *document, const char *name)
{
    const json_t *modes = json_object_get(document, "modes");
    for (size_t i = 0; i < json_array_size(modes); i++) {
        const json_t *mode = json_array_get(modes, i);
        if (strcmp(json_string_value(json_object_get(mode, "mode")), name) == 0)
            return cli_number(mode, "seconds");
    }
    fail_msg("no mode %s", name);
    return 0;
}

TEST(document_is_marked_as_a_prediction)
{
    rig_run_line(cli_next(), "advise write --host host.conf --total 4000000 --request-size 400000 --json");
    json_t *document = cli_document();
    assert_int_equal(run.code, 0);
    cli_has_text(document, "schema", "fstune/write-advice/1");
    assert_true(json_is_true(json_object_get(document, "predicted")));
    assert_true(json_is_false(json_object_get(document, "measured")));
    assert_close(mode_seconds(document, "buffered"), 1e-3, 1e-9);
    assert_close(mode_seconds(document, "direct"), 9e-3, 1e-9);
    assert_close(cli_number(document, "free_run_bytes"), 4e8, 4e6);
    const json_t *curve = json_object_get(document, "curve");
    assert_true(json_array_size(curve) > 20);
    double last = 0;
    for (size_t i = 0; i < json_array_size(curve); i++) {
        double bytes = json_number_value(json_object_get(json_array_get(curve, i), "bytes"));
        assert_true(bytes > last);
        last = bytes;
    }
}

/* One that goes on reads an empty file, and ends with 2. */
TEST(ctrl_c_ends_it_at_once)
{
    static const char *const arguments[] = {"advise", "write",          "--host", "pipe", "--total",
                                            "1m",     "--request-size", "4k",     NULL};
    assert_int_equal(mkfifo("pipe", 0600), 0);
    rig_start(cli_next(), NULL, arguments);
    int fd = open("pipe", O_WRONLY | O_CLOEXEC); /* waits for it to read */
    assert_true(fd >= 0);
    kill(run.pid, SIGINT);
    close(fd);
    rig_finish(&run);
    assert_int_equal(run.code, 130);
    assert_int_equal(unlink("pipe"), 0);
}
