/* What the plans of all commands say (interfaces, section 4). */
#include "tuner/report/report_plan.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/session/beside_loads.h"
#include "tuner/session/json_row.h"
#include "tuner/session/neighbour_costs.h"

#include <math.h>
#include <time.h>

/* A disk that fills more slowly ends after the time that the plan names. */
#define SLOW_FILL_BPS 20e6
/* From here on the date is said too. */
#define HALF_A_DAY_SECONDS 43200

/* What a command with this file writes at most. Patterns that only read write the file once, with the proof
 * of direct I/O, and nothing into one that exists. */
static uint64_t write_bytes_most(const struct session *session, uint64_t file_bytes)
{
    const struct settings *settings = session->settings;
    if (pattern_writes(&settings->workload.pattern) || beside_loads_write_bytes(session, 1) > 0 ||
        neighbour_costs_are_wanted(settings))
        return settings->limits.max_write_bytes;
    if (settings->file.existing[0] != '\0')
        return 0;
    uint64_t bytes =
        (file_bytes + TARGET_PROOF_MOST_BYTES) * (session->n_targets > 1 ? session->n_targets : 1) +
        settings->beside.n * (TARGET_SIZE_MIN_BYTES + TARGET_PROOF_MOST_BYTES);
    return bytes < settings->limits.max_write_bytes ? bytes : settings->limits.max_write_bytes;
}

double report_plan_fill_seconds(const struct settings *settings, uint64_t file_bytes)
{
    double fill_s = settings->file.existing[0] != '\0'
                        ? 0
                        : (double)(file_bytes * settings_n_places(settings)) / SLOW_FILL_BPS;
    double prepare_s =
        settings->file.prepare[0] != '\0' ? (double)settings->file.prepare_timeout_ns / 1e9 : 0;
    return fill_s + prepare_s + (double)settings->beside.n * TARGET_SIZE_MIN_BYTES / SLOW_FILL_BPS +
           (settings->beside.n > 0 ? BESIDE_LOADS_ALONE_SECONDS : 0);
}

static void print_end(FILE *out, double seconds)
{
    char text[32];
    struct tm parts;
    time_t end = time(NULL) + (time_t)ceil(seconds);
    if (localtime_r(&end, &parts) == NULL ||
        (seconds < HALF_A_DAY_SECONDS ? strftime(text, sizeof text, "%H:%M:%S", &parts)
                                      : strftime(text, sizeof text, "%F %H:%M:%S", &parts)) == 0)
        snprintf(text, sizeof text, "?");
    fprintf(out, ", ends by %s at the latest", text);
}

/* "/srv", or "/srv and /data". */
static void print_places(FILE *out, const struct settings *settings)
{
    char place[SETTINGS_TEXT_SIZE];
    size_t n = settings_n_places(settings);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s",
                i == 0       ? ""
                : i + 1 == n ? " and "
                             : ", ",
                text_printable(settings_nth_place(settings, i), place, sizeof place));
}

/* "file of 1g in /srv (removed afterwards)"; what is the user's own and gets lost is said. */
static void print_place(FILE *out, const struct session *session, uint64_t file_bytes)
{
    const struct settings *settings = session->settings;
    bool existing = settings->file.existing[0] != '\0', is_device = hostinfo_is_device(session->directory_fd);
    bool several = settings_n_places(settings) > 1 || session_n_clients(session->clients) > 1;
    const char *each = several ? " each" : "";
    char size[UNITS_TEXT_SIZE];
    units_format_size(file_bytes, size);
    if (existing && is_device)
        fputs(each[0] != '\0' ? "block devices " : "block device ", out);
    else
        fprintf(out, "%s of %s%s in ",
                existing                ? "existing file"
                : settings->file.shared ? "one file with regions"
                                        : "file",
                size, each);
    print_places(out, settings);
    if (existing && is_device)
        fprintf(out, " of %s%s", size, each);
    else if (!existing)
        fputs(" (removed afterwards)", out);
    if (existing && pattern_writes(&settings->workload.pattern))
        fputs(", whose contents are destroyed", out);
}

void report_plan_end(FILE *out, const struct session *session, uint64_t file_bytes)
{
    char place[SETTINGS_TEXT_SIZE], writes[UNITS_TEXT_SIZE];
    if (session->simulated) {
        fprintf(out, " on simulated surface \"%s\"\n",
                text_printable(session->simulator.name, place, sizeof place));
        return;
    }
    fputs(", ", out);
    print_place(out, session, file_bytes);
    fprintf(out, ", at most %s written", units_format_size(write_bytes_most(session, file_bytes), writes));
    print_end(out, session->seconds_at_most);
    fputc('\n', out);
}

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
        json_object_set_new(object, "place", json_text(settings_place(settings)));
        json_t *places = settings_n_places(settings) > 1 ? json_array() : NULL;
        for (size_t i = 0; i < settings_n_places(settings) && places != NULL; i++)
            json_array_append_new(places, json_text(settings_nth_place(settings, i)));
        if (places != NULL)
            json_object_set_new(object, "members", places);
        json_object_set_new(object, "existing", json_boolean(existing));
        json_object_set_new(object, "block_device", json_boolean(hostinfo_is_device(session->directory_fd)));
        json_object_set_new(object, "file_bytes", json_integer((json_int_t)file_bytes));
        json_object_set_new(object, "max_write_bytes",
                            json_integer((json_int_t)write_bytes_most(session, file_bytes)));
        json_object_set_new(object, "seconds_at_most", json_number(session->seconds_at_most));
    }
    json_object_set_new(object, "dropped", json_notes(&session->dropped, "what", "why"));
    json_object_set_new(object, "system", json_system(session));
    return object;
}
