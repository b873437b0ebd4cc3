/* Tests of bench/target/extents: counting pieces as FIEMAP tells them. */
#include "bench/target/extents.h"
#include "tests/test.h"

#define KIB 1024ULL

static struct extents count(uint64_t size_bytes, const struct fiemap_extent *pieces, size_t n)
{
    struct extents extents = {.size_bytes = size_bytes};
    struct extents_walk walk = {.extents = &extents};
    for (size_t i = 0; i < n; i++)
        extents_add(&walk, &pieces[i]);
    extents_end(&walk);
    return extents;
}

static struct fiemap_extent piece(uint64_t logical_kib, uint64_t physical_kib, uint64_t length_kib,
                                  uint32_t flags)
{
    return (struct fiemap_extent){.fe_logical = logical_kib * KIB,
                                  .fe_physical = physical_kib * KIB,
                                  .fe_length = length_kib * KIB,
                                  .fe_flags = flags};
}

TEST(plain_file_is_one_fragment)
{
    struct fiemap_extent pieces[] = {piece(0, 1000, 64, 0), piece(64, 1064, 64, FIEMAP_EXTENT_LAST)};
    struct extents extents = count(128 * KIB, pieces, 2);
    assert_int_equal(extents.n_extents, 2);
    assert_int_equal(extents.n_fragments, 1);
    assert_int_equal(extents.hole_bytes, 0);
    assert_true(extents.fiemap_known && extents.holes_known);
}

TEST(gaps_are_holes_at_every_place)
{
    struct fiemap_extent pieces[] = {piece(4, 1000, 8, 0), piece(20, 2000, 8, 0)};
    struct extents extents = count(64 * KIB, pieces, 2);
    assert_int_equal(extents.hole_bytes, (4 + 8 + 36) * KIB);
    assert_int_equal(extents.n_fragments, 2);
    assert_int_equal(count(64 * KIB, NULL, 0).hole_bytes, 64 * KIB);
    assert_int_equal(count(0, NULL, 0).hole_bytes, 0);
}

TEST(kinds_are_counted_within_the_file)
{
    struct fiemap_extent pieces[] = {
        piece(0, 1000, 8, FIEMAP_EXTENT_UNWRITTEN),   piece(8, 2000, 8, FIEMAP_EXTENT_ENCODED),
        piece(16, 3000, 16, FIEMAP_EXTENT_SHARED),    piece(32, 4000, 64, FIEMAP_EXTENT_UNWRITTEN),
        piece(96, 5000, 64, FIEMAP_EXTENT_UNWRITTEN),
    };
    /* The last two reach beyond, or lie behind, the end. */
    struct extents extents = count(40 * KIB, pieces, N_OF(pieces));
    assert_int_equal(extents.unwritten_bytes, 16 * KIB);
    assert_int_equal(extents.encoded_bytes, 8 * KIB);
    assert_int_equal(extents.hole_bytes, 0);
    assert_int_equal(extents.n_extents, 4);
}

TEST(compressed_neighbours_are_no_fragments)
{
    struct fiemap_extent pieces[] = {
        piece(0, 1000, 128, FIEMAP_EXTENT_ENCODED), piece(128, 1020, 128, FIEMAP_EXTENT_ENCODED),
        piece(256, 1010, 128, FIEMAP_EXTENT_ENCODED), piece(384, 9000, 128, FIEMAP_EXTENT_ENCODED)};
    struct extents extents = count(512 * KIB, pieces, 4);
    assert_int_equal(extents.n_extents, 4);
    assert_int_equal(extents.n_fragments, 3); /* one step back, one too far */
}

TEST(growth_is_per_gib)
{
    struct extents before = {.size_bytes = 1ULL << 29, .n_fragments = 5, .fiemap_known = true};
    struct extents after = {.size_bytes = 1ULL << 29, .n_fragments = 105, .fiemap_known = true};
    assert_close(extents_growth_per_gib(&before, &after), 200, 1e-9);
    assert_close(extents_growth_per_gib(&after, &before), -200, 1e-9);
    after.fiemap_known = false;
    assert_true(isnan(extents_growth_per_gib(&before, &after)));
    after = (struct extents){.fiemap_known = true};
    assert_true(isnan(extents_growth_per_gib(&before, &after)));
}
