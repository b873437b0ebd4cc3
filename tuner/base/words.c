/* The words of a command as one line. */
#include "tuner/base/words.h"

#include <stdio.h>
#include <string.h>

void words_add(char *line, size_t size, const char *word)
{
    size_t at = strlen(line);
    snprintf(line + at, size - at, "%s%s", at > 0 ? " " : "", word);
}

void words_of_command(const char *const *command, pid_t pid, char *line, size_t size)
{
    line[0] = '\0';
    if (command == NULL)
        snprintf(line, size, "process %ld", (long)pid);
    for (size_t i = 0; command != NULL && command[i] != NULL; i++)
        words_add(line, size, command[i]);
}
