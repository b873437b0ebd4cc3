/* tuner/options/options_needs: an option that does nothing without another one is refused, not ignored. */
#include "tuner/options/options_needs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE  64
#define WORDS_SIZE ((size_t)2 * NAME_SIZE)

/* The next of the names with commas between; false at the end. */
static bool next_name(const char **names, char name[NAME_SIZE])
{
    size_t length = strcspn(*names, ",");
    if (length == 0 || length >= NAME_SIZE)
        return false;
    memcpy(name, *names, length);
    name[length] = '\0';
    *names += length + ((*names)[length] == ',');
    return true;
}

static bool is_given(const char *name, const bool *given)
{
    const struct option_row *row;
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (given[i] && strcmp(row->name, name) == 0)
            return true;
    }
    return false;
}

/* "--profiles or --profile": those that the command knows; "" where it knows none, and needs none then. */
static bool lacks(const struct option_row *row, unsigned command, const bool *given, char words[WORDS_SIZE])
{
    char name[NAME_SIZE];
    const char *names = row->needs;
    size_t length = 0;
    words[0] = '\0';
    while (names != NULL && next_name(&names, name)) {
        if (options_find(name, command) == NULL)
            continue;
        if (is_given(name, given))
            return false;
        int n = snprintf(words + length, WORDS_SIZE - length, "%s--%s", length > 0 ? " or " : "", name);
        length += n > 0 && (size_t)n < WORDS_SIZE - length ? (size_t)n : 0;
    }
    return length > 0;
}

int options_check_needs(unsigned command, const bool *given, struct err *err)
{
    const struct option_row *row;
    char words[WORDS_SIZE];
    for (size_t i = 0; (row = options_row(i)) != NULL; i++) {
        if (given[i] && lacks(row, command, given, words))
            return err_set(err, -EINVAL, "--%s: does nothing without %s", row->name, words);
    }
    return 0;
}
