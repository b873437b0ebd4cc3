/* Slices of a program's time. */
#include "tuner/nightly/retune_online.h"

#include "bench/base/clock.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tried setting that did less than this share of the work is told to have done so much: of nothing there is
 * no ratio. */
#define LEAST_SHARE 0.01
/* After so many slices a load beyond those that are told apart is what goes on, as it is with the others. */
#define STRANGE_SLICES 2
/* Of a program that has no words for its loads. */
#define ONLY_KIND "load"

static unsigned find_known_kind(const struct retune_online *tuned, const char *word)
{
    unsigned kind = 0;
    while (kind < tuned->n_kinds && strcmp(tuned->kinds[kind], word) != 0)
        kind++;
    return kind;
}

/* Numbers are given as words come. */
static unsigned find_kind(void *context, const char *word)
{
    struct retune_online *tuned = context;
    const char *known = word[0] != '\0' ? word : ONLY_KIND;
    unsigned kind = find_known_kind(tuned, known);
    if (kind < tuned->n_kinds)
        return kind;
    if (kind < KIND_N && strlen(known) < sizeof tuned->kinds[0]) {
        snprintf(tuned->kinds[tuned->n_kinds++], sizeof tuned->kinds[0], "%s", known);
        return kind;
    }
    if (!tuned->is_full)
        fail_with(EXIT_DONE,
                  "load %.60s: only %d kinds of load are told apart, and nothing is tried in others", known,
                  KIND_N);
    tuned->is_full = true;
    return KIND_NONE;
}

static const char *name_kind(void *context, unsigned kind)
{
    const struct retune_online *tuned = context;
    return tuned->kinds[kind];
}

static int read_setting(void *context, const char *words, struct online_setting *ret_setting)
{
    const struct retune_online *tuned = context;
    return retune_online_config_parse(tuned->config, words, ret_setting);
}

static const char *write_setting(void *context, const struct online_setting *setting,
                                 char buffer[static DISK_HISTORY_SETTING_SIZE])
{
    const struct retune_online *tuned = context;
    return retune_online_config_write(tuned->config, setting, buffer);
}

static struct disk_history_words words_of(const struct retune_online *tuned)
{
    return (struct disk_history_words){.format = "fstune/online-history/1",
                                       .find_kind = find_kind,
                                       .name_kind = name_kind,
                                       .read = read_setting,
                                       .write = write_setting,
                                       .context = (void *)(uintptr_t)tuned};
}

static struct fst_space *space_of(void *context, unsigned kind)
{
    const struct retune_online *tuned = context;
    struct fst_space *space = fst_space_new();
    int code = space != NULL ? 0 : -ENOMEM;
    (void)kind;
    for (size_t i = 0; i < tuned->config->n_factors && code == 0; i++) {
        const struct retune_online_factor *factor = &tuned->config->factors[i];
        double numbers[RETUNE_ONLINE_MOST_VALUES];
        for (size_t k = 0; k < factor->n; k++)
            numbers[k] = (double)k;
        code = factor->is_ordered ? fst_space_add_levels(space, factor->name, numbers, factor->n)
                                  : fst_space_add_choices(space, factor->name, factor->n);
    }
    if (code == 0)
        return space;
    fst_space_free(space);
    return NULL;
}

static bool may_use(void *context, const struct online_setting *setting)
{
    (void)context;
    (void)setting;
    return true;
}

static double seconds_from(const struct retune_online_count *begin, const struct retune_online_count *end)
{
    return (double)(end->at_ns - begin->at_ns) / (double)CLOCK_NS_PER_S;
}

static double seconds_of(const struct retune_online_count *now)
{
    return (double)now->at_ns / (double)CLOCK_NS_PER_S;
}

/* The counter, which only grows. */
static int count(const struct retune_online *tuned, struct retune_online_count *ret_count, struct err *err)
{
    int code = tuned->world.count(tuned->world.context, ret_count, err);
    if (code == 0 && ret_count->n < tuned->begin.n)
        code = err_set(err, -ERANGE,
                       "the counter went back from %" PRIu64 " to %" PRIu64
                       "; it has to grow as long as the program is tuned, so start again with the program",
                       tuned->begin.n, ret_count->n);
    return code;
}

/* Of the time that a change took only that counts for which nothing was done. */
static void begin_after_change(struct retune_online *tuned, const struct retune_online_count *now)
{
    double seconds = seconds_from(&tuned->begin, now), before_bps = tuned->online.before_bps;
    if (before_bps > 0)
        seconds = fmax(0, seconds - (double)(now->n - tuned->begin.n) / before_bps);
    tuned->switch_seconds = seconds;
    tuned->begin = *now;
}

