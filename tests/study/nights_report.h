/* tests/study/nights_report: what the machines of tests/study/nights did, in lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static struct {
    long machines, first, nights, jobs, calm;
    double cv, night_cv, level_cv, shift, tolerance, first_budget, night_budget, max_write, drift;
    const char *surfaces;
    bool writes, verbose;
} option = {.machines = 2,
            .first = 1,
            .nights = 0,
            .jobs = 1,
            .cv = 0.1,
            .level_cv = 0.03,
            .tolerance = 0.03,
            .first_budget = 600,
            .night_budget = 120,
            .max_write = 8,
            .surfaces = "configs/surfaces"};

/* Sent from a child to its parent for every machine. */
struct outcome {
    long machine;
    size_t down_at; /* first night with an alarm of throughput; 0: none */
    bool failed;    /* the first night gave no advice */
    size_t n_changes, n_nights, n_alarms_behind, n_alarms_down, n_pending, n_nothing;
    size_t n_false;          /* changes */
    size_t n_pooled, n_held; /* pooled intervals over two nights and more; those that hold the truth */
    bool no_shift;           /* nothing could be shifted */
    size_t found_at;         /* night of the first change; 0: none */
    double gain_found;       /* true, of what was changed to over what was in force */
    double first_seconds, night_seconds; /* mean of the nights */
    double first_share;                  /* true rate of the first advice over the best of the table */
    double last_share;
};

#define FOUND_MOST 4 /* nights; later ones are counted as the last */

struct summary {
    size_t nights, changes, most_changes, more_than_two, pending, nothing, behind, down, shifts,
        found[FOUND_MOST + 1], wrong, failed, down_machines, down_at, false_changes, false_machines, pooled,
        held;
    double first_seconds, night_seconds, share, last_share, ratio;
};

static void add(struct summary *sum, const struct outcome *outcome)
{
    sum->nights += outcome->n_nights;
    sum->changes += outcome->n_changes;
    sum->most_changes = outcome->n_changes > sum->most_changes ? outcome->n_changes : sum->most_changes;
    sum->more_than_two += outcome->n_changes > 2;
    sum->false_changes += outcome->n_false;
    sum->false_machines += outcome->n_false > 0;
    sum->pooled += outcome->n_pooled;
    sum->held += outcome->n_held;
    sum->pending += outcome->n_pending;
    sum->nothing += outcome->n_nothing;
    sum->behind += outcome->n_alarms_behind;
    sum->down += outcome->n_alarms_down;
    sum->down_machines += outcome->down_at > 0;
    sum->down_at += outcome->down_at;
    sum->shifts += !outcome->no_shift;
    bool good = outcome->found_at > 0 && outcome->gain_found > option.tolerance;
    sum->wrong += outcome->found_at > 0 && !good;
    if (good)
        sum->found[outcome->found_at < FOUND_MOST ? outcome->found_at : FOUND_MOST]++;
    sum->first_seconds += outcome->first_seconds;
    sum->night_seconds += outcome->night_seconds;
    if (outcome->failed) {
        sum->failed++;
        return;
    }
    sum->ratio += outcome->night_seconds / (double)outcome->n_nights / outcome->first_seconds;
    sum->share += outcome->first_share;
    sum->last_share += outcome->last_share;
}

static int report(const struct outcome *outcomes, size_t n)
{
    struct summary sum = {0};
    for (size_t i = 0; i < n; i++)
        add(&sum, &outcomes[i]);
    double machines = (double)(n - sum.failed), nights = (double)sum.nights;
    size_t n_found = sum.found[1] + sum.found[2] + sum.found[3];
    printf("%zu machines, %ld calm nights and %ld more each, run_cv %.2f, night_cv %.3f, level_cv %.3f, "
           "shift %.2f, %.0f GiB\n",
           n, option.calm, option.nights, option.cv, option.night_cv, option.level_cv, option.shift,
           option.max_write);
    printf("  first nights without advice: %zu\n", sum.failed);
    printf("  changes of advice: %.2f a machine, at most %zu, more than two on %zu machines\n",
           (double)sum.changes / machines, sum.most_changes, sum.more_than_two);
    printf(
        "  false changes %zu, on %zu machines; of %zu pooled intervals over two nights and more %.1f %% hold "
        "the truth\n",
        sum.false_changes, sum.false_machines, sum.pooled, 100 * (double)sum.held / (double)sum.pooled);
    printf(
        "  nights pending %.1f %%, without a verdict %zu; alarms: fallen behind %zu, throughput down %zu\n",
        100 * (double)sum.pending / nights, sum.nothing, sum.behind, sum.down);
    if (sum.down_machines > 0)
        printf("  throughput down on %zu machines, first in night %.1f on average\n", sum.down_machines,
               (double)sum.down_at / (double)sum.down_machines);
    if (option.shift > 0)
        printf("  of %zu shifts found within three nights: %.1f %% (two: %.1f %%; later: %zu; a first change "
               "that "
               "is worth less than the tolerance: %zu)\n",
               sum.shifts, 100 * (double)n_found / (double)sum.shifts,
               100 * (double)(sum.found[1] + sum.found[2]) / (double)sum.shifts, sum.found[FOUND_MOST],
               sum.wrong);
    printf("  true rate of the advice over the best: first night %.4f, at the end %.4f\n",
           sum.share / machines, sum.last_share / machines);
    printf(
        "  virtual seconds: first night %.0f, a night %.0f; a night over the first: ratio of the sums %.3f, "
        "mean ratio %.3f, over its budget %.3f\n",
        sum.first_seconds / machines, sum.night_seconds / nights,
        sum.night_seconds / nights / (sum.first_seconds / machines), sum.ratio / machines,
        sum.night_seconds / nights / option.first_budget);
    bool calm = option.shift > 0 || ((double)sum.false_machines <= 0.01 * machines && sum.more_than_two == 0);
    bool seen = option.shift <= 0 || (double)n_found >= 0.9 * (double)sum.shifts;
    printf("  %s\n", calm && seen ? "goal met" : "goal missed");
    return calm && seen && n == (size_t)option.machines ? 0 : 1;
}
