/* Another program, started, fed, heard and ended. */
#include "tuner/base/child.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct collected {
    char *text;
    size_t size;
};

/* A file in memory holds any input before there is a reader, which a pipe does not. */
static int feed(const char *input, int *ret_fd)
{
    size_t length = strlen(input);
    *ret_fd = memfd_create("input", MFD_CLOEXEC);
    if (*ret_fd < 0)
        return -errno;
    ssize_t n = write(*ret_fd, input, length);
    if (n == (ssize_t)length && lseek(*ret_fd, 0, SEEK_SET) == 0)
        return 0;
    return n < 0 ? -errno : -EIO;
}

static int collect_output(void *context, int number, const char *part, size_t n)
{
    struct collected *into = (struct collected *)context + (number - 1);
    size_t left = CHILD_OUTPUT_MAX_BYTES - into->size, length = n < left ? n : left;
    char *text = realloc(into->text, into->size + length + 1);
    if (text == NULL)
        return -ENOMEM;
    memcpy(text + into->size, part, length);
    into->text = text;
    into->size += length;
    text[into->size] = '\0';
    return 0;
}

static int judge_child_status(const struct child *child, int result, struct err *err)
{
    const char *name = child->arguments[0];
    if (result == -ETIMEDOUT)
        return err_set(err, result, "%s did not end in time and was killed", name);
    if (result == -EINTR)
        return err_set(err, result, "interrupted while %s was running", name);
    if (result == -ECHILD)
        return err_set(err, result, "how %s ended is not known", name);
    return result < 0 ? err_sys(err, result, "cannot run %s", name) : 0;
}

int child_run(const struct child *child, struct child_result *ret, struct err *err)
{
    struct collected collected[2] = {{calloc(1, 1), 0}, {calloc(1, 1), 0}};
    struct spawn spawn = {.argv = child->arguments,
                          .in_fd = SPAWN_NOTHING,
                          .out_fd = SPAWN_HEARD,
                          .err_fd = SPAWN_HEARD,
                          .hear = collect_output,
                          .context = collected,
                          .clock = &clock_monotonic,
                          .timeout_ns = child->timeout_ns,
                          .interrupted = child->interrupted};
    int status = 0, result = collected[0].text != NULL && collected[1].text != NULL ? 0 : -ENOMEM;
    if (result == 0 && child->input != NULL)
        result = feed(child->input, &spawn.in_fd);
    if (result == 0)
        result = spawn_run(&spawn, &status);
    if (spawn.in_fd >= 0)
        close(spawn.in_fd);
    if (result == 0) {
        int code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
        *ret = (struct child_result){collected[0].text, collected[1].text, collected[0].size, code};
    } else {
        free(collected[0].text);
        free(collected[1].text);
    }
    return judge_child_status(child, result, err);
}

void child_free(struct child_result *result)
{
    free(result->output);
    free(result->errors);
    *result = (struct child_result){0};
}
