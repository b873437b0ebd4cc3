/* The neighbour alone and beside the command, in random order. */
#include "tuner/impact/cost.h"

#include "bench/base/clock.h"
#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPEATS    3  /* of a run whose observation lost events */
#define TIMEOUT_FACTOR 50 /* of a run's length; a neighbour this slow is no longer measured */
#define TIMEOUT_NS     (60 * CLOCK_NS_PER_S)
#define LEAST_RUNS     2 /* complete ones that are worth an answer after a signal */

/* What is no name of ours is a command. */
static enum reference_kind kind_of_reference(const char *name)
{
    for (int kind = 0; kind < REFERENCE_COMMAND; kind++) {
        if (strcmp(name, reference_names[kind]) == 0)
            return (enum reference_kind)kind;
    }
    return REFERENCE_COMMAND;
}

/* A command is run once for that, but not for --dry-run. */
static int open_reference(const struct settings *settings, const char *name, struct reference *reference,
                          struct err *err)
{
    const enum reference_kind kind = settings->dry_run && kind_of_reference(name) == REFERENCE_COMMAND
                                         ? REFERENCE_CPU
                                         : kind_of_reference(name);
    const size_t n_points = settings->cost.points;
    return kind == REFERENCE_COMMAND ? reference_open_command(reference, name, settings->file.path, n_points,
                                                              &interrupt_signal, err)
                                     : reference_open(reference, kind, settings->file.path, n_points, err);
}

