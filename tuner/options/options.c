/* tuner/options/options: walks the command line and looks names up. Own code instead of getopt_long, which
 * prints by itself and accepts abbreviations. */
#include "tuner/options/options.h"

#include "tuner/options/config.h"
#include "tuner/options/options_set.h"

#include <errno.h>
#include <string.h>

#define NAME_SIZE   64
#define PREDICTIONS (OPTIONS_PREDICT | OPTIONS_ADVISE)
/* Commands that load several places together. */
#define MEMBERS (OPTIONS_RECOMMEND | OPTIONS_MEASURE | OPTIONS_DOCTOR)
/* Commands that may be given a program to run. */
#define PROGRAMS (OPTIONS_COST | OPTIONS_PREDICT | OPTIONS_PROFILE | OPTIONS_MANAGER)

/* Where the walk over the command line stands. */
struct walk {
    char **argv;
    int argc, next;
    unsigned command;
};

bool options_is_named(const char *name, const char *row_name)
{
    bool as_option = strcmp(name, row_name) == 0;
    while (*name && *name == (*row_name == '-' ? '_' : *row_name)) {
        name++;
        row_name++;
    }
    return as_option || (*name == '\0' && *row_name == '\0');
}

const struct option_row *options_find(const char *name, unsigned command)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if ((row->commands & command) && options_is_named(name, row->name))
            return row;
    }
    return NULL;
}

const char *options_default_text(const struct option_row *row, unsigned command)
{
    const char *own = command == OPTIONS_MEASURE      ? row->default_measure
                      : command == OPTIONS_DOCTOR     ? row->default_doctor
                      : command == OPTIONS_EXPERIMENT ? row->default_experiment
                      : command == OPTIONS_CALIBRATE  ? row->default_calibrate
                      : (command & PREDICTIONS) != 0  ? row->default_prediction
                                                      : NULL;
    return own ? own : row->default_text;
}

/* Number of a factor or condition; FACTOR_N + CONDITION_N: it is none. */
static size_t factor_of(const struct option_row *row)
{
    if (row->set == options_set_levels)
        return row->place;
    return FACTOR_N + (size_t)(row->set_experiment != NULL ? row->condition : CONDITION_N);
}

const char *options_range(const struct option_row *row, unsigned command)
{
    return (command & PREDICTIONS) != 0 && row->range_prediction != NULL ? row->range_prediction : row->range;
}

/* Reports of an experiment name its factors in the order that they were given in. */
static void note_order(struct settings_experiment *experiment, const struct option_row *row)
{
    size_t factor = factor_of(row);
    bool is_new = factor < FACTOR_N + CONDITION_N;
    for (size_t i = 0; i < experiment->n_order; i++)
        is_new &= experiment->order[i] != factor;
    if (is_new)
        experiment->order[experiment->n_order++] = (unsigned char)factor;
}

int options_set(struct settings *settings, const struct option_row *row, const char *text, struct err *err)
{
    bool several = settings->experiment.on && row->set_experiment != NULL;
    bool predicted = settings->prediction.on && row->set_prediction != NULL;
    bool is_bare = text == NULL && row->argument != NULL;
    int r = is_bare     ? 0
            : several   ? row->set_experiment(settings, row, text, err)
            : predicted ? row->set_prediction(settings, row, text, err)
                        : row->set(settings, row, text, err);
    if (r == 0 && row->given > 0)
        *(bool *)((char *)settings + row->given) = true;
    if (r == 0 && settings->experiment.on)
        note_order(&settings->experiment, row);
    return r;
}

