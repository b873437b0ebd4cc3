/* tuner/options/options_help: --help of a command, in two columns. */
#include "tuner/options/options.h"

#include "tuner/options/options_set.h"

#include <string.h>

#define WIDTH       100
#define HELP_COLUMN 30
/* As many options are a list that one can read; more are parted. */
#define MOST_UNGROUPED 32

/* Words of the text from the current column on; further lines begin at `indent`. Ends the line. */
static void print_wrapped(FILE *out, const char *text, int indent)
{
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column + length > WIDTH && column > indent) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        fprintf(out, "%.*s", length, text);
        column += length + 1;
        text += length;
        if (*text == ' ') {
            text++;
            if (column + (int)strcspn(text, " ") <= WIDTH)
                fputc(' ', out);
        }
    }
    fputc('\n', out);
}

/* Limits and default, in brackets. */
static void describe_option(const struct option_row *row, unsigned command, char *text, size_t size)
{
    const char *default_text = options_default_text(row, command), *range = options_range(row, command);
    const char *verb = strcmp(default_text, "required") == 0 || default_text[0] == '\0' ? "" : "default ";
    if (range[0] == '\0' && default_text[0] == '\0')
        snprintf(text, size, "%s", row->help);
    else
        snprintf(text, size, "%s (%s%s%s%s)", row->help, range,
                 range[0] != '\0' && default_text[0] != '\0' ? "; " : "", verb, default_text);
}

static void print_row(FILE *out, const char *left, const char *text)
{
    fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
    if (strlen(left) > HELP_COLUMN - 4)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    print_wrapped(out, text, HELP_COLUMN);
}

static void print_option(FILE *out, const struct option_row *row, unsigned command)
{
    char left[96], text[512];
    bool takes_levels = (row->set == options_set_levels && command != OPTIONS_MEASURE &&
                         options_range(row, command) == row->range) ||
                        (row->set_experiment != NULL && command == OPTIONS_EXPERIMENT);
    snprintf(left, sizeof(left), "--%s%s%s%s", row->name, row->argument ? " " : "",
             row->argument ? row->argument : "", takes_levels ? ",..." : "");
    describe_option(row, command, text, sizeof(text));
    print_row(out, left, text);
}

/* The next row from *i on that the command has in the group, or in any for OPTIONS_N_GROUPS; NULL: none. */
static const struct option_row *next_row(size_t *i, unsigned command, enum option_group group)
{
    const struct option_row *row;
    while ((row = options_row((*i)++)) != NULL) {
        if ((row->commands & command) != 0 && (group == OPTIONS_N_GROUPS || row->group == group))
            return row;
    }
    return NULL;
}

static size_t count_rows(unsigned command, enum option_group group)
{
    size_t n = 0;
    for (size_t i = 0; next_row(&i, command, group) != NULL;)
        n++;
    return n;
}

static void print_group(FILE *out, const char *title, unsigned command, enum option_group group)
{
    const struct option_row *row;
    if (count_rows(command, group) == 0)
        return;
    fprintf(out, "\n%s:\n", title);
    for (size_t i = 0; (row = next_row(&i, command, group)) != NULL;)
        print_option(out, row, command);
}

static void print_groups(FILE *out, unsigned command, bool all)
{
    static const char *const titles[OPTIONS_N_GROUPS] = {
        [OPTIONS_EXPERT] = "Expert", [OPTIONS_WORKLOAD] = "Workload", [OPTIONS_WHERE] = "Where",
        [OPTIONS_ANSWER] = "Answer", [OPTIONS_LIMITS] = "Limits",     [OPTIONS_OUTPUT] = "Output"};
    char more[64];
    for (enum option_group group = OPTIONS_WORKLOAD; group < OPTIONS_N_GROUPS; group++)
        print_group(out, titles[group], command, group);
    if (all)
        print_group(out, titles[OPTIONS_EXPERT], command, OPTIONS_EXPERT);
    fputc('\n', out);
    snprintf(more, sizeof more, "print the %zu options for experts, too",
             count_rows(command, OPTIONS_EXPERT));
    if (!all)
        print_row(out, "--help all", more);
}

bool options_stand_last(const char *usage)
{
    return usage == NULL || strstr(usage, "[OPTION...]") == NULL;
}

void options_print_help(FILE *out, const char *command_name, const char *summary, unsigned command,
                        const char *example, bool all)
{
    fprintf(out, "Usage: fstune %s%s\n\n", command_name,
            options_stand_last(command_name) ? " [OPTION...]" : "");
    print_wrapped(out, summary, 0);
    if (count_rows(command, OPTIONS_N_GROUPS) > MOST_UNGROUPED)
        print_groups(out, command, all);
    else
        print_group(out, "Options", command, OPTIONS_N_GROUPS);
    print_row(out, "-h, --help", "print this text");
    fputc('\n', out);
    print_wrapped(out,
                  "SIZE: bytes, or with k, m, g, t (powers of 1024). DURATION: with its unit us, ms, s, m or "
                  "h. SHARE: 3% or 0.03.",
                  0);
    if ((command & (OPTIONS_MEASURE | OPTIONS_DOCTOR | OPTIONS_PREDICT | OPTIONS_ADVISE)) == 0)
        print_wrapped(out, "Several values: 4k,64k,1m, or the powers of two in 4k..1m.", 0);
    fprintf(out, "\nExample:\n  %s\n", example);
}
