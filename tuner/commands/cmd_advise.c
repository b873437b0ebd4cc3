/* fstune advise: what would be measured to be the fastest, at once and without measuring: the way of writing
 * by a model, or a setting by what a fleet knows. */
#include "bench/base/err.h"
#include "bench/host/hostinfo.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/histories/fleet_advice.h"
#include "tuner/options/options.h"
#include "tuner/options/options_set.h"
#include "tuner/options/settings.h"
#include "tuner/picture/plot_deliver.h"
#include "tuner/session/json_row.h"
#include "tuner/store/sql_server.h"
#include "tuner/writes/write_advice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_advice(const struct write_advice *advice, struct err *err)
{
    if (advice->settings->json)
        return json_print(stdout, write_advice_json(advice), err);
    write_advice_text(stdout, advice);
    return text_finish(stdout, err);
}

static int check_write(const struct settings *settings, bool on_terminal, struct err *err)
{
    if (settings->n_operands == 0 || strcmp(settings->operands[0], "write") != 0)
        return err_set(err, -EINVAL,
                       "advise: say what about: writes (fstune advise write), or what a fleet knows (fstune "
                       "advise --fleet)");
    if (settings->config[0] != '\0')
        return err_set(err, -EINVAL, "--config: does nothing without --fleet");
    if (settings->prediction.pattern_given && !options_is_write_pattern(&settings->workload.pattern))
        return err_set(err, -EINVAL, "--pattern: '%s' cannot be predicted; use write or randwrite",
                       settings->workload.pattern.name);
    if (on_terminal && settings->json)
        return err_set(err, -EINVAL, "--json and --plot - both want standard output; give --plot a file");
    return 0;
}

static int advise_write(const struct settings *settings, struct err *err)
{
    static struct host_file host;
    static struct write_advice advice;
    const char *picture = settings->prediction.picture, *output = strcmp(picture, "-") == 0 ? "" : picture;
    bool has_picture = picture[0] != '\0', on_terminal = has_picture && output[0] == '\0';
    int result = check_write(settings, on_terminal, err);
    if (result == 0 && has_picture)
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

/* What is recorded of a host that measures in this directory; a new reference. */
static int look_at_host(const struct settings *settings, struct hostinfo *host, json_t **ret_system,
                        struct err *err)
{
    int fd = open(settings->file.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "--path %.300s", settings->file.path);
    hostinfo_collect(host, fd);
    close(fd);
    *ret_system = json_host(host);
    return *ret_system != NULL ? 0 : err_set(err, -ENOMEM, "no memory");
}

static int load_others(const struct settings *settings, const char *hostname, struct fleet_data *data,
                       struct err *err)
{
    const struct history_place place = {.path = settings->search.fleet};
    struct history history;
    int result = history_open(&history, &place, err);
    if (result < 0)
        return result;
    result = fleet_data_load(data, &history, FLEET_NEWEST, settings->workload.pattern.name,
                             command_since_s(settings), err);
    if (result == 0)
        result = fleet_advice_leave_out(data, &history, hostname, err);
    history_close(&history);
    return result;
}

static int check_fleet(const struct settings *settings, struct err *err)
{
    const struct settings_prediction *burst = &settings->prediction;
    if (settings->n_operands > 0)
        return err_set(err, -EINVAL, "advise: '%.60s' and --fleet are two questions; ask one of them",
                       settings->operands[0]);
    if (burst->host[0] != '\0' || burst->total_bytes > 0 || burst->picture[0] != '\0')
        return err_set(err, -EINVAL, "--host, --total and --plot are of advise write, and not of --fleet");
    if (!settings->workload.pattern_given)
        return err_set(err, -EINVAL, "--fleet: say of which workload, with --pattern");
    if (settings->search.fleet[0] == '\0')
        return err_set(err, -EINVAL,
                       "--fleet: name the fleet's history behind it, or as fleet in a configuration "
                       "(--config)");
    return 0;
}

static int advise_of_fleet(const struct settings *settings, struct err *err)
{
    static struct hostinfo host;
    struct fleet_data data = {0};
    json_t *system = NULL;
    int result = check_fleet(settings, err);
    if (result == 0)
        result = look_at_host(settings, &host, &system, err);
    if (result == 0)
        result = load_others(settings, hostinfo_text(&host, "hostname"), &data, err);
    if (result == 0) {
        const struct fleet_advice_request request = {.pattern = settings->workload.pattern.name,
                                                     .system = system,
                                                     .tolerance_share = settings->search.tolerance_share,
                                                     .json = settings->json,
                                                     .may_be_blind =
                                                         sql_server_is_address(settings->search.fleet)};
        result = fleet_advice_print(stdout, &data, &request, err);
    }
    json_decref(system);
    fleet_data_done(&data);
    return result;
}

static int advise(const struct settings *settings, struct err *err)
{
    return settings->search.fleet_given ? advise_of_fleet(settings, err) : advise_write(settings, err);
}

const struct command command_advise = {
    .name = "advise",
    .summary = "the fastest way of writing, or the setting that a fleet knows, without measuring",
    .operands = "write",
    .usage = "write|--fleet",
    .n_operands = 1,
    .run = command_run,
    .act = advise,
    .options = OPTIONS_ADVISE,
    .description =
        "Says at once, by a model of this machine (fstune calibrate), what a burst of writes costs "
        "through the page cache and past it, and from which size on another way is faster. With --fleet "
        "it says which setting is right on other hosts of this kind, and the chance that it is right here.",
    .example = "fstune advise write --host host.conf --total 500m --request-size 64k",
};
