/* bench/target/target_prepare: runs the user's preparation script on the empty target file. */
#include "bench/base/spawn.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Words for a script that failed; what it printed itself is on stderr already. */
static int judge_prepare_status(int code, int status, const char *script, struct err *err)
{
    if (code == -ETIMEDOUT)
        return err_set(err, code, "%s: the preparation script did not end in time and was killed", script);
    if (code == -EINTR)
        return err_set(err, code, "%s: the preparation script was interrupted", script);
    if (code != 0)
        return err_sys(err, code, "%s: the preparation script could not be run by bash", script);
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
    /* Its output goes to stderr because stdout is for results. */
    const char *const argv[] = {"bash", "-e", "--", script, NULL};
    const struct spawn spawn = {.argv = argv,
                                .environment = environment,
                                .in_fd = SPAWN_NOTHING,
                                .out_fd = STDERR_FILENO,
                                .err_fd = STDERR_FILENO,
                                .clock = plan->clock,
                                .timeout_ns = plan->prepare_timeout_ns,
                                .interrupted = plan->interrupted};
    code = spawn_run(&spawn, &status);
    code = judge_prepare_status(code, status, script, err);
out:
    free(environment);
    free(directory);
    free(absolute);
    return code;
}
