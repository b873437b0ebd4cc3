/* Tests of tuner/profile/import: what the formats say becomes requests, and what nobody can understand is
 * counted. */
#include "models/profile/summary.h"
#include "tests/test.h"
#include "tuner/profile/import.h"

#include <errno.h>
#include <sys/mman.h>

static struct recording recording;
static struct summary summary;
static struct err err;

FIXTURE(done)
{
    record_close(&recording);
    return 0;
}

EACH_TEST(NULL, done);

static int import(const char *format, const char *text)
{
    char path[32];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    recording = (struct recording){0};
    int code = import_file(&recording, format, path, STORE_MIN_BYTES, &err);
    close(fd);
    if (code == 0)
        summary_make(&summary, recording.store);
    return code;
}

TEST(an_iolog_has_sizes_and_flushes_and_no_depth)
{
    assert_int_equal(import("fio-iolog",
                            "fio version 3 iolog\n0 /f add\n1 /f open\n10 /f write 0 4096\n20 /f sync 0 0\n"
                            "30 /f write 4096 4096\n2000030 /f read 0 512\n40 /f close\n"),
                     0);
    assert_int_equal(summary.sizes[PROFILE_WRITE].n, 2);
    assert_int_equal(summary.sizes[PROFILE_READ].modes[0].value, 512);
    assert_int_equal(recording.store->n_flushed_writes, 1);
    assert_close(summary.depth_mean, 0, 0);
    assert_close(summary.seconds, 2.00003, 1e-9);
}

TEST(an_iolog_of_version_2_has_no_times)
{
    assert_int_equal(import("fio-iolog", "fio version 2 iolog\n/f open\n/f write 0 4096\n/f wait 5 0\n"), 0);
    assert_int_equal(summary.sizes[PROFILE_WRITE].n, 1);
    assert_int_equal(recording.n_refused, 0);
}

TEST(numbers_of_an_iolog_end_where_their_words_end)
{
    assert_int_equal(import("fio-iolog", "fio version 3 iolog\n1 /f write 0 4096\n2 /f write 0 9e99\n"
                                         "3 /f write 4k 4096\n4us /f write 0 4096\n"),
                     0);
    assert_int_equal(summary.sizes[PROFILE_WRITE].n, 1);
    assert_int_equal(recording.n_refused, 3);
}

TEST(what_is_no_iolog_is_refused)
{
    assert_int_equal(import("fio-iolog", "fio version 4 iolog\n0 /f write 0 4096\n"), -EINVAL);
    assert_contains(err.text, "fio-iolog");
}

TEST(blkparse_counts_what_the_driver_gets_until_it_is_complete)
{
    assert_int_equal(import("blkparse",
                            "  8,0 1 1 0.000000000 7 Q R 0 + 8 [x]\n  8,0 1 2 0.001000000 7 D R 0 + 8 [x]\n"
                            "  8,0 1 3 0.002000000 7 D R 8 + 8 [x]\n  8,0 1 4 0.003000000 0 C R 0 + 8 [0]\n"
                            "  8,0 1 5 0.005000000 0 C R 8 + 8 [0]\n  8,0 1 6 0.006 9 D FWFS 64 + 8 [y]\n"
                            "  8,0 1 6 0.007 0 C FWFS 64 + 8 [0]\nCPU0 (8,0):\n Reads Queued: 1\n"),
                     0);
    assert_int_equal(recording.n_refused, 0);
    assert_int_equal(summary.sizes[PROFILE_READ].modes[0].value, 4096);
    assert_int_equal(recording.store->n_flushes, 1);
    assert_int_equal(recording.store->n_durable, 1);
    assert_int_equal(summary.depth_max, 2);
    assert_int_equal(flight_depth(&recording.store->flight), 0);
}

static const char trace[] =
    "10 1700000000.000000 openat(AT_FDCWD</tmp>, \"f\", O_RDWR|O_DIRECT) = 3</tmp/f> <0.000012>\n"
    "10 1700000000.100000 read(3</tmp/f>,  <unfinished ...>\n"
    "11 1700000000.100100 pwrite64(3</tmp/f>, \"a, b) = 3\"..., 4096, 8192) = 4096 <0.000010>\n"
    "10 1700000000.100200 <... read resumed>\"x\"..., 4096) = 4096 <0.0002>\n"
    "10 1700000000.200000 read(3</tmp/f>, \"x\"..., 4096) = 100 <0.0001>\n"
    "10 1700000000.300000 read(3</tmp/f>, \"\", 4096) = 0 <0.0001>\n"
    "10 1700000000.300500 read(4<pipe:[7]>, \"abc\", 4096) = 3 <0.0001>\n"
    "10 1700000000.301000 read(5</lib/libc.so.6>, \"\\177ELF\\2\\1\"..., 832) = 832 <0.0001>\n"
    "10 1700000000.310000 read(3</tmp/f>, 0x7f, 4096) = -1 EIO (Input/output error) <0.0001>\n"
    "10 1700000000.400000 fdatasync(3</tmp/f>) = 0 <0.5>\n"
    "10 1700000001.000000 +++ exited with 0 +++\n";

