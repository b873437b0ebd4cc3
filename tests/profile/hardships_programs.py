"""The programs in C of tests/profile/hardships."""

# Each role prints what it read, which has to be what is found.
PROGRAM = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "profile.h"

enum { BLOCK = 512, BLOCKS = 2000 };
static volatile unsigned n_reads;
static int fd;
static sigjmp_buf out_of_here;

static unsigned read_some(unsigned n)
{
    char block[BLOCK];
    int own = open("data", O_RDONLY);
    for (unsigned i = 0; i < n; i++)
        if (pread(own, block, BLOCK, i % BLOCKS * BLOCK) != BLOCK)
            exit(9);
    close(own);
    return n;
}

static void many_children(void)
{
    int gate[2];
    char byte;
    if (pipe(gate) != 0)
        exit(9);
    for (int i = 0; i < 1000; i++) {
        pid_t child = fork();
        if (child < 0)
            exit(9);
        if (child == 0) {
            close(gate[1]);
            read(gate[0], &byte, 1); /* until all of them are there */
            _exit(read_some(1) != 1);
        }
    }
    close(gate[1]);
    for (int status, i = 0; i < 1000; i++)
        n_reads += wait(&status) > 0 && status == 0;
}

static void closed_descriptors(void)
{
    for (int i = 3; i < 1024; i++)
        close(i);
    n_reads += read_some(100);
    syscall(436, 3U, ~0U, 0); /* close_range */
    n_reads += read_some(100);
    closefrom(3);
    n_reads += read_some(100);
}

static void few_descriptors(void)
{
    struct rlimit few = {5, 5};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < 20; i++)
        n_reads += read_some(10);
}

static void vfork_and_exec(char **argv)
{
    char *again[] = {argv[0], "plain", NULL};
    for (int status, i = 0; i < 20; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execv(argv[0], again);
            _exit(9);
        }
        n_reads += waitpid(child, &status, 0) == child && status == 0 ? 50 : 0;
    }
}

static void chain_of_execs(char **argv)
{
    char left[16];
    int n = argv[2] != NULL ? atoi(argv[2]) : 10;
    n_reads = argv[3] != NULL ? (unsigned)atoi(argv[3]) : 0;
    n_reads += read_some(10);
    if (n == 0)
        return;
    char so_far[16];
    snprintf(left, sizeof left, "%d", n - 1);
    snprintf(so_far, sizeof so_far, "%u", n_reads);
    char *again[] = {argv[0], "execs", left, so_far, NULL};
    execv(argv[0], again);
}

static void read_in_handler(int number)
{
    char block[BLOCK];
    (void)number;
    n_reads += pread(fd, block, BLOCK, 0) == BLOCK;
}

static void tick(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};
    struct itimerval each = {{0, 500}, {0, 500}};
    fd = open("data", O_RDONLY);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
}

static void signal_handlers(void)
{
    tick(read_in_handler);
    unsigned own = 0;
    for (int i = 0; i < 50; i++)
        own += read_some(2000);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    n_reads += own;
}

static void jump(int number)
{
    (void)number;
    siglongjmp(out_of_here, 1);
}

/* Which of the reads that it jumps out of were made cannot be known. */
static void jumps_out_of_calls(void)
{
    char block[BLOCK];
    if (sigsetjmp(out_of_here, 1) == 0)
        tick(jump);
    for (volatile int n_jumps = 0; n_jumps < 300; n_jumps++)
        if (sigsetjmp(out_of_here, 1) == 0)
            for (;;)
                pread(fd, block, BLOCK, 0);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    for (int i = 0; i < 1000; i++)
        pread(fd, block, BLOCK, 0);
}

static void *read_and_end(void *unused)
{
    (void)unused;
    unsigned n = read_some(1);
    __atomic_fetch_add(&n_reads, n, __ATOMIC_RELAXED);
    pthread_exit(NULL);
}

static void threads_that_end(void)
{
    pthread_t threads[50];
    for (int turn = 0; turn < 60; turn++) {
        for (int i = 0; i < 50; i++)
            if (pthread_create(&threads[i], NULL, read_and_end, NULL) != 0)
                exit(9);
        for (int i = 0; i < 50; i++)
            pthread_join(threads[i], NULL);
    }
}

