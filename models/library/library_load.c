/* A search made again from its text: everything is asked and told once more, and has to leave the same text.
 */
#include "models/library/library_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define END_BYTES (sizeof "end 0123456789abcdef\n" - 1)

/* A text, word by word. After the first word that is not what it should be all others are 0. */
struct reader {
    const char *at, *end;
    bool damaged;
};

/* What the text says of the space and the options. */
struct description {
    struct fst_space *space;
    struct fst_options options;
    struct fst_limit limits[FST_MAX_LIMITS];
    char *names, *next_name;          /* room for all names; owned */
    const char *left_out;             /* a digit for each combination */
    double *figures[LIBRARY_FIGURES]; /* owned */
    size_t n_combinations, n_settings, n_figures, next_left_out, next_figure;
    size_t baseline; /* one more than its number; 0: there is none */
    double baseline_values[FST_MAX_FACTORS];
};

struct word {
    const char *at;
    size_t n;
};

static struct word take_word(struct reader *reader)
{
    struct word word = {.at = reader->at};
    while (reader->at < reader->end && *reader->at != ' ' && *reader->at != '\n')
        reader->at++;
    word.n = (size_t)(reader->at - word.at);
    if (reader->at < reader->end && *reader->at == ' ')
        reader->at++;
    reader->damaged |= word.n == 0;
    return word;
}

static bool is_word(struct word word, const char *text)
{
    return word.n == strlen(text) && memcmp(word.at, text, word.n) == 0;
}

/* Digits of a base up to 16, of at most 64 bits. */
static uint64_t take_digits(struct reader *reader, unsigned base)
{
    static const char digits[] = "0123456789abcdef";
    struct word word = take_word(reader);
    uint64_t count = 0;
    for (size_t i = 0; i < word.n && !reader->damaged; i++) {
        const char *digit = memchr(digits, word.at[i], base);
        if (digit == NULL || count > (UINT64_MAX - (uint64_t)(digit - digits)) / base)
            reader->damaged = true;
        else
            count = count * base + (uint64_t)(digit - digits);
    }
    return reader->damaged ? 0 : count;
}

static size_t take_count(struct reader *reader)
{
    return (size_t)take_digits(reader, 10);
}

