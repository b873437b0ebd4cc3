/* What the device writes in which time. With credit it writes at burst_bps, which uses credit up by what goes
 * beyond rate_bps; idle it earns credit at rate_bps. */
#include "models/cawl/cawl_internal.h"

#include <math.h>

struct cawl_device cawl_device_of(const struct cawl_host *host, const struct cawl_options *options,
                                  bool cached)
{
    double writers = options->n_writers > 1 ? options->n_writers : 1;
    struct cawl_device device = {
        .rate_bps = (cached && options->writeback ? host->bw_writeback_bps : host->bw_dev_bps) / writers};

    if (options->burst_bytes > 0) {
        device.burst_bps = options->burst_bps / writers;
        device.max_credit_bytes = device.credit_bytes = options->burst_bytes / writers;
    }
    if (cached && options->allocation_bps > 0)
        device.per_byte_s = writers / options->allocation_bps;
    return device;
}

static double fast_bps(const struct cawl_device *device)
{
    return 1 / (1 / device->burst_bps + device->per_byte_s);
}

static double slow_bps(const struct cawl_device *device)
{
    return 1 / (1 / device->rate_bps + device->per_byte_s);
}

/* How long the credit lasts when it is written all the time. */
static double fast_seconds(const struct cawl_device *device)
{
    if (!(device->burst_bps > 0))
        return 0;

    double loss_bps = fast_bps(device) - device->rate_bps;

    /* Allocation may hold the device back so much that it earns as it goes. */
    return loss_bps > 0 ? device->credit_bytes / loss_bps : INFINITY;
}

double cawl_device_seconds(const struct cawl_device *device, double bytes)
{
    double fast = fast_seconds(device);

    if (!(fast > 0))
        return bytes / slow_bps(device);

    double most = fast * fast_bps(device);

    return bytes <= most ? bytes / fast_bps(device) : fast + (bytes - most) / slow_bps(device);
}

double cawl_device_bytes(const struct cawl_device *device, double seconds)
{
    double fast = fmin(fast_seconds(device), seconds);

    return (fast > 0 ? fast * fast_bps(device) : 0) + (seconds - fast) * slow_bps(device);
}

void cawl_device_busy(struct cawl_device *device, double seconds)
{
    if (!(device->burst_bps > 0))
        return;

    double left = device->credit_bytes - seconds * (fast_bps(device) - device->rate_bps);

    device->credit_bytes = fmin(fmax(left, 0), device->max_credit_bytes);
}

void cawl_device_idle(struct cawl_device *device, double seconds)
{
    device->credit_bytes = fmin(device->credit_bytes + seconds * device->rate_bps, device->max_credit_bytes);
}
