/* Simulated nights of `fstune retune`: how often does the advice change on a machine that does not, how soon
 * is a shift found, and what does a night cost?
 *
 * usage: nights [--machines N] [--first N] [--nights N] [--cv X] [--night-cv X] [--level-cv X] [--shift X]
 *               [--tolerance X] [--first-budget S] [--night-budget S] [--surfaces DIR] [--max-write GIB]
 *               [--drift X] [--calm N] [--jobs N] [--writes] [--verbose]
 * Without options it is a smoke test: two machines, three nights.
 *
 * A machine is a table of a surface in DIR (the recorded ones and `small`, all their patterns in turn) with a
 * seed of its own. Its first night has nothing in force and the first budget; what it recommends comes into
 * force, and so does every change. --shift 0 (the default): the machine stays as it is for all nights.
 * --shift X: after the first night and --calm nights more, all points with another level of one factor
 * (direct, API, or size) are scaled so that the best of them is 1 + X times as fast as the settings in force;
 * three nights follow, unless --nights says otherwise. --cv: run_cv of the surface. --night-cv: scatter of
 * every point by itself from night to night, so that a ratio of two scatters by 1.4 times that; --level-cv:
 * of the whole machine. A change to a setting that is in truth better by no more than the tolerance is a
 * false one.
 * --drift: what the whole machine loses every night. --max-write: bytes
 * that a night may write, as retune's default; 0: no limit. --writes: only patterns that write. Times are
 * virtual. */
#include "bench/base/rng.h"
#include "tests/study/nights_report.h"
#include "tuner/nightly/retune_measure.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROWS 2000

static const struct {
    const char *table, *pattern;
} kinds[] = {
    {"recorded-ext4", "randwrite"}, {"recorded-xfs", "randread"},  {"small", "randwrite"},
    {"recorded-ext4", "read"},      {"recorded-xfs", "write"},     {"small", "read"},
    {"recorded-ext4", "randread"},  {"recorded-xfs", "randwrite"}, {"small", "randread"},
    {"recorded-ext4", "write"},     {"recorded-xfs", "read"},      {"small", "write"},
};

struct table_row {
    char pattern[32];
    struct point point;
    double bps;
};

struct machine {
    struct table_row rows[MAX_ROWS];
    size_t n;
    const char *pattern;
    char folder[64];
    gsl_rng *rng;
    json_t *past;
};

static void fatal(const char *what)
{
    fprintf(stderr, "nights: %s\n", what);
    exit(1);
}

