/* tuner/histories/fleet_advice: the rule that fits this host, and how often such rules were right. */
#include "tuner/histories/fleet_advice.h"

#include "models/fleet/share.h"
#include "tuner/base/fail.h"
#include "tuner/base/json.h"
#include "tuner/base/text.h"
#include "tuner/histories/fleet_rules.h"
#include "tuner/store/privacy.h"

struct advice {
    const struct fleet_advice_request *request;
    struct fleet_rules list; /* empty where nobody measured the pattern */
    uint32_t values[FLEET_N_FEATURES];
    const struct rule *rule; /* that fits; NULL: there is none */
    struct rules_judgement judgement;
    char why_not[160]; /* there is no rule */
    bool conclusive;
};

int fleet_advice_leave_out(struct fleet_data *data, struct history *history, const char *hostname,
                           struct err *err)
{
    struct privacy privacy = {0};
    char pseudonym[PRIVACY_NAME_SIZE] = "";
    struct sql_rows *rows;
    /* Without the machine's secret it cannot have sent anything under a pseudonym. */
    bool is_known =
        privacy_open(&privacy, NULL, NULL) == 0 && privacy_name(&privacy, hostname, pseudonym, NULL) == 0;
    int result = sql_query(&history->db, &rows, err, "SELECT id FROM hosts WHERE name IN (?, ?)", "tt",
                           hostname, is_known ? pseudonym : hostname);
    while (result == 0 && (result = sql_step(rows, err)) == 1) {
        size_t n = 0;
        for (size_t i = 0; i < data->n_runs; i++) {
            if (data->runs[i].host_id != sql_int64(rows, 0))
                data->runs[n++] = data->runs[i];
        }
        data->n_runs = n;
        result = 0;
    }
    sql_done(rows);
    return result;
}

static void explain_lack(struct advice *advice)
{
    size_t n = advice->list.table.n_hosts;
    if (n > 0)
        snprintf(advice->why_not, sizeof advice->why_not,
                 "%zu other host%s measured %.60s; it takes %d that measured the same setting", n,
                 n == 1 ? "" : "s", advice->request->pattern, RULES_LEAST_HOSTS);
    else
        snprintf(advice->why_not, sizeof advice->why_not, "no other host measured %.60s%s",
                 advice->request->pattern,
                 advice->request->may_be_blind
                     ? ", or the role of the address may not see others; take a reader's"
                     : "");
}

/* The table of advice->list is to be freed, also after a failure. */
static int find_advice(struct advice *advice, struct fleet_data *data)
{
    int result = fleet_features(data, advice->request->system, NULL, advice->values);
    if (result == 0 && data->n_runs > 0)
        result = fleet_rules_make(&advice->list, data, 0, data->n_runs, advice->request->tolerance_share);
    if (result < 0)
        return result;
    const struct rules_data rules = fleet_table_rules(&advice->list.table);
    advice->rule = rules_find(advice->list.rules, advice->list.n, advice->values);
    if (advice->rule == NULL) {
        explain_lack(advice);
        return 0;
    }
    result = rules_judge_kind(&rules, advice->list.rules, advice->list.n, advice->rule, FLEET_CONFIDENCE,
                              &advice->judgement);
    struct interval chance =
        share_interval(advice->judgement.n_within, advice->judgement.n, FLEET_CONFIDENCE);
    advice->conclusive = chance.low > FLEET_ADVICE_LEAST_CHANCE;
    return result;
}

static json_t *host_json(const struct advice *advice, const struct fleet_data *data)
{
    json_t *host = json_object();
    for (size_t i = 0; i < FLEET_N_KINDS; i++)
        json_object_set_new(host, fleet_feature_names[i],
                            advice->values[i] > 0 ? json_text(fleet_value_name(data, i, advice->values[i]))
                                                  : json_null());
    return host;
}

static json_t *advice_json(const struct advice *advice, const struct fleet_data *data)
{
    const struct rule *rule = advice->rule;
    const struct fleet_table *table = &advice->list.table;
    return json_pack("{s:s, s:o, s:o, s:f, s:o, s:I, s:o, s:o, s:o, s:o, s:b}", "schema",
                     "fstune/fleet-advice/1", "pattern", json_text(advice->request->pattern), "tolerance",
                     json_number(advice->request->tolerance_share), "confidence", FLEET_CONFIDENCE, "host",
                     host_json(advice, data), "hosts", (json_int_t)table->n_hosts, "recommendation",
                     rule != NULL ? json_point(&table->points[rule->setting]) : json_null(), "why_not",
                     rule != NULL ? json_null() : json_text(advice->why_not), "rule",
                     rule != NULL ? fleet_rules_rule_json(&advice->list, rule) : json_null(), "chance",
                     rule != NULL ? fleet_rules_share_json(advice->judgement.n_within, advice->judgement.n)
                                  : json_null(),
                     "conclusive", (int)advice->conclusive);
}

static void print_advice(FILE *out, const struct advice *advice, const struct fleet_data *data)
{
    const struct rule *rule = advice->rule;
    char setting[FACTORS_TEXT_SIZE], value[96];
    if (rule == NULL) {
        fprintf(out, "No advice: %s.\n", advice->why_not);
        return;
    }
    fprintf(out, "Use %s for %s, as %zu other hosts know it; nothing was measured here.\n",
            factors_format(&advice->list.table.points[rule->setting], setting), advice->request->pattern,
            advice->list.table.n_hosts);
    fprintf(out, "It is within %.0f %% of the best on ", 100 * advice->request->tolerance_share);
    fleet_rules_share_text(out, rule->n_within, rule->n);
    if (rule->feature != RULES_REST)
        fprintf(out, " like this one (%s %s)", fleet_feature_names[rule->feature],
                text_printable(fleet_value_name(data, rule->feature, rule->value), value, sizeof value));
    else
        fputs(advice->list.n > 1 ? " that are no exception, as this one" : " of all kinds", out);
    fputs(".\nChance that it is right here: ", out);
    if (advice->judgement.n > 0) {
        fputs("rules that were made without a host were right for it on ", out);
        fleet_rules_share_text(out, advice->judgement.n_within, advice->judgement.n);
        fputs(" of this kind.\n", out);
    } else {
        fputs("not known; no host of this kind can be asked about rules that were made without it.\n", out);
    }
    if (!advice->conclusive)
        fprintf(out, "That is too little to rely on: fstune recommend --pattern %s measures it.\n",
                advice->request->pattern);
}

int fleet_advice_print(FILE *out, struct fleet_data *data, const struct fleet_advice_request *request,
                       struct err *err)
{
    struct advice advice = {.request = request};
    int result = find_advice(&advice, data);
    if (result < 0)
        err_set(err, result, "no memory for the advice");
    else if (request->json)
        result = json_print(out, advice_json(&advice, data), err);
    else
        print_advice(out, &advice, data);
    if (result == 0 && !request->json)
        result = text_finish(out, err);
    fleet_table_done(&advice.list.table);
    return result < 0            ? result
           : advice.rule == NULL ? EXIT_NOTHING
           : advice.conclusive   ? EXIT_DONE
                                 : EXIT_INCONCLUSIVE;
}
