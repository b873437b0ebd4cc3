/* What the commands share: how they fail, and the way from a command line to a measurement. */
#include "tuner/command.h"

#include "tuner/options.h"
#include "tuner/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int command_fail(int code, const char *format, ...)
{
    va_list arguments;
    char text[ERR_TEXT_SIZE];
    struct err err;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* For its care that it stays one line, whatever bytes the user typed. */
    err_set(&err, -EINVAL, "%s", text);
    fprintf(stderr, "fstune: %s\n", err.text);
    return code;
}

int command_refuse(int result, const char *text)
{
    static const int machine[] = {-ENOSPC, -EDQUOT,   -EFBIG,     -EROFS,  -ENOMEM, -EMFILE,  -ENFILE, -EINTR,
                                  -ESTALE, -ENOTCONN, -ETIMEDOUT, -ENODEV, -EAGAIN, -EUCLEAN, -EBADMSG};
    int code = err_is_device(result) ? EXIT_FAILED : EXIT_USAGE;
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
        if (result == machine[i])
            code = EXIT_FAILED;
    }
    return command_fail(code, "%s", text);
}

static int refuse_or_measure(const struct command *command, struct session *session)
{
    struct err err = {0};
    int result = session_open(session, session->settings, &err);
    if (result == 0)
        result = command->plan(session, &err);
    /* A plan that could not be printed is no fault of the user's words. */
    if (result < 0)
        return ferror(stdout) ? command_fail(EXIT_FAILED, "%s", err.text) : command_refuse(result, err.text);
    if (session->settings->dry_run)
        return EXIT_DONE;
    result = command->measure(session, &err);
    if (result < 0)
        return command_fail(result == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s", err.text);
    return result;
}

int command_run_session(const struct command *command, const struct settings *settings)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return command_fail(EXIT_FAILED, "no memory");
    session->settings = settings;
    int code = refuse_or_measure(command, session);
    /* A thread that hangs in the kernel still uses it. */
    if (!session->abandoned) {
        session_close(session);
        free(session);
    }
    return code;
}

int command_run_measuring(const struct command *command, int argc, char **argv)
{
    struct err err = {0};
    /* Static, because a run that hangs in the kernel goes on reading it while the process ends. */
    static struct settings settings;
    settings_init(&settings);
    int result = options_parse(&settings, command->options, argc, argv, 1, &err);
    if (result == 1) {
        options_print_help(stdout, command->name, command->description, command->options, command->example);
        return EXIT_DONE;
    }
    if (result < 0)
        return command_fail(EXIT_USAGE, "%s", err.text);
    if (!settings.pattern_given && !command->no_pattern)
        return command_fail(
            EXIT_USAGE, "--pattern is missing; give read, write, randread, randwrite, rw:70, randrw:70 ...");
    if (!command->no_pattern && settings_check_split(&settings, &err) < 0)
        return command_fail(EXIT_USAGE, "%s", err.text);
    return command_run_session(command, &settings);
}
