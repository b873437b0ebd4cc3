/* tuner/base/words: the words of a command as one line. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Appends a word, behind a blank where the line has others; what does not fit is cut. */
void words_add(char *line, size_t size, const char *word);

/* The command's words, up to NULL, with blanks between; "process PID" where there is no command. */
void words_of_command(const char *const *command, pid_t pid, char *line, size_t size);
