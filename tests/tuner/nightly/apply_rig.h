/* tests/tuner/nightly/apply_rig: a snippet in place/, and what a stopped fstune leaves there. */
#pragma once

#include "tests/test.h"
#include "tests/tuner/rig.h"
#include "tuner/nightly/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS 1000000000ULL

static struct err err;
static enum apply_state state;

static const struct apply_order plain = {.path = "place/snippet",
                                         .text = "new\n",
                                         .check = "",
                                         .apply = "",
                                         .rollback = "",
                                         .timeout_ns = 20 * SECOND_NS};

static inline int enter(void **test_state)
{
    return rig_enter(test_state);
}

static inline int make_place(void **test_state)
{
    (void)test_state;
    memset(&err, 0, sizeof err);
    assert_int_equal(system("rm -rf place said && mkdir place"), 0);
    return 0;
}

static inline mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

/* "" where there is no such file. */
static inline const char *contents(const char *path)
{
    static char text[4096];
    FILE *stream = fopen(path, "r");
    size_t n = stream != NULL ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[n] = '\0';
    if (stream != NULL)
        fclose(stream);
    return text;
}

/* The snippet, the one before it, and nothing else; "" for what is not there. */
static inline void check_place(const char *snippet, const char *previous)
{
    assert_string_equal(contents("place/snippet"), snippet);
    assert_string_equal(contents("place/snippet.previous"), previous);
    assert_int_equal(rig_count_entries("place"), (snippet[0] != '\0') + (previous[0] != '\0'));
}

static inline void write_if(const char *path, const char *text)
{
    if (text != NULL)
        rig_write(path, "%s", text);
}

static inline int apply(struct apply_order order)
{
    return apply_snippet(&order, &state, &err);
}

/* In a child, so that root can become somebody else. */
static inline int in_child(int (*work)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(work());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline void set_up_old(void)
{
    assert_int_equal(make_place(NULL), 0);
    rig_write("place/snippet", "old\n");
}

static inline void set_up_both(void)
{
    set_up_old();
    rig_write("place/snippet.previous", "new\n");
}

/* What a night leaves that was killed while it applied. */
static inline void set_up_stopped(const char *marker)
{
    assert_int_equal(make_place(NULL), 0);
    rig_write("place/snippet", "new\n");
    rig_write("place/.fstune-applying.snippet", "%s", marker);
}

static inline int forget(void *context, struct err *forgot)
{
    (void)context;
    return err_set(forgot, -ENOSPC, "the history is full");
}
