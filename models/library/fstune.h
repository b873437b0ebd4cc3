/* fstune/fstune.h: libfstune, which looks for the best of many settings by noisy measurements, and says how
 * sure that is.
 *
 * The library decides and calculates; your program measures. It has no thread, no clock, no file, prints
 * nothing, ends no process and has no state outside of what you hold, so several searches may run in several
 * threads, each in one of them at a time. While one of its functions runs in a thread, errors of the GNU
 * Scientific Library do not end the process in that thread; the handler that was set is there again
 * afterwards. Functions return 0 or more, or a negative errno: -EINVAL for what makes no sense, -ENOMEM,
 * -E2BIG for a space of more than FST_MAX_POINTS settings. After a failure all is as before, if nothing else
 * is said.
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
#define FST_MAX_LIMITS  8

/* --- what can be set --- */

struct fst_space;

/* NULL: no memory. */
struct fst_space *fst_space_new(void);
void fst_space_free(struct fst_space *space); /* NULL is allowed, as with the other functions that free */

/* One factor more; its values come in this order in fst_run.values. The name is copied; it is a text of one
 * line. */

/* Powers of two from low to high, both of which are powers of two; neighbours are alike by ratio. */
int fst_space_add_sizes(struct fst_space *space, const char *name, uint64_t low, uint64_t high);
/* These numbers, ascending and finite, 1 or more; neighbours are alike by their place in the list. */
int fst_space_add_levels(struct fst_space *space, const char *name, const double *levels, size_t n);
/* n numbers (2 or more) from low to high at equal distances, or with by_ratio at equal ratios (low > 0). */
int fst_space_add_reals(struct fst_space *space, const char *name, double low, double high, size_t n,
                        int by_ratio);
/* 0 .. n - 1, none of which is between others. n >= 1. */
int fst_space_add_choices(struct fst_space *space, const char *name, size_t n);

/* Leaves out all settings with this value of the one factor and that value of the other; factors are named by
 * their numbers, from 0. As often as wanted. */
int fst_space_not_with(struct fst_space *space, size_t factor, double value, size_t other,
                       double other_value);

/* Leaves out the settings for which `forbidden` returns another value than 0. One function; NULL: none. It is
 * called by fst_search_new alone, once for each setting that is not left out otherwise. */
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

/* What is measured besides, and may not pass a bound: a latency, memory. Values are >= 0, the bound is > 0.
 */
struct fst_limit {
    const char *name; /* a text of one line */
    double bound;
    int at_least; /* the effect has to be at least the bound, not at most */
};

/* To be begun with FST_OPTIONS, so that members of later versions have their defaults. */
struct fst_options {
    size_t size; /* of this structure, as the program that uses it knows it */
    enum fst_scale scale;
    double tolerance;  /* what may be lost for something cheaper: a share > 0, of rates < 1; or a difference >
                          0 */
    double confidence; /* 0.5 .. 0.9999 */
    double budget;     /* of the whole search, in one unit of your choice: seconds, runs, bytes; > 0. No
                          measurement is begun that is expected to pass it, and it is not always used up. Below
                          some ten run_cost hardly anything is found out */
    double run_cost;   /* what a measurement is expected to cost in that unit, as a guess; > 0 */
    uint64_t seed;     /* equal seeds and equal results make equal searches */
    int prefer_best;   /* recommend the best, not the cheapest within the tolerance */
    /* What a setting costs to have, such as memory, >= 0: of two that are as good the cheaper one is
     * recommended. NULL: all cost the same, and any of those within the tolerance may be recommended; without
     * a price, set prefer_best. Called by fst_search_new alone, once for each setting. */
    double (*price)(const double *values, void *context);
    void *context;
    /* The setting that others are compared with, and that is measured first; NULL: there is none. */
    const double *baseline;
    /* Only settings that keep all of these, with the confidence, are recommended. At most FST_MAX_LIMITS. */
    const struct fst_limit *limits;
    size_t n_limits;
    /* For measurements of less than some milliseconds: the share by which the number of measurements grows
     * before the library thinks again, 0 .. 1, 0.5 where it is wanted. It then asks for few settings many
     * times, and may need twice as many measurements to settle the answer. 0: it thinks as often as helps. */
    double growth;
    /* Settings that differ by no more than this count as equally good, which ends the search for a better
     * one: of the kind of the tolerance, and at most that; 0: the tolerance. Less is of use with prefer_best.
     */
    double alike;
    /* The values are rates: work by the unit of the budget, such as bytes a second; with FST_HIGHER alone.
     * What a measurement will cost is then expected of each setting by its rate, and the price is taken to be
     * work in flight (begun and not done), which a measurement does before what counts and at its end. */
    int rates;
    /* What a measurement lasts at least, where something else is around it: > 0, at most run_cost. 0: there
     * is nothing around it. */
    double length;
    /* With rates, the work that a measurement does at least (>= 0), however long that takes. NULL: it ends by
     * time. Called as price is. */
    double (*least_work)(const double *values, void *context);
    /* Of two settings with the same price and latency (struct fst_timing) that with the lower rank is
     * recommended, such as the simpler one; >= 0. NULL: all have the same. Called as price is. */
    double (*rank)(const double *values, void *context);
    /* By so much the first measurements after the choice may pass the budget, so that it is confirmed; >= 0.
     */
    double grace;
};

