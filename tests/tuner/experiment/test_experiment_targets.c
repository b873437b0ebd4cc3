/* Tests of tuner/experiment/experiment_targets: what the targets write. */
/* LINK: -Wl,--wrap=target_prove_direct_within */
#include "tests/tuner/experiment/experiment_rig.h"

EXPERIMENTS(enter);

#define MIB ((uint64_t)1 << 20)

int __wrap_target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *why);

int __wrap_target_prove_direct_within(struct target *target, uint64_t most_write_bytes, struct err *why)
{
    (void)why;
    target->proof_bytes = most_write_bytes < 5 * MIB ? most_write_bytes : 5 * MIB;
    return 0;
}

static void check_written(uint64_t max_write_bytes, uint64_t expected)
{
    if (plan("--pattern randread --direct 0 --request-size 4k --files 1,2 --file-size 128m --no-lock "
             "--quiet") != 0)
        fail_msg("%s", err.text);
    settings.file.size_bytes = 4 * MIB;
    settings.limits.max_write_bytes = max_write_bytes;
    if (session_prepare(session, &err) != 0 || experiment_targets_make(&experiment, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(session->bytes_written, expected);
}

TEST(the_proofs_of_all_targets_are_written_bytes)
{
    check_written(1024 * MIB, 2 * (4 + 5) * MIB);
}

TEST(a_proof_leaves_the_next_target_its_bytes)
{
    check_written(8 * MIB, 8 * MIB);
    check_written(11 * MIB, 11 * MIB);
}
