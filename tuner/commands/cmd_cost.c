/* fstune cost: what a command costs the rest of the system. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/commands/command.h"
#include "tuner/impact/cost.h"
#include "tuner/impact/report_cost.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"

#include <errno.h>

static int print_cost(const struct cost *cost, struct err *err)
{
    return cost->settings->json ? report_cost_json(stdout, cost, err) : report_cost_text(stdout, cost, err);
}

static int calculate_cost(struct cost *cost, const struct settings *settings, struct err *err)
{
    int result = settings->program != NULL
                     ? err_set(err, -EINVAL, "--base: does nothing beside a command; leave one of them out")
                     : cost_read(cost, settings, err);
    if (result < 0)
        return command_explain(result, EXIT_USAGE, err->text);
    result = print_cost(cost, err);
    return result < 0 ? command_explain(result, EXIT_FAILED, err->text) : EXIT_DONE;
}

static int measure_cost(struct cost *cost, const struct settings *settings, struct err *err)
{
    int result = cost_open(cost, settings, err);
    if (result < 0)
        return command_explain(result, EXIT_USAGE, err->text);
    FILE *out = command_plan_stream(settings);
    if (out != NULL)
        report_cost_plan(out, cost);
    if (settings->dry_run)
        return EXIT_DONE;
    result = cost_measure(cost, err);
    if (result == 0)
        result = print_cost(cost, err);
    return result < 0 ? command_explain(result, result == -ENOENT ? EXIT_USAGE : EXIT_FAILED, err->text)
                      : command_code(EXIT_DONE);
}

static int cost_of_command(const struct settings *settings, struct err *err)
{
    struct cost cost = {0};
    int code = settings->cost.base[0] != '\0' ? calculate_cost(&cost, settings, err)
                                              : measure_cost(&cost, settings, err);
    cost_close(&cost);
    return code;
}

const struct command command_cost = {
    .name = "cost",
    .operands = "-- COMMAND ARG...",
    .options = OPTIONS_COST,
    .summary = "what a command costs its neighbours: by how much it delays another program",
    .usage = "[OPTION...] -- COMMAND ARG...",
    .run = command_run,
    .act = cost_of_command,
    .description =
        "Runs a light program alone and beside the command, in random order, and compares the times at "
        "which it passes its observation points (Qian and Wang 2006). The cost is the sum over the intervals "
        "between them of (delayed - alone) / (delayed + alone); above 25 % the command is heavy. A command "
        "that ends is started again; at the end it gets SIGTERM.",
    .example = "fstune cost -- tar -cf /dev/null /usr/share",
};