TEST(a_trace_of_calls_has_positions_halves_and_flushes)
{
    assert_int_equal(import("strace", trace), 0);
    assert_int_equal(recording.n_refused, 0);
    assert_int_equal(summary.sizes[PROFILE_READ].n, 2);
    assert_int_equal(summary.sizes[PROFILE_WRITE].n, 1);
    assert_close(summary.share[SUMMARY_SEQ_READ], 2 / 3.0, 1e-12);
    assert_close(summary.direct_share, 1, 0);
    assert_int_equal(summary.depth_max, 2);
    assert_int_equal(summary.n_threads, 2);
    assert_int_equal(flight_depth(&recording.store->flight), 0);
    assert_int_equal(recording.store->n_flushed_writes, 1);
    assert_close(summary.flush_s, 0.5, 1e-9);
}

TEST(asynchronous_requests_of_a_trace_are_in_flight_until_they_are_collected)
{
    assert_int_equal(import("strace", "1.0 io_submit(0x7f, 2, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PREAD, "
                                      "aio_fildes=3</tmp/f>, aio_buf=0x1, "
                                      "aio_nbytes=4096, aio_offset=8192}, {aio_data=0, "
                                      "aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3</tmp/f>, "
                                      "aio_buf=0x1, aio_nbytes=512, aio_offset=0}]) = 2 <0.000017>\n"
                                      "2.0 io_getevents(0x7f, 1, 2, [{data=0}], NULL) = 2 <1.0>\n"),
                     0);
    assert_int_equal(summary.sizes[PROFILE_READ].n, 1);
    assert_int_equal(summary.sizes[PROFILE_WRITE].modes[0].value, 512);
    assert_close(summary.depth_mean, 2, 1e-9);
    assert_close(summary.async_share, 1, 0);
}

TEST(tables_of_block_traces_are_read)
{
    assert_int_equal(import("msr", "128166372003061629,usr,0,Read,8192,16384,10000\n"
                                   "128166372003066629,usr,0,Write,0,4096,10000\nnonsense\n"),
                     0);
    assert_int_equal(recording.n_refused, 1);
    assert_int_equal(summary.depth_max, 2);
    assert_close(summary.depth_mean, 2.0 / 1.5, 1e-6);
    record_close(&recording);
    assert_int_equal(
        import("alibaba", "419,W,8792731648,16384,1577808144360767\n725,R,0,4096,1577808144360813\n"), 0);
    assert_int_equal(summary.n_requests, 2);
    assert_close(summary.depth_mean, 0, 0);
}

TEST(numbers_that_do_not_fit_are_refused_or_lost_and_counted)
{
    assert_int_equal(
        import("alibaba", "1,W,99999999999999999999,1,1\n1,W,1,18446744073709551615,1\n1,R,0,512,1\n"), 0);
    assert_int_equal(recording.n_refused, 1);
    assert_int_equal(recording.store->count[STORE_LOST_REQUESTS], 1);
    assert_int_equal(summary.n_requests, 1);
}

TEST(a_line_without_end_is_refused_in_constant_memory)
{
    static char text[400000];
    memset(text, 'x', sizeof text - 1);
    static const char row[] = "\n1,R,0,512,1\n";
    for (size_t i = 0; row[i] != '\0'; i++)
        text[sizeof text - 40 + i] = row[i];
    assert_int_equal(import("alibaba", text), 0);
    assert_int_equal(summary.n_requests, 1);
    assert_int_equal(recording.n_refused, 2);
}

TEST(an_unknown_format_and_a_missing_file_are_refused)
{
    recording = (struct recording){0};
    assert_int_equal(import_file(&recording, "pcap", "/dev/null", STORE_MIN_BYTES, &err), -EINVAL);
    assert_int_equal(import_file(&recording, "msr", "/nowhere/at/all", STORE_MIN_BYTES, &err), -ENOENT);
    assert_contains(err.text, "/nowhere/at/all");
}
