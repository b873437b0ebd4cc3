/* models/fleet/rules: exceptions are split off the rest, the clearest first. */
#include "models/fleet/rules.h"

#include "models/fleet/share.h"

#include <errno.h>
#include <stdlib.h>

/* A kind of hosts among those that are left. */
struct kind {
    const struct rules_data *data;
    const bool *left;
    size_t feature;
    uint32_t value;
};

static bool has_host(const struct kind *kind, size_t host)
{
    return kind->left[host] &&
           (kind->feature == RULES_REST ||
            kind->data->values[host * kind->data->n_features + kind->feature] == kind->value);
}

/* Without its interval, which takes longer than all the counting. */
static struct rule count_rule(const struct kind *kind, size_t setting)
{
    struct rule rule = {.feature = kind->feature, .value = kind->value, .setting = setting};
    for (size_t host = 0; host < kind->data->n_hosts; host++) {
        signed char within = kind->data->within[host * kind->data->n_settings + setting];
        if (has_host(kind, host) && within >= 0) {
            rule.n++;
            rule.n_within += within > 0;
        }
    }
    return rule;
}

static struct rule rule_of(const struct kind *kind, size_t setting, double confidence)
{
    struct rule rule = count_rule(kind, setting);
    rule.share = share_interval(rule.n_within, rule.n, confidence);
    return rule;
}

/* The setting whose share is the largest for sure; of equal ones the first. */
static struct rule best_rule(const struct kind *kind, double confidence)
{
    struct rule best = {.share = {-1, -1}};
    for (size_t setting = 0; setting < kind->data->n_settings; setting++) {
        struct rule rule = count_rule(kind, setting);
        /* The lower end is below the share. */
        if (rule.n > 0 && (double)rule.n_within <= best.share.low * (double)rule.n)
            continue;
        rule.share = share_interval(rule.n_within, rule.n, confidence);
        if (rule.share.low > best.share.low)
            best = rule;
    }
    return best;
}

static size_t n_values(const struct rules_data *data, size_t feature)
{
    uint32_t most = 0;
    for (size_t host = 0; host < data->n_hosts; host++) {
        uint32_t value = data->values[host * data->n_features + feature];
        most = value > most ? value : most;
    }
    return most;
}

/* The exception whose setting is the farthest ahead of the rest's; n 0: none is proved. */
static struct rule find_exception(const struct rules_data *data, const bool *left, const struct rule *rest,
                                  double confidence)
{
    struct rule found = {0};
    double widest = 0;
    for (size_t feature = 0; feature < data->n_features; feature++) {
        size_t n = n_values(data, feature);
        for (uint32_t value = 1; value <= n; value++) {
            const struct kind kind = {data, left, feature, value};
            struct rule best = best_rule(&kind, confidence),
                        its_rest = rule_of(&kind, rest->setting, confidence);
            double gap = best.share.low - its_rest.share.high;
            if (best.n >= RULES_LEAST_HOSTS && gap > widest) {
                widest = gap;
                found = best;
            }
        }
    }
    return found;
}

/* Wide enough that all kinds together hold. */
static double confidence_of_each(const struct rules_data *data, double confidence)
{
    size_t n = 1;
    for (size_t feature = 0; feature < data->n_features; feature++)
        n += n_values(data, feature);
    return 1 - (1 - confidence) / (double)n;
}

static int make(const struct rules_data *data, bool *left, int most, double confidence, struct rule *rules)
{
    const struct kind rest = {data, left, RULES_REST, 0};
    double each = confidence_of_each(data, confidence);
    int n = 0;
    struct rule last = best_rule(&rest, confidence);
    while (n + 1 < most && last.n >= RULES_LEAST_HOSTS) {
        struct rule exception = find_exception(data, left, &last, each);
        if (exception.n == 0)
            break;
        const struct kind kind = {data, left, exception.feature, exception.value};
        rules[n++] = rule_of(&kind, exception.setting, confidence);
        for (size_t host = 0; host < data->n_hosts; host++)
            left[host] = left[host] && !has_host(&kind, host);
        last = best_rule(&rest, confidence);
    }
    if (last.n >= (n == 0 ? RULES_LEAST_HOSTS : 1))
        rules[n++] = last;
    return n;
}

/* Of all hosts but those of a fold, every n_folds-th; fold n_folds leaves none out. */
static int make_without(const struct rules_data *data, size_t fold, size_t n_folds, int most,
                        double confidence, struct rule *rules)
{
    bool *left = malloc(data->n_hosts + 1);
    if (left == NULL)
        return -ENOMEM;
    for (size_t host = 0; host < data->n_hosts; host++)
        left[host] = host % n_folds != fold;
    int n = make(data, left, most, confidence, rules);
    free(left);
    return n;
}

int rules_make(const struct rules_data *data, double confidence, struct rule *ret_rules)
{
    return make_without(data, 1, 1, RULES_MOST, confidence, ret_rules);
}

const struct rule *rules_find(const struct rule *rules, size_t n, const uint32_t *values)
{
    for (size_t i = 0; i < n; i++) {
        if (rules[i].feature == RULES_REST || values[rules[i].feature] == rules[i].value)
            return &rules[i];
    }
    return NULL;
}

/* Hosts that are asked about lists made without them. */
struct asked {
    const struct rules_data *data;
    const struct rule *rules, *kind; /* the rule that fits a host has to be this one; n_rules 0: any host */
    size_t n_rules, n_folds;
    double confidence;
};

static bool is_asked(const struct asked *asked, size_t host)
{
    const uint32_t *values = asked->data->values + host * asked->data->n_features;
    return rules_find(asked->rules, asked->n_rules, values) == asked->kind;
}

static int ask_fold(const struct asked *asked, size_t fold, int most, size_t *n, size_t *n_within)
{
    const struct rules_data *data = asked->data;
    struct rule rules[RULES_MOST];
    int n_rules = make_without(data, fold, asked->n_folds, most, asked->confidence, rules);
    for (size_t host = fold; n_rules >= 0 && host < data->n_hosts; host += asked->n_folds) {
        if (!is_asked(asked, host))
            continue;
        const struct rule *rule = rules_find(rules, (size_t)n_rules, data->values + host * data->n_features);
        signed char within = rule != NULL ? data->within[host * data->n_settings + rule->setting] : -1;
        *n += within >= 0;
        *n_within += within > 0;
    }
    return n_rules < 0 ? n_rules : 0;
}

int rules_judge(const struct rules_data *data, double confidence, struct rules_judgement *ret_judgement)
{
    return rules_judge_kind(data, NULL, 0, NULL, confidence, ret_judgement);
}

int rules_judge_kind(const struct rules_data *data, const struct rule *rules, size_t n,
                     const struct rule *kind, double confidence, struct rules_judgement *ret_judgement)
{
    const struct asked asked = {.data = data,
                                .rules = rules,
                                .kind = kind,
                                .n_rules = n,
                                .n_folds = data->n_hosts < RULES_FOLDS ? data->n_hosts : RULES_FOLDS,
                                .confidence = confidence};
    struct rules_judgement judgement = {0};
    int result = 0;
    for (size_t fold = 0; fold < asked.n_folds && result == 0; fold++) {
        result = ask_fold(&asked, fold, RULES_MOST, &judgement.n, &judgement.n_within);
        if (result == 0)
            result = ask_fold(&asked, fold, 1, &judgement.n_one, &judgement.n_one_within);
    }
    if (result == 0)
        *ret_judgement = judgement;
    return result;
}
