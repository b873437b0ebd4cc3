/* tuner/nightly/apply_hook: a command of the configuration, and the end of what it says. */
#include "tuner/nightly/apply_hook.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"
#include "bench/base/units.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define KEEP_BYTES 1024 /* of the end of the output; the rest is read and dropped */
#define SHOWN      200
#define FILE_FACT  "FSTUNE_SNIPPET="
/* PATH, LANG, HOME, the file and the end beside the facts. */
#define ENVIRONMENT_SIZE (APPLY_HOOK_MAX_FACTS + 5)

/* The end of the output. */
struct said {
    char text[KEEP_BYTES + 1];
    size_t n;
};

static int listen_to(void *context, int number, const char *text, size_t n)
{
    struct said *said = context;
    (void)number;
    size_t taken = n < KEEP_BYTES ? n : KEEP_BYTES;
    size_t kept = said->n < KEEP_BYTES - taken ? said->n : KEEP_BYTES - taken;
    memmove(said->text, said->text + said->n - kept, kept);
    memcpy(said->text + kept, text + n - taken, taken);
    said->n = kept + taken;
    return 0;
}

/* The last line that is not empty. */
static const char *last_line(struct said *said)
{
    size_t n = said->n;
    while (n > 0 && strchr("\n\r\t ", said->text[n - 1]) != NULL)
        n--;
    said->text[n] = '\0';
    char *newline = strrchr(said->text, '\n');
    return newline != NULL ? newline + 1 : said->text;
}

static int explain_hook_failure(const struct apply_hook *hook, const char *said, int result, int status,
                                struct err *err)
{
    const char *what = hook->what;
    const char *colon = said[0] != '\0' ? ": " : "";
    char time[UNITS_TEXT_SIZE];
    if (result == -ETIMEDOUT)
        return err_set(err, result, "the %s command did not end within %s and was killed%s%.*s", what,
                       units_format_duration(hook->timeout_ns, time), colon, SHOWN, said);
    if (result == -EINTR)
        return err_set(err, result, "the %s command was interrupted", what);
    if (result == -ECHILD)
        return err_set(err, result, "how the %s command ended is not known", what);
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

static void fill_environment(const char *const *facts, char *file, char *environment[ENVIRONMENT_SIZE])
{
    static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    static char language[] = "LANG=C", home[] = "HOME=/";
    size_t n = 0;
    environment[n++] = path;
    environment[n++] = language;
    environment[n++] = home;
    if (file[0] != '\0')
        environment[n++] = file;
    /* posix_spawn changes none of them; its type is older than const. */
    for (size_t i = 0; facts != NULL && facts[i] != NULL && i < APPLY_HOOK_MAX_FACTS; i++)
        environment[n++] = (char *)(uintptr_t)facts[i];
    environment[n] = NULL;
}

int apply_hook_run(const struct apply_hook *hook, struct err *err)
{
    const char *const arguments[] = {"/bin/sh", "-c", hook->command, NULL};
    char *environment[ENVIRONMENT_SIZE], file[sizeof FILE_FACT + PATH_MAX] = "";
    struct said said = {"", 0};
    int status = 0;
    if (hook->command[0] == '\0')
        return 0;
    if (hook->file != NULL && (size_t)snprintf(file, sizeof file, FILE_FACT "%s", hook->file) >= sizeof file)
        return err_set(err, -ENAMETOOLONG, "%.100s...: the path is too long", hook->file);
    fill_environment(hook->facts, file, environment);
    const struct spawn spawn = {.argv = arguments,
                                .environment = environment,
                                .in_fd = SPAWN_NOTHING,
                                .out_fd = SPAWN_HEARD,
                                .err_fd = SPAWN_AS_OUTPUT,
                                .hear = listen_to,
                                .context = &said,
                                .clock = &clock_monotonic,
                                .timeout_ns = hook->timeout_ns,
                                .interrupted = hook->interrupted};
    int result = spawn_run(&spawn, &status);
    return explain_hook_failure(hook, last_line(&said), result, status, err);
}