void options_take_defaults(struct settings *settings, unsigned command)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        const char *default_text = options_default_text(row, command);
        /* Levels and patterns that are not given stay empty: each command settles them by itself. */
        bool is_value = default_text[0] != '\0' && strcmp(default_text, "required") != 0 &&
                        row->set != options_set_levels && row->set != options_set_pattern;
        if (is_value && (command == 0 || default_text != row->default_text))
            (void)row->set(settings, row, default_text, NULL);
    }
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from a to b: a character inserted, removed or replaced, or two neighbours exchanged. Both are shorter
 * than NAME_SIZE. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_SIZE];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    const size_t n_a = strlen(a), n_b = strlen(b);
    for (size_t j = 0; j <= n_b; j++)
        last[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        now[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            now[j] = least_of(last[j - 1] + (a[i - 1] != b[j - 1]), least_of(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least_of(now[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[n_b];
}

const char *options_nearest(const char *text, const char *const *names, size_t n)
{
    const size_t length = strlen(text);
    const char *nearest = NULL;
    if (length >= NAME_SIZE)
        return NULL;
    /* A third of the letters may be wrong: with more, the hint is a guess. */
    size_t least = length / 3 + 1;
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) >= NAME_SIZE)
            continue;
        size_t edits = distance(text, names[i]);
        if (edits > 1 && length >= 3 && strncmp(names[i], text, length) == 0)
            edits = 1;
        if (edits < least) {
            least = edits;
            nearest = names[i];
        }
    }
    return nearest;
}

/* Names that were options in earlier versions, and belong to --extensions now. */
static bool is_extension(const char *name)
{
    static const char *const names[] = {
        "first-touch", "rewrites",           "writeback",       "small-calls", "piecewise",
        "balanced",    "limit-share",        "writers",         "split-cost",  "burst-credit",
        "burst-rate",  "writeback-interval", "allocation-rate",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

int options_refuse(const char *text, const char *what, const char *const *names, size_t n, const char *hint,
                   struct err *err)
{
    const char *nearest = options_nearest(text, names, n);
    if (nearest != NULL)
        return err_set(err, -EINVAL, "'%.60s' is %s; did you mean %s?", text, what, nearest);
    return err_set(err, -EINVAL, "'%.60s' is %s; %s", text, what, hint);
}

static int refuse_unknown(const char *name, unsigned command, struct err *err)
{
    const struct option_row *row;
    const char *names[OPTIONS_MAX_ROWS] = {"help"};
    size_t n = 1;
    if (options_find(name, ~0U) && !strchr(name, '_') && !options_find(name, command))
        return err_set(err, -EINVAL, "--%s: this command has no such option, another one has; see --help",
                       name);
    for (size_t i = 0; (row = options_row(i)) != NULL && n < sizeof(names) / sizeof(names[0]); i++) {
        if (row->commands & command)
            names[n++] = row->name;
    }
    if ((command & PREDICTIONS) != 0 && is_extension(name))
        return err_set(err, -EINVAL, "--%s: unknown option; use --model linux, or --extensions %s", name,
                       name);
    const char *nearest = options_nearest(name, names, n);
    if (nearest)
        return err_set(err, -EINVAL, "--%s: unknown option; did you mean --%s?", name, nearest);
    return err_set(err, -EINVAL, "--%s: unknown option; see --help", name);
}

static bool is_operand(const char *argument)
{
    return argument[0] != '-' || strcmp(argument, "-") == 0;
}

static int take_operand(struct settings *settings, const char *argument, struct err *err)
{
    if (strlen(argument) >= SETTINGS_TEXT_SIZE)
        return err_set(err, -EINVAL, "'%.60s...' is too long", argument);
    settings->operands[settings->n_operands++] = argument;
    return 0;
}

/* The row of the argument "--name" or "--name=value". */
static int find_row(const char *argument, unsigned command, const struct option_row **ret_row,
                    struct err *err)
{
    char name[NAME_SIZE];
    if (strncmp(argument, "--", 2) != 0 || argument[2] == '\0')
        return err_set(err, -EINVAL, "'%.60s' is not an option; options are --NAME VALUE, see --help",
                       argument);
    size_t length = strcspn(argument + 2, "=");
    if (length >= NAME_SIZE)
        return err_set(err, -EINVAL, "%.60s...: unknown option; see --help", argument);
    memcpy(name, argument + 2, length);
    name[length] = '\0';
    const struct option_row *row = options_find(name, command);
    if (!row || strcmp(row->name, name) != 0)
        return refuse_unknown(name, command, err);
    *ret_row = row;
    return 0;
}

/* One option; the row is NULL at the end, the text is NULL for a flag. */
static int next_option(struct walk *walk, const struct option_row **ret_row, const char **ret_text,
                       struct err *err)
{
    const struct option_row *row = NULL;
    if (walk->next >= walk->argc) {
        *ret_row = NULL;
        return 0;
    }
    const char *argument = walk->argv[walk->next++];
    /* The one short option that everybody tries. */
    if (strcmp(argument, "-o") == 0 && options_find("output", walk->command) != NULL)
        argument = "--output";
    int r = find_row(argument, walk->command, &row, err);
    if (r < 0 || row == NULL)
        return r;
    const char *equal_sign = strchr(argument, '=');
    const char *text = equal_sign ? equal_sign + 1 : NULL;
    if (text && !row->argument)
        return err_set(err, -EINVAL, "--%s: takes no value; write --%s alone", row->name, row->name);
    if (!text && row->argument) {
        /* Another option in the value's place is far more often a forgotten value. */
        bool is_bare = walk->next >= walk->argc || strncmp(walk->argv[walk->next], "--", 2) == 0;
        if (is_bare && row->argument[0] != '[')
            return err_set(err, -EINVAL, "--%s: the value is missing; write --%s=%s", row->name, row->name,
                           row->argument);
        text = is_bare ? NULL : walk->argv[walk->next++];
    }
    *ret_row = row;
    *ret_text = text;
    return 0;
}

static bool is_alias(const struct option_row *row, const struct option_row *of)
{
    return row->alias_of != NULL && strcmp(row->alias_of, of->name) == 0;
}

bool options_are_names_of_one(const struct option_row *a, const struct option_row *b)
{
    return is_alias(a, b) || is_alias(b, a);
}

/* Whether the option collects what it is given. */
static bool is_list(const struct option_row *row, unsigned command)
{
    return row->set == options_set_files || row->set == options_set_beside ||
           ((command & MEMBERS) != 0 && (row->set == options_set_path || row->set == options_set_existing ||
                                         row->set == options_set_destroy_device));
}

/* What takes one value is never overridden in silence, by itself or by another name of it. given: by row. */
static int note_given(const struct option_row *row, unsigned command, bool *given, struct err *err)
{
    const struct option_row *other;
    for (size_t i = 0; (other = options_row(i)) != NULL; i++) {
        if (given[i] && other == row && !is_list(row, command))
            return err_set(err, -EINVAL, "is given twice; keep one");
        if (given[i] && options_are_names_of_one(row, other))
            return err_set(err, -EINVAL, "is given beside --%s, which sets the same; keep one", other->name);
    }
    given[row - options_row(0)] = true;
    return 0;
}

/* Sets what stands in the arguments: all of it, or only one option while the rest is looked at. given: by
 * row. */
static int read_options(struct settings *settings, struct walk walk, const struct option_row *only,
                        bool *given, struct err *err)
{
    size_t n_operands = 0;
    for (;;) {
        const struct option_row *row = NULL;
        const char *text = NULL;
        if (walk.next < walk.argc && n_operands < settings->operands_allowed &&
            is_operand(walk.argv[walk.next])) {
            int taken = only ? 0 : take_operand(settings, walk.argv[walk.next], err);
            if (taken < 0)
                return taken;
            n_operands++;
            walk.next++;
            continue;
        }
        int r = next_option(&walk, &row, &text, err);
        if (r < 0 || !row)
            return r;
        if (only && row != only)
            continue;
        settings->file.one_more = given[row - options_row(0)];
        r = note_given(row, walk.command, given, err);
        if (r == 0)
            r = options_set(settings, row, text, err);
        settings->file.one_more = false;
        if (r < 0) {
            err_prefix(err, "--%s", row->name);
            return r;
        }
    }
}

static int check_single_levels(const struct settings *settings, struct err *err)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (row->set == options_set_levels && settings->workload.levels[row->place].n > 1)
            return err_set(err, -EINVAL, "--%s: %zu values are given, but measure takes one; keep one",
                           row->name, settings->workload.levels[row->place].n);
    }
    return 0;
}

/* "--profiles or --profile": those of row->needs that the command knows, where it knows any and none was
 * given; else "". */
static void find_lacking(const struct option_row *row, unsigned command, const bool *given, char *words,
                         size_t size)
{
    words[0] = '\0';
    for (const char *at = row->needs; at != NULL && *at != '\0'; at += *at == ',') {
        char name[NAME_SIZE];
        size_t length = strcspn(at, ","), used = strlen(words);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        const struct option_row *needed = options_find(name, command);
        if (needed == NULL)
            continue;
        if (given[needed - options_row(0)]) {
            words[0] = '\0';
            return;
        }
        snprintf(words + used, size - used, "%s--%s", used > 0 ? " or " : "", name);
    }
}

/* An option that does nothing without another one is refused, not ignored. given: by row. */
static int check_needs(unsigned command, const bool *given, struct err *err)
{
    const struct option_row *row;
    char words[2 * NAME_SIZE];
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (!given[i])
            continue;
        find_lacking(row, command, given, words, sizeof words);
        if (words[0] != '\0')
            return err_set(err, -EINVAL, "--%s: does nothing without %s", row->name, words);
    }
    return 0;
}

/* 0 where no help is asked for. */
static int find_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help=all") == 0)
            return OPTIONS_HELP_ALL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return i + 1 < argc && strcmp(argv[i + 1], "all") == 0 ? OPTIONS_HELP_ALL : OPTIONS_HELP;
    }
    return 0;
}

