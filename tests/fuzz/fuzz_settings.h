/* tests/fuzz: what holds of settings however they came in: every value lies in the range that --help prints.
 * The ranges are written here once more, on purpose. */
#pragma once

#include "tests/fuzz/fuzz.h"

#include "bench/base/factors.h"
#include "tuner/options/settings.h"

static inline void fuzz_check_level(int factor, uint64_t value)
{
    static const uint64_t most[FACTOR_N] = {
        [FACTOR_REQUEST_SIZE] = 512ULL << 20,
        [FACTOR_QUEUE_DEPTH] = 1024,
        [FACTOR_DIRECT] = 1,
        [FACTOR_API] = API_N - 1,
        [FACTOR_THREADS] = 64,
        [FACTOR_SYNC] = SYNC_N - 1,
        [FACTOR_WRITE_SIZE] = 512ULL << 20,
    };
    FUZZ_CHECK(value <= most[factor]);
    if (factor == FACTOR_REQUEST_SIZE || factor == FACTOR_WRITE_SIZE)
        FUZZ_CHECK(value >= 512 && value % 512 == 0);
    if (factor == FACTOR_QUEUE_DEPTH || factor == FACTOR_THREADS)
        FUZZ_CHECK(value >= 1);
}

static inline void fuzz_check_levels(int factor, const struct levels *levels)
{
    FUZZ_CHECK(levels->n <= SETTINGS_MAX_LEVELS);
    for (size_t i = 0; i < levels->n; i++) {
        fuzz_check_level(factor, levels->value[i]);
        FUZZ_CHECK(i == 0 || levels->value[i - 1] < levels->value[i]);
    }
}

static inline void fuzz_check_settings(const struct settings *settings)
{
    for (int factor = 0; factor < FACTOR_N; factor++) {
        fuzz_check_levels(factor, &settings->workload.levels[factor]);
        if (settings->search.current.given[factor])
            fuzz_check_level(factor, settings->search.current.value[factor]);
    }
    FUZZ_CHECK(settings->search.tolerance_share > 0 && settings->search.tolerance_share <= 0.5);
    FUZZ_CHECK(settings->runs.confidence_share >= 0.5 && settings->runs.confidence_share <= 0.999);
    FUZZ_CHECK(settings->file.size_bytes >= 128ULL << 20);
    FUZZ_CHECK(settings->limits.budget_ns >= 1000000000ULL &&
               settings->limits.budget_ns <= 168 * 3600 * 1000000000ULL);
    FUZZ_CHECK(settings->runs.replays >= 1 && settings->runs.replays <= 1000);
    FUZZ_CHECK(memchr(settings->file.path, '\0', sizeof(settings->file.path)) != NULL &&
               settings->file.path[0] != '\0');
}

/* settings_init clears every byte, those between the members too. */
static inline void fuzz_check_untouched(const struct settings *settings)
{
    static struct settings untouched;
    settings_init(&untouched);
    FUZZ_CHECK(
        memcmp((const unsigned char *)settings, (const unsigned char *)&untouched, sizeof(untouched)) == 0);
}
