/* Tests of bench/io/offsets: every unit once per pass, in an order that a disk cannot foresee, also in huge
 * files. */
#include "bench/base/rng.h"
#include "bench/io/offsets.h"
#include "tests/test.h"

#include <errno.h>

static const struct pattern rand_read = {.percent = {[PATTERN_RAND_READ] = 100}};
static const struct pattern seq_read = {.percent = {[PATTERN_SEQ_READ] = 100}};
static const struct pattern rand_mix = {.percent = {[PATTERN_RAND_READ] = 50, [PATTERN_RAND_WRITE] = 50}};
static const struct pattern all_kinds = {.percent = {25, 25, 25, 25}};

/* Reads and writes of one size. */
static int init(struct offsets *offsets, const struct pattern *pattern, uint64_t base_bytes,
                uint64_t region_bytes, uint64_t unit_bytes, uint64_t seed)
{
    return offsets_init(offsets, pattern, base_bytes, region_bytes, (uint64_t[]){unit_bytes, unit_bytes},
                        seed);
}

static struct offsets start(const struct pattern *pattern, uint64_t base_bytes, uint64_t region_bytes,
                            uint64_t unit_bytes, uint64_t seed)
{
    struct offsets offsets;
    assert_int_equal(init(&offsets, pattern, base_bytes, region_bytes, unit_bytes, seed), 0);
    return offsets;
}

/* The next random unit of a walk over a region that starts at 0. */
static uint64_t next_unit(struct offsets *offsets)
{
    return offsets_next(offsets, PATTERN_RAND_READ) / offsets->unit_bytes[0];
}

TEST(regions_without_a_unit_are_einval)
{
    struct offsets offsets, untouched;
    memset(&offsets, 0x5a, sizeof(offsets));
    memset(&untouched, 0x5a, sizeof(untouched));
    assert_int_equal(init(&offsets, &rand_read, 0, 4095, 4096, 1), -EINVAL);
    assert_int_equal(init(&offsets, &rand_read, 0, 0, 4096, 1), -EINVAL);
    assert_int_equal(init(&offsets, &rand_read, 0, 4096, 0, 1), -EINVAL);
    assert_int_equal(init(&offsets, &rand_read, 100, 4096, 4096, 1), -EINVAL);
    assert_int_equal(init(&offsets, &rand_read, 1ULL << 63, 1ULL << 63, 4096, 1), -EINVAL);
    assert_memory_equal(&offsets, &untouched, sizeof(offsets));
    assert_int_equal(init(&offsets, &rand_read, 512, 4096, 4096, 1), 0);
}

static void check_passes(uint64_t n_units, int n_passes, uint64_t seed)
{
    AUTO(auto_free) unsigned char *seen = calloc(n_units, 1);
    assert_non_null(seen);
    /* Half a unit more than whole units: the tail must not be touched. */
    struct offsets offsets = start(&rand_read, 0, n_units * 4096 + 2048, 4096, seed);
    for (int pass = 1; pass <= n_passes; pass++) {
        for (uint64_t i = 0; i < n_units; i++) {
            uint64_t offset = offsets_next(&offsets, PATTERN_RAND_READ);
            if (offset % 4096 != 0 || offset / 4096 >= n_units || seen[offset / 4096] != pass - 1)
                fail_msg("n_units %llu, pass %d: offset %llu", (unsigned long long)n_units, pass,
                         (unsigned long long)offset);
            seen[offset / 4096]++;
        }
    }
}

TEST(every_unit_comes_exactly_once_per_pass)
{
    for (uint64_t n_units = 1; n_units <= 130; n_units++)
        for (uint64_t seed = 0; seed < 5; seed++)
            check_passes(n_units, 4, seed);
    const uint64_t sizes[] = {1000, 4095, 4096, 4097, 65537, (1 << 20) + 3};
    for (size_t i = 0; i < N_OF(sizes); i++)
        check_passes(sizes[i], 3, 42);
}

/* How many of the units of one walk stand at the same place in another. */
static int n_agreeing(struct offsets *a, struct offsets *b, int n)
{
    int n_same = 0;
    for (int i = 0; i < n; i++)
        n_same += next_unit(a) == next_unit(b);
    return n_same;
}

