/* Which cells an experiment has, and the order of its runs. */
#include "tuner/experiment/experiment.h"

#include "bench/base/units.h"
#include "models/surrogate/design.h"
#include "tuner/base/text.h"
#include "tuner/options/experiment_config.h"
#include "tuner/report/report_plan.h"
#include "tuner/session/candidates.h"

#include <errno.h>
#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RNG_STREAM 2
/* Beside its timed part, while nothing is known of the file system. */
#define LIKELY_WARMUP_SHARE 0.25
#define LIKELY_SETUP_S      0.1

const struct pattern *experiment_pattern(const struct experiment *experiment,
                                         const struct experiment_cell *cell)
{
    return &experiment->settings->experiment.patterns[cell->level[FACTOR_N + CONDITION_PATTERN]];
}

static uint64_t file_bytes_of(const struct experiment *experiment, const struct experiment_cell *cell)
{
    uint64_t bytes = cell->level[FACTOR_N + CONDITION_FILE_SIZE];
    bool own = experiment->settings->file.existing[0] == '\0';
    /* An own file is as large as was asked for, or a little less in equal parts of whole MiB. */
    return bytes == 0 || (own && bytes > experiment->whole_bytes) ? experiment->whole_bytes : bytes;
}

struct conditions {
    const struct pattern *pattern;
    enum measure_cache cache;
    uint64_t file_bytes, n_files, alignment_bytes;
};

static void set_conditions(const struct experiment *experiment, const struct conditions *conditions)
{
    struct session *session = experiment->session;
    session->env.cache = conditions->cache;
    session->env.alignment_bytes = conditions->alignment_bytes;
    session->asked.pattern = *conditions->pattern;
    session->asked.cold = conditions->cache == MEASURE_CACHE_COLD && !session->simulated;
    /* What an experiment varies is asked about, not chosen. */
    session->asked.sync_pinned = true;
    /* A smaller file is the beginning of the one that was filled. */
    if (!session->simulated && session->target.fd >= 0)
        experiment_targets_enter(experiment, conditions->n_files, conditions->file_bytes);
}

void experiment_enter(const struct experiment *experiment, const struct experiment_cell *cell)
{
    set_conditions(experiment, &(struct conditions){
                                   .pattern = experiment_pattern(experiment, cell),
                                   .cache = (enum measure_cache)cell->level[FACTOR_N + CONDITION_CACHE],
                                   .file_bytes = file_bytes_of(experiment, cell),
                                   .n_files = cell->level[FACTOR_N + CONDITION_FILES],
                                   .alignment_bytes = cell->level[FACTOR_N + CONDITION_ALIGNMENT],
                               });
}

void experiment_leave(const struct experiment *experiment)
{
    const struct settings *settings = experiment->settings;
    set_conditions(experiment, &(struct conditions){
                                   .pattern = &settings->workload.pattern,
                                   .cache = experiment->cache,
                                   .file_bytes = experiment->whole_bytes,
                                   .n_files = settings->file.n,
                                   .alignment_bytes = settings->workload.alignment_bytes,
                               });
}

/* A factor that is not asked for takes the levels of a surface's table, else one plain value. */
static int default_levels(const struct session *session, const struct levels *patterns,
                          struct levels levels[FACTOR_N], struct err *err)
{
    static const uint64_t plain[FACTOR_N] = {
        [FACTOR_REQUEST_SIZE] = 65536, [FACTOR_QUEUE_DEPTH] = 1, [FACTOR_API] = API_IO_URING,
        [FACTOR_THREADS] = 1,          [FACTOR_SYNC] = SYNC_END,
    };
    memset(levels, 0, FACTOR_N * sizeof levels[0]);
    for (size_t i = 0; i < patterns->n && session->simulated; i++) {
        int result = candidates_table_levels(
            session, &session->settings->experiment.patterns[patterns->value[i]], levels, err);
        if (result < 0)
            return result;
        /* Each pattern sets it anew. */
        levels[FACTOR_SYNC].n = 0;
    }
    for (int factor = 0; factor < FACTOR_N; factor++) {
        if (levels[factor].n == 0)
            levels[factor] = (struct levels){.n = 1, .value = {plain[factor]}};
    }
    return 0;
}

