/* bench/target_prepare: runs the user's preparation script on the empty target file. */
#include "bench/spawn.h"
#include "bench/target_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_NS 10000000ULL

/* Its output goes to stderr because stdout is for results. */
static int spawn(const char *script, char *const environment[], pid_t *ret_pid)
{
    const char *const argv[] = {"bash", "-e", "--", script, NULL};
    return spawn_start(argv, environment, -1, STDERR_FILENO, STDERR_FILENO, ret_pid);
}

/* Our environment with the two variables in the place of older ones. */
static char **make_environment(char *directory, char *file)
{
    size_t n = 0;
    while (environ[n] != NULL)
        n++;
    char **environment = calloc(n + 3, sizeof(*environment));
    if (environment == NULL)
        return NULL;
    size_t at = 0;
    environment[at++] = directory;
    environment[at++] = file;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "FSTUNE_DIR=", 11) != 0 && strncmp(environ[i], "FSTUNE_FILE=", 12) != 0)
            environment[at++] = environ[i];
    return environment;
}

/* 0 and the wait status; -ETIMEDOUT or -EINTR after killing the group. Polling is precise enough beside a
 * script, and sees the flag that a signal handler sets. */
static int wait_for(pid_t pid, const struct target_plan *plan, int *ret_status)
{
    uint64_t start = clock_now_ns(plan->clock);
    for (;;) {
        pid_t ended = waitpid(pid, ret_status, WNOHANG);
        if (ended == pid)
            return 0;
        if (ended < 0 && errno != EINTR)
            return -errno;
        uint64_t now = clock_now_ns(plan->clock);
        bool late = plan->prepare_timeout_ns != 0 && now - start >= plan->prepare_timeout_ns;
        if (late || (plan->interrupted != NULL && atomic_load(plan->interrupted) != 0)) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
                ;
            return late ? -ETIMEDOUT : -EINTR;
        }
        clock_sleep_until_ns(plan->clock, now + POLL_NS);
    }
}

/* Words for a script that failed; what it printed itself is on stderr already. */
static int judge(int code, int status, const char *script, struct err *err)
{
    if (code == -ETIMEDOUT)
        return err_set(err, code, "%s: the preparation script did not end in time and was killed", script);
    if (code == -EINTR)
        return err_set(err, code, "%s: the preparation script was interrupted", script);
    if (code != 0)
        return err_sys(err, code, "%s: cannot wait for the preparation script", script);
    if (WIFSIGNALED(status))
        return err_set(err, -ECHILD, "%s: the preparation script died of signal %d", script,
                       WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        return err_set(err, -ECHILD,
                       "%s: the preparation script ended with status %d; its own words are above", script,
                       WEXITSTATUS(status));
    return 0;
}

int target_prepare(const struct target *target, const struct target_plan *plan, struct err *err)
{
    const char *script = plan->prepare_script;
    char file[64], *directory = NULL, **environment = NULL;
    char *absolute = realpath(plan->directory, NULL);
    pid_t pid;
    int status = 0, code = -ENOMEM;
    snprintf(file, sizeof(file), "FSTUNE_FILE=/proc/%ld/fd/%d", (long)getpid(), target->fd);
    if (asprintf(&directory, "FSTUNE_DIR=%s", absolute != NULL ? absolute : plan->directory) < 0)
        directory = NULL;
    if (directory != NULL)
        environment = make_environment(directory, file);
    if (environment == NULL) {
        err_set(err, code, "%s: no memory for the preparation script", script);
        goto out;
    }
    code = spawn(script, environment, &pid);
    if (code != 0) {
        err_sys(err, code, "%s: bash cannot be started for the preparation script", script);
        goto out;
    }
    code = wait_for(pid, plan, &status);
    code = judge(code, status, script, err);
out:
    free(environment);
    free(directory);
    free(absolute);
    return code;
}
