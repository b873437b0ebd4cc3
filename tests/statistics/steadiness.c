/* The rules of --until-steady against rounds whose truth is known. Prints Markdown; exit 1 when the default
 * rule is content too often with independent rounds that drift.
 *
 * usage: steadiness [--smoke]     400 series of every kind (smoke: 20) */
#include "models/statistics/steady.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SERIES       400
#define SMOKE_SERIES 20
#define MAX_ROUNDS   300
#define BOUND        0.05

static double flat(size_t round)
{
    (void)round;
    return 1;
}

static double loses_1_percent(size_t round)
{
    return pow(0.99, (double)round);
}

static double loses_2_and_a_half(size_t round)
{
    return pow(0.975, (double)round);
}

static double settles_slowly(size_t round)
{
    return 0.64 + 0.36 * exp(-(double)round / 20);
}

static const struct kind {
    const char *name;
    double (*level)(size_t round);
    double sustained; /* NaN: there is none */
    double rho;
    size_t n_rounds;
} kinds[] = {
    {"flat", flat, 1, 0, MAX_ROUNDS},
    {"flat, AR(1) with rho 0.5", flat, 1, 0.5, MAX_ROUNDS},
    {"loses 4 % in five rounds, for ever", loses_1_percent, NAN, 0, 60},
    {"the same, AR(1) with rho 0.5", loses_1_percent, NAN, 0.5, 60},
    {"loses 10 % in five rounds, for ever", loses_2_and_a_half, NAN, 0, 60},
    {"falls from 1 to 0.64, by a fifth of what is left every 4.5 rounds", settles_slowly, 0.64, 0,
     MAX_ROUNDS},
};
static const double scatter[] = {0.01, 0.03, 0.05};

#define N_KINDS   (sizeof kinds / sizeof kinds[0])
#define N_SCATTER (sizeof scatter / sizeof scatter[0])

struct tally {
    size_t n, met;
    double rounds, off; /* sums over those met; off: |mean of the steady rounds / truth - 1| */
};

static void one_series(const struct steady_rule *rule, const struct kind *kind, double cv, gsl_rng *rng,
                       struct tally *tally)
{
    double rates[MAX_ROUNDS], noise = gsl_ran_gaussian(rng, 1);
    struct steady_state state = {.met = false};
    size_t n = 0;
    while (n < kind->n_rounds && !state.met) {
        rates[n] = kind->level(n) * fmax(1 + cv * noise, 0.01);
        noise = kind->rho * noise + sqrt(1 - kind->rho * kind->rho) * gsl_ran_gaussian(rng, 1);
        n++;
        state = rule->judge(rates, n);
    }
    tally->n++;
    if (!state.met)
        return;
    double mean = 0;
    for (size_t i = n - state.n_rounds; i < n; i++)
        mean += rates[i] / (double)state.n_rounds;
    tally->met++;
    tally->rounds += (double)n;
    tally->off += fabs(mean / kind->sustained - 1);
}

static struct tally study(const struct steady_rule *rule, const struct kind *kind, double cv, size_t n_series)
{
    struct tally tally = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < n_series; i++) {
        gsl_rng_set(rng, 1000 + i);
        one_series(rule, kind, cv, rng, &tally);
    }
    gsl_rng_free(rng);
    return tally;
}

static void print_cell(const struct tally *tally, bool has_truth)
{
    double met = (double)tally->met;
    printf(" %.0f |", 100 * met / (double)tally->n);
    if (tally->met > 0)
        printf(" %.0f |", tally->rounds / met);
    else
        printf(" |");
    if (tally->met > 0 && has_truth)
        printf(" %.1f |", 100 * tally->off / met);
    else
        printf(" |");
}

int main(int argc, char **argv)
{
    bool smoke = argc == 2 && strcmp(argv[1], "--smoke") == 0, broken = false;
    printf("## Rules of --until-steady\n\n| rule | rounds | scatter | called steady %% | after rounds | mean "
           "off by %% |\n"
           "| --- | --- | --- | ---: | ---: | ---: |\n");
    for (size_t r = 0; r < steady_n_rules; r++) {
        for (size_t k = 0; k < N_KINDS; k++) {
            for (size_t s = 0; s < N_SCATTER; s++) {
                struct tally tally =
                    study(&steady_rules[r], &kinds[k], scatter[s], smoke ? SMOKE_SERIES : SERIES);
                printf("| %s | %s | %.0f %% |", steady_rules[r].name, kinds[k].name, 100 * scatter[s]);
                print_cell(&tally, isfinite(kinds[k].sustained));
                printf("\n");
                broken |= r == 0 && !isfinite(kinds[k].sustained) && kinds[k].rho == 0 &&
                          (double)tally.met > BOUND * (double)tally.n + 1;
            }
        }
    }
    return broken;
}
