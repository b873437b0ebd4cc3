/* tuner/session/initial_transient: a cut over the windows of one run. */
#include "tuner/session/initial_transient.h"

#include "models/statistics/batch_means.h"

/* The cut does not depend on the confidence. */
#define ANY_CONFIDENCE 0.95

struct initial_transient initial_transient_of(const struct measure_result *result)
{
    const struct pump_windows *windows = &result->windows;
    struct batch_means inside;
    struct initial_transient none = {.rate_ratio = 1};
    double rates[PUMP_N_WINDOWS], all = 0, cut = 0;
    /* The last window was still open when the run ended. */
    size_t n = windows->n > 0 && windows->n <= PUMP_N_WINDOWS ? windows->n - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        all += rates[i] = (double)windows->bytes[i];
        if (windows->bytes[i] == 0)
            return none;
    }
    if (measure_was_absorbed(result) || n == 0 || batch_means_of(rates, n, ANY_CONFIDENCE, &inside) < 0)
        return none;
    for (size_t i = 0; i < inside.n_cut; i++)
        cut += rates[i];
    double seconds = (double)inside.n_cut * (double)windows->width_ns * 1e-9;
    double left = (double)(n - inside.n_cut) / (double)n;
    if (seconds >= result->seconds || !(left > 0))
        return none;
    return (struct initial_transient){.seconds = seconds, .rate_ratio = (1 - cut / all) / left};
}
