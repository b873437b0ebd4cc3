/* What databases are told: legal, no less durable than before, and silent about what was not measured. */
#include "tests/tuner/emit/consumer_rig.h"

GROUP(NULL, leave);

/* -- postgresql -- */

TEST(postgresql_before_17_has_the_depth_alone)
{
    make("read", 262144, 16, 1);
    EXPECT("postgresql", "effective_io_concurrency = 16", "maintenance_io_concurrency = 16",
           "!io_combine_limit", "!io_method", "#not mapped: direct 1");
    request.version[0] = 16;
    EXPECT("postgresql", "!io_combine_limit");
    request.version[0] = 12;
    expect_refused("postgresql", "");
}

TEST(postgresql_joins_blocks_from_17_on)
{
    make("read", 300 * 1024, 16, 1);
    request.version[0] = 17;
    EXPECT("postgresql", "io_combine_limit = 256kB", "!io_max_combine_limit", "!io_method");
    request.version[0] = 18;
    EXPECT("postgresql", "io_combine_limit = 296kB", "io_max_combine_limit = 296kB");
    advices[0].point.request_size_bytes = 4 << 20;
    EXPECT("postgresql", "io_combine_limit = 1024kB");
    advices[0].point.request_size_bytes = 4096;
    EXPECT("postgresql", "!combine");
}

TEST(postgresql_18_names_a_method_and_its_fallback)
{
    struct recommendation *recommendation = make("randread", 8192, 64, 1);
    request.version[0] = 18;
    EXPECT("postgresql", "io_method = io_uring", "#io_method = worker", "!combine");
    recommendation->point.api = API_POOL;
    EXPECT("postgresql", "io_method = worker", "io_workers = 32");
    recommendation->point.api = API_LIBAIO;
    recommendation->point.queue_depth = 1;
    EXPECT("postgresql", "io_workers = 3");
    recommendation->point.api = API_PSYNC;
    EXPECT("postgresql", "!io_method");
}

TEST(postgresql_says_nothing_of_reads_that_were_not_measured)
{
    make("randwrite", 8192, 1024, 1);
    EXPECT("postgresql", "!concurrency");
    request.version[0] = 18;
    EXPECT("postgresql", "!io_method");
    make("randread", 8192, 1024, 1);
    EXPECT("postgresql", "effective_io_concurrency = 1000");
}

TEST(durable_writes_on_request_are_left_to_the_commits)
{
    static const char *const names[] = {"postgresql", "mysql", "rocksdb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        make("randwrite", 16384, 8, 1);
        assert_int_equal(emit(names[i]), 0);
        assert_false(explains("every write durable"));
        request.directsync = true;
        assert_int_equal(emit(names[i]), 0);
        assert_true(explains("not mapped: every write durable"));
    }
}

/* -- mysql -- */

TEST(mysql_flushes_directly_or_with_fsync)
{
    make("randread", 16384, 8, 1);
    EXPECT("mysql", "[mysqld]", "innodb_flush_method = O_DIRECT");
    advices[0].point.direct = 0;
    EXPECT("mysql", "innodb_flush_method = fsync");
    request.version[0] = 11;
    EXPECT("mysql", "innodb_data_file_buffering = ON", "!flush_method");
}

TEST(mysql_never_lowers_threads)
{
    struct recommendation *recommendation = make("randread", 16384, 8, 1);
    EXPECT("mysql", "!io_threads");
    recommendation->point.threads = 64;
    EXPECT("mysql", "innodb_read_io_threads = 64", "!write_io_threads");
    make("randrw:50", 16384, 8, 1)->point.threads = 8;
    EXPECT("mysql", "innodb_read_io_threads = 8", "innodb_write_io_threads = 8");
}

TEST(mysql_capacity_is_three_quarters_of_durable_page_writes)
{
    struct recommendation *recommendation = make("randwrite", 65536, 8, 1);
    recommendation->mean_bps = 65536 * 1000.0;
    recommendation->ci_low_bps = NAN;
    recommendation->iops = 1000;
    EXPECT("mysql", "innodb_io_capacity = 750");
    recommendation->ci_low_bps = 0.8 * recommendation->mean_bps;
    EXPECT("mysql", "innodb_io_capacity = 600");
    /* Requests of 4 KiB: four of them are a page. */
    recommendation->point.request_size_bytes = 4096;
    recommendation->mean_bps = 4096 * 1000.0;
    recommendation->ci_low_bps = NAN;
    EXPECT("mysql", "innodb_io_capacity = 187");
    recommendation->iops = 1e7;
    recommendation->mean_bps = 4e10;
    EXPECT("mysql", "innodb_io_capacity = 20000");
}

