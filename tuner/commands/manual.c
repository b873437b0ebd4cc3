/* The manual page, from the tables. */
#include "tuner/commands/command.h"
#include "tuner/emit/snippet.h"
#include "tuner/nightly/retune_config.h"
#include "tuner/options/options.h"

#include <string.h>

struct part {
    const char *term, *text;
};

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

static void print_parts(FILE *out, const char *title, const struct part *parts, size_t n)
{
    fprintf(out, ".SH %s\n", title);
    for (size_t i = 0; i < n; i++) {
        print_manual_line(out, ".TP\n.B ", parts[i].term, "\n");
        print_manual_line(out, "", parts[i].text, "\n");
    }
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

static void print_manual_head(FILE *out)
{
    const struct command *command;
    /* No date: the same sources give the same page. */
    print_manual_line(out, ".TH FSTUNE 1 \"\" \"fstune ", FSTUNE_VERSION, "\" \"User Commands\"\n");
    fputs(".SH NAME\nfstune \\- find the I/O setting that fits a workload on a file system\n.SH SYNOPSIS\n",
          out);
    for (size_t i = 0; (command = command_row(i)) != NULL; i++) {
        print_manual_line(out, ".B fstune ", command->name, "\n");
        if (command->usage)
            print_manual_line(out, "\\fI", command->usage, "\\fR\n");
        fputs(options_stand_last(command->usage) ? "[\\fIOPTION\\fR...]\n.br\n" : ".br\n", out);
    }
    fputs(".B fstune\n\\-\\-help | \\-\\-version | \\-\\-manual | \\-\\-completion bash|zsh|fish\n"
          ".SH DESCRIPTION\n"
          "Finds the request size, queue depth, direct I/O setting and I/O interface that fit the pattern of "
          "a\n"
          "workload on a file system, by measuring, and says how sure that is.\n"
          "Results go to standard output, progress and errors to standard error.\n",
          out);
}

static void print_keys(FILE *out)
{
    const struct option_row *row;
    fputs(
        ".SH RETUNE CONFIGURATION\n"
        "The file of \\fBfstune retune \\-\\-config\\fR (libconfig) has a list \\fBtargets\\fR of groups. A "
        "target takes\n"
        "the options of \\fBrecommend\\fR as keys, with underscores for hyphens, and those below. Keys at "
        "the top of the\n"
        "file are defaults of all targets. The default of \\fBbudget\\fR is 2m there, that of "
        "\\fBmax_write\\fR 8g.\n",
        out);
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

static void print_formats(FILE *out)
{
    const struct snippet_ops *ops;
    fputs(".SH FORMATS\nWhat \\fBfstune emit\\fR and \\fB\\-\\-emit\\fR print:\n", out);
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++) {
        print_manual_line(out, ".TP\n.B ", ops->name, "\n");
        print_manual_line(out, "", ops->title, "\n");
    }
}

static void print_tail(FILE *out)
{
    static const struct part codes[] = {
        {"0", "Done."},
        {"1", "Failed while running."},
        {"2", "The command line or a configuration is wrong; nothing was done."},
        {"3", "Done, but not conclusive: the recommendation stands, the statistics do not settle it yet. Of "
              "doctor: there are findings."},
        {"4", "Of retune: the current setting, or the throughput itself, has fallen behind."},
        {"5", "Measured, but nothing trustworthy or feasible to recommend."},
        {"129, 130, 143", "Ended by SIGHUP, SIGINT or SIGTERM; what had been measured is printed."},
    };
    static const struct part files[] = {
        {"/etc/fstune/retune.conf",
         "Targets of the nightly measurement; read by the service and by the cron job, "
         "which do nothing without it."},
        {"/var/lib/fstune/history.db", "What the service has measured."},
        {"$XDG_STATE_HOME/fstune/history.db",
         "The same of a user; ~/.local/state where the variable is not set."},
    };
    static const struct part variables[] = {
        {"NO_COLOR", "When it is set and not empty, or TERM is dumb, a terminal gets no bold letters."},
        {"XDG_STATE_HOME, STATE_DIRECTORY", "Where the history is kept unless --db says it."},
    };
    print_parts(out, "EXIT STATUS", codes, sizeof(codes) / sizeof(codes[0]));
    print_parts(out, "FILES", files, sizeof(files) / sizeof(files[0]));
    print_parts(out, "ENVIRONMENT", variables, sizeof(variables) / sizeof(variables[0]));
    fputs(".SH EXAMPLES\nThe best setting for random writes of virtual machines, in a minute:\n", out);
    print_example(out, "fstune recommend --pattern randwrite --path /var/lib/vms --budget 60s");
    fputs("A database with pages of 8 KiB, the answer as JSON and as lines to paste:\n", out);
    print_example(out, "fstune recommend --pattern randrw:70 --request-size 8k --json >answer.json\n"
                       "fstune emit shell --from answer.json");
    fputs(".SH SEE ALSO\n.BR fio (1),\n.BR io_uring (7)\n.PP\n"
          "Each number is explained in using.md and method.md, each warning in warnings.md, the nights in "
          "nightly.md, beside the package's other documents.\n",
          out);
}

void manual_print(FILE *out)
{
    const struct command *command;
    const struct option_row *row;
    print_manual_head(out);
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; (command = command_row(i)) != NULL; i++)
        print_command(out, command);
    fputs(".SH OPTIONS\n"
          "\\fB\\-\\-help\\fR of a command with many options prints those that most need, \\fB\\-\\-help "
          "all\\fR all of them.\n"
          "An option that takes one value is given once; \\fB\\-\\-prior\\fR and \\fB\\-\\-from\\fR "
          "collect theirs.\n.PP\n"
          "A \\fISIZE\\fR is bytes, or has one of k, m, g, t (powers of 1024) behind it; a \\fIDURATION\\fR "
          "has its\n"
          "unit: us, ms, s, m or h; a \\fISHARE\\fR is written 3% or 0.03. Several values: 4k,64k,1m, or the "
          "powers\n"
          "of two in 4k..1m.\n",
          out);
    for (size_t i = 0; (row = options_row(i)) != NULL; i++)
        print_option(out, row);
    fputs(".TP\n.BR \\-h \", \" \\-\\-help\nPrint the options of the command; \\fB\\-\\-help all\\fR prints "
          "all.\n",
          out);
    print_keys(out);
    print_formats(out);
    print_tail(out);
}
