/* tuner/histories/fleet_rules: rules of each pattern, and how they are told. */
#include "tuner/histories/fleet_rules.h"

#include "models/fleet/share.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <math.h>

int fleet_rules_make(struct fleet_rules *list, const struct fleet_data *data, size_t first, size_t end,
                     double tolerance_share)
{
    *list = (struct fleet_rules){.data = data, .pattern = data->runs[first].pattern};
    int result = fleet_table_make(&list->table, data, first, end, tolerance_share);
    if (result < 0)
        return result;
    struct rules_data rules = fleet_table_rules(&list->table);
    result = rules_make(&rules, FLEET_CONFIDENCE, list->rules);
    list->n = result >= 0 ? (size_t)result : 0;
    return result < 0 ? result : 0;
}

json_t *fleet_rules_share_json(size_t n_within, size_t n)
{
    struct interval share = share_interval(n_within, n, FLEET_CONFIDENCE);
    return json_pack("{s:I, s:I, s:o, s:o, s:o}", "hosts", (json_int_t)n, "within", (json_int_t)n_within,
                     "share", json_number(n > 0 ? (double)n_within / (double)n : NAN), "ci_low",
                     json_number(share.low), "ci_high", json_number(share.high));
}

json_t *fleet_rules_rule_json(const struct fleet_rules *list, const struct rule *rule)
{
    bool is_rest = rule->feature == RULES_REST;
    json_t *object = fleet_rules_share_json(rule->n_within, rule->n);
    json_object_set_new(object, "feature",
                        is_rest ? json_null() : json_text(fleet_feature_names[rule->feature]));
    json_object_set_new(object, "value",
                        is_rest ? json_null()
                                : json_text(fleet_value_name(list->data, rule->feature, rule->value)));
    json_object_set_new(object, "setting", json_point(&list->table.points[rule->setting]));
    return object;
}

static json_t *list_json(const struct fleet_rules *list, const struct rules_judgement *judgement)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(rules, fleet_rules_rule_json(list, &list->rules[i]));
    return json_pack("{s:o, s:I, s:I, s:o, s:o, s:o}", "pattern", json_text(list->pattern), "hosts",
                     (json_int_t)list->table.n_hosts, "settings", (json_int_t)list->table.n_points, "rules",
                     rules, "left_out", fleet_rules_share_json(judgement->n_within, judgement->n),
                     "left_out_one_setting",
                     fleet_rules_share_json(judgement->n_one_within, judgement->n_one));
}

void fleet_rules_share_text(FILE *out, size_t n_within, size_t n)
{
    struct interval share = share_interval(n_within, n, FLEET_CONFIDENCE);
    fprintf(out, "%.0f %% (%.0f to %.0f) of %zu hosts", n > 0 ? 100.0 * (double)n_within / (double)n : 0,
            100 * share.low, 100 * share.high, n);
}

static void print_list(FILE *out, const struct fleet_rules *list, const struct rules_judgement *judgement,
                       double tolerance)
{
    char setting[FACTORS_TEXT_SIZE], value[96];
    fprintf(out, "%s: %zu host%s, %zu settings\n", list->pattern, list->table.n_hosts,
            list->table.n_hosts == 1 ? "" : "s", list->table.n_points);
    for (size_t i = 0; i < list->n; i++) {
        const struct rule *rule = &list->rules[i];
        if (rule->feature != RULES_REST)
            fprintf(out, "  %s %s: ", fleet_feature_names[rule->feature],
                    text_printable(fleet_value_name(list->data, rule->feature, rule->value), value,
                                   sizeof value));
        else
            fputs(i > 0 ? "  else: " : "  ", out);
        fprintf(out, "%s is within %.0f %% of the best on ",
                factors_format(&list->table.points[rule->setting], setting), 100 * tolerance);
        fleet_rules_share_text(out, rule->n_within, rule->n);
        fputc('\n', out);
    }
    if (list->n == 0) {
        fprintf(out, "  No rule: it takes %d hosts that measured the same setting.\n", RULES_LEAST_HOSTS);
        return;
    }
    fputs("  Asked about a host that it was made without, the list is right on ", out);
    fleet_rules_share_text(out, judgement->n_within, judgement->n);
    fputs(", one setting for all on ", out);
    fleet_rules_share_text(out, judgement->n_one_within, judgement->n_one);
    fputc('\n', out);
}

static int judge(const struct fleet_rules *list, struct rules_judgement *ret_judgement)
{
    const struct rules_data rules = fleet_table_rules(&list->table);
    return rules_judge(&rules, FLEET_CONFIDENCE, ret_judgement);
}

/* Of every pattern: a member of `patterns`, or text on out; one of both is given. */
static int tell_patterns(const struct fleet_data *data, double tolerance_share, json_t *patterns, FILE *out,
                         struct err *err)
{
    int result = 0;
    for (size_t first = 0; first < data->n_runs && result >= 0;) {
        struct fleet_rules list;
        struct rules_judgement judgement;
        size_t end = fleet_pattern_end(data, first);
        result = fleet_rules_make(&list, data, first, end, tolerance_share);
        if (result == 0)
            result = judge(&list, &judgement);
        if (result == 0 && patterns != NULL)
            json_array_append_new(patterns, list_json(&list, &judgement));
        else if (result == 0 && out != NULL)
            print_list(out, &list, &judgement, tolerance_share);
        fleet_table_done(&list.table);
        first = end;
    }
    return result < 0 ? err_set(err, result, "no memory for the rules") : 0;
}

int fleet_rules_document(const struct fleet_data *data, double tolerance_share, json_t **ret_document,
                         struct err *err)
{
    json_t *patterns = json_array();
    int result = tell_patterns(data, tolerance_share, patterns, NULL, err);
    if (result < 0) {
        json_decref(patterns);
        return result;
    }
    *ret_document =
        json_pack("{s:s, s:o, s:f, s:o}", "schema", "fstune/fleet-rules/1", "tolerance",
                  json_number(tolerance_share), "confidence", FLEET_CONFIDENCE, "patterns", patterns);
    return *ret_document != NULL ? 0 : err_set(err, -ENOMEM, "no memory for the rules");
}

int fleet_rules_print(FILE *out, const struct fleet_data *data, const struct fleet_rules_request *request,
                      struct err *err)
{
    json_t *document = NULL;
    int result = request->json ? fleet_rules_document(data, request->tolerance_share, &document, err)
                               : tell_patterns(data, request->tolerance_share, NULL, out, err);
    if (result < 0)
        return result;
    return request->json ? json_print(out, document, err) : text_finish(out, err);
}
