/* Whether a point is probably good enough, asked at every step of a race: mostly the chance of the strongest
 * rival alone says no, and where it does not, hardly any rival has a chance worth a draw. */
#include "models/search/belief_internal.h"

#include <errno.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

/* Chance that draws would say otherwise than a bound on their probability. */
#define UNSURE 1e-6

/* Rivals that together exceed the point in fewer draws than this share are not drawn. */
#define LEFT_OUT 1e-6

/* Divided by instead of by 0. */
#define TINY 1e-12

/* Rivals looked at before all others, and draws made before more. */
#define FIRST_RIVALS 32
#define FIRST_DRAWS  64

struct rival {
    size_t point;
    double lead; /* of the asked point, in standard deviations of both, as if these depended on each other */
    double over; /* probability that it exceeds the point by more than the margin */
};

struct question {
    const struct belief *belief;
    size_t point;
    double margin, response; /* which a rival that is over exceeds */
    size_t n_draws;
    double no_lone_peaks; /* probability, where there is no ceiling */
    double most_over; /* draws in which a rival may be over, if the point is to be within; each counts by the
                         probability that there is no lone peak */
    struct belief_ceiling ceiling;
    struct rival *rivals;
    size_t n;
};

static int smaller_lead_first(const void *a_, const void *b_)
{
    const struct rival *a = a_, *b = b_;

    if (a->lead < b->lead || a->lead > b->lead)
        return a->lead < b->lead ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

static int likelier_first(const void *a_, const void *b_)
{
    const struct rival *a = a_, *b = b_;

    if (a->over > b->over || a->over < b->over)
        return a->over > b->over ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

static void find_rivals(struct question *question)
{
    const struct belief *belief = question->belief;
    double needed = belief->mean[question->point] + question->margin;
    double own_std = sqrt(belief->variance[question->point]);

    question->n = 0;
    for (size_t i = 0; i < belief->space->n_points; i++) {
        double std = sqrt(belief->variance[i]), short_of = needed - belief->mean[i];

        if (i != question->point && !belief->excluded[i] &&
            short_of <= BELIEF_HOPELESS_STDS * (std + own_std))
            question->rivals[question->n++] = (struct rival){.point = i, .lead = short_of / (std + own_std)};
    }
    qsort(question->rivals, question->n, sizeof(*question->rivals), smaller_lead_first);
}

/* Sets `over` of rivals first..last-1. 0, -ENOMEM. */
static int weigh(struct question *question, size_t first, size_t last)
{
    const struct belief *belief = question->belief;
    size_t n = last - first, *points = calloc(n + 1, sizeof(*points)), own = question->point;
    double *covariance = malloc((n + 1) * sizeof(*covariance));
    int result = points && covariance ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && !result; i++)
        points[i] = question->rivals[first + i].point;
    if (!result)
        result = belief_covariance(belief, own, points, n, covariance);
    for (size_t i = 0; i < n && !result; i++) {
        double variance = belief->variance[own] + belief->variance[points[i]] - 2.0 * covariance[i];
        double lead = belief->mean[own] + question->margin - belief->mean[points[i]];

        question->rivals[first + i].over =
            variance > 0.0 ? gsl_cdf_ugaussian_Q(lead / sqrt(variance)) : lead < 0.0;
    }
    free(points);
    free(covariance);
    return result;
}

/* By the strongest of the first n rivals. Under a ceiling, which lowers both, it may not be over where it is
 * drawn so: only draws without one count. */
static bool is_surely_not(const struct question *question, size_t n)
{
    double most = 0.0;

    if (isfinite(question->belief->ceiling))
        return false;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, question->rivals[i].over);
    double most_over =
        fmin((double)question->n_draws, question->most_over / fmax(question->no_lone_peaks, TINY));

    return gsl_cdf_binomial_P((unsigned)most_over, most * belief_ceiling_none(&question->ceiling),
                              (unsigned)question->n_draws) < UNSURE;
}

/* By all rivals as if they were never over in one draw. */
static bool is_surely(const struct question *question)
{
    double sum = 0.0;

    for (size_t i = 0; i < question->n; i++)
        sum += question->rivals[i].over;
    return sum < 1.0 &&
           gsl_cdf_binomial_Q((unsigned)question->most_over, sum, (unsigned)question->n_draws) < UNSURE;
}

/* Keeps those that are worth a draw. */
static void leave_out_unlikely(struct question *question)
{
    double left_out = 0.0;

    qsort(question->rivals, question->n, sizeof(*question->rivals), likelier_first);
    question->n = GSL_MIN(question->n, BELIEF_MAX_JOINT - 1);
    while (question->n > 0 && left_out + question->rivals[question->n - 1].over < LEFT_OUT)
        left_out += question->rivals[--question->n].over;
}