/* Levels of everything in one test. */
static int choose_levels(const struct experiment *experiment, size_t test, struct levels levels[EXPERIMENT_N],
                         struct err *err)
{
    const struct session *session = experiment->session;
    const struct settings *settings = experiment->settings;
    const struct levels *patterns = experiment_config_levels(settings, test, FACTOR_N + CONDITION_PATTERN);
    int result = default_levels(session, patterns, levels, err);
    if (result < 0)
        return result;
    levels[FACTOR_N + CONDITION_PATTERN] = *patterns;
    levels[FACTOR_N + CONDITION_CACHE] = (struct levels){.n = 1, .value = {experiment->cache}};
    /* A size that was given is kept; the default may shrink. */
    uint64_t bytes = settings->file.size_given ? settings->file.size_bytes : 0;
    levels[FACTOR_N + CONDITION_FILE_SIZE] = (struct levels){.n = 1, .value = {bytes}};
    levels[FACTOR_N + CONDITION_FILES] = (struct levels){.n = 1, .value = {1}};
    levels[FACTOR_N + CONDITION_ALIGNMENT] = (struct levels){.n = 1, .value = {0}};
    for (size_t factor = 0; factor < EXPERIMENT_N; factor++) {
        const struct levels *asked = experiment_config_levels(settings, test, factor);
        if (asked->n > 0)
            levels[factor] = *asked;
    }
    const struct levels *sync = &levels[FACTOR_SYNC];
    if (session->simulated && (sync->n > 1 || sync->value[0] != SYNC_END))
        return err_set(err, -EINVAL, "--sync: a simulated surface knows only sync end");
    if (session->simulated && (levels[FACTOR_N + CONDITION_CACHE].n > 1 || settings->file.size_given))
        return err_set(err, -EINVAL, "--cache, --file-size: a simulated surface has no file");
    return 0;
}

/* Cell number `index` of the full factorial of the levels; the last factor changes fastest. */
static struct experiment_cell nth_cell(const struct levels levels[EXPERIMENT_N], size_t index)
{
    struct experiment_cell cell = {0};
    for (size_t factor = EXPERIMENT_N; factor-- > 0;) {
        cell.level[factor] = levels[factor].value[index % levels[factor].n];
        index /= levels[factor].n;
    }
    cell.record.point = factors_point(cell.level);
    return cell;
}

/* 0 or -EINVAL; why is noted. */
static int admit(const struct experiment *experiment, const struct experiment_cell *cell)
{
    struct session *session = experiment->session;
    uint64_t bytes = file_bytes_of(experiment, cell);
    experiment_enter(experiment, cell);
    if (bytes <= experiment->whole_bytes)
        return candidates_admit(session, &cell->record.point, bytes);
    notes_add(&session->dropped, "file sizes above the file's", "the existing file has %" PRIu64 " bytes",
              experiment->whole_bytes);
    return -EINVAL;
}

/* Two tests may ask for the same. */
static bool is_known(const struct experiment *experiment, const struct experiment_cell *cell)
{
    for (size_t i = 0; i < experiment->n_cells; i++) {
        if (memcmp(experiment->cells[i].level, cell->level, sizeof cell->level) == 0)
            return true;
    }
    return false;
}

static int add_test(struct experiment *experiment, size_t test, struct err *err)
{
    struct levels *levels = calloc(EXPERIMENT_N, sizeof *levels);
    if (levels == NULL)
        return err_set(err, -ENOMEM, "no memory for the design");
    int result = choose_levels(experiment, test, levels, err);
    size_t n = 1;
    for (size_t factor = 0; factor < EXPERIMENT_N && result == 0; factor++) {
        n *= levels[factor].n;
        if (n > EXPERIMENT_MAX_CELLS)
            result = err_set(err, -EINVAL,
                             "the design has more than %d settings; give fewer levels, or a --design of them",
                             EXPERIMENT_MAX_CELLS);
    }
    struct experiment_cell *cells =
        result == 0 ? realloc(experiment->cells, (experiment->n_cells + n) * sizeof *cells) : NULL;
    if (cells != NULL)
        experiment->cells = cells;
    else if (result == 0)
        result = err_set(err, -ENOMEM, "no memory for a design of %zu settings", n);
    for (size_t i = 0; i < n && result == 0; i++) {
        struct experiment_cell cell = nth_cell(levels, i);
        cell.test = test;
        if (admit(experiment, &cell) == 0 && (test == 0 || !is_known(experiment, &cell)))
            experiment->cells[experiment->n_cells++] = cell;
    }
    free(levels);
    return result;
}

