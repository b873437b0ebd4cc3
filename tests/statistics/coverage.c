/* Coverage of the intervals that fstune prints, as Markdown tables. usage: coverage [--smoke]
 *
 * Exit code 1 when a nominal 95 % interval holds the truth in fewer than 93 or more than 97 of 100 simulated
 * cases that are bound to it. --smoke: few seeds, bounds wider by three standard errors. */
#include "tests/statistics/coverage.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LEAST        0.93
#define MOST         0.97
#define ABSTENTIONS  0.20 /* at 1,000 values */

struct effort {
    size_t n_series, n_replays, n_percentiles;
    double slack; /* standard errors of a coverage that the bounds are widened by */
};

static const struct effort full = {20000, 10000, 2000, 0}, smoke = {400, 400, 60, 3};

struct series_row {
    struct coverage_noise noise;
    bool bound;
};

static const struct series_row series_rows[] = {
    {{.name = "independent", .cv = 0.1}, true},
    {{.name = "AR(1), rho 0.5", .cv = 0.1, .rho = 0.5}, true},
    {{.name = "AR(1), rho 0.8", .cv = 0.1, .rho = 0.8}, true},
    {{.name = "AR(1), rho 0.9", .cv = 0.1, .rho = 0.9}, true},
    {{.name = "lognormal, cv 0.3", .cv = 0.3, .lognormal = true}, true},
    {{.name = "lognormal, cv 0.3, rho 0.8", .cv = 0.3, .rho = 0.8, .lognormal = true}, false},
    {{.name = "starts at twice the rate", .cv = 0.1, .warmup_factor = 2, .warmup_share = 0.1}, true},
    {{.name = "starts at half the rate", .cv = 0.1, .warmup_factor = 0.5, .warmup_share = 0.05}, true},
    {{.name = "starts at twice, rho 0.9", .cv = 0.1, .rho = 0.9, .warmup_factor = 2, .warmup_share = 0.1},
     false},
    {{.name = "1 % at half the rate", .cv = 0.1, .outlier_factor = 2}, true},
    {{.name = "1 % at a tenth of the rate", .cv = 0.1, .outlier_factor = 10}, false},
    {{.name = "lognormal, cv 0.5", .cv = 0.5, .lognormal = true}, false},
    {{.name = "lognormal, cv 1.0", .cv = 1, .lognormal = true}, false},
    {{.name = "AR(1), rho 0.9, and as much white noise", .cv = 0.1, .rho = 0.9, .white_share = 0.5}, false},
};

struct replay_row {
    struct coverage_noise inside;
    struct coverage_between between;
    bool bound;
};

static const struct replay_row replay_rows[] = {
    {{.name = "independent", .cv = 0.1}, {.cv = 0.05}, true},
    {{.name = "AR(1), rho 0.5", .cv = 0.1, .rho = 0.5}, {.cv = 0.05}, true},
    {{.name = "AR(1), rho 0.8", .cv = 0.1, .rho = 0.8}, {.cv = 0.05}, true},
    {{.name = "AR(1), rho 0.9", .cv = 0.1, .rho = 0.9}, {.cv = 0.05}, true},
    {{.name = "lognormal cv 0.3 inside and between", .cv = 0.3, .lognormal = true}, {.cv = 0.3}, true},
    {{.name = "starts at twice the rate", .cv = 0.1, .warmup_factor = 2, .warmup_share = 0.1},
     {.cv = 0.05},
     true},
    {{.name = "starts at half the rate", .cv = 0.1, .warmup_factor = 0.5, .warmup_share = 0.05},
     {.cv = 0.05},
     true},
    {{.name = "1 % of windows at half the rate", .cv = 0.1, .outlier_factor = 2}, {.cv = 0.05}, true},
    {{.name = "1 % of runs at 1/1.5", .cv = 0.1}, {.cv = 0.05, .outlier_factor = 1.5}, true},
    {{.name = "1 % of runs at half the rate", .cv = 0.1}, {.cv = 0.05, .outlier_factor = 2}, true},
    {{.name = "1 % of runs at a fifth", .cv = 0.1}, {.cv = 0.05, .outlier_factor = 5}, false},
    {{.name = "lognormal cv 0.5 between", .cv = 0.1}, {.cv = 0.5}, false},
    {{.name = "lognormal cv 1.0 between", .cv = 0.1}, {.cv = 1}, false},
};

static const struct coverage_latency latency_rows[] = {
    {.name = "independent requests"},
    {.name = "AR(1), rho 0.8", .rho = 0.8},
    {.name = "runs differ, cv 0.05", .run_cv = 0.05},
    {.name = "runs differ, cv 0.2", .run_cv = 0.2},
};

