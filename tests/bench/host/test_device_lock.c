/* tests/bench/host/test_device_lock: who is kept away by the lock of a device, and who can keep nobody away.
 */
#include "bench/host/device_lock.h"
#include "tests/bench/mount_rig.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/wait.h>

#define NOBODY     65534
#define SERVICE    61234
#define CANNOT     1 /* of a preparation that is not possible here; results are never above 0 */
#define PATIENCE_S 20

static char directory[256], machine[300], own[300], file[340], other[340];
static struct device_lock_places places;
static int measured_fd; /* on the device that is locked */

/* A child that has asked for the lock and keeps what it got until it is killed. */
static struct {
    pid_t pid;
    int code;
} holder;

static void hold(bool (*prepare)(void))
{
    int ends[2], lock_fd;
    assert_int_equal(pipe(ends), 0);
    holder.pid = fork();
    assert_true(holder.pid >= 0);
    if (holder.pid == 0) {
        alarm(PATIENCE_S);
        int code = CANNOT;
        if (prepare == NULL || prepare())
            code = device_lock_take_at(&places, measured_fd, &lock_fd, NULL);
        if (write(ends[1], &code, sizeof code) == sizeof code)
            pause();
        _exit(1);
    }
    close(ends[1]);
    if (read(ends[0], &holder.code, sizeof holder.code) != sizeof holder.code)
        holder.code = -ECHILD;
    close(ends[0]);
}

static void kill_holder(void)
{
    kill(holder.pid, SIGKILL);
    assert_int_equal(waitpid(holder.pid, NULL, 0), holder.pid);
}

/* What another process is told now. */
static int ask(bool (*prepare)(void))
{
    hold(prepare);
    kill_holder();
    return holder.code;
}

static int take(int *ret_lock_fd)
{
    struct err err = {0};
    return device_lock_take_at(&places, measured_fd, ret_lock_fd, &err);
}

/* What this process is told while another holds, which got the lock; skips where that could not prepare. */
static int take_beside(bool (*prepare)(void))
{
    int lock_fd;
    hold(prepare);
    int code = take(&lock_fd);
    kill_holder();
    rig_need(holder.code != CANNOT, "what the other process needs cannot be made here");
    assert_int_equal(holder.code, 0);
    return code;
}

static void need_root(void)
{
    rig_need(geteuid() == 0, "only root can become somebody else");
}

static bool become(uid_t user, gid_t group)
{
    return setgroups(0, NULL) == 0 && setgid(group) == 0 && setuid(user) == 0;
}

static bool become_nobody(void)
{
    return become(NOBODY, NOBODY);
}

static bool become_the_service(void)
{
    return become(SERVICE, SERVICE);
}

static bool enter_name_spaces(void)
{
    return unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("sysfs", "/sys", "sysfs", 0, NULL) == 0;
}

static bool lose_sysfs(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/sys", "tmpfs", 0, NULL) == 0 && mount("none", "/dev", "tmpfs", 0, NULL) == 0;
}

