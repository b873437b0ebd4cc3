/* tuner/commands/completion: completion of the command line for bash and zsh, made from the tables of
 * commands, of options and of snippets. */
#pragma once

#include "tuner/commands/command.h"

#include <stddef.h>
#include <stdio.h>

/* Prints the script for a shell, "bash" or "zsh". 0, or -EINVAL for another one. */
int completion_print(FILE *out, const char *shell, const struct command *const *commands, size_t n_commands);

/* What a shell offers for the value of an option: directories, files, or words. */
enum completion_kind { COMPLETION_NOTHING, COMPLETION_WORDS, COMPLETION_FILES, COMPLETION_DIRECTORIES };

/* Kind of an option's value, and its words, parted by blanks, cut at size - 1 characters ("" for the other
 * kinds). `argument` and `range` as in struct option_row; both may be "". */
enum completion_kind completion_of(const char *argument, const char *range, char *ret_words, size_t size);
