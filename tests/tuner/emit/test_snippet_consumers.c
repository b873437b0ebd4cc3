/* What fio and udev are told; and formats that take one answer. */
#include "tests/tuner/emit/consumer_rig.h"

GROUP(NULL, leave);

/* -- fio -- */

TEST(fio_repeats_the_point_in_the_measured_directory)
{
    make("randwrite", 65536, 8, 1);
    fact("test_file_bytes", json_integer(256 << 20));
    EXPECT("fio", "directory=/srv/data", "filename=fstune-fio.tmp", "bs=65536", "iodepth=8", "direct=1",
           "ioengine=io_uring", "size=268435456", "io_size=268435456", "end_fsync=1",
           "#ioengine=libaio with direct=1");
}

TEST(fio_moves_two_seconds_or_one_pass)
{
    struct recommendation *recommendation = make("randread", 4096, 1, 0);
    recommendation->mean_bps = 10 * 4096;
    EXPECT("fio", "io_size=81920");
    recommendation->mean_bps = 1e12;
    EXPECT("fio", "io_size=268435456"); /* a quarter of a GiB: pages that were read are cached */
    fact("cache", json_string("warm"));
    EXPECT("fio", "io_size=1073741824", "invalidate=0");
    recommendation->mean_bps = NAN;
    EXPECT("fio", "io_size=1073741824");
}

TEST(fio_without_queue_has_depth_one)
{
    struct recommendation *recommendation = make("randread", 4096, 1, 1);
    recommendation->point.api = API_PSYNC;
    EXPECT("fio", "iodepth=1", "ioengine=psync");
    recommendation->point.api = API_POOL;
    recommendation->point.queue_depth = 16;
    EXPECT("fio", "iodepth=1", "numjobs=16", "#pool: fio has no workers");
}

TEST(fio_works_beside_the_image_and_never_on_it)
{
    static const char *const cases[][2] = {{"/var/lib/vms/disk.img", "directory=/var/lib/vms"},
                                           {"disk.img", "directory=."},
                                           {"/disk.img", "directory=/"},
                                           {"/srv/db/", "directory=/srv/db"},
                                           {"/srv/a:b/x", "directory=/srv/a\\:b"},
                                           {"/dev/shm/x", "directory=/dev/shm"}};
    make("randwrite", 65536, 8, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        request.image = cases[i][0];
        assert_int_equal(emit("fio"), 0);
        assert_true(says(cases[i][1]) && !sets("disk.img"));
    }
}

TEST(fio_refuses_devices_and_paths_that_a_job_cannot_hold)
{
    static const char *const images[] = {"/dev/sda", "/dev/mapper/x", "/a;b/x", "/a#b/x", "/a$b/x",
                                         "/a\nb/x",  "/a\"b/x",       "/a /x",  " /x",    "/a\\b/x"};
    make("randwrite", 65536, 8, 1);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        request.image = images[i];
        expect_refused("fio", "");
    }
    struct recommendation *recommendation = make("randwrite", 1 << 20, 1024, 1);
    fact("test_file_bytes", json_integer(128 << 20));
    expect_refused("fio", "too small");
    recommendation->point.queue_depth = 128;
    assert_int_equal(emit("fio"), 0);
}

/* -- udev -- */

static void make_disk(const char *pattern, uint64_t request_size, uint32_t depth, uint32_t direct)
{
    make(pattern, request_size, depth, direct);
    fact("device_whole", json_string("sda"));
    fact("scheduler", json_string("mq-deadline"));
    fact("read_ahead_kb", json_integer(128));
    fact("max_sectors_kb", json_integer(1280));
    fact("max_hw_sectors_kb", json_integer(4096));
    fact("nr_requests", json_integer(64));
}

#define RULE(attributes) "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"sda\", " attributes

TEST(udev_raises_what_stands_in_the_way_and_nothing_else)
{
    make_disk("randread", 2 << 20, 128, 1);
    EXPECT("udev", RULE("ATTR{queue/max_sectors_kb}=\"2048\", ATTR{queue/nr_requests}=\"128\""));
    make_disk("read", 1 << 20, 2, 0);
    EXPECT("udev", RULE("ATTR{queue/read_ahead_kb}=\"2048\""));
    snprintf(advices[0].file_system, sizeof advices[0].file_system, "btrfs");
    EXPECT("udev", "!ATTR", "#/sys/class/bdi");
    make_disk("randread", 65536, 64, 1);
    EXPECT("udev", "!ATTR", "#nothing needs a rule");
}

TEST(udev_keeps_to_caps)
{
    make_disk("read", 4 << 20, 64, 0);
    EXPECT("udev", "~read_ahead_kb}=\"8192\"");
    make_disk("write", 8 << 20, 1, 1);
    EXPECT("udev", "~max_sectors_kb}=\"4096\"");
    make_disk("randread", 4096, 1024, 1);
    advices[0].point.threads = 64;
    EXPECT("udev", "~nr_requests}=\"2048\"");
}

TEST(udev_says_what_it_does_not_know)
{
    make_disk("randread", 2 << 20, 128, 1);
    json_object_del(json_object_get(documents[0], "system"), "max_hw_sectors_kb");
    json_object_del(json_object_get(documents[0], "system"), "nr_requests");
    EXPECT("udev", "!ATTR", "#the hardware's limit was not recorded",
           "#nr_requests: the value in force was not recorded");
    make_disk("randread", 65536, 128, 1);
    fact("scheduler", json_string("none"));
    EXPECT("udev", "!ATTR", "#hardware's tags", "#schedulers were not compared");
    json_object_del(json_object_get(documents[0], "system"), "scheduler");
    EXPECT("udev", "!ATTR");
}

/* The page cache makes the disk's requests, and takes writes without waiting. */
TEST(udev_leaves_the_queue_alone_for_buffered_writes)
{
    make_disk("write", 8 << 20, 256, 0);
    EXPECT("udev", "!ATTR");
}

TEST(udev_refuses_what_has_no_queue_of_its_own)
{
    static const char *const devices[] = {"dm-0", "md127", "loop3", "zram0", "nbd1",
                                          "s*a",  "sd\"a", "a b",   ""};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        make_disk("randread", 65536, 128, 1);
        fact("device_whole", json_string(devices[i]));
        expect_refused("udev", "");
    }
    make("randread", 65536, 128, 1);
    expect_refused("udev", "");
    make_disk("randread", 65536, 128, 1);
    advices[0].simulated = true;
    expect_refused("udev", "simulated");
}

/* -- all -- */

TEST(other_formats_take_one_answer)
{
    static const char *const names[] = {"fio", "udev", "postgresql", "mysql", "rocksdb", "shell", "json"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make_four();
        request.n_more = 1;
        expect_refused(names[i], "");
        assert_non_null(strstr(err.text, "takes one"));
    }
}
