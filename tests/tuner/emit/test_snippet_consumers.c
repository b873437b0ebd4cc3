/* What fio and udev are told; and formats that take one answer. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

/* -- fio -- */

TEST(fio_repeats_the_point_in_the_measured_directory)
{
    EXPECT("fio", "api=io_uring system.test_file_bytes=256m", "=directory=/srv/data",
           "=filename=fstune-fio.tmp", "=bs=65536", "=iodepth=8", "=direct=1", "=ioengine=io_uring",
           "=size=268435456", "=io_size=268435456", "=end_fsync=1", "@ioengine=libaio with direct=1");
}

#define CACHED_READS "pattern.name=randread request_size=4k queue_depth=1 direct=0 "

TEST(fio_moves_two_seconds_or_one_pass)
{
    EXPECT("fio", CACHED_READS "throughput.mean=40960", "=io_size=81920");
    /* A quarter of a GiB: pages that were read are cached. */
    EXPECT("fio", CACHED_READS "throughput.mean=1e12", "=io_size=268435456");
    EXPECT("fio", CACHED_READS "throughput.mean=1e12 system.cache=warm", "=io_size=1073741824",
           "=invalidate=0");
    EXPECT("fio", CACHED_READS "throughput.mean=null system.cache=warm", "=io_size=1073741824");
}

TEST(fio_offers_the_rate_of_the_search)
{
    EXPECT("fio", "", "!rate_iops");
    EXPECT("fio", ".objective={\"offered_bps\":6553600,\"process\":\"linear\"}", "=rate_iops=100",
           "=rate_process=linear");
    EXPECT("fio", ".objective={\"offered_bps\":6553600,\"process\":\"poisson\"}", "=rate_iops=100",
           "=rate_process=poisson");
}

TEST(fio_without_queue_has_depth_one)
{
    EXPECT("fio", "api=psync queue_depth=1", "=iodepth=1", "=ioengine=psync");
    EXPECT("fio", "api=pool queue_depth=16", "=iodepth=1", "=numjobs=16", "@pool: fio has no workers");
}

TEST(fio_works_beside_the_image_and_never_on_it)
{
    EXPECT("fio", "image=/var/lib/vms/disk.img", "=directory=/var/lib/vms", "!disk.img");
    EXPECT("fio", "image=disk.img", "=directory=.", "!disk.img");
    EXPECT("fio", "image=/disk.img", "=directory=/", "!disk.img");
    EXPECT("fio", "image=/srv/db/", "=directory=/srv/db");
    EXPECT("fio", "image=/srv/a:b/x", "=directory=/srv/a\\:b");
    EXPECT("fio", "image=/dev/shm/x", "=directory=/dev/shm");
}

TEST(fio_refuses_devices_and_paths_that_a_job_cannot_hold)
{
    static const char *const given[] = {
        "image=/dev/sda", "image=/dev/mapper/x", "image=/a;b/x", "image=/a#b/x", "image=/a$b/x",
        "image=/a\nb/x",  "image=/a\"b/x",       "image=/a /x",  "image= /x",    "image=/a\\b/x"};
    for (size_t i = 0; i < N_OF(given); i++)
        EXPECT("fio", given[i], "?");
    EXPECT("fio", "request_size=1m queue_depth=1024 system.test_file_bytes=128m", "?too small");
    EXPECT("fio", "request_size=1m queue_depth=128 system.test_file_bytes=128m", "=iodepth=128");
}

/* -- udev -- */

/* What was in force, without the limit of its hardware and the requests that it queues. */
#define BARE                                                                                                 \
    "system.device_whole=sda system.scheduler=mq-deadline system.read_ahead_kb=128 "                         \
    "system.max_sectors_kb=1280 "
#define DISK             BARE "system.max_hw_sectors_kb=4096 system.nr_requests=64 "
#define RULE(attributes) "=ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"sda\", " attributes

TEST(udev_raises_what_stands_in_the_way_and_nothing_else)
{
    EXPECT("udev", DISK "pattern.name=randread request_size=2m queue_depth=128",
           RULE("ATTR{queue/max_sectors_kb}=\"2048\", ATTR{queue/nr_requests}=\"128\""));
    EXPECT("udev", DISK "pattern.name=read request_size=1m queue_depth=2 direct=0",
           RULE("ATTR{queue/read_ahead_kb}=\"2048\""));
    EXPECT("udev", DISK "pattern.name=read request_size=1m direct=0 queue_depth=2 system.file_system=btrfs",
           "!ATTR", "@/sys/class/bdi");
    EXPECT("udev", DISK "pattern.name=randread queue_depth=64", "!ATTR", "@nothing needs a rule");
}

TEST(udev_keeps_to_caps)
{
    EXPECT("udev", DISK "pattern.name=read request_size=4m queue_depth=64 direct=0",
           "~read_ahead_kb}=\"8192\"");
    EXPECT("udev", DISK "pattern.name=write request_size=8m queue_depth=1", "~max_sectors_kb}=\"4096\"");
    EXPECT("udev", DISK "pattern.name=randread queue_depth=1024 threads=64", "~nr_requests}=\"2048\"");
}

TEST(udev_says_what_it_does_not_know)
{
    EXPECT("udev", BARE "pattern.name=randread request_size=2m queue_depth=128", "!ATTR",
           "@the hardware's limit was not recorded", "@nr_requests: the value in force was not recorded");
    EXPECT("udev", DISK "pattern.name=randread queue_depth=128 system.scheduler=none", "!ATTR",
           "@hardware's tags", "@schedulers were not compared");
    EXPECT("udev", DISK "pattern.name=randread queue_depth=128 system.scheduler=null", "!ATTR");
}

/* The page cache makes the disk's requests, and takes writes without waiting. */
TEST(udev_leaves_the_queue_alone_for_buffered_writes)
{
    EXPECT("udev", DISK "pattern.name=write request_size=8m queue_depth=256 direct=0", "!ATTR");
}

TEST(udev_refuses_what_has_no_queue_of_its_own)
{
    static const char *const devices[] = {"dm-0", "md127", "loop3", "zram0", "nbd1",
                                          "s*a",  "sd\"a", "a\tb",  ""};
    for (size_t i = 0; i < N_OF(devices); i++) {
        char given[64];
        snprintf(given, sizeof given, "system.device_whole=%s", devices[i]);
        EXPECT("udev", given, "?");
    }
    EXPECT("udev", "", "?names no disk");
    EXPECT("udev", DISK "system.simulated=true", "?simulated");
}

/* -- all -- */

TEST(other_formats_take_one_answer)
{
    EXPECT("fio udev mysql rocksdb shell json", "+", "?takes one");
}
