/* Patterns: what is accepted has shares that sum to 100 and a name that means the same. */
#include "tests/fuzz/fuzz.h"

#include "bench/base/pattern.h"

static void check_accepted(const struct pattern *pattern)
{
    struct pattern again;
    struct err err = {0};
    uint32_t sum = 0;
    for (int kind = 0; kind < PATTERN_N_KINDS; kind++)
        sum += pattern->percent[kind];
    FUZZ_CHECK(sum == 100);
    FUZZ_CHECK(memchr(pattern->name, '\0', sizeof(pattern->name)) != NULL);
    FUZZ_CHECK(pattern_parse(pattern->name, &again, &err) == 0);
    FUZZ_CHECK(strcmp(again.name, pattern->name) == 0);
    FUZZ_CHECK(memcmp(again.percent, pattern->percent, sizeof(again.percent)) == 0);
    FUZZ_CHECK(pattern_reads(pattern) || pattern_writes(pattern));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pattern untouched = {.percent = {7, 7, 7, 7}, .name = "untouched"};
    struct pattern pattern = untouched;
    struct err err = {0};
    char *text = fuzz_text(data, size);
    int code = pattern_parse(text, &pattern, &err);
    if (code == 0) {
        check_accepted(&pattern);
    } else {
        fuzz_check_error(code, &err);
        FUZZ_CHECK(memcmp(&pattern, &untouched, sizeof(pattern)) == 0);
    }
    free(text);
    return 0;
}
