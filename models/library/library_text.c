/* The text of a search: what it was made from, and all that was asked and told since. */
#include "models/library/library_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM    4096
#define NUMBER_DIGITS 16 /* the bits of a double, base 16 */

int library_text_reserve(struct library_text *text, size_t n_bytes)
{
    size_t room = text->room > 0 ? text->room : FIRST_ROOM;
    while (room - text->n < n_bytes)
        room *= 2;
    if (room == text->room)
        return 0;
    char *bytes = realloc(text->bytes, room);
    if (bytes == NULL)
        return -ENOMEM;
    text->bytes = bytes;
    text->room = room;
    return 0;
}

static void add(struct library_text *text, const char *bytes, size_t n)
{
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
}

void library_text_word(struct library_text *text, const char *word)
{
    if (text->n > 0 && text->bytes[text->n - 1] != '\n')
        add(text, " ", 1);
    add(text, word, strlen(word));
}

/* At least so many digits of a count. */
static void add_digits(struct library_text *text, uint64_t count, unsigned base, size_t n_least)
{
    char word[LIBRARY_WORD_BYTES] = "";
    size_t place = sizeof word - 1;
    for (; count > 0 || n_least > 0; count /= base) {
        word[--place] = "0123456789abcdef"[count % base];
        n_least -= n_least > 0;
    }
    library_text_word(text, word + place);
}

void library_text_count(struct library_text *text, uint64_t count)
{
    add_digits(text, count, 10, 1);
}

void library_text_number(struct library_text *text, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    add_digits(text, bits, 16, NUMBER_DIGITS);
}

void library_text_end_line(struct library_text *text)
{
    add(text, "\n", 1);
}

/* FNV-1a of 64 bits (Fowler, Noll and Vo). */
uint64_t library_text_digest(const char *bytes, size_t n)
{
    uint64_t digest = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return digest;
}

/* --- what a search was made from --- */

static int describe_factor(struct library_text *text, const struct library_factor *factor, const char *name)
{
    if (library_text_reserve(text, (factor->n + 3) * LIBRARY_WORD_BYTES + strlen(name)) < 0)
        return -ENOMEM;
    library_text_word(text, "factor");
    library_text_count(text, factor->kind);
    library_text_count(text, factor->n);
    for (size_t i = 0; i < factor->n; i++)
        library_text_number(text, factor->levels[i]);
    library_text_word(text, name);
    library_text_end_line(text);
    return 0;
}

static int describe_left_out(struct library_text *text, const struct fst_space *space,
                             const unsigned char *left_out)
{
    size_t n = 0;
    if (library_count(space, &n) < 0 || library_text_reserve(text, n + LIBRARY_WORD_BYTES) < 0)
        return -ENOMEM;
    library_text_word(text, "out");
    add(text, " ", 1);
    for (size_t i = 0; i < n; i++)
        add(text, left_out[i] != 0 ? "1" : "0", 1);
    library_text_end_line(text);
    return 0;
}

static int describe_options(struct library_text *text, const struct fst_options *options, size_t baseline)
{
    if (library_text_reserve(text, 15 * LIBRARY_WORD_BYTES) < 0)
        return -ENOMEM;
    library_text_word(text, "options");
    library_text_count(text, options->scale);
    library_text_number(text, options->tolerance);
    library_text_number(text, options->confidence);
    library_text_number(text, options->budget);
    library_text_number(text, options->run_cost);
    library_text_count(text, options->seed);
    library_text_count(text, options->prefer_best != 0);
    library_text_count(text, baseline == ENGINE_NONE ? 0 : baseline + 1);
    library_text_number(text, options->growth);
    library_text_number(text, options->alike);
    library_text_count(text, options->rates != 0);
    library_text_number(text, options->length);
    library_text_number(text, options->grace);
    library_text_end_line(text);
    return 0;
}

static int describe_limits(struct library_text *text, const struct fst_options *options)
{
    for (size_t i = 0; i < options->n_limits; i++) {
        const struct fst_limit *limit = &options->limits[i];
        if (library_text_reserve(text, 4 * LIBRARY_WORD_BYTES + strlen(limit->name)) < 0)
            return -ENOMEM;
        library_text_word(text, "limit");
        library_text_number(text, limit->bound);
        library_text_count(text, limit->at_least != 0);
        library_text_word(text, limit->name);
        library_text_end_line(text);
    }
    return 0;
}

static int describe_figure(struct library_text *text, const struct engine *engine, size_t figure)
{
    size_t n = engine->space->n_points;
    if (library_text_reserve(text, (n + 2) * LIBRARY_WORD_BYTES) < 0)
        return -ENOMEM;
    library_text_word(text, library_figure_words[figure]);
    for (size_t i = 0; i < n; i++)
        library_text_number(text, *library_figure_in(&engine->points[i], figure));
    library_text_end_line(text);
    return 0;
}

int library_describe(struct fst_search *search, const struct fst_space *space, struct fst_options *options,
                     const unsigned char *left_out)
{
    struct library_text *text = &search->text;
    int result = library_text_reserve(text, 2 * LIBRARY_WORD_BYTES);
    if (result < 0)
        return result;
    library_text_word(text, LIBRARY_TITLE);
    library_text_end_line(text);
    for (size_t i = 0; i < space->n_factors && result == 0; i++)
        result = describe_factor(text, &space->factors[i], space->names[i]);
    if (result == 0)
        result = describe_left_out(text, space, left_out);
    if (result == 0)
        result = describe_options(text, options, search->engine.baseline);
    if (result == 0)
        result = describe_limits(text, options);
    for (size_t k = 0; k < LIBRARY_FIGURES && result == 0; k++) {
        if (*library_function_in(options, k) != NULL)
            result = describe_figure(text, &search->engine, k);
    }
    return result;
}

/* --- saving --- */

int fst_save(const struct fst_search *search, char **ret_text, size_t *ret_length)
{
    struct library_text copy = {0};
    if (search->text.broken)
        return -ENOTSUP;
    if (library_text_reserve(&copy, search->text.n + 3 * LIBRARY_WORD_BYTES) < 0)
        return -ENOMEM;
    add(&copy, search->text.bytes, search->text.n);
    library_text_word(&copy, "end");
    add_digits(&copy, library_text_digest(search->text.bytes, search->text.n), 16, NUMBER_DIGITS);
    library_text_end_line(&copy);
    copy.bytes[copy.n] = '\0';
    *ret_text = copy.bytes;
    *ret_length = copy.n;
    return 0;
}

void fst_text_free(char *text)
{
    free(text);
}
