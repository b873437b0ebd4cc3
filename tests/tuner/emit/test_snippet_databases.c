/* What databases are told: legal, no less durable than before, and silent about what was not measured. */
#include "tests/tuner/emit/snippet_rig.h"

GROUP(NULL, leave);

/* -- postgresql -- */

/* As the server reads: pages through its page cache. */
#define PAGES  "pattern.name=randread request_size=8k direct=0 "
#define POOL   PAGES "api=pool queue_depth=16 "
#define SCAN   "pattern.name=read direct=0 api=psync queue_depth=1 "
#define COMMIT "pattern.name=write request_size=8k direct=0 api=psync queue_depth=1 sync=each "

TEST(postgresql_takes_the_depth_of_reads_through_the_page_cache)
{
    EXPECT("postgresql", POOL, "=effective_io_concurrency = 16", "=maintenance_io_concurrency = 16",
           "!io_method", "!io_combine_limit", "@for commit_delay measure as the server does");
    EXPECT("postgresql", PAGES "api=psync queue_depth=1", "=effective_io_concurrency = 1");
    EXPECT("postgresql", PAGES "api=pool queue_depth=1024", "=effective_io_concurrency = 1000");
    EXPECT("postgresql", POOL "target_version=12", "?");
}

TEST(postgresql_takes_nothing_from_another_path)
{
    static const char *const wishes[] = {
        POOL "direct=1",
        POOL "request_size=4k",
        POOL "threads=2",
        POOL "system.cache=warm",
        PAGES "api=libaio queue_depth=1",
        PAGES "api=io_uring",
        SCAN "direct=1 request_size=256k target_version=17",
        SCAN "request_size=4k target_version=17",
        SCAN "request_size=256k queue_depth=8 api=pool target_version=17",
        COMMIT "sync=end",
        COMMIT "direct=1",
        COMMIT "request_size=64k",
        COMMIT "queue_depth=4 api=pool",
        "pattern.name=randwrite",
        "pattern.name=rw:50 request_size=8k direct=0",
    };
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
        EXPECT("postgresql", wishes[i], "@was not measured as the server does its I/O",
               "!concurrency =", "!combine_limit =", "!commit_delay =", "!page_cost =", "!io_method =",
               "@fstune recommend --pattern");
}

TEST(postgresql_joins_blocks_from_17_on)
{
    EXPECT("postgresql", SCAN "request_size=512k target_version=17", "=io_combine_limit = 256kB",
           "!io_max_combine_limit", "!io_method", "!concurrency =");
    EXPECT("postgresql", SCAN "request_size=256k target_version=18", "=io_combine_limit = 256kB",
           "=io_max_combine_limit = 256kB");
    EXPECT("postgresql", SCAN "request_size=4m target_version=18", "=io_combine_limit = 1024kB");
    EXPECT("postgresql", SCAN "request_size=256k target_version=16", "!io_combine_limit =");
    /* Never below the server's own. */
    EXPECT("postgresql", SCAN "request_size=64k target_version=18",
           "!combine_limit =", "@stays at the server's 128 kB");
}

TEST(postgresql_18_names_a_method_and_its_fallback)
{
    EXPECT("postgresql", PAGES "api=io_uring target_version=18", "=io_method = io_uring",
           "@io_method = worker", "!combine_limit =");
    EXPECT("postgresql", SCAN "request_size=256k target_version=18", "@psync,pool,io_uring --json");
    EXPECT("postgresql", PAGES "api=pool queue_depth=64 target_version=18", "=io_method = worker",
           "=io_workers = 32");
    EXPECT("postgresql", PAGES "api=psync queue_depth=1 target_version=18", "!io_method =");
}

/* A line of its own would delay every commit, whether that pays or not. */
TEST(postgresql_is_not_delayed_but_told_of_half_a_flush)
{
    EXPECT("postgresql", COMMIT "latency_ns.mean=300000", "@try 150 with pgbench",
           "!commit_delay =", "!concurrency =");
    EXPECT("postgresql", COMMIT "latency_ns.mean=1e9", "@try 100000 with");
    EXPECT("postgresql", COMMIT "latency_ns.mean=null", "!pgbench");
}

/* A row of single pages one after another: its rate, as the members of a point. */
#define PAGE_ROW(mean, low, high, replays)                                                                   \
    ".points=[{\"request_size\":8192,\"queue_depth\":1,\"direct\":0,\"api\":\"psync\",\"threads\":1,"        \
    "\"sync\":"                                                                                              \
    "\"end\",\"mean\":" mean ",\"ci_low\":" low ",\"ci_high\":" high ",\"replays\":" replays "}] "

TEST(postgresql_weighs_pages_at_random_against_pages_in_order)
{
    EXPECT("postgresql",
           POOL PAGE_ROW("1e8", "9e7", "1.1e8", "5") "+ " SCAN PAGE_ROW("2.5e8", "2e8", "3e8", "5"),
           "=seq_page_cost = 1.0", "=random_page_cost = 2.5", "@2.5 times (1.8 to 3.3)");
    EXPECT("postgresql",
           POOL PAGE_ROW("1e8", "9e7", "1.1e8", "5") "+ " SCAN PAGE_ROW("1e8", "9e7", "1.1e8", "5"),
           "=random_page_cost = 1.1");
    EXPECT("postgresql",
           POOL PAGE_ROW("1e7", "9e6", "1.1e7", "5") "+ " SCAN PAGE_ROW("4e8", "3e8", "5e8", "5"),
           "!page_cost =", "@stays at the server's 4");
    /* Too few runs, or one side alone. */
    EXPECT("postgresql",
           POOL PAGE_ROW("1e8", "9e7", "1.1e8", "2") "+ " SCAN PAGE_ROW("2e8", "1e8", "3e8", "5"),
           "!page_cost");
    EXPECT("postgresql", POOL PAGE_ROW("1e8", "9e7", "1.1e8", "5"), "!page_cost =");
}

