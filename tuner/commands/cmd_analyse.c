/* fstune analyse: what a database of events says. */
#include "bench/base/err.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/emit/analyse.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/profile/import.h"
#include "tuner/profile/profile_result.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a printed file is made of. */
struct analysis {
    const struct settings *settings;
    struct events *events;
    struct events_run run;
    char object[SETTINGS_TEXT_SIZE];
    uint64_t span_bytes;
};

static int print_iolog(FILE *out, const void *what, struct err *err)
{
    struct analysis *analysis = (struct analysis *)(uintptr_t)what;
    return analyse_print_iolog(out, analysis->events, &analysis->run, &analysis->span_bytes, err);
}

static int print_gmon(FILE *out, const void *what, struct err *err)
{
    struct analysis *analysis = (struct analysis *)(uintptr_t)what;
    return analyse_print_gmon(out, analysis->events, &analysis->run, analysis->object, err);
}

static int print_massif(FILE *out, const void *what, struct err *err)
{
    const struct analysis *analysis = what;
    bool is_network = strcmp(analysis->settings->profile.analysis, "massif-network") == 0;
    return analyse_print_massif(out, analysis->events, &analysis->run,
                                is_network ? EVENTS_NETWORK : EVENTS_MEMORY, err);
}

static int print_folded(FILE *out, const void *what, struct err *err)
{
    const struct analysis *analysis = what;
    bool is_memory = strcmp(analysis->settings->profile.analysis, "folded-memory") == 0;
    return (is_memory ? analyse_print_folded_memory : analyse_print_folded)(out, analysis->events,
                                                                            &analysis->run, err);
}

static void print_run(const struct events_run *run)
{
    printf("Recording  %" PRId64 ": %s\n           %" PRIu64 " events", run->id, run->command, run->n);
    if (isfinite(run->seconds))
        printf(" in %.3g s\n", run->seconds);
    else
        printf("; it has not ended, or was killed\n");
    if (run->n_lost > 0)
        printf("           %" PRIu64 " more were lost\n", run->n_lost);
}

/* The profile that was, or would have been, told then. */
static int tell_profile(struct analysis *analysis, struct settings *settings, struct err *err)
{
    struct recording recording = {0};
    int code =
        import_events(&recording, analysis->events, &analysis->run, settings->profile.store_bytes, err);
    settings->json = strcmp(settings->profile.analysis, "profile") == 0 && settings->output[0] == '\0';
    if (code == 0 && !settings->json)
        print_run(&analysis->run);
    if (code == 0)
        code = profile_result_deliver(&recording, settings, err);
    int exit_code = code;
    if (code >= 0 && !settings->json)
        code = analyse_print_cpu(stdout, analysis->events, &analysis->run, err);
    record_close(&recording);
    return code < 0 ? code : command_code(exit_code);
}

static int write_iolog(struct analysis *analysis, const char *path, struct err *err)
{
    int code = publish_print(path, print_iolog, analysis, err);
    if (code == 0)
        printf("%s has the requests, all files in one. fio repeats them on a file of its own:\n"
               "truncate -s %" PRIu64 " fstune-replay; fio --name=replay --read_iolog=%s\n",
               path, analysis->span_bytes, path);
    return code;
}

static int write_gmon(struct analysis *analysis, const char *path, struct err *err)
{
    int code = publish_print(path, print_gmon, analysis, err);
    if (code == 0)
        printf("gprof -p %s %s\n", analysis->object, path);
    return code;
}

static int write_massif(struct analysis *analysis, const char *path, struct err *err)
{
    int code = publish_print(path, print_massif, analysis, err);
    if (code == 0)
        printf("ms_print %s\n", path);
    return code;
}

static int write_folded(struct analysis *analysis, const char *path, struct err *err)
{
    int code = publish_print(path, print_folded, analysis, err);
    if (code == 0)
        printf("flamegraph.pl %s >%s.svg\n", path, path);
    return code;
}

static int write_as(struct analysis *analysis, const struct settings *settings, struct err *err)
{
    static const struct form {
        const char *name, *usual;
        int (*write)(struct analysis *analysis, const char *path, struct err *err);
    } forms[] = {{"fio-iolog", "", write_iolog},         {"gmon", "gmon.out", write_gmon},
                 {"massif", "massif.out", write_massif}, {"massif-network", "massif.out", write_massif},
                 {"folded", "out.folded", write_folded}, {"folded-memory", "out.folded", write_folded}};
    const struct form *form = forms;
    while (strcmp(settings->profile.analysis, form->name) != 0)
        form++;
    const char *path = settings->output[0] != '\0' ? settings->output : form->usual;
    if (path[0] == '\0')
        return err_set(err, -EINVAL, "--as %s: --output FILE says where it goes", form->name);
    int code = publish_check(path, err);
    if (code < 0)
        return err_prefix(err, "--output %.200s", path);
    code = form->write(analysis, path, err);
    return code == -ENODATA ? fail_with(EXIT_NOTHING, "%s", err->text) : code;
}

static int analyse(const struct settings *settings, struct err *err)
{
    static struct settings own;
    struct analysis analysis = {.settings = settings};
    bool is_profile =
        strcmp(settings->profile.analysis, "text") == 0 || strcmp(settings->profile.analysis, "profile") == 0;
    own = *settings;
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL,
                       "the database is missing; fstune profile --save-events FILE.db -- COMMAND makes one");
    if (settings->profile.object[0] != '\0' && strcmp(settings->profile.analysis, "gmon") != 0)
        return err_set(err, -EINVAL, "--object: is for --as gmon; leave it out");
    snprintf(analysis.object, sizeof analysis.object, "%s", settings->profile.object);
    int code = events_open(&analysis.events, settings->operands[0], false, err);
    if (code == 0)
        code = events_find(analysis.events, settings->history.run_id, &analysis.run, err);
    if (code < 0 && analysis.events != NULL)
        err_prefix(err, "%.200s", settings->operands[0]);
    if (code == 0)
        code = is_profile ? tell_profile(&analysis, &own, err) : write_as(&analysis, settings, err);
    events_close(analysis.events);
    return code;
}

const struct command command_analyse = {
    .name = "analyse",
    .summary = "say what the events of a recording show, or write them for other tools",
    .usage = "FILE.db",
    .n_operands = 1,
    .run = command_run,
    .act = analyse,
    .options = OPTIONS_ANALYSE,
    .description = "Reads the events that `fstune profile --save-events` or `fstune manager` kept: the "
                   "profile again, an iolog for "
                   "fio, the processor's time for gprof, memory for ms_print, or stacks for flame graphs.",
    .example = "fstune analyse events.db --as gmon && gprof -p ./program gmon.out",
};
