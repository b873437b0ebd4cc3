/* Another program, started, fed, heard and ended. */
#include "tuner/base/child.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct collected {
    char *text;
    size_t size;
};

/* A pipe holds 64 KiB unread (4 KiB where a user has very many): the input fits, or the write fails at
 * once instead of waiting for a reader that does not exist yet. */
static int feed(const char *input, int *ret_fd)
{
    size_t length = strlen(input);
    int fds[2];
    if (length > CHILD_INPUT_MAX_BYTES)
        return -E2BIG;
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
        return -errno;
    bool fits = write(fds[1], input, length) == (ssize_t)length;
    close(fds[1]);
    *ret_fd = fds[0];
    return fits ? 0 : -E2BIG;
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
        *ret = (struct child_result){collected[0].text, collected[1].text, code};
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
