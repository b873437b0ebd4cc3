/* Completion for bash, zsh and fish, from the tables. No script needs more than the shell itself. */
#include "tuner/base/template.h"
#include "tuner/commands/command.h"
#include "tuner/emit/snippet.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <string.h>

#define WORDS_SIZE 512

extern const char completion_bash[], completion_zsh[], completion_fish[];

TEMPLATE_FILE("completion_bash", "tuner/commands/templates/completion.bash");
TEMPLATE_FILE("completion_zsh", "tuner/commands/templates/completion.zsh");
TEMPLATE_FILE("completion_fish", "tuner/commands/templates/completion.fish");

/* What a shell offers for a value. */
enum kind { NOTHING, WORDS, FILES, DIRECTORIES };

static bool is_file(const char *argument)
{
    static const char *const files[] = {"FILE", "PATH", "RESULT.json", "SCRIPT", "SURFACE"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(argument, files[i]) == 0)
            return true;
    }
    return false;
}

/* "a|b", "none, end, each": the separators become blanks. */
static void take_words(const char *text, char ret_words[WORDS_SIZE])
{
    size_t n = 0;
    for (; *text && n + 1 < WORDS_SIZE; text++) {
        if (*text != ',')
            ret_words[n++] = *text == '|' ? ' ' : *text;
    }
    ret_words[n] = '\0';
}

static void take_formats(char ret_words[WORDS_SIZE])
{
    const struct snippet_ops *ops;
    size_t n = 0;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL && n + strlen(ops->name) + 2 < WORDS_SIZE; i++)
        n += (size_t)snprintf(ret_words + n, WORDS_SIZE - n, "%s%s", i > 0 ? " " : "", ops->name);
}

/* Kind of an option's value, and its words, with blanks between ("" for the other kinds). `argument` and
 * `range` as in struct option_row. "fio" is typed as it is; "FILE" stands for something else. */
static enum kind find_kind(const char *argument, const char *range, char ret_words[WORDS_SIZE])
{
    ret_words[0] = '\0';
    if (argument == NULL)
        return NOTHING;
    if (strcmp(argument, "DIR") == 0)
        return DIRECTORIES;
    if (is_file(argument))
        return FILES;
    if (strcmp(argument, "FORMAT") == 0)
        take_formats(ret_words);
    else if (strcmp(argument, "PATTERN") == 0)
        take_words("read|write|randread|randwrite|rw|randrw", ret_words);
    else if (strchr(argument, '|') || argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz")] == '\0')
        take_words(argument, ret_words);
    else if (strchr(range, ',') && !strstr(range, ".."))
        take_words(range, ret_words);
    return ret_words[0] != '\0' ? WORDS : NOTHING;
}

/* What a shell is told about a value: `before`, its words, `after`. */
struct value_form {
    const char *before, *after;
};

static void print_value(FILE *out, const struct value_form *forms, const char *argument, const char *range)
{
    char words[WORDS_SIZE];
    const struct value_form *form = &forms[find_kind(argument, range, words)];
    fprintf(out, "%s%s%s", form->before, words, form->after);
}

/* The commands that know an option, between these texts. */
static void print_commands(FILE *out, const struct option_row *row, const char *before, const char *between,
                           const char *after)
{
    const struct command *command;
    const char *next = before;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++) {
        if ((row->commands & command->options) == 0)
            continue;
        fprintf(out, "%s%s%s", next, command->name, after);
        next = between;
    }
}

/* Commands may have options of one name and unlike values. */
static bool is_shared_name(const struct option_row *row)
{
    const struct option_row *other;
    for (size_t i = 0; (other = options_row(i)) != NULL; i++) {
        if (other != row && strcmp(other->name, row->name) == 0)
            return true;
    }
    return false;
}

static void print_bash_value(FILE *out, const struct option_row *row)
{
    static const struct value_form forms[] = {[NOTHING] = {"return", ""},
                                              [WORDS] = {"words='", "'"},
                                              [FILES] = {"kind=-f", ""},
                                              [DIRECTORIES] = {"kind=-d", ""}};
    if (row->argument == NULL)
        return;
    if (is_shared_name(row)) {
        char after[64];
        snprintf(after, sizeof after, "/--%s", row->name);
        print_commands(out, row, "    ", " | ", after);
        fputs(") ", out);
    } else {
        fprintf(out, "    */--%s) ", row->name);
    }
    print_value(out, forms, row->argument, row->range);
    fputs(" ;;\n", out);
}

static void print_bash_command(FILE *out, const struct command *command)
{
    const struct option_row *row;
    char words[WORDS_SIZE];
    fprintf(out, "        %s)\n            options='--help", command->name);
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (row->commands & command->options)
            fprintf(out, " --%s", row->name);
    }
    find_kind(command->operands, "", words);
    fprintf(out, "'\n            operands='%s'\n            ;;\n", words);
}