static void *read_for_ever(void *unused)
{
    char block[BLOCK];
    for (;;)
        pread(fd, block, BLOCK, 0);
    return unused;
}

static void threads_that_are_cancelled(void)
{
    pthread_t thread;
    fd = open("data", O_RDONLY);
    for (int i = 0; i < 200; i++) {
        if (pthread_create(&thread, NULL, read_for_ever, NULL) != 0)
            exit(9);
        usleep(200);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    read_some(1000);
}

static void without_standard_streams(void)
{
    int saved = dup(1);
    for (int i = 0; i < 3; i++)
        close(i);
    n_reads += read_some(100);
    dup2(saved, 1);
}

static void without_environment(char **argv)
{
    char *again[] = {argv[0], "plain", NULL};
    clearenv();
    n_reads += read_some(50);
    if (fork() == 0)
        execv(argv[0], again);
    wait(NULL);
}

static void little_memory(void)
{
    struct rlimit little = {64 << 20, 64 << 20};
    setrlimit(RLIMIT_AS, &little);
    void *blocks[4096];
    unsigned n = 0;
    while (n < 4096 && (blocks[n] = malloc(1 << 16)) != NULL)
        n++;
    printf("%s ", n < 4096 ? "no memory" : "memory for all");
    while (n > 0)
        free(blocks[--n]);
    n_reads += read_some(100);
}

static void files_that_are_replaced(void)
{
    char name[32], block[BLOCK] = "";
    for (int i = 0; i < 6000; i++) {
        snprintf(name, sizeof name, "f%d", i % 3000);
        int own = open(name, O_RDWR | O_CREAT, 0600);
        if (pwrite(own, block, BLOCK, 0) == BLOCK)
            n_reads += pread(own, block, BLOCK, 0) == BLOCK;
        close(own);
        if (i % 2 == 0)
            unlink(name);
    }
}

static void mark_in_handler(int number)
{
    (void)number;
    fst_profile_mark("in a handler");
}

static void *mark_often(void *unused)
{
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "mark %d", i % 50);
        errno = i;
        fst_profile_mark(name);
        fst_profile_is_recording();
        fst_profile_start();
        if (errno != i)
            exit(9);
        unsigned n = read_some(1);
        __atomic_fetch_add(&n_reads, n, __ATOMIC_RELAXED);
    }
    return unused;
}

/* More names than there are places, by threads, handlers and a child at once; how much is recorded stays the same. */
static void marks_of_all(void)
{
    pthread_t threads[8];
    pid_t child = fork();
    tick(mark_in_handler);
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, mark_often, NULL) != 0)
            exit(9);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    int status;
    if (child == 0)
        _exit(0);
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(9);
    n_reads *= 2; /* the child's are as many */
}

static volatile unsigned n_ticks;

static void count_tick(int number)
{
    (void)number;
    n_ticks++;
}

