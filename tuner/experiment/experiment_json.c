/* The document of an experiment: the seam to everything that is made of its results. */
#include "tuner/experiment/experiment.h"

#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/report/report_plan.h"
#include "tuner/session/json_row.h"
#include "tuner/session/warnings.h"

#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const cache_names[] = {[MEASURE_CACHE_COLD] = "cold", [MEASURE_CACHE_WARM] = "warm"};

/* Of a factor that has names. */
static const char *level_name(const struct experiment *experiment, size_t factor, uint64_t level)
{
    switch (factor) {
    case FACTOR_API:
        return api_names[level];
    case FACTOR_SYNC:
        return sync_names[level];
    case FACTOR_N + CONDITION_CACHE:
        return cache_names[level];
    default:
        return experiment->settings->experiment.patterns[level].name;
    }
}

/* "The whole file" is a size as well, and "as the reads" one of writes. */
static uint64_t bytes_of(const struct experiment *experiment, const struct experiment_cell *cell,
                         size_t factor)
{
    if (factor == FACTOR_N + CONDITION_FILE_SIZE && cell->level[factor] == 0)
        return experiment->whole_bytes;
    if (factor == FACTOR_WRITE_SIZE)
        return factors_write_size_bytes(&cell->record.point);
    return cell->level[factor];
}

static json_t *level_json(const struct experiment *experiment, const struct experiment_cell *cell,
                          size_t factor)
{
    if (experiment_factors[factor].kind == EXPERIMENT_NAME)
        return json_text(level_name(experiment, factor, cell->level[factor]));
    return json_integer((json_int_t)bytes_of(experiment, cell, factor));
}

static void format_level(const struct experiment *experiment, const struct experiment_cell *cell,
                         size_t factor, char *text, size_t size)
{
    char bytes[UNITS_TEXT_SIZE];
    enum experiment_kind kind = experiment_factors[factor].kind;
    uint64_t value = bytes_of(experiment, cell, factor);
    if (kind == EXPERIMENT_NAME)
        snprintf(text, size, "%s", level_name(experiment, factor, cell->level[factor]));
    else if (factor == FACTOR_N + CONDITION_ALIGNMENT && value == 0)
        snprintf(text, size, "own size");
    else if (kind == EXPERIMENT_BYTES)
        snprintf(text, size, "%s", units_format_size(value, bytes));
    else
        snprintf(text, size, "%" PRIu64, value);
}

static json_t *level_text(const struct experiment *experiment, const struct experiment_cell *cell,
                          size_t factor)
{
    char text[PATTERN_NAME_SIZE];
    format_level(experiment, cell, factor, text, sizeof text);
    return json_text(text);
}

void experiment_conditions(const struct experiment *experiment, const struct experiment_cell *cell,
                           char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t condition = 0; condition < CONDITION_N; condition++) {
        char level[PATTERN_NAME_SIZE];
        if (!experiment->varied[condition] || length >= size)
            continue;
        format_level(experiment, cell, FACTOR_N + condition, level, sizeof level);
        length += (size_t)snprintf(text + length, size - length, "%s%s=%s", length > 0 ? " " : "",
                                   experiment_factors[FACTOR_N + condition].name, level);
    }
}

static const struct experiment_cell *cell_with(const struct experiment *experiment, size_t factor,
                                               uint64_t level)
{
    const struct experiment_cell *cell = experiment->cells;
    while (cell->left_out || cell->level[factor] != level)
        cell++;
    return cell;
}

static json_t *factor_json(const struct experiment *experiment, size_t factor)
{
    const struct experiment_factor *row = &experiment_factors[factor];
    uint64_t levels[EXPERIMENT_MAX_LEVELS];
    size_t n = experiment_levels(experiment, factor, levels);
    json_t *values = json_array(), *texts = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct experiment_cell *cell = cell_with(experiment, factor, levels[i]);
        json_array_append_new(values, level_json(experiment, cell, factor));
        json_array_append_new(texts, level_text(experiment, cell, factor));
    }
    return json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", row->name, "unit",
                     row->kind == EXPERIMENT_BYTES ? "bytes" : "", "ordered", row->ordered, "levels", values,
                     "texts", texts);
}

