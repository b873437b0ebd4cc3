/* Throughput of the current setting, night by night, with changes, rollbacks, alarms and skipped nights. */
#include "tuner/picture/plot_assets.h"
#include "tuner/picture/plot_script.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define DAY_S      86400.0
#define N_ROWS     4 /* of labels above the curve; what finds no room in them is left out */
#define HEAD_SHARE 0.30
#define LABEL_SIZE 52
#define LETTER     6.2 /* pixels of a label's letter, on average */
#define MAX_LABELS 64
#define MARK_SHARE 0.03 /* where skipped nights are marked, above the axis */

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

/* Cut at 1.5 times the highest mean: a bound far above would flatten the curve. */
static double highest_mean_of(const struct plot_data *data)
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

static const struct plot_night *night_of(const struct plot_data *data, const struct plot_event *event)
{
    for (size_t i = 0; i < data->n_nights && event->run_id != 0; i++) {
        if (data->nights[i].run_id == event->run_id)
            return &data->nights[i];
    }
    return NULL;
}

/* The line breaks where other settings are in force. */
static void write_nights(FILE *script, const struct plot_data *data)
{
    fputs("$nights << EOD\n", script);
    for (size_t i = 0; i < data->n_nights; i++) {
        const struct plot_night *night = &data->nights[i];
        if (i > 0 && night->point != data->nights[i - 1].point)
            fputc('\n', script);
        fprintf(script, "%.0f %.6g", night->at_s, night->mean_bps);
        plot_script_number(script, night->ci_low_bps);
        plot_script_number(script, night->ci_high_bps);
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

/* True where no label overlaps another, and no line crosses a label. */
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

static void write_labels(FILE *script, const struct plot_data *data, const struct labels *labels)
{
    char words[PLOT_TEXT_SIZE];
    if (labels->n == 0)
        return;
    plot_script_begin_array(script, "labels", labels->n);
    for (size_t i = 0; i < labels->n; i++)
        plot_script_item(script, i, words_of(data, &data->events[labels->label[i].event], words), LABEL_SIZE,
                         false);
    plot_script_end_array(script);
    fputs("$labels << EOD\n", script);
    for (size_t i = 0; i < labels->n; i++)
        fprintf(script, "%.0f %.3f %d\n", data->events[labels->label[i].event].at_s,
                height_of(&labels->label[i]), labels->label[i].is_left);
    fputs("EOD\n", script);
}

/* What came into force is a vertical line; an alarm stands on its night, a skipped night above the axis. */
static void write_event(FILE *script, const struct plot_data *data, size_t i, const struct labels *labels,
                        double height)
{
    const struct plot_event *event = &data->events[i];
    const struct plot_night *night = event->kind == PLOT_EVENT_ALARM ? night_of(data, event) : NULL;
    const int kind = (int)event->kind + 1;
    if (event->kind <= PLOT_EVENT_ROLLBACK)
        fprintf(script, "%.0f 0 %d\n%.0f %.6g %d\n\n", event->at_s, kind, event->at_s,
                line_height(labels, i) * height, kind);
    else
        fprintf(script, "%.0f %.6g %d\n\n", night != NULL ? night->at_s : event->at_s,
                night != NULL ? night->mean_bps : height * MARK_SHARE, kind);
}

static void write_history_head(FILE *script, const struct plot_request *request, const struct plot_data *data)
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

static int draw_history(const struct plot_request *request, const struct plot_data *data, FILE *script,
                        struct err *err)
{
    if (data->n_nights == 0)
        return err_set(err, -ENODATA, "it holds no nights; this picture is drawn from a history, see --db");
    const struct range range = time_range(data);
    const double height = highest_mean_of(data) * (1 + HEAD_SHARE);
    struct labels labels;
    place_labels(&labels, request, data, range);
    write_history_head(script, request, data);
    fprintf(script,
            "top = %.6g\nheight_of_all = %.6g\nfrom = %.0f\nto = %.0f\nroom = %.6g\nn_nights = %zu\n"
            "n_labels = %zu\n",
            highest_mean_of(data), height, range.low, range.high, room_of(request), data->n_nights, labels.n);
    write_labels(script, data, &labels);
    write_nights(script, data);
    fputs("$events << EOD\n" PLOT_NOTHING, script);
    for (size_t i = 0; i < data->n_events; i++)
        write_event(script, data, i, &labels, height);
    fputs("EOD\n", script);
    fputs(plot_assets_head, script);
    fputs(plot_assets_history, script);
    return 0;
}

const struct plot_ops plot_history = {
    "history", "throughput of the current setting over nights, with changes marked (needs --db)",
    draw_history};
