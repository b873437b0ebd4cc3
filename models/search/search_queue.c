/* A list of points handed out one after the other. */
#include "models/search/search_queue.h"

#include <errno.h>
#include <stdlib.h>

int search_queue_init(struct search_queue *queue, const struct space *space, const struct design_ops *design,
                      size_t n, gsl_rng *rng)
{
    struct search_queue filled = {.points = malloc((n + 1) * sizeof(*filled.points))};
    int result = filled.points ? design->draw(space, n, rng, filled.points, &filled.n) : -ENOMEM;

    if (result) {
        free(filled.points);
        return result;
    }
    *queue = filled;
    return 0;
}

void search_queue_done(struct search_queue *queue)
{
    free(queue->points);
    *queue = (struct search_queue){0};
}

size_t search_queue_take(struct search_queue *queue, const struct belief *belief, size_t want,
                         size_t *ret_points)
{
    size_t n = 0;

    while (n < want && queue->next < queue->n) {
        size_t point = queue->points[queue->next++];

        if (belief->moments[point].n == 0 && !belief->excluded[point])
            ret_points[n++] = point;
    }
    return n;
}
