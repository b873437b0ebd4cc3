/* fstune manager: what an agent on another machine records, into a database of events. */
#include "bench/base/err.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/profile/manager.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/wait.h>

static int check(const struct settings *settings, struct err *err)
{
    bool has_program = settings->program != NULL && settings->program[0] != NULL;
    bool listens = settings->profile.listen[0] != '\0';
    if (settings->profile.events[0] == '\0')
        return err_set(err, -EINVAL, "--save-events FILE.db is missing: it says where the events go");
    if (has_program == listens)
        return err_set(err, -EINVAL,
                       listens
                           ? "--listen: the agent is started there, and calls; leave -- and the command out"
                           : "the agent is missing; write fstune manager --save-events FILE.db -- ssh HOST "
                             "fstune-agent -- COMMAND, or --listen ADDRESS");
    return 0;
}

static void print_result(const struct manager_result *result, const char *path)
{
    printf("Recording  %" PRId64 " in %s: %" PRIu64 " events", result->run_id, path, result->n);
    if (isfinite(result->seconds))
        printf(" in %.3g s\n", result->seconds);
    else
        printf("; the agent has not said that it ended\n");
    if (result->n_lost > 0)
        printf("           %" PRIu64 " more were lost\n", result->n_lost);
    if (result->n_cuts > 0 || result->n_damaged > 0)
        printf("           the link was cut %" PRIu64 " times, and damaged %" PRIu64 " times; what it lost "
               "was sent again\n",
               result->n_cuts, result->n_damaged);
    if (isfinite(result->seconds) && result->goes_on)
        printf("           the command goes on\n");
    else if (isfinite(result->seconds) && WIFSIGNALED(result->status))
        printf("           the command was ended by signal %d\n", WTERMSIG(result->status));
    else if (isfinite(result->seconds) && WEXITSTATUS(result->status) != 0)
        printf("           the command ended with exit code %d\n", WEXITSTATUS(result->status));
    printf("fstune analyse %s --run %" PRId64 "\n", path, result->run_id);
}

static int manage(const struct settings *settings, struct err *err)
{
    const struct settings_profile *asked = &settings->profile;
    struct manager_result result;
    int code = check(settings, err);
    if (code < 0)
        return code;
    const struct manager_options options = {.events = asked->events,
                                            .program = asked->listen[0] == '\0' ? settings->program : NULL,
                                            .address = asked->listen,
                                            .duration_ns = asked->duration_ns,
                                            .wait_ns = asked->wait_ns,
                                            .is_quiet = settings->quiet};
    code = manager_run(&options, &result, err);
    if (result.run_id > 0)
        print_result(&result, asked->events);
    return code < 0 ? code : command_code(code);
}

const struct command command_manager = {
    .name = "manager",
    .summary = "keep what fstune-agent records elsewhere",
    .usage = "--save-events FILE.db (-- COMMAND [ARGUMENT...] | --listen ADDRESS)",
    .run = command_run,
    .act = manage,
    .options = OPTIONS_MANAGER,
    .description =
        "Keeps in a database what one `fstune-agent` sends: the reads, writes and flushes of a program, "
        "its time of the processor and, where asked for, its memory. COMMAND starts the agent, "
        "usually through ssh, and its standard input and output are the link; with --listen the "
        "agent calls. The lines start, stop, reset and quit on standard input are orders to it. "
        "`fstune analyse` says what the database shows.",
    .example = "fstune manager --save-events events.db -- ssh board fstune-agent -- ./program",
};
