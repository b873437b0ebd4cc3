/* What the parts of models/library share. */
#pragma once

#include "models/engine/effects.h"
#include "models/engine/engine.h"
#include "models/library/fstune.h"
#include "models/surrogate/space.h"

struct library_factor {
    enum space_kind kind;
    double *levels; /* owned */
    size_t n;
};

/* Left out: this value of a factor with that of another. */
struct library_exclusion {
    size_t factor, other;
    double value, other_value;
};

struct fst_space {
    struct library_factor factors[FST_MAX_FACTORS];
    char *names[FST_MAX_FACTORS]; /* owned */
    size_t n_factors;
    struct library_exclusion *exclusions; /* owned */
    size_t n_exclusions;
    int (*forbidden)(const double *values, void *context);
    void *context;
};

/* A name that fits into a line of text. */
bool library_is_name(const char *name);

/* How many combinations of levels there are: 0, -EINVAL without factors, -E2BIG. */
int library_count(const struct fst_space *space, size_t *ret_n);

/* The values of the combination of this number. */
void library_combine(const struct fst_space *space, size_t number, double *ret_values);

/* All settings that are not left out: ret_values has n_factors values for each, ret_left_out a byte for each
 * combination, both owned by the caller. 0, -EINVAL for an empty space, -E2BIG, -ENOMEM. */
int library_points(const struct fst_space *space, double **ret_values, unsigned char **ret_left_out,
                   size_t *ret_n);

/* The same as numbers for the models: choices as they are, others by their place in the list. */
int library_space(const struct fst_space *space, const double *values, size_t n, struct space *ret_space);

/* --- values and responses --- */

bool library_is_linear(enum fst_scale scale);
double library_response(enum fst_scale scale, double value);
double library_value(enum fst_scale scale, double response);
/* A tolerance as a difference of responses, and back: a loss of that share, or a time so much longer. */
double library_margin(enum fst_scale scale, double tolerance);
double library_share(enum fst_scale scale, double margin);

#define LIBRARY_MOST_REPLAYS 32

/* Writes 1 to LIBRARY_MOST_REPLAYS responses with the mean and the standard error of the result; how many. */
size_t library_spread(enum fst_scale scale, const struct fst_result *result, double *ret_responses);

/* --- limits on what is measured besides --- */

/* The bounds; the effect's scale is the logarithm of how far it stays within them. */
struct library_limits {
    double bounds[FST_MAX_LIMITS];
    bool at_least[FST_MAX_LIMITS];
    struct effects effects;
};

/* 0, -EINVAL, -ENOMEM; effects_done takes a zeroed one. */
int library_limits_init(struct library_limits *limits, const struct fst_limit *given, size_t n,
                        const struct space *space, uint64_t seed);
bool library_limits_accept(const struct library_limits *limits, const double *effects);
/* 0, -ENOMEM. */
int library_limits_tell(struct library_limits *limits, size_t setting, const double *effects);

/* --- the text that a search can be made from again --- */

struct library_text {
    char *bytes; /* owned */
    size_t n, room;
    bool broken; /* it no longer tells how the search came to where it is */
};

/* Room for so many bytes more, so that what is added next cannot fail. 0, -ENOMEM. */
int library_text_reserve(struct library_text *text, size_t n_bytes);
/* Adds words to a line; there is room. A number is written as its bits. */
void library_text_word(struct library_text *text, const char *word);
void library_text_count(struct library_text *text, uint64_t count);
void library_text_number(struct library_text *text, double number);
void library_text_end_line(struct library_text *text);
uint64_t library_text_digest(const char *bytes, size_t n);

#define LIBRARY_TITLE      "fstune-search 3"
#define LIBRARY_WORD_BYTES ((size_t)24) /* of a count or a number with its space, at most */

/* --- GSL's handler of errors, which ends a process unless told otherwise --- */

void library_guard_enter(void);
void library_guard_leave(void);

/* --- the search --- */

struct fst_search {
    struct fst_options options; /* without pointers */
    enum space_kind kinds[FST_MAX_FACTORS];
    struct space space;
    struct engine engine;
    struct library_limits limits;
    struct library_text text;
    double *values;        /* of the settings; owned */
    unsigned *outstanding; /* by setting, twice: before and after the choice; owned */
    size_t n, n_factors, n_outstanding;
    double used, costs; /* of the budget: at the last fst_ask, and the sum of what was told */
    bool was_asked, is_over;
};

static inline const double *library_values(const struct fst_search *search, size_t setting)
{
    return search->values + setting * search->n_factors;
}

/* Figures of the settings that a function of the program's gives, each a line of the text. */
#define LIBRARY_FIGURES 3
extern const char *const library_figure_words[LIBRARY_FIGURES];

typedef double library_function(const double *values, void *context);

/* Where the options have the function, and where a setting has what it gave. */
library_function **library_function_in(struct fst_options *options, size_t figure);
double *library_figure_in(struct engine_point *point, size_t figure);

/* Adds what is expected of each setting. 0, -ENOSPC, -EINVAL, -ENOMEM. */
int library_learn(struct fst_search *search, const double *means);

/* Begins the text of a search with its space, and options and limits as they were given. 0, -ENOMEM. */
int library_describe(struct fst_search *search, const struct fst_space *space, struct fst_options *options,
                     const unsigned char *left_out);
