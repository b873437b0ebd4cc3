/* fstune emit json: setting, evidence and origin in one small document. */
#include "tuner/base/json.h"
#include "tuner/emit/snippet_template.h"

#include <errno.h>

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_text(text) : json_null();
}

int snippet_own_json(struct snippet_template *run)
{
    const struct recommendation *recommendation = run->request->recommendation;
    json_t *document = json_pack(
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
    if (document == NULL)
        return -ENOMEM;
    int result = json_dumpf(document, run->writer->out, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    json_decref(document);
    return result != 0 || fputc('\n', run->writer->out) == EOF ? -ENOMEM : 0;
}
