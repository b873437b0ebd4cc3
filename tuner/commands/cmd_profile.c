/* fstune profile: which pattern a program has, from watching it. */
#include "bench/base/err.h"
#include "bench/profile/hardware_counters.h"
#include "bench/profile/hardware_list.h"
#include "bench/profile/program.h"
#include "tuner/base/fail.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/picture/live.h"
#include "tuner/profile/import.h"
#include "tuner/profile/profile_result.h"
#include "tuner/profile/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* A word that stands neither behind -- nor for a file. */
static int check_operand(const struct settings *settings, struct err *err)
{
    if (settings->n_operands == 0 || settings->profile.import[0] != '\0')
        return 0;
    return err_set(err, -EINVAL, "'%.60s': a command stands behind --, as in fstune profile -- %.60s",
                   settings->operands[0], settings->operands[0]);
}

static int check(const struct settings *settings, struct err *err)
{
    const struct settings_profile *asked = &settings->profile;
    bool has_program = settings->program != NULL && settings->program[0] != NULL;
    bool is_import = asked->import[0] != '\0', is_attached = asked->pid > 0;
    if (is_import && (settings->program != NULL || settings->n_operands == 0))
        return err_set(err, -EINVAL, "--import %s: %s", asked->import,
                       settings->program != NULL ? "reads a file and runs no command; leave -- out"
                                                 : "the file is missing; - is standard input");
    if (is_attached && (is_import || settings->program != NULL))
        return err_set(err, -EINVAL, "--pid: records what runs already; leave the %s out",
                       is_import ? "--import" : "command");
    if (is_attached && strcmp(asked->source, "preload") == 0)
        return err_set(err, -EINVAL,
                       "--pid: no library can be loaded into what runs already; leave --source out");
    bool keeps_events = asked->events[0] != '\0';
    if (keeps_events && (is_import || strcmp(asked->source, "preload") == 0))
        return err_set(err, -EINVAL, "--save-events: events are kept of what the kernel tells; leave %s out",
                       is_import ? "--import" : "--source");
    if (asked->memory && (!keeps_events || is_attached))
        return err_set(err, -EINVAL,
                       is_attached ? "--memory: no library can be loaded into what runs already; leave it out"
                                   : "--memory: goes into a database; name it with --save-events FILE.db");
    if (asked->hardware_events[0] != '\0' && is_import)
        return err_set(err, -EINVAL, "--hardware-events: counts in a program that runs; leave --import out");
    if (asked->live && is_import)
        return err_set(err, -EINVAL, "--live: shows a program while it runs; leave it or --import out");
    int code = check_operand(settings, err);
    if (code == 0 && !is_import && !is_attached && !has_program)
        code = err_set(err, -EINVAL, "the command is missing; write fstune profile -- COMMAND ARGUMENT...");
    return code == 0 && settings->output[0] != '\0' ? publish_check(settings->output, err) : code;
}

/* With --source auto the kernel records what no library can be loaded into. */
static int record_command(struct recording *recording, const struct settings *settings,
                          const struct record_options *options, struct err *err)
{
    const char *source = settings->profile.source;
    char path[PATH_MAX];
    bool is_by_kernel = strcmp(source, "trace") == 0 || options->events[0] != '\0';
    if (!is_by_kernel && strcmp(source, "auto") == 0)
        is_by_kernel = program_find(settings->program[0], path, sizeof path, NULL) == -EINVAL;
    return is_by_kernel ? record_trace_program(recording, settings->program, options, err)
                        : record_program(recording, settings->program, options, err);
}

/* Before the program starts, which inherits the counters. */
static int open_hardware(struct recording *recording, const struct settings *settings, struct err *err)
{
    const struct settings_profile *asked = &settings->profile;
    char path[PATH_MAX];
    int code = asked->pid > 0 ? 0 : program_find_path(settings->program[0], path, sizeof path, err);
    if (code < 0)
        return code;
    if (asked->pid == 0 && program_runs_as_another(path))
        return err_set(err, -EINVAL,
                       "--hardware-events: %.200s runs with another user's rights, and the kernel counts "
                       "nothing there; leave the option out",
                       path);
    code = hardware_list_open(&recording->hardware, asked->hardware_events, (pid_t)asked->pid, err);
    if (code < 0)
        return err_prefix(err, "--hardware-events");
    /* The text of a profile says so by itself. */
    if (settings->json && hardware_counters_get(recording->hardware, 0) == NULL)
        fail_with(EXIT_DONE, "--hardware-events: this machine counts no events of its processor");
    return 0;
}

static int record(struct recording *recording, const struct settings *settings, struct live *live,
                  struct err *err)
{
    const struct record_options options = {.store_bytes = settings->profile.store_bytes,
                                           .duration_ns = settings->profile.duration_ns,
                                           .output_to_stderr = settings->json,
                                           .events = settings->profile.events,
                                           .memory = settings->profile.memory,
                                           .look = live != NULL ? live_look : NULL,
                                           .look_data = live};
    if (settings->profile.hardware_events[0] != '\0') {
        int code = open_hardware(recording, settings, err);
        if (code < 0)
            return code;
    }
    if (settings->profile.import[0] != '\0')
        return import_file(recording, settings->profile.import, settings->operands[0],
                           settings->profile.store_bytes, err);
    if (settings->profile.pid > 0)
        return record_trace_process(recording, (pid_t)settings->profile.pid, &options, err);
    return record_command(recording, settings, &options, err);
}

static int profile(const struct settings *settings, struct err *err)
{
    struct recording recording = {0};
    struct live *live = NULL;
    int code = check(settings, err);
    if (code == 0 && settings->profile.live &&
        live_open(&live, settings->program, (pid_t)settings->profile.pid, settings->profile.store_bytes,
                  settings->json) < 0)
        code = err_set(err, -ENOMEM, "no memory");
    if (code == 0)
        code = record(&recording, settings, live, err);
    if (code == 0)
        code = record_settle(&recording, err);
    live_end(live, code == 0 ? recording.store : NULL);
    if (code == 0)
        code = profile_result_deliver(&recording, settings, err);
    if (code >= 0 && recording.events_code < 0)
        code = err_set(err, recording.events_code, "--save-events %.200s: %s", settings->profile.events,
                       recording.events_err.text);
    live_close(live);
    record_close(&recording);
    return code < 0 ? code : command_code(code);
}

const struct command command_profile = {
    .name = "profile",
    .summary = "watch a program, and say which pattern its I/O has",
    .usage = "[OPTION...] -- COMMAND [ARGUMENT...] | --pid PID | --import FORMAT FILE",
    .n_operands = 1,
    .run = command_run,
    .act = profile,
    .options = OPTIONS_PROFILE,
    .description = "Runs a program and says what its reads and writes of files are like: their pattern, "
                   "sizes and depth, and when they are made durable. `fstune recommend --for` tunes for it.",
    .example = "fstune profile --output profile.json -- sqlite3 shop.db < queries.sql",
};
