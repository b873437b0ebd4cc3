/* fstune history: what was measured before. */
#include "tuner/commands/command.h"
#include "tuner/commands/history_disk.h"
#include "tuner/histories/watch_report.h"
#include "tuner/options/options.h"
#include "tuner/report/report_history.h"
#include "tuner/store/history.h"
#include "tuner/store/sql_server.h"

#include "bench/base/err.h"
#include "bench/base/units.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    struct history history;
    const struct settings *settings;
    const char *path;
    bool is_limited; /* --limit counts decisions */
};

static int run_id_of(const char *text, int64_t *ret_id, struct err *err)
{
    uint64_t id;
    if (units_parse_count(text, INT64_MAX, &id) < 0 || id == 0)
        return err_set(err, -EINVAL, "'%.60s' is no number of a run; fstune history list shows them", text);
    *ret_id = (int64_t)id;
    return 0;
}

static int list(struct call *call, struct err *err)
{
    const struct history_filter filter = {.limit = call->settings->history.limit};
    struct history_info *runs;
    size_t n;
    int result = history_list_runs(&call->history, &filter, &runs, &n, err);
    if (result < 0)
        return result;
    if (call->settings->json) {
        json_t *rows = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(rows, report_history_run_json(&runs[i]));
        result = json_print(stdout, json_pack("{s:s, s:o}", "schema", "fstune/history/1", "runs", rows), err);
    } else {
        report_history_list(stdout, runs, n);
        result = text_finish(stdout, err);
    }
    free(runs);
    return result;
}

/* Decisions from the oldest to the newest, those that rest on a run alone, or all (0); the caller frees. */
static int load_changes(struct call *call, int64_t run_id, struct history_change **ret_changes, size_t *ret_n,
                        struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0, n_kept = 0;
    size_t limit = run_id == 0 && call->is_limited ? call->settings->history.limit : 0;
    int result = history_list_changes(&call->history, NULL, NULL, 0, limit, &changes, &n, err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n / 2; i++) {
        struct history_change swapped = changes[i];
        changes[i] = changes[n - 1 - i];
        changes[n - 1 - i] = swapped;
    }
    for (size_t i = 0; i < n; i++) {
        if (run_id == 0 || changes[i].run_ids[0] == run_id || changes[i].run_ids[1] == run_id)
            changes[n_kept++] = changes[i];
    }
    *ret_changes = changes;
    *ret_n = n_kept;
    return 0;
}

static json_t *changes_json(const struct history_change *changes, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, report_history_change_json(&changes[i]));
    return rows;
}

static int list_changes(struct call *call, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n = 0;
    call->is_limited = true;
    int result = load_changes(call, 0, &changes, &n, err);
    if (result < 0)
        return result;
    if (call->settings->json)
        result = json_print(
            stdout,
            json_pack("{s:s, s:o}", "schema", "fstune/history/1", "changes", changes_json(changes, n)), err);
    else {
        report_history_changes(stdout, changes, n);
        result = text_finish(stdout, err);
    }
    free(changes);
    return result;
}

/* A run with its replays; the caller frees them. */
static int load_run_info(struct call *call, const char *text, struct history_info *info,
                         struct history_replay **ret_replays, size_t *ret_n, struct err *err)
{
    int64_t id = 0;
    int result = run_id_of(text, &id, err);
    if (result == 0)
        result = history_find_run(&call->history, id, info, err);
    return result == 0 ? history_replays(&call->history, id, ret_replays, ret_n, err) : result;
}

/* With its replays, circumstances and answer: all that is known of it. */
static json_t *run_document(struct call *call, const struct history_info *info,
                            const struct history_replay *replays, size_t n)
{
    json_t *settings = NULL, *system = NULL, *answer = NULL, *rows = json_array();
    json_t *object = report_history_run_json(info);
    (void)history_circumstances(&call->history, info->id, &settings, &system, NULL);
    (void)history_document(&call->history, info->id, &answer, NULL);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, report_history_replay_json(&replays[i]));
    json_object_set_new(object, "settings", settings != NULL ? settings : json_null());
    json_object_set_new(object, "system", system != NULL ? system : json_null());
    json_object_set_new(object, "runs", rows);
    json_object_set_new(object, "answer", answer != NULL ? answer : json_null());
    return object;
}

