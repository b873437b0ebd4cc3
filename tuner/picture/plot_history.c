/* Throughput of the settings in force, night by night, with changes, rollbacks, alarms and skipped nights. */
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_S       86400.0
#define N_ROWS      4 /* of labels above the curve; what finds no room in them is left out */
#define HEAD_SHARE  0.30
#define LABEL_SIZE  52
#define LETTER      6.2 /* pixels of a label's letter, on average */
#define MAX_LABELS  64
#define MARK_SHARE  0.03 /* where skipped nights are marked, above the axis */
#define DATE_LENGTH 10

struct range {
    double low, high;
};

static void widen(struct range *range, double at_s)
{
    range->low = fmin(range->low, at_s);
    range->high = fmax(range->high, at_s);
}

static struct range time_range(const struct plot_data *data)
{
    struct range range = {INFINITY, -INFINITY};
    for (size_t i = 0; i < data->n_nights; i++)
        widen(&range, data->nights[i].at_s);
    for (size_t i = 0; i < data->n_events; i++)
        widen(&range, data->events[i].at_s);
    double margin = data->n_nights > 1 ? fmax(0.04 * (range.high - range.low), 1) : DAY_S / 2;
    return (struct range){range.low - margin, range.high + margin};
}

/* A bound far above all means would flatten the curve. */
static double top_of(const struct plot_data *data)
{
    double top = 0, bound = 0;
    for (size_t i = 0; i < data->n_nights; i++) {
        top = fmax(top, data->nights[i].mean_bps);
        bound = fmax(bound, data->nights[i].ci_high_bps);
    }
    return fmin(bound > 0 ? fmax(top, bound) : top, 1.5 * top);
}

/* Pixels or letters of the time axis. */
static double room_of(const struct plot_request *request)
{
    double taken = plot_script_is_text(request) ? 16 : 130;
    return fmax((double)request->width - taken, taken);
}

/* Tics on round times in UTC, so far apart that their labels do not touch. */
static void write_dates(FILE *script, const struct plot_request *request, struct range range)
{
    static const double steps_s[] = {60,           300,          900,        3600,        3 * 3600.0,
                                     6 * 3600.0,   12 * 3600.0,  DAY_S,      2 * DAY_S,   7 * DAY_S,
                                     14 * DAY_S,   28 * DAY_S,   91 * DAY_S, 182 * DAY_S, 364 * DAY_S,
                                     1820 * DAY_S, 36400 * DAY_S};
    const size_t n = sizeof steps_s / sizeof steps_s[0];
    double letter = plot_script_is_text(request) ? 1 : 8, wide = letter * (DATE_LENGTH + 4);
    size_t i = 0;
    while (i + 1 < n && steps_s[i] / (range.high - range.low) * room_of(request) < wide)
        i++;
    bool whole_days = steps_s[i] >= DAY_S;
    time_t first = (time_t)range.low;
    struct tm tm;
    char year[16] = "";
    if (!whole_days && gmtime_r(&first, &tm) != NULL)
        strftime(year, sizeof year, ", %Y", &tm);
    fprintf(script, "set xtics time format '%s'\nset xtics %.0f, %.0f\nset xlabel 'night, UTC%s'\n",
            whole_days ? "%Y-%m-%d" : "%m-%d %H:%M", ceil(range.low / steps_s[i]) * steps_s[i], steps_s[i],
            year);
    /* Room for half a date behind the axis. */
    fprintf(script, "set xrange [%.0f:%.0f]\nset rmargin %d\n", range.low, range.high,
            plot_script_is_text(request) ? 6 : 7);
}

static const struct plot_night *night_of(const struct plot_data *data, const struct plot_event *event)
{
    for (size_t i = 0; i < data->n_nights && event->run_id != 0; i++) {
        if (data->nights[i].run_id == event->run_id)
            return &data->nights[i];
    }
    return NULL;
}

/* The line breaks where other settings are in force. */
static void write_nights(FILE *script, const struct plot_data *data, struct plot_unit unit)
{
    fputs("$nights << EOD\n", script);
    for (size_t i = 0; i < data->n_nights; i++) {
        const struct plot_night *night = &data->nights[i];
        if (i > 0 && night->point != data->nights[i - 1].point)
            fputc('\n', script);
        fprintf(script, "%.0f %.6g", night->at_s, night->mean_bps / unit.bps);
        plot_script_number(script, night->ci_low_bps / unit.bps);
        plot_script_number(script, night->ci_high_bps / unit.bps);
        fputc('\n', script);
    }
    fputs("EOD\n", script);
}

/* A label stands beside the end of its line, in one of a few rows above the curve. */
struct label {
    size_t event, row;   /* row 0 is the lowest */
    double at, from, to; /* along the axis, in pixels or letters */
    bool is_left;
};

struct labels {
    size_t n;
    struct label label[MAX_LABELS];
};

static bool is_inside(double x, const struct label *label)
{
    return x > label->from && x < label->to;
}