#define FST_OPTIONS                                                                                          \
    {                                                                                                        \
        .size = sizeof(struct fst_options), .scale = FST_HIGHER, .tolerance = 0.1, .confidence = 0.95,       \
        .budget = 60, .run_cost = 0.1, .seed = 1                                                             \
    }

/* The space and what the options point to may be freed afterwards. NULL with errno set where it is refused.
 */
struct fst_search *fst_search_new(const struct fst_space *space, const struct fst_options *options);
void fst_search_free(struct fst_search *search);
size_t fst_search_size(const struct fst_search *search); /* settings that it may ask for */

/* What an earlier search over the same settings found, of another day, host or phase of the load, steers this
 * one as far as it turns out to predict what is measured here; it never counts as evidence. Before the first
 * fst_ask, at most eight times. -ENODATA: that search knows too little. -EINVAL: its settings are others. */
int fst_learn(struct fst_search *search, const struct fst_search *earlier);

struct fst_run {
    size_t setting;                 /* its number, 0 .. fst_search_size() - 1 */
    double values[FST_MAX_FACTORS]; /* of the factors, in the order in which they were added */
    int confirming; /* the choice is made, and this measures it and what it is compared with once more */
};

#define FST_USED_COSTS (-1.0)

/* The next measurement. used: how much of the budget is used up: seconds since the search began, or
 * FST_USED_COSTS for the sum of the costs that were told; -EINVAL where it is less than before, so keep to
 * one of the two. 1: *ret_run is set. 0: the search is over: the choice is made and was measured again, or
 * the budget holds no further measurement. -EAGAIN: nothing more can be decided before what is outstanding
 * was told.
 *
 * Several measurements, each of another setting (with growth the same ones repeatedly), may be asked for
 * before the first of them is told, to make them at the same time: take what you get until -EAGAIN, then tell
 * any of them and ask again. The search decides in rounds of at most 18, with growth of at most 256, so that
 * a round's last ones come alone; after the choice a round has one for each setting that is compared. What
 * each is told to have cost should then be its share.
 *
 * After -ENOMEM the search may be asked again, but no longer saved. */
int fst_ask(struct fst_search *search, double used, struct fst_run *ret_run);

/* The measurement of these values, to tell of one that was not asked for. -ENOENT: it is none of the space.
 */
int fst_find(const struct fst_search *search, const double *values, struct fst_run *ret_run);

/* What a measurement showed, and what it cost. Only run->setting is looked at, and whether the run was asked
 * for as one that confirms: what is told twice counts twice, and what nobody asked for counts, too. -EINVAL,
 * and the run is outstanding as before: a value that is no number, or not > 0 where values are compared by
 * ratio; a search with limits, which need fst_tell_result. */
int fst_tell(struct fst_search *search, const struct fst_run *run, double value, double cost);

struct fst_result {
    double value, cost;
    /* Where the value is a mean of n measurements: their number and its standard error. 0: it is one
     * measurement. A mean with an error and no number counts as two measurements; more than 32 count as 32
     * with the same standard error. */
    double std_error;
    size_t n;
    const double *effects; /* as many as there are limits, in their order; each >= 0 */
};
int fst_tell_result(struct fst_search *search, const struct fst_run *run, const struct fst_result *result);

/* How a measurement went. To be begun with FST_TIMING, so that members of later versions have their defaults.
 */
