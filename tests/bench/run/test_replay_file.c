/* Tests of bench/run/replay_file: streams, whatever the file below them answers. */
#include "bench/run/replay_internal.h"
#include "bench/target/target_scratch.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>

/* A file that the test plays: what each call of write answers, 0: all of it. */
struct played {
    const ssize_t *answers;
    size_t n_answers, n_calls;
    size_t n_bytes;
    off64_t position;
};

static ssize_t play_write(void *cookie, const char *bytes, size_t size)
{
    struct played *played = cookie;
    ssize_t answer = played->n_calls < played->n_answers ? played->answers[played->n_calls] : 0;
    (void)bytes;
    played->n_calls++;
    if (answer < 0) {
        errno = (int)-answer;
        return 0; /* that is how a cookie fails */
    }
    size_t n = answer > 0 && (size_t)answer < size ? (size_t)answer : size;
    played->n_bytes += n;
    played->position += (off64_t)n;
    return (ssize_t)n;
}

static int play_seek(void *cookie, off64_t *offset, int whence)
{
    struct played *played = cookie;
    if (whence != SEEK_SET)
        *offset += played->position;
    played->position = *offset;
    return 0;
}

static struct replay_file open_played(struct played *played)
{
    const cookie_io_functions_t functions = {.write = play_write, .seek = play_seek};
    struct replay_file file = {.fd = -1, .stream = fopencookie(played, "w", functions)};
    assert_non_null(file.stream);
    return file;
}

static unsigned char bytes[20000];

/* What was in its buffer is lost. */
TEST(an_interrupted_stream_is_broken)
{
    static const ssize_t answers[] = {-EINTR};
    struct played played = {.answers = answers, .n_answers = 1};
    AUTO(replay_file_close) struct replay_file file = open_played(&played);
    uint32_t n_short = 0;
    assert_int_equal(replay_file_write(&file, bytes, sizeof(bytes), 0, &n_short), -EIO);
}

TEST(seeking_writes_the_buffer_first)
{
    static const ssize_t answers[] = {-ENOSPC};
    struct played played = {.answers = answers, .n_answers = 1};
    AUTO(replay_file_close) struct replay_file file = open_played(&played);
    uint32_t n_short = 0;
    assert_int_equal(replay_file_write(&file, bytes, 100, 0, &n_short), 0);
    assert_int_equal(played.n_calls, 0);
    assert_int_equal(replay_file_write(&file, bytes, 100, 50, &n_short), -ENOSPC);
    assert_int_equal(played.n_calls, 1);
}

TEST(a_full_disk_ends_a_stream)
{
    static const ssize_t answers[] = {-ENOSPC, -ENOSPC, -ENOSPC, -ENOSPC};
    struct played played = {.answers = answers, .n_answers = 4};
    struct replay_file file = open_played(&played);
    uint32_t n_short = 0;
    assert_int_equal(replay_file_write(&file, bytes, sizeof(bytes), 0, &n_short), -ENOSPC);
    replay_file_close(&file);
    replay_file_close(&file);
}

TEST(a_flush_that_fails_says_why)
{
    static const ssize_t answers[] = {-EIO, -EIO, -EIO};
    struct played played = {.answers = answers, .n_answers = 3};
    AUTO(replay_file_close) struct replay_file file = open_played(&played);
    uint32_t n_short = 0;
    assert_int_equal(replay_file_write(&file, bytes, 100, 0, &n_short), 0);
    assert_int_equal(replay_file_flush(&file), -EIO);
}

static struct target make_target(void)
{
    struct target target = {0};
    struct err err = {0};
    if (target_scratch_create(&target, directory, 1, MIB, &err) != 0)
        fail_msg("%s", err.text);
    return target;
}

static off_t size_of(const struct target *target)
{
    struct stat status;
    assert_int_equal(fstat(target->fd, &status), 0);
    return status.st_size;
}

TEST(small_writes_stay_in_the_buffer_until_they_are_flushed)
{
    AUTO(target_close) struct target target = make_target();
    AUTO(replay_file_close) struct replay_file file;
    uint32_t n_short = 0;
    assert_int_equal(replay_file_open(&file, &target, 0, REPLAY_STDIO, NULL), 0);
    assert_int_equal(replay_file_write(&file, bytes, 512, 0, &n_short), 0);
    assert_int_equal(size_of(&target), 0);
    assert_int_equal(replay_file_flush(&file), 0);
    assert_int_equal(size_of(&target), 512);
    assert_int_equal(replay_file_write(&file, bytes, 512, 2048, &n_short), 0); /* elsewhere */
    assert_int_equal(replay_file_flush(&file), 0);
    assert_int_equal(size_of(&target), 2560);
}

TEST(closing_throws_the_buffer_away)
{
    AUTO(target_close) struct target target = make_target();
    struct replay_file file;
    uint32_t n_short = 0;
    assert_int_equal(replay_file_open(&file, &target, 0, REPLAY_STDIO, NULL), 0);
    assert_int_equal(replay_file_write(&file, bytes, 512, 0, &n_short), 0);
    replay_file_close(&file);
    assert_int_equal(size_of(&target), 0);
}

TEST(dirty_memory_is_known)
{
    uint64_t dirty_bytes = UINT64_MAX;
    if (access("/proc/vmstat", R_OK) != 0)
        skip();
    assert_int_equal(replay_dirty_read(&dirty_bytes), 0);
    assert_true(dirty_bytes % 4096 == 0 && dirty_bytes < UINT64_C(1) << 50);
}