TEST(mysql_has_no_capacity_without_measured_writes)
{
    static const char *const patterns[] = {"randread", "write", "randrw:50"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        make(patterns[i], 16384, 8, 1);
        assert_int_equal(emit("mysql"), 0);
        assert_false(sets("capacity"));
    }
    struct recommendation *recommendation = make("randwrite", 16384, 8, 0);
    recommendation->point.sync = SYNC_NONE; /* memory's rate */
    EXPECT("mysql", "!capacity");
    recommendation = make("randwrite", 16384, 8, 1);
    recommendation->iops = NAN;
    EXPECT("mysql", "!capacity");
    recommendation = make("randwrite", 16384, 8, 1);
    recommendation->mean_bps = 16384 * 100;
    recommendation->ci_low_bps = NAN;
    EXPECT("mysql", "!capacity", "#below its least value");
}

/* -- rocksdb -- */

TEST(rocksdb_is_told_of_the_directions_that_were_measured)
{
    make("randread", 16384, 8, 1);
    EXPECT("rocksdb", "  use_direct_reads=true", "  allow_mmap_reads=false", "!compaction",
           "#writes were not measured");
    make("rw:50", 1 << 20, 8, 0)->point.threads = 6;
    EXPECT("rocksdb", "  use_direct_reads=false", "  use_direct_io_for_flush_and_compaction=false",
           "  compaction_readahead_size=1048576", "!mmap", "  writable_file_max_buffer_size=1048576",
           "  max_background_jobs=6");
    make("write", 4608, 8, 1);
    EXPECT("rocksdb", "  writable_file_max_buffer_size=65536", "!use_direct_reads");
    make("write", 65536 + 512, 8, 1);
    EXPECT("rocksdb", "  writable_file_max_buffer_size=69632");
}

/* -- seastar -- */

TEST(seastar_has_all_four_figures)
{
    make_four();
    assert_int_equal(emit("seastar"), 0);
    assert_non_null(strstr(text, "\ndisks:\n  - mountpoint: \"/srv/data\"\n    read_iops: 250000\n"
                                 "    read_bandwidth: 3000000000\n    write_iops: 80000\n"
                                 "    write_bandwidth: 1500000000\n"));
    request.image = "/mnt/\"q\\";
    EXPECT("seastar", "  - mountpoint: \"/mnt/\\\"q\\\\\"");
}

TEST(seastar_names_what_is_missing)
{
    make_four();
    request.n_more = 1;
    expect_refused("seastar", "read_bandwidth (--pattern read");
    assert_non_null(strstr(err.text, "write_bandwidth (--pattern write"));
    assert_null(strstr(err.text, "read_iops"));
}

TEST(seastar_refuses_answers_that_do_not_fit)
{
    make_four();
    advices[1].point.request_size_bytes = 32768;
    expect_refused("seastar", "randwrite at 32k supplies none");
    make_four();
    advices[2].point.direct = 0;
    expect_refused("seastar", "");
    make_four();
    advices[3] = advices[2];
    expect_refused("seastar", "before");
    make_four();
    snprintf(advices[3].path, sizeof advices[3].path, "/elsewhere");
    expect_refused("seastar", "");
    make_four();
    advices[0].iops = NAN;
    expect_refused("seastar", "");
    advices[0].iops = 1e300;
    expect_refused("seastar", "");
    make_four();
    request.image = "/a\xff";
    expect_refused("seastar", "");
    request.image = "/a\xc2\x85";
    expect_refused("seastar", "");
    request.image = "/a\nb";
    expect_refused("seastar", "");
}

TEST(mysql_says_that_a_simulated_answer_is_why_there_is_no_capacity)
{
    make("randwrite", 16384, 8, 1)->simulated = true;
    EXPECT("mysql", "!capacity", "#because the answer is simulated", "---pattern randwrite");
}
