/* tuner/experiment/report_experiment_answer: the best point and the cheapest that is as good. */
#include "bench/base/factors.h"
#include "models/statistics/noise.h"
#include "tuner/experiment/report_experiment_analysis.h"
#include "tuner/search/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FALLBACK_STD 0.1 /* of log throughput, where no point has two runs; nothing is proved from it */

/* What the points need to be compared, in log throughput. */
struct scatter {
    struct moments *moments; /* of each point; owned */
    struct noise_prior prior;
};

bool report_experiment_answer_condition(const struct report_factor *factor)
{
    static const char *const names[] = {"pattern", "sync", "cache", "file_size", "files"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(factor->name, names[i]) == 0)
            return true;
    }
    return false;
}

const char *report_experiment_answer_format(const struct report_data *data, size_t point, bool conditions,
                                            char buffer[REPORT_EXPERIMENT_TEXT_SIZE])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < data->n_factors && used + 1 < REPORT_EXPERIMENT_TEXT_SIZE; i++) {
        const struct report_factor *factor = &data->factors[i];
        if (report_experiment_answer_condition(factor) != conditions)
            continue;
        int length = snprintf(buffer + used, REPORT_EXPERIMENT_TEXT_SIZE - used, "%s%s %s",
                              used > 0 ? ", " : "", factor->name, factor->text[data->points[point].level[i]]);
        used += length > 0 ? (size_t)length : 0;
    }
    return buffer;
}

double report_experiment_answer_bytes(const struct report_data *data, size_t point)
{
    static const char *const names[] = {"request_size", "queue_depth", "threads"};
    double bytes = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *level = report_experiment_data_level(data, point, names[i]);
        bytes *= json_is_number(level) ? json_number_value(level) : NAN;
    }
    return bytes;
}

static enum api api_of(const struct report_data *data, size_t point)
{
    const char *name = json_string_value(report_experiment_data_level(data, point, "api"));
    enum api api = API_N;
    if (name != NULL)
        (void)factors_parse_api(name, &api);
    return api;
}

static double margin_of(const struct report_data *data)
{
    return -log1p(-data->tolerance_share);
}

/* The order of interfaces, section 6; what is not known is equal. */
static bool is_cheaper(const struct report_data *data, size_t a, size_t b)
{
    double bytes_a = report_experiment_answer_bytes(data, a),
           bytes_b = report_experiment_answer_bytes(data, b);
    double ratio = log(data->points[a].latency_mean_ns / data->points[b].latency_mean_ns);
    enum api api_a = api_of(data, a), api_b = api_of(data, b);
    if (bytes_a < bytes_b || bytes_a > bytes_b)
        return bytes_a < bytes_b;
    if (fabs(ratio) > margin_of(data))
        return ratio < 0;
    return api_a != api_b ? api_a < api_b : ratio < 0;
}

bool report_experiment_answer_comparable(const struct report_data *data, size_t a, size_t b)
{
    for (size_t i = 0; i < data->n_factors; i++) {
        if (data->points[a].level[i] != data->points[b].level[i] &&
            report_experiment_answer_condition(&data->factors[i]))
            return false;
    }
    return true;
}

/* Moments of the logarithms of a point's runs; without runs they follow from its mean and deviation. */
static struct moments moments_of_point(const struct report_data *data, const struct report_point *point)
{
    struct moments moments = {0};
    for (size_t i = 0; i < point->n_runs; i++) {
        double bps = data->runs[point->first_run + i].figures[REPORT_BPS];
        if (bps > 0)
            moments_add(&moments, log(bps));
    }
    if (moments.n == 0 && point->replays > 0 && point->std_bps >= 0) {
        double variance = log1p(pow(point->std_bps / point->mean_bps, 2));
        moments = (struct moments){point->replays, log(point->mean_bps) - variance / 2, sqrt(variance)};
    }
    return moments;
}

static int scatter_init(struct scatter *scatter, const struct report_data *data)
{
    size_t n = 0, *counted = calloc(data->n_points + 1, sizeof *counted);
    double *stds = calloc(data->n_points + 1, sizeof *stds);
    scatter->moments = calloc(data->n_points + 1, sizeof *scatter->moments);
    if (counted == NULL || stds == NULL || scatter->moments == NULL) {
        free(counted);
        free(stds);
        free(scatter->moments);
        return -ENOMEM;
    }
    for (size_t i = 0; i < data->n_points; i++) {
        if (!data->points[i].counts)
            continue;
        scatter->moments[i] = moments_of_point(data, &data->points[i]);
        counted[n] = scatter->moments[i].n;
        stds[n++] = scatter->moments[i].std;
    }
    scatter->prior = noise_fit(stds, counted, n, FALLBACK_STD);
    free(counted);
    free(stds);
    return 0;
}

