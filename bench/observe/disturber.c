/* A command in a group of its own, started again when it ends. */
#include "bench/observe/disturber.h"

#include "bench/base/clock.h"
#include "bench/base/guard.h"
#include "bench/observe/activity_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
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
#define KILL_MS      5000
#define KILL_NS      (KILL_MS * 1000000ULL)
#define NOT_FOUND    127 /* exit codes, as the shell has them */
#define NOT_STARTED  126

#define ORPHAN_ROUNDS 10 /* one that starts others faster than they end is left */

static void become_command(const char *const *argv, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
        activity_become(argv);
    _exit(NOT_STARTED);
}

static int start_again(struct disturber *disturber, struct err *err)
{
    const pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(err, -errno, "%s cannot be started", disturber->argv[0]);
    if (pid == 0)
        become_command(disturber->argv, parent);
    setpgid(pid, pid); /* as the child does: whoever is first */
    disturber->pid = pid;
    disturber->pid_fd = pidfd_open(pid, 0);
    int result = disturber->pid_fd < 0 ? err_sys(err, -errno, "%s cannot be watched", disturber->argv[0]) : 0;
    if (result == 0)
        disturber->guard = guard_start(pid, err);
    if (disturber->guard < 0)
        result = disturber->guard;
    if (result < 0)
        disturber_stop(disturber);
    return result;
}

int disturber_start(struct disturber *disturber, const char *const *argv, struct err *err)
{
    *disturber = (struct disturber){.argv = argv, .pid_fd = -1};
    /* A daemon that it leaves becomes our child, and ends with it. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    return start_again(disturber, err);
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void add_usage(struct disturber_work *work, const struct rusage *usage)
{
    work->cpu_s += seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
    work->read_bytes += (double)usage->ru_inblock * SECTOR_BYTES;
    work->written_bytes += (double)usage->ru_oublock * SECTOR_BYTES;
}

static int explain_end(const struct disturber *disturber, int status, struct err *err)
{
    if (WIFSIGNALED(status))
        return err_set(err, -ECANCELED, "%s was ended by signal %d; give a command that keeps running",
                       disturber->argv[0], WTERMSIG(status));
    if (WEXITSTATUS(status) == NOT_FOUND)
        return err_set(err, -ENOENT, "%s: there is no such program; give a command that runs",
                       disturber->argv[0]);
    return err_set(err, -ECANCELED, "%s failed with exit code %d; give a command that succeeds",
                   disturber->argv[0], WEXITSTATUS(status));
}

/* A process of this machine. */
struct process {
    pid_t pid, parent, group;
    double cpu_s; /* with its children that it waited for */
    bool is_ours;
};

struct processes {
    struct process *each;
    size_t n, capacity;
};

/* Fields of /proc/PID/stat behind the name, which may hold blanks and brackets. */
static bool read_process(const char *pid, struct process *ret)
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
    const char *rest = strrchr(text, ')');
    *ret = (struct process){.pid = (pid_t)strtol(pid, NULL, 10)};
    if (rest == NULL || sscanf(rest + 1, " %*c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
                               &ret->parent, &ret->group, &times[0], &times[1], &times[2], &times[3]) != 6)
        return false;
    ret->cpu_s = (double)(times[0] + times[1] + times[2] + times[3]) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

static bool keep_process(struct processes *list, const struct process *process)
{
    if (list->n == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        struct process *each = reallocarray(list->each, capacity, sizeof *each);
        if (each == NULL)
            return false;
        list->each = each;
        list->capacity = capacity;
    }
    list->each[list->n++] = *process;
    return true;
}

static void list_processes(struct processes *list)
{
    struct process process;
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &process) &&
            !keep_process(list, &process))
            break;
    }
    if (all != NULL)
        closedir(all);
}

static bool is_child_of_ours(const struct processes *list, const struct process *process)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->each[i].is_ours && list->each[i].pid == process->parent)
            return true;
    }
    return false;
}

static bool is_in_group(const struct disturber *disturber, const struct process *process)
{
    return disturber->pid > 0 && process->group == disturber->pid;
}

/* A process that has lost its parent is our child since disturber_start. */
static bool is_orphan(const struct disturber *disturber, const struct process *process)
{
    return process->parent == getpid() && process->pid != disturber->guard &&
           process->pid != disturber->kept[0] && process->pid != disturber->kept[1] &&
           process->group != getpgrp();
}

