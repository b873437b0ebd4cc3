/* tuner/options/options_row: how rows of the table are written. A row is written by a macro for its kind of
 * value: name, member of struct settings, range and default (as text), the commands that know it, help;
 * behind these whatever else struct option_row holds, by name. For options_table.c alone. */
#pragma once

#include "tuner/options/options.h"
#include "tuner/options/options_set.h"

enum {
    RECOMMEND = OPTIONS_RECOMMEND,
    MEASURE = OPTIONS_MEASURE,
    EXPERIMENT = OPTIONS_EXPERIMENT,
    DOCTOR = OPTIONS_DOCTOR,
    EMIT = OPTIONS_EMIT,
    HISTORY = OPTIONS_HISTORY,
    RETUNE = OPTIONS_RETUNE,
    PLOT = OPTIONS_PLOT,
    REPORT = OPTIONS_REPORT,
    CALIBRATE = OPTIONS_CALIBRATE,
    PREDICT = OPTIONS_PREDICT,
    ADVISE = OPTIONS_ADVISE,
    COST = OPTIONS_COST,
    ATOMS = OPTIONS_ATOMS,
    IMPACT = COST | ATOMS,
    PROFILE = OPTIONS_PROFILE,
    REPLAY = OPTIONS_REPLAY,
    ANALYSE = OPTIONS_ANALYSE,
    WATCH = OPTIONS_WATCH,
    FLEET = OPTIONS_FLEET,
    MANAGER = OPTIONS_MANAGER,
    BOTH = RECOMMEND | MEASURE,
    RUNS = BOTH | EXPERIMENT,
    EVERY = RUNS | DOCTOR,
    SNIPPETS = RECOMMEND | EMIT | REPORT,
    MODEL = PREDICT | ADVISE,
    /* Options of these commands may stand in a configuration file unless the row says otherwise. */
    CONFIGURED = RUNS | RETUNE,
    LINE_ONLY = 1 << 30
};

#define PLACE(MEMBER) offsetof(struct settings, MEMBER)
/* The same, which compiles only if the member has the type that the setter writes. */
#define TYPED(MEMBER, TYPE) (PLACE(MEMBER) * _Generic(((struct settings *)0)->MEMBER, TYPE : 1))
/* `experiment` takes several values of it. */
#define VARIED(CONDITION) .set_experiment = options_set_condition, .condition = CONDITION
#define GIVEN(MEMBER)     .given = TYPED(MEMBER, bool)
#define IN(GROUP)         .group = OPTIONS_##GROUP

#define ROW(NAME, ARGUMENT, RANGE, DEFAULT, SETTER, AT, COMMANDS, ...)                                       \
    {                                                                                                        \
        .name = NAME, .argument = ARGUMENT, .range = RANGE, .default_text = DEFAULT,                         \
        .set = options_set_##SETTER, .place = AT, .commands = COMMANDS,                                      \
        .in_config = ((COMMANDS)&CONFIGURED) != 0 && ((COMMANDS)&LINE_ONLY) == 0, .help = __VA_ARGS__        \
    }
#define SIZE(NAME, MEMBER, RANGE, DEFAULT, ...)                                                              \
    ROW(NAME, "SIZE", RANGE, DEFAULT, size, TYPED(MEMBER, uint64_t), __VA_ARGS__)
#define DURATION(NAME, MEMBER, RANGE, DEFAULT, ...)                                                          \
    ROW(NAME, "DURATION", RANGE, DEFAULT, duration, TYPED(MEMBER, uint64_t), __VA_ARGS__)
#define COUNT(NAME, MEMBER, RANGE, DEFAULT, ...)                                                             \
    ROW(NAME, "N", RANGE, DEFAULT, count, TYPED(MEMBER, uint32_t), __VA_ARGS__)
#define SHARE(NAME, MEMBER, RANGE, DEFAULT, ...)                                                             \
    ROW(NAME, "SHARE", RANGE, DEFAULT, share, TYPED(MEMBER, double), __VA_ARGS__)
#define FLAG(NAME, MEMBER, ...) ROW(NAME, NULL, "", "", flag, TYPED(MEMBER, bool), __VA_ARGS__)
#define TEXT(NAME, ARGUMENT, MEMBER, ...)                                                                    \
    ROW(NAME, ARGUMENT, "", "", text, TYPED(MEMBER, char *), __VA_ARGS__)
/* One of the words in CHOICES: as a number, or as it is. */
#define CHOICE(NAME, CHOICES, MEMBER, DEFAULT, ...)                                                          \
    ROW(NAME, CHOICES, "", DEFAULT, choice, TYPED(MEMBER, unsigned), __VA_ARGS__)
#define WORD(NAME, CHOICES, MEMBER, DEFAULT, ...)                                                            \
    ROW(NAME, CHOICES, "", DEFAULT, name, TYPED(MEMBER, char *), __VA_ARGS__)
/* Values of a factor, one or several. */
#define LEVELS(NAME, ARGUMENT, FACTOR, RANGE, DEFAULT, ...)                                                  \
    ROW(NAME, ARGUMENT, RANGE, DEFAULT, levels, FACTOR, __VA_ARGS__)
