/* fstune retune: every target of a configuration is measured again, and its settings follow. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/commands/command.h"
#include "tuner/emit/apply.h"
#include "tuner/nightly/report_retune.h"
#include "tuner/nightly/retune.h"
#include "tuner/nightly/retune_online.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static struct retune_config config;
static struct retune_online_config online_config;
static struct retune_online tuned;

static int check_online(const struct settings *settings, struct err *err)
{
    const char *stranger = settings->n_operands > 0                 ? "rollback"
                           : settings->retune.target[0] != '\0'     ? "--target"
                           : settings->retune.prometheus[0] != '\0' ? "--prometheus"
                           : settings->retune.force                 ? "--force"
                           : settings->history.db[0] != '\0'        ? "--db"
                                                                    : NULL;
    return stranger == NULL
               ? 0
               : err_set(err, -EINVAL, "%s: is of nights, and does nothing with --online; leave it out",
                         stranger);
}

static int read_configuration(const struct settings *settings, const struct settings **ret_command,
                              struct err *err)
{
    *ret_command = settings->retune.online ? &online_config.settings : &config.command;
    if (!settings->retune.online)
        return retune_config_read(&config, settings->config, err);
    int result = check_online(settings, err);
    return result < 0 ? result : retune_online_config_read(&online_config, settings->config, err);
}

/* The file is the base, the command line wins. */
static int read_settings(int argc, char **argv, struct settings *settings, struct err *err)
{
    settings_init(settings);
    settings->operands_allowed = 1;
    int result = options_parse(settings, OPTIONS_RETUNE, argc, argv, err);
    if (result != 0)
        return result;
    if (settings->n_operands > 0 && strcmp(settings->operands[0], "rollback") != 0)
        return err_set(err, -EINVAL, "'%.60s' is no action of retune; there is rollback",
                       settings->operands[0]);
    if (settings->config[0] == '\0')
        return err_set(err, -EINVAL, "--config is missing; it names the file with the targets");
    const struct settings *command;
    result = read_configuration(settings, &command, err);
    if (result < 0)
        return result;
    *settings = *command;
    settings->operands_allowed = 1;
    result = options_parse(settings, OPTIONS_RETUNE, argc, argv, err);
    if (result == 0 && settings->retune.target[0] != '\0' &&
        retune_config_find(&config, settings->retune.target) == NULL)
        result = err_set(err, -EINVAL, "--target %.60s: %.200s has no such target", settings->retune.target,
                         settings->config);
    return result;
}

static int open_history(const struct settings *settings, bool write, struct history *history,
                        char db[PATH_MAX], struct err *err)
{
    int result = command_history_path(settings, db, PATH_MAX, err);
    if (result == 0 && write)
        result = history_make_directories(db, err);
    const struct history_place place = {.path = db, .write = write};
    return result < 0 ? result : history_open(history, &place, err);
}

/* As tuner/session/session names it in what is measured. */
static const char *host_name(void)
{
    static struct utsname names;
    return uname(&names) == 0 ? names.nodename : "";
}

static const struct point *find_in_force(const struct retune_world *world, const struct retune_target *target,
                                         struct point *point)
{
    struct retune_request request;
    int64_t settled_id;
    retune_request_init(&request, &target->settings);
    if (world->history != NULL)
        retune_in_force(world, target, &request, &settled_id, NULL);
    *point = request.in_force;
    return request.in_force_given ? point : NULL;
}

static int show_plan(const struct settings *settings, struct err *err)
{
    struct history history = {0};
    char db[PATH_MAX];
    json_t *targets = json_array();
    /* Before the first night there is no history, which is no error. */
    bool has_history = open_history(settings, false, &history, db, NULL) == 0;
    const struct retune_world world = {
        .history = has_history ? &history : NULL, .db = db, .host = host_name()};
    int result = 0;
    for (size_t i = 0; i < config.n_targets && result == 0; i++) {
        const struct retune_target *target = &config.targets[i];
        struct point point;
        if (settings->retune.target[0] != '\0' && strcmp(settings->retune.target, target->name) != 0)
            continue;
        const struct point *in_force = find_in_force(&world, target, &point);
        if (target->snippet[0] != '\0' && apply_check(target->snippet, err) < 0)
            result = err_prefix(err, "%s", target->name);
        if (settings->json)
            json_array_append_new(targets, report_retune_plan_json(target, in_force));
        else
            report_retune_plan_text(stdout, target, in_force);
    }
    history_close(&history);
    if (!settings->json || result < 0) {
        json_decref(targets);
        return result;
    }
    return json_print(stdout,
                      json_pack("{s:s, s:s, s:b, s:o}", "schema", "fstune/retune/1", "version",
                                FSTUNE_VERSION, "dry_run", 1, "targets", targets),
                      err);
}