static size_t breaches;

static void check_coverage(struct coverage_tally tally, bool bound, double slack)
{
    double held = coverage_share(tally.held, tally.claimed);
    double margin = slack * sqrt(0.95 * 0.05 / (double)tally.claimed);
    bool breach = bound && !(held >= LEAST - margin && held <= MOST + margin);
    breaches += breach;
    printf(" %s%.1f%s", breach ? "**" : "", held * 100, breach ? "**" : "");
}

static void print_series(const struct effort *effort)
{
    static const size_t lengths[] = {100, 200, 1000, 5000};
    puts("## Inside one run: batch means\n\n"
         "Coverage of the intervals claimed, per cent; in brackets how many made no claim; then what "
         "Student's t\n"
         "over all values covers. Rows and lengths in the bounds 93 to 97 are marked with a star.\n\n"
         "| noise | 100 windows | 200 * | 1,000 * | 5,000 * |\n| --- | --- | --- | --- | --- |");
    for (size_t row = 0; row < COUNT(series_rows); row++) {
        printf("| %s%s |", series_rows[row].noise.name, series_rows[row].bound ? " *" : "");
        for (size_t i = 0; i < COUNT(lengths); i++) {
            struct coverage_tally tally =
                coverage_of_series(&series_rows[row].noise, lengths[i],
                                   effort->n_series / (lengths[i] > 1000 ? 4 : 1), 100 * row + i + 1);
            double silent = 1 - coverage_share(tally.claimed, tally.n);
            bool bound = series_rows[row].bound && lengths[i] >= 200;
            check_coverage(tally, bound, effort->slack);
            breaches += bound && lengths[i] >= 1000 && silent > ABSTENTIONS;
            printf(" (%.1f), t %.1f |", silent * 100, coverage_share(tally.plain_held, tally.n) * 100);
        }
        putchar('\n');
    }
}

static void print_replays(const struct effort *effort)
{
    static const size_t sizes[] = {5, 7, 10, 15, 20, 30};
    puts("\n## Over replays\n\n"
         "Coverage, per cent, of the interval over n runs; then what Student's t over whole runs covers.\n\n"
         "| noise | 5 | 7 | 10 | 15 | 20 | 30 |\n| --- | --- | --- | --- | --- | --- | --- |");
    for (size_t row = 0; row < COUNT(replay_rows); row++) {
        printf("| %s%s |", replay_rows[row].inside.name, replay_rows[row].bound ? " *" : "");
        for (size_t i = 0; i < COUNT(sizes); i++) {
            struct coverage_tally tally =
                coverage_of_replays(&replay_rows[row].inside, replay_rows[row].between, sizes[i],
                                    effort->n_replays, 1000 + 100 * row + i);
            check_coverage(tally, replay_rows[row].bound, effort->slack);
            printf(", t %.1f |", coverage_share(tally.plain_held, tally.n) * 100);
        }
        putchar('\n');
    }
}

static void print_percentiles(const struct effort *effort)
{
    static const size_t runs[] = {5, 10, 30};
    puts("\n## Percentiles of latency\n\n"
         "Runs of 2,000 requests. Coverage of the intervals claimed, per cent; in brackets how many made no\n"
         "claim; then what ranks without a design effect cover.\n\n"
         "| latencies | runs | p50 | p99 | p99.9 |\n| --- | --- | --- | --- | --- |");
    for (size_t row = 0; row < COUNT(latency_rows); row++) {
        for (size_t i = 0; i < COUNT(runs); i++) {
            struct coverage_tally tallies[COVERAGE_N_SHARES];
            coverage_of_percentiles(&latency_rows[row], runs[i], 2000, effort->n_percentiles,
                                    5000 + 100 * row + i, tallies);
            printf("| %s | %zu |", latency_rows[row].name, runs[i]);
            for (size_t share = 0; share < COVERAGE_N_SHARES; share++)
                printf(" %.1f (%.1f), %.1f |",
                       coverage_share(tallies[share].held, tallies[share].claimed) * 100,
                       100 - coverage_share(tallies[share].claimed, tallies[share].n) * 100,
                       coverage_share(tallies[share].plain_held, tallies[share].n) * 100);
            putchar('\n');
        }
    }
}

int main(int n_arguments, char **arguments)
{
    bool short_one = n_arguments > 1 && strcmp(arguments[1], "--smoke") == 0;
    const struct effort *effort = short_one ? &smoke : &full;
    print_series(effort);
    print_replays(effort);
    print_percentiles(effort);
    printf("\n%zu figures outside their bounds.\n", breaches);
    return breaches > 0;
}