/* What varies, as numbers for models/surrogate/design. */
static int make_space(const struct experiment *experiment, struct space *ret_space, struct err *err)
{
    enum space_kind kinds[SPACE_MAX_DIMS];
    size_t varied[EXPERIMENT_N], n = experiment_varied(experiment, varied);
    if (n > SPACE_MAX_DIMS || n == 0)
        return err_set(err, -EINVAL, "--design: %zu factors vary; only a full design has that many", n);
    double *raw = calloc(experiment->n_cells * n, sizeof *raw);
    if (raw == NULL)
        return err_set(err, -ENOMEM, "no memory for the design");
    for (size_t k = 0; k < n; k++) {
        bool ordered = experiment_factors[varied[k]].ordered;
        kinds[k] = ordered ? SPACE_ORDERED : SPACE_CATEGORY;
        for (size_t i = 0; i < experiment->n_cells; i++) {
            uint64_t level = experiment->cells[i].level[varied[k]];
            raw[i * n + k] = ordered ? log2((double)(level > 0 ? level : 1)) : (double)level;
        }
    }
    int result = space_init(ret_space, raw, experiment->n_cells, n, kinds);
    free(raw);
    return result < 0 ? err_set(err, result, "the design cannot be made") : 0;
}

static const struct design_ops *find_design(const char *name)
{
    if (strcmp(name, "sobol") == 0)
        return &design_sobol;
    if (strcmp(name, "lhs") == 0)
        return &design_latin;
    return strcmp(name, "random") == 0 ? &design_random : &design_fraction;
}

static int compare_indices(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    return (a > b) - (a < b);
}

/* Keeps the cells that the design draws, in their order. */
static int draw_cells(struct experiment *experiment, const struct space *space, gsl_rng *rng)
{
    const struct settings_experiment *asked = &experiment->settings->experiment;
    const struct design_ops *design = find_design(asked->design);
    size_t n = asked->design_points, *drawn = calloc(experiment->n_cells, sizeof *drawn);
    int result = drawn == NULL ? -ENOMEM : 0;
    if (result == 0 && design == &design_fraction)
        result = design_fraction_size(space, &n);
    if (result == 0)
        result = design->draw(space, n, rng, drawn, &n);
    if (result == 0) {
        qsort(drawn, n, sizeof *drawn, compare_indices);
        for (size_t i = 0; i < n; i++)
            experiment->cells[i] = experiment->cells[drawn[i]];
        experiment->n_cells = n;
    }
    free(drawn);
    return result;
}

static int apply_design(struct experiment *experiment, gsl_rng *rng, struct err *err)
{
    struct space space = {0};
    if (strcmp(experiment->settings->experiment.design, "full") == 0)
        return 0;
    int result = make_space(experiment, &space, err);
    if (result == 0) {
        result = draw_cells(experiment, &space, rng);
        if (result < 0)
            err_set(err, result, "no memory for the design");
    }
    space_done(&space);
    return result;
}

/* All runs in one random order. */
static int make_order(struct experiment *experiment, gsl_rng *rng, struct err *err)
{
    size_t replays = experiment->settings->runs.replays, n = experiment->n_cells * replays;
    if (n > JOURNAL_MAX_RUNS)
        return err_set(err, -EINVAL, "%zu settings x %zu replays are more than %d runs; give fewer",
                       n / replays, replays, JOURNAL_MAX_RUNS);
    experiment->order = calloc(n, sizeof *experiment->order);
    experiment->made = calloc(n, sizeof *experiment->made);
    if (experiment->order == NULL || experiment->made == NULL)
        return err_set(err, -ENOMEM, "no memory for %zu runs", n);
    experiment->n_runs = n;
    for (size_t i = 0; i < n; i++)
        experiment->order[i] = (uint32_t)(i / replays);
    if (n > 1)
        gsl_ran_shuffle(rng, experiment->order, n, sizeof *experiment->order);
    for (size_t i = 0; i < experiment->n_cells; i++) {
        experiment->cells[i].numbers = calloc(replays, sizeof *experiment->cells[i].numbers);
        if (experiment->cells[i].numbers == NULL)
            return err_set(err, -ENOMEM, "no memory for %zu runs", n);
    }
    return 0;
}

static int refuse_empty(const struct experiment *experiment, struct err *err)
{
    const struct note *note = &experiment->session->dropped.note[0];
    return err_set(err, -EINVAL, "no point is left to measure: %s: %s", note->code, note->text);
}

static void find_varied(struct experiment *experiment)
{
    uint64_t levels[EXPERIMENT_MAX_LEVELS];
    for (size_t condition = 0; condition < CONDITION_N; condition++)
        experiment->varied[condition] = experiment_levels(experiment, FACTOR_N + condition, levels) > 1;
}

