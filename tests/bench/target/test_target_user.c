/* Tests of bench/target/target_user: who else uses a file, and what is not written to because of it. */
/* LINK: -Wl,--wrap=target_is_shared */
#include "bench/target/target_internal.h"
#include "tests/bench/target/target_rig.h"
#include "tests/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#define FILE_BYTES (1 * MIB)
#define N_PROBES   20000

static char file_path[300];
static bool has_leases = true;
static unsigned n_busy; /* probes that still find the file in use */
static struct target target;
static struct err err;

WRAP(bool, target_is_shared, (int fd))
{
    if (n_busy > 0) {
        n_busy--;
        return true;
    }
    return has_leases && __real_target_is_shared(fd);
}

FIXTURE(enter)
{
    snprintf(file_path, sizeof file_path, "%s/image", directory);
    return 0;
}

GROUP(enter, NULL);

FIXTURE(fresh)
{
    memset(&err, 0, sizeof err);
    has_leases = true;
    n_busy = 0;
    int fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return fd < 0 || ftruncate(fd, FILE_BYTES) != 0 || close(fd) != 0;
}

FIXTURE(done)
{
    target_close(&target);
    return 0;
}

EACH_TEST(fresh, done);

static int open_for_writing(void)
{
    return rig_open_existing(&target, file_path, true, true, &err);
}

static int holder_flags;

static bool open_again(void)
{
    prctl(PR_SET_NAME, "a holder");
    if (target.fd > 0)
        close(target.fd);
    return open(file_path, holder_flags) >= 0;
}

/* A child that has the file open until it is stopped. */
static pid_t start_holder(int flags)
{
    holder_flags = flags;
    return child_hold(open_again);
}

static void check_holder_is_named(int flags)
{
    char expected[80];
    pid_t child = start_holder(flags);
    int code = open_for_writing();
    child_stop(child);
    assert_int_equal(code, -EBUSY);
    snprintf(expected, sizeof expected, "open in process %ld (a holder)", (long)child);
    assert_non_null(strstr(err.text, expected));
    assert_non_null(strstr(err.text, "stop it"));
    assert_int_equal(open_for_writing(), 0);
    target_close(&target);
}

TEST(a_file_that_another_process_has_open_is_not_overwritten)
{
    check_holder_is_named(O_WRONLY);
    check_holder_is_named(O_RDWR);
    check_holder_is_named(O_RDONLY);
}

TEST(without_leases_open_files_are_found_in_proc)
{
    has_leases = false;
    check_holder_is_named(O_WRONLY);
}

TEST(a_file_in_use_out_of_sight_is_not_overwritten)
{
    n_busy = 1000000;
    assert_int_equal(open_for_writing(), -EBUSY);
    assert_non_null(strstr(err.text, "open elsewhere"));
}

TEST(a_descriptor_that_the_kernel_closes_late_is_waited_for)
{
    n_busy = 3;
    assert_int_equal(open_for_writing(), 0);
}

TEST(names_alone_are_no_use_of_a_file)
{
    pid_t child = start_holder(O_PATH);
    int code = open_for_writing();
    child_stop(child);
    assert_int_equal(code, 0);
}

TEST(reading_asks_nobody)
{
    pid_t child = start_holder(O_RDWR);
    int code = rig_open_existing(&target, file_path, false, false, &err);
    int checked = target_check_alone(&target, &err);
    child_stop(child);
    assert_int_equal(code, 0);
    assert_int_equal(checked, 0);
}

/* As QEMU does; the descriptors of runs come and go meanwhile. */
TEST(nobody_gets_a_lock_before_the_command_ends)
{
    struct flock byte = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 1};
    int run_fd = -1, second_fd = -1, other = open(file_path, O_RDWR | O_CLOEXEC);
    assert_true(other >= 0);
    close(other);
    assert_int_equal(open_for_writing(), 0);
    other = open(file_path, O_RDWR | O_CLOEXEC);
    assert_int_equal(target_open_run(&target, false, true, &run_fd, &err), 0);
    assert_int_equal(target_open_run(&target, false, true, &second_fd, &err), 0);
    assert_int_equal(pwrite(run_fd, "x", 1, 100), 1);
    assert_int_equal(fcntl(other, F_OFD_SETLK, &byte), -1);
    close(run_fd);
    close(second_fd);
    assert_int_equal(fcntl(other, F_OFD_SETLK, &byte), -1);
    assert_true(errno == EAGAIN || errno == EACCES);
    assert_int_equal(flock(other, LOCK_SH | LOCK_NB), -1);
    target_close(&target);
    assert_int_equal(fcntl(other, F_OFD_SETLK, &byte), 0);
    close(other);
}

TEST(a_writer_that_comes_later_ends_the_command)
{
    assert_int_equal(open_for_writing(), 0);
    if (fcntl(target.fd, F_SETLEASE, F_WRLCK) != 0) {
        print_message("skipped: no leases here\n");
        skip();
    }
    assert_int_equal(fcntl(target.fd, F_SETLEASE, F_UNLCK), 0);
    assert_int_equal(target_check_alone(&target, &err), 0);
    pid_t reader = start_holder(O_RDONLY);
    int beside_reader = target_check_alone(&target, &err);
    pid_t writer = start_holder(O_WRONLY);
    int beside_both = target_check_alone(&target, &err);
    child_stop(writer);
    child_stop(reader);
    assert_int_equal(beside_reader, 0);
    assert_int_equal(beside_both, -EBUSY);
    assert_non_null(strstr(err.text, "nothing more is written"));
    assert_int_equal(target_check_alone(&target, &err), 0);
}

/* Whoever opens the file while the lease is held makes the kernel send a signal. */
TEST(opening_at_the_moment_of_the_question_harms_nobody)
{
    int fd = open(file_path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fd);
        for (;;)
            close(open(file_path, O_RDWR | O_NONBLOCK));
    }
    for (unsigned i = 0; i < N_PROBES; i++)
        __real_target_is_shared(fd);
    child_stop(child);
    assert_false(__real_target_is_shared(fd));
    close(fd);
}
