/* Tests of bench/target/target_scratch: files that begin empty. */
#include "bench/target/target_scratch.h"
#include "tests/bench/target/target_rig.h"
#include "tests/test.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

TEST(files_are_empty_and_have_no_name)
{
    AUTO(target_close) struct target target = {0};
    assert_int_equal(target_scratch_create(&target, directory, 3, 1, NULL), 0);
    assert_int_equal(target_n_files(&target), 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct stat status;
        assert_int_equal(fstat(target_fds(&target)[i], &status), 0);
        assert_true(status.st_nlink == 0 && status.st_size == 0);
    }
    assert_int_equal(rig_count_entries(directory), 0);
    assert_int_equal(target_check_free(&target, NULL), 0);
}

TEST(more_than_fits_is_refused)
{
    struct err err = {0};
    struct target target = {.fd = 99};
    struct statfs space;
    assert_int_equal(statfs(directory, &space), 0);
    uint64_t bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_bsize;
    assert_int_equal(target_scratch_check(directory, bytes, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "the writes need"));
    assert_int_equal(target_scratch_check(directory, UINT64_MAX, &err), -EFBIG);
    assert_int_equal(target_scratch_create(&target, directory, 1, bytes, NULL), -ENOSPC);
    assert_int_equal(target.fd, 99);
    assert_int_equal(target_scratch_check("/nowhere/at/all", 1, &err), -ENOENT);
    assert_int_equal(target_scratch_check("/dev/null", 1, &err), -ENOTDIR);
}

TEST(direct_io_is_proved_or_refused)
{
    AUTO(target_close) struct target target = {0};
    struct err err = {0};
    struct stat status;
    struct statfs kind;
    uint32_t align = 0;
    assert_int_equal(target_scratch_create(&target, directory, 1, MIB, NULL), 0);
    int code = target_scratch_direct(&target, &align, &err);
    assert_int_equal(statfs(directory, &kind), 0);
    if (kind.f_type == TMPFS_MAGIC)
        assert_int_equal(code, -EOPNOTSUPP);
    if (code == 0) {
        assert_true(target.proof_bytes >= 2 * MIB && target.proof_bytes <= TARGET_SCRATCH_PROOF_BYTES);
        assert_true(align >= 512 && align <= 4096);
    } else {
        assert_int_equal(code, -EOPNOTSUPP);
    }
    assert_int_equal(fstat(target.fd, &status), 0);
    assert_int_equal(status.st_size, 0);
}
