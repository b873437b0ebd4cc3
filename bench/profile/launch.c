/* bench/profile/launch: start, wait, and ask the system what it has counted before the process is gone. */
#include "bench/profile/launch.h"

#include "bench/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS     20
#define NOT_STARTED 127

/* "NAME=value", or "LD_PRELOAD=library:what was there". NULL: no memory. */
static char *variable(const char *name, const char *value, const char *more)
{
    size_t size = strlen(name) + strlen(value) + strlen(more) + 3;
    char *text = malloc(size);
    if (text != NULL)
        snprintf(text, size, "%s=%s%s%s", name, value, more[0] != '\0' ? ":" : "", more);
    return text;
}

static bool is_named(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* Ours without the two, then the two. NULL: no memory. */
static char **make_environment(char *preload, char *own, const char *own_name)
{
    size_t n = 0, kept = 0;
    while (environ[n] != NULL)
        n++;
    char **environment = calloc(n + 3, sizeof *environment);
    if (environment == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_named(environ[i], "LD_PRELOAD") && !is_named(environ[i], own_name))
            environment[kept++] = environ[i];
    }
    environment[kept++] = preload;
    environment[kept] = own;
    return environment;
}

/* Signals that fstune catches or ignores work in it as they would have in fstune's place. */
static void set_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process. Tells why it did not become the program. */
static _Noreturn void become_program(const struct launch *launch, char **environment, pid_t parent,
                                     int told_fd)
{
    bool is_ready = launch->outlives_us || (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent);
    if (is_ready && launch->output_to_stderr)
        is_ready = dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    set_signals();
    if (is_ready)
        execve(launch->path, (char *const *)(uintptr_t)launch->argv, environment);
    int code = errno;
    (void)!write(told_fd, &code, sizeof code);
    _exit(NOT_STARTED);
}

static int start(const struct launch *launch, char **environment, pid_t *ret_pid)
{
    const pid_t parent = getpid();
    int told[2], code = 0;
    if (pipe2(told, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        become_program(launch, environment, parent, told[1]);
    int fork_code = errno;
    close(told[1]);
    /* It closes with the exec that succeeds. */
    while (pid > 0 && read(told[0], &code, sizeof code) < 0 && errno == EINTR) {
    }
    close(told[0]);
    if (pid < 0)
        return -fork_code;
    if (code != 0)
        waitpid(pid, NULL, 0);
    *ret_pid = pid;
    return -code;
}

static int start_recorded(const struct launch *launch, pid_t *ret_pid)
{
    if (launch->library == NULL)
        return start(launch, environ, ret_pid);
    const char *before = getenv("LD_PRELOAD");
    char *preload = variable("LD_PRELOAD", launch->library, before != NULL ? before : "");
    char *own = variable(launch->variable, launch->value, "");
    char **environment =
        preload != NULL && own != NULL ? make_environment(preload, own, launch->variable) : NULL;
    int code = environment != NULL ? start(launch, environment, ret_pid) : -ENOMEM;
    free(environment);
    free(own);
    free(preload);
    return code;
}

/* The counters of /proc/PID/io, which stay until the process is reaped. */
static void read_transfers(pid_t pid, struct launch_end *end)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%ld/io", (long)pid);
    FILE *in = fopen(path, "re");
    unsigned n = 0;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        bool reads = strncmp(line, "rchar:", 6) == 0;
        if (!reads && strncmp(line, "wchar:", 6) != 0)
            continue;
        *(reads ? &end->read_bytes : &end->written_bytes) = strtoull(line + 6, NULL, 10);
        n++;
    }
    if (in != NULL)
        fclose(in);
    end->has_transfers = n == 2;
}

/* Ctrl-C reaches the program from the terminal; what was sent to us alone is passed on, once. */
static void pass_on(const struct launch *launch, pid_t pid, int *passed)
{
    int number = launch->interrupted != NULL ? atomic_load(launch->interrupted) : 0;
    if (number == *passed || (number != SIGTERM && number != SIGHUP))
        return;
    *passed = number;
    kill(pid, number);
}

/* The program goes on without being recorded. */
static void look_at_clock(const struct launch *launch, uint64_t start_ns)
{
    if (launch->duration_ns > 0 && clock_now_ns(&clock_monotonic) - start_ns >= launch->duration_ns)
        __atomic_store_n(launch->is_over, 1, __ATOMIC_RELAXED);
}

/* A handle of the process wakes the wait; without one it looks again after POLL_MS. */
static int wait_for(const struct launch *launch, pid_t pid, struct launch_end *end)
{
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    siginfo_t info = {0};
    uint64_t start_ns = clock_now_ns(&clock_monotonic);
    int passed = 0, result = 0;
    while (result == 0 && info.si_pid == 0 && !end->is_left) {
        pass_on(launch, pid, &passed);
        look_at_clock(launch, start_ns);
        launch->look(launch->data);
        poll(&ended, 1, launch->poll_ms > 0 ? launch->poll_ms : POLL_MS);
        result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 ? 0 : -errno;
        end->is_left = launch->is_left != NULL && *launch->is_left;
    }
    launch->look(launch->data);
    if (ended.fd >= 0)
        close(ended.fd);
    if (result < 0 || end->is_left)
        return result;
    read_transfers(pid, end);
    return waitpid(pid, &end->status, 0) == pid ? 0 : -errno;
}

int launch_run(const struct launch *launch, struct launch_end *ret_end, struct err *err)
{
    struct launch_end end = {0};
    pid_t pid;
    int code = start_recorded(launch, &pid);
    if (code < 0)
        return err_sys(err, code, "cannot run %.200s", launch->path);
    code = wait_for(launch, pid, &end);
    __atomic_store_n(launch->is_over, 1, __ATOMIC_RELAXED);
    if (code < 0)
        return err_sys(err, code, "cannot wait for %.200s", launch->path);
    *ret_end = end;
    return 0;
}
