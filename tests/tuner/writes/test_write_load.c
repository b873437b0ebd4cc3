/* Writes are generated as asked for, and traces are read exactly or refused with their line. */
#include "tests/test.h"
#include "tuner/writes/write_load.h"

#include <errno.h>
#include <sys/mman.h>

static struct write_load load;
static struct err err;

FIXTURE(done)
{
    write_load_done(&load);
    return 0;
}

EACH_TEST(NULL, done);

static int generate(const struct settings_prediction *asked, uint64_t seed)
{
    write_load_done(&load);
    err = (struct err){0};
    return write_load_generate(asked, seed, &load, &err);
}

/* A trace of these bytes, a zero byte among them or not; called "T" in messages. */
static int read_bytes(const char *bytes, size_t size)
{
    char path[32];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    write_load_done(&load);
    err = (struct err){0};
    int result = write_load_read(path, &load, &err);
    close(fd);
    return result;
}

static int read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

static void check_chunk(size_t i, uint32_t file, uint64_t offset, uint64_t size, double delay_s)
{
    assert_true(i < load.n);
    assert_int_equal(load.chunks[i].file, file);
    assert_int_equal(load.chunks[i].offset_bytes, offset);
    assert_int_equal(load.chunks[i].size_bytes, size);
    assert_close(load.chunks[i].delay_s, delay_s, 0);
}

TEST(sequential_writes_follow_each_other_and_the_last_is_the_rest)
{
    const struct settings_prediction asked = {
        .total_bytes = 10, .request_size_bytes = 4, .delay_ns = 500000000};
    assert_int_equal(generate(&asked, 0), 0);
    assert_int_equal(load.n, 3);
    check_chunk(0, 0, 0, 4, 0.5);
    check_chunk(1, 0, 4, 4, 0.5);
    check_chunk(2, 0, 8, 2, 0.5);
    assert_int_equal(load.total_bytes, 10);
    assert_int_equal(load.n_files, 1);
    assert_string_equal(load.files[0], "");
}

TEST(rewriting_begins_before_the_end_of_the_write_before)
{
    const struct settings_prediction asked = {
        .total_bytes = 2560, .request_size_bytes = 1024, .rewrite_share = 0.25};
    assert_int_equal(generate(&asked, 0), 0);
    assert_int_equal(load.n, 3);
    check_chunk(0, 0, 0, 1024, 0);
    check_chunk(1, 0, 768, 1024, 0);
    check_chunk(2, 0, 1792 - 128, 512, 0);
    assert_int_equal(load.total_bytes, 2560);
}

TEST(random_writes_cover_the_whole_once_in_an_order_of_the_seed)
{
    const struct settings_prediction asked = {
        .random = true, .total_bytes = 4096 * 100 + 1, .request_size_bytes = 4096};
    bool seen[101] = {false};
    size_t n_in_place = 0, n_same = 0;
    uint64_t first[101];
    assert_int_equal(generate(&asked, 7), 0);
    assert_int_equal(load.n, 101);
    for (size_t i = 0; i < load.n; i++) {
        const size_t slot = load.chunks[i].offset_bytes / 4096;
        assert_true(load.chunks[i].offset_bytes % 4096 == 0 && slot <= 100 && !seen[slot]);
        assert_int_equal(load.chunks[i].size_bytes, slot == 100 ? 1 : 4096);
        seen[slot] = true;
        n_in_place += slot == i;
        first[i] = load.chunks[i].offset_bytes;
    }
    assert_true(n_in_place < 20);
    assert_int_equal(generate(&asked, 7), 0);
    for (size_t i = 0; i < load.n; i++)
        assert_int_equal(load.chunks[i].offset_bytes, first[i]);
    assert_int_equal(generate(&asked, 8), 0);
    for (size_t i = 0; i < load.n; i++)
        n_same += load.chunks[i].offset_bytes == first[i];
    assert_true(n_same < 20);
}

TEST(too_many_writes_are_refused)
{
    const struct settings_prediction asked = {.total_bytes = 20000001, .request_size_bytes = 1};
    assert_int_equal(generate(&asked, 0), -EINVAL);
    assert_non_null(strstr(err.text, "20000001"));
    assert_null(load.chunks);
}

TEST(a_trace_gives_its_writes_in_order)
{
    assert_int_equal(read_text("file,offset,size,delay_s\na,0,4096,0\nb,64k,512,1e-3\na,4096,1,2.5\n"), 0);
    assert_int_equal(load.n, 3);
    check_chunk(0, 0, 0, 4096, 0);
    check_chunk(1, 1, 65536, 512, 1e-3);
    check_chunk(2, 0, 4096, 1, 2.5);
    assert_int_equal(load.n_files, 2);
    assert_string_equal(load.files[0], "a");
    assert_string_equal(load.files[1], "b");
    assert_int_equal(load.total_bytes, 4609);
}

TEST(columns_come_in_any_order_and_the_file_may_be_absent)
{
    assert_int_equal(read_text("delay_s,size,offset\n0.5,8,16"), 0);
    assert_int_equal(load.n, 1);
    check_chunk(0, 0, 16, 8, 0.5);
    assert_int_equal(load.n_files, 1);
    assert_string_equal(load.files[0], "");
}

