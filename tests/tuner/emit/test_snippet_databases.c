/* What databases are told: legal, no less durable than before, and silent about what was not measured. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

/* -- postgresql -- */

TEST(postgresql_before_17_has_the_depth_alone)
{
    EXPECT("postgresql", "pattern.name=read request_size=256k queue_depth=16",
           "=effective_io_concurrency = 16", "=maintenance_io_concurrency = 16", "!io_combine_limit",
           "!io_method", "@not mapped: direct 1");
    EXPECT("postgresql", "pattern.name=read request_size=256k target_version=16", "!io_combine_limit");
    EXPECT("postgresql", "pattern.name=read target_version=12", "?");
}

TEST(postgresql_joins_blocks_from_17_on)
{
    EXPECT("postgresql", "pattern.name=read request_size=300k target_version=17", "=io_combine_limit = 256kB",
           "!io_max_combine_limit", "!io_method");
    EXPECT("postgresql", "pattern.name=read request_size=300k target_version=18", "=io_combine_limit = 296kB",
           "=io_max_combine_limit = 296kB");
    EXPECT("postgresql", "pattern.name=read request_size=4m target_version=18", "=io_combine_limit = 1024kB");
    EXPECT("postgresql", "pattern.name=read request_size=4k target_version=18", "!combine");
}

#define READS_18 "pattern.name=randread request_size=8k target_version=18 "

TEST(postgresql_18_names_a_method_and_its_fallback)
{
    EXPECT("postgresql", READS_18 "api=io_uring", "=io_method = io_uring", "@io_method = worker", "!combine");
    EXPECT("postgresql", READS_18 "api=pool queue_depth=64", "=io_method = worker", "=io_workers = 32");
    EXPECT("postgresql", READS_18 "queue_depth=1", "=io_workers = 3");
    EXPECT("postgresql", READS_18 "api=psync queue_depth=1", "!io_method");
}

TEST(postgresql_says_nothing_of_reads_that_were_not_measured)
{
    EXPECT("postgresql", "queue_depth=1024", "!concurrency");
    EXPECT("postgresql", "target_version=18", "!io_method");
    EXPECT("postgresql", "pattern.name=randread queue_depth=1024", "=effective_io_concurrency = 1000");
}

TEST(durable_writes_on_request_are_left_to_the_commits)
{
    EXPECT("postgresql mysql rocksdb", "", "^not mapped: every write durable");
    EXPECT("postgresql mysql rocksdb", "directsync", "@not mapped: every write durable");
}

/* -- mysql -- */

TEST(mysql_flushes_directly_or_with_fsync)
{
    EXPECT("mysql", "", "=[mysqld]", "=innodb_flush_method = O_DIRECT");
    EXPECT("mysql", "direct=0", "=innodb_flush_method = fsync");
    EXPECT("mysql", "direct=0 target_version=11", "=innodb_data_file_buffering = ON", "!flush_method");
}

TEST(mysql_never_lowers_threads)
{
    EXPECT("mysql", "pattern.name=randread", "!io_threads");
    EXPECT("mysql", "pattern.name=randread threads=64", "=innodb_read_io_threads = 64", "!write_io_threads");
    EXPECT("mysql", "pattern.name=randrw:50 threads=8", "=innodb_read_io_threads = 8",
           "=innodb_write_io_threads = 8");
}

TEST(mysql_capacity_is_three_quarters_of_durable_page_writes)
{
    EXPECT("mysql", "throughput.mean=65536000 throughput.ci_low=null iops.mean=1000",
           "=innodb_io_capacity = 750");
    EXPECT("mysql", "throughput.mean=65536000 throughput.ci_low=52428800 iops.mean=1000",
           "=innodb_io_capacity = 600");
    /* Requests of 4 KiB: four of them are a page. */
    EXPECT("mysql", "request_size=4k throughput.mean=4096000 throughput.ci_low=null iops.mean=1000",
           "=innodb_io_capacity = 187");
    EXPECT("mysql", "request_size=4k throughput.mean=4e10 throughput.ci_low=null iops.mean=1e7",
           "=innodb_io_capacity = 20000");
}

