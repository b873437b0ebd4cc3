/* fstune experiment: a systematic test over given levels of any factors. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/experiment/erofeev.h"
#include "tuner/experiment/experiment.h"
#include "tuner/experiment/experiment_ask.h"
#include "tuner/experiment/report_experiment.h"
#include "tuner/options/experiment_config.h"
#include "tuner/options/options.h"
#include "tuner/store/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Both steps of the command use it; as arguments they share the session only. */
static struct experiment experiment;

/* 3: some runs are missing, whatever the reason. */
static int experiment_exit_code(void)
{
    size_t n_complete = 0, n_cells = 0;
    for (size_t i = 0; i < experiment.n_cells; i++) {
        const struct experiment_cell *cell = &experiment.cells[i];
        n_cells += !cell->left_out;
        n_complete += !cell->left_out && cell->record.n == experiment.settings->runs.replays;
    }
    if (experiment.stopped != 0)
        return command_code(EXIT_FAILED);
    if (experiment.n_made == 0)
        return command_code(EXIT_NOTHING);
    return command_code(n_complete == n_cells ? EXIT_DONE : EXIT_INCONCLUSIVE);
}

static json_t *make_document(void)
{
    json_t *document = experiment_json(&experiment);
    if (document != NULL)
        json_object_set_new(document, "analysis", report_experiment_analysis_json(document));
    return document;
}

/* A format that cannot hold this design is refused before an hour is spent on it. */
static int check_format(const struct settings *settings, struct err *err)
{
    json_t *document = experiment_json(&experiment);
    FILE *nowhere = fopen("/dev/null", "we");
    int result =
        document == NULL || nowhere == NULL ? err_set(err, -ENOMEM, "no memory for the document") : 0;
    if (result == 0)
        result = report_experiment(nowhere, document, settings->format, err);
    json_decref(document);
    if (nowhere != NULL)
        fclose(nowhere);
    return result == -ENODATA ? 0 : result < 0 ? err_prefix(err, "--format") : 0;
}

static void hint_at_resume(const struct settings *settings)
{
    bool keeps = settings->search.resume[0] != '\0';
    if (experiment.interrupted && !settings->quiet)
        fprintf(stderr, "%s%s\n",
                keeps ? "to go on, give the same command again, with --resume "
                      : "--resume FILE keeps the runs, so that an interrupted experiment can go on",
                keeps ? settings->search.resume : "");
}

static int print_experiment_result(struct session *session, struct err *err)
{
    progress_clear(&session->progress);
    session_finish(session);
    json_t *document = make_document();
    int code = experiment_exit_code();
    int result = document == NULL ? err_set(err, -ENOMEM, "no memory for the document")
                                  : report_experiment(stdout, document, experiment.settings->format, err);
    /* Nothing was measured, which the exit code says as well. */
    if (result == -ENODATA)
        result = fail_with(0, "%s", err->text);
    if (save_is_on(session))
        save_finish(session, result < 0 ? EXIT_FAILED : code, document);
    json_decref(document);
    hint_at_resume(experiment.settings);
    return result < 0 ? result : code;
}

static int check_and_print_experiment_plan(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    int result = experiment_resume_open(&experiment, session, err);
    if (result == 0)
        result = experiment_plan(&experiment, session, err);
    if (result == 0)
        result = experiment_resume_take(&experiment, err);
    if (result == 0)
        result = check_format(settings, err);
    if (result == 0)
        result = save_open(session, err);
    if (result < 0)
        return result;
    session->seconds_at_most = experiment_seconds_most(&experiment);
    if (settings->dry_run && settings->json)
        return json_print(stdout, experiment_json_plan(&experiment), err);
    FILE *out = command_plan_stream(settings);
    if (out != NULL)
        experiment_print_plan(out, &experiment);
    if (settings->dry_run)
        text_notes(stdout, "Not in the design", &session->dropped, true);
    return 0;
}

static int prepare_and_measure(struct session *session, struct err *err)
{
    int result = session_prepare(session, err);
    if (result == 0)
        result = experiment_targets_make(&experiment, err);
    if (result == 0)
        result = experiment_check(&experiment, err);
    if (result == 0)
        result = experiment_resume_begin(&experiment, err);
    if (result == 0) {
        save_begin(session, "experiment");
        result = experiment_run(&experiment, err);
    }
    progress_clear(&session->progress);
    if (result == -EINTR) {
        experiment.interrupted = true;
        result = 0;
    }
    if (result == 0)
        return print_experiment_result(session, err);
    save_finish(session, EXIT_FAILED, NULL);
    return result;
}

static int run_and_print_experiment(struct session *session, struct err *err)
{
    int result = prepare_and_measure(session, err);
    experiment_targets_done(&experiment);
    return result;
}

/* Results that were measured elsewhere. */
static int import(const struct settings *line, struct err *err)
{
    json_t *document = NULL;
    if (line->n_operands == 0)
        return err_set(err, -EINVAL, "--import %s: the file is missing", line->experiment.import);
    int result = erofeev_import(line->operands[0], &document, err);
    if (result == 0) {
        json_object_set_new(document, "analysis", report_experiment_analysis_json(document));
        result = report_experiment(stdout, document, line->format, err);
    }
    json_decref(document);
    return result;
}

/* text: the configuration instead of a file, or NULL. */
static int read_and_run(const struct command *command, const struct settings *line, int argc, char **argv,
                        const char *text)
{
    static struct settings settings;
    struct err err = {0};
    int result = experiment_config_read(&settings, line, argc, argv, text, &err);
    if (result < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    int code = command_run_session(command, &settings);
    experiment_done(&experiment);
    return code;
}

static int ask_and_run(const struct command *command, const struct settings *line, int argc, char **argv)
{
    char *text = NULL;
    struct err err = {0};
    int code = EXIT_DONE;
    if (line->n_operands > 0)
        return fail_with(EXIT_USAGE, "--ask: the answers stand for the file; leave out one of them");
    if (experiment_ask(stdin, stderr, &text, &err) < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    if (line->dry_run && !line->json)
        fputs(text, stdout);
    else
        code = read_and_run(command, line, argc, argv, text);
    free(text);
    return code;
}

static int run_experiment_command(const struct command *command, int argc, char **argv)
{
    static struct settings line;
    struct err err = {0};
    int result = experiment_config_scan(&line, argc, argv, &err);
    if (result > 0)
        return command_print_help(command, result);
    if (result < 0)
        return fail_with(EXIT_USAGE, "%s", err.text);
    if (line.experiment.import[0] != '\0') {
        result = import(&line, &err);
        return result < 0 ? fail_refused(result, err.text) : EXIT_DONE;
    }
    return line.experiment.ask ? ask_and_run(command, &line, argc, argv)
                               : read_and_run(command, &line, argc, argv, NULL);
}

const struct command command_experiment = {
    .name = "experiment",
    .summary = "measure every combination of given levels, replayed, in random order",
    .operands = "FILE",
    .usage = "[FILE]",
    .run = run_experiment_command,
    .description = "Measures a design: settings over given levels of any factors, replayed, all runs in one "
                   "random order. "
                   "FILE holds settings, the options with underscores for dashes; the command line wins.",
    .example = "fstune experiment --pattern randwrite --request-size 1k,4k --queue-depth 1..64 --direct 1",
    .options = OPTIONS_EXPERIMENT,
    .plan = check_and_print_experiment_plan,
    .measure = run_and_print_experiment,
};
