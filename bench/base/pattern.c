/* bench/base/pattern: reads the names of patterns and writes their one normal form. */
#include "bench/base/pattern.h"

#include "bench/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char known_names[] = "use read, write, randread, randwrite, rw[:READ%], randrw[:READ%] "
                                  "or shares like seq-read=40,rand-write=60";

static const struct named_pattern {
    const char *name;
    enum pattern_kind read, write;
    uint32_t read_percent;
    bool takes_share; /* "rw:70" */
} named_patterns[] = {
    {"read", PATTERN_SEQ_READ, PATTERN_SEQ_WRITE, 100, false},
    {"seqread", PATTERN_SEQ_READ, PATTERN_SEQ_WRITE, 100, false},
    {"write", PATTERN_SEQ_READ, PATTERN_SEQ_WRITE, 0, false},
    {"seqwrite", PATTERN_SEQ_READ, PATTERN_SEQ_WRITE, 0, false},
    {"randread", PATTERN_RAND_READ, PATTERN_RAND_WRITE, 100, false},
    {"randwrite", PATTERN_RAND_READ, PATTERN_RAND_WRITE, 0, false},
    {"rw", PATTERN_SEQ_READ, PATTERN_SEQ_WRITE, 50, true},
    {"randrw", PATTERN_RAND_READ, PATTERN_RAND_WRITE, 50, true},
};

/* By enum pattern_kind: the plain name, and the key of an explicit share. */
static const char *const kind_names[PATTERN_N_KINDS] = {"read", "write", "randread", "randwrite"};
static const char *const kind_keys[PATTERN_N_KINDS] = {"seq-read", "seq-write", "rand-read", "rand-write"};

static bool equals(const char *text, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

static int parse_named(const char *text, struct pattern *pattern, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    const size_t n = sizeof(named_patterns) / sizeof(named_patterns[0]);
    const struct named_pattern *found = NULL;
    for (size_t i = 0; i < n && !found; i++) {
        if (equals(text, length, named_patterns[i].name))
            found = &named_patterns[i];
    }
    if (!found)
        return err_set(err, -EINVAL, "pattern \"%.60s\": unknown; %s", text, known_names);
    if (colon && !found->takes_share)
        return err_set(err, -EINVAL, "pattern \"%.60s\": %s takes no share; %s", text, found->name,
                       known_names);
    uint64_t read_percent = found->read_percent;
    if (colon && units_parse_count(colon + 1, 100, &read_percent) < 0)
        return err_set(err, -EINVAL, "pattern \"%.60s\": reads are a whole percentage, 0..100, as in %s:70",
                       text, found->name);
    pattern->percent[found->read] = (uint32_t)read_percent;
    pattern->percent[found->write] = 100 - (uint32_t)read_percent;
    return 0;
}

/* One "key=percent" of the given length. */
static int parse_share(const char *part, size_t length, struct pattern *pattern, bool seen[PATTERN_N_KINDS],
                       struct err *err)
{
    const int shown = length < 60 ? (int)length : 60;
    const char *equal_sign = memchr(part, '=', length);
    size_t kind = 0;
    while (kind < PATTERN_N_KINDS && equal_sign &&
           !equals(part, (size_t)(equal_sign - part), kind_keys[kind]))
        kind++;
    if (!equal_sign || kind == PATTERN_N_KINDS)
        return err_set(err, -EINVAL,
                       "pattern: \"%.*s\" is not a share; use seq-read=N, seq-write=N, rand-read=N or "
                       "rand-write=N",
                       shown, part);
    if (seen[kind])
        return err_set(err, -EINVAL, "pattern: %s is given twice; give each share once", kind_keys[kind]);
    seen[kind] = true;
    char number[8] = "";
    size_t n_digits = length - (size_t)(equal_sign - part) - 1;
    uint64_t percent = 0;
    if (n_digits < sizeof(number))
        memcpy(number, equal_sign + 1, n_digits);
    if (units_parse_count(number, 100, &percent) < 0)
        return err_set(err, -EINVAL, "pattern: \"%.*s\": a share is a whole number of percent, 0..100", shown,
                       part);
    pattern->percent[kind] = (uint32_t)percent;
    return 0;
}

static int parse_shares(const char *text, struct pattern *pattern, struct err *err)
{
    bool seen[PATTERN_N_KINDS] = {false};
    uint32_t sum = 0;
    const char *part = text;
    for (;;) {
        size_t length = strcspn(part, ",");
        int r = parse_share(part, length, pattern, seen, err);
        if (r < 0)
            return r;
        if (part[length] == '\0')
            break;
        part += length + 1;
    }
    for (size_t i = 0; i < PATTERN_N_KINDS; i++)
        sum += pattern->percent[i];
    if (sum != 100)
        return err_set(err, -EINVAL, "pattern \"%.80s\": the shares sum to %" PRIu32 "; make them 100", text,
                       sum);
    return 0;
}

static void write_shares(struct pattern *pattern)
{
    size_t used = 0;
    for (size_t i = 0; i < PATTERN_N_KINDS; i++) {
        if (pattern->percent[i] == 0)
            continue;
        int n = snprintf(pattern->name + used, sizeof(pattern->name) - used, "%s%s=%" PRIu32,
                         used > 0 ? "," : "", kind_keys[i], pattern->percent[i]);
        used += (size_t)n;
    }
}

/* However a mix was written, it gets the same name: measurements are looked up by it. */
static void normalise_name(struct pattern *pattern)
{
    const uint32_t *percent = pattern->percent;
    for (size_t i = 0; i < PATTERN_N_KINDS; i++) {
        if (percent[i] == 100) {
            snprintf(pattern->name, sizeof(pattern->name), "%s", kind_names[i]);
            return;
        }
    }
    uint32_t sequential = percent[PATTERN_SEQ_READ] + percent[PATTERN_SEQ_WRITE];
    if (sequential == 100)
        snprintf(pattern->name, sizeof(pattern->name), "rw:%" PRIu32, percent[PATTERN_SEQ_READ]);
    else if (sequential == 0)
        snprintf(pattern->name, sizeof(pattern->name), "randrw:%" PRIu32, percent[PATTERN_RAND_READ]);
    else
        write_shares(pattern);
}

int pattern_parse(const char *text, struct pattern *ret_pattern, struct err *err)
{
    struct pattern pattern = {0};
    int r = strchr(text, '=') ? parse_shares(text, &pattern, err) : parse_named(text, &pattern, err);
    if (r < 0)
        return r;
    normalise_name(&pattern);
    *ret_pattern = pattern;
    return 0;
}

bool pattern_reads(const struct pattern *pattern)
{
    return pattern->percent[PATTERN_SEQ_READ] > 0 || pattern->percent[PATTERN_RAND_READ] > 0;
}

bool pattern_writes(const struct pattern *pattern)
{
    return pattern->percent[PATTERN_SEQ_WRITE] > 0 || pattern->percent[PATTERN_RAND_WRITE] > 0;
}

bool pattern_is_random(const struct pattern *pattern)
{
    return pattern->percent[PATTERN_RAND_READ] > 0 || pattern->percent[PATTERN_RAND_WRITE] > 0;
}