TEST(each_pass_has_another_order)
{
    enum { n = 1000 };
    struct offsets later = start(&rand_read, 0, n * 4096, 4096, 3);
    for (int pass = 1; pass <= 10; pass++) {
        for (int i = 0; i < n; i++)
            next_unit(&later);
        struct offsets first = start(&rand_read, 0, n * 4096, 4096, 3);
        struct offsets copy = later;
        assert_true(n_agreeing(&first, &copy, n) < 10); /* one is expected of two random orders */
    }
}

TEST(the_seed_determines_the_order)
{
    enum { n = 5000 };
    struct offsets a = start(&rand_read, 0, n * 4096, 4096, 1);
    struct offsets other = start(&rand_read, 0, n * 4096, 4096, 2);
    struct offsets same = start(&rand_read, 0, n * 4096, 4096, 1);
    struct offsets copy = a;
    assert_int_equal(n_agreeing(&copy, &same, n), n);
    assert_true(n_agreeing(&a, &other, n) < 10);
}

/* One pass over n units: distances from each to the next, counted in 64 equal classes modulo n, and the lag-1
 * correlation. */
struct walk_look {
    double chi2, correlation;
    uint64_t n_followers; /* units that directly follow the one before, forwards or backwards */
};

static struct walk_look look_at_walk(uint64_t n, uint64_t seed)
{
    struct walk_look look = {0};
    double bins[64] = {0}, product = 0;
    const double mean = (double)(n - 1) / 2, variance = ((double)n * (double)n - 1) / 12;
    const double per_bin = (double)(n - 1) / 64;
    struct offsets offsets = start(&rand_read, 0, n * 512, 512, seed);
    uint64_t before = next_unit(&offsets);
    for (uint64_t i = 1; i < n; i++) {
        uint64_t unit = next_unit(&offsets), distance = (unit + n - before) % n;
        bins[distance * 64 / n]++;
        look.n_followers += distance == 1 || distance == n - 1;
        product += ((double)unit - mean) * ((double)before - mean);
        before = unit;
    }
    for (int i = 0; i < 64; i++)
        look.chi2 += (bins[i] - per_bin) * (bins[i] - per_bin) / per_bin;
    look.correlation = product / (double)(n - 1) / variance;
    return look;
}

TEST(neighbours_in_time_are_unrelated_in_space)
{
    const uint64_t sizes[] = {4096, 5000, 32768, 40000, 262144, 300000};
    for (size_t i = 0; i < N_OF(sizes); i++) {
        double chi2 = 0;
        uint64_t n_followers = 0;
        for (uint64_t seed = 0; seed < 8; seed++) {
            struct walk_look look = look_at_walk(sizes[i], seed);
            chi2 += look.chi2 / 8;
            n_followers += look.n_followers;
            assert_close(look.correlation, 0, 4.5 / sqrt((double)sizes[i]));
        }
        /* 63 degrees of freedom, eight walks: 63 +- 4 in a random order. 16 followers are expected. */
        assert_true(chi2 < 80);
        assert_true(n_followers < 40);
    }
}

TEST(small_regions_are_no_stride_either)
{
    /* Over many seeds every distance is about as frequent; in so small a domain a half more or less passes.
     */
    uint64_t distances[16] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct offsets offsets = start(&rand_read, 0, 16 * 512, 512, seed);
        uint64_t before = next_unit(&offsets);
        for (int i = 1; i < 16; i++) {
            uint64_t unit = next_unit(&offsets);
            distances[(unit + 16 - before) % 16]++;
            before = unit;
        }
    }
    assert_int_equal(distances[0], 0);
    for (int i = 1; i < 16; i++)
        assert_close((double)distances[i], 2000, 1000);
}

TEST(huge_files_are_reached_to_their_end)
{
    const uint64_t regions[] = {(1ULL << 33) + 12345, (1ULL << 42) + 4096, 1ULL << 62};
    for (size_t i = 0; i < N_OF(regions); i++) {
        const uint64_t base = 1ULL << 32;
        unsigned quarters[4] = {0};
        struct offsets offsets = start(&rand_read, base, regions[i], 4096, 9);
        for (int k = 0; k < 4000; k++) {
            uint64_t offset = offsets_next(&offsets, PATTERN_RAND_READ);
            assert_true(offset >= base && offset % 4096 == 0 && offset - base <= regions[i] - 4096);
            quarters[(offset - base) / 4 / (regions[i] / 16 + 1)]++;
        }
        for (int k = 0; k < 4; k++)
            assert_close(quarters[k], 1000, 5 * sqrt(4000 * 0.25 * 0.75));
    }
}