static bool is_varied(size_t factor, const size_t *varied, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (varied[i] == factor)
            return true;
    }
    return false;
}

/* A surface has no file, and writes without a size of their own have that of requests: both are left out. */
static bool is_void(const struct experiment *experiment, size_t factor)
{
    const struct experiment_cell *any = experiment->cells;
    switch (factor) {
    case FACTOR_WRITE_SIZE:
        return !factors_is_split(&any->record.point);
    case FACTOR_N + CONDITION_FILE_SIZE:
    case FACTOR_N + CONDITION_FILES:
        return experiment->session->simulated;
    case FACTOR_N + CONDITION_ALIGNMENT:
        return any->level[factor] == 0;
    default:
        return false;
    }
}

static void set_factors(json_t *document, const struct experiment *experiment)
{
    size_t varied[EXPERIMENT_N], n = experiment_varied(experiment, varied);
    json_t *factors = json_array(), *fixed = json_object();
    const struct experiment_cell *any = experiment->cells;
    while (any->left_out && any + 1 < experiment->cells + experiment->n_cells)
        any++;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(factors, factor_json(experiment, varied[i]));
    for (size_t factor = 0; factor < EXPERIMENT_N; factor++) {
        if (!is_varied(factor, varied, n) && !is_void(experiment, factor))
            json_object_set_new(fixed, experiment_factors[factor].name, level_json(experiment, any, factor));
    }
    json_object_set_new(document, "factors", factors);
    json_object_set_new(document, "fixed", fixed);
}

static json_t *run_json(const struct experiment *experiment, const struct experiment_cell *cell, size_t i)
{
    const struct sample *sample = &cell->record.samples[i];
    const struct settings *settings = experiment->settings;
    double requests = (double)sample->moved_bytes /
                      measure_request_bytes(experiment_pattern(experiment, cell), &cell->record.point);
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "number", (json_int_t)cell->numbers[i],
                     "throughput_bps", json_number(sample->throughput_bps), "iops", json_number(sample->iops),
                     "latency_mean_ns", json_number(sample->latency_mean_ns), "latency_p99_ns",
                     json_number(sample->latency_p99_ns), "seconds", json_number(sample->seconds), "bytes",
                     (json_int_t)sample->bytes, "batches",
                     json_number(floor(requests / settings->runs.batch_requests)));
}

/* The figures of a cell as a row; of one without runs as far as there are any. */
static json_t *figures_json(const struct experiment *experiment, const struct experiment_cell *cell)
{
    struct session *session = experiment->session;
    struct row row;
    double confidence = experiment->settings->runs.confidence_share;
    if (row_of(&cell->record, false, confidence, &row) == 0) {
        experiment_enter(experiment, cell);
        row.disqualifying = session_disqualifying(session, row.mostly, &row.point);
        experiment_leave(experiment);
        warnings_note(&session->warnings, row.warning_set, row.disqualifying);
    } else {
        row = (struct row){.point = cell->record.point,
                           .mean_bps = NAN,
                           .ci_low_bps = NAN,
                           .ci_high_bps = NAN,
                           .std_bps = NAN,
                           .iops = NAN,
                           .achieved_depth = NAN};
        row.latency_ns = (struct latency_row){.mean = NAN,
                                              .ci_low = NAN,
                                              .ci_high = NAN,
                                              .p50 = NAN,
                                              .p99 = NAN,
                                              .p999 = NAN,
                                              .max = NAN,
                                              .p50_ci = {NAN, NAN},
                                              .p99_ci = {NAN, NAN},
                                              .p999_ci = {NAN, NAN}};
    }
    json_t *object = json_row(&row);
    json_object_set_new(object, "iops", json_number(row.iops));
    return object;
}

static json_t *cell_json(const struct experiment *experiment, const struct experiment_cell *cell)
{
    size_t varied[EXPERIMENT_N], n = experiment_varied(experiment, varied);
    json_t *object = figures_json(experiment, cell), *levels = json_object(), *runs = json_array();
    for (size_t i = 0; i < n; i++)
        json_object_set_new(levels, experiment_factors[varied[i]].name,
                            level_json(experiment, cell, varied[i]));
    for (size_t i = 0; i < cell->record.n; i++)
        json_array_append_new(runs, run_json(experiment, cell, i));
    if (experiment->settings->experiment.tests[cell->test].name[0] != '\0')
        json_object_set_new(object, "test",
                            json_text(experiment->settings->experiment.tests[cell->test].name));
    json_object_set_new(object, "levels", levels);
    json_object_set_new(object, "failed", cell->failed != NULL ? json_text(cell->failed) : json_null());
    json_object_set_new(object, "runs", runs);
    return object;
}

