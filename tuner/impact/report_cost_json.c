/* The document fstune/cost/1. */
#include "tuner/impact/report_cost.h"

#include "tuner/base/json.h"

#include <math.h>

static json_t *intervals_json(const struct base_sequence_runs *runs)
{
    json_t *rows = json_array();
    for (size_t j = 1; j < runs->n_times; j++) {
        const struct base_sequence_step step = base_sequence_step_of(runs, j);
        json_array_append_new(rows,
                              json_pack("{s:o, s:o, s:o}", "base_s", json_number(step.base_s), "delayed_s",
                                        json_number(step.delayed_s), "pcost", json_number(step.cost_share)));
    }
    return rows;
}

static json_t *steps_json(struct report_cost_steps steps)
{
    return isfinite(steps.p50_s) ? json_pack("{s:o, s:o, s:o}", "p50_s", json_number(steps.p50_s), "p99_s",
                                             json_number(steps.p99_s), "max_s", json_number(steps.max_s))
                                 : json_null();
}

static json_t *reference_json(const struct cost *cost, size_t r, size_t load)
{
    const struct base_sequence_runs runs = cost_runs(cost, r, load);
    struct base_sequence_estimate estimate;
    if (base_sequence_estimate(&runs, cost->settings->runs.confidence_share, &estimate) < 0)
        return NULL;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "reference",
        cost->references[r].name != NULL ? json_string(cost->references[r].name) : json_null(), "pcost",
        json_number(estimate.cost_share), "ci_low", json_number(estimate.cost.low), "ci_high",
        json_number(estimate.cost.high), "slowdown",
        json_interval(estimate.slowdown, estimate.slowdown_interval.low, estimate.slowdown_interval.high),
        "intervals", intervals_json(&runs), "steps_alone",
        steps_json(report_cost_steps_of(cost, r, cost->n_loads)), "steps_beside",
        steps_json(report_cost_steps_of(cost, r, load)));
}

static json_t *pressure_json(const struct cost_series *series)
{
    json_t *object = json_object();
    for (int kind = 0; kind < PRESSURE_N; kind++)
        json_object_set_new(object, pressure_names[kind],
                            json_number(series->pressure.some_s[kind] / series->seconds));
    return object;
}

static double share_of(double delay_s, double units)
{
    return units > 0 ? delay_s / units : NAN;
}

/* Sums over all references. */
static json_t *work_json(const struct cost *cost, size_t load)
{
    double delay_s = 0, seconds = 0, completed = 0, cpu_s = 0, read = 0, written = 0;
    for (size_t r = 0; r < cost->n_references; r++) {
        const struct cost_series *series = &cost->references[r].loads[load];
        delay_s += series->seconds - cost->references[r].alone.seconds;
        seconds += series->seconds;
        completed += series->work.completed;
        cpu_s += series->work.cpu_s;
        read += series->work.read_bytes;
        written += series->work.written_bytes;
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "seconds", json_number(seconds),
                     "completed", json_number(completed), "cpu_s", json_number(cpu_s), "read_bytes",
                     json_number(read), "written_bytes", json_number(written), "neighbour_delay_s",
                     json_number(delay_s), "delay_s_per_run", json_number(share_of(delay_s, completed)),
                     "delay_s_per_gigabyte", json_number(1e9 * share_of(delay_s, read + written)),
                     "delay_s_per_cpu_s", json_number(share_of(delay_s, cpu_s)));
}

static json_t *load_json(const struct cost *cost, size_t load, const struct cost_answer *answer)
{
    json_t *references = json_array();
    for (size_t r = 0; r < cost->n_references; r++)
        json_array_append_new(references, reference_json(cost, r, load));
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "load",
                  cost->load[load] != NULL ? json_text(cost->load[load]) : json_null(), "pcost",
                  json_number(answer->cost_share), "ci_low", json_number(answer->cost.low), "ci_high",
                  json_number(answer->cost.high), "heavy", answer->is_heavy, "references", references);
    if (cost->settings->program != NULL) {
        json_object_set_new(object, "work", work_json(cost, load));
        json_object_set_new(object, "pressure_alone", pressure_json(&cost->references[0].alone));
        json_object_set_new(object, "pressure_beside", pressure_json(&cost->references[0].loads[load]));
    }
    return object;
}

static json_t *command_json(const struct settings *settings)
{
    json_t *words = json_array();
    for (size_t i = 0; settings->program[i] != NULL; i++)
        json_array_append_new(words, json_text(settings->program[i]));
    return words;
}

int report_cost_json(FILE *out, const struct cost *cost, struct err *err)
{
    struct cost_answer answer;
    size_t worst = 0;
    int result = cost_worst_load(cost, &worst, err);
    if (result == 0)
        result = cost_answer_of(cost, worst, &answer, err);
    if (result < 0)
        return result;
    json_t *loads = json_array();
    const struct base_sequence_runs runs = cost_runs(cost, 0, worst);
    json_t *document = json_pack(
        "{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:b, s:I, s:o, s:o}", "schema", "fstune/cost/1", "version",
        FSTUNE_VERSION, "interrupted", cost->is_interrupted, "pcost", json_number(answer.cost_share),
        "ci_low", json_number(answer.cost.low), "ci_high", json_number(answer.cost.high), "confidence",
        json_number(cost->settings->runs.confidence_share), "heavy", answer.is_heavy, "runs",
        (json_int_t)cost->n_runs, "intervals", intervals_json(&runs), "loads", loads);
    for (size_t load = 0; load < cost->n_loads && result == 0; load++) {
        result = cost_answer_of(cost, load, &answer, err);
        if (result == 0)
            json_array_append_new(loads, load_json(cost, load, &answer));
    }
    if (document != NULL && cost->settings->program != NULL) {
        json_object_set_new(document, "command", command_json(cost->settings));
        json_object_set_new(document, "observer",
                            json_string(observer_names[cost->references[0].observer.kind]));
        json_object_set_new(document, "seed", json_integer((json_int_t)cost->seed));
    }
    if (result < 0) {
        json_decref(document);
        return result;
    }
    return json_print(out, document, err);
}