static int split_loads(struct cost *cost, const char *text, struct err *err)
{
    if (text[0] == '\0') {
        cost->n_loads = 1;
        return 0;
    }
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (length == 0)
            return err_set(err, -EINVAL, "--load: a load is empty; write them as 1,2,4");
        if (cost->n_loads == COST_MAX_LOADS)
            return err_set(err, -EINVAL, "--load: more than %d loads; give fewer", COST_MAX_LOADS);
        cost->load[cost->n_loads] = strndup(at, length);
        if (cost->load[cost->n_loads++] == NULL)
            return err_set(err, -ENOMEM, "no memory");
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* The word with the load in the place of each %L; NULL: no memory. */
static char *word_of_load(const char *word, const char *load)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    for (const char *at = word; *at != '\0'; at++) {
        if (load != NULL && at[0] == '%' && at[1] == 'L') {
            fputs(load, out);
            at++;
        } else {
            fputc(*at, out);
        }
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static int make_words(struct cost *cost, struct err *err)
{
    const char *const *program = cost->settings->program;
    size_t n = 0;
    bool has_place = false;
    for (; program[n] != NULL; n++)
        has_place |= strstr(program[n], "%L") != NULL;
    if (cost->load[0] != NULL && !has_place)
        return err_set(err, -EINVAL, "--load: the command has no %%L; write it where the load belongs");
    for (size_t l = 0; l < cost->n_loads; l++) {
        cost->words[l] = calloc(n + 1, sizeof *cost->words[l]);
        for (size_t i = 0; cost->words[l] != NULL && i < n; i++) {
            cost->words[l][i] = word_of_load(program[i], cost->load[l]);
            if (cost->words[l][i] == NULL)
                return err_set(err, -ENOMEM, "no memory");
        }
        if (cost->words[l] == NULL)
            return err_set(err, -ENOMEM, "no memory");
    }
    return 0;
}

static int allocate_series(const struct cost *cost, const struct cost_reference *reference,
                           struct cost_series *series)
{
    const size_t n_runs = cost->settings->cost.runs;
    series->times_s = calloc(n_runs * reference->n_points, sizeof *series->times_s);
    series->steps_ns = calloc(n_runs * reference->n_steps, sizeof *series->steps_ns);
    return series->times_s != NULL && series->steps_ns != NULL ? 0 : -ENOMEM;
}

static int open_one(struct cost *cost, struct cost_reference *made, const char *name, struct err *err)
{
    const struct settings_cost *asked = &cost->settings->cost;
    struct reference *reference = &made->reference;
    made->observer.fd = -1;
    made->name = name;
    int result = open_reference(cost->settings, name, reference, err);
    if (result == 0)
        result = observer_open(&made->observer,
                               asked->observe == 0 ? OBSERVER_N : (enum observer_kind)(asked->observe - 1),
                               reference->planted, reference->n_planted, err);
    if (result == 0 && !cost->settings->dry_run)
        result = reference_size(reference, asked->run_ns, err);
    if (result < 0)
        return result;
    made->n_points = reference->n_points;
    made->n_steps = reference_n_steps(reference);
    made->loads = calloc(cost->n_loads, sizeof *made->loads);
    result = made->loads == NULL ? -ENOMEM : allocate_series(cost, made, &made->alone);
    for (size_t l = 0; l < cost->n_loads && result == 0; l++)
        result = allocate_series(cost, made, &made->loads[l]);
    return result < 0 ? err_set(err, result, "no memory for %u runs", asked->runs) : 0;
}

static int open_references(struct cost *cost, struct err *err)
{
    const struct settings_files *asked = &cost->settings->cost.references;
    const size_t n = asked->n > 0 ? asked->n : 1;
    cost->references = calloc(n, sizeof *cost->references);
    if (cost->references == NULL)
        return err_set(err, -ENOMEM, "no memory");
    for (size_t r = 0; r < n; r++)
        cost->references[r].reference.dir_fd = cost->references[r].observer.fd = -1;
    cost->n_references = n;
    for (size_t r = 0; r < n; r++) {
        const char *name = asked->n > 0 ? asked->path[r] : reference_names[REFERENCE_FILES];
        int result = open_one(cost, &cost->references[r], name, err);
        if (result < 0)
            return result;
    }
    return 0;
}

int cost_open(struct cost *cost, const struct settings *settings, struct err *err)
{
    *cost = (struct cost){.settings = settings,
                          .seed = settings->seed_given ? settings->seed : rng_seed_from_system() >> 1};
    if (settings->program == NULL || settings->program[0] == NULL)
        return err_set(err, -EINVAL,
                       "the command is missing; write fstune cost [OPTION...] -- COMMAND ARG...");
    int result = split_loads(cost, settings->cost.loads, err);
    if (result == 0)
        result = make_words(cost, err);
    return result == 0 ? open_references(cost, err) : result;
}

static void add_work(struct cost_series *series, const struct neighbour_run *run)
{
    series->work.completed += run->work.completed;
    series->work.cpu_s += run->work.cpu_s;
    series->work.read_bytes += run->work.read_bytes;
    series->work.written_bytes += run->work.written_bytes;
    series->seconds += run->seconds;
    for (int kind = 0; kind < PRESSURE_N; kind++)
        series->pressure.some_s[kind] += run->pressure.some_s[kind];
}

/* load: its number, or n_loads for the reference alone. */
static int one_run(struct cost *cost, struct cost_reference *made, size_t load, struct err *err)
{
    struct cost_series *series = load < cost->n_loads ? &made->loads[load] : &made->alone;
    const uint64_t alone_ns =
        made->reference.command != NULL ? made->reference.survey_ns : cost->settings->cost.run_ns;
    const uint64_t longest_ns = TIMEOUT_FACTOR * alone_ns;
    struct neighbour neighbour = {.reference = &made->reference,
                                  .observer = &made->observer,
                                  .interrupted = &interrupt_signal,
                                  .interrupt_fd = interrupt_descriptor(),
                                  .settle_ns = cost->settings->cost.settle_ns,
                                  .timeout_ns = longest_ns > TIMEOUT_NS ? longest_ns : TIMEOUT_NS};
    struct neighbour_run run = {.times_s = series->times_s + cost->n_runs * made->n_points};
    const char *const *words = load < cost->n_loads ? cost->words[load] : NULL;
    int result = -EOVERFLOW;
    for (int i = 0; i < MAX_REPEATS && result == -EOVERFLOW; i++)
        result = neighbour_run(&neighbour, words, &run, err);
    if (result < 0)
        return result;
    memcpy(series->steps_ns + cost->n_runs * made->n_steps, made->reference.board->step_ns,
           made->n_steps * sizeof *series->steps_ns);
    add_work(series, &run);
    return 0;
}

static int one_block(struct cost *cost, struct rng *rng, struct progress *progress, struct err *err)
{
    size_t order[SETTINGS_MAX_FILES * (COST_MAX_LOADS + 1)];
    const size_t n_series = cost->n_loads + 1, n = cost->n_references * n_series;
    int result = 0;
    rng_order(rng, order, n);
    for (size_t i = 0; i < n && result == 0; i++) {
        progress_show(progress, "run %zu of %u: %zu of %zu", cost->n_runs + 1, cost->settings->cost.runs,
                      i + 1, n);
        result = one_run(cost, &cost->references[order[i] / n_series], order[i] % n_series, err);
    }
    return result;
}

int cost_measure(struct cost *cost, struct err *err)
{
    struct rng rng;
    struct progress progress;
    int result = 0;
    rng_init(&rng, cost->seed);
    progress_init(&progress, cost->settings->quiet);
    while (cost->n_runs < cost->settings->cost.runs && result == 0) {
        result = one_block(cost, &rng, &progress, err);
        cost->n_runs += result == 0;
    }
    progress_clear(&progress);
    cost->is_interrupted = result == -EINTR;
    return cost->is_interrupted && cost->n_runs >= LEAST_RUNS ? 0 : result;
}
