/* A task's prediction as text and JSON. */
#include "tuner/impact/predict_task.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <math.h>

#define DEPTH_RATIO                                                                                          \
    1.5 /* of a task's and the system vector's, from which on the one says little of the other */

static const char *seconds_text(double s, char *buffer)
{
    return text_short_duration(s * 1e9, buffer);
}

/* Changes of that mix in the task. */
static double changes_of(const struct predict_task *task, size_t mix)
{
    struct task_prediction alone;
    if (task_vector_predict(task->operation, task->n, &task->mix[mix], 1, &alone) < 0)
        return 0;
    return alone.n_changes;
}

/* Costs at one depth do not hold at another. */
static void print_depth(FILE *out, const struct predict_task *task)
{
    const double measured = task->system.n_workers, ratio = task->depth / measured;
    const double wanted = fmin(fmax(round(task->depth), 1), CREW_MAX);
    if (measured > 1)
        fprintf(out, "with %u operations under way at a time, as the system vector was measured\n",
                task->system.n_workers);
    if ((ratio > DEPTH_RATIO || ratio < 1 / DEPTH_RATIO) && wanted != measured)
        fprintf(out,
                "the profile has %.3g requests under way on average; measure the system vector again with "
                "fstune atoms --io --queue-depth %.0f\n",
                task->depth, wanted);
}

int predict_task_text(FILE *out, const struct predict_task *task, struct err *err)
{
    const struct task_prediction *prediction = &task->prediction;
    char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE];
    fprintf(out, "Predicted: %s", seconds_text(prediction->seconds, a));
    if (isfinite(prediction->interval.low))
        fprintf(out, " (%s to %s)", seconds_text(fmax(prediction->interval.low, 0), b),
                seconds_text(prediction->interval.high, c));
    fprintf(out, "; without what changes between kinds cost, %s\n",
            seconds_text(prediction->uncorrected_s, b));
    print_depth(out, task);
    fputc('\n', out);
    fprintf(out, "  %-24s %10s %10s %10s\n", "operation", "count", "each", "in all");
    for (size_t i = 0; i < task->n; i++) {
        const struct task_operation *operation = &task->operation[i];
        fprintf(out, "  %-24s %10s %10s %10s\n", task->name[i], units_format_count(operation->count, a),
                seconds_text(operation->cost.s, b), seconds_text(operation->count * operation->cost.s, c));
    }
    for (size_t i = 0; i < task->n_mixes; i++) {
        const double n = changes_of(task, i), each_s = task->mix[i].change.s;
        if (n > 0)
            fprintf(out, "  %-24s %10s %9.3g us %8.3g s\n", task->mix_name[i], units_format_count(n, a),
                    each_s * 1e6, n * each_s);
    }
    if (task->n_mixes == 0)
        fputs("\nno change between kinds has a cost that could be told from 0, so nothing is corrected\n",
              out);
    return text_finish(out, err);
}

static json_t *term_json(const char *name, double count, double each_s)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "operation", name, "count", json_number(count), "each_s",
                     json_number(each_s), "seconds", json_number(count * each_s));
}

int predict_task_json(FILE *out, const struct predict_task *task, struct err *err)
{
    const struct task_prediction *prediction = &task->prediction;
    json_t *terms = json_array(), *changes = json_array();
    for (size_t i = 0; i < task->n; i++)
        json_array_append_new(terms,
                              term_json(task->name[i], task->operation[i].count, task->operation[i].cost.s));
    for (size_t i = 0; i < task->n_mixes; i++)
        json_array_append_new(changes,
                              term_json(task->mix_name[i], changes_of(task, i), task->mix[i].change.s));
    return json_print(out,
                      json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
                                "fstune/task-prediction/1", "version", FSTUNE_VERSION, "queue_depth",
                                (int)task->system.n_workers, "seconds", json_number(prediction->seconds),
                                "ci_low", json_number(prediction->interval.low), "ci_high",
                                json_number(prediction->interval.high), "uncorrected_s",
                                json_number(prediction->uncorrected_s), "terms", terms, "changes", changes),
                      err);
}
