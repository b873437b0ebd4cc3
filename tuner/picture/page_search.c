/* tuner/picture/page: the search over time, from its journal: every run, and the setting that led after it.
 */
#include "models/statistics/student.h"
#include "tuner/base/json.h"
#include "tuner/picture/page_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* More would make the page long and say no more. The page says that there are more. */
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

static void take_course_run(struct course *course, const struct journal_run *run, double confidence)
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
static int follow_journal(const struct page *page, struct course *course)
{
    const struct journal *journal = page->request->journal;
    course->rivals = calloc(MAX_RUNS, sizeof *course->rivals);
    course->steps = calloc(MAX_RUNS, sizeof *course->steps);
    if (course->rivals == NULL || course->steps == NULL)
        return -ENOMEM;
    for (size_t i = journal->first; i < journal->n_runs && course->n_steps < MAX_RUNS; i++)
        take_course_run(course, &journal->runs[i], confidence_of(page));
    return 0;
}

static void free_course(struct course *course)
{
    free(course->rivals);
    free(course->steps);
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

static json_t *json_steps(const struct course *course)
{
    json_t *list = json_array();
    for (size_t i = 0; i < course->n_steps; i++) {
        const struct page_step *step = &course->steps[i];
        json_array_append_new(list,
                              json_pack("[o, o, I, I, I, o, o, o]", json_number(step->run->at_seconds),
                                        page_figure(step->run->sample.throughput_bps),
                                        (json_int_t)step->rival, (json_int_t)step->leader,
                                        (json_int_t)step->leading.n, page_figure(step->leading.mean),
                                        page_figure(step->interval.low), page_figure(step->interval.high)));
    }
    return list;
}

json_t *page_search(const struct page *page)
{
    struct course course = {0};
    json_t *object = NULL;
    if (n_runs(page) == 0 || follow_journal(page, &course) == 0)
        object = json_pack("{s:o, s:o, s:I}", "settings", json_settings(&course), "steps",
                           json_steps(&course), "n_runs", (json_int_t)n_runs(page));
    free_course(&course);
    return object;
}
