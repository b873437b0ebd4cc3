/* tuner/commands/manual: the manual page fstune(1) as roff, made from the tables of commands and of options.
 * What no table knows - exit codes, files, examples over several commands - stands in its source. */
#pragma once

#include "tuner/commands/command.h"

#include <stddef.h>
#include <stdio.h>

/* Prints the page. A write that failed is left in ferror(out). */
void manual_print(FILE *out, const struct command *const *commands, size_t n_commands);

/* Writes text so that roff prints it as it is: backslashes, hyphens that one copies, and the control
 * characters at the beginning of a line. */
void manual_escape(FILE *out, const char *text);