TEST(sequential_walks_and_wraps)
{
    struct offsets offsets = start(&seq_read, 1 << 20, 3 * 65536 + 100, 65536, 1);
    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 3; i++)
            assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_READ), (1 << 20) + i * 65536);
}

TEST(sequential_passes_4_gib)
{
    const uint64_t unit = 512ULL << 20;
    struct offsets offsets = start(&seq_read, 0, 12 * unit, unit, 1);
    for (uint64_t i = 0; i < 12; i++)
        assert_true(offsets_next(&offsets, PATTERN_SEQ_READ) == i * unit);
    assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_READ), 0);
}

TEST(a_lone_sequential_stream_starts_at_the_start)
{
    const struct pattern write = {.percent = {[PATTERN_SEQ_WRITE] = 100}};
    struct offsets offsets = start(&write, 0, 40960, 4096, 1);
    assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_WRITE), 0);
}

TEST(streams_of_a_mix_do_not_disturb_each_other)
{
    enum { n = 100 };
    struct rng rng;
    uint64_t n_seq[2] = {0};
    rng_init(&rng, 1);
    struct offsets mixed = start(&all_kinds, 0, n * 4096, 4096, 5);
    struct offsets alone = start(&rand_mix, 0, n * 4096, 4096, 5);
    for (int i = 0; i < 1000; i++) {
        enum pattern_kind kind = (enum pattern_kind)(rng_next(&rng) % PATTERN_N_KINDS);
        uint64_t unit = offsets_next(&mixed, kind) / 4096;
        if (kind == PATTERN_SEQ_READ || kind == PATTERN_SEQ_WRITE) {
            /* The writer is half a region ahead. */
            assert_int_equal(unit, (n_seq[kind]++ + (kind == PATTERN_SEQ_WRITE ? n / 2 : 0)) % n);
        } else {
            assert_int_equal(unit, next_unit(&alone));
        }
    }
}

TEST(random_reads_never_meet_writes_of_their_pass)
{
    enum { n = 777 };
    struct rng rng;
    bool seen[n] = {false};
    rng_init(&rng, 1);
    struct offsets offsets = start(&rand_mix, 0, n * 4096, 4096, 5);
    for (int i = 0; i < n; i++) {
        enum pattern_kind kind = rng_next(&rng) % 2 ? PATTERN_RAND_READ : PATTERN_RAND_WRITE;
        uint64_t unit = offsets_next(&offsets, kind) / 4096;
        assert_false(seen[unit]);
        seen[unit] = true;
    }
}

/* Every unit of each kind's blocks once per pass of its own, and never a byte of the other's. */
static void check_apart(uint64_t read_bytes, uint64_t write_bytes, uint64_t n_blocks, uint64_t tail_bytes)
{
    const uint64_t sizes[2] = {read_bytes, write_bytes}, base = 3 * 512;
    uint64_t large = read_bytes > write_bytes ? read_bytes : write_bytes, n_own[2];
    AUTO(auto_free) unsigned char *owner = calloc(n_blocks * large / 512, 1);
    struct offsets offsets;
    assert_non_null(owner);
    assert_int_equal(offsets_init(&offsets, &rand_mix, base, n_blocks * large + tail_bytes, sizes, n_blocks),
                     0);
    n_own[0] = (n_blocks + 1) / 2 * (large / read_bytes);
    n_own[1] = n_blocks / 2 * (large / write_bytes);
    for (unsigned kind = 0; kind < 2; kind++) {
        for (uint64_t i = 0; i < n_own[kind]; i++) {
            uint64_t at = offsets_next(&offsets, kind == 0 ? PATTERN_RAND_READ : PATTERN_RAND_WRITE) - base;
            assert_int_equal(at % sizes[kind], 0);
            assert_true(at + sizes[kind] <= n_blocks * large);
            for (uint64_t k = at / 512; k < (at + sizes[kind]) / 512; k++) {
                assert_int_equal(owner[k], 0);
                owner[k] = 1;
            }
        }
    }
    for (uint64_t k = 0; k < n_blocks * large / 512; k++)
        assert_int_equal(owner[k], 1);
}

