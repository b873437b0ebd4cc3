/* tests/child: what a test has another process do. */
#pragma once

#include "tests/test.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* For what cannot be taken back: each result of `work` but 0 names the step that failed, 77 skips. */
static inline void child_expect(int (*work)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(work());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("not possible here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A child that has prepared something and lives until it is stopped. */
static inline pid_t child_hold(bool (*prepare)(void))
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!prepare() || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static inline void child_stop(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}
