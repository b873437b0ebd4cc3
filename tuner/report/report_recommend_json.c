/* The answer of `recommend` as JSON (interfaces, section 6: fstune/recommendation/1). */
#include "tuner/base/json.h"
#include "tuner/emit/report_snippet.h"
#include "tuner/report/answer.h"
#include "tuner/report/report_change.h"
#include "tuner/report/report_fio_job.h"
#include "tuner/report/report_importance.h"
#include "tuner/report/report_objective.h"
#include "tuner/report/report_profiles.h"
#include "tuner/report/report_sustained.h"
#include "tuner/report/report_table.h"
#include "tuner/search/prior.h"
#include "tuner/search/resume.h"
#include "tuner/session/json_row.h"

#include <math.h>
#include <string.h>

static json_t *json_baseline(bool known, const struct row *row, bool is_default,
                             struct objective_ratio speedup)
{
    json_t *object = known ? json_row(row) : json_object();
    json_object_set_new(object, "is_default", json_boolean(is_default));
    json_object_set_new(object, "speedup", report_objective_json_ratio(speedup));
    return object;
}

/* A row with its word in the table, that says what a limit has against it. */
static json_t *json_measured(const struct tune *tune, size_t i, const struct row *row)
{
    json_t *object = json_row(row);
    char standing[REPORT_STANDING_SIZE];
    if (report_table_standing(tune, i, standing)[0] != '\0')
        json_object_set_new(object, "standing", json_string(standing));
    const struct moments costs = record_neighbour_costs(&tune->records[i], false);
    if (costs.n > 0)
        json_object_set_new(object, "pcost", json_number(costs.mean));
    if (!engine_keeps_limit(&tune->engine, i))
        json_object_set_new(object,
                            engine_misses_limit(&tune->engine, i)            ? "over_limit"
                            : tune->settings->search.max_latency_p99_ns != 0 ? "p99_unknown"
                                                                             : "cost_unknown",
                            json_true());
    return object;
}

/* Rows of the measured points, all of them or those with one verdict (other than the chosen). */
static json_t *json_points(const struct tune *tune, bool all, enum verdict verdict)
{
    json_t *list = json_array();
    for (size_t i = 0; i < tune->n_records && list != NULL; i++) {
        struct row row;
        bool in_space = i < tune->space.n_points;
        bool wanted = all || (in_space && tune->engine.best != ENGINE_NONE &&
                              tune->engine.belief.moments[i].n > 0 && tune->engine.verdicts[i] == verdict);
        if (wanted && tune_row(tune, i, false, &row) == 0)
            json_array_append_new(list, json_measured(tune, i, &row));
    }
    return list;
}

static size_t count_measured(const struct tune *tune)
{
    size_t n = 0;
    for (size_t i = 0; i < tune->n_records; i++)
        n += tune->records[i].n > 0;
    return n;
}

static const char *method_used(const struct tune *tune)
{
    /* auto says which surrogate it took. */
    if (strcmp(tune->engine.search->name, "auto") == 0 && tune->engine.belief.chosen != NULL)
        return tune->engine.belief.chosen->name;
    return tune->engine.search->name;
}

static double score_of(const struct tune *tune, const struct surrogate_ops *surrogate)
{
    return tune->engine.belief.surrogate == surrogate ? tune->engine.belief.score : NAN;
}

static json_t *json_run_length(const struct tune *tune)
{
    const struct tune_length *length = &tune->length;
    return json_pack("{s:o, s:o, s:o, s:o, s:s}", "seconds", json_number((double)tune->duration_ns / 1e9),
                     "warmup_limit_seconds", json_number((double)length->warmup_limit_ns / 1e9),
                     "warmup_least_seconds", json_number((double)length->warmup_least_ns / 1e9),
                     "start_ratio", json_number(tune_transient_ratio(tune)), "why",
                     length->why != NULL ? length->why : "no run was made");
}

