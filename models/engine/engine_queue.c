/* Runs that are decided on, in random order, each handed out where the time left still holds it. */
#include "models/engine/engine_internal.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/* Share by which one run may take longer than expected. For several runs together it shrinks with the root of
 * their number, but not below the second, because the average itself may be wrong. */
#define COST_MARGIN       0.2
#define LEAST_COST_MARGIN 0.08

bool engine_has_time(const struct engine *engine, double now_seconds, double deadline_seconds, size_t n_runs)
{
    double margin = fmax(COST_MARGIN / sqrt(fmax(1, (double)n_runs)), LEAST_COST_MARGIN);
    double needed = (double)n_runs * engine->run_seconds * (1 + margin);
    return now_seconds + needed <= deadline_seconds;
}

size_t engine_replays(const struct engine *engine, size_t n)
{
    double runs = fmin(engine->growth * (double)engine->n_handed, ENGINE_MAX_QUEUED);
    return runs > (double)n ? (size_t)runs / n : 1;
}

/* In random order; but a search begins with the point that has the least in flight, from whose rate it knows
 * what the others may cost. */
static void put_in_order(struct engine *engine, size_t *points, size_t n)
{
    size_t least = 0;
    gsl_ran_shuffle(engine->rng, points, n, sizeof points[0]);
    if (engine_fastest_bps(engine) > 0)
        return;
    for (size_t i = 1; i < n; i++) {
        if (engine->points[points[i]].in_flight_bytes < engine->points[points[least]].in_flight_bytes)
            least = i;
    }
    size_t point = points[least];
    points[least] = points[0];
    points[0] = point;
}

void engine_queue(struct engine *engine, const size_t *points, size_t n, bool confirming,
                  double deadline_seconds)
{
    engine->queue = (struct engine_queue){.n = n < ENGINE_MAX_QUEUED ? n : ENGINE_MAX_QUEUED,
                                          .confirming = confirming,
                                          .deadline_seconds = deadline_seconds};
    if (engine->queue.n == 0)
        return;
    memcpy(engine->queue.points, points, engine->queue.n * sizeof *points);
    put_in_order(engine, engine->queue.points, engine->queue.n);
}

static bool has_time_for(const struct engine *engine, size_t point, double now_seconds)
{
    const struct engine_queue *queue = &engine->queue;
    double seconds = engine->run_seconds;
    if (point < engine->space->n_points)
        seconds = fmax(seconds, engine->seconds[point]);
    if (queue->confirming)
        seconds += engine->points[point].confirming_wait_seconds - engine->points[point].wait_seconds;
    return now_seconds + seconds * (1 + COST_MARGIN) <= queue->deadline_seconds;
}

/* What is put off may be asked for later, when it promises enough. */
static bool put_off(const struct engine *engine, size_t point)
{
    bool first = engine->phase < ENGINE_EXPLORE || (engine->phase == ENGINE_EXPLORE && engine->was_design);
    if (!first || !engine->search->give_back || engine->queue.confirming ||
        point >= engine->space->n_points || point == engine->baseline || !engine_is_dear(engine, point))
        return false;
    engine->search->give_back(engine->search_state, point);
    return true;
}

bool engine_next(struct engine *engine, double now_seconds, struct engine_run *ret_run)
{
    struct engine_queue *queue = &engine->queue;
    while (queue->next < queue->n && engine->stop == ENGINE_STOP_NOT_YET) {
        size_t point = queue->points[queue->next++];
        if (engine->points[point].failed || put_off(engine, point) ||
            !has_time_for(engine, point, now_seconds))
            continue;
        queue->n_handed++;
        engine->n_handed++;
        *ret_run = (struct engine_run){.point = point, .confirming = queue->confirming};
        return true;
    }
    /* What runs before the choice may not be had out of what is kept for its replays. */
    if (queue->n_refused > 0 && queue->n_handed == 0 && engine->stop == ENGINE_STOP_NOT_YET &&
        engine->phase != ENGINE_CHOICE)
        engine->stop = ENGINE_STOP_WRITES;
    queue->next = queue->n;
    queue->n_refused = 0;
    return false;
}

void engine_refuse(struct engine *engine)
{
    engine->queue.n_handed--;
    engine->queue.n_refused++;
}

size_t engine_list_once(size_t *points, size_t n, size_t point)
{
    for (size_t i = 0; i < n; i++) {
        if (points[i] == point)
            return n;
    }
    if (point == ENGINE_NONE)
        return n;
    points[n] = point;
    return n + 1;
}

size_t engine_list_highest(size_t *points, double *bounds, size_t n, size_t room, size_t point, double bound)
{
    if (n == room && bound <= bounds[n - 1])
        return n;
    size_t place = n < room ? n++ : n - 1;
    for (; place > 0 && bounds[place - 1] < bound; place--) {
        bounds[place] = bounds[place - 1];
        points[place] = points[place - 1];
    }
    bounds[place] = bound;
    points[place] = point;
    return n;
}
