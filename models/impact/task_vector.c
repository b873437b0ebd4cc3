/* System vector times task vector, and changes between kinds. */
#include "models/impact/task_vector.h"

#include <errno.h>
#include <math.h>

static double between(double low, double high, double share)
{
    return low + share * (high - low);
}

static struct atomic_cost scaled(struct atomic_cost cost, double factor)
{
    return (struct atomic_cost){cost.s * factor, {cost.interval.low * factor, cost.interval.high * factor}};
}

struct atomic_cost task_vector_cost_at(const double *sizes_bytes, const struct atomic_cost *costs, size_t n,
                                       double size_bytes)
{
    if (size_bytes <= sizes_bytes[0])
        return costs[0];
    if (size_bytes >= sizes_bytes[n - 1])
        return scaled(costs[n - 1], size_bytes / sizes_bytes[n - 1]);
    size_t i = 1;
    while (sizes_bytes[i] < size_bytes)
        i++;
    const double share = (size_bytes - sizes_bytes[i - 1]) / (sizes_bytes[i] - sizes_bytes[i - 1]);
    const struct atomic_cost *low = &costs[i - 1], *high = &costs[i];
    return (struct atomic_cost){between(low->s, high->s, share),
                                {between(low->interval.low, high->interval.low, share),
                                 between(low->interval.high, high->interval.high, share)}};
}

/* Of all operations that may take part in a mix, the ones of this kind. */
static double count_of_kind(const struct task_operation *operations, size_t n, size_t kind)
{
    double count = 0;
    for (size_t i = 0; i < n; i++)
        count += operations[i].kind == kind ? operations[i].count : 0;
    return count;
}

static double square(double x)
{
    return isfinite(x) ? x * x : 0;
}

static int is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

int task_vector_predict(const struct task_operation *operations, size_t n, const struct task_mix *mixes,
                        size_t n_mixes, struct task_prediction *ret)
{
    struct task_prediction prediction = {0};
    double low = 0, high = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        const struct task_operation *operation = &operations[i];
        if (!is_amount(operation->count) || !is_amount(operation->cost.s))
            return -EINVAL;
        total += operation->count;
        prediction.uncorrected_s += operation->count * operation->cost.s;
        low += square(operation->count * (operation->cost.s - operation->cost.interval.low));
        high += square(operation->count * (operation->cost.interval.high - operation->cost.s));
    }
    prediction.seconds = prediction.uncorrected_s;
    for (size_t i = 0; i < n_mixes && total > 0; i++) {
        const struct atomic_cost *change = &mixes[i].change;
        const double count = 2 * count_of_kind(operations, n, mixes[i].kinds[0]) *
                             count_of_kind(operations, n, mixes[i].kinds[1]) / total;
        if (!isfinite(change->s))
            return -EINVAL;
        prediction.n_changes += count;
        prediction.seconds += count * change->s;
        low += square(count * (change->s - change->interval.low));
        high += square(count * (change->interval.high - change->s));
    }
    prediction.interval = (struct interval){prediction.seconds - sqrt(low), prediction.seconds + sqrt(high)};
    *ret = prediction;
    return 0;
}
