/* The cost as text, and what text and JSON share. */
#include "tuner/impact/report_cost.h"

#include "bench/base/units.h"
#include "tuner/base/style.h"
#include "tuner/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a command must have moved before its delay is told for each GB. */
#define LEAST_BYTES 1e6

static int compare_steps(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The least value that so many of the n do not exceed. */
static double quantile_of(const uint64_t *sorted, size_t n, double share)
{
    size_t rank = (size_t)ceil(share * (double)n);
    return (double)sorted[rank > 0 ? rank - 1 : 0] / 1e9;
}

struct report_cost_steps report_cost_steps_of(const struct cost *cost, size_t r, size_t load)
{
    const struct cost_reference *reference = &cost->references[r];
    const struct cost_series *series = load < cost->n_loads ? &reference->loads[load] : &reference->alone;
    struct report_cost_steps steps = {NAN, NAN, NAN};
    const size_t n = cost->n_runs * reference->n_steps;
    uint64_t *sorted = n > 0 && series->steps_ns != NULL ? malloc(n * sizeof *sorted) : NULL;
    if (sorted == NULL)
        return steps;
    memcpy(sorted, series->steps_ns, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_steps);
    steps = (struct report_cost_steps){.p50_s = quantile_of(sorted, n, 0.5),
                                       .p99_s = quantile_of(sorted, n, 0.99),
                                       .max_s = quantile_of(sorted, n, 1)};
    free(sorted);
    return steps;
}

static const char *duration_of(double s, char *buffer)
{
    return text_short_duration(s * 1e9, buffer);
}

void report_cost_plan(FILE *out, const struct cost *cost)
{
    const struct settings_cost *asked = &cost->settings->cost;
    const size_t n = cost->n_references * (cost->n_loads + 1) * asked->runs;
    const uint64_t beside = cost->n_references * cost->n_loads * (uint64_t)asked->runs;
    char each[UNITS_TEXT_SIZE], least[UNITS_TEXT_SIZE], size[UNITS_TEXT_SIZE];
    uint64_t bytes = 0, alone_ns = 0;
    for (size_t r = 0; r < cost->n_references; r++) {
        const struct reference *reference = &cost->references[r].reference;
        bytes += reference_written_bytes(reference) * (cost->n_loads + 1) * asked->runs;
        alone_ns += reference->command != NULL ? reference->survey_ns : asked->run_ns;
    }
    fprintf(out, "plan: %zu runs of %s %s alone (%" PRIu64 " of them beside the command), %s", n,
            cost->n_references > 1 ? "neighbours that together take" : "a neighbour that takes",
            units_format_duration(alone_ns, each), beside,
            units_format_duration(alone_ns * (cost->n_loads + 1) * asked->runs + beside * asked->settle_ns,
                                  least));
    fprintf(out, " at least");
    if (bytes > 0)
        fprintf(out, "; the neighbour writes %s%sinto nameless files in %s",
                cost->settings->dry_run ? "" : units_format_bytes(bytes, size),
                cost->settings->dry_run ? "" : " ", cost->settings->file.path);
    fprintf(out, "; seed %" PRIu64 "\n", cost->seed);
}

static void print_answer(FILE *out, const struct cost *cost, size_t load, const struct cost_answer *answer)
{
    const bool may_be_none = isfinite(answer->cost.low) && answer->cost.low <= 0 && answer->cost.high >= 0;
    fprintf(out, "%sCost %.1f %%", style_text(out, STYLE_BOLD), 100 * answer->cost_share);
    if (isfinite(answer->cost.low))
        fprintf(out, " (%.1f to %.1f %%)", 100 * answer->cost.low, 100 * answer->cost.high);
    const bool has_interval = isfinite(answer->cost.low) || cost->settings->program == NULL;
    fprintf(out, "%s%s", answer->is_heavy && !may_be_none && has_interval ? ": heavy, above 25 %" : "",
            style_text(out, STYLE_PLAIN));
    if (!has_interval)
        fputs("; an interval, and whether it is heavy, needs more --runs", out);
    if (cost->load[load] != NULL) {
        char clean[SETTINGS_TEXT_SIZE];
        fprintf(out, "  with load %s", text_printable(cost->load[load], clean, sizeof clean));
    }
    if (may_be_none)
        fputs("  none that can be told from 0", out);
    fputc('\n', out);
}

static void print_reference(FILE *out, const struct cost *cost, size_t r, size_t load)
{
    const struct base_sequence_runs runs = cost_runs(cost, r, load);
    struct base_sequence_estimate estimate;
    char alone[UNITS_TEXT_SIZE], beside[UNITS_TEXT_SIZE];
    if (base_sequence_estimate(&runs, cost->settings->runs.confidence_share, &estimate) < 0)
        return;
    fprintf(out, "  %s: %.1f %% by %zu intervals; it takes %.3f times as long",
            cost->references[r].name != NULL ? cost->references[r].name : "the sequences",
            100 * estimate.cost_share, runs.n_times - 1, estimate.slowdown);
    if (isfinite(estimate.slowdown_interval.low))
        fprintf(out, " (%.3f to %.3f)", estimate.slowdown_interval.low, estimate.slowdown_interval.high);
    fputs("\n    interval      alone     beside     cost\n", out);
    for (size_t j = 1; j < runs.n_times; j++) {
        const struct base_sequence_step step = base_sequence_step_of(&runs, j);
        fprintf(out, "    %8zu %10s %10s %7.1f %%\n", j, duration_of(step.base_s, alone),
                duration_of(step.delayed_s, beside), 100 * step.cost_share);
    }
    const struct report_cost_steps quiet = report_cost_steps_of(cost, r, cost->n_loads);
    const struct report_cost_steps busy = report_cost_steps_of(cost, r, load);
    if (isfinite(quiet.p99_s))
        fprintf(out, "    the slowest 1 %% of its steps take %s or more, alone %s: %.2f times as long\n",
                duration_of(busy.p99_s, beside), duration_of(quiet.p99_s, alone), busy.p99_s / quiet.p99_s);
}

/* A slow command must not look kind for free: what the delay bought. */
static void print_work(FILE *out, const struct cost *cost, size_t load, bool is_told_from_zero)
{
    double delay_s = 0, seconds = 0;
    struct disturber_work work = {0};
    for (size_t r = 0; r < cost->n_references; r++) {
        const struct cost_series *series = &cost->references[r].loads[load];
        delay_s += series->seconds - cost->references[r].alone.seconds;
        seconds += series->seconds;
        work.completed += series->work.completed;
        work.cpu_s += series->work.cpu_s;
        work.read_bytes += series->work.read_bytes;
        work.written_bytes += series->work.written_bytes;
    }
    char text[UNITS_TEXT_SIZE], more[UNITS_TEXT_SIZE];
    fprintf(out, "  meanwhile, in %s, the command used %.2f s of processor time", duration_of(seconds, text),
            work.cpu_s);
    if (work.read_bytes + work.written_bytes > 0)
        fprintf(out, ", read %s and wrote %s", units_format_bytes((uint64_t)fmax(work.read_bytes, 0), text),
                units_format_bytes((uint64_t)fmax(work.written_bytes, 0), more));
    if (work.completed > 0)
        fprintf(out, ", ended %.0f times", work.completed);
    fputc('\n', out);
    if (!is_told_from_zero)
        return;
    if (work.completed > 0)
        fprintf(out, "  each of its runs delayed the neighbour by %s\n",
                duration_of(delay_s / work.completed, text));
    if (work.read_bytes + work.written_bytes >= LEAST_BYTES)
        fprintf(out, "  each GB that it moved delayed the neighbour by %s\n",
                duration_of(delay_s / (work.read_bytes + work.written_bytes) * 1e9, text));
    if (work.cpu_s > 0)
        fprintf(out, "  each second of its processor time delayed the neighbour by %s\n",
                duration_of(delay_s / work.cpu_s, text));
}

static void print_pressure(FILE *out, const struct cost *cost, size_t load)
{
    const struct cost_series *alone = &cost->references[0].alone, *beside = &cost->references[0].loads[load];
    bool is_first = true;
    for (int kind = 0; kind < PRESSURE_N; kind++) {
        const double before = alone->pressure.some_s[kind] / alone->seconds;
        const double after = beside->pressure.some_s[kind] / beside->seconds;
        if (!isfinite(before) || !isfinite(after))
            continue;
        fprintf(out, "%s%s %.0f %% of the time (alone %.0f %%)", is_first ? "  tasks waited for " : ", ",
                pressure_names[kind], 100 * after, 100 * before);
        is_first = false;
    }
    if (!is_first)
        fputc('\n', out);
}

int report_cost_text(FILE *out, const struct cost *cost, struct err *err)
{
    for (size_t load = 0; load < cost->n_loads; load++) {
        struct cost_answer answer;
        int result = cost_answer_of(cost, load, &answer, err);
        if (result < 0)
            return result;
        if (load > 0)
            fputc('\n', out);
        print_answer(out, cost, load, &answer);
        for (size_t r = 0; r < cost->n_references; r++)
            print_reference(out, cost, r, load);
        if (cost->settings->program != NULL) {
            print_work(out, cost, load, answer.cost.low > 0);
            print_pressure(out, cost, load);
        }
    }
    if (cost->settings->program != NULL)
        fprintf(out, "\n%zu runs alone and %zu beside each load, seen by %s; seed %" PRIu64 "\n",
                cost->n_runs, cost->n_runs, observer_names[cost->references[0].observer.kind], cost->seed);
    return text_finish(out, err);
}
