/* fstune/fstune.h: libfstune, which looks for the best of many settings by noisy measurements, and says how
 * sure that is.
 *
 * The library decides and calculates; your program measures. It has no thread, no clock, no file, prints
 * nothing, ends no process and has no state outside of what you hold, so several searches may run in several
 * threads, each in one of them. Functions return 0, or a negative errno: -EINVAL for what makes no sense,
 * -ENOMEM, -E2BIG for a space of more than FST_MAX_POINTS settings. One thing is changed for the whole
 * process: fst_search_new turns off the GNU Scientific Library's handler that ends a process at an error.
 *
 *     struct fst_space *space = fst_space_new();
 *     fst_space_add_sizes(space, "block", 4096, 1 << 20);
 *     fst_space_add_choices(space, "direct", 2);
 *     struct fst_options options = FST_OPTIONS;
 *     struct fst_search *search = fst_search_new(space, &options);
 *     struct fst_run run;
 *     while (fst_ask(search, seconds_since_start(), &run) == 1) {
 *         double seconds, rate = measure(run.values[0], run.values[1] != 0, &seconds);
 *         fst_tell(search, &run, rate, seconds);
 *     }
 *     struct fst_answer answer;
 *     fst_answer(search, &answer);
 */
#ifndef FSTUNE_FSTUNE_H
#define FSTUNE_FSTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FST_MAX_FACTORS 8
#define FST_MAX_POINTS  100000

/* --- what can be set --- */

struct fst_space;

/* NULL: no memory. */
struct fst_space *fst_space_new(void);
void fst_space_free(struct fst_space *space);

/* One factor more; its values come in this order in fst_run.values. The name is copied. */

/* Powers of two from low to high, both of which are powers of two; neighbours are alike by ratio. */
int fst_space_add_sizes(struct fst_space *space, const char *name, uint64_t low, uint64_t high);
/* These numbers, ascending and finite, 2 or more; neighbours are alike by their place in the list. */
int fst_space_add_levels(struct fst_space *space, const char *name, const double *levels, size_t n);
/* 0 .. n - 1, none of which is between others. n >= 2. */
int fst_space_add_choices(struct fst_space *space, const char *name, size_t n);

/* Leaves out the settings for which `forbidden` returns another value than 0. One function; NULL: none. It is
 * called by fst_search_new alone. */
void fst_space_forbid(struct fst_space *space, int (*forbidden)(const double *values, void *context),
                      void *context);

/* --- the search --- */

struct fst_search;

enum fst_scale {
    FST_HIGHER,        /* the higher the better, compared by ratio; values are > 0: rates */
    FST_LOWER,         /* the lower the better, compared by ratio; values are > 0: times */
    FST_HIGHER_LINEAR, /* compared by difference */
    FST_LOWER_LINEAR
};

/* To be begun with FST_OPTIONS, so that members of later versions have their defaults. */
struct fst_options {
    enum fst_scale scale;
    double tolerance;      /* what may be lost for something cheaper: a share, or a difference; > 0 */
    double confidence;     /* 0.5 .. 0.9999 */
    double budget_seconds; /* of the whole search, by the times that fst_ask is given; > 0 */
    double run_seconds;    /* what a measurement is expected to take, as a guess; > 0 */
    uint64_t seed;         /* equal seeds and equal results make equal searches */
    int prefer_best;       /* recommend the best, not the cheapest within the tolerance */
    /* What a setting costs to have, such as memory: of two that are as good the cheaper one is recommended.
     * NULL: all cost the same. Called by fst_search_new alone. */
    double (*price)(const double *values, void *context);
    void *context;
    /* The setting that others are compared with, and that is measured first; NULL: there is none. */
    const double *baseline;
};

#define FST_OPTIONS                                                                                          \
    {                                                                                                        \
        .scale = FST_HIGHER, .tolerance = 0.1, .confidence = 0.95, .budget_seconds = 60, .run_seconds = 0.1, \
        .seed = 1                                                                                            \
    }

/* The space may be freed afterwards. NULL with errno set where it is refused. */
struct fst_search *fst_search_new(const struct fst_space *space, const struct fst_options *options);
void fst_search_free(struct fst_search *search);
size_t fst_search_size(const struct fst_search *search); /* settings that it may ask for */

struct fst_run {
    size_t setting;                 /* its number, 0 .. fst_search_size() - 1 */
    double values[FST_MAX_FACTORS]; /* of the factors, in the order in which they were added */
    int confirming; /* the choice is made, and this measures it and what it is compared with once more */
};

/* The next measurement; seconds: since the search began, never less than before. 1: *ret_run is set. 0: the
 * search is over. */
int fst_ask(struct fst_search *search, double seconds, struct fst_run *ret_run);

/* What a measurement showed, and what it took. */
int fst_tell(struct fst_search *search, const struct fst_run *run, double value, double seconds);
/* It could not be made: this setting is not asked for again. */
int fst_fail(struct fst_search *search, const struct fst_run *run);
/* No more measurements: fst_ask returns 0 from now on. */
void fst_stop(struct fst_search *search);

struct fst_estimate {
    size_t setting;
    double values[FST_MAX_FACTORS];
    double value; /* mean of its measurements, geometric where values are compared by ratio */
    size_t n, n_confirming;
};

struct fst_answer {
    struct fst_estimate recommended, best;
    double shortfall; /* what is lost at most against the best of the whole space, with the confidence: a
                         share (of a time: by how much it is longer), or a difference; NaN: not known */
    int conclusive;   /* the shortfall is within the tolerance, and it was measured again after the choice */
};

/* After fst_ask returned 0. -ENODATA: nothing can be recommended. */
int fst_answer(const struct fst_search *search, struct fst_answer *ret_answer);

#ifdef __cplusplus
}
#endif

#endif