static json_t *name_json(const struct settings *settings)
{
    char path[SETTINGS_TEXT_SIZE];
    if (settings->experiment.name[0] != '\0' || settings->n_operands == 0)
        return json_text(settings->experiment.name);
    snprintf(path, sizeof path, "%s", settings->operands[0]);
    char *name = basename(path), *dot = strrchr(name, '.');
    if (dot != NULL && dot != name)
        *dot = '\0';
    return json_text(name);
}

static void set_design(json_t *document, const struct experiment *experiment)
{
    const struct settings *settings = experiment->settings;
    size_t n = 0;
    for (size_t i = 0; i < experiment->n_cells; i++)
        n += !experiment->cells[i].left_out;
    json_object_set_new(document, "name", name_json(settings));
    json_object_set_new(
        document, "design",
        json_pack("{s:s, s:I}", "name", settings->experiment.design, "points", (json_int_t)n));
    json_object_set_new(document, "replays_asked", json_integer(settings->runs.replays));
    json_object_set_new(document, "seed", json_integer((json_int_t)experiment->session->seed));
    json_object_set_new(document, "confidence", json_number(settings->runs.confidence_share));
    json_object_set_new(document, "tolerance", json_number(settings->search.tolerance_share));
}

static json_t *resume_json(const struct experiment *experiment)
{
    if (experiment->settings->search.resume[0] == '\0')
        return json_null();
    return json_pack("{s:o, s:I, s:f}", "file", json_text(experiment->settings->search.resume), "runs",
                     (json_int_t)experiment->n_taken, "seconds", experiment->spent_seconds);
}

static void set_rest(json_t *document, const struct experiment *experiment)
{
    struct session *session = experiment->session;
    json_object_set_new(document, "runs", json_integer((json_int_t)experiment->n_made));
    json_object_set_new(document, "resume", resume_json(experiment));
    json_object_set_new(document, "dropped", json_notes(&session->dropped, "what", "why"));
    json_object_set_new(document, "warnings", json_warnings(&session->warnings));
    json_object_set_new(document, "system", json_system(session));
    json_object_set_new(document, "seconds", json_number(session_seconds(session)));
    json_object_set_new(document, "bytes_written", json_integer((json_int_t)session->bytes_written));
    json_object_set_new(document, "bytes_read", json_integer((json_int_t)session->bytes_read));
}

json_t *experiment_json(struct experiment *experiment)
{
    json_t *document = json_pack("{s:s, s:s, s:b}", "schema", "fstune/experiment/1", "version",
                                 FSTUNE_VERSION, "interrupted", experiment->interrupted);
    json_t *points = json_array();
    if (document == NULL || points == NULL) {
        json_decref(document);
        json_decref(points);
        return NULL;
    }
    set_design(document, experiment);
    set_factors(document, experiment);
    for (size_t i = 0; i < experiment->n_cells; i++) {
        if (!experiment->cells[i].left_out)
            json_array_append_new(points, cell_json(experiment, &experiment->cells[i]));
    }
    json_object_set_new(document, "points", points);
    /* Last: figures add to the warnings. */
    session_note_target(experiment->session);
    set_rest(document, experiment);
    return document;
}

json_t *experiment_json_plan(const struct experiment *experiment)
{
    const struct session *session = experiment->session;
    json_t *document = report_plan_document(session, experiment->whole_bytes, experiment->n_cells);
    if (document == NULL)
        return NULL;
    set_design(document, experiment);
    set_factors(document, experiment);
    json_object_set_new(document, "runs", json_integer((json_int_t)experiment->n_runs));
    json_object_set_new(document, "runs_made", json_integer((json_int_t)experiment->n_made));
    json_object_set_new(document, "seconds_likely", json_number(experiment_seconds_likely(experiment)));
    return document;
}
