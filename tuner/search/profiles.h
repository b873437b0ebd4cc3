/* tuner/search/profiles: three answers from one search, along the curve of throughput against mean latency.
 *
 * max-throughput  the cheapest point within the tolerance of the highest throughput: what `recommend` says.
 * balanced        the knee: the highest throughput / latency (models/search/pareto), away from cliffs.
 * low-latency     the lowest mean latency among points that move at least --rate-floor of the highest rate; a
 * rate below it counts against a point in proportion, so that noise at the floor decides nothing.
 *
 * The default floor is a quarter: where a request takes a + s/B, a share x of the highest rate costs 1/(1 -
 * x) of the lowest latency, so that no smaller rate could save more than another quarter of it.
 *
 * For each of them, as for the answer, the cheapest point within the tolerance is taken. */
#pragma once

#include "bench/base/err.h"
#include "models/search/pareto.h"
#include "models/statistics/compare.h"
#include "tuner/options/settings.h"
#include "tuner/search/objective.h"
#include "tuner/session/samples.h"

#include <stdbool.h>
#include <stddef.h>

#define PROFILES_NEAR_LEAST 3 /* measured points around a profile's, or it is not explored enough */

struct tune;

extern const char *const profiles_names[PROFILE_N];

/* Evidence for one profile's point; ratios are to the point of max-throughput. */
struct profiles_verdict {
    double on_front; /* probability that no measured point is better in both by more than the tolerance */
    double on_top;   /* that no measured point fits the profile better by more than the tolerance */
    size_t n_near;   /* measured points within a factor of two of its latency and throughput, with itself */
    size_t n_neighbours, n_neighbours_measured; /* of the space, one level away in one factor */
    bool explored;
    bool confirming; /* figures and ratios come from the replays after the choice */
    struct objective_ratio throughput, latency;
};

struct profiles_rank {
    size_t point;
    double latency_ns; /* mean over all replays, as in its row */
    double on_front;
};

/* Zeroed at the beginning; profiles_done frees what it owns. */
struct profiles {
    bool chosen;             /* the points are valid */
    size_t point[PROFILE_N]; /* indices, or ENGINE_NONE */
    bool judged;             /* the rest is valid */
    struct profiles_verdict verdict[PROFILE_N];
    struct profiles_rank *front; /* measured points that are not dominated, by ascending latency; owned */
    size_t n_front, n_dominated;
};

void profiles_done(struct profiles *profiles);

/* Does the user want several profiles, or the table of points? */
bool profiles_wanted(const struct settings *settings);

/* What a profile looks for, as a response for the models (see objective_response), and its tolerance. */
double profiles_response(const struct settings *settings, enum profile profile, double reference_log_bps,
                         const struct sample *sample);
double profiles_margin(const struct settings *settings, enum profile profile);

struct pareto_score profiles_score(const struct settings *settings, enum profile profile,
                                   double reference_log_bps);

/* Log of the highest rate among points that may be recommended (of all while there is none), with caution
 * where replays are few; -INFINITY before the first. */
double profiles_reference(const struct tune *tune);

/* With --profile balanced: points that are proved to stand at a cliff leave the search for good; they are
 * neither answers nor rivals. 0 or -ENOMEM. */
int profiles_leave_out_steep(struct tune *tune);

/* The measured points as numbers for models/search/pareto. score[p]: contenders by the response of each
 * profile. */
struct profiles_field {
    size_t n;
    size_t *point;
    struct pareto_point *pair;
    struct contender *score[PROFILE_N];
};

/* 0 or -ENOMEM; profiles_field_done takes a zeroed field. */
int profiles_field_of(const struct tune *tune, struct profiles_field *ret_field);
void profiles_field_done(struct profiles_field *field);

/* A measured point up to two octaves away, in size or in depth alone, stands behind a cliff
 * (pareto_is_steep). */
bool profiles_is_steep(const struct tune *tune, const struct profiles_field *field, size_t position);

/* Returns the position in the field of the point that fits best, or ENGINE_NONE. A point with too few replays
 * counts by its lower bound. For balanced, points behind a cliff are passed over. */
size_t profiles_best(const struct tune *tune, const struct profiles_field *field, enum profile profile);

/* Chooses a point for each profile from all replays so far; the answer's own profile is tune->engine.chosen.
 * 0 or -ENOMEM. */
int profiles_choose(struct tune *tune);

/* Fills tune->profiles but for its points. Random numbers are drawn from a generator of its own, so that
 * asking for profiles changes no other draw. 0 or -ENOMEM. */
int profiles_judge(struct tune *tune);

/* Where several profiles are wanted: measures the best point of each and its neighbours and moves to a better
 * neighbour, until all are measured and the first few have enough runs to be compared; for at most a third of
 * the time before the confirmation. Returns as tune_measure. */
int profiles_scout(struct tune *tune, struct err *err);

/* Points of the space one level away in one factor (any other direct, API, sync counts as one). Writes at
 * most `most`; returns how many. */
#define PROFILES_NEIGHBOURS_MOST 32
size_t profiles_neighbours(const struct tune *tune, size_t point, size_t *ret_points, size_t most);
