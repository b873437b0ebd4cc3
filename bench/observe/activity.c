/* Times and counts of a run that is not disturbed. */
#include "bench/observe/activity.h"

#include "bench/base/clock.h"
#include "bench/base/guard.h"
#include "bench/observe/activity_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECTOR_BYTES 512.0 /* of ru_inblock and ru_oublock */
#define NOT_FOUND    127
#define POLL_MS      100 /* a signal may come just before we sleep */

void activity_become(const char *const *argv)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGCONT};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_DFL);
    setpgid(0, 0);
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0) {
        (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    }
    _exit(errno == ENOENT ? NOT_FOUND : NOT_FOUND - 1);
}

int activity_check(const char *name, int status, struct err *err)
{
    if (WIFSIGNALED(status))
        return err_set(err, -ECANCELED, "%s was ended by signal %d; give a command that succeeds", name,
                       WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_FOUND)
        return err_set(err, -ENOENT, "%s: there is no such program", name);
    if (WEXITSTATUS(status) != 0)
        return err_set(err, -ECANCELED, "%s failed with exit code %d; give a command that succeeds", name,
                       WEXITSTATUS(status));
    return 0;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void take_usage(const struct rusage *usage, struct activity *activity)
{
    activity->user_s = seconds_of(usage->ru_utime);
    activity->system_s = seconds_of(usage->ru_stime);
    activity->page_faults = (double)usage->ru_minflt;
    activity->disk_faults = (double)usage->ru_majflt;
    activity->context_switches = (double)usage->ru_nvcsw + (double)usage->ru_nivcsw;
    activity->read_bytes = (double)usage->ru_inblock * SECTOR_BYTES;
    activity->written_bytes = (double)usage->ru_oublock * SECTOR_BYTES;
}

/* The signals that end us restart wait4; the group then gets what we got. We sleep until the end or a signal:
 * to look often would take the program's time. */
static int wait_for(pid_t pid, const atomic_int *interrupted, int *ret_status, struct rusage *ret_usage,
                    struct err *err)
{
    pid_t ended;
    int pid_fd = pidfd_open(pid, 0);
    struct pollfd end = {.fd = pid_fd, .events = POLLIN};
    if (pid_fd < 0)
        return err_sys(err, -errno, "it cannot be watched");
    while ((ended = wait4(pid, ret_status, WNOHANG, ret_usage)) == 0 || (ended < 0 && errno == EINTR)) {
        if (interrupted != NULL && atomic_load(interrupted) != 0) {
            kill(-pid, SIGKILL);
            (void)waitpid(pid, ret_status, 0);
            close(pid_fd);
            return err_set(err, -EINTR, "interrupted");
        }
        (void)poll(&end, 1, POLL_MS);
    }
    close(pid_fd);
    return ended < 0 ? err_sys(err, -errno, "how it ended is not known") : 0;
}

int activity_time(const char *const *argv, const atomic_int *interrupted, struct activity *ret,
                  struct err *err)
{
    struct rusage usage;
    int status = 0;
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(err, -errno, "%s cannot be started", argv[0]);
    if (pid == 0)
        activity_become(argv);
    setpgid(pid, pid); /* as the child does: whoever is first */
    const pid_t guard = guard_start(pid, err);
    int result = guard < 0 ? guard : wait_for(pid, interrupted, &status, &usage, err);
    const uint64_t end_ns = clock_now_ns(&clock_monotonic);
    /* What it has left behind would be beside the next run. */
    kill(-pid, SIGKILL);
    guard_stop(guard);
    if (result < 0)
        return err_prefix(err, "%s", argv[0]);
    result = activity_check(argv[0], status, err);
    if (result == 0) {
        take_usage(&usage, ret);
        ret->seconds = (double)(end_ns - start_ns) / 1e9;
    }
    return result;
}
