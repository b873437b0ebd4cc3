/* Tests of tuner/emit/fio_job: what stands in the job, and that fio takes every one. */
#include "tests/tuner/rig.h"
#include "tuner/base/child.h"
#include "tuner/emit/fio_job.h"

#include <errno.h>

static struct pattern pattern;
static struct point point;
static struct fio_job job;

static void make_job(const char *name, enum api api, uint32_t depth, enum sync sync)
{
    assert_int_equal(pattern_parse(name, &pattern, NULL), 0);
    point = (struct point){.request_size_bytes = 65536,
                           .queue_depth = depth,
                           .direct = 1,
                           .api = api,
                           .threads = 1,
                           .sync = sync};
    job = (struct fio_job){.pattern = &pattern,
                           .point = &point,
                           .file = "/tmp/file",
                           .file_bytes = 1 << 30,
                           .io_bytes = 100 << 20,
                           .cold = true};
}

/* Does a line of the job say this? */
static bool says(const char *line)
{
    char *text = NULL, wanted[256];
    assert_int_equal(fio_job_text(&job, &text), 0);
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    bool found = strstr(text, wanted) != NULL;
    free(text);
    return found;
}

TEST(skew_content_and_rate_are_told)
{
    make_job("randwrite", API_LIBAIO, 4, SYNC_END);
    assert_true(says("scramble_buffers=0"));
    job.skew = (struct skew){.kind = SKEW_ZIPF, .theta = 0.99};
    job.content = (struct content){.zero_share = 0.5, .repeat_share = 0.3};
    job.rate_iops = 5000;
    assert_true(says("random_distribution=zipf:0.99"));
    assert_true(says("buffer_compress_percentage=50"));
    assert_true(says("dedupe_percentage=30"));
    assert_false(says("scramble_buffers=0"));
    assert_true(says("rate_iops=5000") && says("rate_process=linear"));
    job.skew = (struct skew){.kind = SKEW_HOT, .hot_share = 0.1, .hot_access_share = 0.9};
    job.random_rate = true;
    assert_true(says("random_distribution=zoned:90/10:10/90"));
    assert_true(says("rate_process=poisson"));
    /* The workers of a pool are jobs of fio's, each with its part of the rate. */
    point.api = API_POOL;
    assert_true(says("rate_iops=1250"));
}

TEST(two_sizes_are_those_of_reads_and_writes)
{
    make_job("randrw:70", API_IO_URING, 8, SYNC_END);
    factors_set_write_size(&point, 1 << 20);
    job.file_bytes = (1 << 30) + 65536;
    assert_true(says("bs=65536,1048576"));
    assert_true(says("size=1073741824"));
    assert_true(says("io_size=104857600"));
    assert_true(
        says("; not the same: fio's random reads and writes of two sizes go all over the file, fstune's "
             "to every second block each"));
    make_job("rw:70", API_IO_URING, 8, SYNC_END);
    factors_set_write_size(&point, 4096);
    assert_true(says("bs=65536,4096"));
    factors_set_write_size(&point, 65536);
    assert_true(says("bs=65536"));
}

TEST(patterns_are_in_the_words_of_fio)
{
    static const struct {
        const char *name, *rw, *mix, *random;
    } rows[] = {
        {"read", "rw=read", NULL, NULL},
        {"write", "rw=write", NULL, NULL},
        {"randread", "rw=randread", NULL, NULL},
        {"randwrite", "rw=randwrite", NULL, NULL},
        {"rw:70", "rw=rw", "rwmixread=70", NULL},
        {"randrw:30", "rw=randrw", "rwmixread=30", NULL},
        {"seq-read=40,rand-read=60", "rw=randread", NULL, "percentage_random=60,0"},
        {"seq-read=30,rand-read=10,seq-write=45,rand-write=15", "rw=randrw", "rwmixread=40",
         "percentage_random=25,25"},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        make_job(rows[i].name, API_IO_URING, 8, SYNC_END);
        assert_true(says(rows[i].rw));
        assert_true(rows[i].mix == NULL || says(rows[i].mix));
        assert_true(rows[i].random == NULL || says(rows[i].random));
    }
}

TEST(apis_are_engines)
{
    static const char *const engines[API_N] = {
        [API_PSYNC] = "ioengine=psync",   [API_PVEC] = "ioengine=pvsync",       [API_POOL] = "ioengine=psync",
        [API_LIBAIO] = "ioengine=libaio", [API_IO_URING] = "ioengine=io_uring",
    };
    for (enum api api = 0; api < API_N; api++) {
        make_job("read", api, api == API_PSYNC ? 1 : 8, SYNC_END);
        bool queues = api == API_LIBAIO || api == API_IO_URING;
        assert_true(says(engines[api]));
        assert_true(says(queues ? "iodepth=8" : "iodepth=1"));
        assert_true(says(api == API_POOL ? "numjobs=8" : "numjobs=1"));
        assert_true(says(api == API_PVEC ? "bs=524288" : "bs=65536"));
        assert_int_equal(fio_job_has_equal(&point), api != API_PVEC);
    }
}

TEST(threads_get_equal_parts_of_whole_requests)
{
    make_job("read", API_LIBAIO, 8, SYNC_END);
    point.threads = 3;
    /* 16384 requests in the file: 5461 each; 1600 to move: 533 each */
    assert_true(says("size=357892096") && says("offset_increment=357892096"));
    assert_true(says("numjobs=3") && says("thread=1"));
    assert_true(says("io_size=34930688"));
    assert_int_equal(fio_job_bytes(&job), 3 * 34930688);
    job.shared_region = true;
    assert_true(says("size=1073741824") && !says("offset_increment=1073741824"));
}

