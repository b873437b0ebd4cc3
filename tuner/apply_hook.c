/* tuner/apply_hook: starting a command, keeping the end of what it says, ending it in time. */
#include "tuner/apply_hook.h"

#include "bench/clock.h"
#include "bench/spawn.h"
#include "bench/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS    10
#define GRACE_NS   1000000000ULL /* after SIGKILL; longer only in uninterruptible sleep */
#define KEEP_BYTES 1024          /* of the output; the rest is read and forgotten */
#define SHOWN      200

struct watch {
    const struct apply_hook *hook;
    pid_t pid;
    int fd;
    uint64_t end_ns;
    char said[2 * KEEP_BYTES]; /* the end of the output */
    size_t n_said;
};

static void listen_once(struct watch *watch)
{
    for (;;) {
        char part[512];
        ssize_t n = read(watch->fd, part, sizeof part);
        if (n <= 0)
            return;
        if (watch->n_said + (size_t)n > sizeof watch->said) {
            size_t drop = watch->n_said - KEEP_BYTES;
            memmove(watch->said, watch->said + drop, KEEP_BYTES);
            watch->n_said = KEEP_BYTES;
        }
        memcpy(watch->said + watch->n_said, part, (size_t)n);
        watch->n_said += (size_t)n;
    }
}

static int over(const struct watch *watch)
{
    if (watch->hook->interrupted != NULL && atomic_load(watch->hook->interrupted) != 0)
        return -EINTR;
    return clock_now_ns(&clock_monotonic) >= watch->end_ns ? -ETIMEDOUT : 0;
}

static bool has_ended(const struct watch *watch, int *ret_status)
{
    pid_t ended = waitpid(watch->pid, ret_status, WNOHANG);
    return ended == watch->pid || (ended < 0 && errno != EINTR);
}

static int end_group(const struct watch *watch, int code)
{
    int status;
    kill(-watch->pid, SIGKILL);
    uint64_t end_ns = clock_now_ns(&clock_monotonic) + GRACE_NS;
    while (!has_ended(watch, &status) && clock_now_ns(&clock_monotonic) < end_ns)
        poll(NULL, 0, POLL_MS);
    return code;
}

/* The end of the process counts, not that of its output: something that it left running may hold that. */
static int wait_for(struct watch *watch, int *ret_status)
{
    for (;;) {
        bool ended = has_ended(watch, ret_status);
        listen_once(watch);
        if (ended)
            return 0;
        int code = over(watch);
        if (code < 0)
            return end_group(watch, code);
        poll(NULL, 0, POLL_MS);
    }
}

/* The last line that is not empty. */
static const char *last_line(struct watch *watch)
{
    size_t n = watch->n_said < sizeof watch->said ? watch->n_said : sizeof watch->said - 1;
    while (n > 0 && strchr("\n\r\t ", watch->said[n - 1]) != NULL)
        n--;
    watch->said[n] = '\0';
    char *newline = strrchr(watch->said, '\n');
    return newline != NULL ? newline + 1 : watch->said;
}

static int explain(struct watch *watch, int result, int status, struct err *err)
{
    const char *what = watch->hook->what, *said = last_line(watch);
    const char *colon = said[0] != '\0' ? ": " : "";
    char time[UNITS_TEXT_SIZE];
    if (result == -ETIMEDOUT)
        return err_set(err, result, "the %s command did not end within %s and was killed%s%.*s", what,
                       units_format_duration(watch->hook->timeout_ns, time), colon, SHOWN, said);
    if (result == -EINTR)
        return err_set(err, result, "the %s command was interrupted", what);
    if (result < 0)
        return err_sys(err, result, "the %s command cannot be started", what);
    if (WIFSIGNALED(status))
        return err_set(err, -EREMOTEIO, "the %s command was ended by signal %d%s%.*s", what, WTERMSIG(status),
                       colon, SHOWN, said);
    if (WEXITSTATUS(status) != 0)
        return err_set(err, -EREMOTEIO, "the %s command failed with exit code %d%s%.*s", what,
                       WEXITSTATUS(status), colon, SHOWN, said);
    return 0;
}

static void fill_environment(const char *const *facts, char *environment[APPLY_HOOK_MAX_FACTS + 4])
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char language[] = "LANG=C", home[] = "HOME=/";
    size_t n = 0;
    environment[n++] = path;
    environment[n++] = language;
    environment[n++] = home;
    /* posix_spawn changes none of them; its type is older than const. */
    for (size_t i = 0; facts != NULL && facts[i] != NULL && i < APPLY_HOOK_MAX_FACTS; i++)
        environment[n++] = (char *)(uintptr_t)facts[i];
    environment[n] = NULL;
}

int apply_hook_run(const struct apply_hook *hook, struct err *err)
{
    const char *const arguments[] = {"/bin/sh", "-c", hook->command, NULL};
    char *environment[APPLY_HOOK_MAX_FACTS + 4];
    struct watch watch = {.hook = hook, .pid = -1};
    int fds[2], status = 0;
    if (hook->command[0] == '\0')
        return 0;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_sys(err, -errno, "the %s command: no pipe", hook->what);
    watch.fd = fds[0];
    watch.end_ns = clock_now_ns(&clock_monotonic) + hook->timeout_ns;
    fill_environment(hook->facts, environment);
    int result = fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
    if (result == 0)
        result = spawn_start(arguments, environment, -1, fds[1], fds[1], &watch.pid);
    close(fds[1]);
    if (result == 0)
        result = wait_for(&watch, &status);
    close(fds[0]);
    return explain(&watch, result, status, err);
}
