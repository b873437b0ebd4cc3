/* The manual page, from the tables. */
#include "tuner/base/template.h"
#include "tuner/commands/command.h"
#include "tuner/emit/snippet.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/options/options.h"

#include <string.h>

extern const char manual_template[];

TEMPLATE_FILE("manual_template", "tuner/commands/templates/fstune.1");

/* Text that roff prints as it is: backslashes, hyphens that one copies, and the control characters at the
 * beginning of a line. */
static void print_escaped(FILE *out, const char *text)
{
    static const char specials[] = "\\-'`^~";
    static const char *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
    bool starts = true;
    for (; *text; text++) {
        /* A line that starts with one of these would be a request. */
        if (starts && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        starts = *text == '\n';
        const char *special = strchr(specials, *text);
        if (special != NULL)
            fputs(escapes[special - specials], out);
        else
            fputc(*text, out);
    }
}

static void print_manual_line(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    print_escaped(out, text);
    fputs(after, out);
}

/* Lines that are shown as they are. */
static void print_example(FILE *out, const char *text)
{
    print_manual_line(out, ".PP\n.RS 4\n.nf\n", text, "\n.fi\n.RE\n");
}

/* Names of a command's options, none of them parted at a hyphen. */
static void print_option_names(FILE *out, const struct command *command)
{
    const struct option_row *row;
    const char *before = ".PP\n.nh\n.ad l\nOptions: \\fB\\-\\-";
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (row->commands & command->options) {
            print_manual_line(out, before, row->name, "\\fR");
            before = ",\n\\fB\\-\\-";
        }
    }
    if (command->options != 0)
        fputs(".\n.ad\n.hy\n", out);
}

static void print_command(FILE *out, const struct command *command)
{
    print_manual_line(out, ".SS fstune ", command->name, "");
    print_manual_line(out, command->usage ? " " : "", command->usage ? command->usage : "", "\n");
    print_manual_line(out, "", command->description ? command->description : command->summary, "\n");
    print_option_names(out, command);
    if (command->example)
        print_example(out, command->example);
}

/* "recommend, measure" */
static void print_knowers(FILE *out, const struct option_row *row)
{
    const struct command *command;
    const char *between = "";
    for (size_t i = 0; (command = command_row(i)) != NULL; i++) {
        if (row->commands & command->options) {
            print_manual_line(out, between, command->name, "");
            between = ", ";
        }
    }
}

static void print_default(FILE *out, const char *before, const char *default_text)
{
    if (default_text == NULL || default_text[0] == '\0')
        return;
    print_manual_line(out, before, default_text, "");
}

static void print_ranges(FILE *out, const struct option_row *row)
{
    if (row->range[0] != '\0')
        print_manual_line(out, "Range: ", row->range, ".\n");
    if (row->range_prediction != NULL)
        print_manual_line(out, "Range of predict and advise: ", row->range_prediction, ".\n");
}

static void print_option(FILE *out, const struct option_row *row)
{
    print_manual_line(out, ".TP\n.BR \\-\\-", row->name, row->argument ? " \" \" " : "");
    print_manual_line(out, row->argument ? "\\fI" : "", row->argument ? row->argument : "",
                      row->argument ? "\\fR\n" : "\n");
    print_manual_line(out, "", row->help, ".\n");
    print_ranges(out, row);
    if (row->default_text[0] != '\0' || row->default_measure || row->default_doctor ||
        row->default_experiment || row->default_prediction) {
        print_manual_line(out, "Default: ", row->default_text[0] != '\0' ? row->default_text : "none", "");
        print_default(out, "; of measure: ", row->default_measure);
        print_default(out, "; of doctor: ", row->default_doctor);
        print_default(out, "; of experiment: ", row->default_experiment);
        print_default(out, "; of predict and advise: ", row->default_prediction);
        fputs(".\n", out);
    }
    fputs("Of: ", out);
    print_knowers(out, row);
    fputs(row->in_config ? ".\n" : "; not in a configuration file.\n", out);
}

/* No date: the same sources give the same page. */
static void print_version(FILE *out, const void *context)
{
    (void)context;
    print_escaped(out, FSTUNE_VERSION);
}

static void print_synopsis(FILE *out, const void *context)
{
    const struct command *command;
    (void)context;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++) {
        print_manual_line(out, ".B fstune ", command->name, "\n");
        if (command->usage)
            print_manual_line(out, "\\fI", command->usage, "\\fR\n");
        fputs(options_stand_last(command->usage) ? "[\\fIOPTION\\fR...]\n.br\n" : ".br\n", out);
    }
}

static void print_commands(FILE *out, const void *context)
{
    const struct command *command;
    (void)context;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++)
        print_command(out, command);
}

static void print_options(FILE *out, const void *context)
{
    const struct option_row *row;
    (void)context;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++)
        print_option(out, row);
}

static void print_keys(FILE *out, const void *context)
{
    const struct option_row *row;
    (void)context;
    for (size_t i = 0; (row = retune_config_key(i)) != NULL; i++) {
        fputs(".TP\n.B ", out);
        /* Keys are written as in the file, with underscores. */
        for (const char *c = row->name; *c != '\0'; c++)
            fputc(*c == '-' ? '_' : *c, out);
        print_manual_line(out, "\n", row->help, ".\n");
        print_ranges(out, row);
        if (row->default_text[0] != '\0')
            print_manual_line(out, "Default: ", row->default_text, ".\n");
    }
}

static void print_formats(FILE *out, const void *context)
{
    const struct snippet_ops *ops;
    (void)context;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        print_manual_line(out, ".TP\n.B ", ops->name, "\n");
        print_manual_line(out, "", ops->title, "\n");
    }
}

void manual_print(FILE *out)
{
    static const struct template_part parts[] = {
        {"{{version}}", print_version},     {"{{synopsis}}\n", print_synopsis},
        {"{{commands}}\n", print_commands}, {"{{options}}\n", print_options},
        {"{{keys}}\n", print_keys},         {"{{formats}}\n", print_formats}};
    template_print(out, manual_template, parts, sizeof parts / sizeof parts[0], NULL);
}