static int print_rollback(const struct settings *settings, const struct retune_target *target,
                          const struct history_change *last, struct err *err)
{
    char setting[FACTORS_TEXT_SIZE];
    const char *shown = last->has_from ? factors_format(&last->from, setting) : "not known";
    if (settings->json) {
        json_t *document = json_pack(
            "{s:s, s:s, s:s, s:b, s:s, s:o, s:o}", "schema", "fstune/retune/1", "version", FSTUNE_VERSION,
            "action", "rollback", "dry_run", settings->dry_run, "target", target->name, "snippet",
            json_text(target->snippet), "in_force", last->has_from ? json_point(&last->from) : json_null());
        return json_print(stdout, document, err);
    }
    if (settings->dry_run)
        printf("%s: would be rolled back: %s would hold what %s.previous holds (setting: %s)\n", target->name,
               target->snippet, target->snippet, shown);
    else
        printf("%s: rolled back: %s holds the setting from before the last change (setting: %s)\n",
               target->name, target->snippet, shown);
    return 0;
}

static int roll_back(const struct retune_world *world, const struct settings *settings, struct err *err)
{
    const struct retune_target *target = retune_config_find(&config, settings->retune.target);
    struct history_change last;
    if (target == NULL)
        return err_set(err, -EINVAL, "--target is missing; it names what to roll back");
    int result = settings->dry_run ? retune_can_roll_back(world, target, &last, err)
                                   : retune_rollback(world, target, &last, err);
    if (result < 0)
        return err_prefix(err, "%s", target->name);
    return print_rollback(settings, target, &last, err);
}

static int print_retune_report(const struct settings *settings, const struct retune_report *report,
                               struct err *err)
{
    int result = 0;
    if (settings->json)
        result = json_print(stdout, report_retune_document(report), err);
    else
        report_retune_text(stdout, report);
    report_retune_log(stderr, report);
    return result;
}

/* An exit code, or a negative errno. */
static int run_nights(const char *db, const struct settings *settings, struct err *err)
{
    struct retune_report report;
    const struct retune_world world = {.db = db,
                                       .host = host_name(),
                                       .measure = retune_measure,
                                       .look = host_load_read,
                                       .interrupted = &interrupt_signal,
                                       .force = settings->retune.force,
                                       .apart = true,
                                       .slack_ns = RETUNE_SLACK_NS};
    int result = retune_run(&world, &config, settings->retune.target, &report, err);
    if (result < 0)
        return result;
    int code = report.exit_code = command_code(report.exit_code);
    result = print_retune_report(settings, &report, err);
    if (result == 0 && settings->retune.prometheus[0] != '\0')
        result = prometheus_write(settings->retune.prometheus, &report, &config, err);
    retune_report_done(&report);
    return result < 0 ? result : code;
}

static int print_online_plan(const struct settings *settings, const struct retune_online_count *count,
                             const char *first, const char *text, struct err *err)
{
    const char *file = online_config.value_file;
    if (settings->json)
        return json_print(stdout,
                          json_pack("{s:s, s:s, s:b, s:s, s:o, s:o, s:I, s:s}", "schema", "fstune/online/1",
                                    "version", FSTUNE_VERSION, "dry_run", 1, "first", first, "value_file",
                                    json_text(file), "text", json_text(text), "counter", (json_int_t)count->n,
                                    "kind", count->kind),
                          err);
    printf("%s runs first; %s would hold:\n%sthe counter is at %" PRIu64 "%s%s\n", first, file, text,
           count->n, count->kind[0] != '\0' ? ", load " : "", count->kind);
    return 0;
}