static int show(struct call *call, struct err *err)
{
    struct history_info info;
    struct history_replay *replays = NULL;
    struct history_change *changes = NULL;
    size_t n, n_changes = 0;
    int result = load_run_info(call, call->settings->operands[1], &info, &replays, &n, err);
    if (result == 0)
        result = load_changes(call, info.id, &changes, &n_changes, err);
    if (result == 0 && call->settings->json) {
        json_t *document = run_document(call, &info, replays, n);
        json_object_set_new(document, "schema", json_string("fstune/run/1"));
        json_object_set_new(document, "changes", changes_json(changes, n_changes));
        result = json_print(stdout, document, err);
    } else if (result == 0) {
        report_history_run(stdout, &info, replays, n);
        if (n_changes > 0) {
            fputs("\nDecisions that rest on it:\n", stdout);
            report_history_changes(stdout, changes, n_changes);
        }
        result = text_finish(stdout, err);
    }
    free(changes);
    free(replays);
    return result;
}

/* Replays of one run are not two samples, and patterns are not to be measured against each other. */
static int refuse_pair(const struct history_info infos[2], struct err *err)
{
    char first[PATTERN_NAME_SIZE], second[PATTERN_NAME_SIZE];
    if (infos[0].id == infos[1].id)
        return err_set(err, -EINVAL, "both are run %lld; name two runs", (long long)infos[0].id);
    if (strcmp(infos[0].pattern, infos[1].pattern) != 0)
        return err_set(err, -EINVAL,
                       "run %lld is of pattern %s, run %lld of %s: their rates do not compare; name two runs "
                       "of one pattern",
                       (long long)infos[0].id, text_printable(infos[0].pattern, first, sizeof first),
                       (long long)infos[1].id, text_printable(infos[1].pattern, second, sizeof second));
    return 0;
}

static int compare_two_runs(struct call *call, struct err *err)
{
    struct history_info infos[2];
    struct history_replay *replays[2] = {NULL, NULL};
    struct history_comparison comparison = {0};
    size_t n[2] = {0, 0};
    int result = 0;
    for (size_t i = 0; i < 2 && result == 0; i++)
        result = load_run_info(call, call->settings->operands[1 + i], &infos[i], &replays[i], &n[i], err);
    if (result == 0)
        result = refuse_pair(infos, err);
    if (result == 0 && history_compare(infos, (const struct history_replay *const[2]){replays[0], replays[1]},
                                       n, &comparison) < 0)
        result = err_set(err, -ENOMEM, "no memory");
    if (result == 0 && call->settings->json)
        result = json_print(stdout, report_history_compare_json(infos, &comparison), err);
    else if (result == 0) {
        report_history_compare(stdout, infos, &comparison);
        result = text_finish(stdout, err);
    }
    history_compare_done(&comparison);
    free(replays[0]);
    free(replays[1]);
    return result;
}

/* Each with its replays, as CSV, or into `rows` unless it is NULL. The oldest first: a table that grows at
 * its end. */
static int export_runs(struct call *call, const struct history_info *runs, size_t n, json_t *rows,
                       struct err *err)
{
    if (rows == NULL)
        report_history_csv_header(stdout);
    for (size_t i = n; i-- > 0;) {
        struct history_replay *replays = NULL;
        size_t n_replays = 0;
        int result = history_replays(&call->history, runs[i].id, &replays, &n_replays, err);
        if (result < 0)
            return result;
        if (rows == NULL)
            report_history_csv(stdout, &runs[i], replays, n_replays);
        else
            json_array_append_new(rows, run_document(call, &runs[i], replays, n_replays));
        free(replays);
    }
    return rows == NULL ? text_finish(stdout, err) : 0;
}

static int export_json(struct call *call, const struct history_info *runs, size_t n, struct err *err)
{
    struct history_change *changes = NULL;
    size_t n_changes = 0;
    json_t *rows = json_array();
    int result = load_changes(call, 0, &changes, &n_changes, err);
    if (result == 0)
        result = export_runs(call, runs, n, rows, err);
    json_t *document = json_pack("{s:s, s:o, s:o}", "schema", "fstune/history/1", "runs", rows, "changes",
                                 changes_json(changes, n_changes));
    free(changes);
    if (result == 0)
        return json_print(stdout, document, err);
    json_decref(document);
    return result;
}

static int export(struct call *call, struct err *err)
{
    const struct history_filter all = {0};
    struct history_info *runs;
    size_t n;
    int result = history_list_runs(&call->history, &all, &runs, &n, err);
    if (result < 0)
        return result;
    result = call->settings->json ? export_json(call, runs, n, err) : export_runs(call, runs, n, NULL, err);
    free(runs);
    return result;
}

