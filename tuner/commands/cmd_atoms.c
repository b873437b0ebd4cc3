/* fstune atoms: what the activities of the operating system and the processor cost here. */
#include "bench/atoms/atoms.h"
#include "bench/base/err.h"
#include "bench/base/rng.h"
#include "tuner/base/fail.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"
#include "tuner/base/publish.h"
#include "tuner/commands/command.h"
#include "tuner/impact/atoms_figures.h"
#include "tuner/impact/atoms_report.h"
#include "tuner/options/options.h"
#include "tuner/options/settings.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define SAMPLE_NS 4000000ULL
/* What a disk does in a few milliseconds says little of what it does for long. */
#define STORAGE_SAMPLE_NS 16000000ULL
/* Delays that --check-linear puts into an activity, k = 1..N times this or half of what the activity takes,
 * so that they stand out; each several times. */
#define DELAY_NS      20000ULL
#define N_DELAYS      6
#define N_DELAY_TRIES 15
/* Activities of a timing: few, so that some timings are over before anything disturbs them. */
#define LEAST_DELAYED 4
#define MOST_DELAYED  32

/* What --output names, and what --json prints. */
struct result {
    struct atoms_figures figures;
    struct atoms_line lines[ATOMS_MAX];
    size_t n_lines;
    bool is_interrupted;
};

static json_t *document_of(const struct result *result)
{
    json_t *document = atoms_figures_json(&result->figures, result->is_interrupted);
    if (document != NULL && result->n_lines > 0)
        json_object_set_new(document, "linear", atoms_lines_json(result->lines, result->n_lines));
    return document;
}

static int print_document(FILE *out, const void *what, struct err *err)
{
    return json_print(out, document_of(what), err);
}

/* The least of a few tries of both timings of a test, because what disturbs a timing only adds to it. The
 * delays take turns, so that a slow spell meets all of them. */
static int time_least(struct atoms *atoms, size_t i, uint64_t delay_ns, double *ret_times_s)
{
    double least_run_s[N_DELAYS + 1] = {0}, least_base_s[N_DELAYS + 1] = {0}, run_s, base_s;
    for (int try = 0; try < N_DELAY_TRIES; try++) {
        for (size_t k = 0; k <= N_DELAYS; k++) {
            int result = atoms_time_delayed(atoms, i, k * delay_ns, &run_s, &base_s);
            if (result < 0)
                return result;
            least_run_s[k] = try == 0 || run_s < least_run_s[k] ? run_s : least_run_s[k];
            least_base_s[k] = try == 0 || base_s < least_base_s[k] ? base_s : least_base_s[k];
            ret_times_s[k] = least_run_s[k] - least_base_s[k];
        }
    }
    return 0;
}

static int time_delays(struct atoms *atoms, size_t i, struct atoms_line *ret)
{
    double delays_s[N_DELAYS + 1], times_s[N_DELAYS + 1], run_s, base_s;
    struct atoms_sample *sample = &atoms->sample[i];
    sample->n = LEAST_DELAYED;
    int result = atoms_time_delayed(atoms, i, 0, &run_s, &base_s);
    if (result < 0)
        return result;
    const uint64_t half_ns = (uint64_t)(run_s * 1e9 / 2), delay_ns = half_ns > DELAY_NS ? half_ns : DELAY_NS;
    const uint64_t n = SAMPLE_NS / (N_DELAYS * delay_ns) / 2 * 2; /* some tests have pairs */
    sample->n = n < LEAST_DELAYED ? LEAST_DELAYED : n > MOST_DELAYED ? MOST_DELAYED : n;
    for (size_t k = 0; k <= N_DELAYS; k++)
        delays_s[k] = (double)(k * delay_ns) / 1e9;
    result = time_least(atoms, i, delay_ns, times_s);
    return result < 0 ? result : atoms_line_of(sample->atom, delays_s, times_s, N_DELAYS + 1, ret);
}

static int check_line(struct atoms *atoms, size_t i, struct atoms_line *ret)
{
    const uint64_t n = atoms->sample[i].n;
    int result = time_delays(atoms, i, ret);
    atoms->sample[i].n = n;
    return result;
}

static void check_lines(struct atoms *atoms, struct result *result)
{
    for (size_t i = 0; i < atoms->n; i++) {
        const struct atoms_sample *sample = &atoms->sample[i];
        result->is_interrupted = atomic_load(&interrupt_signal) != 0;
        if (result->is_interrupted)
            return;
        if (sample->result == 0 && sample->atom->delays_each > 0 &&
            check_line(atoms, i, &result->lines[result->n_lines]) == 0)
            result->n_lines++;
    }
}

