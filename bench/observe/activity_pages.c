/* Userfaultfds in traced processes, set up by calls that are put between their own. */
#include "bench/observe/activity_pages.h"

#include <stddef.h>

#ifdef __x86_64__
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#define MOST_PROCESSES 64U /* at a time; others keep their faults as they are */
#define MOST_RANGES    256U
#define PAGE_BYTES     4096ULL
#define CALL_BYTES     2U   /* of the instruction, after which a process goes on */
#define BELOW_STACK    512U /* farther down than what a function keeps below its stack pointer */
#define HIGH_FD        200  /* out of the way of what programs open */

#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1ULL << 15)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* What a process is led through. */
enum step { STEP_NONE, STEP_OPEN, STEP_MOVE, STEP_CLOSE, STEP_AGREE, STEP_RANGE };

struct watch {
    pid_t pid;      /* 0: not in use */
    int fd, low_fd; /* of the process; -1: none */
    bool is_tried;
    enum step step;
    unsigned n_to_skip;             /* ends of calls before a call may be put in */
    uint64_t mapped_bytes;          /* by the call that it is in; 0: it maps no file */
    struct user_regs_struct before; /* to go on with afterwards */
    struct uffdio_range range[MOST_RANGES];
    unsigned n_ranges, next;
    int held; /* signal */
};

struct activity_pages {
    struct watch watch[MOST_PROCESSES];
};

struct activity_pages *activity_pages_new(void)
{
    return calloc(1, sizeof(struct activity_pages));
}

void activity_pages_free(struct activity_pages *pages)
{
    free(pages);
}

static struct watch *find(struct activity_pages *pages, pid_t pid)
{
    for (size_t i = 0; pages != NULL && i < MOST_PROCESSES; i++) {
        if (pages->watch[i].pid == pid)
            return &pages->watch[i];
    }
    return NULL;
}

void activity_pages_start(struct activity_pages *pages, pid_t pid, bool is_exec)
{
    struct watch *watch = find(pages, pid);
    if (watch == NULL)
        watch = find(pages, 0);
    if (watch != NULL)
        /* The first call of a new program ends at its beginning, where no instruction of a call stands. */
        *watch = (struct watch){.pid = pid, .fd = -1, .n_to_skip = is_exec ? 2 : 1};
}

void activity_pages_end(struct activity_pages *pages, pid_t pid)
{
    struct watch *watch = find(pages, pid);
    if (watch != NULL)
        watch->pid = 0;
}

/* All mappings of files. */
static void list_ranges(struct watch *watch)
{
    char path[32], line[512];
    unsigned long long start, end, inode;
    snprintf(path, sizeof path, "/proc/%d/maps", watch->pid);
    FILE *in = fopen(path, "re");
    watch->n_ranges = watch->next = 0;
    while (in != NULL && watch->n_ranges < MOST_RANGES && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "%llx-%llx %*s %*s %*s %llu", &start, &end, &inode) == 3 && inode != 0)
            watch->range[watch->n_ranges++] = (struct uffdio_range){start, end - start};
    }
    if (in != NULL)
        fclose(in);
}

static int put_below_stack(const struct watch *watch, const void *bytes, size_t size, uint64_t *ret_at)
{
    *ret_at = (watch->before.rsp - BELOW_STACK - size) & ~15ULL;
    struct iovec here = {(void *)(uintptr_t)bytes, size}, there = {(void *)(uintptr_t)*ret_at, size};
    return process_vm_writev(watch->pid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

static int make_call(const struct watch *watch, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    struct user_regs_struct regs = watch->before;
    regs.rip -= CALL_BYTES;
    regs.rax = number;
    regs.orig_rax = UINT64_MAX; /* not in a call that a signal would start again */
    regs.rdi = a;
    regs.rsi = b;
    regs.rdx = c;
    return ptrace(PTRACE_SETREGS, watch->pid, NULL, &regs) == 0 ? 0 : -1;
}

static int make_ioctl(const struct watch *watch, uint64_t request, const void *bytes, size_t size)
{
    uint64_t at;
    if (put_below_stack(watch, bytes, size, &at) < 0)
        return -1;
    return make_call(watch, SYS_ioctl, (uint64_t)watch->fd, request, at);
}

static int make_step(struct watch *watch)
{
    const struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC};
    struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_WP};
    switch (watch->step) {
    case STEP_OPEN:
        return make_call(watch, SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY, 0, 0);
    case STEP_MOVE:
        return make_call(watch, SYS_fcntl, (uint64_t)watch->low_fd, F_DUPFD_CLOEXEC, HIGH_FD);
    case STEP_CLOSE:
        return make_call(watch, SYS_close, (uint64_t)watch->low_fd, 0, 0);
    case STEP_AGREE:
        return make_ioctl(watch, UFFDIO_API, &api, sizeof api);
    case STEP_RANGE:
        if (watch->next >= watch->n_ranges)
            return -1;
        range.range = watch->range[watch->next++];
        return make_ioctl(watch, UFFDIO_REGISTER, &range, sizeof range);
    case STEP_NONE:
        break;
    }
    return -1;
}

