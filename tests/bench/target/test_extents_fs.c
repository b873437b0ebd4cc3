/* tests/bench/target/test_extents_fs: holes, preallocation, compression and fragmentation made on purpose, on
 * the file system of the current directory and on a btrfs of its own. */
#include "bench/base/rng.h"
#include "bench/target/compressibility.h"
#include "bench/target/extents.h"
#include "tests/bench/mount_rig.h"

#include <errno.h>
#include <linux/falloc.h>

static unsigned char block[MIB];

static int open_here(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    rig_need(fd >= 0, "no nameless file in the current directory");
    return fd;
}

static void write_random(int fd, uint64_t at, size_t n)
{
    static struct rng rng;
    static bool seeded;
    if (!seeded)
        rng_init(&rng, 11);
    seeded = true;
    rng_fill(&rng, block, n);
    assert_int_equal(pwrite(fd, block, n, (off_t)at), n);
}

static struct extents look(int fd)
{
    struct extents extents;
    assert_int_equal(extents_of(fd, 0, 0, &extents), 0);
    return extents;
}

TEST(written_file_is_whole)
{
    AUTO(auto_close) int fd = open_here();
    for (uint64_t i = 0; i < 16; i++)
        write_random(fd, i * MIB, MIB);
    struct extents extents = look(fd);
    rig_need(extents.fiemap_known, "the current directory has no FIEMAP");
    assert_int_equal(extents.size_bytes, 16 * MIB);
    assert_int_equal(extents.hole_bytes, 0);
    assert_int_equal(extents.unwritten_bytes, 0);
    assert_true(extents.n_extents >= 1 && extents.n_fragments >= 1);
    assert_true(extents.n_fragments <= extents.n_extents);
}

/* Holes beside it are others'. */
TEST(a_part_of_a_file_is_looked_at_alone)
{
    AUTO(auto_close) int fd = open_here();
    struct extents part;
    for (uint64_t i = 8; i < 16; i++)
        write_random(fd, i * MIB, MIB);
    assert_int_equal(ftruncate(fd, 32 * MIB), 0);
    rig_need(look(fd).fiemap_known, "the current directory has no FIEMAP");
    assert_int_equal(extents_of(fd, 9 * MIB, 4 * MIB, &part), 0);
    assert_int_equal(part.size_bytes, 4 * MIB);
    assert_int_equal(part.hole_bytes, 0);
    assert_int_equal(extents_of(fd, 6 * MIB, 4 * MIB, &part), 0);
    assert_int_equal(part.hole_bytes, 2 * MIB);
    assert_int_equal(extents_of(fd, 14 * MIB, 4 * MIB, &part), 0);
    assert_int_equal(part.hole_bytes, 2 * MIB);
    assert_int_equal(extents_of(fd, 20 * MIB, 4 * MIB, &part), 0);
    assert_int_equal(part.hole_bytes, 4 * MIB);
    assert_int_equal(part.n_extents, 0);
}

TEST(sparse_file_has_holes)
{
    AUTO(auto_close) int fd = open_here();
    assert_int_equal(ftruncate(fd, 16 * MIB), 0);
    write_random(fd, 0, MIB);
    write_random(fd, 8 * MIB, MIB);
    struct extents extents = look(fd);
    off_t position = lseek(fd, 0, SEEK_CUR);
    rig_need(extents.holes_known, "the current directory knows no holes");
    assert_int_equal(extents.hole_bytes, 14 * MIB);
    assert_int_equal(position, 0);
}

TEST(preallocated_file_is_unwritten)
{
    AUTO(auto_close) int fd = open_here();
    rig_need(fallocate(fd, 0, 0, 8 * MIB) == 0, "no fallocate here");
    write_random(fd, 2 * MIB, MIB);
    struct extents extents = look(fd);
    rig_need(extents.fiemap_known, "the current directory has no FIEMAP");
    assert_int_equal(extents.unwritten_bytes, 7 * MIB);
    assert_int_equal(extents.hole_bytes, 0);
    /* Blocks allocated behind the end are no part of the file. */
    assert_int_equal(fallocate(fd, FALLOC_FL_KEEP_SIZE, 8 * MIB, 8 * MIB), 0);
    assert_int_equal(look(fd).unwritten_bytes, 7 * MIB);
}

