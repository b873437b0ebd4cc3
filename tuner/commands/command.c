/* What the commands share: the way from a command line to a measurement. */
#include "tuner/commands/command.h"

#include "bench/base/clock.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"
#include "tuner/commands/write_default.h"
#include "tuner/options/options.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/session/session.h"
#include "tuner/store/history.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <stdlib.h>

static int refuse_or_measure(const struct command *command, struct session *session)
{
    struct err err = {0};
    int result = session_open(session, session->settings, &err);
    if (result == 0 && session->clients != NULL && session->clients->rank > 0)
        return session->clients->serve(session);
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

int command_print_help(const struct command *command, int which)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", command->name, command->usage != NULL ? " " : "",
             command->usage != NULL ? command->usage : "");
    options_print_help(stdout, name, command->description, command->options, command->example,
                       which == OPTIONS_HELP_ALL);
    if (command->print_more_help != NULL)
        command->print_more_help(stdout);
    return EXIT_DONE;
}

static int read_settings(const struct command *command, int argc, char **argv, struct settings *settings,
                         struct err *err)
{
    settings_init(settings);
    settings->operands_allowed = command->n_operands;
    return options_parse(settings, command->options, argc, argv, err);
}

int command_run(const struct command *command, int argc, char **argv)
{
    static struct settings settings;
    struct err err = {0};
    int result = read_settings(command, argc, argv, &settings, &err);
    if (result > 0)
        return command_print_help(command, result);
    if (result < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    result = command->act(&settings, &err);
    return result < 0 ? command_explain(result, EXIT_USAGE, err.text) : result;
}

int command_check_pattern(const struct settings *settings, struct err *err)
{
    if (!settings->workload.pattern_given)
        return err_set(err, -EINVAL,
                       "--pattern is missing; give read, write, randread, randwrite, rw:70, randrw:70 ...");
    return settings_check_split(settings, err);
}

static int settle_settings(const struct command *command, struct settings *settings, struct err *err)
{
    if (command->settle != NULL)
        return command->settle(settings, err);
    return command->no_pattern ? 0 : command_check_pattern(settings, err);
}

int command_run_measuring(const struct command *command, int argc, char **argv)
{
    struct err err = {0};
    /* Static, because a run that hangs in the kernel goes on reading it while the process ends. */
    static struct settings settings;
    int result = read_settings(command, argc, argv, &settings, &err);
    settings.words = (const char *const *)argv;
    if (result > 0)
        return command_print_help(command, result);
    if (result == 0)
        result = settle_settings(command, &settings, &err);
    if (result == 0 && (command->options == OPTIONS_RECOMMEND || command->options == OPTIONS_MEASURE))
        write_default_settle(&settings);
    return result < 0 ? fail_with(EXIT_USAGE, "%s", err.text) : command_run_session(command, &settings);
}

FILE *command_plan_stream(const struct settings *settings)
{
    return settings->dry_run ? stdout : settings->quiet ? NULL : stderr;
}

int command_code(int code)
{
    int number = atomic_load(&interrupt_signal);
    return number > 0 ? EXIT_SIGNAL + number : code;
}

int command_explain(int result, int code, const char *text)
{
    code = command_code(code);
    return code == EXIT_USAGE ? fail_refused(result, text) : fail_with(code, "%s", text);
}

int command_check_picture(const struct settings *settings, const char *name, struct err *err)
{
    struct plot_request request;
    int result = plot_deliver_request(&settings->plot, name, &request, err);
    if (result == 0 && name[0] != '\0')
        result = publish_check(name, err);
    return result < 0 ? err_prefix(err, "--plot") : 0;
}

int command_history_path(const struct settings *settings, char *path, size_t size, struct err *err)
{
    if (settings->history.db[0] == '\0')
        return history_default_path(path, size, err);
    snprintf(path, size, "%s", settings->history.db);
    return 0;
}

double command_since_s(const struct settings *settings)
{
    uint64_t age_ns = settings->history.since_ns;
    return age_ns > 0 ? (double)clock_realtime_ns() / 1e9 - (double)age_ns / 1e9 : 0;
}