TEST(one_process_at_a_time_locks_a_device)
{
    int lock_fd, again;
    struct stat status;
    assert_int_equal(take(&lock_fd), 0);
    assert_true(fcntl(lock_fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fstat(lock_fd, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(ask(NULL), -EWOULDBLOCK);
    assert_int_equal(take(&again), -EWOULDBLOCK);
    assert_int_equal(again, -1);
    close(lock_fd);
    assert_int_equal(ask(NULL), 0);
}

TEST(a_killed_holder_leaves_a_file_that_blocks_nobody)
{
    AUTO(auto_close) int lock_fd;
    hold(NULL);
    assert_int_equal(holder.code, 0);
    assert_int_equal(take(&lock_fd), -EWOULDBLOCK);
    kill_holder();
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(take(&lock_fd), 0);
}

TEST(another_device_is_locked_beside)
{
    int lock_fd, beside_fd, proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(proc_fd >= 0);
    assert_int_equal(take(&lock_fd), 0);
    assert_int_equal(device_lock_take_at(&places, proc_fd, &beside_fd, NULL), 0);
    close(beside_fd);
    close(proc_fd);
    close(lock_fd);
}

TEST(processes_in_other_name_spaces_and_without_sys_and_dev_are_kept_away)
{
    need_root();
    assert_int_equal(take_beside(lose_sysfs), -EWOULDBLOCK);
    assert_int_equal(take_beside(enter_name_spaces), -EWOULDBLOCK);
}

/* As the unit does before each night. */
TEST(the_service_is_kept_away_by_its_group)
{
    int lock_fd;
    need_root();
    assert_int_equal(take(&lock_fd), 0);
    assert_int_equal(ask(become_the_service), -EACCES);
    assert_int_equal(fchown(lock_fd, 0, SERVICE) | fchmod(lock_fd, 0660), 0);
    assert_int_equal(ask(become_the_service), -EWOULDBLOCK);
    close(lock_fd);
    assert_int_equal(take_beside(become_the_service), -EWOULDBLOCK);
}

TEST(a_user_is_kept_apart_from_the_same_user_only)
{
    int lock_fd;
    need_root();
    assert_int_equal(take(&lock_fd), 0);
    assert_int_equal(ask(become_nobody), -EACCES); /* nor is a lock seen that the user may not open */
    close(lock_fd);
    assert_int_equal(mkdir(own, 0700) | chown(own, NOBODY, NOBODY), 0);
    places.own_directory = own;
    hold(become_nobody);
    int first = holder.code;
    pid_t pid = holder.pid;
    int second = ask(become_nobody), root = take(&lock_fd);
    holder.pid = pid;
    kill_holder();
    assert_int_equal(first, -EACCES);
    assert_int_equal(second, -EWOULDBLOCK);
    assert_int_equal(root, 0);
    close(lock_fd);
}

/* What somebody else could have put where the file is to be, in a directory that is root's. */
static bool plant(int kind)
{
    switch (kind) {
    case 0:
        return symlink(other, file) == 0;
    case 1:
        return mkfifo(file, 0600) == 0;
    case 2:
        return link(other, file) == 0;
    case 3:
        return mkdir(file, 0700) == 0;
    case 4:
        return rename(other, file) == 0 && chmod(file, 0644) == 0;
    default:
        return rename(other, file) == 0 && chown(file, NOBODY, NOBODY) == 0;
    }
}

/* A lock of all bytes, as far as the file's rights allow one. */
static bool lock_all_as_nobody(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!become_nobody())
        return false;
    int fd = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        lock.l_type = F_RDLCK;
    }
    return fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

TEST(what_others_could_have_planted_is_not_used_and_blocks_nobody)
{
    need_root();
    for (int kind = 0; kind < 6; kind++) {
        int lock_fd, fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(mkdir(machine, 0755), 0);
        assert_true(plant(kind));
        hold(lock_all_as_nobody);
        int code = take(&lock_fd);
        kill_holder();
        if (code >= 0 || code == -EWOULDBLOCK)
            fail_msg("plant %d: %d", kind, code);
        assert_int_equal(lock_fd, -1);
        rig_remove_tree(machine);
        unlink(other);
    }
}

TEST(a_directory_that_others_could_change_is_not_used)
{
    struct err err = {0};
    int lock_fd;
    need_root();
    assert_int_equal(mkdir(own, 0755), 0);
    for (int i = 0; i < 4; i++) {
        const mode_t modes[] = {0755, 01777, 0775};
        int made = i == 3 ? symlink(own, machine) : mkdir(machine, 0755) | chmod(machine, modes[i]);
        assert_int_equal(made, 0);
        assert_int_equal(i == 0 ? chown(machine, NOBODY, NOBODY) : 0, 0);
        int code = device_lock_take_at(&places, measured_fd, &lock_fd, &err);
        assert_true(code < 0 && code != -EWOULDBLOCK);
        assert_int_equal(lock_fd, -1);
        assert_non_null(strstr(err.text, machine));
        assert_int_not_equal(access(file, F_OK), 0);
        assert_int_equal(i < 3 ? rmdir(machine) : unlink(machine), 0);
    }
}

FIXTURE(enter)
{
    rig_make_directory(directory);
    snprintf(machine, sizeof machine, "%s/run", directory);
    snprintf(own, sizeof own, "%s/own", directory);
    snprintf(file, sizeof file, "%s/devices", machine);
    snprintf(other, sizeof other, "%s/other", directory);
    places = (struct device_lock_places){.directory = machine};
    measured_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return measured_fd < 0 || chmod(directory, 0755) != 0;
}

FIXTURE(leave)
{
    close(measured_fd);
    rig_remove_tree(directory);
    return 0;
}

EACH_TEST(enter, leave);
