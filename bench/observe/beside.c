/* A command in a group of its own, started again when it ends. */
#include "bench/observe/beside.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECTOR_BYTES 512.0 /* of ru_inblock and ru_oublock */
#define ASK_NS       2000000000ULL
#define KILL_NS      5000000000ULL
#define NOT_FOUND    127 /* exit codes, as the shell has them */
#define NOT_STARTED  126

static void become_command(const char *const *argv, pid_t parent)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGCONT};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], SIG_DFL);
    setpgid(0, 0);
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 &&
        prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
        (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    }
    _exit(errno == ENOENT ? NOT_FOUND : NOT_STARTED);
}

static int start_again(struct beside *beside, struct err *err)
{
    const pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(err, -errno, "%s cannot be started", beside->argv[0]);
    if (pid == 0)
        become_command(beside->argv, parent);
    setpgid(pid, pid); /* as the child does: whoever is first */
    beside->pid = pid;
    beside->pid_fd = pidfd_open(pid, 0);
    if (beside->pid_fd >= 0)
        return 0;
    int result = err_sys(err, -errno, "%s cannot be watched", beside->argv[0]);
    beside_stop(beside);
    return result;
}

int beside_start(struct beside *beside, const char *const *argv, struct err *err)
{
    *beside = (struct beside){.argv = argv, .pid_fd = -1};
    return start_again(beside, err);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void add_usage(struct beside_work *work, const struct rusage *usage)
{
    work->cpu_s += seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
    work->read_bytes += (double)usage->ru_inblock * SECTOR_BYTES;
    work->written_bytes += (double)usage->ru_oublock * SECTOR_BYTES;
}

static int explain_end(const struct beside *beside, int status, struct err *err)
{
    if (WIFSIGNALED(status))
        return err_set(err, -ECANCELED, "%s was ended by signal %d; give a command that keeps running",
                       beside->argv[0], WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_FOUND)
        return err_set(err, -ENOENT, "%s: there is no such program; give a command that runs",
                       beside->argv[0]);
    return err_set(err, -ECANCELED, "%s failed with exit code %d; give a command that succeeds",
                   beside->argv[0], WEXITSTATUS(status));
}

int beside_again(struct beside *beside, struct err *err)
{
    int status;
    struct rusage usage;
    if (wait4(beside->pid, &status, 0, &usage) != beside->pid)
        return err_sys(err, -errno, "%s: how it ended is not known", beside->argv[0]);
    const pid_t group = beside->pid;
    close(beside->pid_fd);
    beside->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        kill(-group, SIGKILL);
        return explain_end(beside, status, err);
    }
    add_usage(&beside->work, &usage);
    beside->work.completed++;
    return start_again(beside, err);
}

/* Fields of /proc/PID/stat behind the name, which may hold blanks and brackets; the third is the group. */
static bool read_times(const char *pid, pid_t group, double *ret_cpu_s)
{
    char path[64], text[1024];
    unsigned long long times[4];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = '\0';
    int its_group;
    const char *rest = strrchr(text, ')');
    if (rest == NULL || sscanf(rest + 1, " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                               &its_group, &times[0], &times[1], &times[2], &times[3]) != 5)
        return false;
    *ret_cpu_s = (double)(times[0] + times[1] + times[2] + times[3]) / (double)sysconf(_SC_CLK_TCK);
    return its_group == group;
}

static void add_bytes(const char *pid, struct beside_work *work)
{
    char path[64], line[128];
    unsigned long long bytes;
    snprintf(path, sizeof path, "/proc/%.20s/io", pid);
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "read_bytes: %llu", &bytes) == 1)
            work->read_bytes += (double)bytes;
        else if (sscanf(line, "write_bytes: %llu", &bytes) == 1)
            work->written_bytes += (double)bytes;
    }
    if (in != NULL)
        fclose(in);
}

struct beside_work beside_work_now(const struct beside *beside)
{
    struct beside_work work = beside->work;
    DIR *all = beside->pid > 0 ? opendir("/proc") : NULL;
    const struct dirent *entry;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        double cpu_s;
        if (isdigit((unsigned char)entry->d_name[0]) && read_times(entry->d_name, beside->pid, &cpu_s)) {
            work.cpu_s += cpu_s;
            add_bytes(entry->d_name, &work);
        }
    }
    if (all != NULL)
        closedir(all);
    return work;
}

/* Whether a process of the group is left. The leader, once it was waited for, is not. */
static bool group_lives(pid_t group)
{
    return kill(-group, 0) == 0 || errno == EPERM;
}

static bool wait_for_group(struct beside *beside, uint64_t wait_ns)
{
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    const pid_t group = beside->pid;
    int status, ended = 0;
    do {
        if (ended == 0)
            ended = spawn_reap_within(group, 0, &status);
        if (ended != 0 && !group_lives(group))
            return true;
        poll(NULL, 0, 1);
    } while (clock_now_ns(&clock_monotonic) - start_ns < wait_ns);
    return false;
}

void beside_stop(struct beside *beside)
{
    if (beside->pid <= 0)
        return;
    kill(-beside->pid, SIGTERM);
    kill(-beside->pid, SIGCONT);
    if (!wait_for_group(beside, ASK_NS)) {
        kill(-beside->pid, SIGKILL);
        (void)wait_for_group(beside, KILL_NS);
    }
    if (beside->pid_fd >= 0)
        close(beside->pid_fd);
    *beside = (struct beside){.pid_fd = -1};
}