TEST(postgresql_takes_one_answer_for_each_of_its_ways)
{
    EXPECT("postgresql", POOL "+ " SCAN "request_size=256k + " COMMIT "latency_ns.mean=300000",
           "=effective_io_concurrency = 16", "@try 150 with pgbench", "!measure as the server does, here",
           "!commit_delay =");
    EXPECT("postgresql", POOL "+ " POOL "queue_depth=8", "?second of its pattern");
    EXPECT("postgresql", POOL "+ " SCAN "system.hostname=other", "?another machine");
}

TEST(durable_writes_on_request_are_left_to_the_commits)
{
    EXPECT("postgresql mysql rocksdb", "", "^not mapped: every write durable");
    EXPECT("postgresql mysql rocksdb", "directsync", "@not mapped: every write durable");
}

/* -- mysql -- */

TEST(mysql_flushes_directly_or_with_fsync)
{
    EXPECT("mysql", "request_size=16k", "=[mysqld]", "=innodb_flush_method = O_DIRECT");
    EXPECT("mysql", "request_size=16k direct=0", "=innodb_flush_method = fsync");
    EXPECT("mysql", "request_size=16k direct=0 target_version=11", "=innodb_data_file_buffering = ON",
           "!flush_method");
}

TEST(mysql_takes_nothing_of_other_pages)
{
    EXPECT("mysql", "request_size=64k",
           "!flush_method =", "!capacity =", "@fstune recommend --pattern randwrite --request-size 16k");
    EXPECT("mysql", "pattern.name=read request_size=16k",
           "!flush_method =", "@fstune recommend --pattern randread --request-size 16k");
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
    EXPECT("mysql", "request_size=16k throughput.mean=16384000 throughput.ci_low=null iops.mean=1000",
           "@try up to 750:", "!capacity =");
    EXPECT("mysql", "request_size=16k throughput.mean=16384000 throughput.ci_low=13107200 iops.mean=1000",
           "@try up to 600:", "!capacity =");
    EXPECT("mysql", "request_size=16k throughput.mean=4e10 throughput.ci_low=null iops.mean=1e7",
           "@try up to 20000:", "!capacity =");
}

TEST(mysql_has_no_capacity_without_measured_writes)
{
    EXPECT("mysql", "request_size=16k pattern.name=randread", "!capacity");
    EXPECT("mysql", "pattern.name=write", "!capacity");
    EXPECT("mysql", "pattern.name=randrw:50", "!capacity");
    EXPECT("mysql", "request_size=16k direct=0 sync=none", "!capacity"); /* memory's rate */
    EXPECT("mysql", "request_size=16k iops.mean=null", "!capacity");
    EXPECT("mysql", "request_size=16k throughput.mean=1638400 throughput.ci_low=null iops.mean=100",
           "!capacity", "@below its least value");
    EXPECT("mysql", "request_size=16k system.simulated=true", "!capacity", "@because the answer is simulated",
           "^were not measured");
}

/* -- rocksdb -- */

/* Its calls wait. */
#define WAITS "api=psync queue_depth=1 "

TEST(rocksdb_is_told_of_the_directions_that_were_measured)
{
    EXPECT("rocksdb", WAITS "pattern.name=randread", "=  use_direct_reads=true", "=  allow_mmap_reads=false",
           "!compaction", "@writes were not measured");
    EXPECT("rocksdb", WAITS "pattern.name=rw:50 request_size=4m direct=0 threads=6",
           "=  use_direct_reads=false", "=  use_direct_io_for_flush_and_compaction=false",
           "=  compaction_readahead_size=4194304", "!mmap", "=  writable_file_max_buffer_size=4194304",
           "=  max_background_jobs=6");
}

TEST(rocksdb_keeps_sizes_that_are_above_what_was_measured)
{
    EXPECT("rocksdb", WAITS "pattern.name=write request_size=4608",
           "!writable_file_max_buffer_size=", "@max_buffer_size - 65536 bytes are enough",
           "!use_direct_reads=");
    EXPECT("rocksdb", WAITS "pattern.name=write request_size=66048",
           "@max_buffer_size - 69632 bytes are enough");
    EXPECT("rocksdb", WAITS "pattern.name=rw:50 request_size=1m direct=1",
           "!readahead_size=", "!buffer_size=", "@readahead_size - 1048576 bytes are enough",
           "@max_buffer_size - 1048576 bytes are enough");
    EXPECT("rocksdb", WAITS "pattern.name=read request_size=1m direct=0",
           "=  compaction_readahead_size=1048576");
    EXPECT("rocksdb", WAITS "pattern.name=read request_size=2m direct=1",
           "@readahead_size - 2097152 bytes are enough");
}

TEST(rocksdb_takes_nothing_of_many_in_flight)
{
    EXPECT("rocksdb", "pattern.name=read request_size=1m queue_depth=8", "!readahead", "!use_direct",
           "@fstune recommend --pattern read --api psync");
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
