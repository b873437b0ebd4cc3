/* bench/observe/activity_pages: makes each page that a traced program uses a fault of its own.
 *
 * The kernel maps the neighbours of a page of a file with it, so that faults tell fewer pages than are used.
 * Where page tables are kept twice, as for a guest, each page that is used costs. A mapping that a
 * userfaultfd watches is left without neighbours. The process has to make that watch itself: it is led
 * through these calls after one of its own, by its registers. Nothing else is different for it. Only on
 * x86-64; elsewhere faults stay as they are. */
#pragma once

#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/types.h>

struct activity_pages;

/* NULL: not on this machine, or no memory; the other functions accept that. */
struct activity_pages *activity_pages_new(void);
void activity_pages_free(struct activity_pages *pages);

/* The process has a new address space: by exec, or as the child of a fork. */
void activity_pages_start(struct activity_pages *pages, pid_t pid, bool is_exec);
void activity_pages_end(struct activity_pages *pages, pid_t pid);

/* At a stop at a system call. True: the call is ours and not the program's. */
bool activity_pages_call(struct activity_pages *pages, pid_t pid, const struct __ptrace_syscall_info *info);

/* At the stop of a signal. True: it is held back, and sent again afterwards. */
bool activity_pages_signal(struct activity_pages *pages, pid_t pid, int number);
