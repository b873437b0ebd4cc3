/* tests/bench/target/test_target_direct: what a proof of direct I/O may write, and where it has no room. */
#include "bench/target/target.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

static void make(struct target *target, uint64_t size_bytes)
{
    struct target_plan plan = rig_plan(directory, size_bytes);
    assert_int_equal(target_create(target, &plan, NULL), 0);
}

/* Four places of 1 MiB each are the least that a proof takes. */
TEST(a_proof_stays_within_its_bytes)
{
    static const uint64_t most[] = {0, MIB, 3 * MIB + 1};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        AUTO(target_close) struct target target = {0};
        make(&target, 8 * MIB);
        assert_int_equal(target_prove_direct_within(&target, most[i], NULL), 0);
        assert_true(target.proof_bytes <= most[i]);
        assert_int_not_equal(target.direct_write, TARGET_DIRECT_PROVED);
        assert_int_not_equal(target.direct_write, TARGET_DIRECT_UNTRIED);
        assert_true(target.direct_why[0] != '\0');
    }
}

TEST(a_file_below_a_page_proves_nothing)
{
    AUTO(target_close) struct target target = {0};
    make(&target, 2 * MIB);
    target.size_bytes = 512;
    assert_int_equal(target_prove_direct(&target, NULL), 0);
    assert_int_not_equal(target.direct_read, TARGET_DIRECT_PROVED);
    assert_int_not_equal(target.direct_write, TARGET_DIRECT_PROVED);
    assert_int_equal(target.proof_bytes, 0);
    assert_true(target.direct_why[0] != '\0');
}
