/* Tests of bench/target/target against somebody who changes names while it opens, creates and unlinks.
 * Whatever the race does, no file is written that was not made here or asked for. */
/* LINK: -Wl,--wrap=unlinkat,--wrap=fstat64,--wrap=faccessat */
#include "tests/bench/io/deny.h"
#include "tests/bench/target/target_rig.h"
#include "tests/child.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/syscall.h>

#define VICTIM_BYTES 65536

static char victim[300];

static void write_file(const char *path, size_t n_bytes, int byte)
{
    static unsigned char bytes[VICTIM_BYTES];
    AUTO(auto_close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && n_bytes <= sizeof(bytes));
    memset(bytes, byte, n_bytes);
    assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
}

static void check_victim(void)
{
    static unsigned char bytes[VICTIM_BYTES + 1];
    int fd = open(victim, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, bytes, sizeof(bytes)), VICTIM_BYTES);
    close(fd);
    for (size_t i = 0; i < VICTIM_BYTES; i++)
        assert_int_equal(bytes[i], 'v');
}

/* The attack comes at the worst moment: right after a look, before what was looked at is used. */
static void (*attack)(void);
static int n_attacks;

static void strike(void)
{
    void (*now)(void) = attack;
    attack = NULL;
    if (now != NULL) {
        now();
        n_attacks++;
    }
}

WRAP(int, fstat64, (int fd, struct stat *status))
{
    int result = __real_fstat64(fd, status);
    strike();
    return result;
}

WRAP(int, faccessat, (int fd, const char *path, int mode, int flags))
{
    int result = __real_faccessat(fd, path, mode, flags);
    strike();
    return result;
}

static void exchange_names(void)
{
    assert_int_equal(renameat2(AT_FDCWD, rig_in("name"), AT_FDCWD, victim, RENAME_EXCHANGE), 0);
}

TEST(what_was_examined_is_what_is_opened)
{
    struct stat own, opened;
    struct target target = {0};
    write_file(rig_in("name"), VICTIM_BYTES, 'o');
    assert_int_equal(stat(rig_in("name"), &own), 0);
    attack = exchange_names;
    n_attacks = 0;
    assert_int_equal(rig_open_existing(&target, rig_in("name"), true, true, NULL), 0);
    assert_int_equal(n_attacks, 1);
    assert_int_equal(fstat(target.fd, &opened), 0);
    assert_int_equal(opened.st_ino, own.st_ino);
    target_close(&target);
    exchange_names();
    check_victim();
}

static void replace_directory(void)
{
    assert_int_equal(rename(rig_in("work"), rig_in("aside")), 0);
    assert_int_equal(symlink("elsewhere", rig_in("work")), 0);
}