struct fst_timing {
    size_t size; /* of this structure, as the program that uses it knows it */
    double used; /* as for fst_ask, when the measurement was over; negative: as it was at the last fst_ask */
    double span; /* of its cost, what counted: the value is of this; negative: the length, or all of its
                    cost where that is less or no length is given */
    double warmup;  /* of its cost, what went before */
    double latency; /* of its requests, on average: of two settings with the same price that with the lower
                       latency is recommended, unless they are alike; 0: unknown */
    int cut;        /* it was ended early, as fst_hopeless allows: it counts until a whole one is told */
    int reserved;   /* 0 */
};

#define FST_TIMING                                                                                           \
    {                                                                                                        \
        .size = sizeof(struct fst_timing), .used = -1, .span = -1                                            \
    }

/* The same with its timing. -EINVAL also: a timing that makes no sense (a span or a warm-up beyond the cost),
 * a cut with a standard error or of a confirming measurement. */
int fst_tell_timed(struct fst_search *search, const struct fst_run *run, const struct fst_result *result,
                   const struct fst_timing *timing);

/* A first measurement of a setting that shows a worse value than this may be ended early, and told as a cut
 * one: as good as the best so far it is hardly. The worst value that there is (0, or an infinite one): it may
 * not. Values that are compared by difference never may. */
double fst_hopeless(const struct fst_search *search, const struct fst_run *run);

/* It could not be made, or did not end in time, and cost so much: its setting is not asked for again. */
int fst_fail(struct fst_search *search, const struct fst_run *run, double cost);
/* It was not made, and says nothing of its setting. -ENOENT: it is not outstanding. */
int fst_withdraw(struct fst_search *search, const struct fst_run *run);
size_t fst_outstanding(const struct fst_search *search); /* asked for, and not told, failed or withdrawn */

/* No more measurements: fst_ask returns 0 from now on. Call it once more before fst_answer, for it makes the
 * choice; what is outstanding need not be told. */
int fst_stop(struct fst_search *search);

/* What is left of the budget at the last fst_ask, and after the choice, so that it may fall at once, what the
 * measurements that confirm it still need at most. */
double fst_to_go(const struct fst_search *search);

/* --- what is known --- */

struct fst_estimate {
    size_t setting;
    double values[FST_MAX_FACTORS];
    double value;     /* of its measurements, those far from the others counting less, and without what all
                         settings shared at a time (a machine that became slower); so it may differ from their
                         mean (geometric where values are compared by ratio) */
    double std_error; /* of it */
    size_t n, n_confirming;
    int equivalent; /* proved by its own measurements to be as good as the best, within the tolerance */
    double kept;    /* probability that it keeps all limits */
};

/* Of any setting, at any time. -ENODATA: it was not measured, failed, or was ruled out as one that breaks a
 * limit. */
int fst_look(const struct fst_search *search, size_t setting, struct fst_estimate *ret_estimate);

/* The best so far of those that probably keep the limits, at any time, for a program that works while it
 * searches. -ENODATA: there is none. */
int fst_best_so_far(const struct fst_search *search, struct fst_estimate *ret_estimate);

struct fst_answer {
    struct fst_estimate recommended;
    struct fst_estimate best; /* of those that keep the limits, as far as is known by now */
    double shortfall; /* what is lost at most against the best of the whole space, with the confidence: a
                         share (of a time: by how much it is longer), or a difference; NaN: not known */
    int conclusive;   /* the shortfall is within the tolerance, and it was measured again after the choice */
};

/* After fst_ask returned 0. -ENODATA: nothing can be recommended, or the search is not over. What is told
 * later changes the estimates and not the choice. */
int fst_answer(const struct fst_search *search, struct fst_answer *ret_answer);

/* --- keeping a search --- */

/* All of the search as a text of ASCII lines, ended by a zero byte that *ret_length does not count, to be
 * freed by fst_text_free. What is outstanding stays so: keep its struct fst_run, or try fst_withdraw with
 * each setting. -ENOTSUP: a lack of memory befell it. */
int fst_save(const struct fst_search *search, char **ret_text, size_t *ret_length);
void fst_text_free(char *text);

/* The search as it was saved (length as fst_save gave it), which goes on as if it had never been away: the
 * same numbers, bit for bit. It takes as long as the library took for it before. NULL with errno: EBADMSG:
 * the text is damaged or cut; ENOTSUP: its version is not known here; ESTALE: this version of the library or
 * of the machine's arithmetic decides otherwise; ENOMEM. */
struct fst_search *fst_load(const char *text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
