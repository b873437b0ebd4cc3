/* A guard ends the whole group when its owner is gone, and leaves it alone when it was stopped. */
#include "bench/base/guard.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* A group of two: its leader, and what that one started. Both hold the pipe's end open. */
static pid_t start_group(int pipe_fd)
{
    pid_t leader = fork();
    if (leader == 0) {
        setpgid(0, 0);
        if (fork() >= 0)
            pause();
        close(pipe_fd);
        _exit(0);
    }
    setpgid(leader, leader);
    return leader;
}

/* Whether all ends of the pipe are closed within so many ms. */
static bool has_ended(int fd, int wait_ms)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    return poll(&end, 1, wait_ms) == 1;
}

static pid_t leader_of_killed_owner(int fds[2])
{
    int numbers[2];
    pid_t leader = 0;
    assert_int_equal(pipe2(numbers, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0) {
        struct err err;
        leader = start_group(fds[1]);
        close(fds[1]);
        bool is_told = guard_start(leader, &err) > 0 && write(numbers[1], &leader, sizeof leader) > 0;
        if (is_told)
            pause();
        _exit(1);
    }
    close(fds[1]);
    assert_int_equal(read(numbers[0], &leader, sizeof leader), sizeof leader);
    close(numbers[0]);
    close(numbers[1]);
    assert_false(has_ended(fds[0], 0));
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    return leader;
}

TEST(a_group_ends_when_its_owner_was_killed)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t leader = leader_of_killed_owner(fds);
    bool ended = has_ended(fds[0], 30000);
    if (!ended)
        kill(-leader, SIGKILL);
    close(fds[0]);
    assert_true(ended);
}

TEST(a_guard_that_was_stopped_does_nothing)
{
    struct err err = {0};
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t leader = start_group(fds[1]);
    close(fds[1]);
    pid_t guard = guard_start(leader, &err);
    assert_true(guard > 0);
    guard_stop(guard);
    assert_int_equal(kill(guard, 0), -1);
    assert_int_equal(errno, ESRCH);
    assert_false(has_ended(fds[0], 0));
    kill(-leader, SIGKILL);
    assert_int_equal(waitpid(leader, NULL, 0), leader);
    assert_true(has_ended(fds[0], 30000));
    close(fds[0]);
}

TEST(no_guard_is_stopped_in_peace)
{
    guard_stop(0);
    guard_stop(-ENOMEM);
}
