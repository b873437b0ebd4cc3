/* Bytes by time: of one pump, and of several together. */
#include "bench/io/pump.h"

#include <string.h>

void pump_windows_add(struct pump_windows *windows, uint64_t age_ns, uint64_t bytes)
{
    size_t i = age_ns / windows->width_ns;
    for (; i >= PUMP_N_WINDOWS; i = age_ns / windows->width_ns) {
        for (size_t k = 0; k < PUMP_N_WINDOWS / 2; k++)
            windows->bytes[k] = windows->bytes[2 * k] + windows->bytes[2 * k + 1];
        memset(windows->bytes + PUMP_N_WINDOWS / 2, 0, sizeof windows->bytes / 2);
        windows->n = (windows->n + 1) / 2;
        windows->width_ns *= 2;
    }
    windows->bytes[i] += bytes;
    if (windows->n <= i)
        windows->n = i + 1;
}

void pump_windows_merge(struct pump_windows *into, const struct pump_windows *from)
{
    if (into->n == 0) {
        *into = *from;
        return;
    }
    /* Widths are a common start times powers of two: spread nothing, add narrow windows into wide ones. */
    struct pump_windows wide = into->width_ns >= from->width_ns ? *into : *from;
    const struct pump_windows *narrow = into->width_ns >= from->width_ns ? from : into;
    uint64_t ratio = wide.width_ns / narrow->width_ns;
    for (size_t i = 0; i < narrow->n; i++)
        wide.bytes[i / ratio] += narrow->bytes[i];
    /* Threads that end by bytes end one by one: what the last of them do alone is no window of the run. */
    size_t n_narrow = (narrow->n + ratio - 1) / ratio;
    wide.n = n_narrow < wide.n ? n_narrow : wide.n;
    *into = wide;
}
