/* tuner/histories/fleet_drift: groups of hosts with the same change, and how they are told. */
#include "tuner/histories/fleet_drift.h"

#include "models/fleet/drift.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One host whose feature changed. */
struct step {
    const char *pattern;
    size_t feature;
    uint32_t from, to;
    double log_ratio, at_s;
};

/* Steps of one group stand together. */
struct group {
    const struct step *first;
    double from_s, to_s; /* when the first and the last host changed */
    struct drift drift;
};

static int by_group(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    int patterns = strcmp(x->pattern, y->pattern);
    if (patterns != 0)
        return patterns;
    if (x->feature != y->feature)
        return x->feature < y->feature ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Mean of the log ratios over the settings that both runs have; NaN: none. */
static double log_ratio(const struct fleet_data *data, const struct fleet_run *before,
                        const struct fleet_run *after)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < before->n; i++) {
        const struct fleet_rate *a = &data->rates[before->first + i];
        for (size_t k = 0; k < after->n; k++) {
            const struct fleet_rate *b = &data->rates[after->first + k];
            if (factors_equal(&a->point, &b->point)) {
                sum += log(b->bps / a->bps);
                n++;
                break;
            }
        }
    }
    return n > 0 ? sum / (double)n : NAN;
}

/* ret_steps: room for all features of all runs. */
static size_t find_steps(const struct fleet_data *data, struct step *steps)
{
    size_t n = 0;
    for (size_t i = 1; i < data->n_runs; i++) {
        const struct fleet_run *before = &data->runs[i - 1], *after = &data->runs[i];
        if (!fleet_same_host(before, after) ||
            memcmp(before->values, after->values, sizeof after->values) == 0)
            continue;
        double ratio = log_ratio(data, before, after);
        for (size_t feature = 0; feature < FLEET_N_FEATURES && isfinite(ratio); feature++) {
            if (before->values[feature] != after->values[feature])
                steps[n++] = (struct step){after->pattern,         feature, before->values[feature],
                                           after->values[feature], ratio,   after->started_s};
        }
    }
    qsort(steps, n, sizeof *steps, by_group);
    return n;
}

/* ret_groups and ratios: room for all steps. */
static size_t find_groups(const struct step *steps, size_t n_steps, struct group *groups, double *ratios)
{
    size_t n = 0;
    for (size_t first = 0, end; first < n_steps; first = end) {
        struct group group = {.first = &steps[first], .from_s = steps[first].at_s, .to_s = steps[first].at_s};
        for (end = first; end < n_steps && by_group(&steps[first], &steps[end]) == 0; end++) {
            ratios[end] = steps[end].log_ratio;
            group.from_s = fmin(group.from_s, steps[end].at_s);
            group.to_s = fmax(group.to_s, steps[end].at_s);
        }
        group.drift = drift_of(ratios + first, end - first, FLEET_DRIFT_CONFIDENCE);
        groups[n++] = group;
    }
    return n;
}

static json_t *group_json(const struct fleet_data *data, const struct group *group)
{
    const struct step *step = group->first;
    const struct drift *drift = &group->drift;
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "pattern",
                     json_text(step->pattern), "feature", fleet_feature_names[step->feature], "from",
                     json_text(fleet_value_name(data, step->feature, step->from)), "to",
                     json_text(fleet_value_name(data, step->feature, step->to)), "first_s",
                     json_number(group->from_s), "last_s", json_number(group->to_s), "hosts",
                     (json_int_t)drift->n, "slower_hosts", (json_int_t)drift->n_slower, "ratio",
                     json_number(drift->ratio), "ci_low", json_number(drift->bounds.low), "ci_high",
                     json_number(drift->bounds.high), "p", json_number(drift->p), "changed",
                     (int)drift->changed);
}

static void print_group(FILE *out, const struct fleet_data *data, const struct group *group)
{
    const struct step *step = group->first;
    const struct drift *drift = &group->drift;
    char from[96], to[96];
    size_t n_same = drift->ratio < 1 ? drift->n_slower : drift->n - drift->n_slower;
    fprintf(out, "%s: %s %s -> %s: %+.1f %% (%+.1f to %+.1f), %s on %zu of %zu hosts\n", step->pattern,
            fleet_feature_names[step->feature],
            text_printable(fleet_value_name(data, step->feature, step->from), from, sizeof from),
            text_printable(fleet_value_name(data, step->feature, step->to), to, sizeof to),
            100 * (drift->ratio - 1), 100 * (drift->bounds.low - 1), 100 * (drift->bounds.high - 1),
            drift->ratio < 1 ? "slower" : "faster", n_same, drift->n);
}

/* Takes what was found; 0 or a negative errno. */
typedef int drift_teller(void *context, const struct fleet_data *data, const struct group *groups, size_t n,
                         struct err *err);

static int make_document(void *context, const struct fleet_data *data, const struct group *groups, size_t n,
                         struct err *err)
{
    json_t *rows = json_array(), **ret_document = context;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, group_json(data, &groups[i]));
    *ret_document =
        json_pack("{s:s, s:f, s:f, s:o}", "schema", "fstune/fleet-drift/1", "false_discovery_rate",
                  FLEET_DRIFT_FALSE_RATE, "confidence", FLEET_DRIFT_CONFIDENCE, "groups", rows);
    return *ret_document != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the drift");
}

static int print_groups(void *context, const struct fleet_data *data, const struct group *groups, size_t n,
                        struct err *err)
{
    FILE *out = context;
    size_t n_judged = 0, n_changed = 0;
    for (size_t i = 0; i < n; i++) {
        n_judged += isnan(groups[i].drift.p) ? 0 : 1;
        n_changed += groups[i].drift.changed;
        if (groups[i].drift.changed)
            print_group(out, data, &groups[i]);
    }
    fprintf(out, "%zu of %zu changes that %d hosts or more went through changed their rates\n", n_changed,
            n_judged, DRIFT_LEAST_HOSTS);
    return text_finish(out, err);
}

static int find_drift(const struct fleet_data *data, drift_teller *tell, void *context, struct err *err)
{
    size_t most = data->n_runs * FLEET_N_FEATURES + 1;
    struct step *steps = calloc(most, sizeof *steps);
    size_t n_steps = steps != NULL ? find_steps(data, steps) : 0;
    struct group *groups = calloc(n_steps + 1, sizeof *groups);
    double *ratios = calloc(n_steps + 1, sizeof *ratios);
    struct drift *drifts = calloc(n_steps + 1, sizeof *drifts);
    int result = steps == NULL || groups == NULL || ratios == NULL || drifts == NULL ? -ENOMEM : 0;
    size_t n = result == 0 ? find_groups(steps, n_steps, groups, ratios) : 0;
    for (size_t i = 0; i < n; i++)
        drifts[i] = groups[i].drift;
    if (result == 0)
        result = drift_discover(drifts, n, FLEET_DRIFT_FALSE_RATE);
    for (size_t i = 0; i < n && result == 0; i++)
        groups[i].drift = drifts[i];
    result =
        result < 0 ? err_set(err, result, "no memory for the drift") : tell(context, data, groups, n, err);
    free(steps);
    free(groups);
    free(ratios);
    free(drifts);
    return result;
}

int fleet_drift_document(const struct fleet_data *data, json_t **ret_document, struct err *err)
{
    return find_drift(data, make_document, ret_document, err);
}

int fleet_drift_print(FILE *out, const struct fleet_data *data, bool json, struct err *err)
{
    json_t *document = NULL;
    if (!json)
        return find_drift(data, print_groups, out, err);
    int result = fleet_drift_document(data, &document, err);
    return result < 0 ? result : json_print(out, document, err);
}
