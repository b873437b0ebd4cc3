/* tests/bench/target/test_target: making, reopening and caching of fstune's own file, what a proof
 * of direct I/O may write, and files that begin empty. */
#include "bench/target/target_scratch.h"
#include "tests/bench/io/deny.h"
#include "tests/bench/target/own_target.h"
#include "tests/child.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static bool keeps_everything_cached(void)
{
    struct statfs kind;
    return statfs(directory, &kind) == 0 &&
           (kind.f_type == TMPFS_MAGIC || (uint32_t)kind.f_type == RAMFS_MAGIC);
}

static atomic_int interrupted;
TEST(own_file_has_no_name)
{
    struct stat status;
    make(&target, 2 * MIB);
    assert_int_equal(rig_count_entries(directory), 0);
    assert_int_equal(fstat(target.fd, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true(target.owned && target.writable);
    assert_true(fcntl(target.fd, F_GETFD) & FD_CLOEXEC);
    target_close(&target);
    target_close(&target);
    target_close(NULL);
}

/* Runs in a child; each exit status but 0 names the step that failed. */
static int make_without_tmpfile(void)
{
    struct target_plan plan = rig_plan(directory, 2 * MIB);
    struct stat status;
    if (deny(SYS_openat, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP) != 0)
        return 77;
    if (target_create(&target, &plan, NULL) != 0)
        return 1;
    if (target.tmpfile || rig_count_entries(directory) != 0)
        return 2;
    if (fstat(target.fd, &status) != 0 || status.st_nlink != 0 || (status.st_mode & 07777) != 0600)
        return 3;
    return 0;
}

static int look_by_mincore(void)
{
    struct target_plan plan = rig_plan(directory, 2 * MIB);
    uint64_t cached = 0, dirty = 7;
    enum target_cold cold = TARGET_COLD_UNVERIFIED;
    if (deny(__NR_cachestat, 0, ENOSYS) != 0)
        return 77;
    if (target_create(&target, &plan, NULL) != 0)
        return 1;
    if (target_cached_pages(&target, 0, 2 * MIB, &cached, &dirty) != 0 || dirty != 0)
        return 2;
    if (cached != 2 * MIB / (uint64_t)sysconf(_SC_PAGESIZE))
        return 3;
    if (target_drop_cache(&target, &cold, NULL) != 0)
        return 4;
    if (cold != (keeps_everything_cached() ? TARGET_COLD_NOT : TARGET_COLD_VERIFIED))
        return 5;
    return 0;
}

static int prove_blindly(void)
{
    struct target_plan plan = rig_plan(directory, 2 * MIB);
    uint64_t cached = 7, dirty = 7;
    enum target_cold cold = TARGET_COLD_VERIFIED;
    if (deny(__NR_cachestat, 0, ENOSYS) != 0 || deny(SYS_mincore, 0, ENOSYS) != 0)
        return 77;
    if (target_create(&target, &plan, NULL) != 0)
        return 1;
    if (target_cached_pages(&target, 0, MIB, &cached, &dirty) != -ENOSYS || cached != 7 || dirty != 7)
        return 2;
    if (target_drop_cache(&target, &cold, NULL) != 0 || cold != TARGET_COLD_UNVERIFIED)
        return 3;
    if (target_prove_direct(&target, NULL) != 0)
        return 4;
    if (target.direct_read == TARGET_DIRECT_PROVED || target.direct_write == TARGET_DIRECT_PROVED)
        return 5;
    return 0;
}

TEST(fallback_file_is_unlinked_at_once)
{
    child_expect(make_without_tmpfile);
}

TEST(mincore_stands_in_for_cachestat)
{
    child_expect(look_by_mincore);
}

TEST(nothing_is_proved_when_nobody_can_tell)
{
    child_expect(prove_blindly);
}

TEST(estimate_creates_nothing)
{
    struct target_plan plan = rig_plan(directory, 3 * MIB + 1);
    uint64_t size = 0;
    assert_int_equal(target_estimate(&plan, &size, NULL), 0);
    assert_int_equal(size, 3 * MIB);
    assert_int_equal(rig_count_entries(directory), 0);
}

TEST(room_for_other_files_of_the_command_is_kept)
{
    struct target_plan plan = rig_plan(directory, 192 * MIB);
    struct statfs space;
    uint64_t size = 7;
    assert_int_equal(statfs(directory, &space), 0);
    plan.other_bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_frsize;
    assert_int_equal(target_estimate(&plan, &size, &err), -ENOSPC);
    plan.other_bytes = 100 * MIB;
    plan.max_write_bytes = 250 * MIB;
    assert_int_equal(target_estimate(&plan, &size, &err), -EFBIG);
    assert_int_equal(size, 7);
    plan.max_write_bytes = 300 * MIB;
    assert_int_equal(target_estimate(&plan, &size, NULL), 0);
    assert_int_equal(size, 192 * MIB);
}

TEST(size_keeps_a_tenth_free)
{
    struct target_plan plan = rig_plan(directory, 1ULL << 60);
    struct statfs space;
    uint64_t size = 7;
    assert_int_equal(target_estimate(&plan, &size, &err), -ENOSPC);
    assert_int_equal(size, 7);
    assert_non_null(strstr(err.text, "missing"));
    assert_non_null(strstr(err.text, "--file-size"));
    assert_int_equal(statfs(directory, &space), 0);
    double available = (double)space.f_bavail * (double)space.f_frsize;
    plan.size_is_default = true;
    assert_int_equal(target_estimate(&plan, &size, NULL), 0);
    assert_int_equal(size % MIB, 0);
    assert_true((double)size <= available * 0.91); /* others write to this file system meanwhile */
    if (!keeps_everything_cached())
        assert_true((double)size >= available * 0.8);
}

TEST(max_write_bounds_the_size)
{
    struct target_plan plan = rig_plan(directory, 1024 * MIB);
    uint64_t size = 0;
    plan.size_is_default = true;
    plan.max_write_bytes = 200 * MIB + 5;
    assert_int_equal(target_estimate(&plan, &size, NULL), 0);
    assert_int_equal(size, 200 * MIB);
    plan.size_is_default = false;
    assert_int_equal(target_estimate(&plan, &size, &err), -EFBIG);
    assert_non_null(strstr(err.text, "--max-write"));
    plan.size_is_default = true;
    plan.max_write_bytes = 100 * MIB;
    assert_int_equal(target_estimate(&plan, &size, NULL), -EFBIG);
}

TEST(directory_faults_are_named)
{
    const char *path = rig_in("missing");
    struct target_plan plan = rig_plan(path, 2 * MIB);
    uint64_t size;
    assert_int_equal(target_estimate(&plan, &size, &err), -ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(target_create(&target, &plan, NULL), -ENOENT);
    assert_int_equal(target.fd, 0);
    plan.directory = "/proc/self/status";
    assert_int_equal(target_estimate(&plan, &size, &err), -ENOTDIR);
    plan.directory = "/";
    bool was_root = geteuid() == 0;
    if (was_root)
        assert_int_equal(seteuid(65534), 0);
    int code = target_estimate(&plan, &size, &err);
    if (was_root)
        assert_int_equal(seteuid(0), 0);
    assert_true(code == -EACCES || code == -EROFS);
    plan.directory = directory;
    plan.size_bytes = MIB - 1;
    assert_int_equal(target_estimate(&plan, &size, &err), -EINVAL);
}

TEST(views_of_the_kernel_are_refused_before_anything_is_made)
{
    static const char *const views[] = {"/proc", "/sys", "/dev/pts"};
    for (size_t i = 0; i < N_OF(views); i++) {
        uint64_t size_bytes = 7;
        err = (struct err){0};
        struct target_plan plan = {.directory = views[i], .size_bytes = MIB, .max_write_bytes = UINT64_MAX};
        if (access(views[i], F_OK) != 0)
            continue;
        assert_int_equal(target_estimate(&plan, &size_bytes, &err), -EOPNOTSUPP);
        assert_non_null(strstr(err.text, "a view of the kernel"));
        assert_int_equal(size_bytes, 7);
    }
}

TEST(run_descriptor_is_the_same_file)
{
    unsigned char written[512], read_back[512];
    int fd = -1, read_fd = -1;
    make(&target, 2 * MIB);
    assert_int_equal(target_open_run(&target, false, true, &fd, NULL), 0);
    assert_int_equal(target_open_run(&target, false, false, &read_fd, NULL), 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & O_DIRECT, 0);
    assert_int_equal(fcntl(read_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    memset(written, 0x5a, sizeof(written));
    assert_int_equal(pwrite(fd, written, 512, 4096), 512);
    assert_int_equal(pread(target.fd, read_back, 512, 4096), 512);
    assert_memory_equal(written, read_back, 512);
    assert_int_equal(pwrite(read_fd, written, 512, 0), -1);
    close(fd);
    close(read_fd);
}

TEST(flush_leaves_nothing_dirty)
{
    if (keeps_everything_cached())
        skip();
    unsigned char page[4096] = {1};
    uint64_t cached = 0, dirty = 0;
    make(&target, 2 * MIB);
    assert_int_equal(pwrite(target.fd, page, sizeof(page), 0), (ssize_t)sizeof(page));
    if (target_cached_pages(&target, 0, MIB, &cached, &dirty) != 0)
        skip();
    assert_true(cached > 0);
    assert_int_equal(target_flush(&target, NULL), 0);
    assert_int_equal(target_cached_pages(&target, 0, 2 * MIB, &cached, &dirty), 0);
    assert_int_equal(dirty, 0);
}

TEST(cache_is_dropped_and_warmed)
{
    if (keeps_everything_cached())
        skip();
    uint64_t cached, dirty, pages = 3 * MIB / (uint64_t)sysconf(_SC_PAGESIZE);
    enum target_cold cold = TARGET_COLD_NOT;
    make(&target, 3 * MIB);
    assert_int_equal(target_drop_cache(&target, &cold, NULL), 0);
    assert_int_equal(cold, TARGET_COLD_VERIFIED);
    assert_int_equal(target_cached_pages(&target, 0, 3 * MIB, &cached, &dirty), 0);
    assert_int_equal(cached, 0);
    assert_int_equal(target_warm_cache(&target, NULL, NULL), 0);
    assert_int_equal(target_cached_pages(&target, 0, 3 * MIB, &cached, &dirty), 0);
    assert_in_range(cached, pages * 9 / 10, pages); /* the kernel may take some back at any time */
    assert_int_equal(target_cached_pages(&target, MIB, 0, &cached, &dirty), 0);
    assert_int_equal(cached, 0);
    atomic_store(&interrupted, 1);
    int code = target_warm_cache(&target, &interrupted, NULL);
    atomic_store(&interrupted, 0);
    assert_int_equal(code, -EINTR);
}

TEST(lost_space_is_noticed)
{
    make(&target, 2 * MIB);
    assert_int_equal(target_check_free(&target, NULL), 0);
    target.available_bytes = 1ULL << 60;
    assert_int_equal(target_check_free(&target, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "must stay free"));
    target.available_bytes = UINT64_MAX;
    assert_int_equal(target_check_free(&target, NULL), 0);
}

/* Four places of 1 MiB each are the least that a proof takes. */
TEST(a_proof_stays_within_its_bytes)
{
    static const uint64_t most[] = {0, MIB, 3 * MIB + 1};
    for (size_t i = 0; i < N_OF(most); i++) {
        target_close(&target);
        fresh(NULL);
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
    make(&target, 2 * MIB);
    target.size_bytes = 512;
    assert_int_equal(target_prove_direct(&target, NULL), 0);
    assert_int_not_equal(target.direct_read, TARGET_DIRECT_PROVED);
    assert_int_not_equal(target.direct_write, TARGET_DIRECT_PROVED);
    assert_int_equal(target.proof_bytes, 0);
    assert_true(target.direct_why[0] != '\0');
}

/* ---- files that begin empty ---- */

TEST(files_are_empty_and_have_no_name)
{
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
    struct target untouched = {.fd = 99};
    struct statfs space;
    assert_int_equal(statfs(directory, &space), 0);
    uint64_t bytes = (uint64_t)space.f_bavail * (uint64_t)space.f_bsize;
    assert_int_equal(target_scratch_check(directory, bytes, &err), -ENOSPC);
    assert_non_null(strstr(err.text, "the writes need"));
    assert_int_equal(target_scratch_check(directory, UINT64_MAX, &err), -EFBIG);
    assert_int_equal(target_scratch_create(&untouched, directory, 1, bytes, NULL), -ENOSPC);
    assert_int_equal(untouched.fd, 99);
    assert_int_equal(target_scratch_check("/nowhere/at/all", 1, &err), -ENOENT);
    assert_int_equal(target_scratch_check("/dev/null", 1, &err), -ENOTDIR);
}

TEST(direct_io_is_proved_or_refused)
{
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
