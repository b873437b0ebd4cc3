/* tuner/profile/profile_advice: from what was seen to what can be asked. */
#include "tuner/profile/profile_advice.h"

#include "bench/base/units.h"

#include <math.h>
#include <stdio.h>

/* Shares of requests: of a program that has few sizes, and of nearly all. */
#define FEW_SIZES_SHARE 0.8
#define NEARLY_ALL      0.9
#define MANY_THREADS    1.5 /* mean depth from which threads are in their calls at the same time */

bool profile_advice_name(const unsigned percent[SUMMARY_N_KINDS], char name[PATTERN_NAME_SIZE])
{
    struct pattern pattern;
    char text[PATTERN_NAME_SIZE];
    snprintf(text, sizeof text, "seq-read=%u,seq-write=%u,rand-read=%u,rand-write=%u",
             percent[SUMMARY_SEQ_READ], percent[SUMMARY_SEQ_WRITE], percent[SUMMARY_RAND_READ],
             percent[SUMMARY_RAND_WRITE]);
    if (pattern_parse(text, &pattern, NULL) < 0)
        return false;
    snprintf(name, PATTERN_NAME_SIZE, "%s", pattern.name);
    return true;
}

static uint64_t in_range(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Of a direction: sizes are not told apart by the order of the requests. */
static const struct summary_sizes *sizes_of(const struct summary *summary, bool is_random)
{
    const struct summary_sizes *reads = &summary->sizes[PROFILE_READ],
                               *writes = &summary->sizes[PROFILE_WRITE];
    if (is_random)
        return summary->share[SUMMARY_RAND_READ] >= summary->share[SUMMARY_RAND_WRITE] ? reads : writes;
    return reads->n >= writes->n ? reads : writes;
}

/* Of a program's few sizes the one that moves the most bytes: looks at a header of some bytes go with each
 * page of a database. Else half of its requests are no longer than this. */
static uint64_t size_that_counts(const struct summary_sizes *sizes)
{
    uint64_t n = 0, size = 0, most_bytes = 0;
    for (size_t i = 0; i < sizes->n_modes; i++) {
        const struct bins_mode *mode = &sizes->modes[i];
        n += mode->n;
        if (mode->n * mode->value > most_bytes) {
            most_bytes = mode->n * mode->value;
            size = mode->value;
        }
    }
    return (double)n >= FEW_SIZES_SHARE * (double)sizes->n && size > 0 ? size : sizes->p50;
}

/* Random requests have the size of what the program keeps, and it is known where nearly all requests are
 * random or have one size; sequential ones can be made of any size. Whole sectors are what a direct request
 * has to be made of. */
static void take_sizes(struct profile_advice *advice, const struct summary *summary)
{
    const double random_share = summary->share[SUMMARY_RAND_READ] + summary->share[SUMMARY_RAND_WRITE];
    const struct summary_sizes *sizes = sizes_of(summary, random_share >= 0.5);
    const bool is_one = sizes->n_modes > 0 && (double)sizes->modes[0].n >= NEARLY_ALL * (double)sizes->n;
    const uint64_t bytes = is_one ? sizes->modes[0].value : size_that_counts(sizes);
    advice->level[FACTOR_REQUEST_SIZE] =
        in_range((bytes + 511) / 512 * 512, FACTORS_REQUEST_SIZE_MIN_BYTES, FACTORS_REQUEST_SIZE_MAX_BYTES);
    advice->fixed[FACTOR_REQUEST_SIZE] = random_share >= NEARLY_ALL || (random_share >= 0.5 && is_one);
}

static void take_depth(struct profile_advice *advice, const struct summary *summary)
{
    bool is_async = summary->async_share >= 0.5;
    uint64_t depth = (uint64_t)llround(fmax(1, summary->depth_mean));
    bool is_threaded = !is_async && summary->n_threads > 1 && summary->depth_mean >= MANY_THREADS;
    uint64_t threads = summary->n_threads < summary->depth_max ? summary->n_threads : summary->depth_max;
    advice->level[FACTOR_QUEUE_DEPTH] = is_async ? in_range(depth, 1, FACTORS_QUEUE_DEPTH_MAX) : 1;
    advice->level[FACTOR_THREADS] = is_threaded ? in_range(threads, 1, FACTORS_THREADS_MAX) : 1;
    advice->fixed[FACTOR_THREADS] = true;
    advice->level[FACTOR_API] = !is_async ? API_PSYNC : summary->uses_rings ? API_IO_URING : API_LIBAIO;
}

/* What is flushed now and then is measured with its flush at the end: nothing between stands for it. */
static void take_sync(struct profile_advice *advice, const struct summary *summary)
{
    static const enum sync syncs[] = {[SUMMARY_SYNC_NONE] = SYNC_NONE,
                                      [SUMMARY_SYNC_END] = SYNC_END,
                                      [SUMMARY_SYNC_EACH] = SYNC_EACH,
                                      [SUMMARY_SYNC_EVERY] = SYNC_END};
    advice->level[FACTOR_SYNC] = syncs[summary->sync];
    /* Without a flush a measurement of writes would be one of memory; the default, at the end, stays then. */
    advice->fixed[FACTOR_SYNC] = summary->sync == SUMMARY_SYNC_EACH;
}

void profile_advice_make(struct profile_advice *advice, const struct summary *summary)
{
    *advice = (struct profile_advice){0};
    advice->has_pattern = summary->is_enough && profile_advice_name(summary->percent, advice->pattern);
    take_sizes(advice, summary);
    take_depth(advice, summary);
    take_sync(advice, summary);
    advice->level[FACTOR_DIRECT] = summary->direct_share >= 0.5;
}

const char *profile_advice_level(const struct profile_advice *advice, enum factor factor, char *buffer)
{
    uint64_t level = advice->level[factor];
    if (factor == FACTOR_API)
        return api_names[level];
    if (factor == FACTOR_SYNC)
        return sync_names[level];
    if (factor == FACTOR_REQUEST_SIZE)
        return units_format_size(level, buffer);
    snprintf(buffer, UNITS_TEXT_SIZE, "%llu", (unsigned long long)level);
    return buffer;
}