/* No letter on another, and no line through a label. */
static bool is_free(const struct labels *labels, const struct label *label)
{
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *other = &labels->label[i];
        bool overlap = label->from < other->to && other->from < label->to;
        if ((overlap && label->row == other->row) ||
            (is_inside(other->at, label) && other->row >= label->row) ||
            (is_inside(label->at, other) && label->row >= other->row))
            return false;
    }
    return true;
}

/* Right of its line, or left of it where the axis ends. Low rows first, which leaves the higher ones to
 * labels that reach over this one; left of the line it is the other way round. */
static bool place(const struct labels *labels, struct label *label, double wide, double room)
{
    for (int side = 0; side < 2; side++) {
        label->is_left = side == 1;
        label->from = label->is_left ? label->at - wide : label->at;
        label->to = label->from + wide;
        for (size_t i = 0; i < N_ROWS && label->from >= 0 && label->to <= room; i++) {
            label->row = label->is_left ? N_ROWS - 1 - i : i;
            if (is_free(labels, label))
                return true;
        }
    }
    return false;
}

static const char *words_of(const struct plot_data *data, const struct plot_event *event,
                            char words[PLOT_TEXT_SIZE])
{
    return plot_slice_words(data, &data->points[event->point], words);
}

/* The newest first: when there is no room for all, those are the ones to know. */
static void place_labels(struct labels *labels, const struct plot_request *request,
                         const struct plot_data *data, struct range range)
{
    bool text = plot_script_is_text(request);
    double room = room_of(request);
    labels->n = 0;
    for (size_t i = data->n_events; i-- > 0 && labels->n < MAX_LABELS;) {
        const struct plot_event *event = &data->events[i];
        char words[PLOT_TEXT_SIZE];
        if (!event->has_point)
            continue;
        size_t length = strlen(words_of(data, event, words));
        double letters = (double)(length <= LABEL_SIZE ? length : LABEL_SIZE + 3) + 2;
        struct label label = {.event = i, .at = (event->at_s - range.low) / (range.high - range.low) * room};
        if (place(labels, &label, letters * (text ? 1 : LETTER), room))
            labels->label[labels->n++] = label;
    }
}

/* Of the height of the picture. */
static double height_of(const struct label *label)
{
    double lowest = 1 / (1 + HEAD_SHARE) + 0.035;
    return lowest + (0.97 - lowest) * (double)label->row / (N_ROWS - 1);
}

static double line_height(const struct labels *labels, size_t event)
{
    for (size_t i = 0; i < labels->n; i++) {
        if (labels->label[i].event == event)
            return height_of(&labels->label[i]) + 0.015;
    }
    return 1 / (1 + HEAD_SHARE);
}

static void write_labels(FILE *script, const struct plot_request *request, const struct plot_data *data,
                         const struct labels *labels)
{
    const char *font = plot_script_is_text(request)    ? ""
                       : request->terminal == PLOT_SVG ? " font ',11'"
                                                       : " font ',8'";
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *label = &labels->label[i];
        const struct plot_event *event = &data->events[label->event];
        char words[PLOT_TEXT_SIZE];
        fputs("set label ", script);
        plot_script_text(script, words_of(data, event, words), LABEL_SIZE);
        fprintf(script, " at first %.0f, graph %.3f %s offset character %s,0 front%s\n", event->at_s,
                height_of(label), label->is_left ? "right" : "left", label->is_left ? "-0.7" : "0.7", font);
    }
}

/* Vertical lines for what came into force. Their number. */
static size_t write_lines(FILE *script, const struct plot_data *data, enum plot_event_kind kind,
                          const struct labels *labels, double height)
{
    size_t n = 0;
    fprintf(script, "$event%d << EOD\n", (int)kind);
    for (size_t i = 0; i < data->n_events; i++) {
        double at_s = data->events[i].at_s;
        if (data->events[i].kind != kind)
            continue;
        n++;
        fprintf(script, "%.0f 0\n%.0f %.6g\n\n", at_s, at_s, line_height(labels, i) * height);
    }
    fputs("EOD\n", script);
    return n;
}

/* Points for the rest, alarms on their nights. */
static size_t write_marks(FILE *script, const struct plot_data *data, enum plot_event_kind kind,
                          struct plot_unit unit, double height)
{
    size_t n = 0;
    fprintf(script, "$event%d << EOD\n", (int)kind);
    for (size_t i = 0; i < data->n_events; i++) {
        const struct plot_event *event = &data->events[i];
        const struct plot_night *night = kind == PLOT_EVENT_ALARM ? night_of(data, event) : NULL;
        if (event->kind != kind)
            continue;
        n++;
        fprintf(script, "%.0f %.6g\n", night != NULL ? night->at_s : event->at_s,
                night != NULL ? night->mean_bps / unit.bps : height * MARK_SHARE);
    }
    fputs("EOD\n", script);
    return n;
}