TEST(at_least_one_request_is_moved)
{
    make_job("read", API_POOL, 8, SYNC_END);
    job.io_bytes = 1;
    assert_true(says("io_size=65536"));
    assert_int_equal(fio_job_bytes(&job), 8 * 65536);
}

TEST(durability_is_asked_for_where_something_is_written)
{
    make_job("write", API_PSYNC, 1, SYNC_END);
    assert_true(says("end_fsync=1") && !says("fdatasync=1"));
    make_job("write", API_PSYNC, 1, SYNC_EACH);
    assert_true(says("fdatasync=1") && !says("end_fsync=1"));
    make_job("write", API_PSYNC, 1, SYNC_NONE);
    assert_true(!says("fdatasync=1") && !says("end_fsync=1"));
    make_job("read", API_PSYNC, 1, SYNC_END);
    assert_true(!says("fdatasync=1") && !says("end_fsync=1"));
}

TEST(the_file_is_only_made_where_it_is_fios_own)
{
    make_job("read", API_PSYNC, 1, SYNC_END);
    assert_true(says("filename=/tmp/file") && says("allow_file_create=0") && !says("overwrite=1"));
    job.directory = "/tmp/a:b";
    assert_true(says("directory=/tmp/a\\:b") && says("overwrite=1") && !says("allow_file_create=0"));
}

TEST(a_name_that_fio_would_misread_is_not_written)
{
    static const char *const names[] = {"a;b", "a#b", "a\nrw=write", "${HOME}", "a\\b", " a", ""};
    for (size_t i = 0; i < N_OF(names); i++) {
        make_job("read", API_PSYNC, 1, SYNC_END);
        job.file = names[i];
        assert_true(says("filename=fstune-fio"));
        assert_false(says("rw=write"));
    }
}

TEST(the_cache_is_dropped_by_one_of_the_two)
{
    make_job("read", API_PSYNC, 1, SYNC_END);
    assert_true(says("invalidate=1") && says("fadvise_hint=0") && says("group_reporting=1"));
    job.between_replays = true;
    assert_true(says("invalidate=0") && !says("group_reporting=1"));
    job.between_replays = job.cold = false;
    job.advise = true;
    assert_true(says("invalidate=0") && says("fadvise_hint=1"));
}

static size_t count_differences(void)
{
    size_t n = 0;
    while (fio_job_difference(&pattern, &point, n) != NULL)
        n++;
    return n;
}

TEST(what_fio_cannot_do_is_said)
{
    make_job("randread", API_LIBAIO, 8, SYNC_END);
    assert_int_equal(count_differences(), 0);
    make_job("randread", API_IO_URING, 8, SYNC_END);
    assert_int_equal(count_differences(), 1);
    make_job("rw", API_POOL, 8, SYNC_END);
    assert_int_equal(count_differences(), 2);
    assert_true(says("; not the same: pool: fio has no workers on one stream; this is a job per worker, each "
                     "on a part of its own"));
    make_job("write", API_LIBAIO, 8, SYNC_EACH);
    assert_int_equal(count_differences(), 1);
    make_job("write", API_LIBAIO, 1, SYNC_EACH);
    assert_int_equal(count_differences(), 0);
    point.request_size_bytes = 1 << 20;
    assert_int_equal(count_differences(), 1);
    point.direct = 0;
    assert_int_equal(count_differences(), 0);
}

/* fstune changes eight bytes of a buffer per request; fio could only change sixteen in every sector of it. */
TEST(buffers_of_writes_stay_as_they_are)
{
    make_job("write", API_PSYNC, 1, SYNC_END);
    assert_true(says("scramble_buffers=0"));
    make_job("read", API_PSYNC, 1, SYNC_END);
    assert_false(says("scramble_buffers=0"));
}

/* fio's verdict on a file of jobs: its exit code, or -ENOENT where there is no fio. */
static int parse_with_fio(char *text)
{
    static const char *const arguments[] = {"fio", "--parse-only", "-", NULL};
    struct child_result result = {0};
    struct child child = {.arguments = arguments, .input = text};
    int code = child_run(&child, &result, NULL);
    if (code == 0 && result.code != 0)
        print_error("%s%s", text, result.errors);
    code = code < 0 ? code : result.code;
    child_free(&result);
    return code;
}

/* In one file, because a start of fio takes long; what stands in a job is no other's. */
TEST(fio_takes_every_job)
{
    static const char *const patterns[] = {
        "read",        "write", "randread", "randwrite", "rw:70", "randrw:30", "seq-read=40,rand-write=60",
        "seq-read=100"};
    char *all = NULL, *text = NULL;
    FILE *out = memory_stream(&all);
    for (size_t i = 0; i < N_OF(patterns) * API_N; i++) {
        enum api api = (enum api)(i % API_N);
        make_job(patterns[i / API_N], api, api == API_PSYNC ? 1 : 4, (enum sync)(i % SYNC_N));
        point.threads = 1 + (uint32_t)i % 3;
        job.between_replays = i % 2 == 0;
        job.directory = i % 4 == 3 ? "/tmp" : NULL;
        assert_int_equal(fio_job_text(&job, &text), 0);
        fputs(text, out);
        free(text);
    }
    fclose(out);
    int code = parse_with_fio(all);
    free(all);
    if (code == -ENOENT)
        skip();
    assert_int_equal(code, 0);
}
