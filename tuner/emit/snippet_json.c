/* fstune emit json: setting, evidence and origin in one small document. */
#include "tuner/base/json.h"
#include "tuner/emit/snippet.h"

#include <errno.h>

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_text(text) : json_null();
}

static json_t *make(const struct recommendation *recommendation)
{
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:s, s:o, s:o, s:o, s:I}, s:o, s:b, s:{s:b, s:o, s:o, s:o, s:o, s:o}}",
        "schema", "fstune/setting/1", "version", text_or_null(recommendation->version), "pattern",
        json_pattern(&recommendation->pattern), "setting", json_point(&recommendation->point), "throughput",
        "unit", "bytes/s", "mean", json_number(recommendation->mean_bps), "ci_low",
        json_number(recommendation->ci_low_bps), "ci_high", json_number(recommendation->ci_high_bps),
        "replays", (json_int_t)recommendation->replays, "probability_within_tolerance",
        json_number(recommendation->probability), "conclusive", recommendation->conclusive, "origin",
        "simulated", recommendation->simulated, "measured_at", text_or_null(recommendation->measured_at),
        "hostname", text_or_null(recommendation->hostname), "path", text_or_null(recommendation->path),
        "file_system", text_or_null(recommendation->file_system), "kernel",
        text_or_null(recommendation->kernel));
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    json_t *document = make(request->recommendation);
    if (document == NULL)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    int result = json_dumpf(document, writer->out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    json_decref(document);
    if (result != 0 || fputc('\n', writer->out) == EOF)
        return err_set(err, -ENOMEM, "no memory for the JSON document");
    return 0;
}

const struct snippet_ops snippet_json = {
    .name = "json",
    .title = "setting, evidence and origin as one small JSON document",
    .comments = SNIPPET_COMMENTS_NONE,
    .request_size = SNIPPET_SAYS_EXACTLY,
    .queue_depth = SNIPPET_SAYS_EXACTLY,
    .direct = SNIPPET_SAYS_EXACTLY,
    .api = SNIPPET_SAYS_EXACTLY,
    .threads = SNIPPET_SAYS_EXACTLY,
    .sync = SNIPPET_SAYS_EXACTLY,
    .ignores = SNIPPET_IGNORES_ALL,
    .hint = "jq . FILE",
    .emit = emit,
};
