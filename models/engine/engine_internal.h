/* What the parts of models/engine share. */
#pragma once

#include "models/engine/engine.h"

#define ENGINE_BLOCK_POINTS 6 /* of a block of the race, each once */

/* --- what is known from elsewhere --- */

/* Points that show what has changed since then. */
size_t engine_known_probes(const struct engine *engine, size_t *ret_points, size_t room);

/* --- exploration and race: what to run next --- */

/* How often each of n (> 0) points is run before the next decision: as often as the growth asked for wants
 * it, which makes n times that at most ENGINE_MAX_QUEUED; at least once. */
size_t engine_replays(const struct engine *engine, size_t n);

/* Both queue the next runs, or leave n_handed runs behind and set *ret_over. 0 or a negative errno. */
int engine_explore(struct engine *engine, double now_seconds, bool *ret_over);
int engine_race(struct engine *engine, double now_seconds, bool *ret_over);

/* Until when a race that knows a best point may go on: while the time left still holds the replays of that
 * point and of what it is compared with, and at least as long as planned. */
double engine_race_end_seconds(const struct engine *engine);

/* Lists at most `most` (1..ENGINE_MAX_LISTED) points that were hardly measured and may be isolated fast ones,
 * the most likely by the second of a run first. None where other points are the larger risk for the choice,
 * or where a few runs would settle too little. risk: the probability that one of these disproves it. */
size_t engine_list_lone_peaks(const struct engine *engine, double risk, size_t most, size_t *ret_points);

/* Points with less in flight than the chosen one that may do instead and have too few runs to tell, the
 * cheapest first; at most room (1..ENGINE_MAX_LISTED). After engine_choose. */
size_t engine_list_cheaper(const struct engine *engine, size_t *ret_points, size_t room);

/* A point within this of the known ceiling reaches it; a difference of logs. */
double engine_ceiling_margin(const struct engine *engine);

/* Whether a point's own replays say on average (few of them with the surrogate), or prove, that it reaches
 * the known ceiling; and whether some point is believed to. */
bool engine_seems_at_ceiling(const struct engine *engine, size_t point);
bool engine_is_at_ceiling(const struct engine *engine, size_t point);
bool engine_nears_ceiling(const struct engine *engine);

/* Points that may reach the ceiling with less in flight than the best, those first that promise most; at most
 * room (1..ENGINE_MAX_LISTED). After engine_choose. */
size_t engine_list_at_ceiling(const struct engine *engine, size_t *ret_points, size_t room);

/* Whether the baseline was measured; before that nobody can say whether a point may be better than it. */
bool engine_knows_baseline(const struct engine *engine);

/* Whether the upper bound of a point's response lies above the baseline by more than the margin. The bound
 * comes from the point's own runs where it has any, else from the surrogate. */
bool engine_has_chance(const struct engine *engine, size_t point);

/* Whether that bound lies above what another, measured point is worth. */
bool engine_may_beat(const struct engine *engine, size_t point, size_t other);

/* All points with a chance, the highest upper bound first; at most room (1..ENGINE_MAX_LISTED). */
size_t engine_list_chances(const struct engine *engine, size_t *ret_points, size_t room);

/* Whether a point that was never measured would take so long, even if it were much faster than all others,
 * that a first design goes without it: the search asks for it once it may be worth that. */
bool engine_is_dear(const struct engine *engine, size_t point);

/* --- the choice and its replays --- */

/* Lists what is to be replayed, and until when. */
void engine_confirm_list(struct engine *engine, double now_seconds);
/* When the least number of replays of the chosen point has to begin. */
double engine_confirm_begin_seconds(const struct engine *engine);
/* Whether the time and the bytes left hold the least number of replays of the chosen point. */
bool engine_can_confirm(const struct engine *engine, double now_seconds);
/* Fixes the number of replays. */
void engine_confirm_plan(struct engine *engine, double now_seconds);
/* Queues the next of them; false: all are made, or no more can be. */
bool engine_confirm_next(struct engine *engine);

/* A point that is proved to be as good, or of which no more than the margin is expected to be lost. */
bool engine_is_good_enough(const struct engine *engine, size_t best, size_t point);

/* Sets what is claimed of the chosen point. 0 or -ENOMEM. */
int engine_judge(struct engine *engine);

/* --- the limit on latency --- */

/* It will hardly keep the limit, measured or not. */
bool engine_is_hopeless(const struct engine *engine, size_t point);

/* What one more run may settle of that question, 0..1/4. */
double engine_limit_open(const struct engine *engine, size_t point);

/* Points that look better than the best one, and of which a run more may show that they keep the limits on
 * effects; the best first, at most room (1..ENGINE_MAX_LISTED). After engine_choose. */
size_t engine_list_unproved(const struct engine *engine, size_t *ret_points, size_t room);

void engine_limit_tell(struct engine *engine, size_t point, const struct engine_result *result);

/* Sets engine->feasible, also for the belief. */
void engine_limit_expect(struct engine *engine);
