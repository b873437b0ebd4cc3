/* System calls, new processes and signals of a program and its descendants, counted by ptrace. */
#include "bench/observe/activity.h"
#include "bench/observe/activity_internal.h"
#include "bench/observe/activity_pages.h"

#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYSCALL_STOP (SIGTRAP | 0x80)

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define OWN_ARCH AUDIT_ARCH_I386
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#define OWN_ARCH 0U /* not known: all are taken for our own */
#endif

struct counter {
    pid_t root;
    struct activity *activity;
    const atomic_int *interrupted;
    struct activity_pages *pages;
    int status; /* of the root's end */
};

/* Programs of another word size have numbers of their own: their calls count, and are not told apart. */
static void count_call(struct counter *counter, uint32_t arch, uint64_t number)
{
    struct activity *activity = counter->activity;
    activity->syscalls++;
    if (OWN_ARCH != 0 && arch != OWN_ARCH)
        return;
    switch (number) {
    case SYS_mmap:
#ifdef SYS_mmap2
    case SYS_mmap2:
#endif
    case SYS_munmap:
        activity->maps++;
        break;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_msync:
        activity->flushes++;
        break;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
#ifdef SYS_clock_nanosleep_time64
    case SYS_clock_nanosleep_time64:
#endif
        activity->sleeps++;
        break;
    default:
        break;
    }
}

static void look_at_call(struct counter *counter, pid_t pid)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) > 0 &&
        !activity_pages_call(counter->pages, pid, &info) && info.op == PTRACE_SYSCALL_INFO_ENTRY)
        count_call(counter, info.arch, info.entry.nr);
}

/* The root's account holds what its children did that it waited for. */
static void read_transferred(struct counter *counter, pid_t pid)
{
    char path[32], line[128];
    unsigned long long bytes;
    snprintf(path, sizeof path, "/proc/%d/io", pid);
    FILE *in = pid == counter->root ? fopen(path, "re") : NULL;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "rchar: %llu", &bytes) == 1 || sscanf(line, "wchar: %llu", &bytes) == 1)
            counter->activity->transferred_bytes += (double)bytes;
    }
    if (in != NULL)
        fclose(in);
}

/* A new thread is no new process. */
static void take_child(struct counter *counter, pid_t pid, int event)
{
    unsigned long child = 0;
    char path[64];
    const bool is_known = ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child) == 0;
    snprintf(path, sizeof path, "/proc/%d/task/%lu", pid, child);
    if (event == PTRACE_EVENT_CLONE && is_known && access(path, F_OK) == 0)
        return;
    counter->activity->forks++;
    if (event != PTRACE_EVENT_VFORK && is_known)
        activity_pages_start(counter->pages, (pid_t)child, false);
}

/* Returns the signal to hand on, 0 for none. */
static int take_stop(struct counter *counter, pid_t pid, int status)
{
    const int number = WSTOPSIG(status), event = status >> 16;
    if (number == SYSCALL_STOP) {
        look_at_call(counter, pid);
    } else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE) {
        take_child(counter, pid, event);
    } else if (event == PTRACE_EVENT_EXEC) {
        counter->activity->execs++;
        activity_pages_start(counter->pages, pid, true);
    } else if (event == PTRACE_EVENT_EXIT) {
        read_transferred(counter, pid);
        activity_pages_end(counter->pages, pid);
    } else if (event == 0 && number != SIGSTOP) {
        if (activity_pages_signal(counter->pages, pid, number))
            return 0;
        counter->activity->signals++;
        return number;
    }
    return 0;
}

/* Until no process is left. */
static int follow(struct counter *counter)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, __WALL, &usage);
        if (pid < 0 && errno != EINTR)
            return errno == ECHILD ? 0 : -errno;
        if (counter->interrupted != NULL && atomic_load(counter->interrupted) != 0)
            return -EINTR;
        if (pid < 0)
            continue;
        if (!WIFSTOPPED(status)) {
            if (pid == counter->root) {
                counter->status = status;
                counter->activity->used_pages = (double)usage.ru_minflt + (double)usage.ru_majflt;
            }
            continue;
        }
        const int number = take_stop(counter, pid, status);
        /* One that was killed meanwhile reports its end. */
        (void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)number);
    }
}

static int attach(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return -EPERM;
    const unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
                                  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                                  PTRACE_O_TRACEEXIT;
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL, options) != 0 || ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0)
        return -errno;
    return 0;
}

/* What else it started ends with us (PTRACE_O_EXITKILL). */
static void end_root(pid_t pid)
{
    int status;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
        (void)ptrace(PTRACE_CONT, pid, NULL, NULL);
}

int activity_count(const char *const *argv, const atomic_int *interrupted, struct activity *ret,
                   struct err *err)
{
    pid_t pid = fork();
    if (pid < 0)
        return err_sys(err, -errno, "%s cannot be started", argv[0]);
    if (pid == 0) {
        /* Of a huge page it would be seen once which of its pages are used. */
        (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0)
            activity_become(argv);
        _exit(0);
    }
    struct counter counter = {
        .root = pid, .activity = ret, .interrupted = interrupted, .pages = activity_pages_new()};
    int result = attach(pid);
    if (result == 0)
        result = follow(&counter);
    activity_pages_free(counter.pages);
    if (result < 0) {
        end_root(pid);
        return result == -EINTR
                   ? err_set(err, result, "interrupted")
                   : err_sys(err, result, "%s: its system calls cannot be counted (ptrace)", argv[0]);
    }
    return activity_check(argv[0], counter.status, err);
}