/* The numbers in stamped blocks are those of one target. */
static int count_targets(const struct experiment *experiment, struct err *err)
{
    uint64_t counts[EXPERIMENT_MAX_LEVELS];
    uint32_t n = (uint32_t)experiment_levels(experiment, FACTOR_N + CONDITION_FILES, counts);
    /* The session's own has the most files that are asked for, whether the design takes them or not. */
    n += n > 0 && counts[n - 1] != experiment->settings->file.n;
    experiment->session->n_targets = n;
    if (n > 1 && experiment->settings->workload.verify)
        return err_set(
            err, -EINVAL,
            "--verify and several numbers of --files exclude each other: give one number at a time");
    return 0;
}

int experiment_plan(struct experiment *experiment, struct session *session, struct err *err)
{
    experiment->session = session;
    experiment->settings = session->settings;
    experiment->cache = session->env.cache;
    int result = session_estimate(session, &experiment->whole_bytes, err);
    for (size_t i = 0; i < experiment_config_n_tests(session->settings) && result == 0; i++)
        result = add_test(experiment, i, err);
    if (result == 0 && experiment->n_cells == 0)
        result = refuse_empty(experiment, err);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (rng == NULL && result == 0)
        result = err_set(err, -ENOMEM, "no memory for random numbers");
    if (result == 0) {
        gsl_rng_set(rng, rng_derive(session->seed, RNG_STREAM));
        result = apply_design(experiment, rng, err);
    }
    if (result == 0)
        result = make_order(experiment, rng, err);
    if (rng != NULL)
        gsl_rng_free(rng);
    experiment_leave(experiment);
    find_varied(experiment);
    return result == 0 ? count_targets(experiment, err) : result;
}

int experiment_check(struct experiment *experiment, struct err *err)
{
    size_t n_left = 0;
    experiment->whole_bytes =
        experiment->session->simulated ? UINT64_MAX : experiment->session->target.size_bytes;
    for (size_t i = 0; i < experiment->n_cells; i++) {
        struct experiment_cell *cell = &experiment->cells[i];
        cell->left_out = admit(experiment, cell) < 0;
        n_left += !cell->left_out;
    }
    experiment_leave(experiment);
    return n_left > 0 ? 0 : refuse_empty(experiment, err);
}

double experiment_seconds_likely(const struct experiment *experiment)
{
    const struct settings *settings = experiment->settings;
    double run_s = (double)settings->runs.duration_ns / 1e9;
    double warmup_s = fmin((double)settings->runs.warmup_limit_ns / 1e9, LIKELY_WARMUP_SHARE * run_s);
    return (double)(experiment->n_runs - experiment->n_made) * (run_s + warmup_s + LIKELY_SETUP_S);
}

double experiment_seconds_most(const struct experiment *experiment)
{
    const struct settings *settings = experiment->settings;
    double run_ns = (double)settings->runs.warmup_limit_ns +
                    EXPERIMENT_LONGEST * (double)settings->runs.duration_ns + MEASURE_SETTLE_NS;
    /* Disturbed runs are repeated: two, and one in twenty. */
    double n = 1.05 * (double)(experiment->n_runs - experiment->n_made) + 2;
    return n * run_ns / 1e9 +
           experiment->session->n_targets * report_plan_fill_seconds(settings, experiment->whole_bytes);
}

void experiment_print_plan(FILE *out, const struct experiment *experiment)
{
    const struct settings *settings = experiment->settings;
    char duration[UNITS_TEXT_SIZE], likely[UNITS_TEXT_SIZE], pattern[PATTERN_NAME_SIZE];
    fprintf(out, "plan: %s, %zu settings x %u replays = %zu runs of ",
            text_printable(settings->workload.pattern.name, pattern, sizeof pattern), experiment->n_cells,
            settings->runs.replays, experiment->n_runs);
    if (settings->experiment.batches > 0)
        fprintf(out, "%u batches or ", settings->experiment.batches);
    fputs(units_format_duration(settings->runs.duration_ns, duration), out);
    if (experiment->n_made > 0)
        fprintf(out, ", %zu of them made before", experiment->n_made);
    fprintf(out, ", about %s%s",
            units_format_duration((uint64_t)(experiment_seconds_likely(experiment) * 1e9), likely),
            experiment->session->simulated ? " of virtual time" : "");
    if (experiment->session->n_targets > 1)
        fprintf(out, " on %u targets (one for each number of files)", experiment->session->n_targets);
    report_plan_end(out, experiment->session, experiment->whole_bytes);
}

void experiment_done(struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->n_cells; i++) {
        record_done(&experiment->cells[i].record);
        free(experiment->cells[i].numbers);
        free(experiment->cells[i].failed);
    }
    free(experiment->cells);
    free(experiment->order);
    free(experiment->made);
    journal_done(&experiment->journal);
    *experiment = (struct experiment){0};
}
