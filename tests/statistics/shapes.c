/* Labelled traces against models/statistics/trace: how often the verdict "steady" and the name are right, and
 * how much a cut wastes. Prints Markdown; exit 1 when a bound is broken.
 *
 * usage: shapes [--smoke]     150 seeds for every shape, noise and length (smoke: 5) */
#include "tests/models/statistics/trace_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS       150
#define SMOKE_SEEDS 5
#define SEED_BASE   2000000000UL
#define BOUND       0.05
#define SMOKE_BOUND 0.12 /* few seeds scatter more */
#define LEAST_NAMED 0.80
#define MOST_WASTE  1.2
#define MEAN_SHARE  0.05

static const size_t lengths[] = {40, 100, 300, 1000};

#define N_LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

struct tally {
    size_t n, steady, named, wrong, off;
    size_t names[TRACE_N_SHAPES];
    double kept, oracle; /* windows */
};

static void add(struct tally *sum, const struct tally *part)
{
    sum->n += part->n;
    sum->steady += part->steady;
    sum->named += part->named;
    sum->wrong += part->wrong;
    sum->off += part->off;
    for (size_t i = 0; i < TRACE_N_SHAPES; i++)
        sum->names[i] += part->names[i];
    sum->kept += part->kept;
    sum->oracle += part->oracle;
}

/* Whether a mean called steady is within 5 % of the rate in the long run, but for what its noise explains. */
static bool mean_is_off(const struct shapes_trace *trace, const struct shapes_noise *noise,
                        const struct trace_verdict *verdict)
{
    double n = (double)(verdict->end - verdict->start);
    double error = noise->cv * sqrt((1 + noise->rho) / (1 - noise->rho) / n);
    return isfinite(trace->sustained) &&
           !(fabs(verdict->mean / trace->sustained - 1) <= MEAN_SHARE + 3 * error);
}

static void judge(const struct shapes_row *row, const struct shapes_noise *noise,
                  const struct shapes_trace *trace, const double *rates, struct tally *tally)
{
    struct trace_verdict verdict;
    if (trace_classify(rates, trace->n, &verdict) != 0)
        exit(1);
    bool off = verdict.steady && mean_is_off(trace, noise, &verdict);
    tally->n++;
    tally->steady += verdict.steady;
    tally->named += (row->names >> verdict.shape) & 1;
    tally->names[verdict.shape]++;
    tally->off += off;
    tally->wrong += row->or_within_5 ? off : verdict.steady != row->steady;
    if (row->steady && verdict.steady) {
        tally->kept += (double)(verdict.end - verdict.start);
        tally->oracle += (double)(trace->n - trace->oracle);
    }
}

/* Every cell draws for itself. The classifier was tuned on other seeds, below SEED_BASE. */
static unsigned long seed_of(size_t row, size_t noise, size_t n, size_t seed)
{
    return (unsigned long)(SEED_BASE + ((row * SHAPES_N_NOISES + noise) * 1009 + n) * 4001 + seed);
}

static struct tally study(size_t row_index, size_t noise_index, size_t n, size_t n_seeds)
{
    const struct shapes_row *row = &shapes_rows[row_index];
    const struct shapes_noise *noise = &shapes_noises[noise_index];
    static struct shapes_trace trace;
    static double rates[SHAPES_MAX_WINDOWS];
    struct tally tally = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t seed = 1; seed <= n_seeds; seed++) {
        gsl_rng_set(rng, seed_of(row_index, noise_index, n, seed));
        if (shapes_draw(row, noise, n, rng, &trace, rates))
            judge(row, noise, &trace, rates, &tally);
    }
    gsl_rng_free(rng);
    return tally;
}

static double share(size_t part, size_t n)
{
    return n > 0 ? (double)part / (double)n : 0;
}

static struct tally cells[SHAPES_N_ROWS][SHAPES_N_NOISES][N_LENGTHS];

/* SHAPES_N_NOISES and N_LENGTHS: all of them. */
static struct tally pooled(size_t row, size_t noise, size_t length)
{
    struct tally sum = {0};
    for (size_t i = 0; i < SHAPES_N_NOISES; i++) {
        for (size_t k = 0; k < N_LENGTHS; k++) {
            if ((noise == SHAPES_N_NOISES || noise == i) && (length == N_LENGTHS || length == k))
                add(&sum, &cells[row][i][k]);
        }
    }
    return sum;
}

static void print_share(struct tally tally)
{
    if (tally.n == 0)
        printf(" - |");
    else
        printf(" %.1f |", 100 * share(tally.wrong, tally.n));
}