/* Nothing happens where the setting is in force already. The slice begins with it. */
static int change(struct retune_online *tuned, const struct online_setting *setting, struct err *err)
{
    struct retune_online_count now;
    tuned->switch_seconds = 0;
    if (!tuned->is_unsure && online_is_same(setting, &tuned->current))
        return 0;
    tuned->is_unsure = true;
    int code = tuned->world.put(tuned->world.context, setting, err);
    if (code < 0)
        return code;
    tuned->current = *setting;
    tuned->is_unsure = false;
    code = count(tuned, &now, err);
    if (code == 0)
        begin_after_change(tuned, &now);
    return code;
}

/* What the history says of the load that goes on, of which a slice of no length tells. */
static int choose(struct retune_online *tuned, struct online_setting *ret_setting, struct err *err)
{
    const struct disk_history_words words = words_of(tuned);
    const char *history = tuned->config->history;
    int code = history[0] != '\0' ? disk_history_take(&words, history, &tuned->online, err) : 0;
    if (code < 0) {
        err_prefix(err, "history %.200s", history);
        return code;
    }
    const struct online_slice none = {.kind = find_kind(tuned, tuned->begin.kind),
                                      .end_seconds = seconds_of(&tuned->begin)};
    *ret_setting = online_next(&tuned->online, &none);
    return 0;
}

static int begin(struct retune_online *tuned, struct err *err)
{
    struct online_setting setting;
    int code = count(tuned, &tuned->begin, err);
    tuned->start_ns = tuned->begin.at_ns;
    if (code == 0)
        code = choose(tuned, &setting, err);
    if (code < 0)
        return code;
    /* What runs is not known, and so it is put there. */
    tuned->is_unsure = true;
    return change(tuned, &setting, err);
}

/* Adds to the error what is in force now. */
static int give_up(struct retune_online *tuned, int code, struct err *err)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    const struct online_setting *first = &tuned->online.options.first;
    struct err error = *err, why = {0};
    bool was_first = !tuned->is_unsure && online_is_same(first, &tuned->current);
    online_freeze(&tuned->online);
    int put = was_first ? 0 : tuned->world.put(tuned->world.context, first, &why);
    retune_online_config_write(tuned->config, first, words);
    if (put < 0)
        return err_set(err, code, "%.200s; the first setting, %.60s, cannot be put back: %.150s", error.text,
                       words, why.text);
    tuned->current = *first;
    tuned->is_unsure = false;
    return err_set(err, code, "%.300s; the first setting %s: %.100s", error.text,
                   was_first ? "stays" : "is back", words);
}

static void prepare(struct retune_online *tuned, const struct retune_online_config *config)
{
    *tuned = (struct retune_online){.config = config};
    const struct online_options options = {.regret_share = config->regret_share,
                                           .n_factors = config->n_factors,
                                           .seed = 1,
                                           .first = retune_online_config_first(config),
                                           .space = space_of,
                                           .may_use = may_use,
                                           .context = tuned};
    online_init(&tuned->online, &options);
}

int retune_online_plan(struct retune_online *tuned, const struct retune_online_config *config,
                       const struct retune_online_count *now, struct online_setting *ret_setting,
                       struct err *err)
{
    prepare(tuned, config);
    tuned->begin = *now;
    int code = choose(tuned, ret_setting, err);
    online_done(&tuned->online);
    return code;
}

int retune_online_open(struct retune_online *tuned, const struct retune_online_config *config,
                       const struct retune_online_world *world, struct err *err)
{
    prepare(tuned, config);
    tuned->world = *world;
    int code = begin(tuned, err);
    if (code < 0) {
        if (tuned->is_unsure)
            code = give_up(tuned, code, err);
        online_done(&tuned->online);
    }
    return code;
}

/* What cannot be kept is said, and no reason to end. */
static void keep(const struct retune_online *tuned)
{
    const struct disk_history_words words = words_of(tuned);
    struct err err;
    if (tuned->config->history[0] == '\0')
        return;
    char *text = disk_history_make(&words, &tuned->online);
    if (disk_history_put(tuned->config->history, text, &err) < 0)
        fail_with(EXIT_DONE, "%s: the history cannot be written: %s", tuned->config->history, err.text);
    free(text);
}

static void say_settled(const struct retune_online *tuned, unsigned kind, FILE *out)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    const struct online_mind *mind = &tuned->online.mind[kind];
    fprintf(out, "%s: %s, %.2f times the rate of what ran first\n", tuned->kinds[kind],
            retune_online_config_write(tuned->config, &mind->best, words), mind->gain);
    fflush(out);
}

static void think(struct retune_online *tuned)
{
    struct online_thought thought;
    while (online_thought_take(&tuned->online, &thought)) {
        online_think(&thought);
        if (!online_thought_give(&tuned->online, &thought))
            continue;
        if (tuned->world.out != NULL)
            say_settled(tuned, thought.kind, tuned->world.out);
        keep(tuned);
    }
}

