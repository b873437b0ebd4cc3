/* fstune emit json: setting, evidence and origin in one small document. */
#include "tuner/base/json.h"
#include "tuner/emit/snippet.h"

#include <errno.h>

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_text(text) : json_null();
}

static json_t *make(const struct advice *advice)
{
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:{s:s, s:o, s:o, s:o, s:I}, s:o, s:b, s:{s:b, s:o, s:o, s:o, s:o, s:o}}",
        "schema", "fstune/setting/1", "version", text_or_null(advice->version), "pattern",
        json_pattern(&advice->pattern), "setting", json_point(&advice->point), "throughput", "unit",
        "bytes/s", "mean", json_number(advice->mean_bps), "ci_low", json_number(advice->ci_low_bps),
        "ci_high", json_number(advice->ci_high_bps), "replays", (json_int_t)advice->replays,
        "probability_within_tolerance", json_number(advice->probability), "conclusive", advice->conclusive,
        "origin", "simulated", advice->simulated, "measured_at", text_or_null(advice->measured_at),
        "hostname", text_or_null(advice->hostname), "path", text_or_null(advice->path), "file_system",
        text_or_null(advice->file_system), "kernel", text_or_null(advice->kernel));
}

static int emit(struct snippet_writer *writer, const struct snippet_request *request, struct err *err)
{
    json_t *document = make(request->advice);
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