static int prune(struct call *call, struct err *err)
{
    const struct settings *settings = call->settings;
    size_t n = 0;
    if (settings->history.keep_runs == 0 && settings->history.older_than_ns == 0 &&
        settings->history.summarise_ns == 0)
        return err_set(err, -EINVAL,
                       "give --keep N, --older-than AGE or --summarise AGE; nothing was removed");
    double now_s = call->history.now_s(call->history.now_context);
    double before_s =
        settings->history.older_than_ns > 0 ? now_s - (double)settings->history.older_than_ns / 1e9 : 0;
    bool removes = settings->history.keep_runs > 0 || settings->history.older_than_ns > 0;
    int result = removes ? history_prune(&call->history, settings->history.keep_runs, before_s, &n, err) : 0;
    if (result == 0 && removes)
        printf("%zu run%s removed\n", n, n == 1 ? "" : "s");
    if (result == 0 && settings->history.summarise_ns > 0) {
        result =
            history_summarise(&call->history, now_s - (double)settings->history.summarise_ns / 1e9, &n, err);
        printf("%zu run%s summarised\n", n, n == 1 ? "" : "s");
    }
    return result < 0 ? err_prefix(err, "history %.200s", call->path) : text_finish(stdout, err);
}

/* SQLite's findings may have several lines. */
static void print_finding(void *context, const char *text)
{
    char line[600], clean[600];
    size_t *n = context;
    snprintf(line, sizeof line, "%s", text);
    for (char *c = line; *c != '\0'; c++)
        *c = *c == '\n' ? ' ' : *c;
    printf("%s\n", text_printable(line, clean, sizeof clean));
    ++*n;
}

static int tell_patterns(struct call *call, struct err *err)
{
    double now_s = call->history.now_s(call->history.now_context);
    return watch_report_places(&call->history, now_s, call->settings->json, err);
}

static int verify(struct call *call, struct err *err)
{
    size_t n = 0;
    int result = history_verify(&call->history, print_finding, &n, err);
    if (result < 0)
        return err_prefix(err, "history %.200s", call->path);
    if (n == 0)
        printf("%s: sound\n", call->path);
    result = text_finish(stdout, err);
    return result < 0 ? result : n > 0 ? EXIT_FAILED : EXIT_DONE;
}

static int merge(struct call *call, struct err *err)
{
    for (size_t i = 1; i < call->settings->n_operands; i++) {
        const char *path = call->settings->operands[i];
        size_t n_runs = 0, n_changes = 0;
        int result = history_merge(&call->history, path, &n_runs, &n_changes, err);
        if (result < 0)
            return result;
        printf("%s: %zu run%s, %zu change%s taken over\n", path, n_runs, n_runs == 1 ? "" : "s", n_changes,
               n_changes == 1 ? "" : "s");
    }
    return text_finish(stdout, err);
}

/* What was sent before a failure is there. */
static int push_file(struct history *server, const char *path, struct err *err)
{
    struct history file;
    size_t n_runs = 0, n_changes = 0;
    const struct history_place place = {.path = path};
    if (sql_server_is_address(path))
        return err_set(err, -EINVAL, "push reads files; --db and FILE name no server");
    int result = history_open(&file, &place, err);
    if (result < 0)
        return result;
    result = history_push(server, &file, &n_runs, &n_changes, err);
    history_close(&file);
    printf("%s: %zu run%s, %zu change%s sent\n", path, n_runs, n_runs == 1 ? "" : "s", n_changes,
           n_changes == 1 ? "" : "s");
    return result < 0 ? err_prefix(err, "%.200s: not all is sent; push again, which goes on", path) : 0;
}

static int push(struct call *call, struct err *err)
{
    const struct settings *settings = call->settings;
    const struct history_place place = {
        .path = settings->history.to, .write = true, .identify = settings->history.identify};
    struct history server;
    if (!sql_server_is_address(settings->history.to))
        return err_set(err, -EINVAL, "name the fleet's server: --to postgresql://HOST/DATABASE");
    int result = history_open(&server, &place, err);
    if (result < 0)
        return result;
    if (settings->n_operands == 1)
        result = push_file(&server, call->path, err);
    for (size_t i = 1; i < settings->n_operands && result == 0; i++)
        result = push_file(&server, settings->operands[i], err);
    history_close(&server);
    return result < 0 ? result : text_finish(stdout, err);
}

static int tell_disk(struct call *call, struct err *err)
{
    const struct settings *settings = call->settings;
    const char *path = settings->n_operands > 1 ? settings->operands[1] : settings->history.db;
    if (path[0] == '\0')
        return err_set(err, -EINVAL,
                       "name the file that history= of nbdkit's plugin names: fstune history disk FILE");
    return history_disk_print(path, settings->json, err);
}