/* Where nothing was done there is nothing to tell a load by, but for a tried setting, which may be why. */
static struct online_slice slice_of(struct retune_online *tuned, const struct retune_online_count *end)
{
    const struct online *online = &tuned->online;
    struct online_slice slice = {.kind = find_kind(tuned, end->kind),
                                 .setting = tuned->current,
                                 .n_bytes = end->n - tuned->begin.n,
                                 .seconds = seconds_from(&tuned->begin, end),
                                 .switch_seconds = tuned->switch_seconds,
                                 .end_seconds = seconds_of(end),
                                 .is_whole = strcmp(end->kind, tuned->begin.kind) == 0 &&
                                             end->n_stops == tuned->begin.n_stops};
    double least = LEAST_SHARE * online->before_bps * slice.seconds;
    bool is_tried = online->step == ONLINE_TRYING && online_is_same(&slice.setting, &online->tried);
    if (is_tried && (double)slice.n_bytes < least)
        slice.n_bytes = (uint64_t)ceil(least);
    if (slice.n_bytes == 0)
        slice.kind = KIND_NONE;
    return slice;
}

/* Of the load at the end of the slice. */
static void note_stranger(struct retune_online *tuned)
{
    unsigned kind = find_kind(tuned, tuned->begin.kind);
    if (kind == KIND_NONE)
        tuned->n_strange++;
    else if (kind == tuned->online.kind)
        tuned->n_strange = 0;
}

/* A load beyond those that are told apart runs with the first setting, whatever ran before it. */
static struct online_setting known_or_first(const struct retune_online *tuned, struct online_setting setting)
{
    return tuned->n_strange < STRANGE_SLICES ? setting : tuned->online.options.first;
}

/* 1: it is time to end. */
static int pass_slice(struct retune_online *tuned, struct err *err)
{
    const struct retune_online_config *config = tuned->config;
    struct retune_online_count end;
    if (config->duration_ns > 0 && tuned->begin.at_ns - tuned->start_ns >= config->duration_ns)
        return 1;
    tuned->interrupted = !tuned->world.wait(tuned->world.context, tuned->begin.at_ns + config->slice_ns);
    if (tuned->interrupted)
        return 1;
    int code = count(tuned, &end, err);
    if (code < 0)
        return code;
    const struct online_slice slice = slice_of(tuned, &end);
    struct online_setting next = online_next(&tuned->online, &slice);
    tuned->begin = end;
    note_stranger(tuned);
    next = known_or_first(tuned, next);
    code = change(tuned, &next, err);
    if (code == 0)
        think(tuned);
    return code;
}

int retune_online_run(struct retune_online *tuned, struct err *err)
{
    int code;
    do
        code = pass_slice(tuned, err);
    while (code == 0);
    struct online_setting best = known_or_first(tuned, online_running(&tuned->online));
    if (code > 0)
        code = change(tuned, &best, err);
    return code < 0 ? give_up(tuned, code, err) : 0;
}

void retune_online_close(struct retune_online *tuned)
{
    keep(tuned);
    online_done(&tuned->online);
}

static double cost_share(const struct online *online)
{
    return online->regret_bytes / fmax(1, online->served_bytes);
}

static json_t *kinds_document(const struct retune_online *tuned)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    json_t *kinds = json_array();
    for (unsigned kind = 0; kind < tuned->n_kinds; kind++) {
        const struct online_mind *mind = &tuned->online.mind[kind];
        json_array_append_new(
            kinds, json_pack("{s:s, s:s, s:f, s:b, s:I, s:I}", "kind", tuned->kinds[kind], "setting",
                             retune_online_config_write(tuned->config, &mind->best, words), "gain",
                             mind->gain, "settled", mind->is_settled, "trials", (json_int_t)mind->n_trials,
                             "slices", (json_int_t)mind->n_slices));
    }
    return kinds;
}

json_t *retune_online_document(const struct retune_online *tuned)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    const struct online *online = &tuned->online;
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:I, s:I, s:f, s:I}", "schema", "fstune/online/1", "version",
                     FSTUNE_VERSION, "interrupted", tuned->interrupted, "in_force",
                     retune_online_config_write(tuned->config, &tuned->current, words), "kinds",
                     kinds_document(tuned), "trials", (json_int_t)online->n_trials, "dropped",
                     (json_int_t)online->n_dropped, "cost_share", cost_share(online), "phases",
                     (json_int_t)online->n_switches);
}

void retune_online_print(FILE *out, const struct retune_online *tuned)
{
    char words[DISK_HISTORY_SETTING_SIZE];
    const struct online *online = &tuned->online;
    for (unsigned kind = 0; kind < tuned->n_kinds; kind++) {
        if (!online->mind[kind].is_settled)
            fprintf(out, "%s: not settled, %zu trials\n", tuned->kinds[kind], online->mind[kind].n_trials);
    }
    fprintf(out, "in force: %s; %" PRIu64 " trials, %" PRIu64 " dropped, cost %.2f %% of the work\n",
            retune_online_config_write(tuned->config, &tuned->current, words), online->n_trials,
            online->n_dropped, 100 * cost_share(online));
}
