/* tuner/picture/page: the search over time, from its journal: every run, and the setting that led after it.
 */
#include "bench/base/units.h"
#include "models/statistics/student.h"
#include "tuner/base/json.h"
#include "tuner/picture/page_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* More would make the page long and say no more. */
#define MAX_RUNS 5000

struct rival {
    struct point point;
    struct moments moments;
};

struct course {
    struct rival *rivals;
    size_t n_rivals;
    struct page_step *steps;
    size_t n_steps;
};

/* A run, and who led when it was over. */
struct page_step {
    const struct journal_run *run;
    size_t rival, leader;
    struct moments leading;
    struct interval interval; /* NaN below three runs */
};

static size_t n_runs(const struct page *page)
{
    const struct journal *journal = page->request->journal;
    return journal == NULL || journal->first >= journal->n_runs ? 0 : journal->n_runs - journal->first;
}

bool page_has_search(const struct page *page)
{
    return n_runs(page) > 0;
}

static size_t rival_of(struct course *course, const struct point *point)
{
    size_t i = 0;
    while (i < course->n_rivals && !factors_equal(&course->rivals[i].point, point))
        i++;
    if (i == course->n_rivals)
        course->rivals[course->n_rivals++].point = *point;
    return i;
}

static size_t leader_of(const struct course *course)
{
    size_t leader = 0;
    for (size_t i = 1; i < course->n_rivals; i++) {
        if (course->rivals[i].moments.mean > course->rivals[leader].moments.mean)
            leader = i;
    }
    return leader;
}

static double confidence_of(const struct page *page)
{
    double share = page_number(json_object_get(page->document, "throughput"), "confidence");
    return share > 0 && share < 1 ? share : 0.95;
}

static void take(struct course *course, const struct journal_run *run, double confidence)
{
    struct page_step *step = &course->steps[course->n_steps++];
    step->run = run;
    step->rival = rival_of(course, &run->point);
    moments_add(&course->rivals[step->rival].moments, run->sample.throughput_bps);
    step->leader = leader_of(course);
    step->leading = course->rivals[step->leader].moments;
    step->interval = student_interval(step->leading, confidence);
}

/* 0 or -ENOMEM; free_course accepts a zeroed one. */
static int follow(const struct page *page, struct course *course)
{
    const struct journal *journal = page->request->journal;
    course->rivals = calloc(MAX_RUNS, sizeof *course->rivals);
    course->steps = calloc(MAX_RUNS, sizeof *course->steps);
    if (course->rivals == NULL || course->steps == NULL)
        return -ENOMEM;
    for (size_t i = journal->first; i < journal->n_runs && course->n_steps < MAX_RUNS; i++)
        take(course, &journal->runs[i], confidence_of(page));
    return 0;
}

static void free_course(struct course *course)
{
    free(course->rivals);
    free(course->steps);
}

static void print_step(struct page *page, const struct course *course, const struct page_step *step)
{
    char at[UNITS_TEXT_SIZE], text[FACTORS_TEXT_SIZE], mean[UNITS_TEXT_SIZE];
    units_format_duration((uint64_t)fmax(step->run->at_seconds * 1e9, 0), at);
    fprintf(page->out, "<tr><th scope=\"row\">%s</th><td>%s<td>%s<td>%zu\n", at,
            factors_format(&course->rivals[step->leader].point, text),
            units_format_rate(step->leading.mean, mean), step->leading.n);
}

/* Only where another setting took the lead. */
static void print_leaders(struct page *page, const struct course *course)
{
    fputs(
        "<details><summary>Who led, as a table</summary><div class=\"scroll\" role=\"region\" "
        "aria-label=\"Leading settings\" tabindex=\"0\"><table><caption>Each time that another setting took "
        "the lead.</caption><thead><tr><th scope=\"col\">After</th><th scope=\"col\">Leading setting</th>"
        "<th scope=\"col\">Mean so far</th><th scope=\"col\">Its runs</th></tr></thead>\n<tbody>\n",
        page->out);
    for (size_t i = 0; i < course->n_steps; i++) {
        if (i == 0 || course->steps[i].leader != course->steps[i - 1].leader)
            print_step(page, course, &course->steps[i]);
    }
    fputs("</tbody></table></div></details>\n", page->out);
}

void page_search(struct page *page)
{
    struct course course = {0};
    fputs(
        "<p>The setting with the highest mean so far leads: with few runs by luck, perhaps. What is "
        "recommended "
        "was judged by more than that.</p>\n<div id=\"search-chart\" class=\"chart\"><noscript><p>The charts "
        "need JavaScript; the table has who led.</p></noscript></div>\n",
        page->out);
    if (n_runs(page) > MAX_RUNS)
        fprintf(page->out, "<p>The first %d of %zu runs.</p>\n", MAX_RUNS, n_runs(page));
    if (follow(page, &course) == 0)
        print_leaders(page, &course);
    free_course(&course);
}

static json_t *json_settings(const struct course *course)
{
    json_t *list = json_array();
    for (size_t i = 0; i < course->n_rivals; i++) {
        char text[FACTORS_TEXT_SIZE];
        json_array_append_new(list, json_string(factors_format(&course->rivals[i].point, text)));
    }
    return list;
}

json_t *page_search_json(const struct page *page)
{
    struct course course = {0};
    json_t *steps = json_array();
    if (page_has_search(page) && follow(page, &course) == 0) {
        for (size_t i = 0; i < course.n_steps; i++) {
            const struct page_step *step = &course.steps[i];
            json_array_append_new(
                steps, json_pack("[o, o, I, I, I, o, o, o]", json_number(step->run->at_seconds),
                                 json_number(page_rounded(step->run->sample.throughput_bps)),
                                 (json_int_t)step->rival, (json_int_t)step->leader,
                                 (json_int_t)step->leading.n, json_number(page_rounded(step->leading.mean)),
                                 json_number(page_rounded(step->interval.low)),
                                 json_number(page_rounded(step->interval.high))));
        }
    }
    json_t *object = json_pack("{s:o, s:o}", "settings", json_settings(&course), "steps", steps);
    free_course(&course);
    return object;
}
