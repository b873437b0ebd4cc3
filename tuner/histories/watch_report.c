/* From hours to loads and forecasts. */
#include "tuner/histories/watch_report.h"

#include "tuner/store/history_watch.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define HOUR_S 3600.0

static unsigned hour_of_week(double at_s)
{
    time_t at = (time_t)at_s;
    struct tm local;
    localtime_r(&at, &local);
    return (unsigned)local.tm_wday * CALENDAR_DAY_HOURS + (unsigned)local.tm_hour;
}

const char *watch_report_time(double at_s, char buffer[static WATCH_TIME_SIZE])
{
    time_t at = (time_t)at_s;
    struct tm local;
    localtime_r(&at, &local);
    strftime(buffer, WATCH_TIME_SIZE, "%Y-%m-%d %H:%M", &local);
    return buffer;
}

static void add_load(struct watch_report *report, const struct history_watch_hour *row, unsigned kind)
{
    struct watch_load *load = &report->loads[kind];
    load->seconds += row->seconds;
    load->n_requests += (double)row->n_requests;
    load->n_bytes += (double)row->n_bytes;
    load->last_s = fmax(load->last_s, row->last_s);
    report->seconds += row->seconds;
}

/* The rows of one hour: the load that was there for most of the time, where it was for long enough. */
static void tell_hour(struct watch_report *report, const struct history_watch_hour *rows, size_t n)
{
    double watched = 0, most = 0;
    unsigned kind = KIND_NONE;
    for (size_t i = 0; i < n; i++) {
        unsigned each = kind_find(rows[i].kind);
        add_load(report, &rows[i], each);
        watched += rows[i].seconds;
        if (each != KIND_NONE && rows[i].seconds > most) {
            most = rows[i].seconds;
            kind = each;
        }
    }
    if (watched >= WATCH_LEAST_SHARE * HOUR_S)
        calendar_tell(&report->calendar, hour_of_week((double)rows->hour * HOUR_S),
                      most >= WATCH_LEAST_SHARE * watched ? kind : KIND_NONE);
}

int watch_report_make(struct watch_report *report, struct history *history, const char *place, double now_s,
                      struct err *err)
{
    struct history_watch_hour *rows = NULL;
    size_t n = 0;
    *report = (struct watch_report){.place = place, .now_s = now_s, .first_s = now_s};
    int code = history_watch_hours(history, place, now_s - WATCH_DAYS * 24 * HOUR_S, &rows, &n, err);
    for (size_t i = 0, end; code == 0 && i < n; i = end) {
        for (end = i + 1; end < n && rows[end].hour == rows[i].hour;)
            end++;
        tell_hour(report, &rows[i], end - i);
    }
    if (code == 0 && n > 0)
        report->first_s = (double)rows->hour * HOUR_S;
    free(rows);
    return code;
}

unsigned watch_report_most(const struct watch_report *report)
{
    unsigned most = KIND_NONE;
    for (unsigned kind = 0; kind < KIND_N; kind++) {
        if (report->loads[kind].seconds > (most == KIND_NONE ? 0 : report->loads[most].seconds))
            most = kind;
    }
    return most;
}

/* KIND_NONE: no load that keeps to its hours is foretold. */
static unsigned foretold(const struct watch_report *report, double at_s, enum calendar_rule *ret_rule)
{
    unsigned kind;
    bool is_foretold = calendar_foretell(&report->calendar, hour_of_week(at_s), &kind, ret_rule);
    return is_foretold && kind != KIND_NONE && calendar_is_periodic(&report->calendar, kind) ? kind
                                                                                             : KIND_NONE;
}

bool watch_report_next(const struct watch_report *report, double from_s, struct watch_visit *ret_visit)
{
    enum calendar_rule rule, other;
    double at_s = ceil(from_s / HOUR_S) * HOUR_S, last_s = report->now_s + CALENDAR_WEEK_HOURS * HOUR_S;
    unsigned kind = KIND_NONE;
    for (; at_s < last_s && (kind = foretold(report, at_s, &rule)) == KIND_NONE; at_s += HOUR_S) {
    }
    if (kind == KIND_NONE)
        return false;
    *ret_visit = (struct watch_visit){.kind = kind, .rule = rule, .start_s = at_s};
    while (at_s < last_s && foretold(report, at_s, &other) == kind)
        at_s += HOUR_S;
    ret_visit->end_s = at_s;
    return true;
}