/* What follows `--` is a program that the command runs, with options of its own. Returns the number of words
 * before it. */
static int cut_program(struct settings *settings, unsigned command, int argc, char **argv)
{
    for (int i = 1; (command & PROGRAMS) != 0 && i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            settings->program = (const char *const *)argv + i + 1;
            return i;
        }
    }
    return argc;
}

int options_parse_configured(struct settings *settings, unsigned command, int argc, char **argv,
                             const char *path, const char *text, struct err *err)
{
    struct settings parsed = *settings;
    argc = cut_program(&parsed, command, argc, argv);
    int r = find_help(argc, argv);
    if (r > 0)
        return r;
    const struct walk walk = {.argv = argv, .argc = argc, .next = 1, .command = command};
    parsed.experiment.on = command == OPTIONS_EXPERIMENT;
    bool given[OPTIONS_MAX_ROWS] = {false}, seen[OPTIONS_MAX_ROWS] = {false};
    const struct option_row *config = options_find("config", command);
    options_take_defaults(&parsed, command);
    /* A command without configurations is read once, or options that may be repeated would count twice. */
    if (config != NULL)
        r = read_options(&parsed, walk, config, seen, err);
    /* The file of `retune` has targets: tuner/nightly/retune_config reads it. */
    if (r == 0 && parsed.config[0] != '\0' && command != OPTIONS_RETUNE)
        r = config_read_settings(parsed.config, NULL, &parsed, command, err);
    if (r == 0 && path != NULL)
        r = config_read_settings(path, text, &parsed, command, err);
    /* A configuration is written for commands that measure. */
    parsed.prediction.on = (command & PREDICTIONS) != 0;
    if (r == 0)
        r = read_options(&parsed, walk, NULL, given, err);
    /* What an option needs may stand in the configuration. */
    if (r == 0 && parsed.config[0] == '\0' && path == NULL)
        r = check_needs(command, given, err);
    if (r == 0 && command == OPTIONS_MEASURE)
        r = check_single_levels(&parsed, err);
    if (r == 0)
        *settings = parsed;
    return r;
}

int options_parse(struct settings *settings, unsigned command, int argc, char **argv, struct err *err)
{
    return options_parse_configured(settings, command, argc, argv, NULL, NULL, err);
}
