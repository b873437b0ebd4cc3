/* fstune profile: which pattern a program has, from watching it. */
#include "bench/base/err.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/profile/import.h"
#include "tuner/profile/profile_result.h"
#include "tuner/profile/record.h"

#include <errno.h>

static int check(const struct settings *settings, struct err *err)
{
    const char *const *program = settings->program;
    bool is_import = settings->profile.import[0] != '\0';
    if (is_import && (program != NULL || settings->n_operands == 0))
        return err_set(err, -EINVAL, "--import %s: %s", settings->profile.import,
                       program != NULL ? "reads a file and runs no command; leave -- out"
                                       : "the file is missing; - is standard input");
    if (!is_import && settings->n_operands > 0)
        return err_set(err, -EINVAL, "'%.60s': a command stands behind --, as in fstune profile -- %.60s",
                       settings->operands[0], settings->operands[0]);
    if (!is_import && (program == NULL || program[0] == NULL))
        return err_set(err, -EINVAL, "the command is missing; write fstune profile -- COMMAND ARGUMENT...");
    return settings->output[0] != '\0' ? publish_check(settings->output, err) : 0;
}

static int profile(const struct settings *settings, struct err *err)
{
    struct recording recording = {0};
    const struct record_options options = {.store_bytes = settings->profile.store_bytes,
                                           .duration_ns = settings->profile.duration_ns,
                                           .output_to_stderr = settings->json};
    int code = check(settings, err);
    if (code == 0 && settings->profile.import[0] != '\0')
        code = import_file(&recording, settings->profile.import, settings->operands[0],
                           settings->profile.store_bytes, err);
    else if (code == 0)
        code = record_program(&recording, settings->program, &options, err);
    if (code == 0)
        code = profile_result_deliver(&recording, settings, err);
    record_close(&recording);
    return code;
}

const struct command command_profile = {
    .name = "profile",
    .summary = "watch a program, and say which pattern its I/O has",
    .usage = "-- COMMAND [ARGUMENT...] | --import FORMAT FILE",
    .n_operands = 1,
    .run = command_run,
    .act = profile,
    .options = OPTIONS_PROFILE,
    .description = "Runs a program and says what its reads and writes of files are like: their pattern, "
                   "sizes and depth, "
                   "and when they are made durable. `fstune recommend --for` tunes for it.",
    .example = "fstune profile --output profile.json -- sqlite3 shop.db < queries.sql",
};
