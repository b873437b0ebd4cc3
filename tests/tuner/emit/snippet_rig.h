/* tests/tuner/emit/snippet_rig: an answer made by hand, and snippets of it. */
#pragma once

#include "tests/test.h"
#include "tuner/emit/snippet.h"

#include <errno.h>

static struct recommendation snippet_recommendation;
static struct snippet_request snippet_request;

/* 64k x 8, direct, libaio, sync end, nothing known of the image: what a test does not change. */
static inline int snippet_reset(void **state)
{
    (void)state;
    snippet_recommendation = (struct recommendation){.pattern = {.name = "randwrite"},
                                                     .point = {.request_size_bytes = 65536,
                                                               .queue_depth = 8,
                                                               .direct = 1,
                                                               .api = API_LIBAIO,
                                                               .threads = 1,
                                                               .sync = SYNC_END},
                                                     .mean_bps = 1e9,
                                                     .ci_low_bps = 9e8,
                                                     .ci_high_bps = 1.1e9,
                                                     .confidence_share = 0.95,
                                                     .replays = 5,
                                                     .iops = 15000,
                                                     .latency_mean_ns = 5e5,
                                                     .latency_p99_ns = 1e6,
                                                     .probability = 0.97,
                                                     .speedup = NAN,
                                                     .speedup_low = NAN,
                                                     .speedup_high = NAN,
                                                     .conclusive = true,
                                                     .version = "0.1.0",
                                                     .measured_at = "2024-02-03T04:05:06Z",
                                                     .hostname = "store1",
                                                     .kernel = "6.1.0",
                                                     .file_system = "ext4",
                                                     .device = "vda",
                                                     .path = "/data"};
    snippet_request = (struct snippet_request){.recommendation = &snippet_recommendation, .image = ""};
    return 0;
}

/* The snippet of the request; the caller frees it, and *ret_remarks where that is asked for. */
static inline char *snippet_make_both(const char *format, char **ret_remarks)
{
    char *text = NULL, *remarks = NULL;
    struct err err = {0};
    const struct snippet_ops *ops = snippet_find(format);
    assert_non_null(ops);
    if (snippet_make(ops, &snippet_request, &text, &remarks, &err) != 0)
        fail_msg("%s: %s", format, err.text);
    if (ret_remarks != NULL)
        *ret_remarks = remarks;
    else
        free(remarks);
    return text;
}

static inline char *snippet_text(const char *format)
{
    return snippet_make_both(format, NULL);
}

/* Each part is in the snippet or in the remarks beside it. */
static inline void snippet_expect_all(const char *format, const char *const *parts)
{
    char *remarks = NULL;
    AUTO(auto_free) char *text = snippet_make_both(format, &remarks);
    for (; *parts != NULL; parts++) {
        if (strstr(text, *parts) == NULL && strstr(remarks, *parts) == NULL)
            fail_msg("%s: \"%s\" is not in\n%s%s", format, *parts, text, remarks);
    }
    free(remarks);
}

#define SNIPPET_EXPECT(format, ...) snippet_expect_all(format, (const char *const[]){__VA_ARGS__, NULL})

static inline void snippet_expect(const char *format, const char *part)
{
    SNIPPET_EXPECT(format, part);
}

static inline void snippet_expect_no(const char *format, const char *part)
{
    AUTO(auto_free) char *text = snippet_text(format);
    if (strstr(text, part) != NULL)
        fail_msg("%s: \"%s\" is in\n%s", format, part, text);
}

/* The request is refused, with this in the text. */
static inline void snippet_expect_refused(const char *format, const char *part)
{
    char *text = NULL, *remarks = NULL;
    struct err err = {0};
    assert_int_equal(snippet_make(snippet_find(format), &snippet_request, &text, &remarks, &err), -EINVAL);
    if (strstr(err.text, part) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", format, part, err.text);
}
