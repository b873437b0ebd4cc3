/* tuner/picture/plot: the kinds of pictures. */
#include "tuner/picture/plot.h"

#include <string.h>

static const struct plot_ops *const kinds[] = {
    &plot_bars,       &plot_bars3d,      &plot_lines,  &plot_heatmap, &plot_percentiles,
    &plot_time,       &plot_convergence, &plot_pareto, &plot_rate,    &plot_history,
    &plot_prediction, &plot_atoms,       &plot_cost,   &plot_profile};

const struct plot_ops *plot_row(size_t i)
{
    return i < sizeof kinds / sizeof kinds[0] ? kinds[i] : NULL;
}

const struct plot_ops *plot_find(const char *name)
{
    const struct plot_ops *ops;
    for (size_t i = 0; (ops = plot_row(i)) != NULL; i++) {
        if (strcmp(ops->name, name) == 0)
            return ops;
    }
    return NULL;
}
