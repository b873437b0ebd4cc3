/* fstune predict: what writes will cost, and how long a program takes in a virtual machine. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/impact/predict_rows.h"
#include "tuner/impact/predict_task.h"
#include "tuner/impact/predict_vm.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/writes/predict.h"
#include "tuner/writes/report_prediction.h"
#include "tuner/writes/validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_file(const char *name)
{
    return name[0] != '\0' && strcmp(name, "-") != 0;
}

/* Names that cannot become the files are refused before anything is read. */
static int check_files(const struct settings *settings, struct err *err)
{
    const struct settings_prediction *asked = &settings->prediction;
    int result = is_file(asked->picture) ? command_check_picture(settings, asked->picture, err) : 0;
    if (result < 0)
        return result;
    if (is_file(asked->csv))
        result = strcmp(asked->csv, asked->host) == 0 || strcmp(asked->csv, asked->trace) == 0
                     ? err_set(err, -EINVAL, "%.200s is read; give another name", asked->csv)
                     : publish_check(asked->csv, err);
    return result < 0 ? err_prefix(err, "--csv") : 0;
}

static int print_prediction(const struct predict *predict, struct err *err)
{
    const struct settings_prediction *asked = &predict->settings->prediction;
    int result = 0;
    if (is_file(asked->csv))
        result = publish_print(asked->csv, report_prediction_csv, predict, err);
    else if (asked->csv[0] != '\0')
        result = report_prediction_csv(stdout, predict, err);
    if (result == 0 && predict->settings->json)
        result = report_prediction_json(stdout, predict, err);
    else if (result == 0 && strcmp(asked->csv, "-") != 0 && strcmp(asked->picture, "-") != 0)
        result = report_prediction_text(stdout, predict, err);
    if (result == 0 && asked->picture[0] != '\0')
        result = report_prediction_plot(predict, err);
    return result;
}

static int predict_write(const struct settings *settings, struct err *err)
{
    static struct predict predict;
    bool validates = settings->prediction.validate;
    int code = EXIT_USAGE;
    int result = check_files(settings, err);
    interrupt_end_at_once(true);
    if (result == 0)
        result = predict_open(&predict, settings, err);
    if (result == 0 && !validates)
        result = predict_run(&predict, err);
    interrupt_end_at_once(false);
    if (result == 0 && validates) {
        code = validate_write(&predict);
    } else if (result == 0) {
        code = EXIT_FAILED;
        result = print_prediction(&predict, err);
    }
    predict_done(&predict);
    if (result < 0)
        return command_explain(result, code, err->text);
    return validates ? code : EXIT_DONE;
}

static int predict_regression(const struct settings *settings, struct err *err)
{
    static struct predict_rows rows;
    int code = EXIT_USAGE, result = predict_rows(&rows, settings, err);
    if (result == 0) {
        code = EXIT_FAILED;
        result =
            settings->json ? predict_rows_json(stdout, &rows, err) : predict_rows_text(stdout, &rows, err);
    }
    predict_rows_done(&rows);
    return result < 0 ? command_explain(result, code, err->text) : EXIT_DONE;
}

static int predict_guest(const struct settings *settings, struct err *err)
{
    static struct predict_vm vm;
    int code = EXIT_USAGE;
    if (settings->prediction.vm.train[0] != '\0')
        return predict_regression(settings, err);
    int result = predict_vm(&vm, settings, err);
    if (result == -ECANCELED)
        code = EXIT_FAILED;
    if (result == 0) {
        code = EXIT_FAILED;
        result = settings->json ? predict_vm_json(stdout, &vm, err) : predict_vm_text(stdout, &vm, err);
    }
    predict_vm_done(&vm);
    return result < 0 ? command_explain(result, code, err->text) : EXIT_DONE;
}

static int predict_a_task(const struct settings *settings, struct err *err)
{
    static struct predict_task task;
    int code = EXIT_USAGE, result = predict_task(&task, settings, err);
    if (result == 0) {
        code = EXIT_FAILED;
        result =
            settings->json ? predict_task_json(stdout, &task, err) : predict_task_text(stdout, &task, err);
    }
    predict_task_done(&task);
    return result < 0 ? command_explain(result, code, err->text) : EXIT_DONE;
}

static int predict_something(const struct settings *settings, struct err *err)
{
    static const char *const subjects[] = {"write", "vm", "task"};
    static int (*const acts[])(const struct settings *, struct err *) = {predict_write, predict_guest,
                                                                         predict_a_task};
    const size_t n = sizeof subjects / sizeof subjects[0];
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "what shall be predicted? Write fstune predict write, vm or task");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(settings->operands[0], subjects[i]) == 0)
            return acts[i](settings, err);
    }
    return options_refuse(settings->operands[0], "nothing that can be predicted", subjects, n,
                          "write fstune predict write, vm or task", err);
}

const struct command command_predict = {
    .name = "predict",
    .operands = "write|vm|task",
    .options = OPTIONS_PREDICT,
    .summary =
        "predict what writes cost, how long a program takes in a virtual machine, or a task on a storage",
    .usage = "write|vm|task",
    .n_operands = 1,
    .run = command_run,
    .act = predict_something,
    .description =
        "Computes from a machine that `fstune calibrate` has measured what each write of a load or a trace "
        "costs (CAWL, a model of Linux' page cache), where the page cache stops to help, and how much memory "
        "is dirty meanwhile. Nothing is written, except with --validate. `predict vm` computes from the "
        "atomic tests of a host and a guest (fstune atoms) how long the command behind -- takes in the "
        "guest, and why; `predict task` from the basic operations of a storage how long a task takes on it.",
    .example = "fstune predict write --host host.conf --total 8g --request-size 1m --delay 10ms",
};
