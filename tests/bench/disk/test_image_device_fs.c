/* Tests of bench/disk with block devices: who may serve one, and that the ways move the same bytes there. */
#include "bench/disk/image_path.h"
#include "tests/bench/target/device_rig.h"

#include <errno.h>

static struct image image;
static struct image_lanes lanes;
static unsigned char written[MIB], back[MIB];

static void opens_as(bool writable, uint64_t device_bytes, int code, const char *word)
{
    err = (struct err){0};
    int result = image_open(&image, rig.loop, writable, device_bytes, &err);
    if (result == 0)
        image_close(&image);
    check_text(result, code, word);
}

TEST(a_device_is_written_only_by_its_exact_size)
{
    make_disk("");
    opens_as(true, 0, -EPERM, "device-size=67108864");
    opens_as(true, DISK_BYTES - 512, -EPERM, "device-size says 67108352 bytes");
    opens_as(true, DISK_BYTES, 0, "");
    opens_as(false, 0, 0, "");
}

TEST(what_is_on_a_device_is_told_and_may_stay)
{
    make_disk("");
    make_file_system(rig.loop);
    opens_as(true, 0, -EPERM, "libblkid finds ext4 \"precious\"");
    opens_as(true, DISK_BYTES, 0, "");
}

TEST(a_device_in_use_is_only_read)
{
    make_disk("");
    make_file_system(rig.loop);
    rig_mount(rig.loop, rig.point);
    rig.mounted = true;
    opens_as(true, DISK_BYTES, -EBUSY, "mounted");
    opens_as(false, 0, 0, "");
}

TEST(a_read_only_device_is_only_read)
{
    make_disk("--read-only");
    opens_as(true, DISK_BYTES, -EROFS, "nbdkit -r");
    opens_as(false, 0, 0, "");
}

TEST(the_size_of_a_device_is_not_taken_for_a_file)
{
    make_disk("");
    assert_int_equal(image_open(&image, rig.image, true, DISK_BYTES, &err), -EINVAL);
    check_text(-EINVAL, -EINVAL, "device-size");
}

TEST(nobody_else_gets_a_device_while_it_is_served)
{
    make_disk("");
    assert_int_equal(image_open(&image, rig.loop, true, DISK_BYTES, &err), 0);
    int fd = open(rig.loop, O_RDONLY | O_EXCL | O_CLOEXEC), code = errno;
    struct image second;
    int result = image_open(&second, rig.loop, true, DISK_BYTES, &err);
    image_close(&image);
    assert_true(fd < 0 && code == EBUSY && result == -EBUSY);
}

static void move_there_and_back(struct image_way way, uint64_t offset, unsigned char with)
{
    memset(written, with, sizeof(written));
    assert_int_equal(image_write(&image, &lanes, way, written, sizeof(written), offset), 0);
    assert_int_equal(image_read(&image, &lanes, way, back, sizeof(back), offset), 0);
    assert_memory_equal(back, written, sizeof(back));
}

TEST(cached_and_direct_requests_see_the_same_device)
{
    const struct image_way cached = {.ahead_bytes = IMAGE_AHEAD_KERNEL},
                           direct = {.direct = true, .piece_bytes = 64 << 10};
    make_disk("");
    assert_int_equal(image_lanes_open(&lanes), 0);
    assert_int_equal(image_open(&image, rig.loop, true, DISK_BYTES, &err), 0);
    assert_true(image.size_bytes == DISK_BYTES);
    move_there_and_back(cached, 0, 1);
    if (image.fd_direct >= 0) {
        assert_int_equal(image_read(&image, &lanes, direct, back, sizeof(back), 0), 0);
        assert_memory_equal(back, written, sizeof(back));
        move_there_and_back(direct, 0, 2);
        assert_int_equal(image_read(&image, &lanes, cached, back, sizeof(back), 0), 0);
        assert_memory_equal(back, written, sizeof(back));
    } else {
        print_message("no direct requests: %s\n", image.direct_why);
    }
    assert_int_equal(image_sync(&image), 0);
    image_close(&image);
    image_lanes_close(&lanes);
}

/* The pages are dirty, which the kernel lets only the holder of the device drop. */
TEST(ranges_of_a_device_become_zeroes)
{
    const struct image_way cached = {.ahead_bytes = IMAGE_AHEAD_KERNEL};
    uint64_t end;
    bool is_hole;
    make_disk("");
    assert_int_equal(image_lanes_open(&lanes), 0);
    assert_int_equal(image_open(&image, rig.loop, true, DISK_BYTES, &err), 0);
    move_there_and_back(cached, 0, 3);
    assert_int_equal(image_zero(&image, 4096, 8192, false), 0);
    int punched = image_zero(&image, 65536, 4096, true);
    assert_true(punched == 0 || punched == -EOPNOTSUPP);
    assert_int_equal(image_zero(&image, 100, 512, false), -EOPNOTSUPP);
    memset(written + 4096, 0, 8192);
    if (punched == 0)
        memset(written + 65536, 0, 4096);
    assert_int_equal(image_read(&image, &lanes, cached, back, sizeof(back), 0), 0);
    assert_memory_equal(back, written, sizeof(back));
    assert_int_equal(image_extent(&image, 4096, &end, &is_hole), 0);
    assert_true(!is_hole && end == DISK_BYTES);
    image_close(&image);
    image_lanes_close(&lanes);
}
