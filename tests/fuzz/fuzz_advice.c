/* Answers from a file, and every snippet of them: refused with one line, or without a character that a
 * reader could take for more. The first byte chooses options, the rest of the first line is the image's path,
 * the other lines are the answer. */
#include "tests/fuzz/fuzz.h"

#include "tuner/emit/snippet.h"

#include <math.h>

static void check_advice(const struct recommendation *recommendation)
{
    FUZZ_CHECK(factors_check(&recommendation->point, NULL) == 0);
    FUZZ_CHECK(isnan(recommendation->probability) ||
               (recommendation->probability >= 0 && recommendation->probability <= 1));
    FUZZ_CHECK(memchr(recommendation->path, '\0', sizeof recommendation->path) != NULL);
    FUZZ_CHECK(memchr(recommendation->hostname, '\0', sizeof recommendation->hostname) != NULL);
}

/* DEL needs no escape in a string of JSON. */
static void check_plain(const char *text, bool del_allowed)
{
    for (const char *c = text; *c != '\0'; c++)
        FUZZ_CHECK(*c == '\n' || !iscntrl((unsigned char)*c) || (del_allowed && *c == 127));
}

static bool is_json(const struct snippet_ops *ops)
{
    return strcmp(ops->name, "json") == 0 || strcmp(ops->name, "firecracker") == 0;
}

static void check_json(const struct snippet_ops *ops, const char *text)
{
    if (!is_json(ops))
        return;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(json_is_object(document));
    json_decref(document);
}

static void check_snippet(const struct snippet_ops *ops, const struct snippet_request *request)
{
    char *text = NULL, *remarks = NULL;
    int code = snippet_make(ops, request, &text, &remarks, &fuzz_err);
    if (fuzz_refused(code)) {
        FUZZ_CHECK(code == -EINVAL && text == NULL && remarks == NULL);
        return;
    }
    check_plain(text, is_json(ops));
    check_plain(remarks, false);
    check_json(ops, text);
    free(text);
    free(remarks);
}

static void check_snippets(const struct recommendation *recommendation, uint8_t options, const char *image)
{
    const struct snippet_request request = {
        .recommendation = recommendation,
        .more = {recommendation},
        .n_more = options >> 7,
        .image = image,
        .image_format = (enum snippet_image)(options & 1),
        .bus = (enum snippet_bus)((options >> 1) % SNIPPET_BUS_N),
        .directsync = (options >> 4 & 1) != 0,
        .version = {(options >> 5 & 1) * 18U, options >> 6 & 1},
    };
    const struct snippet_ops *ops;
    for (size_t i = 0; (ops = snippet_row(i)) != NULL; i++)
        check_snippet(ops, &request);
}

FUZZ_TEXT(text, size)
{
    static struct recommendation recommendation;
    char *image = text + 1, *answer = size > 0 ? strchr(image, '\n') : NULL;
    if (answer == NULL)
        return;
    *answer = '\0';
    json_t *document = json_loads(answer + 1, JSON_REJECT_DUPLICATES, NULL);
    if (document == NULL)
        return;
    int code = recommendation_read(&recommendation, document, &fuzz_err);
    if (fuzz_refused(code)) {
        FUZZ_CHECK(code == -EINVAL || code == -ENODATA);
    } else {
        check_advice(&recommendation);
        check_snippets(&recommendation, (uint8_t)text[0], image);
    }
    json_decref(document);
}
