/* What other runs measured, handed to the belief of this search. */
#include "tuner/search/prior.h"

#include "models/statistics/noise.h"
#include "models/surrogate/surrogate.h"
#include "tuner/base/json.h"
#include "tuner/histories/fleet_prior.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DESIGN_SHARE 0.2 /* of the first design, beside them */
#define FALLBACK_STD 0.2 /* of a single replay's log throughput */

static int read_file(struct prior_file *file, const char *path, struct err *err)
{
    int fd = -1;
    char *text = NULL;
    size_t size = 0;
    int result = journal_load(path, O_RDONLY, &fd, &text, &size, err);
    if (result == 0) {
        snprintf(file->name, sizeof file->name, "%s", path);
        result = prior_parse(file, text, size, err);
        close(fd);
    }
    free(text);
    if (result < 0)
        err_prefix(err, "--prior %s", path);
    return result;
}

/* What the hosts of a fleet know of this pattern. */
static int read_fleet(struct prior_file *file, const struct settings *settings, struct err *err)
{
    const struct history_place place = {.path = settings->search.fleet};
    const char *pattern = settings->workload.pattern.name;
    struct history history;
    struct fleet_data data = {0};
    json_t *document = NULL;
    if (settings->search.fleet[0] == '\0')
        return err_set(
            err, -EINVAL,
            "--prior fleet: name the fleet's history with --fleet, or as fleet in a configuration");
    snprintf(file->name, sizeof file->name, "fleet");
    int result = history_open(&history, &place, err);
    if (result < 0)
        return result;
    result = fleet_data_load(&data, &history, FLEET_NEWEST, pattern, 0, err);
    history_close(&history);
    if (result == 0)
        result = fleet_prior_make(&data, pattern, &document, err);
    fleet_data_done(&data);
    if (result == 0)
        result = prior_take_answer(file, document, err);
    json_decref(document);
    return result < 0 ? err_prefix(err, "--prior fleet") : 0;
}

int prior_open(struct session *session, struct err *err)
{
    const struct settings *settings = session->settings;
    int result = 0;
    if (settings->search.priors.n == 0 && settings->search.resume[0] == '\0')
        return 0;
    session->prior = calloc(1, sizeof *session->prior);
    if (session->prior == NULL)
        return err_set(err, -ENOMEM, "no memory for prior knowledge");
    for (size_t i = 0; i < settings->search.priors.n && result == 0; i++) {
        const char *path = settings->search.priors.path[i];
        struct prior_file *file = &session->prior->files[session->prior->n++];
        result = strcmp(path, "fleet") == 0 ? read_fleet(file, settings, err) : read_file(file, path, err);
    }
    return result;
}

void prior_close(struct session *session)
{
    for (size_t i = 0; session->prior != NULL && i < session->prior->n; i++)
        prior_file_done(&session->prior->files[i]);
    free(session->prior);
    session->prior = NULL;
}

double prior_design_share(const struct session *session)
{
    return session->prior != NULL && session->prior->n > 0 ? DESIGN_SHARE : 1;
}

static double response_of(const struct tune *tune, const struct prior_point *point, double reference_log_bps)
{
    const struct sample sample = {.throughput_bps = point->mean_bps,
                                  .iops = point->mean_bps / (double)point->point.request_size_bytes,
                                  .latency_mean_ns = point->latency_mean_ns,
                                  .latency_p99_ns = NAN};
    return objective_response(tune->settings, reference_log_bps, &sample);
}

/* The file's points that are in this space, as observations; std and n are room for as many. Their number. */
static size_t observe(const struct tune *tune, const struct prior_file *file, struct observation *data,
                      double *std, size_t *n)
{
    size_t count = 0;
    double reference_log_bps = tune->reference_log_bps;
    for (size_t i = 0; i < file->n; i++)
        reference_log_bps = fmax(reference_log_bps, log(file->points[i].mean_bps));
    for (size_t i = 0; i < file->n; i++) {
        const struct prior_point *point = &file->points[i];
        double response = response_of(tune, point, reference_log_bps);
        size_t place = tune_find_point(tune, &point->point);
        if (place == ENGINE_NONE || !isfinite(response))
            continue;
        data[count] = (struct observation){.point = place, .mean = response};
        bool known = point->n > 1 && isfinite(point->std_bps);
        std[count] = known ? point->std_bps / point->mean_bps : 0;
        n[count++] = known ? point->n : 1;
    }
    struct noise_prior noise = noise_fit(std, n, count, FALLBACK_STD);
    for (size_t i = 0; i < count; i++) {
        double df;
        data[i].mean_variance = noise_variance(&noise, std[i], n[i], &df) / (double)n[i];
    }
    return count;
}

