/* Patterns: what is accepted has shares that sum to 100 and a name that means the same. */
#include "tests/fuzz/fuzz.h"

#include "bench/base/pattern.h"

static void check_accepted(const struct pattern *pattern)
{
    struct pattern again;
    uint32_t sum = 0;
    for (int kind = 0; kind < PATTERN_N_KINDS; kind++)
        sum += pattern->percent[kind];
    FUZZ_CHECK(sum == 100);
    FUZZ_CHECK(memchr(pattern->name, '\0', sizeof(pattern->name)) != NULL);
    FUZZ_CHECK(pattern_parse(pattern->name, &again, NULL) == 0);
    FUZZ_CHECK(strcmp(again.name, pattern->name) == 0);
    FUZZ_CHECK(memcmp(again.percent, pattern->percent, sizeof(again.percent)) == 0);
    FUZZ_CHECK(pattern_reads(pattern) || pattern_writes(pattern));
}

FUZZ_TEXT(text, size)
{
    const struct pattern untouched = {.percent = {7, 7, 7, 7}, .name = "untouched"};
    struct pattern pattern = untouched;
    if (fuzz_refused(pattern_parse(text, &pattern, &fuzz_err)))
        FUZZ_CHECK(memcmp(&pattern, &untouched, sizeof(pattern)) == 0);
    else
        check_accepted(&pattern);
}
