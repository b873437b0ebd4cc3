/* Tests of bench/run/replay on the file system of the current directory, and on a full one where root can
 * mount it. */
#include "bench/run/replay.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <sys/mount.h>

static struct replay_plan plan_of(enum replay_mode mode, const char *below, const struct replay_write *writes,
                                  size_t n)
{
    return (struct replay_plan){.directory = below,
                                .mode = mode,
                                .writes = writes,
                                .n = n,
                                .n_files = 1,
                                .close = true,
                                .max_write_bytes = UINT64_MAX,
                                .calm_bytes = UINT64_MAX,
                                .calm_limit_ns = CLOCK_NS_PER_S,
                                .seed = 1,
                                .clock = &clock_monotonic};
}

TEST(every_mode_writes_everything)
{
    struct replay_write writes[64];
    for (size_t i = 0; i < 64; i++)
        writes[i] = (struct replay_write){.offset_bytes = i * 12288, .size_bytes = 16384};
    for (int mode = 0; mode < REPLAY_N_MODES; mode++) {
        struct replay_plan plan = plan_of((enum replay_mode)mode, ".", writes, 64);
        AUTO(replay_done) struct replay_result result;
        struct err err = {0};
        int code = replay_run(&plan, &result, &err);
        if (mode == REPLAY_DIRECT && code == -EOPNOTSUPP) {
            print_message("%s\n", err.text);
            continue;
        }
        if (code != 0)
            fail_msg("mode %d: %s", mode, err.text);
        assert_int_equal(result.n, 64);
        /* The proof of direct I/O writes, too. */
        assert_true(result.written_bytes >= 64 * 16384 &&
                    result.written_bytes <= 64 * 16384 + replay_extra_bytes((enum replay_mode)mode));
        for (size_t i = 1; i < 64; i++)
            assert_true(result.ends_ns[i] >= result.ends_ns[i - 1] + result.costs_ns[i]);
    }
}

TEST(direct_writes_off_the_alignment_are_named)
{
    const struct replay_write writes[] = {{.size_bytes = 4096}, {.offset_bytes = 4096, .size_bytes = 1000}};
    struct replay_plan plan = plan_of(REPLAY_DIRECT, ".", writes, 2);
    AUTO(replay_done) struct replay_result result;
    struct err err = {0};
    int code = replay_run(&plan, &result, &err);
    if (code == -EOPNOTSUPP)
        skip();
    assert_int_equal(code, -EINVAL);
    assert_non_null(strstr(err.text, "write 1, 1000 bytes at 4096: direct writes need multiples of"));
    assert_int_equal(result.n, 0);
}

TEST(tmpfs_has_no_direct_writes)
{
    const struct replay_write write = {.size_bytes = 4096};
    struct replay_plan plan = plan_of(REPLAY_DIRECT, "/dev/shm", &write, 1);
    AUTO(replay_done) struct replay_result result;
    if (access("/dev/shm", W_OK) != 0)
        skip();
    assert_int_equal(replay_run(&plan, &result, NULL), -EOPNOTSUPP);
}

/* Somebody else fills the file system after the check. */
TEST(a_full_file_system_ends_it)
{
    char other[400];
    struct replay_write writes[64];
    struct err err = {0};
    struct replay_result result;
    if (mount("none", directory, "tmpfs", 0, "size=32m") != 0) {
        rmdir(directory);
        skip();
    }
    for (size_t i = 0; i < 64; i++)
        writes[i] = (struct replay_write){
            .offset_bytes = i % 24 * MIB, .size_bytes = MIB, .delay_ns = i == 0 ? 200000000 : 0};
    struct replay_plan plan = plan_of(REPLAY_NOSYNC, directory, writes, 24);
    snprintf(other, sizeof(other), "(sleep 0.05; head -c 20m /dev/zero >%s/other) 2>/dev/null &", directory);
    assert_int_equal(system(other), 0);
    int code = replay_run(&plan, &result, &err);
    replay_done(&result);
    umount2(directory, MNT_DETACH);
    rmdir(directory);
    assert_int_equal(code, -ENOSPC);
}