static double compute(unsigned ms)
{
    struct timespec now;
    volatile double x = 1;
    do {
        for (int i = 0; i < 10000; i++)
            x = x * 1.0001 + 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((unsigned)(now.tv_sec * 1000 + now.tv_nsec / 1000000) < ms);
    return x;
}

/* What the program sees of SIGPROF is its own, before, while and after it asks for it; a child dies of it. */
static void own_profile(void)
{
    struct sigaction found, mine = {.sa_handler = count_tick, .sa_flags = SA_RESTART};
    struct itimerval each = {{0, 1000}, {0, 1000}};
    int status;
    compute(50);
    if (sigaction(SIGPROF, NULL, &found) != 0 || found.sa_handler != SIG_DFL || found.sa_flags != 0)
        exit(10);
    pid_t child = fork();
    if (child == 0) {
        setitimer(ITIMER_PROF, &each, NULL);
        compute(10000);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGPROF)
        exit(11);
    if (sigaction(SIGPROF, &mine, &found) != 0 || found.sa_handler != SIG_DFL)
        exit(12);
    compute(200);
    if (n_ticks != 0)
        exit(13);
    setitimer(ITIMER_PROF, &each, NULL);
    compute(400);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    n_reads += read_some(n_ticks > 0 ? 100 : 0);
    if (signal(SIGPROF, SIG_DFL) != count_tick)
        exit(14);
    compute(600);
}

static void *compute_and_hold(void *unused)
{
    sigset_t all, waits;
    compute(20);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    compute(60);
    if (sigpending(&waits) != 0 || sigismember(&waits, SIGPROF) != 0)
        exit(10);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
    compute(80);
    return unused;
}

/* All at once: threads that compute and hold signals back, calls that a signal would end, and at last the default of all signals. */
static void signals_that_wait(void)
{
    pthread_t threads[8];
    struct timespec now, end;
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        exit(9);
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, compute_and_hold, &threads[i]) != 0)
            exit(9);
    for (int i = 0; i < 200; i++) {
        compute(i);
        if (usleep(1000) != 0 || poll(&(struct pollfd){ends[0], POLLIN}, 1, 1) != 0)
            exit(11);
    }
    for (void *told, *own, **at = (void **)&threads; at < (void **)&threads[8]; at++) {
        own = at;
        if (pthread_join((pthread_t)*at, &told) != 0 || told != own)
            exit(12);
    }
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, (void *(*)(void *))compute, (void *)150) != 0)
            exit(9);
    for (int i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    n_reads += read_some(100);
}

/* A program without libc's start, and one that may have no timers. */
static void no_timers(char **argv)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    threads_that_end();
    char *again[] = {"static", NULL};
    compute(50);
    for (int status, i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            compute(i * 2);
            execv("static", again);
            _exit(9);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            exit(10);
    }
}

int main(int argc, char **argv)
{
    const char *role = argc > 1 ? argv[1] : "";
    if (strcmp(role, "children") == 0) many_children();
    else if (strcmp(role, "closed") == 0) closed_descriptors();
    else if (strcmp(role, "few") == 0) few_descriptors();
    else if (strcmp(role, "vfork") == 0) vfork_and_exec(argv);
    else if (strcmp(role, "execs") == 0) chain_of_execs(argv);
    else if (strcmp(role, "handlers") == 0) signal_handlers();
    else if (strcmp(role, "jumps") == 0) jumps_out_of_calls();
    else if (strcmp(role, "threads") == 0) threads_that_end();
    else if (strcmp(role, "cancelled") == 0) threads_that_are_cancelled();
    else if (strcmp(role, "streams") == 0) without_standard_streams();
    else if (strcmp(role, "environment") == 0) without_environment(argv);
    else if (strcmp(role, "memory") == 0) little_memory();
    else if (strcmp(role, "files") == 0) files_that_are_replaced();
    else if (strcmp(role, "marks") == 0) marks_of_all();
    else if (strcmp(role, "profile") == 0) own_profile();
    else if (strcmp(role, "signals") == 0) signals_that_wait();
    else if (strcmp(role, "timers") == 0) no_timers(argv);
    else { read_some(50); return 0; }
    printf("%u reads\n", n_reads);
    return 7;
}
"""

# Runs a program that may not ask the kernel for samples, as on machines where perf_event_paranoid says so.
NO_PERF = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
        execv(argv[1], argv + 1);
    return 9;
}
"""

# Eight threads that compute in a function each, and a ninth that is the main one; the exit code says whether each gave back what it should.
COMPUTE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#define WORK(N) __attribute__((noinline)) double work##N(long ms) { volatile double x = N; struct timespec t; \
    do { for (int i = 0; i < 10000; i++) x = x * 1.0001 + N; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); } while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms); return x; }
WORK(0) WORK(1) WORK(2) WORK(3) WORK(4) WORK(5) WORK(6) WORK(7) WORK(8)
static double (*const works[])(long) = {work0, work1, work2, work3, work4, work5, work6, work7};
static void *run(void *which) { works[(long)which](200); return which; }
int main(void)
{
    pthread_t threads[8];
    void *told;
    for (long i = 0; i < 8; i++)
        pthread_create(&threads[i], 0, run, (void *)i);
    work8(1200);
    for (long i = 0; i < 8; i++)
        if (pthread_join(threads[i], &told) != 0 || told != (void *)i)
            return 1;
    return 0;
}
"""