static void write_plot(FILE *script, const struct plot_request *request, const struct plot_data *data,
                       const size_t n_events[PLOT_N_EVENTS])
{
    static const struct {
        const char *how, *letters, *title;
    } marks[PLOT_N_EVENTS] = {
        [PLOT_EVENT_CHANGE] = {"lines lw 1.5 lc rgb '#000000'", "lines", "new setting"},
        [PLOT_EVENT_ROLLBACK] = {"lines lw 1.5 dt (6,5) lc rgb '" PLOT_RED "'", "lines", "rolled back"},
        [PLOT_EVENT_SKIPPED] = {"points pt 2 ps 0.9 lw 1.5 lc rgb '#606060'", "points pt 'x'",
                                "night without a result"},
        [PLOT_EVENT_ALARM] = {"points pt 6 ps 2.4 lw 2.5 lc rgb '" PLOT_RED "'", "points pt '!'", "alarm"},
    };
    bool text = plot_script_is_text(request), many = data->n_nights > 120;
    fputs("plot \\\n", script);
    for (size_t i = 0; i < PLOT_N_EVENTS; i++) {
        if (i <= PLOT_EVENT_ROLLBACK && n_events[i] > 0)
            fprintf(script, "  $event%zu using 1:2 with %s title '%s', \\\n", i,
                    text ? marks[i].letters : marks[i].how, marks[i].title);
    }
    if (!text)
        fprintf(script, "  $nights using 1:3:(0):($4-$3) %s notitle, \\\n",
                many ? "with vectors nohead lw 1 lc rgb '#A6CBE3'"
                     : PLOT_WHISKERS " lw 1 lc rgb '" PLOT_BLUE "'");
    fprintf(script, "  $nights using 1:2 with linespoints %s lc rgb '" PLOT_BLUE "' title '",
            text   ? "pt 'o'"
            : many ? "pt 7 ps 0.4 lw 1"
                   : "pt 7 ps 0.8 lw 1.5");
    fprintf(script, text ? "settings in force" : "settings in force, %.3g %% interval",
            100 * data->confidence_share);
    fputc('\'', script);
    for (size_t i = PLOT_EVENT_SKIPPED; i < PLOT_N_EVENTS; i++) {
        if (n_events[i] > 0)
            fprintf(script, ", \\\n  $event%zu using 1:2 with %s title '%s'", i,
                    text ? marks[i].letters : marks[i].how, marks[i].title);
    }
    fputc('\n', script);
}

static void write_head(FILE *script, const struct plot_request *request, const struct plot_data *data)
{
    char what[3 * PLOT_TEXT_SIZE], detail[PLOT_TEXT_SIZE], words[PLOT_TEXT_SIZE];
    const char *pattern =
        data->pattern != PLOT_NO_LEVEL ? data->levels[PLOT_FACTOR_PATTERN].level[data->pattern].text : "";
    int used = snprintf(what, sizeof what, "History%s%s, %s", data->target[0] != '\0' ? " of " : "",
                        data->target, pattern);
    if (data->n_targets > 1)
        snprintf(what + used, sizeof what - (size_t)used, " (%s of %zu targets)",
                 data->is_newest_target ? "the newest" : "one", data->n_targets);
    const struct plot_night *last = &data->nights[data->n_nights - 1];
    used = snprintf(detail, sizeof detail, "%zu night%s", data->n_nights, data->n_nights == 1 ? "" : "s");
    if (data->n_elsewhere > 0)
        used += snprintf(detail + used, sizeof detail - (size_t)used,
                         ", %zu of other storage, host or pattern left out", data->n_elsewhere);
    snprintf(detail + used, sizeof detail - (size_t)used, "; the last with %s",
             plot_slice_words(data, &data->points[last->point], words));
    plot_script_begin(script, request, data, what, detail);
}

static int draw(const struct plot_request *request, const struct plot_data *data, FILE *script,
                struct err *err)
{
    if (data->n_nights == 0)
        return err_set(err, -ENODATA, "it holds no nights; this picture is drawn from a history, see --db");
    struct plot_unit unit = plot_script_unit(top_of(data));
    struct range range = time_range(data);
    double top = top_of(data) / unit.bps;
    double height = top * (1 + HEAD_SHARE);
    size_t n_events[PLOT_N_EVENTS];
    struct labels labels;
    place_labels(&labels, request, data, range);
    write_head(script, request, data);
    write_dates(script, request, range);
    fprintf(script, "set ylabel 'throughput, %s'\nset yrange [0:%.6g]\n", unit.name, height);
    plot_script_key_below(script, request, true);
    write_nights(script, data, unit);
    for (int i = 0; i < PLOT_N_EVENTS; i++) {
        enum plot_event_kind kind = (enum plot_event_kind)i;
        n_events[i] = kind <= PLOT_EVENT_ROLLBACK ? write_lines(script, data, kind, &labels, height)
                                                  : write_marks(script, data, kind, unit, height);
    }
    write_labels(script, request, data, &labels);
    write_plot(script, request, data, n_events);
    return 0;
}

const struct plot_ops plot_history = {
    "history", "throughput of the settings in force over nights, with changes marked (needs --db)", draw};