static void print_bash_values(FILE *out, const void *context)
{
    const struct option_row *row;
    (void)context;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++)
        print_bash_value(out, row);
}

static void print_bash_names(FILE *out, const void *context)
{
    const struct command *command;
    (void)context;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++)
        fprintf(out, "%s ", command->name);
}

/* Inside single quotes, each of `special` behind a backslash. */
static void print_zsh_text(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(special, *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void print_zsh_value(FILE *out, const char *argument, const char *range)
{
    static const struct value_form forms[] = {[NOTHING] = {": ", ""},
                                              [WORDS] = {":(", ")"},
                                              [FILES] = {":_files", ""},
                                              [DIRECTORIES] = {":_files -/", ""}};
    fputc(':', out);
    print_zsh_text(out, argument, ":\\");
    print_value(out, forms, argument, range);
}

static void print_zsh_command(FILE *out, const struct command *command)
{
    const struct option_row *row;
    fprintf(out, "    %s)\n        _arguments '(- *)'{-h,--help}'[print the options]'", command->name);
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (!(row->commands & command->options))
            continue;
        fprintf(out, " \\\n            '--%s%s[", row->name, row->argument ? "=" : "");
        print_zsh_text(out, row->help, "[]\\");
        fputc(']', out);
        if (row->argument)
            print_zsh_value(out, row->argument, row->range);
        fputc('\'', out);
    }
    if (command->operands) {
        fputs(" \\\n            '1", out);
        print_zsh_value(out, command->operands, "");
        fputc('\'', out);
    }
    fputs("\n        ;;\n", out);
}

static void print_zsh_names(FILE *out, const void *context)
{
    const struct command *command;
    (void)context;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++) {
        fprintf(out, "            '%s:", command->name);
        print_zsh_text(out, command->summary, "\\");
        fputs("'\n", out);
    }
}

static void print_fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

static void print_fish_option(FILE *out, const struct option_row *row)
{
    static const struct value_form forms[] = {[NOTHING] = {" -x", ""},
                                              [WORDS] = {" -x -a '", "'"},
                                              [FILES] = {" -r -F", ""},
                                              [DIRECTORIES] = {" -x -a '(__fish_complete_directories)'", ""}};
    fputs("complete -c fstune -n '__fstune_command", out);
    print_commands(out, row, " ", " ", "");
    fprintf(out, "' -l %s", row->name);
    if (row->argument != NULL)
        print_value(out, forms, row->argument, row->range);
    fputs(" -d ", out);
    print_fish_text(out, row->help);
    fputc('\n', out);
}

static void print_fish_command(FILE *out, const struct command *command)
{
    char words[WORDS_SIZE];
    fprintf(out, "complete -c fstune -n __fstune_first -a %s -d ", command->name);
    print_fish_text(out, command->summary);
    fputc('\n', out);
    if (find_kind(command->operands, "", words) == WORDS)
        fprintf(out, "complete -c fstune -n '__fstune_operand %s' -a '%s'\n", command->name, words);
    else if (command->operands != NULL)
        fprintf(out, "complete -c fstune -n '__fstune_command %s' -F\n", command->name);
}

static void print_fish_options(FILE *out, const void *context)
{
    const struct option_row *row;
    (void)context;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++)
        print_fish_option(out, row);
}

/* The commands, by what a shell's function `context` points to prints of one. */
static void print_each_command(FILE *out, const void *context)
{
    void (*const *print)(FILE * out, const struct command *command) = context;
    const struct command *command;
    for (size_t i = 0; (command = command_row(i)) != NULL; i++)
        (*print)(out, command);
}

int completion_print(FILE *out, const char *shell)
{
    static const struct {
        const char *name, *text;
        struct template_part parts[3];
        size_t n_parts;
        void (*print_command)(FILE *out, const struct command *command);
    } shells[] = {
        {"bash",
         completion_bash,
         {{"{{values}}\n", print_bash_values},
          {"{{commands}}\n", print_each_command},
          {"{{names}}", print_bash_names}},
         3,
         print_bash_command},
        {"zsh",
         completion_zsh,
         {{"{{names}}\n", print_zsh_names}, {"{{commands}}\n", print_each_command}},
         2,
         print_zsh_command},
        {"fish",
         completion_fish,
         {{"{{commands}}\n", print_each_command}, {"{{options}}\n", print_fish_options}},
         2,
         print_fish_command},
    };
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shell, shells[i].name) == 0) {
            template_print(out, shells[i].text, shells[i].parts, shells[i].n_parts, &shells[i].print_command);
            return 0;
        }
    }
    return -EINVAL;
}
