/* The counter of a program, its file of values and its hook. */
#include "tuner/nightly/retune_online.h"

#include "bench/base/clock.h"
#include "bench/base/spawn.h"
#include "bench/base/units.h"
#include "tuner/base/interrupt.h"
#include "tuner/emit/apply.h"
#include "tuner/emit/apply_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_SIZE 256
#define MOST_COUNT INT64_MAX /* JSON holds no more */
/* A file that is written anew may be empty for a moment. */
#define EMPTY_TIMES  20
#define EMPTY_MS     10
#define MOST_WAIT_MS 1000000
/* One that was killed just now may hold the lock a little longer. */
#define LOCK_WAIT_NS (2 * CLOCK_NS_PER_S)

static int read_file(const char *path, char text[static COUNT_SIZE], struct err *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "counter %.200s: cannot be opened", path);
    ssize_t n = read(fd, text, COUNT_SIZE - 1);
    int code = n < 0 ? err_sys(err, -errno, "counter %.200s: cannot be read", path) : 0;
    text[MAX(n, 0)] = '\0';
    close(fd);
    return code;
}

static int read_filled_file(const char *path, char text[static COUNT_SIZE], struct err *err)
{
    int code = read_file(path, text, err);
    for (unsigned i = 0; i < EMPTY_TIMES && code == 0 && text[0] == '\0'; i++) {
        interrupt_wait(-1, EMPTY_MS);
        code = read_file(path, text, err);
    }
    return code;
}

static int run_command(const struct retune_online_config *config, char text[static COUNT_SIZE],
                       struct err *err)
{
    const char *const arguments[] = {"/bin/sh", "-c", config->counter_command, NULL};
    int status = 0;
    int code = spawn_capture(arguments, &clock_monotonic, config->hook_timeout_ns, NULL, text, COUNT_SIZE,
                             &status, err);
    if (code < 0)
        return err_prefix(err, "counter_command");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, -EREMOTEIO, "counter_command: %s %d",
                       WIFEXITED(status) ? "failed with exit code" : "was ended by signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

/* "123456" or "123456 reads", and whatever lines follow. */
static int parse_count(char *text, struct retune_online_count *ret_count, struct err *err)
{
    static const char letters[] = "._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *rest = text;
    rest[strcspn(rest, "\r\n")] = '\0';
    const char *number = strsep(&rest, " \t"), *kind = rest != NULL ? rest + strspn(rest, " \t") : "";
    size_t n = strlen(kind);
    if (units_parse_count(number, MOST_COUNT, &ret_count->n) < 0)
        return err_set(err, -EBADMSG, "the counter says '%.60s', which is no number of 0 to 2^63 - 1",
                       number);
    if (n >= sizeof ret_count->kind || strspn(kind, letters) < n)
        return err_set(
            err, -EBADMSG,
            "the counter says '%.60s', which is no word for a load; use letters, digits, . _ and -, "
            "%zu at most",
            kind, sizeof ret_count->kind - 1);
    memcpy(ret_count->kind, kind, n + 1);
    return 0;
}

int retune_online_program_count(const struct retune_online_config *config,
                                struct retune_online_count *ret_count, struct err *err)
{
    char text[COUNT_SIZE] = "";
    struct retune_online_count now = {.at_ns = clock_now_ns(&clock_monotonic),
                                      .n_stops = (unsigned)interrupt_n_continued()};
    int code = config->counter[0] != '\0' ? read_filled_file(config->counter, text, err)
                                          : run_command(config, text, err);
    if (code == 0)
        code = parse_count(text, &now, err);
    if (code == 0)
        *ret_count = now;
    return code;
}

static int count(void *context, struct retune_online_count *ret_count, struct err *err)
{
    const struct retune_online_program *program = context;
    return retune_online_program_count(program->config, ret_count, err);
}

/* False: a signal came. */
static bool wait_until(void *context, uint64_t until_ns)
{
    (void)context;
    for (;;) {
        uint64_t now_ns = clock_now_ns(&clock_monotonic);
        if (now_ns >= until_ns)
            return atomic_load(&interrupt_signal) == 0;
        uint64_t ms = (until_ns - now_ns + 999999) / 1000000;
        if (!interrupt_wait(-1, (int)MIN(ms, MOST_WAIT_MS)))
            return false;
    }
}

/* The only command is the hook, which the loop runs by itself after each change. */
static struct apply_order order_of(const struct retune_online_config *config)
{
    return (struct apply_order){.path = config->value_file,
                                .check = "",
                                .apply = "",
                                .rollback = "",
                                .timeout_ns = config->hook_timeout_ns};
}

/* A signal does not interrupt it: half a change is none. */
static int put(void *context, const struct online_setting *setting, struct err *err)
{
    const struct retune_online_program *program = context;
    const struct retune_online_config *config = program->config;
    const struct apply_order order = order_of(config);
    char *text = retune_online_config_text(config, setting);
    int code = text == NULL ? err_set(err, -ENOMEM, "no memory")
                            : replace_file(config->value_file, REPLACE_OWN, text, strlen(text), err);
    free(text);
    if (code == 0)
        code = apply_run(&order, "hook", config->hook, err);
    if (code == 0 && config->settle_ns > 0)
        wait_until(NULL, clock_now_ns(&clock_monotonic) + config->settle_ns);
    return code;
}

int retune_online_program_open(struct retune_online_program *program,
                               const struct retune_online_config *config,
                               struct retune_online_world *ret_world, struct err *err)
{
    const struct apply_order order = order_of(config);
    bool recovered;
    *program = (struct retune_online_program){.config = config, .lock_fd = -1};
    int code = apply_place_lock(config->value_file, LOCK_WAIT_NS, &interrupt_signal, &program->lock_fd, err);
    if (code == -EBUSY)
        return err_set(
            err, code,
            "value_file %.200s: another fstune works in this directory; end it, or give the file a "
            "directory of its own",
            config->value_file);
    /* Also says what makes the file impossible to write, and removes what a killed one left. */
    if (code == 0)
        code = apply_recover(&order, &recovered, err);
    if (code < 0) {
        retune_online_program_close(program);
        return err_prefix(err, "value_file");
    }
    *ret_world =
        (struct retune_online_world){.count = count, .put = put, .wait = wait_until, .context = program};
    return 0;
}

void retune_online_program_close(struct retune_online_program *program)
{
    if (program->lock_fd >= 0)
        close(program->lock_fd);
    program->lock_fd = -1;
}