TEST(random_kinds_of_two_sizes_share_the_blocks)
{
    for (uint64_t n_blocks = 2; n_blocks <= 40; n_blocks++) {
        check_apart(4096, 65536, n_blocks, 1024);
        check_apart(65536, 512, n_blocks, 0);
        check_apart(1536, 4608, n_blocks, 4096);
    }
    check_apart(4096, 8192, 5000, 0);
}

TEST(a_lone_random_kind_of_two_sizes_has_the_whole_region)
{
    enum { n = 300 };
    const uint64_t sizes[2] = {65536, 4096};
    const struct pattern mix = {.percent = {[PATTERN_SEQ_READ] = 50, [PATTERN_RAND_WRITE] = 50}};
    struct offsets offsets;
    bool seen[n * 16] = {false};
    assert_int_equal(offsets_init(&offsets, &mix, 0, n * 65536, sizes, 8), 0);
    for (uint64_t i = 0; i < n * 16; i++) {
        uint64_t unit = offsets_next(&offsets, PATTERN_RAND_WRITE) / 4096;
        assert_true(unit < n * 16 && !seen[unit]);
        seen[unit] = true;
    }
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_READ), i * 65536);
    assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_READ), 0);
}

TEST(streams_of_two_sizes_go_in_their_own_steps)
{
    const uint64_t sizes[2] = {4096, 65536};
    struct offsets offsets;
    assert_int_equal(offsets_init(&offsets, &all_kinds, 0, 10 * 65536 + 512, sizes, 1), 0);
    for (uint64_t i = 0; i < 25; i++) {
        assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_READ), i % 160 * 4096);
        assert_int_equal(offsets_next(&offsets, PATTERN_SEQ_WRITE), (5 + i) % 10 * 65536);
    }
}

TEST(two_sizes_need_a_region_for_both)
{
    struct offsets offsets;
    const uint64_t fit[2] = {4096, 65536}, odd[2] = {4096, 6144}, none[2] = {0, 4096};
    const struct pattern seq_mix = {.percent = {[PATTERN_SEQ_READ] = 50, [PATTERN_SEQ_WRITE] = 50}};
    assert_int_equal(offsets_init(&offsets, &rand_mix, 0, 2 * 65536, fit, 1), 0);
    assert_int_equal(offsets_init(&offsets, &rand_mix, 0, 2 * 65536 - 512, fit, 1), -EINVAL);
    assert_int_equal(offsets_init(&offsets, &seq_mix, 0, 65536, fit, 1), 0);
    assert_int_equal(offsets_init(&offsets, &seq_mix, 0, 65536 - 512, fit, 1), -EINVAL);
    assert_int_equal(offsets_init(&offsets, &seq_mix, 0, 1 << 20, odd, 1), -EINVAL);
    assert_int_equal(offsets_init(&offsets, &seq_mix, 0, 1 << 20, none, 1), -EINVAL);
}

static void check_fill(const uint64_t unit_bytes[2], enum pattern_kind kind, uint64_t n_units, size_t n)
{
    struct offsets single, many;
    uint64_t filled[70] = {0};
    assert_int_equal(offsets_init(&single, &rand_mix, 512, n_units * 4096, unit_bytes, 3), 0);
    many = single;
    for (int turn = 0; turn < 5; turn++) {
        offsets_fill(&many, kind, filled, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(filled[i], offsets_next(&single, kind));
    }
    assert_int_equal(filled[n], 0);
    assert_int_equal(offsets_next(&many, PATTERN_RAND_READ), offsets_next(&single, PATTERN_RAND_READ));
}

TEST(many_at_once_are_the_same)
{
    const uint64_t same[2] = {4096, 4096}, split[2] = {4096, 8192};
    for (enum pattern_kind kind = 0; kind < PATTERN_N_KINDS; kind++) {
        for (size_t n = 0; n < 70; n += n < 20 ? 1 : 7) {
            check_fill(same, kind, 1, n);
            check_fill(same, kind, 13, n);
            check_fill(same, kind, 1000, n);
            check_fill(split, kind, 1000, n);
        }
    }
}