/* More pieces than one call of the kernel returns. */
TEST(thousand_holes_are_all_found)
{
    AUTO(auto_close) int fd = open_here();
    for (uint64_t i = 0; i < 16; i++)
        write_random(fd, i * MIB, MIB);
    assert_int_equal(fsync(fd), 0);
    struct extents before = look(fd);
    for (off_t i = 0; i < 1024; i++)
        rig_need(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, i * 16384, 8192) == 0,
                 "no holes can be punched here");
    struct extents extents = look(fd);
    rig_need(extents.fiemap_known, "the current directory has no FIEMAP");
    assert_int_equal(extents.hole_bytes, 1024 * 8192);
    assert_true(extents.n_extents >= 1024);
    assert_true(extents_growth_per_gib(&before, &extents) > 1000);
}

TEST_WITH(memory_tells_holes_without_fiemap, rig_set_up, rig_tear_down)
{
    rig_need_mount(mount("tmpfs", rig.point, "tmpfs", 0, "size=64m"), "tmpfs cannot be mounted");
    AUTO(auto_close) int fd = rig_open("sparse"), whole = rig_open("whole");
    assert_int_equal(ftruncate(fd, 16 * MIB), 0);
    write_random(fd, 2 * MIB, MIB);
    write_random(fd, 15 * MIB, MIB);
    write_random(whole, 0, MIB);
    struct extents extents = look(fd), full = look(whole);
    assert_false(extents.fiemap_known);
    assert_true(extents.holes_known);
    assert_int_equal(extents.hole_bytes, 14 * MIB);
    assert_int_equal(full.hole_bytes, 0);
    assert_false(full.holes_known); /* no hole and no knowledge of holes look the same */
}

TEST_WITH(compressed_data_are_encoded, rig_set_up, rig_tear_down)
{
    rig_mount_loop("btrfs", "compress=zstd", 300 * MIB, true);
    AUTO(auto_close) int fd = rig_open("zeros"), random = rig_open("random");
    memset(block, 0, sizeof(block));
    for (off_t i = 0; i < 8; i++)
        assert_int_equal(pwrite(fd, block, MIB, i * (off_t)MIB), MIB);
    for (uint64_t i = 0; i < 8; i++)
        write_random(random, i * MIB, MIB);
    struct extents extents = look(fd), plain = look(random);
    struct compressibility content;
    assert_int_equal(compressibility_of(fd, &content), 0);
    assert_true(extents.fiemap_known);
    assert_int_equal(extents.encoded_bytes, 8 * MIB);
    assert_int_equal(extents.hole_bytes, 0);
    assert_true(extents.n_extents >= 64);
    assert_true(extents.n_fragments < extents.n_extents / 2);
    assert_int_equal(plain.encoded_bytes, 0);
    assert_close(content.compressible_share, 1, 0);
}

TEST_WITH(rewriting_fragments_a_copying_file_system, rig_set_up, rig_tear_down)
{
    rig_mount_loop("btrfs", "", 300 * MIB, true);
    AUTO(auto_close) int fd = rig_open("file");
    for (uint64_t i = 0; i < 32; i++)
        write_random(fd, i * MIB, MIB);
    struct extents before = look(fd);
    for (uint64_t i = 0; i < 200; i++)
        write_random(fd, (i * 7919) % 8192 * 4096, 4096);
    struct extents after = look(fd);
    assert_true(before.fiemap_known && after.fiemap_known);
    assert_true(before.n_fragments < 20);
    assert_true(after.n_fragments > 200);
    assert_true(extents_growth_per_gib(&before, &after) > 1000);
    assert_int_equal(after.hole_bytes, 0);
}

TEST(closed_descriptor_is_an_error)
{
    struct extents extents = {.n_extents = 7};
    assert_int_equal(extents_of(-1, 0, 0, &extents), -EBADF);
    assert_int_equal(extents.n_extents, 7);
}