static void read_table(struct machine *machine, const char *name)
{
    char path[512], line[256], api[32];
    snprintf(path, sizeof path, "%s/%s.csv", option.surfaces, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fatal(path);
    while (machine->n < MAX_ROWS && fgets(line, sizeof line, file) != NULL) {
        struct table_row *row = &machine->rows[machine->n];
        unsigned long long size;
        row->point = (struct point){.sync = SYNC_END};
        if (sscanf(line, "%31[^,],%llu,%u,%u,%31[^,],%u,%lf", row->pattern, &size, &row->point.queue_depth,
                   &row->point.direct, api, &row->point.threads, &row->bps) != 7 ||
            factors_parse_api(api, &row->point.api) < 0 || strcmp(row->pattern, machine->pattern) != 0)
            continue;
        row->point.request_size_bytes = size;
        machine->n++;
    }
    fclose(file);
    if (machine->n == 0)
        fatal("a table has no rows of the pattern");
}

static const struct table_row *find(const struct machine *machine, const struct point *point)
{
    for (size_t i = 0; i < machine->n; i++) {
        if (factors_equal(&machine->rows[i].point, point))
            return &machine->rows[i];
    }
    return NULL;
}

static double truth(const struct machine *machine, const struct point *point)
{
    const struct table_row *row = find(machine, point);
    return row != NULL ? row->bps : NAN;
}

static double best_of(const struct machine *machine)
{
    double best = 0;
    for (size_t i = 0; i < machine->n; i++)
        best = fmax(best, machine->rows[i].bps);
    return best;
}

/* Tonight's surface, with the scatter between nights in it. */
static void write_simulator(struct machine *machine)
{
    char path[128];
    double lost = pow(1 - option.drift, (double)json_array_size(machine->past));
    double level = lost * exp(gsl_ran_gaussian(machine->rng, option.level_cv));
    snprintf(path, sizeof path, "%s/table.csv", machine->folder);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        fatal(path);
    fprintf(file, "pattern,request_size,queue_depth,direct,api,threads,throughput_bps\n");
    for (size_t i = 0; i < machine->n; i++) {
        const struct table_row *row = &machine->rows[i];
        double bps = row->bps * level * exp(gsl_ran_gaussian(machine->rng, option.night_cv));
        fprintf(file, "%s,%llu,%u,%u,%s,%u,%.0f\n", row->pattern,
                (unsigned long long)row->point.request_size_bytes, row->point.queue_depth, row->point.direct,
                api_names[row->point.api], row->point.threads, bps);
    }
    fclose(file);
    snprintf(path, sizeof path, "%s/surface.conf", machine->folder);
    file = fopen(path, "w");
    if (file == NULL)
        fatal(path);
    fprintf(
        file,
        "name = \"a machine\"; points = \"table.csv\";\nnoise = { run_cv = %.6f; setup_seconds = 0.1; };\n",
        option.cv);
    fclose(file);
}

static bool differs(const struct point *a, const struct point *b, unsigned factor)
{
    return factor == 0   ? a->direct != b->direct
           : factor == 1 ? a->api != b->api
                         : a->request_size_bytes != b->request_size_bytes;
}

/* One factor's other levels become better than what is in force. false where no factor has any. */
static bool shift(struct machine *machine, const struct point *in_force)
{
    double now = truth(machine, in_force);
    unsigned start = (unsigned)gsl_rng_uniform_int(machine->rng, 3);
    for (unsigned k = 0; k < 3; k++) {
        double best = 0;
        unsigned factor = (start + k) % 3;
        for (size_t i = 0; i < machine->n; i++) {
            if (differs(&machine->rows[i].point, in_force, factor))
                best = fmax(best, machine->rows[i].bps);
        }
        if (best == 0)
            continue;
        double scale = (1 + option.shift) * now / best;
        for (size_t i = 0; i < machine->n; i++) {
            if (differs(&machine->rows[i].point, in_force, factor))
                machine->rows[i].bps *= scale;
        }
        return true;
    }
    return false;
}

static int recall(void *context, struct session *session, json_t **ret_documents, struct err *err)
{
    const struct machine *machine = context;
    (void)session;
    *ret_documents = json_incref(machine->past);
    return *ret_documents == NULL ? err_set(err, -ENOMEM, "no memory") : 0;
}

static void one_night(struct machine *machine, long number, const struct point *in_force,
                      struct retune_result *result)
{
    static struct settings settings;
    struct retune_request request;
    struct err err = {0};
    write_simulator(machine);
    settings_init(&settings);
    if (pattern_parse(machine->pattern, &settings.workload.pattern, &err) < 0)
        fatal(err.text);
    settings.workload.pattern_given = settings.quiet = settings.seed_given = true;
    settings.search.tolerance_share = option.tolerance;
    settings.limits.max_write_given = option.max_write > 0;
    if (settings.limits.max_write_given)
        settings.limits.max_write_bytes = (uint64_t)(option.max_write * (double)(1ULL << 30));
    settings.seed = rng_derive((uint64_t)number, gsl_rng_get(machine->rng)) >> 1;
    snprintf(settings.file.simulate, sizeof settings.file.simulate, "%s/surface.conf", machine->folder);
    retune_request_init(&request, &settings);
    request.first_budget_ns = (uint64_t)(option.first_budget * 1e9);
    request.night_budget_ns = (uint64_t)(option.night_budget * 1e9);
    request.recall = recall;
    request.context = machine;
    request.in_force_given = in_force != NULL;
    if (in_force != NULL)
        request.in_force = *in_force;
    if (retune_measure(&request, result, &err) < 0)
        fatal(err.text);
    if (option.verbose)
        printf("machine %ld: %s: %s %s (%.0f s, %zu runs)\n", number, night_verdict_names[result->verdict],
               result->evidence, result->reason, result->seconds, result->n_runs);
    json_array_append(machine->past, result->document);
}

static void count(struct outcome *outcome, const struct retune_result *result)
{
    outcome->n_nights++;
    outcome->n_changes += result->verdict == NIGHT_CHANGE;
    outcome->n_pending += result->verdict == NIGHT_PENDING;
    outcome->n_nothing += result->verdict == NIGHT_NOTHING;
    outcome->n_alarms_behind += (result->behind & NIGHT_BEHIND_SETTINGS) != 0;
    if (outcome->down_at == 0 && (result->behind & NIGHT_BEHIND_THROUGHPUT) != 0)
        outcome->down_at = outcome->n_nights;
    outcome->n_alarms_down += (result->behind & NIGHT_BEHIND_THROUGHPUT) != 0;
    outcome->night_seconds += result->seconds;
}

/* What the pooled interval claims, and what is so on the average night. */
static void look_at_interval(const struct machine *machine, struct outcome *outcome,
                             const struct retune_result *result, const struct point *in_force)
{
    if (!result->has_contender || result->gain_pooled.n < 2)
        return;
    double gain = truth(machine, &result->contender) / truth(machine, in_force);
    outcome->n_pooled++;
    outcome->n_held += result->gain_pooled.interval.low <= gain && gain <= result->gain_pooled.interval.high;
}

/* Nights in which whatever is advised comes into force. night: the first one's number; 0 and less are calm.
 */
static void live_on(struct machine *machine, struct outcome *outcome, long night, long end,
                    struct point *in_force)
{
    for (; night <= end; night++) {
        struct retune_result result;
        one_night(machine, outcome->machine, in_force, &result);
        count(outcome, &result);
        look_at_interval(machine, outcome, &result, in_force);
        if (result.verdict == NIGHT_CHANGE) {
            double gain = truth(machine, &result.recommendation) / truth(machine, in_force) - 1;
            outcome->n_false += gain <= option.tolerance;
            if (outcome->found_at == 0 && night > 0) {
                outcome->found_at = (size_t)night;
                outcome->gain_found = gain;
            }
            *in_force = result.recommendation;
        }
        retune_result_done(&result);
    }
}

static void live(struct machine *machine, struct outcome *outcome)
{
    struct retune_result result;
    one_night(machine, outcome->machine, NULL, &result);
    if (result.verdict != NIGHT_FIRST) {
        outcome->failed = true;
        retune_result_done(&result);
        return;
    }
    struct point in_force = result.recommendation;
    outcome->first_seconds = result.seconds;
    outcome->first_share = truth(machine, &in_force) / best_of(machine);
    retune_result_done(&result);
    live_on(machine, outcome, 1 - option.calm, 0, &in_force);
    outcome->no_shift = option.shift > 0 && !shift(machine, &in_force);
    live_on(machine, outcome, 1, option.nights, &in_force);
    outcome->last_share = truth(machine, &in_force) / best_of(machine);
}

static size_t kind_of(long number)
{
    size_t n_kinds = sizeof kinds / sizeof kinds[0], kind = (size_t)number % n_kinds;
    while (option.writes && strstr(kinds[kind].pattern, "write") == NULL)
        kind = (kind + 1) % n_kinds;
    return kind;
}

static void simulate(long number, struct outcome *outcome)
{
    struct machine *machine = calloc(1, sizeof *machine);
    size_t kind = kind_of(number);
    char command[128];
    if (machine == NULL)
        fatal("no memory");
    *outcome = (struct outcome){.machine = number};
    machine->pattern = kinds[kind].pattern;
    machine->past = json_array();
    machine->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(machine->rng, (unsigned long)number);
    snprintf(machine->folder, sizeof machine->folder, "/tmp/fstune-nights-XXXXXX");
    if (mkdtemp(machine->folder) == NULL)
        fatal("no folder in /tmp");
    read_table(machine, kinds[kind].table);
    live(machine, outcome);
    snprintf(command, sizeof command, "%s/table.csv", machine->folder);
    unlink(command);
    snprintf(command, sizeof command, "%s/surface.conf", machine->folder);
    unlink(command);
    rmdir(machine->folder);
    gsl_rng_free(machine->rng);
    json_decref(machine->past);
    free(machine);
}

static void work(long job, int out_fd)
{
    for (long i = job; i < option.machines; i += option.jobs) {
        struct outcome outcome;
        simulate(option.first + i, &outcome);
        if (write(out_fd, &outcome, sizeof outcome) != sizeof outcome)
            fatal("the parent is gone");
    }
    fflush(stdout);
    _exit(0);
}

static int by_number(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return (a->machine > b->machine) - (a->machine < b->machine);
}

/* Returns how many outcomes came. */
static size_t collect(struct outcome *outcomes)
{
    int ends[2];
    size_t n = 0;
    if (pipe(ends) < 0)
        fatal("no pipe");
    for (long job = 0; job < option.jobs; job++) {
        pid_t child = fork();
        if (child < 0)
            fatal("no child");
        if (child == 0)
            work(job, ends[1]);
    }
    close(ends[1]);
    while (n < (size_t)option.machines &&
           read(ends[0], &outcomes[n], sizeof outcomes[n]) == sizeof outcomes[n])
        n++;
    close(ends[0]);
    while (wait(NULL) > 0)
        ;
    qsort(outcomes, n, sizeof *outcomes, by_number);
    return n;
}

static bool take(const char *name, const char *value)
{
    struct {
        const char *name;
        long *count;
        double *number;
    } rows[] = {
        {"--machines", &option.machines, NULL},
        {"--first", &option.first, NULL},
        {"--nights", &option.nights, NULL},
        {"--calm", &option.calm, NULL},
        {"--jobs", &option.jobs, NULL},
        {"--cv", NULL, &option.cv},
        {"--night-cv", NULL, &option.night_cv},
        {"--level-cv", NULL, &option.level_cv},
        {"--shift", NULL, &option.shift},
        {"--tolerance", NULL, &option.tolerance},
        {"--first-budget", NULL, &option.first_budget},
        {"--night-budget", NULL, &option.night_budget},
        {"--max-write", NULL, &option.max_write},
        {"--drift", NULL, &option.drift},
    };
    if (strcmp(name, "--surfaces") == 0) {
        option.surfaces = value;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(name, rows[i].name) != 0)
            continue;
        if (rows[i].count != NULL)
            *rows[i].count = strtol(value, NULL, 10);
        else
            *rows[i].number = strtod(value, NULL);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0)
            option.verbose = true;
        else if (strcmp(argv[i], "--writes") == 0)
            option.writes = true;
        else if (i + 1 >= argc || !take(argv[i], argv[i + 1]))
            fatal("unknown option; see the head of the source");
        else
            i++;
    }
    gsl_set_error_handler_off();
    option.nights = option.nights > 0 ? option.nights : 3;
    if (option.machines < 1 || option.jobs < 1)
        fatal("--machines and --jobs are 1 or more");
    struct outcome *outcomes = calloc((size_t)option.machines, sizeof *outcomes);
    if (outcomes == NULL)
        fatal("no memory");
    size_t n = collect(outcomes);
    int status = report(outcomes, n);
    free(outcomes);
    return status;
}
