/* tests/tuner/emit/apply_rig: a snippet in place/, and what a stopped fstune leaves there. */
#pragma once

#include "tests/tuner/rig.h"
#include "tuner/emit/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SECOND_NS 1000000000ULL
#define STRANGER  65534

static struct err err;

static const struct apply_order plain = {.path = "place/snippet",
                                         .text = "new\n",
                                         .check = "",
                                         .apply = "",
                                         .rollback = "",
                                         .timeout_ns = 20 * SECOND_NS};

static inline void shell(const char *command)
{
    if (system(command) != 0)
        fail_msg("%s", command);
}

static inline int make_place(void **test_state)
{
    (void)test_state;
    memset(&err, 0, sizeof err);
    shell("rm -rf place said && mkdir place");
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

static inline void write_if(const char *path, const char *text)
{
    if (text != NULL)
        rig_write(path, "%s", text);
}

/* The snippet, the one before it, and what is under way; NULL: none. */
static inline void set_up_place(const char *snippet, const char *previous, const char *marker)
{
    assert_int_equal(make_place(NULL), 0);
    write_if("place/snippet", snippet);
    write_if("place/snippet.previous", previous);
    write_if("place/.fstune-applying.snippet", marker);
}

/* The snippet, the one before it, and nothing else; "" for what is not there. */
static inline void check_place(const char *snippet, const char *previous)
{
    assert_string_equal(contents("place/snippet"), snippet);
    assert_string_equal(contents("place/snippet.previous"), previous);
    assert_int_equal(rig_count_entries("place"), (snippet[0] != '\0') + (previous[0] != '\0'));
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

static inline void become_stranger(void)
{
    if (setgid(STRANGER) != 0 || setuid(STRANGER) != 0)
        _exit(99);
}

static inline void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("needs root to make files of others\n");
    skip();
}