static const struct {
    const char *name, *operands;
    size_t least, most;                              /* operands */
    bool write, has_json, names_files;               /* names_files: it opens what it needs by itself */
    int (*call)(struct call *call, struct err *err); /* an exit code or a negative errno */
} verbs[] = {
    {"list", "", 0, 0, false, true, false, list},
    {"show", " ID", 1, 1, false, true, false, show},
    {"compare", " A B", 2, 2, false, true, false, compare_two_runs},
    {"changes", "", 0, 0, false, true, false, list_changes},
    {"patterns", "", 0, 0, false, true, false, tell_patterns},
    {"export", "", 0, 0, false, true, false, export},
    {"prune", "", 0, 0, false, false, false, prune},
    {"verify", "", 0, 0, false, false, false, verify},
    {"merge", " FILE...", 1, SETTINGS_MAX_OPERANDS - 1, true, false, false, merge},
    {"disk", " [FILE]", 0, 1, false, true, true, tell_disk},
    {"push", " --to ADDRESS [FILE...]", 0, SETTINGS_MAX_OPERANDS - 1, false, false, true, push},
};
#define N_VERBS (sizeof verbs / sizeof verbs[0])
#define VERBS   "list, show, compare, changes, patterns, disk, export, prune, verify, merge or push"

static int refuse_verb(const char *text, struct err *err)
{
    const char *names[N_VERBS];
    for (size_t i = 0; i < N_VERBS; i++)
        names[i] = verbs[i].name;
    return options_refuse(text, "unknown", names, N_VERBS, "use " VERBS, err);
}

/* Before a history that does not exist yet is made of them. */
static int look_at_files(const struct settings *settings, struct err *err)
{
    int result = 0;
    for (size_t i = 1; i < settings->n_operands && result == 0; i++)
        result = history_look(settings->operands[i], err);
    return result;
}

static int open_and_call(const struct settings *settings, size_t verb, struct err *err)
{
    char path[SETTINGS_TEXT_SIZE];
    struct call call = {.settings = settings, .path = path};
    int result = command_history_path(settings, path, sizeof path, err);
    const struct history_place place = {.path = path, .write = verbs[verb].write};
    if (result == 0 && place.write)
        result = look_at_files(settings, err);
    if (result == 0 && place.write && settings->history.db[0] == '\0')
        result = history_make_directories(path, err);
    if (result == 0 && !verbs[verb].names_files)
        result = history_open(&call.history, &place, err);
    if (result == 0)
        result = verbs[verb].call(&call, err);
    history_close(&call.history);
    return result;
}

static int call_verb(const struct settings *settings, struct err *err)
{
    size_t verb = 0;
    if (settings->n_operands == 0)
        return err_set(err, -EINVAL, "history: what? use " VERBS);
    while (verb < N_VERBS && strcmp(settings->operands[0], verbs[verb].name) != 0)
        verb++;
    if (verb == N_VERBS)
        return refuse_verb(settings->operands[0], err);
    if (settings->n_operands - 1 < verbs[verb].least || settings->n_operands - 1 > verbs[verb].most)
        return err_set(err, -EINVAL, "write it as: fstune history %s%s [--db FILE]", verbs[verb].name,
                       verbs[verb].operands);
    if (settings->json && !verbs[verb].has_json)
        return err_set(err, -EINVAL, "--json: history %s has no document to print; leave it out",
                       verbs[verb].name);
    return open_and_call(settings, verb, err);
}

const struct command command_history = {
    .name = "history",
    .operands = "list|show|compare|changes|patterns|disk|export|prune|verify|merge|push",
    .options = OPTIONS_HISTORY,
    .summary = "list, compare, export and merge what was measured before (--save)",
    .usage = "list|show|compare|changes|patterns|disk|export|prune|verify|merge|push",
    .n_operands = SETTINGS_MAX_OPERANDS,
    .run = command_run,
    .act = call_verb,
    .description =
        "Reads the history that --save writes. list: all runs. show ID: one run, its settings. compare A B: "
        "what changed between two runs, with intervals. changes: what the nights of retune decided, and why. "
        "patterns: the loads that `fstune watch` saw, when they come, and how often that was foretold "
        "rightly. disk FILE: what a disk that tunes itself (nbdkit's plugin) has learnt. export: every "
        "replay as CSV or JSON. prune: removes old runs, or keeps one row a setting of them (--summarise). "
        "verify: checks the file. merge FILE...: takes over the runs of other histories. push: sends what a "
        "fleet's server (--to) does not have yet; without FILE the history of --db.",
    .example = "fstune history compare 12 13 --db nightly.db",
};
