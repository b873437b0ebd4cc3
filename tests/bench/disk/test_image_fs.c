/* Tests of bench/disk on the file system of the current directory: every way moves the same bytes. */
#include "bench/base/rng.h"
#include "bench/disk/image_path.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define SIZE (4U << 20)

static char path[64];
static struct image image;
static struct image_lanes lanes;
static struct err err;
static unsigned char written[SIZE], back[SIZE];

FIXTURE(set_up)
{
    snprintf(path, sizeof(path), "image-test-%d.img", (int)getpid());
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    int result = ftruncate(fd, SIZE);
    close(fd);
    return result == 0 ? image_lanes_open(&lanes) : result;
}

FIXTURE(tear_down)
{
    image_lanes_close(&lanes);
    unlink(path);
    return 0;
}

EACH_TEST(set_up, tear_down);

static void serve(void)
{
    if (image_open(&image, path, true, 0, &err) < 0)
        fail_msg("%s", err.text);
}

TEST(every_way_moves_the_same_bytes)
{
    static const uint32_t pieces[] = {0, 64 << 10, 128 << 10}, aheads[] = {0, IMAGE_AHEAD_KERNEL, 1 << 20};
    struct rng rng;
    rng_init(&rng, 1);
    serve();
    for (size_t i = 0; i < 2 * N_OF(pieces) * N_OF(aheads); i++) {
        struct image_way way = {.direct = i % 2 != 0 && image.fd_direct >= 0,
                                .piece_bytes = pieces[i / 2 % N_OF(pieces)],
                                .ahead_bytes = aheads[i / 2 / N_OF(pieces)]};
        size_t n = SIZE - 3 * 4096 * i, offset = 4096 * i;
        rng_fill(&rng, written + offset, n);
        assert_int_equal(image_write(&image, &lanes, way, written + offset, n, offset), 0);
        assert_int_equal(image_read(&image, &lanes, way, back, n, offset), 0);
        assert_memory_equal(back, written + offset, n);
    }
    assert_int_equal(image_sync(&image), 0);
    image_close(&image);
}

/* The client's memory need not be aligned, and neither need the size of a cached request. */
/* A guest that starts again finds in the cache what it had there: direct I/O is proved at a few places alone.
 */
TEST(pages_that_are_cached_stay_when_it_is_opened)
{
    uint64_t before, after, dirty;
    const uint64_t size = 128U << 20;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (uint64_t at = 0; at < size; at += SIZE)
        assert_int_equal(pwrite(fd, written, SIZE, (off_t)at), SIZE);
    assert_int_equal(fdatasync(fd), 0);
    close(fd);
    struct target_existing existing = {.path = path};
    struct target looked_at;
    assert_int_equal(target_open_existing(&looked_at, &existing, &err), 0);
    assert_int_equal(target_cached_pages(&looked_at, 0, size, &before, &dirty), 0);
    target_close(&looked_at);
    serve();
    assert_int_equal(target_cached_pages(&image.target, 0, size, &after, &dirty), 0);
    bool is_direct = image.fd_direct >= 0;
    image_close(&image);
    if (!is_direct)
        skip();
    assert_true(before > 0 && after >= before / 2);
}

/* The kernel by itself waits for some 30 s. */
TEST(what_is_written_out_is_clean_soon)
{
    uint64_t cached, dirty = 1;
    serve();
    int code = image_write(&image, &lanes, (struct image_way){.ahead_bytes = 1}, written, SIZE, 0);
    bool can_tell = target_cached_pages(&image.target, 0, SIZE, &cached, &dirty) == 0 && dirty > 0;
    assert_int_equal(image_write_out(&image), 0);
    for (int i = 0; i < 500 && dirty > 0; i++) {
        usleep(10000);
        target_cached_pages(&image.target, 0, SIZE, &cached, &dirty);
    }
    image_close(&image);
    if (!can_tell) {
        print_message("the kernel does not tell dirty pages here\n");
        skip();
    }
    assert_int_equal(code, 0);
    assert_int_equal(dirty, 0);
}

TEST(odd_memory_and_odd_sizes_are_taken)
{
    serve();
    memset(written, 7, sizeof(written));
    struct image_way cached = {.ahead_bytes = IMAGE_AHEAD_KERNEL, .piece_bytes = 64 << 10};
    assert_int_equal(image_write(&image, &lanes, cached, written + 1, 300001, 77), 0);
    struct image_way direct = {.direct = image.fd_direct >= 0, .piece_bytes = 64 << 10};
    assert_int_equal(image_read(&image, &lanes, direct, back + 1, 1 << 20, 0), 0);
    assert_memory_equal(back + 1 + 77, written, 300001);
    assert_int_equal(back[77] + back[78 + 300001], 0);
    image_close(&image);
}

TEST(a_file_that_became_shorter_is_an_error)
{
    serve();
    assert_int_equal(truncate(path, 8192), 0);
    assert_int_equal(image_read(&image, &lanes, (struct image_way){.ahead_bytes = 1}, back, 16384, 0), -EIO);
    assert_int_equal(image_read(&image, &lanes, (struct image_way){.piece_bytes = 64 << 10, .ahead_bytes = 1},
                                back, 1 << 20, 0),
                     -EIO);
    uint64_t end;
    bool is_hole;
    assert_int_equal(image_extent(&image, 4096, &end, &is_hole), 0);
    assert_true(end == 8192);
    assert_int_equal(image_extent(&image, 8192, &end, &is_hole), -EIO);
    image_close(&image);
}

TEST(zeroes_are_read_and_holes_are_found)
{
    uint64_t end;
    bool is_hole;
    serve();
    struct image_way way = {.ahead_bytes = IMAGE_AHEAD_KERNEL};
    memset(written, 1, sizeof(written));
    assert_int_equal(image_write(&image, &lanes, way, written, SIZE, 0), 0);
    assert_int_equal(image_extent(&image, 4096, &end, &is_hole), 0);
    assert_true(!is_hole && end == SIZE);
    int code = image_zero(&image, 1 << 20, 1 << 20, true);
    if (code == -EOPNOTSUPP) {
        print_message("no holes can be punched here\n");
        image_close(&image);
        skip();
    }
    assert_int_equal(code, 0);
    assert_int_equal(image_extent(&image, 1 << 20, &end, &is_hole), 0);
    assert_true(is_hole && end == 2 << 20);
    assert_int_equal(image_read(&image, &lanes, way, back, SIZE, 0), 0);
    memset(written + (1 << 20), 0, 1 << 20);
    assert_memory_equal(back, written, SIZE);
    image_close(&image);
}

TEST(devices_and_directories_are_refused)
{
    assert_int_equal(image_open(&image, ".", true, 0, &err), -EINVAL);
    assert_int_equal(image_open(&image, "/dev/null", true, 0, &err), -EINVAL);
    assert_int_equal(image_open(&image, "no-such-file", true, 0, &err), -ENOENT);
}

TEST(an_image_of_an_odd_size_has_no_direct_requests)
{
    assert_int_equal(truncate(path, SIZE - 100), 0);
    serve();
    assert_true(image.fd_direct < 0 && image.direct_why[0] != '\0');
    assert_int_equal(image.size_bytes, SIZE - 100);
    image_close(&image);
}
