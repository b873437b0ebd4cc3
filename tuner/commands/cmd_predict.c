/* fstune predict write: what writes will cost, from a model of the page cache. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
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
    if (settings->n_operands == 0 || strcmp(settings->operands[0], "write") != 0)
        return err_set(err, -EINVAL, "only writes can be predicted; write fstune predict write [OPTION...]");
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

const struct command command_predict = {
    .name = "predict",
    .operands = "write",
    .options = OPTIONS_PREDICT,
    .summary = "predict what writes cost, the page cache included, instead of measuring it",
    .usage = "write",
    .n_operands = 1,
    .run = command_run,
    .act = predict_write,
    .description =
        "Computes from a machine that `fstune calibrate` has measured what each write of a load or "
        "a trace costs (CAWL, a model of Linux' page cache), where the page cache stops to help, and "
        "how much memory is dirty meanwhile. Nothing is written, except with --validate.",
    .example = "fstune predict write --host host.conf --total 8g --request-size 1m --delay 10ms",
};