/* A surrogate spreads what is known of the file's points over the whole space. */
static int spread(struct tune *tune, const struct observation *data, size_t n, double *mean)
{
    size_t n_points = tune->space.n_points;
    void *state = calloc(1, surrogate_gp.state_size);
    size_t *points = malloc(n_points * sizeof *points);
    double *variance = malloc(n_points * sizeof *variance);
    int result = state == NULL || points == NULL || variance == NULL ? -ENOMEM : 0;
    if (result == 0)
        result = surrogate_gp.fit(state, &tune->space, data, n, 1, tune->engine.rng);
    for (size_t i = 0; result == 0 && i < n_points; i++)
        points[i] = i;
    if (result == 0)
        result = surrogate_gp.predict(state, points, n_points, -INFINITY, mean, variance);
    if (state != NULL)
        surrogate_gp.done(state);
    free(state);
    free(points);
    free(variance);
    return result;
}

/* 0 and the number of the source in the belief, or SIZE_MAX where the file says nothing here. */
static int add_source(struct tune *tune, struct prior_file *file, size_t *ret_source)
{
    struct observation *data = calloc(file->n + 1, sizeof *data);
    double *std = calloc(file->n + 1, sizeof *std), *mean = calloc(tune->space.n_points, sizeof *mean);
    size_t *n = calloc(file->n + 1, sizeof *n);
    int result = data == NULL || std == NULL || n == NULL || mean == NULL ? -ENOMEM : 0;
    *ret_source = SIZE_MAX;
    if (result == 0) {
        file->n_here = observe(tune, file, data, std, n);
        result = spread(tune, data, file->n_here, mean);
    }
    if (result == 0)
        result = belief_prior_add(&tune->engine.belief, mean);
    if (result == 0)
        *ret_source = tune->engine.belief.prior.n - 1;
    free(data);
    free(std);
    free(n);
    free(mean);
    if (result < 0 && result != -ENOMEM)
        notes_add(&tune->session->warnings, "prior_of_no_use",
                  "%.200s has too few settings of this space (%zu) to steer the search", file->name,
                  file->n_here);
    return result == -ENOMEM ? result : 0;
}

int prior_begin(struct tune *tune, struct err *err)
{
    struct prior *prior = tune->session->prior;
    int result = 0;
    for (size_t i = 0; prior != NULL && i < prior->n && result == 0; i++)
        result = add_source(tune, &prior->files[i], &prior->source[i]);
    return result < 0 ? err_sys(err, result, "--prior cannot be used") : 0;
}

int prior_add_runs(struct tune *tune, const char *name, const struct journal *journal, size_t first,
                   size_t end)
{
    struct prior *prior = tune->session->prior;
    if (prior->n == BELIEF_PRIOR_MAX)
        return 0;
    struct prior_file *file = &prior->files[prior->n];
    snprintf(file->name, sizeof file->name, "%s", name);
    int result = prior_take_runs(file, journal, first, end);
    return result < 0 ? result : add_source(tune, file, &prior->source[prior->n++]);
}

static const struct transfer *transfer_of(const struct tune *tune, size_t file)
{
    static const struct transfer none = {.agreement = NAN};
    const struct prior *prior = tune->session->prior;
    return prior->source[file] == SIZE_MAX ? &none : &tune->engine.belief.prior.transfer[prior->source[file]];
}

/* The file that predicts best. */
static size_t leading_file(const struct tune *tune)
{
    size_t best = 0;
    for (size_t i = 1; i < tune->session->prior->n; i++) {
        if (transfer_of(tune, i)->weight > transfer_of(tune, best)->weight)
            best = i;
    }
    return best;
}

static json_t *json_file(const struct tune *tune, size_t i)
{
    const struct prior_file *file = &tune->session->prior->files[i];
    const struct transfer *transfer = transfer_of(tune, i);
    return json_pack("{s:o, s:I, s:I, s:o, s:o}", "file", json_text(file->name), "points",
                     (json_int_t)file->n_here, "compared", (json_int_t)transfer->n, "weight",
                     json_number(transfer->weight), "agreement", json_number(transfer->agreement));
}

json_t *prior_json(const struct tune *tune)
{
    const struct prior *prior = tune->session->prior;
    json_t *files = json_array();
    if (prior == NULL || prior->n == 0 || files == NULL) {
        json_decref(files);
        return json_null();
    }
    for (size_t i = 0; i < prior->n; i++)
        json_array_append_new(files, json_file(tune, i));
    size_t best = leading_file(tune);
    const struct transfer *transfer = transfer_of(tune, best);
    return json_pack("{s:o, s:I, s:o, s:o}", "files", files, "points", (json_int_t)prior->files[best].n_here,
                     "weight", json_number(transfer->weight), "agreement", json_number(transfer->agreement));
}

void prior_text(FILE *out, const struct tune *tune)
{
    const struct prior *prior = tune->session->prior;
    if (prior == NULL || prior->n == 0)
        return;
    size_t best = leading_file(tune);
    const struct transfer *transfer = transfer_of(tune, best);
    if (transfer->weight > 0)
        fprintf(out,
                "             steered by %zu settings of %s, which agrees (correlation %.2f, weight %.2f)\n",
                prior->files[best].n_here, prior->files[best].name, transfer->agreement, transfer->weight);
    else
        fprintf(out, "             not steered by %s: it does not predict what is measured here\n",
                prior->files[best].name);
}
