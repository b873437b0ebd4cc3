/* What --dry-run says, as JSON (fstune/plan/1): --json promises one document whatever the command does. */

#include "tuner/base/json.h"
#include "tuner/report/report_plan.h"
#include "tuner/session/json_row.h"

int report_plan_json(FILE *out, const struct session *session, uint64_t file_bytes, size_t n_points,
                     struct err *err)
{
    return json_print(out, report_plan_document(session, file_bytes, n_points), err);
}

json_t *report_plan_document(const struct session *session, uint64_t file_bytes, size_t n_points)
{
    const struct settings *settings = session->settings;
    bool existing = settings->file.existing[0] != '\0';
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:I}", "schema", "fstune/plan/1", "version", FSTUNE_VERSION, "pattern",
        settings->workload.pattern.name[0] != '\0' ? json_pattern(&settings->workload.pattern) : json_null(),
        "space_points", (json_int_t)n_points);
    if (object == NULL)
        return NULL;
    if (settings->burst.bytes > 0)
        json_object_set_new(object, "burst",
                            json_pack("{s:I, s:o}", "bytes", (json_int_t)settings->burst.bytes,
                                      "interval_seconds",
                                      json_number((double)settings->burst.interval_ns / 1e9)));
    if (!session->simulated) {
        json_object_set_new(object, "place",
                            json_text(existing ? settings->file.existing : settings->file.path));
        json_object_set_new(object, "existing", json_boolean(existing));
        json_object_set_new(object, "file_bytes", json_integer((json_int_t)file_bytes));
        json_object_set_new(object, "max_write_bytes",
                            json_integer((json_int_t)report_plan_write_bytes(session, file_bytes)));
        json_object_set_new(object, "seconds_at_most", json_number(session->seconds_at_most));
    }
    json_object_set_new(object, "dropped", json_notes(&session->dropped, "what", "why"));
    json_object_set_new(object, "system", json_system(session));
    return object;
}
