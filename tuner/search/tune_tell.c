/* Tells the belief of a replay. */
#include "tuner/search/tune.h"

#include <math.h>

bool tune_is_of_throughput(const struct tune *tune)
{
    return tune->settings->search.objective == OBJECTIVE_THROUGHPUT &&
           tune->settings->search.profile == PROFILE_MAX_THROUGHPUT;
}

double tune_response(const struct tune *tune, const struct sample *sample)
{
    return objective_response(tune->settings, tune->reference_log_bps, sample);
}

int tune_tell_again(struct tune *tune)
{
    int result = 0;
    for (size_t i = 0; i < tune->space.n_points; i++) {
        belief_forget(&tune->belief, i);
        for (size_t k = 0; k < tune->records[i].n && result == 0; k++)
            result = belief_tell(&tune->belief, i, tune_response(tune, &tune->records[i].samples[k]));
    }
    return result;
}

/* Leaves the point out, not only this replay: few requests may be due to a slow tail, and leaving such
 * replays out would favour the slow points. */
static void leave_out(struct tune *tune, size_t point)
{
    char text[FACTORS_TEXT_SIZE];
    if (tune->belief.excluded[point])
        return;
    belief_exclude(&tune->belief, point);
    tune->n_unsupported++;
    notes_add(&tune->session->dropped, factors_format(&tune->records[point].point, text),
              "a run has too few requests for a p99; a longer --duration would have more");
}

int tune_tell(struct tune *tune, size_t point, const struct sample *sample)
{
    /* The rate floor of low-latency is a share of the highest rate known: a new one changes every
     * response. */
    if (tune->settings->search.profile == PROFILE_LOW_LATENCY) {
        double reference = profiles_reference(tune);
        if (reference != tune->reference_log_bps) {
            tune->reference_log_bps = reference;
            return tune_tell_again(tune);
        }
    }
    double response = tune_response(tune, sample);
    if (isfinite(response))
        return belief_tell(&tune->belief, point, response);
    leave_out(tune, point);
    return 0;
}