/* The group, what was started from it and has a group of its own, and what lost its parent. To be freed. */
static struct processes find_ours(const struct disturber *disturber)
{
    struct processes list = {0};
    bool is_grown = true;
    list_processes(&list);
    for (size_t i = 0; i < list.n; i++)
        list.each[i].is_ours = is_in_group(disturber, &list.each[i]) || is_orphan(disturber, &list.each[i]);
    while (is_grown) {
        is_grown = false;
        for (size_t i = 0; i < list.n; i++) {
            if (!list.each[i].is_ours && is_child_of_ours(&list, &list.each[i]))
                is_grown = list.each[i].is_ours = true;
        }
    }
    return list;
}

static void add_bytes(pid_t pid, struct disturber_work *work)
{
    char path[64], line[128];
    unsigned long long bytes;
    snprintf(path, sizeof path, "/proc/%d/io", pid);
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

struct disturber_work disturber_work_now(const struct disturber *disturber)
{
    struct disturber_work work = disturber->work;
    if (disturber->pid <= 0)
        return work;
    struct processes list = find_ours(disturber);
    for (size_t i = 0; i < list.n; i++) {
        if (list.each[i].is_ours) {
            work.cpu_s += list.each[i].cpu_s;
            add_bytes(list.each[i].pid, &work);
        }
    }
    free(list.each);
    return work;
}

#define MOST_STRAYS 256

/* Descriptors of those that a signal to the group does not reach; a number could be somebody else's by then.
 */
static size_t hold_strays(const struct disturber *disturber, int strays[MOST_STRAYS])
{
    struct processes list = find_ours(disturber);
    size_t n = 0;
    for (size_t i = 0; i < list.n && n < MOST_STRAYS; i++) {
        if (list.each[i].is_ours && !is_in_group(disturber, &list.each[i])) {
            strays[n] = pidfd_open(list.each[i].pid, 0);
            n += strays[n] >= 0;
        }
    }
    free(list.each);
    return n;
}

/* The ones that their own program has not ended. All of them are dead before the first is reaped: those whose
 * parent was among them are ours then. */
static void end_strays(const int *strays, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)pidfd_send_signal(strays[i], SIGKILL, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        struct pollfd end = {.fd = strays[i], .events = POLLIN};
        (void)poll(&end, 1, KILL_MS);
    }
    for (size_t i = 0; i < n; i++) {
        siginfo_t info;
        (void)waitid(P_PIDFD, (id_t)strays[i], &info, WEXITED | WNOHANG);
        close(strays[i]);
    }
}

/* What was started while others were ended is found the next time. */
static void end_orphans(const struct disturber *disturber)
{
    int strays[MOST_STRAYS];
    size_t n;
    for (int i = 0; i < ORPHAN_ROUNDS && (n = hold_strays(disturber, strays)) > 0; i++)
        end_strays(strays, n);
}

int disturber_again(struct disturber *disturber, struct err *err)
{
    int status;
    struct rusage usage;
    if (wait4(disturber->pid, &status, 0, &usage) != disturber->pid)
        return err_sys(err, -errno, "%s: how it ended is not known", disturber->argv[0]);
    const pid_t group = disturber->pid;
    close(disturber->pid_fd);
    disturber->pid = 0;
    /* What it has left behind would become more each time. Daemons wait for disturber_stop: to look for them
     * takes time that the observer needs. */
    kill(-group, SIGKILL);
    guard_stop(disturber->guard);
    disturber->guard = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return explain_end(disturber, status, err);
    add_usage(&disturber->work, &usage);
    disturber->work.completed++;
    return start_again(disturber, err);
}

/* Whether a process of the group is left. Those that were waited for are not. */
static bool group_lives(pid_t group)
{
    return kill(-group, 0) == 0 || errno == EPERM;
}

static bool wait_for_group(struct disturber *disturber, uint64_t wait_ns)
{
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    const pid_t group = disturber->pid;
    do {
        /* The leader, and those of its children that outlived it and are ours since. */
        while (waitpid(-group, NULL, WNOHANG) > 0) {
        }
        if (!group_lives(group))
            return true;
        poll(NULL, 0, 1);
    } while (clock_now_ns(&clock_monotonic) - start_ns < wait_ns);
    return false;
}

void disturber_stop(struct disturber *disturber)
{
    int strays[MOST_STRAYS];
    if (disturber->pid <= 0)
        return;
    const size_t n_strays = hold_strays(disturber, strays);
    kill(-disturber->pid, SIGTERM);
    kill(-disturber->pid, SIGCONT);
    if (!wait_for_group(disturber, ASK_NS)) {
        kill(-disturber->pid, SIGKILL);
        (void)wait_for_group(disturber, KILL_NS);
    }
    end_strays(strays, n_strays);
    disturber->pid = 0;
    end_orphans(disturber);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    guard_stop(disturber->guard);
    if (disturber->pid_fd >= 0)
        close(disturber->pid_fd);
    *disturber = (struct disturber){.pid_fd = -1};
}
