/* fstune: finds the I/O setting that fits a workload on a file system. This file only finds the command. */
#include "tuner/command.h"
#include "tuner/interrupt.h"
#include "tuner/options.h"
#include "tuner/report.h"

#include <gsl/gsl_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {&command_recommend, &command_measure};
static const size_t n_commands = sizeof commands / sizeof commands[0];

int command_fail(int code, const char *format, ...)
{
    va_list arguments;
    fputs("fstune: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return code;
}

static int print_help(void)
{
    puts("usage: fstune COMMAND [OPTION...]\n"
         "       fstune COMMAND --help\n\n"
         "Finds the request size, queue depth, direct I/O setting and I/O API that fit a workload's pattern "
         "on a file\n"
         "system, by measuring, and says how sure that is.\n\n"
         "Commands:");
    for (size_t i = 0; i < n_commands; i++)
        printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    puts("\nOptions:\n"
         "  --help       this text\n"
         "  --version    the version\n\n"
         "Example:\n"
         "  fstune recommend --pattern randwrite");
    return EXIT_DONE;
}

static int unknown_command(const char *name)
{
    const char *names[sizeof commands / sizeof commands[0]];
    for (size_t i = 0; i < n_commands; i++)
        names[i] = commands[i]->name;
    const char *near = options_nearest(name, names, n_commands);
    if (near != NULL)
        return command_fail(EXIT_USAGE, "'%s' is not a command; did you mean %s?", name, near);
    return command_fail(EXIT_USAGE, "'%s' is not a command; see fstune --help", name);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    gsl_set_error_handler_off();
    if (interrupt_setup(&err) < 0)
        return command_fail(EXIT_FAILED, "%s", err.text);
    if (argc < 2)
        return command_fail(EXIT_USAGE, "a command is missing; see fstune --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("fstune " REPORT_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < n_commands; i++) {
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    }
    return unknown_command(argv[1]);
}
