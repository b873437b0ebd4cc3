/* fstune watch: which loads a running system has, and when. */
#include "bench/base/err.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/commands/command.h"
#include "tuner/histories/watch_report.h"
#include "tuner/nightly/watch.h"
#include "tuner/nightly/watch_run.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"
#include "tuner/store/history.h"
#include "tuner/store/sql_server.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

static int check(const struct settings *settings, struct err *err)
{
    const struct settings_watch *asked = &settings->watch;
    if ((asked->directory[0] != '\0') == (asked->group[0] != '\0'))
        return err_set(err, -EINVAL, "watch what? give --path DIR or --cgroup GROUP%s",
                       asked->group[0] != '\0' ? ", not both" : "");
    if (settings->history.save[0] == '\0')
        return err_set(err, -EINVAL, "--save FILE.db is missing: the history that keeps what was seen");
    if (sql_server_is_address(settings->history.save))
        return err_set(err, -EINVAL,
                       "--save: what was watched is kept in a file of each host, not on a server");
    return 0;
}

/* Each place has one name, whatever way it was given. */
static int name_place(const struct settings_watch *asked, char *place, size_t size, struct err *err)
{
    char path[PATH_MAX];
    if (asked->group[0] == '\0' && realpath(asked->directory, path) == NULL)
        return err_sys(err, -errno, "--path %.300s", asked->directory);
    int n = asked->group[0] != '\0' ? snprintf(place, size, "cgroup %s", asked->group)
                                    : snprintf(place, size, "path %s", path);
    return n > 0 && (size_t)n < size ? 0 : err_set(err, -ENAMETOOLONG, "the name is too long");
}

static int report(struct history *history, const char *place, bool json, struct err *err)
{
    static struct watch_report seen;
    int code = watch_report_make(&seen, history, place, history->now_s(history->now_context), err);
    if (code < 0)
        return code;
    if (json)
        return json_print(
            stdout,
            json_pack("{s:s, s:[o]}", "schema", "fstune/patterns/1", "places", watch_report_json(&seen)),
            err);
    watch_report_print(stdout, &seen);
    return text_finish(stdout, err);
}

static int watch(const struct settings *settings, struct err *err)
{
    char name[HISTORY_TEXT_SIZE];
    struct history history = {0};
    const struct history_place place = {.path = settings->history.save, .write = true};
    const struct settings_watch *asked = &settings->watch;
    const struct watch_options options = {.directory = asked->group[0] == '\0' ? asked->directory : NULL,
                                          .group = asked->group[0] != '\0' ? asked->group : NULL,
                                          .slice_ns = asked->slice_ns,
                                          .duration_ns = asked->duration_ns,
                                          .store_bytes = settings->profile.store_bytes};
    uint64_t n_lost = 0;
    int code = check(settings, err);
    if (code == 0)
        code = name_place(asked, name, sizeof name, err);
    if (code == 0)
        code = history_open(&history, &place, err);
    struct watch seen = {.history = &history,
                         .place = name,
                         .out = settings->quiet  ? NULL
                                : settings->json ? stderr
                                                 : stdout,
                         .kind = KIND_NONE};
    if (code == 0)
        code = watch_run(&seen, &options, &n_lost, err);
    if (code == 0)
        code = report(&history, name, settings->json, err);
    if (code == 0 && n_lost > 0)
        fail_with(0, "%" PRIu64 " records were lost, because they came faster than they were read", n_lost);
    history_close(&history);
    return code < 0 ? code : command_code(code);
}

const struct command command_watch = {
    .name = "watch",
    .summary = "watch a running system, and say which loads it has, and when",
    .usage = "--path DIR | --cgroup GROUP",
    .run = command_run,
    .act = watch,
    .options = OPTIONS_WATCH,
    .description = "Watches by the kernel what programs read and write below a directory, or in a control "
                   "group, and keeps in the history which kind of load was there in which hour. Says when "
                   "another one comes, and whether it is known. `fstune history patterns` tells which come "
                   "at their hours, and how often that was foretold rightly; `fstune recommend --for "
                   "FILE.db` tunes for the one that is there most.",
    .example = "fstune watch --path /srv --save history.db",
};