static double take_number(struct reader *reader)
{
    uint64_t bits = take_digits(reader, 16);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* n numbers, owned by the caller; NULL where there is no memory, or there are not so many. */
static double *take_numbers(struct reader *reader, size_t n)
{
    double *numbers = n <= FST_MAX_POINTS ? calloc(n + 1, sizeof *numbers) : NULL;
    reader->damaged |= n > FST_MAX_POINTS;
    for (size_t i = 0; numbers != NULL && i < n && !reader->damaged; i++)
        numbers[i] = take_number(reader);
    return numbers;
}

static void take_line_end(struct reader *reader)
{
    if (reader->at < reader->end && *reader->at == '\n')
        reader->at++;
    else
        reader->damaged = true;
}

/* The rest of the line, as a text of its own. */
static char *take_name(struct reader *reader, struct description *description)
{
    char *name = description->next_name;
    const char *from = reader->at;
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
    size_t n = (size_t)(reader->at - from);
    memcpy(name, from, n);
    name[n] = '\0';
    description->next_name = name + n + 1;
    return name;
}

static bool begins_with(const struct reader *reader, const char *word)
{
    struct reader ahead = *reader;
    return is_word(take_word(&ahead), word);
}

/* --- what the search was made from --- */

static int take_factor(struct reader *reader, struct description *description)
{
    take_word(reader);
    size_t kind = take_count(reader), n = take_count(reader);
    double *levels = take_numbers(reader, n);
    char *name = take_name(reader, description);
    int result = levels == NULL && !reader->damaged ? -ENOMEM : -EBADMSG;
    take_line_end(reader);
    if (result == -EBADMSG && !reader->damaged && kind <= SPACE_CATEGORY)
        result = kind == SPACE_CATEGORY ? fst_space_add_choices(description->space, name, n)
                                        : fst_space_add_levels(description->space, name, levels, n);
    free(levels);
    return result;
}

static int take_left_out(struct reader *reader, struct description *description)
{
    int result = library_count(description->space, &description->n_combinations);
    reader->damaged |= !is_word(take_word(reader), "out");
    struct word digits = take_word(reader);
    take_line_end(reader);
    description->left_out = digits.at;
    for (size_t i = 0; i < digits.n; i++)
        description->n_settings += digits.at[i] != '1';
    return result == 0 && digits.n == description->n_combinations ? 0 : -EBADMSG;
}

static void take_options(struct reader *reader, struct description *description)
{
    struct fst_options *options = &description->options;
    reader->damaged |= !is_word(take_word(reader), "options");
    size_t scale = take_count(reader);
    reader->damaged |= scale > FST_LOWER_LINEAR;
    options->scale = (enum fst_scale)(scale <= FST_LOWER_LINEAR ? scale : 0);
    options->tolerance = take_number(reader);
    options->confidence = take_number(reader);
    options->budget = take_number(reader);
    options->run_cost = take_number(reader);
    options->seed = take_digits(reader, 10);
    options->prefer_best = take_count(reader) != 0;
    description->baseline = take_count(reader);
    options->growth = take_number(reader);
    options->alike = take_number(reader);
    options->rates = take_count(reader) != 0;
    options->length = take_number(reader);
    options->grace = take_number(reader);
    take_line_end(reader);
}

static void take_limit(struct reader *reader, struct description *description)
{
    struct fst_limit *limit = &description->limits[description->options.n_limits++];
    take_word(reader);
    limit->bound = take_number(reader);
    limit->at_least = take_count(reader) != 0;
    limit->name = take_name(reader, description);
    take_line_end(reader);
}

static int is_left_out(const double *values, void *context)
{
    struct description *description = context;
    (void)values;
    size_t i = description->next_left_out++;
    return i < description->n_combinations && description->left_out[i] == '1';
}

/* It is called for all settings in order, figure by figure. */
static double figure_of(const double *values, void *context)
{
    struct description *description = context;
    (void)values;
    size_t i = description->next_figure++;
    return description->figures[i / description->n_settings][i % description->n_settings];
}

static void find_baseline(struct description *description)
{
    size_t n_kept = 0, number = 0;
    while (number < description->n_combinations) {
        n_kept += description->left_out[number] != '1';
        if (n_kept == description->baseline)
            break;
        number++;
    }
    library_combine(description->space, number, description->baseline_values);
    description->options.baseline = description->baseline_values;
}

static int take_figure(struct reader *reader, struct description *description, size_t figure)
{
    take_word(reader);
    double *numbers = take_numbers(reader, description->n_settings);
    take_line_end(reader);
    description->figures[description->n_figures++] = numbers;
    *library_function_in(&description->options, figure) = figure_of;
    return numbers != NULL ? 0 : -ENOMEM;
}

static int take_description(struct reader *reader, struct description *description)
{
    int result = 0;
    description->space = fst_space_new();
    /* The end of each line makes room for the end of its name. */
    description->names = description->next_name = malloc((size_t)(reader->end - reader->at) + 1);
    if (description->space == NULL || description->names == NULL)
        return -ENOMEM;
    while (result == 0 && begins_with(reader, "factor"))
        result = take_factor(reader, description);
    if (result == 0)
        result = take_left_out(reader, description);
    if (result == 0)
        take_options(reader, description);
    while (result == 0 && begins_with(reader, "limit") && description->options.n_limits < FST_MAX_LIMITS)
        take_limit(reader, description);
    for (size_t k = 0; k < LIBRARY_FIGURES && result == 0; k++) {
        if (begins_with(reader, library_figure_words[k]))
            result = take_figure(reader, description, k);
    }
    if (result == 0 && description->baseline > 0)
        find_baseline(description);
    fst_space_forbid(description->space, is_left_out, description);
    description->options.limits = description->limits;
    description->options.context = description;
    if (result == 0 && reader->damaged)
        result = -EBADMSG;
    return result == -EINVAL || result == -E2BIG ? -EBADMSG : result;
}

static void forget(struct description *description)
{
    fst_space_free(description->space);
    free(description->names);
    for (size_t k = 0; k < description->n_figures; k++)
        free(description->figures[k]);
}

/* --- what was asked and told since --- */

static struct fst_run take_run(struct reader *reader)
{
    size_t setting = take_count(reader);
    return (struct fst_run){.setting = setting, .confirming = take_count(reader) != 0};
}

static int again_learn(struct fst_search *search, struct reader *reader)
{
    double *means = take_numbers(reader, search->n);
    int result = means != NULL ? library_learn(search, means) : -ENOMEM;
    free(means);
    return result;
}

/* Another answer than then shows when the two texts are compared. */
static int again_ask(struct fst_search *search, struct reader *reader)
{
    struct fst_run run;
    double used = take_number(reader);
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
    int result = fst_ask(search, used, &run);
    return result < 0 && result != -EAGAIN ? result : 0;
}

static int tell(struct fst_search *search, struct reader *reader, const struct fst_timing *timing)
{
    struct fst_run run = take_run(reader);
    double effects[FST_MAX_LIMITS];
    struct fst_result result = {0};
    result.value = take_number(reader);
    result.cost = take_number(reader);
    result.std_error = take_number(reader);
    result.n = take_count(reader);
    for (size_t i = 0; i < search->limits.effects.n; i++)
        effects[i] = take_number(reader);
    result.effects = effects;
    return reader->damaged ? -EBADMSG : fst_tell_timed(search, &run, &result, timing);
}

static int again_tell(struct fst_search *search, struct reader *reader)
{
    return tell(search, reader, NULL);
}

static int again_tell_timed(struct fst_search *search, struct reader *reader)
{
    struct fst_timing timing = FST_TIMING;
    timing.used = take_number(reader);
    timing.span = take_number(reader);
    timing.warmup = take_number(reader);
    timing.latency = take_number(reader);
    timing.cut = take_count(reader) != 0;
    reader->damaged |= !is_word(take_word(reader), "tell");
    return tell(search, reader, &timing);
}

static int again_fail(struct fst_search *search, struct reader *reader)
{
    struct fst_run run = take_run(reader);
    double cost = take_number(reader);
    return fst_fail(search, &run, cost);
}

static int again_withdraw(struct fst_search *search, struct reader *reader)
{
    struct fst_run run = take_run(reader);
    return fst_withdraw(search, &run);
}

static int again_stop(struct fst_search *search, struct reader *reader)
{
    (void)reader;
    return fst_stop(search);
}

static int again(struct fst_search *search, struct reader *reader)
{
    static const struct {
        const char *word;
        int (*act)(struct fst_search *search, struct reader *reader);
    } acts[] = {{"ask", again_ask},   {"tell", again_tell},   {"timed", again_tell_timed},
                {"fail", again_fail}, {"learn", again_learn}, {"withdraw", again_withdraw},
                {"stop", again_stop}};
    const char *line = reader->at;
    struct word word = take_word(reader);
    size_t from = search->text.n;
    int result = -EBADMSG;
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        if (is_word(word, acts[i].word))
            result = acts[i].act(search, reader);
    }
    take_line_end(reader);
    size_t n = (size_t)(reader->at - line);
    if (reader->damaged || (result < 0 && result != -ENOMEM))
        return -EBADMSG;
    if (result == 0 && (search->text.n - from != n || memcmp(search->text.bytes + from, line, n) != 0))
        return -ESTALE;
    return result;
}

