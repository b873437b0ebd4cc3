/* What the commands share: the way from a command line to a measurement. */
#include "tuner/commands/command.h"

#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/options/options.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/session/session.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int refuse_or_measure(const struct command *command, struct session *session)
{
    struct err err = {0};
    int result = session_open(session, session->settings, &err);
    if (result == 0)
        result = command->plan(session, &err);
    /* A plan that could not be printed is no fault of the user's words. */
    if (result < 0)
        return ferror(stdout) ? fail_with(EXIT_FAILED, "%s", err.text) : fail_refused(result, err.text);
    if (session->settings->dry_run)
        return EXIT_DONE;
    result = command->measure(session, &err);
    if (result < 0)
        return fail_with(result == -EINVAL ? EXIT_USAGE : EXIT_FAILED, "%s", err.text);
    return result;
}

int command_run_session(const struct command *command, const struct settings *settings)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return fail_with(EXIT_FAILED, "no memory");
    session->settings = settings;
    int code = refuse_or_measure(command, session);
    /* A thread that hangs in the kernel still uses it. */
    if (!session->abandoned) {
        resume_close(session);
        prior_close(session);
        save_close(session);
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
        return fail_with(EXIT_USAGE, "%s", err.text);
    if (!settings.workload.pattern_given && !command->no_pattern)
        return fail_with(EXIT_USAGE,
                         "--pattern is missing; give read, write, randread, randwrite, rw:70, randrw:70 ...");
    if (!command->no_pattern && settings_check_split(&settings, &err) < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    return command_run_session(command, &settings);
}
