/* From a command line to its command. */
#include "bench/base/err.h"
#include "bench/target/dirty_limits.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/commands/command.h"
#include "tuner/options/options.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_recommend, &command_measure, &command_experiment, &command_doctor, &command_emit,
    &command_history,   &command_retune,  &command_plot,       &command_report, &command_calibrate,
    &command_predict,   &command_advise,  &command_cost,       &command_atoms,  &command_profile,
    &command_replay,    &command_analyse, &command_manager,    &command_watch,  &command_fleet};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

const struct command *command_row(size_t i)
{
    return i < N_COMMANDS ? commands[i] : NULL;
}

/* A standard descriptor that the caller closed would be given to the next file opened, and output would go
 * there. The substitutes refuse the wrong direction as a closed one does. */
static int occupy_standard_descriptors(void)
{
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) < 0)
            return -errno;
    }
    return 0;
}

/* Text that never reached its reader is a failure, also of --help. */
static int check_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    /* A command that checks its output by itself has said so already. */
    return code == EXIT_FAILED
               ? code
               : fail_with(EXIT_FAILED, "cannot write the result to standard output: %s", strerror(errno));
}

static int print_help(void)
{
    puts("usage: fstune COMMAND [OPTION...]\n"
         "       fstune COMMAND --help\n\n"
         "Finds the request size, queue depth, direct I/O setting and I/O API that fit a workload's pattern "
         "on a file\n"
         "system, by measuring, and says how sure that is.\n\n"
         "Commands:");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-12s %s\n", commands[i]->name, commands[i]->summary);
    puts("\nOptions:\n"
         "  --help       this text\n"
         "  --version    the version\n"
         "  --manual     the manual page, as roff: fstune --manual | man -l -\n"
         "  --completion bash|zsh|fish\n"
         "               completion of the command line, as a script for the shell\n\n"
         "Example:\n"
         "  fstune recommend --pattern randwrite");
    return EXIT_DONE;
}

static int print_completion(int argc, char **argv)
{
    if (argc != 3 || completion_print(stdout, argv[2]) < 0)
        return fail_with(EXIT_USAGE, "--completion: give the shell: bash, zsh or fish");
    return EXIT_DONE;
}

static int unknown_command(const char *name)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    struct err err = {0};
    options_refuse(name, "not a command", names, N_COMMANDS, "see fstune --help", &err);
    return fail_with(EXIT_USAGE, "%s", err.text);
}

/* Where a guard was killed together with its command, the machine must not stay with the limits of a test. */
static void restore_limits(void)
{
    struct err err = {0};
    bool restored;
    if (dirty_limits_recover(&dirty_limits_system, &restored, &err) < 0)
        fail_with(EXIT_FAILED, "%s", err.text);
    else if (restored)
        fail_with(EXIT_DONE, "put back the dirty limits that an fstune left behind when it was killed");
}

static int run_fstune(int argc, char **argv)
{
    if (argc < 2)
        return fail_with(EXIT_USAGE, "a command is missing; see fstune --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("fstune " FSTUNE_VERSION);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--manual") == 0) {
        manual_print(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--completion") == 0)
        return print_completion(argc, argv);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i]->name) != 0)
            continue;
        restore_limits();
        return commands[i]->run(commands[i], argc - 1, argv + 1);
    }
    return unknown_command(argv[1]);
}

static bool asks_for_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool is_format = strcmp(argv[i], "--format") == 0 && i + 1 < argc && strcmp(argv[i + 1], "json") == 0;
        if (is_format || strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--format=json") == 0)
            return true;
    }
    return false;
}

/* Who asks for JSON gets a document also from a command that was refused or failed before it had one. */
static int explain_as_document(int argc, char **argv, int code)
{
    struct err err = {0};
    if (code == EXIT_DONE || json_was_printed() || !asks_for_json(argc, argv))
        return code;
    json_t *document = json_pack("{s:s, s:s, s:i, s:o}", "schema", "fstune/error/1", "version",
                                 FSTUNE_VERSION, "exit_code", code, "error", json_text(fail_text()));
    return json_print(stdout, document, &err) < 0 ? fail_with(EXIT_FAILED, "%s", err.text) : code;
}

int program_run(int argc, char **argv)
{
    struct err err = {0};
    if (occupy_standard_descriptors() < 0)
        return EXIT_FAILED;
    gsl_set_error_handler_off();
    if (interrupt_setup(&err) < 0)
        return fail_with(EXIT_FAILED, "%s", err.text);
    return check_output(explain_as_document(argc, argv, run_fstune(argc, argv)));
}
