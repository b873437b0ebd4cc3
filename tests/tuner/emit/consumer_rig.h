/* tests/tuner/emit/consumer_rig: answers made to order, and what a format makes of them. */
#pragma once

#include "tests/test.h"
#include "tuner/emit/snippet.h"

#include <errno.h>

static struct recommendation advices[4];
static struct snippet_request request;
static json_t *documents[4];
static struct err err;
static char *text;

static inline struct recommendation *make_nth(size_t i, const char *pattern, uint64_t request_size,
                                              uint32_t depth, uint32_t direct)
{
    struct recommendation *recommendation = &advices[i];
    *recommendation = (struct recommendation){.point = {.request_size_bytes = request_size,
                                                        .queue_depth = depth,
                                                        .direct = direct,
                                                        .api = API_IO_URING,
                                                        .threads = 1,
                                                        .sync = SYNC_END},
                                              .mean_bps = 1e9,
                                              .ci_low_bps = 0.9e9,
                                              .ci_high_bps = 1.1e9,
                                              .confidence_share = 0.95,
                                              .replays = 7,
                                              .iops = 1e9 / (double)request_size,
                                              .probability = 0.97,
                                              .conclusive = true,
                                              .path = "/srv/data",
                                              .hostname = "store1",
                                              .file_system = "ext4"};
    assert_int_equal(pattern_parse(pattern, &recommendation->pattern, NULL), 0);
    json_decref(documents[i]);
    documents[i] = json_pack("{s:{}}", "system");
    assert_non_null(documents[i]);
    recommendation->document = documents[i];
    return recommendation;
}

static inline struct recommendation *make(const char *pattern, uint64_t request_size, uint32_t depth,
                                          uint32_t direct)
{
    struct recommendation *recommendation = make_nth(0, pattern, request_size, depth, direct);
    request = (struct snippet_request){.recommendation = recommendation, .image = ""};
    return recommendation;
}

static inline void fact(const char *key, json_t *value)
{
    assert_int_equal(json_object_set_new(json_object_get(documents[0], "system"), key, value), 0);
}

/* 0 with the snippet in `text`, else what it is refused with. */
static inline int emit(const char *name)
{
    char *remarks = NULL;
    const struct snippet_ops *ops = snippet_find(name);
    assert_non_null(ops);
    free(text);
    text = NULL;
    err.text[0] = '\0';
    int result = snippet_make(ops, &request, &text, &remarks, &err);
    free(remarks);
    return result;
}

static inline bool says(const char *line)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\n%s\n", line);
    return strstr(text, wanted) != NULL;
}

/* A part of a line that is no comment. */
static inline bool sets(const char *part)
{
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const char *found = strstr(line, part);
        if (*line != '#' && *line != ';' && found != NULL && found < line + strcspn(line, "\n"))
            return true;
    }
    return false;
}

static inline bool explains(const char *part)
{
    return strstr(text, part) != NULL && !sets(part);
}

/* The format's snippet has each of these: a whole line; with '~' in front a part of a line that is no
 * comment, with '!' no such part, with '#' a part that stands in comments alone, with '-' a part that is
 * nowhere. */
static inline void expect_lines(const char *name, const char *const *parts)
{
    if (emit(name) != 0)
        fail_msg("%s: %s", name, err.text);
    for (; *parts != NULL; parts++) {
        const char *part = *parts + 1;
        bool met = **parts == '~'   ? sets(part)
                   : **parts == '!' ? !sets(part)
                   : **parts == '#' ? explains(part)
                   : **parts == '-' ? strstr(text, part) == NULL
                                    : says(*parts);
        if (!met)
            fail_msg("%s: \"%s\" does not hold of\n%s", name, *parts, text);
    }
}

#define EXPECT(name, ...) expect_lines(name, (const char *const[]){__VA_ARGS__, NULL})

/* It is refused, with this in the text. */
static inline void expect_refused(const char *name, const char *part)
{
    assert_int_equal(emit(name), -EINVAL);
    assert_non_null(strstr(err.text, part));
}

static inline int leave(void **state)
{
    (void)state;
    free(text);
    for (size_t i = 0; i < 4; i++)
        json_decref(documents[i]);
    return 0;
}

static inline void make_four(void)
{
    make("randread", 4096, 64, 1)->iops = 250000.9;
    make_nth(1, "randwrite", 16384, 64, 1)->iops = 80000;
    make_nth(2, "read", 65536, 8, 1)->mean_bps = 3e9;
    make_nth(3, "write", 1 << 20, 8, 1)->mean_bps = 1.5e9;
    request.n_more = 3;
    for (size_t i = 0; i < 3; i++)
        request.more[i] = &advices[i + 1];
}