static json_t *wander_json(const struct wander *wander)
{
    return wander->variance > 0 ? json_pack("{s:o, s:o}", "cv", json_number(sqrt(wander->variance)),
                                            "seconds", json_number(wander->tau_seconds))
                                : json_null();
}

static json_t *json_search(const struct tune *tune)
{
    const struct session *session = tune->session;
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "method", method_used(tune),
                  "method_asked", tune->engine.search->name, "stop_reason", tune_stop_text[tune->engine.stop],
                  "space_points", (json_int_t)tune->space.n_points, "points_measured",
                  (json_int_t)count_measured(tune), "runs", (json_int_t)session->n_runs, "seconds",
                  json_number(session_seconds(session)), "bytes_written", (json_int_t)session->bytes_written,
                  "bytes_read", (json_int_t)session->bytes_read, "seed", (json_int_t)session->seed);
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "run_seconds", json_number((double)tune->duration_ns / 1e9));
    json_object_set_new(object, "run_length", json_run_length(tune));
    json_object_set_new(object, "runs_cut", json_integer((json_int_t)tune->n_cut));
    json_object_set_new(object, "loo_log_density_gp", json_number(score_of(tune, &surrogate_gp)));
    json_object_set_new(object, "loo_log_density_quadratic",
                        json_number(score_of(tune, &surrogate_quadratic)));
    json_object_set_new(object, "run_noise_cv", json_number(sqrt(tune->engine.belief.noise.variance)));
    json_object_set_new(object, "wander", wander_json(&tune->engine.belief.wander));
    json_object_set_new(object, "prior", prior_json(tune));
    json_object_set_new(object, "resumed", resume_json(session));
    json_object_set_new(object, "outlier_runs",
                        json_integer((json_int_t)belief_outlier_runs(&tune->engine.belief)));
    json_object_set_new(object, "two_level_points",
                        json_integer((json_int_t)belief_two_level_points(&tune->engine.belief)));
    return object;
}

/* Only the figures of throughput matter here. */
static json_t *json_counterpart(const struct tune *tune)
{
    struct row row;
    if (tune->engine.counterpart == ENGINE_NONE || row_of(&tune->records[tune->engine.counterpart], false,
                                                          tune->settings->runs.confidence_share, &row) < 0)
        return json_null();
    return json_pack("{s:s, s:o}", "pattern", tune->sequential.name, "throughput",
                     json_throughput(&row, tune->settings->runs.confidence_share));
}

static json_t *json_shortfall(const struct tune *tune)
{
    return json_pack("{s:o, s:f}", "share", json_number(tune_shortfall_share(tune)), "confidence",
                     tune->settings->runs.confidence_share);
}

/* What the fastest setting has and costs, as multiples of the recommended one. */
static json_t *json_best_over(const struct answer *answer)
{
    const struct row *best = &answer->best, *chosen = &answer->chosen;
    char words[REPORT_MORE_SIZE];
    double bytes =
        (double)factors_bytes_in_flight(&best->point) / (double)factors_bytes_in_flight(&chosen->point);
    bool tells =
        tune_is_of_throughput(answer->tune) && answer->tune->engine.best != answer->tune->engine.chosen;
    return json_pack("{s:o, s:o, s:o, s:o}", "throughput", json_number(best->mean_bps / chosen->mean_bps),
                     "latency", json_number(best->latency_ns.mean / chosen->latency_ns.mean),
                     "bytes_in_flight", json_number(bytes), "words",
                     tells ? json_text(report_table_more(answer->tune, words)) : json_null());
}

static json_t *json_words_or_null(const char *text)
{
    return text[0] != '\0' ? json_text(text) : json_null();
}