/* The highest mean of those with replays enough, if there are such. */
static size_t best_of(const struct report_data *data, const struct scatter *scatter, const size_t *points,
                      size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        bool known = scatter->moments[points[i]].n >= ENGINE_MIN_REPLAYS;
        bool best_known = scatter->moments[points[best]].n >= ENGINE_MIN_REPLAYS;
        if (known != best_known ? known
                                : data->points[points[i]].mean_bps > data->points[points[best]].mean_bps)
            best = i;
    }
    return best;
}

static int judge_listed_points(struct report_analysis *analysis, const struct scatter *scatter,
                               const size_t *points, size_t n, size_t best)
{
    const struct report_data *data = analysis->data;
    struct contender *contenders = calloc(n, sizeof *contenders);
    enum verdict *verdicts = calloc(n, sizeof *verdicts);
    bool enough = contenders != NULL && verdicts != NULL;
    for (size_t i = 0; i < n && enough; i++) {
        const struct moments *moments = &scatter->moments[points[i]];
        contenders[i].moments = *moments;
        contenders[i].run_variance =
            noise_variance(&scatter->prior, moments->std, moments->n, &contenders[i].run_df);
    }
    if (enough)
        compare_all(contenders, n, best, margin_of(data), data->confidence_share, ENGINE_MIN_REPLAYS,
                    verdicts);
    for (size_t i = 0; i < n && enough; i++)
        analysis->verdicts[points[i]] = verdicts[i];
    free(contenders);
    free(verdicts);
    return enough ? 0 : -ENOMEM;
}

static int answer_group(struct report_analysis *analysis, const struct scatter *scatter, const size_t *points,
                        size_t n)
{
    size_t best = best_of(analysis->data, scatter, points, n);
    struct report_answer *answer = &analysis->answers[analysis->n_answers++];
    int result = judge_listed_points(analysis, scatter, points, n, best);
    *answer = (struct report_answer){.best = points[best], .cheapest = REPORT_NO_POINT};
    if (result < 0)
        return result;
    if (scatter->moments[points[best]].n < ENGINE_MIN_REPLAYS) {
        notes_add(&analysis->notes, "cheapest",
                  "a setting needs %d replays before another can be called as good: the best is the highest "
                  "mean, no more",
                  ENGINE_MIN_REPLAYS);
        return 0;
    }
    if (n > 1)
        notes_add(&analysis->notes, "flattered",
                  "the best is the highest of several means, which flatters it: measure it again before its "
                  "figure is promised to anybody");
    answer->cheapest = points[best];
    for (size_t i = 0; i < n; i++) {
        enum verdict verdict = analysis->verdicts[points[i]];
        answer->n_equivalent += i != best && verdict == VERDICT_EQUIVALENT;
        answer->n_undecided += i != best && verdict == VERDICT_UNDECIDED;
        if (verdict == VERDICT_EQUIVALENT && is_cheaper(analysis->data, points[i], answer->cheapest))
            answer->cheapest = points[i];
    }
    return 0;
}

static int answer_all(struct report_analysis *analysis, const struct scatter *scatter, size_t *group,
                      bool *answered)
{
    const struct report_data *data = analysis->data;
    int result = 0;
    for (size_t i = 0; i < data->n_points && result == 0; i++) {
        size_t n = 0;
        if (answered[i] || !data->points[i].counts)
            continue;
        for (size_t k = i; k < data->n_points; k++) {
            if (answered[k] || !data->points[k].counts || !report_experiment_answer_comparable(data, i, k))
                continue;
            group[n++] = k;
            answered[k] = true;
        }
        result = answer_group(analysis, scatter, group, n);
    }
    return result;
}

int report_experiment_answer(struct report_analysis *analysis)
{
    const struct report_data *data = analysis->data;
    struct scatter scatter = {0};
    size_t *group = calloc(data->n_points + 1, sizeof *group);
    bool *answered = calloc(data->n_points + 1, sizeof *answered);
    analysis->verdicts = calloc(data->n_points + 1, sizeof *analysis->verdicts);
    analysis->answers = calloc(data->n_points + 1, sizeof *analysis->answers);
    int result = -ENOMEM;
    if (group == NULL || answered == NULL || analysis->verdicts == NULL || analysis->answers == NULL)
        goto out;
    for (size_t i = 0; i < data->n_points; i++)
        analysis->verdicts[i] = VERDICT_WORSE;
    result = scatter_init(&scatter, data);
    if (result == 0) {
        result = answer_all(analysis, &scatter, group, answered);
        free(scatter.moments);
    }
out:
    free(group);
    free(answered);
    return result;
}