static void print_wrong(void)
{
    printf(
        "\n### Wrong verdicts (%%) by noise, over all lengths, and by length, over all noises\n\n| shape |");
    for (size_t i = 0; i < SHAPES_N_NOISES; i++)
        printf(" %s |", shapes_noises[i].name);
    for (size_t k = 0; k < N_LENGTHS; k++)
        printf(" n = %zu |", lengths[k]);
    printf("\n| --- |");
    for (size_t i = 0; i < SHAPES_N_NOISES + N_LENGTHS; i++)
        printf(" ---: |");
    printf("\n");
    for (size_t row = 0; row < SHAPES_N_ROWS; row++) {
        printf("| %s |", shapes_rows[row].name);
        for (size_t i = 0; i < SHAPES_N_NOISES; i++)
            print_share(pooled(row, i, N_LENGTHS));
        for (size_t k = 0; k < N_LENGTHS; k++)
            print_share(pooled(row, SHAPES_N_NOISES, k));
        printf("\n");
    }
}

static void print_names(void)
{
    printf("\n### Names given (%%)\n\n| shape |");
    for (size_t i = 0; i < TRACE_N_SHAPES; i++)
        printf(" %s |", trace_shape_names[i]);
    printf("\n| --- |");
    for (size_t i = 0; i < TRACE_N_SHAPES; i++)
        printf(" ---: |");
    printf("\n");
    for (size_t row = 0; row < SHAPES_N_ROWS; row++) {
        struct tally sum = pooled(row, SHAPES_N_NOISES, N_LENGTHS);
        printf("| %s |", shapes_rows[row].name);
        for (size_t i = 0; i < TRACE_N_SHAPES; i++)
            printf(sum.names[i] > 0 ? " %.1f |" : " |", 100 * share(sum.names[i], sum.n));
        printf("\n");
    }
}

/* The number of broken bounds. */
static int print_summary(double bound)
{
    int broken = 0;
    printf("| shape | should be | traces | called steady %% | wrong %% | right name %% | mean off %% | kept "
           "by an oracle / "
           "kept |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < SHAPES_N_ROWS; i++) {
        const struct shapes_row *row = &shapes_rows[i];
        struct tally sum = pooled(i, SHAPES_N_NOISES, N_LENGTHS);
        double wrong = share(sum.wrong, sum.n), named = share(sum.named, sum.n);
        double waste = sum.kept > 0 ? sum.oracle / sum.kept : 1;
        bool bad = wrong > bound || named < LEAST_NAMED || waste > MOST_WASTE;
        printf("| %s | %s | %zu | %.1f | %.1f | %.1f | %.1f | ", row->name,
               row->or_within_5 ? "within 5 %"
               : row->steady    ? "steady"
                                : "not steady",
               sum.n, 100 * share(sum.steady, sum.n), 100 * wrong, 100 * named, 100 * share(sum.off, sum.n));
        printf(row->steady && sum.kept > 0 ? "%.2f" : "", waste);
        printf(" |%s\n", bad ? " **out of bounds**" : "");
        broken += bad;
    }
    return broken;
}

/* Over all shapes: how often "steady" is said of what is not, and the other way round. */
static void print_errors(void)
{
    size_t n[2] = {0, 0}, wrong[2] = {0, 0};
    for (size_t i = 0; i < SHAPES_N_ROWS; i++) {
        struct tally sum = pooled(i, SHAPES_N_NOISES, N_LENGTHS);
        n[shapes_rows[i].steady] += sum.n;
        wrong[shapes_rows[i].steady] += sum.wrong;
    }
    printf("\nFalse \"steady\": %.1f %% of %zu traces that are not; false \"unsteady\": %.1f %% of %zu that "
           "are.\n",
           100 * share(wrong[0], n[0]), n[0], 100 * share(wrong[1], n[1]), n[1]);
}

int main(int argc, char **argv)
{
    bool smoke = argc == 2 && strcmp(argv[1], "--smoke") == 0;
    if (argc > 1 && !smoke) {
        fprintf(stderr, "usage: shapes [--smoke]\n");
        return 2;
    }
    for (size_t row = 0; row < SHAPES_N_ROWS; row++) {
        for (size_t i = 0; i < SHAPES_N_NOISES; i++) {
            for (size_t k = 0; k < N_LENGTHS; k++)
                cells[row][i][k] = study(row, i, lengths[k], smoke ? SMOKE_SEEDS : SEEDS);
        }
    }
    printf("## Shapes of traces\n\n");
    int broken = print_summary(smoke ? SMOKE_BOUND : BOUND);
    print_errors();
    print_wrong();
    print_names();
    return broken > 0;
}
