/* tuner/session/initial_transient: a cut over the windows of one run. */
#include "tuner/session/initial_transient.h"

#include "models/statistics/batch_means.h"

/* The cut does not depend on the confidence. */
#define ANY_CONFIDENCE 0.95

struct initial_transient initial_transient_of(const struct measure_result *result)
{
    const struct pump_windows *windows = &result->windows;
    struct batch_means inside;
    struct initial_transient transient = {0}, none = {0};
    double rates[PUMP_N_WINDOWS];
    /* The last window was still open when the run ended. */
    size_t n = windows->n > 0 && windows->n <= PUMP_N_WINDOWS ? windows->n - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        rates[i] = (double)windows->bytes[i];
        if (windows->bytes[i] == 0)
            return none;
    }
    if (measure_was_absorbed(result) || n == 0 || batch_means_of(rates, n, ANY_CONFIDENCE, &inside) < 0)
        return none;
    for (size_t i = 0; i < inside.n_cut; i++)
        transient.bytes += windows->bytes[i];
    transient.seconds = (double)inside.n_cut * (double)windows->width_ns * 1e-9;
    uint64_t bytes = result->bytes_read + result->bytes_written;
    return transient.seconds < result->seconds && transient.bytes < bytes ? transient : none;
}
