/* fstune advise: which way of writing the model would take, at once and without measuring. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/base/publish.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/writes/write_advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has_picture(const struct settings *settings)
{
    return settings->prediction.picture[0] != '\0';
}

/* What cannot become a picture is refused before anything is calculated. "-" is the terminal. */
static int check_picture(const struct settings *settings, const char **ret_output, struct err *err)
{
    const char *name = settings->prediction.picture;
    struct plot_request request;
    *ret_output = strcmp(name, "-") == 0 ? "" : name;
    if (**ret_output == '\0' && settings->json)
        return err_set(err, -EINVAL, "--json and --plot - both want standard output; give --plot a file");
    int result = plot_deliver_request(&settings->plot, *ret_output, &request, err);
    if (result == 0 && **ret_output != '\0')
        result = publish_check(*ret_output, err);
    return result < 0 ? err_prefix(err, "--plot") : 0;
}

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
    const char *output = "";
    if (settings->n_operands == 0 || strcmp(settings->operands[0], "write") != 0)
        return err_set(err, -EINVAL, "advise: say what about; it knows writes: fstune advise write");
    int result = has_picture(settings) ? check_picture(settings, &output, err) : 0;
    interrupt_end_at_once(true);
    if (result == 0)
        result = write_advice_make(settings, &host, &advice, err);
    interrupt_end_at_once(false);
    if (result < 0)
        return result;
    /* A picture on the terminal stands for the text. */
    if (!has_picture(settings) || output[0] != '\0')
        result = print_advice(&advice, err);
    if (result == 0 && has_picture(settings))
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
