/* models/statistics/run_length: how long should runs be, where each costs set-up and warm-up beside its
 * length?
 *
 * The variance of the log of a run's rate is taken as
 *     Var(T) = between x g(T / tau) + within / T,
 * with g(x) = (2 / x) (1 - (1 - exp(-x)) / x): the share of a disturbance of correlation time tau that a mean
 * over T keeps; g = 1 where tau is infinite. A run of length T costs overhead + T, and runs are worth their
 * number over their variance: the best length minimises (overhead + T) Var(T). Where tau is infinite and
 * every run lasts T that is sqrt(overhead x within / between) (Cochran 1977, "Sampling techniques",
 * section 10.6, the optimal subsampling rate). The optimum is flat, and short runs teach about more points:
 * the shortest length within RUN_LENGTH_FLAT of the optimum is taken. */
#pragma once

#include <stddef.h>

#define RUN_LENGTH_FLAT     0.10
#define RUN_LENGTH_LEAST_DF 4.0 /* with fewer degrees of freedom of replays nothing is decided */

/* What runs of one point showed. */
struct run_length_point {
    double overhead_seconds; /* that a run takes beside its length; >= 0 */
    double within;        /* T x variance of the log of its mean rate, by what happens inside a run; >= 0 */
    double least_seconds; /* a run of this point never lasts less: its requests are slow; >= 0 */
};

/* Replays of one length: variance of their log rates, pooled over points. */
struct run_length_replays {
    double seconds, variance, df;
};

struct run_length_facts {
    const struct run_length_point *points;
    size_t n_points;
    const struct run_length_replays *replays;
    size_t n_replays;
    double prior_variance; /* expected of replays, > 0; counts as RUN_LENGTH_LEAST_DF degrees of freedom */
    double shortest_seconds, longest_seconds; /* that may be chosen; 0 < shortest <= longest */
};

enum run_length_why {
    RUN_LENGTH_UNKNOWN,  /* not enough known: the shortest */
    RUN_LENGTH_SHORTEST, /* longer runs would cost more than they teach */
    RUN_LENGTH_LONGER,   /* set-up costs so much, or requests scatter so much, that longer runs teach more */
    RUN_LENGTH_CAPPED    /* the same, and even longer ones were not allowed */
};

struct run_length {
    double seconds;
    enum run_length_why why;
    double between;     /* variance */
    double tau_seconds; /* infinite: nothing speaks for a disturbance that passes within a run */
    double worth;       /* information per second by that of the shortest length, >= 1 */
};

struct run_length run_length_choose(const struct run_length_facts *facts);

/* T x variance of the log of the mean of a run that lasted `seconds`, from its rates over n windows of equal
 * length: the scatter of RUN_LENGTH_BATCHES batch means, so that correlation over less than a batch counts.
 * NaN where there are too few windows or a batch is empty. */
#define RUN_LENGTH_BATCHES 8
double run_length_within(const double *rates, size_t n, double seconds);

/* Does the start of runs differ from the rest? log_ratios: of each run, its early rate by its late one.
 * Apart: their mean is beyond RUN_LENGTH_START and beyond chance. Alike: chance included, it is within that.
 * Chance is two-sided 10 %: a false alarm costs only a few longer runs. Fewer than 4 runs: unknown. */
#define RUN_LENGTH_START 0.05
enum run_length_start { RUN_LENGTH_START_UNKNOWN, RUN_LENGTH_START_ALIKE, RUN_LENGTH_START_APART };
enum run_length_start run_length_start_of(const double *log_ratios, size_t n);

/* Share of the later half of a run in which nothing moved for longer than `pause` windows on end. rates: over
 * n windows of equal length; NaN for fewer than RUN_LENGTH_IDLE_LEAST. */
#define RUN_LENGTH_IDLE_LEAST 16
double run_length_idle(const double *rates, size_t n, double pause);

/* Logarithm of the mean rate of a run over [from, from + length] by its settled rate, the mean of the later
 * half of `rates` (as above, over `seconds` from the start on, of any unit). What comes after these counts as
 * settled. */
double run_length_start_log(const double *rates, size_t n, double seconds, double from_seconds,
                            double length_seconds);