TEST(quotes_line_ends_a_mark_and_empty_lines_change_nothing)
{
    assert_int_equal(read_text("\xEF\xBB\xBF\"file\",offset,\"size\",delay_s\r\n"
                               "\"a, \"\"b\"\"\",\"0\",1,0\r\n\r\n\"\",1,\"2\",\"3\"\r\n"
                               "c d,0,1,0\r\n"),
                     0);
    assert_int_equal(load.n, 3);
    assert_int_equal(load.n_files, 3);
    assert_string_equal(load.files[0], "a, \"b\"");
    assert_string_equal(load.files[1], "");
    assert_string_equal(load.files[2], "c d");
    check_chunk(1, 1, 1, 2, 3);
}

TEST(many_files_are_told_apart)
{
    AUTO(auto_free) char *text = malloc(1 << 20);
    int used = snprintf(text, 1 << 20, "file,offset,size,delay_s\n");
    for (int i = 0; i < 20000; i++)
        used += snprintf(text + used, 64, "file%d,%d,1,0\n", i * 7919 % 5000, i);
    assert_int_equal(read_bytes(text, (size_t)used), 0);
    assert_int_equal(load.n, 20000);
    assert_int_equal(load.n_files, 5000);
    for (size_t i = 0; i < load.n; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", (int)i * 7919 % 5000);
        assert_string_equal(load.files[load.chunks[i].file], name);
    }
}

#define HEADER "offset,size,delay_s\n"

static const struct {
    const char *text, *part;
} wrong_traces[] = {
    {"", ":1: no write in it"},
    {"\n", ":1: "},
    {HEADER, ":1: no write in it"},
    {"offset,size\n0,1\n", ":1: the column delay_s is missing"},
    {"0,1,0\n", ":1: '0' is no column"},
    {"offset,size,delay_s,colour\n", ":1: 'colour' is no column"},
    {"offset,size,size,delay_s\n", ":1: the column size stands there twice"},
    {"file,offset,size,delay_s,file\n", ":1: the column file stands there twice"},
    {"offset,size,delay_s,\n", ":1: '' is no column"},
    {HEADER "0,1\n", ":2: 2 fields instead of 3"},
    {HEADER "0,1,0,\n", ":2: more than the header's 3 fields"},
    {HEADER "0,1,0\n\n0,1,0,9\n", ":4: more than"},
    {HEADER "-1,1,0\n", ":2: offset: '-1' is no number of bytes"},
    {HEADER "0,-1,0\n", ":2: size: '-1'"},
    {HEADER "0,0,0\n", ":2: size: 0 bytes are no write"},
    {HEADER "0,,0\n", ":2: size: ''"},
    {HEADER "0, 1,0\n", ":2: size: ' 1'"},
    {HEADER "0,4q,0\n", ":2: size: '4q'"},
    {HEADER "0,1.5,0\n", ":2: size: '1.5'"},
    {HEADER "0,18446744073709551616,0\n", ":2: size: '18446744073709551616' is too large"},
    {HEADER "18446744073709551615,1,0\n", ":2: offset: '18446744073709551615' is too large"},
    {HEADER "4611686018427387904,1,0\n", ":2: the write ends behind"},
    {HEADER "0,4611686018427387904,0\n0,1,0\n", ":3: the writes up to here"},
    {HEADER "0,1,-1\n", ":2: delay_s: '-1' is out of range"},
    {HEADER "0,1,1e300\n", ":2: delay_s: '1e300' is out of range"},
    {HEADER "0,1,1e400\n", ":2: delay_s: '1e400' is out of range"},
    {HEADER "0,1,nan\n", ":2: delay_s: 'nan' is no number"},
    {HEADER "0,1,inf\n", ":2: delay_s: 'inf' is no number"},
    {HEADER "0,1,0x10\n", ":2: delay_s: '0x10' is no number"},
    {HEADER "0,1,1ms\n", ":2: delay_s: '1ms' is no number"},
    {HEADER "0,1,\n", ":2: delay_s: '' is no number"},
    {HEADER "\"0,1,0\n", ":2: a quote is not closed"},
    {HEADER "\"0\n\",1,0\n", ":2: a quote is not closed"},
    {HEADER "\"0\"1,1,0\n", ":2: something follows the closing quote"},
    {HEADER "0\"1\",1,0\n", ":2: a quote inside a field"},
};

TEST(wrong_traces_are_refused_with_their_line)
{
    for (size_t i = 0; i < N_OF(wrong_traces); i++) {
        if (read_text(wrong_traces[i].text) != -EINVAL || strstr(err.text, wrong_traces[i].part) == NULL)
            fail_msg("trace %zu: '%s' and not '%s'", i, err.text, wrong_traces[i].part);
        assert_null(load.chunks);
        assert_null(load.files);
    }
}

TEST(zero_bytes_and_endless_lines_are_refused_with_their_line)
{
    static const char zero[] = HEADER "0,1,0\n0,1\0,0\n";
    AUTO(auto_free) char *line = malloc(100000);
    assert_int_equal(read_bytes(zero, sizeof zero - 1), -EINVAL);
    assert_non_null(strstr(err.text, ":3: holds a zero byte"));
    memset(line, '1', 100000);
    assert_int_equal(read_bytes(line, 100000), -EINVAL);
    assert_non_null(strstr(err.text, ":1: is longer than"));
}

TEST(a_trace_that_cannot_be_read_says_why)
{
    assert_int_equal(write_load_read("/nowhere/trace.csv", &load, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nowhere/trace.csv"));
    assert_int_equal(write_load_read("/", &load, &err), -EISDIR);
}