TEST(mysql_has_no_capacity_without_measured_writes)
{
    EXPECT("mysql", "pattern.name=randread", "!capacity");
    EXPECT("mysql", "pattern.name=write", "!capacity");
    EXPECT("mysql", "pattern.name=randrw:50", "!capacity");
    EXPECT("mysql", "direct=0 sync=none", "!capacity"); /* memory's rate */
    EXPECT("mysql", "iops.mean=null", "!capacity");
    EXPECT("mysql", "throughput.mean=1638400 throughput.ci_low=null", "!capacity", "@below its least value");
    EXPECT("mysql", "system.simulated=true", "!capacity", "@because the answer is simulated",
           "^--pattern randwrite");
}

/* -- rocksdb -- */

TEST(rocksdb_is_told_of_the_directions_that_were_measured)
{
    EXPECT("rocksdb", "pattern.name=randread", "=  use_direct_reads=true", "=  allow_mmap_reads=false",
           "!compaction", "@writes were not measured");
    EXPECT("rocksdb", "pattern.name=rw:50 request_size=1m direct=0 threads=6", "=  use_direct_reads=false",
           "=  use_direct_io_for_flush_and_compaction=false", "=  compaction_readahead_size=1048576", "!mmap",
           "=  writable_file_max_buffer_size=1048576", "=  max_background_jobs=6");
    EXPECT("rocksdb", "pattern.name=write request_size=4608", "=  writable_file_max_buffer_size=65536",
           "!use_direct_reads");
    EXPECT("rocksdb", "pattern.name=write request_size=66048", "=  writable_file_max_buffer_size=69632");
}

/* -- seastar -- */

#define RANDREAD  "pattern.name=randread request_size=4k iops.mean=250000.9 "
#define RANDWRITE "pattern.name=randwrite request_size=16k iops.mean=80000 "
#define READ      "pattern.name=read throughput.mean=3e9 "
#define WRITE     "pattern.name=write request_size=1m throughput.mean=1.5e9 "
#define FOUR      RANDREAD "+ " RANDWRITE "+ " READ "+ " WRITE

TEST(seastar_has_all_four_figures)
{
    EXPECT("seastar", FOUR,
           "\ndisks:\n  - mountpoint: \"/srv/data\"\n    read_iops: 250000\n    read_bandwidth: 3000000000\n"
           "    write_iops: 80000\n    write_bandwidth: 1500000000\n");
    EXPECT("seastar", FOUR "image=/mnt/\"q\\", "=  - mountpoint: \"/mnt/\\\"q\\\\\"");
}

TEST(seastar_names_what_is_missing)
{
    EXPECT("seastar", RANDREAD "+ " RANDWRITE,
           "?all four figures are needed, and read_bandwidth (--pattern read --request-size 1m), "
           "write_bandwidth (--pattern write --request-size 1m) missing");
}

TEST(seastar_refuses_answers_that_do_not_fit)
{
    EXPECT("seastar", RANDREAD "+ " RANDWRITE "request_size=32k", "?randwrite at 32k supplies none");
    EXPECT("seastar", FOUR "direct=0", "?is buffered");
    EXPECT("seastar", RANDREAD "+ " READ "+ " READ, "?before");
    EXPECT("seastar", FOUR "system.path=/elsewhere", "?another machine or directory");
    EXPECT("seastar", RANDREAD "iops.mean=null", "?has no figure");
    EXPECT("seastar", RANDREAD "iops.mean=1e300", "?has no figure");
    EXPECT("seastar", FOUR "image=/a\xff", "?no plain text in UTF-8");
    EXPECT("seastar", FOUR "image=/a\xc2\x85", "?control character");
    EXPECT("seastar", FOUR "image=/a\nb", "?control character");
}