static void go_back(struct watch *watch)
{
    (void)ptrace(PTRACE_SETREGS, watch->pid, NULL, &watch->before);
    watch->step = STEP_NONE;
    if (watch->held != 0)
        (void)syscall(SYS_tgkill, watch->pid, watch->pid, watch->held);
    watch->held = 0;
}

/* What the step that has ended gave, and the next one. A range that cannot be watched is left out. */
static void take_step(struct watch *watch, int64_t result)
{
    bool goes_on = result >= 0 || watch->step == STEP_RANGE;
    if (watch->step == STEP_OPEN)
        watch->low_fd = (int)result;
    if (watch->step == STEP_MOVE)
        watch->fd = (int)result;
    if (watch->step != STEP_RANGE)
        watch->step++;
    if (!goes_on || make_step(watch) < 0)
        go_back(watch);
}

static void begin(struct watch *watch, enum step step)
{
    if (ptrace(PTRACE_GETREGS, watch->pid, NULL, &watch->before) != 0)
        return;
    watch->step = step;
    if (make_step(watch) < 0)
        go_back(watch);
}

static void see_end_of_call(struct watch *watch, int64_t result)
{
    if (watch->n_to_skip > 0 && --watch->n_to_skip > 0)
        return;
    if (!watch->is_tried) {
        watch->is_tried = true;
        list_ranges(watch);
        begin(watch, STEP_OPEN);
    } else if (watch->fd >= 0 && watch->mapped_bytes > 0 && (uint64_t)result < UINT64_MAX - PAGE_BYTES) {
        watch->range[0] = (struct uffdio_range){(uint64_t)result, (watch->mapped_bytes + PAGE_BYTES - 1) /
                                                                      PAGE_BYTES * PAGE_BYTES};
        watch->n_ranges = 1;
        watch->next = 0;
        begin(watch, STEP_RANGE);
    }
}

bool activity_pages_call(struct activity_pages *pages, pid_t pid, const struct __ptrace_syscall_info *info)
{
    struct watch *watch = find(pages, pid);
    if (watch == NULL || info->arch != AUDIT_ARCH_X86_64)
        return false;
    const bool is_ours = watch->step != STEP_NONE;
    if (info->op == PTRACE_SYSCALL_INFO_ENTRY && !is_ours)
        watch->mapped_bytes =
            info->entry.nr == SYS_mmap && (int32_t)info->entry.args[4] >= 0 ? info->entry.args[1] : 0;
    else if (info->op == PTRACE_SYSCALL_INFO_EXIT && is_ours)
        take_step(watch, info->exit.rval);
    else if (info->op == PTRACE_SYSCALL_INFO_EXIT)
        see_end_of_call(watch, info->exit.rval);
    return is_ours;
}

bool activity_pages_signal(struct activity_pages *pages, pid_t pid, int number)
{
    struct watch *watch = find(pages, pid);
    if (watch == NULL || watch->step == STEP_NONE)
        return false;
    watch->held = number;
    return true;
}
#else
struct activity_pages *activity_pages_new(void)
{
    return NULL;
}

void activity_pages_free(struct activity_pages *pages)
{
    (void)pages;
}

void activity_pages_start(struct activity_pages *pages, pid_t pid, bool is_exec)
{
    (void)pages;
    (void)pid;
    (void)is_exec;
}

void activity_pages_end(struct activity_pages *pages, pid_t pid)
{
    (void)pages;
    (void)pid;
}

bool activity_pages_call(struct activity_pages *pages, pid_t pid, const struct __ptrace_syscall_info *info)
{
    (void)pages;
    (void)pid;
    (void)info;
    return false;
}

bool activity_pages_signal(struct activity_pages *pages, pid_t pid, int number)
{
    (void)pages;
    (void)pid;
    (void)number;
    return false;
}
#endif
