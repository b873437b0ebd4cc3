/* tuner/histories/watch_report: the report as text and as JSON. */
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/histories/watch_report.h"
#include "tuner/store/history_watch.h"

#include <stdlib.h>

#define MOST_VISITS 8 /* that are told */

static const char *const rule_names[] = {"always", "daily", "weekly"};

static void print_loads(FILE *out, const struct watch_report *report)
{
    char requests[UNITS_TEXT_SIZE], bytes[UNITS_TEXT_SIZE], when[WATCH_TIME_SIZE];
    fputs("  Load                       hours   requests      bytes  last seen\n", out);
    for (unsigned kind = 0; kind <= KIND_N; kind++) {
        const struct watch_load *load = &report->loads[kind];
        if (load->seconds > 0)
            fprintf(out, "  %-22s %9.1f  %9s  %9s  %s\n",
                    kind == KIND_NONE ? "(nothing, or little)" : kind_name(kind), load->seconds / 3600,
                    units_format_count(load->n_requests, requests),
                    units_format_bytes((uint64_t)load->n_bytes, bytes),
                    watch_report_time(load->last_s, when));
    }
}

static void print_scores(FILE *out, const struct calendar *calendar)
{
    double low;
    fprintf(
        out,
        "Foretold   %u hours, each a day or more before; right %u times; the commonest load would have been "
        "right %u times\n",
        calendar->foretold.n_said, calendar->foretold.n_right, calendar->plain.n_right);
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        const struct calendar_score *score = &calendar->kinds[kind];
        double share = calendar_share(score, &low);
        if (score->n_said > 0)
            fprintf(
                out,
                "  %-22s foretold %u times, right %u (%.0f %%, 95 %% sure of %.0f %%); it came %u times%s\n",
                kind_name(kind), score->n_said, score->n_right, 100 * share, 100 * low,
                calendar->n_came[kind],
                calendar_is_periodic(calendar, kind) ? "" : "; no better than by chance");
    }
}

static void print_visits(FILE *out, const struct watch_report *report)
{
    char from[WATCH_TIME_SIZE], until[WATCH_TIME_SIZE];
    struct watch_visit visit;
    double from_s = report->now_s;
    for (int i = 0; i < MOST_VISITS && watch_report_next(report, from_s, &visit); i++) {
        fprintf(out, "%s%-22s %s to %s, by the hour of the %s\n", i == 0 ? "Next       " : "           ",
                kind_name(visit.kind), watch_report_time(visit.start_s, from),
                watch_report_time(visit.end_s, until), visit.rule == CALENDAR_WEEKLY ? "week" : "day");
        from_s = visit.end_s;
    }
}

void watch_report_print(FILE *out, const struct watch_report *report)
{
    char place[2 * HISTORY_TEXT_SIZE], first[WATCH_TIME_SIZE];
    fprintf(out, "Watched    %s: %.1f hours since %s\n", text_printable(report->place, place, sizeof place),
            report->seconds / 3600, watch_report_time(report->first_s, first));
    print_loads(out, report);
    if (report->calendar.foretold.n_said == 0)
        fputs("Foretold   nothing yet: two days of watching are the least\n", out);
    else
        print_scores(out, &report->calendar);
    print_visits(out, report);
}

static json_t *score_json(const struct calendar_score *score)
{
    double low, share = calendar_share(score, &low);
    return json_pack("{s:I, s:I, s:o, s:o}", "foretold", (json_int_t)score->n_said, "right",
                     (json_int_t)score->n_right, "share", json_number(share), "share_low", json_number(low));
}

static json_t *load_json(const struct watch_report *report, unsigned kind)
{
    const struct watch_load *load = &report->loads[kind];
    const struct calendar *calendar = &report->calendar;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "kind", kind_name(kind), "seconds",
                     json_number(load->seconds), "requests", json_number(load->n_requests), "bytes",
                     json_number(load->n_bytes), "last_s", json_number(load->last_s), "forecasts",
                     score_json(&calendar->kinds[kind]), "hours_came", (json_int_t)calendar->n_came[kind],
                     "periodic", calendar_is_periodic(calendar, kind));
}

json_t *watch_report_json(const struct watch_report *report)
{
    json_t *loads = json_array(), *next = json_array();
    struct watch_visit visit;
    double from_s = report->now_s;
    for (unsigned kind = 0; kind <= KIND_N; kind++) {
        if (report->loads[kind].seconds > 0)
            json_array_append_new(loads, load_json(report, kind));
    }
    for (; watch_report_next(report, from_s, &visit); from_s = visit.end_s)
        json_array_append_new(next, json_pack("{s:s, s:o, s:o, s:s}", "kind", kind_name(visit.kind),
                                              "start_s", json_number(visit.start_s), "end_s",
                                              json_number(visit.end_s), "rule", rule_names[visit.rule]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "place", json_text(report->place), "first_s",
                     json_number(report->first_s), "seconds", json_number(report->seconds), "loads", loads,
                     "forecasts", score_json(&report->calendar.foretold), "commonest",
                     score_json(&report->calendar.plain), "next", next);
}

int watch_report_places(struct history *history, double now_s, bool json, struct err *err)
{
    static struct watch_report report;
    struct history_watch_place *places = NULL;
    json_t *list = json_array();
    size_t n = 0;
    int code = history_watch_places(history, &places, &n, err);
    for (size_t i = 0; i < n && code == 0; i++) {
        code = watch_report_make(&report, history, places[i].place, now_s, err);
        if (code == 0 && json)
            json_array_append_new(list, watch_report_json(&report));
        else if (code == 0)
            watch_report_print(stdout, &report);
    }
    free(places);
    if (code == 0 && json)
        return json_print(stdout, json_pack("{s:s, s:o}", "schema", "fstune/patterns/1", "places", list),
                          err);
    json_decref(list);
    if (code == 0 && n == 0)
        puts("nothing was watched; fstune watch --path DIR --save FILE.db does it");
    return code == 0 ? text_finish(stdout, err) : code;
}
