/* The view of a search or an experiment, as text. */
#include "tuner/report/live.h"

#include "bench/base/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NARROW_COLUMNS 60 /* below, only figures have room */
#define FIGURE_CELLS   9  /* "1.21 GB/s" */
#define BAR_SHARE      5  /* of a line's cells, as a divisor */
#define BAR_MOST       24

#define BOLD_GREEN "\033[1;32m"
#define CYAN       "\033[36m"
#define PLAIN      "\033[0m"

/* A text that grows; what would pass the width of its line is dropped. */
struct paper {
    const struct progress_form *form;
    size_t width, cells, n_lines, length;
    char *text; /* LIVE_TEXT_SIZE */
};

void live_offer(struct live *live, const struct live_row *row)
{
    size_t place = live->n_rows;
    while (place > 0 && row->worth > live->rows[place - 1].worth)
        place--;
    if (place == LIVE_ROWS)
        return;
    live->n_rows += live->n_rows < LIVE_ROWS;
    memmove(&live->rows[place + 1], &live->rows[place], (live->n_rows - place - 1) * sizeof live->rows[0]);
    live->rows[place] = *row;
}

static void put_byte(struct paper *paper, char byte)
{
    if (paper->length + 1 < LIVE_TEXT_SIZE)
        paper->text[paper->length++] = byte;
    paper->text[paper->length] = '\0';
}

static void put_text(struct paper *paper, const char *text)
{
    for (; *text != '\0'; text++) {
        bool continues = ((unsigned char)*text & 0xC0) == 0x80;
        if (!continues && paper->cells == paper->width)
            return;
        paper->cells += !continues;
        put_byte(paper, *text);
    }
}

__attribute__((format(printf, 2, 3))) static void put(struct paper *paper, const char *format, ...)
{
    char text[2 * LIVE_NAME_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(paper, text);
}

/* Takes no cell. */
static void put_colour(struct paper *paper, const char *code)
{
    for (; paper->form->colours && *code != '\0'; code++)
        put_byte(paper, *code);
}

static void end_line(struct paper *paper)
{
    put_byte(paper, '\n');
    paper->cells = 0;
    paper->n_lines++;
}

static size_t bar_cells(const struct paper *paper)
{
    size_t cells = paper->width / BAR_SHARE;
    return cells < BAR_MOST ? cells : BAR_MOST;
}

static double within_0_and_1(double share)
{
    return share > 0 ? fmin(share, 1) : 0;
}

/* Always bar_cells wide. Blocks end in eighths of a cell: U+2588 is a whole one, U+258F one eighth. */
static void put_bar(struct paper *paper, double share)
{
    size_t cells = bar_cells(paper);
    size_t eighths = (size_t)lround(within_0_and_1(share) * (double)cells * 8);
    size_t whole = paper->form->utf8 ? eighths / 8 : (eighths + 4) / 8;
    size_t part = paper->form->utf8 ? eighths % 8 : 0;
    char block[] = {'\xE2', '\x96', (char)(0x90 - (int)part), '\0'};
    for (size_t i = 0; i < whole; i++)
        put_text(paper, paper->form->utf8 ? "\u2588" : "#");
    if (part > 0)
        put_text(paper, block);
    for (size_t i = whole + (part > 0); i < cells; i++)
        put_text(paper, " ");
}

static const char *format_figure(enum live_unit unit, double log_value, char text[UNITS_TEXT_SIZE])
{
    double value = exp(log_value);
    char count[UNITS_TEXT_SIZE];
    if (unit == LIVE_BYTES_PER_S)
        return units_format_rate(value, text);
    if (unit == LIVE_NS)
        return value < 1e18 ? units_format_duration((uint64_t)llround(value), text) : "n/a";
    snprintf(text, UNITS_TEXT_SIZE, "%.*s/s", UNITS_TEXT_SIZE - 3, units_format_count(value, count));
    return text;
}

static void put_progress(const struct live *live, struct paper *paper)
{
    if (paper->form->columns >= NARROW_COLUMNS) {
        put(paper, "[");
        put_bar(paper, live->done_share);
        put(paper, "] %3.0f %%  ", within_0_and_1(live->done_share) * 100);
    }
    put(paper, "%s", live->progress);
    end_line(paper);
}

static void put_interval(const struct live *live, struct paper *paper)
{
    char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
    struct interval interval = student_interval(live->best.logs, live->confidence);
    bool wide = paper->form->columns >= NARROW_COLUMNS;
    if (!isfinite(interval.low) || !isfinite(interval.high)) {
        put(paper, " (no interval yet)");
        return;
    }
    format_figure(live->unit, interval.low, low);
    format_figure(live->unit, interval.high, high);
    if (wide)
        put(paper, " (%g %%: %s to %s)", live->confidence * 100, low, high);
    else
        put(paper, " (%s-%s)", low, high);
}

static void put_best(const struct live *live, struct paper *paper)
{
    char figure[UNITS_TEXT_SIZE];
    put_colour(paper, BOLD_GREEN);
    put(paper, "best ");
    if (live->has_best) {
        put(paper, "%s", format_figure(live->unit, live->best.logs.mean, figure));
        put_interval(live, paper);
        put(paper, "  %s", live->best.name);
    } else {
        put(paper, "not known yet");
    }
    put_colour(paper, PLAIN);
    end_line(paper);
}

static double longest_bar(const struct live *live)
{
    double longest = -INFINITY;
    for (size_t i = 0; i < live->n_rows; i++)
        longest = fmax(longest, live->rows[i].logs.mean);
    return longest;
}

/* The best has a sign too: colours are not for everybody. */
static void put_row(const struct live *live, const struct live_row *row, struct paper *paper)
{
    char figure[UNITS_TEXT_SIZE];
    bool is_best = live->has_best && live->best.id == row->id;
    put(paper, "%c %*s ", is_best ? '*' : ' ', FIGURE_CELLS,
        format_figure(live->unit, row->logs.mean, figure));
    put_colour(paper, is_best ? BOLD_GREEN : CYAN);
    put_bar(paper, exp(row->logs.mean - longest_bar(live)));
    put_colour(paper, PLAIN);
    put(paper, " x%-3zu %s", row->logs.n, row->name);
    end_line(paper);
}

size_t live_paint(const struct live *live, const struct progress_form *form, char ret_text[LIVE_TEXT_SIZE])
{
    /* The cursor stands below the lines; room for all rows is asked for at once, so that the view does not
     * come and go. */
    if (!form->moves || form->rows < LIVE_LINES + 1 || form->columns < LIVE_LEAST_COLUMNS)
        return 0;
    struct paper paper = {.form = form, .width = form->columns - 1, .text = ret_text};
    if (paper.width > LIVE_WIDEST)
        paper.width = LIVE_WIDEST;
    put_progress(live, &paper);
    put(&paper, "now  %s", live->now);
    end_line(&paper);
    put_best(live, &paper);
    for (size_t i = 0; i < live->n_rows; i++)
        put_row(live, &live->rows[i], &paper);
    return paper.n_lines;
}

void live_show(const struct live *live, struct progress *progress)
{
    char text[LIVE_TEXT_SIZE], figure[UNITS_TEXT_SIZE] = "";
    struct progress_form form = progress_form();
    size_t n_lines = live_paint(live, &form, text);
    if (n_lines > 0) {
        progress_draw(progress, text, n_lines);
        return;
    }
    if (live->has_best)
        format_figure(live->unit, live->best.logs.mean, figure);
    progress_show(progress, "%s  %s%s%s", live->progress, live->now, live->has_best ? "  best so far " : "",
                  figure);
}
