/* Tests of tuner/profile/profile_advice: which request size a profile leaves free, and which one it fixes. */
#include "tests/test.h"
#include "tuner/profile/profile_advice.h"

static struct summary reads_of(double random_share, size_t n_modes, const struct bins_mode *modes, uint64_t n,
                               uint64_t p50)
{
    struct summary summary = {.is_enough = true};
    summary.share[SUMMARY_RAND_READ] = random_share;
    summary.share[SUMMARY_SEQ_READ] = 1 - random_share;
    summary.percent[SUMMARY_RAND_READ] = (unsigned)(100 * random_share);
    summary.percent[SUMMARY_SEQ_READ] = 100 - summary.percent[SUMMARY_RAND_READ];
    summary.sizes[PROFILE_READ] = (struct summary_sizes){.n = n, .p50 = p50, .p99 = p50, .n_modes = n_modes};
    for (size_t i = 0; i < n_modes; i++)
        summary.sizes[PROFILE_READ].modes[i] = modes[i];
    return summary;
}

static void expect_size(const struct summary *summary, bool is_fixed, uint64_t bytes)
{
    struct profile_advice advice;
    profile_advice_make(&advice, summary);
    assert_int_equal(advice.fixed[FACTOR_REQUEST_SIZE], is_fixed);
    assert_int_equal(advice.level[FACTOR_REQUEST_SIZE], bytes);
}

TEST(a_size_of_nearly_all_random_requests_is_fixed)
{
    const struct bins_mode modes[] = {{.value = 8192, .n = 950}};
    const struct summary summary = reads_of(1, 1, modes, 1000, 8192);
    expect_size(&summary, true, 8192);
}

/* As sqlite3 does before each lookup. */
TEST(short_looks_at_a_header_do_not_hide_the_pages)
{
    const struct bins_mode modes[] = {{.value = 16, .n = 520}, {.value = 4096, .n = 480}};
    const struct summary summary = reads_of(1, 2, modes, 1000, 16);
    expect_size(&summary, true, 4096);
}

/* As databases do whose blocks are packed: no size has many requests. */
TEST(random_requests_of_many_sizes_are_fixed_at_the_middle_one)
{
    const struct bins_mode modes[] = {{.value = 65536, .n = 60}};
    const struct summary summary = reads_of(1, 1, modes, 1000, 4100);
    expect_size(&summary, true, 4608);
}

TEST(a_program_that_reads_in_order_may_do_so_in_any_size)
{
    const struct bins_mode modes[] = {{.value = 65536, .n = 1000}};
    const struct summary summary = reads_of(0.1, 1, modes, 1000, 65536);
    expect_size(&summary, false, 65536);
}

/* The random ones may be the short ones or the long ones. */
TEST(sizes_of_a_mix_of_orders_are_left_free)
{
    const struct bins_mode modes[] = {{.value = 4096, .n = 600}, {.value = 1 << 20, .n = 400}};
    const struct summary summary = reads_of(0.6, 2, modes, 1000, 4096);
    expect_size(&summary, false, 1 << 20);
}

TEST(the_direction_of_the_random_requests_decides)
{
    const struct bins_mode reads[] = {{.value = 8192, .n = 1000}}, writes[] = {{.value = 512, .n = 1800}};
    struct summary summary = reads_of(1, 1, reads, 1000, 8192);
    summary.sizes[PROFILE_WRITE] = (struct summary_sizes){.n = 1800, .p50 = 512, .p99 = 512, .n_modes = 1};
    summary.sizes[PROFILE_WRITE].modes[0] = writes[0];
    summary.share[SUMMARY_RAND_READ] = 0.55;
    summary.share[SUMMARY_SEQ_WRITE] = 0.45;
    expect_size(&summary, true, 8192);
}
