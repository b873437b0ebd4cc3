/* Tests of tuner/nightly/disk_control: the socket's mode, what is found in its place, what is foreseen. */
#include "bench/base/clock.h"
#include "tests/tuner/nightly/disk_rig.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static struct disk_control control, second;

static int open_control(struct disk_control *opened, const char *path)
{
    return disk_control_open(opened, &rig.served, path, &rig.err);
}

TEST(the_socket_is_its_owners_alone_and_goes_with_the_disk)
{
    struct stat status;
    rig_serve();
    mode_t mask = umask(0);
    int result = open_control(&control, "control-test");
    umask(mask);
    assert_int_equal(result, 0);
    assert_int_equal(stat("control-test", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    disk_control_close(&control);
    assert_int_equal(access("control-test", F_OK), -1);
    disk_close(&rig.served);
}

TEST(what_is_there_and_no_socket_or_answers_stays)
{
    struct stat status;
    rig_serve();
    assert_int_equal(open_control(&control, rig.path), -EADDRINUSE);
    assert_contains(rig.err.text, "another path");
    assert_int_equal(stat(rig.path, &status), 0);
    assert_int_equal(status.st_size, RIG_IMAGE_BYTES);
    assert_int_equal(open_control(&control, "control-test"), 0);
    assert_int_equal(open_control(&second, "control-test"), -EADDRINUSE);
    assert_int_equal(access("control-test", F_OK), 0);
    disk_control_close(&control);
    disk_close(&rig.served);
}

TEST(a_socket_that_a_killed_process_left_makes_room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control-test"};
    int left = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    rig_serve();
    assert_int_equal(bind(left, (const struct sockaddr *)&address, sizeof(address)), 0);
    close(left);
    assert_int_equal(open_control(&control, "control-test"), 0);
    disk_control_close(&control);
    disk_close(&rig.served);
}

TEST(the_status_says_that_a_change_waits_for_the_next_request)
{
    struct disk_gate_client client = {0};
    static _Alignas(4096) unsigned char block[4096];
    rig_serve();
    bool can_direct = rig.served.ways.can_direct;
    if (can_direct) {
        rig_ask("pin direct");
        CHECK_HAS(rig_ask("status"), "setting: cached, soon direct\n");
        assert_int_equal(disk_read(&rig.served, &client, block, sizeof(block), 0), 0);
        CHECK_HAS(rig_ask("status"), "setting: direct\n");
    }
    disk_close(&rig.served);
    if (!can_direct)
        skip();
}

/* Two kinds took turns until now, of half a minute each. */
static void live_regularly(double begun_seconds_ago)
{
    struct phases *phases = &rig.served.online.phases;
    double now = (double)clock_now_ns(&clock_monotonic) / (double)CLOCK_NS_PER_S;
    for (int i = 20; i >= 0; i--)
        phases_change(phases, kind_find(i % 2 == 0 ? "random-read-small" : "seq-read-large"),
                      now - begun_seconds_ago - 30 * i);
}

TEST(the_status_says_what_is_foreseen_and_what_was_refused)
{
    rig_serve();
    CHECK_HAS(rig_ask("status"), "next: unknown\n", "refused for latency: 0\n");
    rig.served.online.n_refused = 3;
    live_regularly(10.1);
    CHECK_HAS(rig_ask("status"), "next: seq-read-large in 20 s (right 7 of 7 times)\n",
              "refused for latency: 3\n");
    rig_ask("forget");
    CHECK_HAS(rig_ask("status"), "next: unknown\n");
    live_regularly(100);
    CHECK_HAS(rig_ask("status"), "next: unknown\n");
    disk_close(&rig.served);
}