/* In how many draws some column is more than the margin above the first, under a ceiling; see most_over. */
static double count_over(const struct question *question, const size_t *points, double *draws, size_t n,
                         size_t n_draws, gsl_rng *rng)
{
    double n_over = 0.0;

    for (size_t draw = 0; draw < n_draws; draw++) {
        double *row = draws + draw * n;
        double ceiling = belief_ceiling_draw(&question->ceiling, rng);
        size_t i = 1;

        belief_ceiling_lower(question->belief, points, n, ceiling, row);
        while (i < n && !(row[i] > row[0] + question->margin))
            i++;
        if (i < n)
            n_over += question->response < ceiling ? question->no_lone_peaks : 1.0;
    }
    return n_over;
}

/* Of the first n_rivals. A few draws first: mostly these already hold more than are allowed in all. */
static int draw_rivals(const struct question *question, size_t n_rivals, gsl_rng *rng, bool *ret_within)
{
    size_t points[BELIEF_MAX_JOINT] = {question->point}, n = 1 + n_rivals, made = 0;
    double *draws = malloc(n * question->n_draws * sizeof(*draws)), n_over = 0.0;
    struct joint joint = {0};
    int result = draws ? 0 : -ENOMEM;

    for (size_t i = 1; i < n; i++)
        points[i] = question->rivals[i - 1].point;
    if (!result)
        result = belief_joint(question->belief, points, n, &joint);
    while (!result && made < question->n_draws && n_over <= question->most_over) {
        size_t more = GSL_MIN(GSL_MAX(made, FIRST_DRAWS), question->n_draws - made);

        result = joint_draw(&joint, more, rng, draws);
        if (!result)
            n_over += count_over(question, points, draws, n, more, rng);
        made += more;
    }
    joint_done(&joint);
    free(draws);
    *ret_within = !result && n_over <= question->most_over;
    return result;
}

/* Mostly the likeliest rivals alone exceed the point too often, and those are drawn in a tenth of the time.
 */
static int draw_few_or_all(const struct question *question, gsl_rng *rng, bool *ret_within)
{
    int result = 0;

    *ret_within = true;
    if (question->n > FIRST_RIVALS)
        result = draw_rivals(question, FIRST_RIVALS, rng, ret_within);
    return result || !*ret_within ? result : draw_rivals(question, question->n, rng, ret_within);
}

static int answer(struct question *question, gsl_rng *rng, bool *ret_within)
{
    size_t n_first;
    int result;

    find_rivals(question);
    n_first = GSL_MIN(question->n, FIRST_RIVALS);
    result = weigh(question, 0, n_first);
    *ret_within = false;
    if (result || is_surely_not(question, n_first))
        return result;
    result = weigh(question, n_first, question->n);
    if (result || is_surely_not(question, question->n))
        return result;
    *ret_within = is_surely(question);
    if (*ret_within)
        return 0;
    leave_out_unlikely(question);
    return draw_few_or_all(question, rng, ret_within);
}

/* The probability that there is no lone peak: a ceiling up to the response rules them out. */
static double no_lone_peaks(const struct question *question)
{
    double ruled_out = belief_ceiling_up_to(&question->ceiling, question->response);

    return question->no_lone_peaks + (1.0 - question->no_lone_peaks) * ruled_out;
}

int belief_is_within(const struct belief *belief, size_t point, double margin, double enough, size_t n_draws,
                     gsl_rng *rng, bool *ret_within)
{
    struct belief_level own = belief_level_of(belief, point);
    struct question question = {.belief = belief,
                                .point = point,
                                .margin = margin,
                                .response = own.mean + margin,
                                .n_draws = n_draws};
    int result;

    if (!belief->chosen) {
        *ret_within = belief_within_alone(belief, point, &own, margin) >= enough;
        return 0;
    }
    belief_ceiling_learn(belief, &question.ceiling);
    question.no_lone_peaks = belief_no_lone_peaks_within(belief, point, &own, margin);
    question.most_over = (double)n_draws * (no_lone_peaks(&question) - enough);
    *ret_within = false;
    if (question.most_over < 0.0)
        return 0;
    question.rivals = malloc(belief->space->n_points * sizeof(*question.rivals));
    result = question.rivals ? answer(&question, rng, ret_within) : -ENOMEM;
    free(question.rivals);
    return result;
}