TEST(a_directory_that_is_replaced_by_a_link_gets_no_entry)
{
    struct stat status;
    struct target target = {0};
    assert_int_equal(mkdir(rig_in("work"), 0700), 0);
    assert_int_equal(mkdir(rig_in("elsewhere"), 0700), 0);
    struct target_plan plan = rig_plan(rig_in("work"), MIB);
    attack = replace_directory;
    n_attacks = 0;
    assert_int_equal(target_create(&target, &plan, NULL), 0);
    assert_int_equal(n_attacks, 1);
    assert_int_equal(fstat(target.fd, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    target_close(&target);
    assert_int_equal(rig_count_entries(rig_in("aside")), 0);
    assert_int_equal(rig_count_entries(rig_in("elsewhere")), 0);
}

/* Every name that is about to be removed has just been replaced by a link to the victim. */
static int n_replaced;

static void replace_name(int dir_fd, const char *name)
{
    if (symlinkat(victim, dir_fd, "bait") == 0 && renameat(dir_fd, "bait", dir_fd, name) == 0)
        n_replaced++;
}

WRAP(int, unlinkat, (int dir_fd, const char *name, int flags))
{
    if (strncmp(name, ".fstune-", 8) == 0)
        replace_name(dir_fd, name);
    return __real_unlinkat(dir_fd, name, flags);
}

/* Where there is no O_TMPFILE (NFS, FUSE, FAT) a file has a mark behind its data, unless this machine has no
 * /etc/machine-id. */
static uint64_t mark_bytes(void)
{
    struct target_left_owner self;
    target_left_self(&self);
    return self.machine[0] != '\0' && self.host[0] != '\0' ? TARGET_LEFT_BYTES : 0;
}

/* A limit on writes holds for the mark as well; without one the file is as good. */
static int create_within_limits(void)
{
    if (deny(SYS_openat, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP) != 0 || mark_bytes() == 0)
        return 77;
    struct target_plan plan = rig_plan(rig_in("limited"), 2 * MIB);
    plan.n_files = 2;
    for (unsigned n_marks = 0; n_marks <= 2; n_marks++) {
        struct target target = {0};
        struct stat status[2];
        plan.max_write_bytes =
            2 * MIB + (n_marks + 1) * TARGET_LEFT_BYTES - (n_marks == 2 ? TARGET_LEFT_BYTES : 1);
        if (target_create(&target, &plan, NULL) != 0 || fstat(target.fds[0], &status[0]) != 0 ||
            fstat(target.fds[1], &status[1]) != 0)
            return 1;
        uint64_t bytes = (uint64_t)(status[0].st_size + status[1].st_size);
        if (bytes != 2 * MIB + n_marks * TARGET_LEFT_BYTES || target.filled_bytes != bytes)
            return 2;
        target_close(&target);
    }
    return 0;
}

TEST(a_mark_is_counted_and_written_only_within_the_limit_on_writes)
{
    assert_int_equal(mkdir(rig_in("limited"), 0700), 0);
    child_expect(create_within_limits);
}

/* In a child, because the refusal of O_TMPFILE cannot be taken back. 0: all went well. */
static int create_under_attack(void)
{
    if (deny(SYS_openat, O_TMPFILE & ~O_DIRECTORY, EOPNOTSUPP) != 0)
        return 77;
    struct stat status, attacked;
    struct target target = {0};
    struct target_plan plan = rig_plan(rig_in("shared"), MIB);
    if (target_create(&target, &plan, NULL) != 0 || target.tmpfile || n_replaced != 1)
        return 1;
    if (fstat(target.fd, &status) != 0 || stat(victim, &attacked) != 0)
        return 2;
    bool own = status.st_ino != attacked.st_ino && (uint64_t)status.st_size == MIB + mark_bytes() &&
               target.filled_bytes == MIB + mark_bytes();
    target_close(&target);
    return own && rig_count_entries(rig_in("shared")) == 0 ? 0 : 3;
}

TEST(a_temporary_name_that_is_replaced_leads_nowhere)
{
    assert_int_equal(mkdir(rig_in("shared"), 0700), 0);
    child_expect(create_under_attack);
    check_victim();
}

TEST(a_link_to_a_device_is_refused)
{
    struct target target = {0};
    assert_int_equal(symlink("/dev/null", rig_in("null")), 0);
    assert_int_equal(rig_open_existing(&target, rig_in("null"), true, true, NULL), -EINVAL);
    assert_int_equal(rig_open_existing(&target, rig_in("null"), false, false, NULL), -EINVAL);
}

TEST(a_file_that_was_cut_is_not_made_long_again)
{
    AUTO(target_close) struct target target = {0};
    struct err err;
    int fd = -1;
    write_file(rig_in("cut"), VICTIM_BYTES, 'c');
    assert_int_equal(rig_open_existing(&target, rig_in("cut"), true, true, NULL), 0);
    assert_int_equal(target_open_run(&target, false, true, &fd, NULL), 0);
    close(fd);
    assert_int_equal(truncate(rig_in("cut"), VICTIM_BYTES / 2), 0);
    assert_int_equal(target_open_run(&target, false, true, &fd, &err), -ESTALE);
    assert_non_null(strstr(err.text, "shorter"));
}

/* As XFS does by itself while a file grows. */
TEST(space_reserved_behind_the_end_counts_as_free)
{
    struct target target = {0};
    struct target_plan plan = rig_plan(directory, MIB);
    struct stat status;
    assert_int_equal(target_create(&target, &plan, NULL), 0);
    uint64_t reserve = target.available_bytes / 2;
    if (fallocate(target.fd, FALLOC_FL_KEEP_SIZE, MIB, (off_t)reserve) != 0 ||
        fstat(target.fd, &status) != 0 || (uint64_t)status.st_blocks * 512 < reserve) {
        target_close(&target);
        skip();
    }
    struct statvfs space;
    assert_int_equal(fstatvfs(target.fd, &space), 0);
    uint64_t left = (uint64_t)space.f_bavail * (uint64_t)space.f_frsize;
    target.available_bytes =
        (left + reserve / 2) * 10; /* a tenth of it is more than what is left without the reserve */
    int code = target_check_free(&target, NULL);
    target_close(&target);
    assert_int_equal(code, 0);
}

TEST(a_removed_directory_is_named)
{
    struct err err = {0};
    uint64_t size;
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdir(rig_in("gone"), 0700), 0);
    assert_int_equal(chdir(rig_in("gone")), 0);
    assert_int_equal(rmdir(rig_in("gone")), 0);
    struct target_plan plan = rig_plan(".", MIB);
    int code = target_estimate(&plan, &size, &err);
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_int_equal(code, -ENOENT);
    assert_non_null(strstr(err.text, "removed"));
}

TEST(swap_space_is_not_overwritten)
{
    char command[700];
    struct target target = {0};
    struct err err = {0};
    snprintf(command, sizeof(command),
             "head -c 1048576 /dev/zero >'%s' && chmod 600 '%s' && mkswap -q '%s' >/dev/null 2>&1",
             rig_in("swap"), rig_in("swap"), rig_in("swap"));
    if (geteuid() != 0 || system(command) != 0 || swapon(rig_in("swap"), 0) != 0)
        skip();
    int writing = rig_open_existing(&target, rig_in("swap"), true, true, &err);
    int off = swapoff(rig_in("swap"));
    assert_int_equal(off, 0);
    assert_true(writing == -EBUSY || writing == -ETXTBSY);
    assert_non_null(strstr(err.text, "swap"));
}

FIXTURE(setup)
{
    snprintf(victim, sizeof(victim), "%s", rig_in("victim"));
    write_file(victim, VICTIM_BYTES, 'v');
    return 0;
}

GROUP(setup, NULL);
