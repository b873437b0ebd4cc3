/* Which factors matter, for people and for programs. */
#include "tuner/report/report_importance.h"

#include "tuner/base/json.h"
#include "tuner/search/sensitivity.h"

#include <string.h>

/* What the costs in the sentences hold for, in words that stand before them; "" where they tell of none. */
static const char *scope_of(const struct tune *tune, char lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE],
                            size_t n)
{
    bool tells = false;
    for (size_t i = 0; i < n; i++)
        tells |= strchr(lines[i], '%') != NULL;
    if (!tells)
        return "";
    return engine_is_limited(&tune->engine)
               ? "costs of one factor are with all else as recommended, within the limit:"
               : "costs of one factor are with all else as recommended:";
}

void report_importance_text(FILE *out, const struct tune *tune)
{
    char lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE];
    struct sensitivity sensitivity = {0};
    size_t n;
    if (tune->space.n_points > 1 && sensitivity_of(tune, &sensitivity) == 0) {
        sensitivity_text(tune, &sensitivity, lines, &n);
        const char *scope = scope_of(tune, lines, n);
        if (scope[0] != '\0')
            fprintf(out, "What matters; %s\n", scope);
        for (size_t i = 0; i < n; i++)
            fprintf(out, "%-13s%s\n", i == 0 && scope[0] == '\0' ? "What matters" : "", lines[i]);
        if (n == 0)
            fputs("What matters too little was measured to tell the factors apart\n", out);
    }
    sensitivity_done(&sensitivity);
}

/* Ratio to the recommended setting when this factor alone takes the level. */
static json_t *json_change(const struct tune *tune, const struct sensitivity *sensitivity,
                           const struct importance_change *change)
{
    double mean;
    struct interval ratio = sensitivity_ratio(tune, change, tune->settings->runs.confidence_share, &mean);
    json_t *also = json_array();
    for (size_t dim = 0; dim < tune->space.n_dims; dim++) {
        if (change->also[dim])
            json_array_append_new(also, json_string(sensitivity->factors[dim].key));
    }
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o}", "setting",
                     json_point(&tune->records[change->point].point), "also_changed", also, "measured",
                     tune->records[change->point].n > 0, "ratio", json_number(mean), "low",
                     json_number(ratio.low), "high", json_number(ratio.high));
}

static json_t *json_factor(const struct tune *tune, const struct sensitivity *sensitivity, size_t dim)
{
    const struct importance *importance = &sensitivity->importance;
    const struct sensitivity_factor *factor = &sensitivity->factors[dim];
    json_t *levels = json_array();
    for (size_t i = 0; i < factor->n_changes; i++)
        json_array_append_new(levels, json_change(tune, sensitivity, &factor->changes[i]));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "factor", factor->key, "share",
                     json_number(importance->own[dim].mean), "low", json_number(importance->own[dim].low),
                     "high", json_number(importance->own[dim].high), "total",
                     json_number(importance->total[dim].mean), "total_low",
                     json_number(importance->total[dim].low), "total_high",
                     json_number(importance->total[dim].high), "levels", levels);
}

static json_t *json_factors(const struct tune *tune, const struct sensitivity *sensitivity)
{
    json_t *factors = json_array();
    for (size_t dim = 0; dim < tune->space.n_dims; dim++) {
        if (sensitivity->importance.varies[dim])
            json_array_append_new(factors, json_factor(tune, sensitivity, dim));
    }
    return factors;
}

static json_t *json_pairs(const struct tune *tune, const struct sensitivity *sensitivity)
{
    const struct importance *importance = &sensitivity->importance;
    json_t *pairs = json_array();
    for (size_t b = 1; b < tune->space.n_dims; b++) {
        for (size_t a = 0; a < b; a++) {
            struct importance_share share = importance->pair[a][b];
            if (importance->varies[a] && importance->varies[b])
                json_array_append_new(
                    pairs, json_pack("{s:[s, s], s:o, s:o, s:o}", "factors", sensitivity->factors[a].key,
                                     sensitivity->factors[b].key, "share", json_number(share.mean), "low",
                                     json_number(share.low), "high", json_number(share.high)));
        }
    }
    return pairs;
}

/* The sentences, and what stands before them. */
static json_t *json_words(const struct tune *tune, const struct sensitivity *sensitivity, json_t **ret_scope)
{
    char lines[SENSITIVITY_MAX_LINES][SENSITIVITY_LINE_SIZE];
    size_t n;
    json_t *words = json_array();
    sensitivity_text(tune, sensitivity, lines, &n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(words, json_text(lines[i]));
    const char *scope = scope_of(tune, lines, n);
    *ret_scope = scope[0] != '\0' ? json_text(scope) : json_null();
    return words;
}

json_t *report_importance_json(const struct tune *tune)
{
    struct sensitivity sensitivity;
    json_t *object = NULL;
    if (sensitivity_of(tune, &sensitivity) == 0) {
        const struct importance *importance = &sensitivity.importance;
        json_t *scope, *words = json_words(tune, &sensitivity, &scope);
        object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "factors", json_factors(tune, &sensitivity),
            "pairs", json_pairs(tune, &sensitivity), "unexplained", json_number(importance->unexplained.mean),
            "known", json_number(importance->known_share), "spread_log", json_number(importance->spread.mean),
            "scope", scope, "words", words, "confidence", json_number(tune->settings->runs.confidence_share),
            "points", (json_int_t)importance->n_points);
    }
    sensitivity_done(&sensitivity);
    return object != NULL ? object : json_null();
}
