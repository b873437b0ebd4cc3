/* Values of single options, and whole command lines: the first line is the name of an option, and its value
 * follows; or it is a command, and every line that follows is an argument. */
#include "tests/fuzz/fuzz_settings.h"

#include "tuner/options/options.h"
#include "tuner/options/options_set.h"

#include <inttypes.h>

#define MAX_ARGUMENTS 40

/* The levels as a list means the same levels. */
static void check_levels_again(const struct option_row *row, const struct levels *levels)
{
    static struct settings again;
    char list[SETTINGS_MAX_LEVELS * 24];
    size_t used = 0;
    for (size_t i = 0; i < levels->n; i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRIu64, levels->value[i]);
        const char *name = row->place == FACTOR_API    ? api_names[levels->value[i]]
                           : row->place == FACTOR_SYNC ? sync_names[levels->value[i]]
                                                       : number;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? "," : "", name);
    }
    settings_init(&again);
    FUZZ_CHECK(options_set(&again, row, list, NULL) == 0);
    FUZZ_CHECK(memcmp(&again.workload.levels[row->place], levels, sizeof(*levels)) == 0);
}

static void check_value(const struct option_row *row, const char *text)
{
    static struct settings settings;
    settings_init(&settings);
    if (fuzz_refused(options_set(&settings, row, text, &fuzz_err))) {
        fuzz_check_untouched(&settings);
        return;
    }
    fuzz_check_settings(&settings);
    if (row->set == options_set_levels) {
        FUZZ_CHECK(settings.workload.levels[row->place].n > 0);
        check_levels_again(row, &settings.workload.levels[row->place]);
    }
}

static void check_command_line(unsigned command, char *text)
{
    static struct settings settings;
    char *arguments[MAX_ARGUMENTS] = {NULL};
    int n = 1;
    /* Files are another target's business; a device as a configuration would never end. */
    if (strstr(text, "--config") != NULL)
        return;
    for (char *line; text != NULL && n < MAX_ARGUMENTS && (line = strsep(&text, "\n")) != NULL;)
        arguments[n++] = line;
    settings_init(&settings);
    int code = options_parse(&settings, command, n, arguments, &fuzz_err);
    if (code != 1 && !fuzz_refused(code))
        fuzz_check_settings(&settings);
    else
        fuzz_check_untouched(&settings);
}

FUZZ_TEXT(text, size)
{
    char *value = text, *name = strsep(&value, "\n");
    if (value != NULL && strcmp(name, "recommend") == 0)
        check_command_line(OPTIONS_RECOMMEND, value);
    else if (value != NULL && strcmp(name, "measure") == 0)
        check_command_line(OPTIONS_MEASURE, value);
    else if (value != NULL && options_find(name, ~0U) != NULL)
        check_value(options_find(name, ~0U), value);
}
