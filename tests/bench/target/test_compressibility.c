/* Tests of bench/target/compressibility: random, zero, repeated and textual data. */
#include "bench/base/rng.h"
#include "bench/target/compressibility.h"
#include "tests/test.h"

#include <errno.h>
#include <sys/mman.h>

enum kind { RANDOM, ZERO, SAME, TEXT, MIXED };

static unsigned char block[COMPRESSIBILITY_BLOCK_BYTES];

static void fill(enum kind kind, uint64_t index, struct rng *rng)
{
    memset(block, 0, sizeof(block));
    if (kind == RANDOM || (kind == MIXED && index % 2 == 0))
        rng_fill(rng, block, sizeof(block));
    else if (kind == SAME)
        memset(block, 7, sizeof(block));
    for (size_t i = 0; kind == TEXT && i < sizeof(block);
         i++) /* different in every block, but compressible */
        block[i] = i == 5 ? (unsigned char)index : (unsigned char)"fstune tunes "[i % 13];
}

/* A file in memory: only its data count here. */
static int make_file(enum kind kind, uint64_t n_blocks, size_t tail_bytes)
{
    struct rng rng;
    rng_init(&rng, 5);
    int fd = memfd_create("content", MFD_CLOEXEC);
    for (uint64_t i = 0; i < n_blocks; i++) {
        fill(kind, i, &rng);
        assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
    }
    assert_int_equal(write(fd, block, tail_bytes), tail_bytes);
    return fd;
}

TEST(shares_are_those_of_the_blocks)
{
    static const struct {
        enum kind kind;
        uint64_t n_blocks;
        double compressible_share, duplicate_share;
    } rows[] = {
        {RANDOM, 100, 0, 0}, {ZERO, 64, 1, 63.0 / 64},    {SAME, 10, 1, 0.9},
        {TEXT, 50, 1, 0},    {MIXED, 64, 0.5, 31.0 / 64},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct compressibility compressibility;
        AUTO(auto_close) int fd = make_file(rows[i].kind, rows[i].n_blocks, 100);
        assert_int_equal(compressibility_of(fd, &compressibility), 0);
        assert_close(compressibility.compressible_share, rows[i].compressible_share, 1e-12);
        assert_close(compressibility.duplicate_share, rows[i].duplicate_share, 1e-12);
    }
}

TEST(sample_reaches_from_start_to_end)
{
    struct compressibility compressibility;
    AUTO(auto_close) int fd = make_file(RANDOM, 1000, 0);
    memset(block, 0, sizeof(block));
    assert_int_equal(pwrite(fd, block, sizeof(block), 0), sizeof(block));
    assert_int_equal(pwrite(fd, block, sizeof(block), 999 * (off_t)sizeof(block)), sizeof(block));
    assert_int_equal(compressibility_of(fd, &compressibility), 0);
    assert_close(compressibility.compressible_share, 2.0 / COMPRESSIBILITY_BLOCKS, 1e-12);
}

TEST(too_small_or_unreadable_is_an_error)
{
    struct compressibility compressibility = {.compressible_share = 9};
    int fd = make_file(RANDOM, 0, 1000);
    assert_int_equal(compressibility_of(fd, &compressibility), -ENODATA);
    close(fd);
    assert_int_equal(compressibility_of(-1, &compressibility), -EBADF);
    assert_close(compressibility.compressible_share, 9, 0);
    fd = make_file(RANDOM, 1, 0);
    assert_int_equal(compressibility_of(fd, &compressibility), 0);
    assert_close(compressibility.compressible_share, 0, 0);
    close(fd);
}

TEST(hash_sees_every_bit)
{
    unsigned char data[4096] = {0};
    uint64_t clean = compressibility_hash(data, sizeof(data));
    for (size_t bit = 0; bit < sizeof(data) * 8; bit++) {
        data[bit / 8] ^= (unsigned char)(1U << bit % 8);
        assert_true(compressibility_hash(data, sizeof(data)) != clean);
        data[bit / 8] ^= (unsigned char)(1U << bit % 8);
    }
    data[7] = data[15] = 0x80; /* the highest bits of two words must not cancel each other */
    assert_true(compressibility_hash(data, sizeof(data)) != clean);
}