static int check_only(enum atoms_set set, const char *only, struct err *err)
{
    const char *names[ATOMS_MAX + 1];
    size_t n = 0;
    for (; atoms_row(set, n) != NULL; n++)
        names[n] = atoms_row(set, n)->name;
    for (const char *at = only; *at != '\0'; at += *at == ',') {
        char name[ATOMS_NAME_SIZE];
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
        while (i < n && strcmp(names[i], name) != 0)
            i++;
        if (i == n)
            return options_refuse(name, "no atomic test", names, n, "fstune atoms lists them", err);
        at += length;
    }
    return 0;
}

static int print_result(const struct settings *settings, const struct result *result, struct err *err)
{
    int printed =
        settings->output[0] != '\0' ? publish_print(settings->output, print_document, result, err) : 0;
    if (printed == 0 && settings->json)
        return print_document(stdout, result, err);
    if (printed == 0)
        printed = atoms_report_text(stdout, &result->figures, err);
    return printed == 0 && result->n_lines > 0 ? atoms_lines_text(stdout, result->lines, result->n_lines, err)
                                               : printed;
}

/* It only has to be there: some tests need no room in it. */
static int check_directory(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status) != 0 && errno == ENOENT)
        return err_set(err, -EINVAL, "%.200s: there is no such directory; create it or give another --path",
                       path);
    return 0;
}

/* The storage itself failed, which another machine's file would not show. */
static int check_failures(const struct atoms *atoms, const char *path, struct err *err)
{
    for (size_t i = 0; i < atoms->n; i++) {
        const int result = atoms->sample[i].result;
        if (result == -ENOSPC || result == -EDQUOT)
            return err_set(err, result, "--path %.200s: no room for the test %s; give a directory with room",
                           path, atoms->sample[i].atom->name);
        if (result == -EIO || result == -EROFS)
            return err_sys(err, result, "--path %.200s: the test %s", path, atoms->sample[i].atom->name);
    }
    return 0;
}

static int measure_atoms(const struct settings *settings, struct err *err)
{
    static struct atoms atoms;
    static struct result result;
    const char *only = settings->atoms.only;
    const enum atoms_set set = settings->atoms.storage ? ATOMS_STORAGE : ATOMS_SYSTEM;
    const struct atoms_plan plan = {.set = set,
                                    .place = {.directory = settings->file.path},
                                    .sample_ns = set == ATOMS_STORAGE ? STORAGE_SAMPLE_NS : SAMPLE_NS,
                                    .n_rounds = settings->atoms.rounds,
                                    .budget_ns = settings->atoms.budget_ns,
                                    .wanted = atoms_figures_wanted,
                                    .confidence_share = settings->runs.confidence_share,
                                    .n_workers = settings->atoms.queue_depth,
                                    .seed = settings->seed_given ? settings->seed : rng_seed_from_system(),
                                    .only = only[0] != '\0' ? only : NULL,
                                    .interrupted = &interrupt_signal};
    int code = check_only(set, only, err);
    if (code == 0 && settings->output[0] != '\0')
        code = publish_check(settings->output, err);
    if (code == 0)
        code = check_directory(settings->file.path, err);
    if (code < 0)
        return code;
    code = atoms_open(&atoms, &plan, err);
    if (code == 0) {
        code = atoms_measure(&atoms, &plan);
        result.is_interrupted = code == -EINTR;
    }
    if (code == 0 || result.is_interrupted) {
        if (settings->atoms.check_linear && !result.is_interrupted)
            check_lines(&atoms, &result);
        atoms_figures_of(&atoms, settings->runs.confidence_share, &result.figures);
        atoms_lines_judge(result.lines, result.n_lines, &result.figures);
        code = print_result(settings, &result, err);
        if (code == 0)
            code = check_failures(&atoms, settings->file.path, err);
    }
    atoms_figures_free(&result.figures);
    atoms_close(&atoms);
    return code < 0 ? command_explain(code, EXIT_FAILED, err->text) : command_code(EXIT_DONE);
}

const struct command command_atoms = {
    .name = "atoms",
    .options = OPTIONS_ATOMS,
    .summary = "what system calls, faults, switches, requests and computing cost here",
    .run = command_run,
    .act = measure_atoms,
    .description =
        "Times small tests, each of which repeats one activity of the operating system or the processor, in "
        "random order, some ten seconds in all (Klemenkov 2011). From such figures of a host and a guest, "
        "`fstune predict vm` tells how long a program takes inside the guest. Files are nameless ones in "
        "--path.",
    .example = "fstune atoms --output host.json",
};