static int show_online_plan(const struct settings *settings, struct err *err)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    struct retune_online_count count;
    struct online_setting first;
    int result = apply_check(online_config.value_file, err);
    if (result == 0)
        result = retune_online_program_count(&online_config, &count, err);
    if (result == 0)
        result = retune_online_plan(&tuned, &online_config, &count, &first, err);
    if (result < 0)
        return result;
    char *text = retune_online_config_text(&online_config, &first);
    if (text == NULL)
        return err_set(err, -ENOMEM, "no memory");
    retune_online_config_write(&online_config, &first, words);
    result = print_online_plan(settings, &count, words, text, err);
    free(text);
    return result;
}

/* What was found is said where the loop ended without an error; what was learnt is kept in any case. */
static int tune_program(const struct settings *settings, struct retune_online_world *world, struct err *err)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    world->out = settings->quiet ? NULL : settings->json ? stderr : stdout;
    int result = retune_online_open(&tuned, &online_config, world, err);
    if (result < 0)
        return result;
    if (world->out != NULL) {
        fprintf(world->out, "begins with: %s\n",
                retune_online_config_write(&online_config, &tuned.current, words));
        fflush(world->out);
    }
    result = retune_online_run(&tuned, err);
    if (result == 0 && settings->json)
        result = json_print(stdout, retune_online_document(&tuned), err);
    else if (result == 0)
        retune_online_print(stdout, &tuned);
    retune_online_close(&tuned);
    return result;
}

/* An exit code, or a negative errno. */
static int act_online(const struct settings *settings, struct err *err)
{
    struct retune_online_program program;
    struct retune_online_world world;
    if (settings->dry_run)
        return show_online_plan(settings, err);
    int result = retune_online_program_open(&program, &online_config, &world, err);
    if (result < 0)
        return result;
    result = tune_program(settings, &world, err);
    retune_online_program_close(&program);
    return result < 0 ? result : command_code(result);
}

static int act(const struct settings *settings, struct err *err)
{
    struct history history = {0};
    char db[PATH_MAX];
    if (settings->retune.online)
        return act_online(settings, err);
    if (settings->dry_run && settings->n_operands == 0)
        return show_plan(settings, err);
    int result = open_history(settings, !settings->dry_run, &history, db, err);
    const struct retune_world world = {
        .history = &history, .db = db, .host = host_name(), .interrupted = &interrupt_signal};
    if (result == 0 && settings->n_operands > 0)
        result = roll_back(&world, settings, err);
    /* The history is usable; it is closed because a connection must not go through a fork. */
    history_close(&history);
    return result == 0 && settings->n_operands == 0 ? run_nights(db, settings, err) : result;
}

static int run_retune(const struct command *command, int argc, char **argv)
{
    static struct settings settings;
    struct err err = {0};
    int result = read_settings(argc, argv, &settings, &err);
    if (result > 0)
        return command_print_help(command, result);
    if (result < 0)
        return fail_with(result == -ENOMEM ? EXIT_FAILED : EXIT_USAGE, "%s", err.text);
    result = act(&settings, &err);
    int number = atomic_load(&interrupt_signal);
    if (result == -EINTR && number > 0)
        result = fail_with(EXIT_SIGNAL + number, "%s", err.text);
    else if (result < 0)
        result = fail_with(result == -EINVAL && settings.retune.target[0] == '\0' ? EXIT_USAGE : EXIT_FAILED,
                           "%s", err.text);
    return result;
}

static void print_keys(FILE *out)
{
    retune_config_print_keys(out);
    retune_online_config_print_keys(out);
}

const struct command command_retune = {
    .name = "retune",
    .operands = "rollback",
    .usage = "[rollback]",
    .print_more_help = print_keys,
    .options = OPTIONS_RETUNE,
    .summary =
        "measure the targets of a configuration again, every night, and keep their settings up to date",
    .run = run_retune,
    .description =
        "Measures every target of a configuration against the current setting, and changes those only where "
        "several nights agree. `retune rollback` takes the last change of a target back. With --online a "
        "program that re-reads its settings is tuned while it works, until a signal comes.",
    .example = "fstune retune --config /etc/fstune/retune.conf",
};
