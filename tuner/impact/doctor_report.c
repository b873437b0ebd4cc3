/* What doctor found, as text and as JSON (fstune/doctor/1). */
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/impact/doctor.h"
#include "tuner/report/report_text.h"
#include "tuner/session/json_row.h"
#include "tuner/session/members_report.h"

#include <math.h>
#include <string.h>

static const char *const severity_names[] = {"ok", "note", "finding"};

static void print_item(FILE *out, const struct doctor_item *item)
{
    char found[DOCTOR_TEXT_SIZE];
    fprintf(out, "  %-8s %-17s %s\n", severity_names[item->severity], item->name,
            text_printable(item->found, found, sizeof found));
    if (item->recommendation != NULL)
        fprintf(out, "  %-26s -> %s\n", "", item->recommendation);
}

static void print_noise(FILE *out, const struct doctor_noise *noise)
{
    char text[FACTORS_TEXT_SIZE], rate[UNITS_TEXT_SIZE];
    if (noise->n == 0)
        return;
    fprintf(out, "\nNoise floor    %zu runs of %.0f ms, randread, %s%s: %s", noise->n,
            1e3 * noise->run_seconds, factors_format(&noise->point, text), noise->warm ? ", cached" : "",
            text_short_rate(noise->mean_bps, rate));
    if (isfinite(noise->half_width_share))
        fprintf(out, " +- %.1f %%", 100 * noise->half_width_share);
    fputc('\n', out);
    if (isfinite(noise->run_cv))
        fprintf(out, "               scatter %.1f %% between runs", 100 * noise->run_cv);
    if (isfinite(noise->window_cv))
        fprintf(out, ", %.1f %% between tenths of a run", 100 * noise->window_cv);
    if (isfinite(noise->run_cv))
        fputc('\n', out);
}

int doctor_report_text(FILE *out, const struct session *session, const struct doctor_facts *facts,
                       const struct doctor_report *report, struct err *err)
{
    const char *group = "";
    char path[SETTINGS_TEXT_SIZE], written[UNITS_TEXT_SIZE], read[UNITS_TEXT_SIZE];
    fprintf(out, "%s: ", text_printable(settings_place(session->settings), path, sizeof path));
    text_place(out, session);
    fputs(facts->interrupted ? "  (interrupted)\n" : "\n", out);
    for (size_t i = 0; i < report->n; i++) {
        if (strcmp(group, report->items[i].group) != 0)
            fprintf(out, "\n%s\n", report->items[i].group);
        group = report->items[i].group;
        print_item(out, &report->items[i]);
    }
    print_noise(out, &facts->noise);
    /* What they are together is an item above. */
    if (facts->members != NULL)
        members_report_rows(out, facts->members);
    text_notes(out, "Worth knowing", &session->warnings, true);
    fprintf(out, "\n%zu finding%s. Wrote %s, read %s in %.1f s; seed %llu.\n", report->n_findings,
            report->n_findings == 1 ? "" : "s", units_format_bytes(session->bytes_written, written),
            units_format_bytes(session->bytes_read, read), session_seconds(session),
            (unsigned long long)session->seed);
    return text_finish(out, err);
}

static json_t *json_checks(const struct doctor_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->n && list != NULL; i++) {
        const struct doctor_item *item = &report->items[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", item->name, "group", item->group, "severity",
                            severity_names[item->severity], "found", json_text(item->found), "advice",
                            item->recommendation != NULL ? json_string(item->recommendation) : json_null()));
    }
    return list;
}

static json_t *json_placement(const struct doctor_placement *placement)
{
    if (CPU_COUNT(&placement->there) == 0 || !isfinite(placement->ratio.low))
        return json_null();
    json_t *processors = json_array();
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &placement->there))
            json_array_append_new(processors, json_integer((json_int_t)i));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "processors", processors, "ratio",
                     json_number(placement->there_bps / placement->elsewhere_bps), "ci_low",
                     json_number(placement->ratio.low), "ci_high", json_number(placement->ratio.high));
}

static json_t *json_noise(const struct doctor_noise *noise)
{
    json_t *object =
        json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "replays", (json_int_t)noise->n, "mean",
                  json_number(noise->mean_bps), "ci_low", json_number(noise->interval.low), "ci_high",
                  json_number(noise->interval.high), "half_width_share", json_number(noise->half_width_share),
                  "run_cv", json_number(noise->run_cv), "window_cv", json_number(noise->window_cv),
                  "run_seconds", json_number(noise->run_seconds));
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "point", noise->n > 0 ? json_point(&noise->point) : json_null());
    json_object_set_new(object, "warm", json_boolean(noise->warm));
    json_object_set_new(object, "placement", json_placement(&noise->placement));
    if (noise->n >= 2) {
        json_object_set_new(object, "resolves_share",
                            json_number(doctor_noise_resolves(noise->run_cv, noise->n)));
        json_object_set_new(object, "replays_for_3_percent",
                            json_integer((json_int_t)doctor_noise_replays_for(noise->run_cv, 0.03)));
    }
    if (noise->why[0] != '\0')
        json_object_set_new(object, "why", json_text(noise->why));
    return object;
}

static json_t *json_apis(const struct doctor_facts *facts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < API_N && object != NULL; i++) {
        const struct doctor_api *api = &facts->apis[i];
        json_object_set_new(object, api_names[i],
                            json_pack("{s:b, s:o}", "works", api->works, "why_not",
                                      api->works ? json_null() : json_text(api->why_not)));
    }
    return object;
}

static json_t *json_direct(const struct doctor_facts *facts)
{
    static const char *const proofs[] = {[TARGET_DIRECT_UNTRIED] = "untried",
                                         [TARGET_DIRECT_PROVED] = "proved",
                                         [TARGET_DIRECT_REFUSED] = "refused",
                                         [TARGET_DIRECT_BUFFERED] = "buffered",
                                         [TARGET_DIRECT_UNVERIFIED] = "unverified"};
    bool known = facts->has_target;
    return json_pack("{s:o, s:o, s:o, s:o}", "read",
                     known ? json_string(proofs[facts->direct_read]) : json_null(), "write",
                     known ? json_string(proofs[facts->direct_write]) : json_null(), "align_bytes",
                     facts->direct_align_bytes > 0 ? json_integer(facts->direct_align_bytes) : json_null(),
                     "why", facts->direct_why[0] != '\0' ? json_text(facts->direct_why) : json_null());
}

int doctor_report_json(FILE *out, const struct session *session, const struct doctor_facts *facts,
                       const struct doctor_report *report, struct err *err)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "schema",
        "fstune/doctor/1", "version", FSTUNE_VERSION, "interrupted", facts->interrupted, "checks",
        json_checks(report), "noise_floor", json_noise(&facts->noise), "apis", json_apis(facts), "direct",
        json_direct(facts), "findings", (json_int_t)report->n_findings, "default_file_bytes",
        facts->file_bytes > 0 ? json_integer((json_int_t)facts->file_bytes) : json_null(), "seconds",
        json_number(session_seconds(session)), "bytes_written", (json_int_t)session->bytes_written,
        "bytes_read", (json_int_t)session->bytes_read, "seed", (json_int_t)session->seed, "wear",
        drive_health_json(&session->drive_health_before, &session->drive_health_after), "warnings",
        json_notes(&session->warnings, "code", "text"), "system", json_system(session));
    if (object != NULL && facts->members != NULL)
        members_report_json(object, facts->members);
    return json_print(out, object, err);
}