/* --- the whole of it --- */

/* 0 where title and digest are right; the reader stands behind the title. */
static int check(struct reader *reader)
{
    static const char title[] = LIBRARY_TITLE "\n";
    size_t n = (size_t)(reader->end - reader->at), n_title = sizeof title - 1, n_name = n_title - 2;
    if (n < n_title + END_BYTES || memcmp(reader->at, title, n_name) != 0)
        return -EBADMSG;
    if (memcmp(reader->at, title, n_title) != 0)
        return -ENOTSUP;
    struct reader last = {.at = reader->end - END_BYTES, .end = reader->end};
    uint64_t digest = library_text_digest(reader->at, n - END_BYTES);
    bool right = is_word(take_word(&last), "end") && take_digits(&last, 16) == digest && !last.damaged;
    take_line_end(&last);
    reader->at += n_title;
    reader->end -= END_BYTES;
    return right && !last.damaged ? 0 : -EBADMSG;
}

struct fst_search *fst_load(const char *text, size_t length)
{
    struct reader reader = {.at = text, .end = text != NULL ? text + length : NULL};
    struct description description = {.options = FST_OPTIONS};
    struct fst_search *search = NULL;
    int result = text != NULL ? check(&reader) : -EBADMSG;
    if (result == 0)
        result = take_description(&reader, &description);
    if (result == 0) {
        search = fst_search_new(description.space, &description.options);
        result = search != NULL ? 0 : errno == ENOMEM ? -ENOMEM : -EBADMSG;
    }
    while (result == 0 && reader.at < reader.end)
        result = again(search, &reader);
    forget(&description);
    if (result == 0)
        return search;
    fst_search_free(search);
    errno = -result;
    return NULL;
}
