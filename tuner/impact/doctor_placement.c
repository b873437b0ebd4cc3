/* Whether a program is faster on the processors that the requests of the disk end on. The scheduler's choice
 * of a processor may last as long as a program runs, and then differs from the next program's. */
#include "bench/host/interrupts.h"
#include "tuner/impact/doctor.h"

#include <math.h>

static cpu_set_t allowed;

void doctor_placement_find(const struct hostinfo_device *device, struct doctor_placement *placement)
{
    cpu_set_t ends;
    CPU_ZERO(&placement->there);
    if (interrupts_find(device, &ends) < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_AND(&placement->there, &ends, &allowed);
    if (CPU_EQUAL(&placement->there, &allowed))
        CPU_ZERO(&placement->there);
}

static bool is_known(const struct doctor_placement *placement)
{
    return CPU_COUNT(&placement->there) > 0;
}

/* There, elsewhere, elsewhere, there: a disk that gets slower or faster favours neither. */
static bool is_there(size_t run)
{
    return run % 4 == 0 || run % 4 == 3;
}

void doctor_placement_go(struct doctor_placement *placement, size_t run)
{
    cpu_set_t elsewhere;
    if (!is_known(placement))
        return;
    CPU_XOR(&elsewhere, &allowed, &placement->there);
    if (sched_setaffinity(0, sizeof allowed, is_there(run) ? &placement->there : &elsewhere) != 0)
        CPU_ZERO(&placement->there);
}

void doctor_placement_leave(void)
{
    if (CPU_COUNT(&allowed) > 0)
        (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

void doctor_placement_compare(struct doctor_placement *placement, double *throughput_bps, size_t n)
{
    struct moments logs[2] = {{0}, {0}}, rates[2] = {{0}, {0}};
    placement->there_bps = placement->elsewhere_bps = placement->ratio.low = placement->ratio.high = NAN;
    if (!is_known(placement) || n < 4)
        return;
    for (size_t i = 0; i < n; i++) {
        moments_add(&logs[is_there(i)], log(throughput_bps[i]));
        moments_add(&rates[is_there(i)], throughput_bps[i]);
    }
    const struct interval difference = welch_interval(welch_of(logs[1], logs[0]), DOCTOR_NOISE_CONFIDENCE);
    placement->ratio = (struct interval){exp(difference.low), exp(difference.high)};
    placement->there_bps = rates[1].mean;
    placement->elsewhere_bps = rates[0].mean;
    const double mean = ((double)rates[1].n * rates[1].mean + (double)rates[0].n * rates[0].mean) / (double)n;
    for (size_t i = 0; i < n; i++)
        throughput_bps[i] *= mean / rates[is_there(i)].mean;
}
