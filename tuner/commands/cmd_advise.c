/* fstune advise: which way of writing the model would take, at once and without measuring. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/writes/write_advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int print_advice(const struct write_advice *advice, struct err *err)
{
    if (advice->settings->json)
        return json_print(stdout, write_advice_json(advice), err);
    write_advice_text(stdout, advice);
    return text_finish(stdout, err);
}

static int advise(const struct settings *settings, struct err *err)
{
    static struct host_file host;
    static struct write_advice advice;
    const char *picture = settings->prediction.picture, *output = strcmp(picture, "-") == 0 ? "" : picture;
    bool has_picture = picture[0] != '\0', on_terminal = has_picture && output[0] == '\0';
    int result = 0;
    if (settings->n_operands == 0 || strcmp(settings->operands[0], "write") != 0)
        return err_set(err, -EINVAL, "advise: say what about; it knows writes: fstune advise write");
    if (on_terminal && settings->json)
        return err_set(err, -EINVAL, "--json and --plot - both want standard output; give --plot a file");
    if (has_picture)
        result = command_check_picture(settings, output, err);
    interrupt_end_at_once(true);
    if (result == 0)
        result = write_advice_make(settings, &host, &advice, err);
    interrupt_end_at_once(false);
    if (result < 0)
        return result;
    /* A picture on the terminal stands for the text. */
    if (!on_terminal)
        result = print_advice(&advice, err);
    if (result == 0 && has_picture)
        result = plot_deliver_drawn(&settings->plot, output, write_advice_draw, &advice, err);
    return result < 0 ? fail_with(EXIT_FAILED, "%s", err->text) : EXIT_DONE;
}

const struct command command_advise = {
    .name = "advise",
    .summary = "predict which way of writing is the fastest, without measuring",
    .operands = "write",
    .usage = "write",
    .n_operands = 1,
    .run = command_run,
    .act = advise,
    .options = OPTIONS_ADVISE,
    .description =
        "Says at once, by a model of this machine (fstune calibrate), what a burst of writes costs "
        "through the page cache and past it, and from which size on another way is faster.",
    .example = "fstune advise write --host host.conf --total 500m --request-size 64k",
};