static void set_answer(json_t *object, const struct answer *answer)
{
    char words[REPORT_CHANGE_SIZE];
    const struct tune *tune = answer->tune;
    bool known = answer->has_rows;
    json_object_set_new(object, "recommendation", known ? json_point(&answer->chosen.point) : json_null());
    json_object_set_new(object, "keep", json_words_or_null(report_change_keep(answer, words)));
    json_object_set_new(object, "unlike", json_words_or_null(report_change_promises(answer, words)));
    if (answer->reason != NULL)
        json_object_set_new(object, "reasons", json_pack("[o]", json_text(answer->reason)));
    if (isfinite(tune_lowest_p99_ns(tune)))
        json_object_set_new(object, "lowest_p99_ns", json_number(tune_lowest_p99_ns(tune)));
    json_object_set_new(object, "objective", report_objective_json(tune));
    report_profiles_json(object, tune);
    report_sustained_figures(object, known ? &answer->chosen : NULL, tune->settings->runs.confidence_share,
                             answer->has_sustained ? &answer->sustained : NULL);
    json_object_set_new(object, "probability_within_tolerance",
                        known ? json_number(tune->engine.probability) : json_null());
    json_object_set_new(object, "shortfall_bound", known ? json_shortfall(tune) : json_null());
    json_object_set_new(object, "basis",
                        known ? json_string(tune->engine.is_proved ? "proved" : "expected") : json_null());
    json_object_set_new(object, "conclusive", json_boolean(known && tune->engine.conclusive));
    json_object_set_new(object, "best", known ? json_row(&answer->best) : json_null());
    json_object_set_new(object, "best_over_recommended", known ? json_best_over(answer) : json_null());
    json_object_set_new(
        object, "baseline",
        json_baseline(answer->has_baseline, &answer->baseline, tune->baseline_is_default, answer->speedup));
    if (answer->splits)
        json_object_set_new(object, "split",
                            json_pack("{s:o, s:o, s:o}", "gain",
                                      report_objective_json_ratio(tune->split_gain), "split",
                                      answer->has_split ? json_row(&answer->split) : json_null(), "unsplit",
                                      answer->has_unsplit ? json_row(&answer->unsplit) : json_null()));
    json_object_set_new(object, "sequential_counterpart", json_counterpart(tune));
    if (answer->has_default_setting)
        json_object_set_new(object, "default",
                            json_baseline(true, &answer->default_setting, true, answer->default_speedup));
}

json_t *report_recommendation_document(const struct answer *answer)
{
    const struct tune *tune = answer->tune;
    json_t *object = json_pack("{s:s, s:s, s:b, s:o}", "schema", "fstune/recommendation/1", "version",
                               FSTUNE_VERSION, "interrupted", answer->interrupted, "pattern",
                               json_pattern(&tune->settings->workload.pattern));
    if (object == NULL)
        return NULL;
    set_answer(object, answer);
    for (size_t i = 0; i < answer->n_parts; i++)
        answer->parts[i].add(object, answer->parts[i].context);
    json_object_set_new(object, "equivalent", json_points(tune, false, VERDICT_EQUIVALENT));
    json_object_set_new(object, "undecided", json_points(tune, false, VERDICT_UNDECIDED));
    json_object_set_new(object, "importance", report_importance_json(tune));
    json_object_set_new(object, "search", json_search(tune));
    if (!tune->session->simulated)
        json_object_set_new(
            object, "wear",
            drive_health_json(&tune->session->drive_health_before, &tune->session->drive_health_after));
    json_object_set_new(object, "points", json_points(tune, true, VERDICT_WORSE));
    json_object_set_new(object, "dropped", json_notes(&tune->session->dropped, "what", "why"));
    json_object_set_new(object, "warnings", json_warnings(&tune->session->warnings));
    json_object_set_new(object, "system", json_system(tune->session));
    if (tune->settings->runs.fio_job && answer->has_rows)
        json_object_set_new(
            object, "fio_job",
            report_fio_job_json(tune->session, &answer->chosen, (double)tune->duration_ns / 1e9));
    if (tune->settings->snippet.format[0] != '\0')
        json_object_set_new(object, "snippet", report_snippet_json(&tune->settings->snippet, object));
    return object;
}

int report_recommendation_json(FILE *out, const struct answer *answer, struct err *err)
{
    return json_print(out, report_recommendation_document(answer), err);
}
