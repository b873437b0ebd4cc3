/* From what a program does, and what that costs here and there, to its time there. */
#include "tuner/impact/predict_vm.h"

#include "tuner/base/interrupt.h"
#include "tuner/base/json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ACTIVITY_SCHEMA "fstune/activity/1"
#define PAGE_BYTES      4096.0

/* Members of struct activity, by their names in JSON. */
static const struct {
    const char *key;
    size_t offset;
} members[] = {
    {"user_s", offsetof(struct activity, user_s)},
    {"system_s", offsetof(struct activity, system_s)},
    {"page_faults", offsetof(struct activity, page_faults)},
    {"disk_faults", offsetof(struct activity, disk_faults)},
    {"context_switches", offsetof(struct activity, context_switches)},
    {"read_bytes", offsetof(struct activity, read_bytes)},
    {"written_bytes", offsetof(struct activity, written_bytes)},
    {"syscalls", offsetof(struct activity, syscalls)},
    {"maps", offsetof(struct activity, maps)},
    {"forks", offsetof(struct activity, forks)},
    {"execs", offsetof(struct activity, execs)},
    {"signals", offsetof(struct activity, signals)},
    {"sleeps", offsetof(struct activity, sleeps)},
    {"flushes", offsetof(struct activity, flushes)},
    {"used_pages", offsetof(struct activity, used_pages)},
    {"transferred_bytes", offsetof(struct activity, transferred_bytes)},
};

#define N_MEMBERS (sizeof members / sizeof members[0])

static double *member_of(struct activity *activity, size_t i)
{
    return (double *)(void *)((char *)activity + members[i].offset);
}

json_t *predict_vm_activity_json(const struct predict_vm *vm)
{
    struct activity activity = vm->activity;
    json_t *object = json_pack("{s:s, s:o}", "schema", ACTIVITY_SCHEMA, "seconds",
                               json_interval(vm->time.s, vm->time.interval.low, vm->time.interval.high));
    for (size_t i = 0; i < N_MEMBERS; i++)
        json_object_set_new(object, members[i].key, json_number(*member_of(&activity, i)));
    return object;
}

static int take_activity(struct predict_vm *vm, const char *path, const json_t *document, struct err *err)
{
    const json_t *seconds = json_object_get(document, "seconds");
    if (strcmp(json_read_text(document, "schema", ""), ACTIVITY_SCHEMA) != 0)
        return err_set(err, -EINVAL,
                       "--activity: %.200s: its schema is not " ACTIVITY_SCHEMA
                       "; give the member activity of what fstune predict vm --json printed",
                       path);
    vm->time = (struct atomic_cost){
        json_is_number(seconds) ? json_number_value(seconds) : json_read_number(seconds, "mean"),
        {json_read_number(seconds, "ci_low"), json_read_number(seconds, "ci_high")}};
    if (!(vm->time.s > 0))
        return err_set(err, -EINVAL, "--activity: %.200s: seconds is missing, or not above 0", path);
    vm->activity.seconds = vm->time.s;
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const double number = json_read_number(document, members[i].key);
        if (json_object_get(document, members[i].key) != NULL && !(number >= 0))
            return err_set(err, -EINVAL, "--activity: %.200s: %s is no number of 0 or more", path,
                           members[i].key);
        *member_of(&vm->activity, i) = number >= 0 ? number : 0;
    }
    return 0;
}

static int read_activity(struct predict_vm *vm, const char *path, struct err *err)
{
    json_t *document = json_read_file(path, err);
    if (document == NULL)
        return err_prefix(err, "--activity");
    int result = take_activity(vm, path, document, err);
    json_decref(document);
    return result;
}

/* Runs of the command: medians of everything, and the interval of the time. */
static int measure_activity(struct predict_vm *vm, struct err *err)
{
    struct activity runs[SETTINGS_MAX_ACTIVITY_RUNS], counted = {0};
    double values[SETTINGS_MAX_ACTIVITY_RUNS];
    const uint32_t n = vm->settings->prediction.vm.runs;
    const char *const *program = vm->settings->program;
    int result = 0;
    for (uint32_t i = 0; i < n && result == 0; i++) {
        runs[i] = (struct activity){0};
        result = activity_time(program, &interrupt_signal, &runs[i], err);
    }
    /* Waiting for a stop of the program is not interrupted; what is traced ends with us. */
    interrupt_end_at_once(true);
    if (result == 0)
        result = activity_count(program, &interrupt_signal, &counted, err);
    interrupt_end_at_once(false);
    if (result < 0)
        return result;
    vm->n_runs = n;
    vm->activity = counted;
    for (uint32_t i = 0; i < n; i++)
        values[i] = runs[i].seconds;
    vm->time.interval = student_interval(moments_of(values, n), vm->settings->runs.confidence_share);
    vm->activity.seconds = vm->time.s = median_of(values, n);
    for (size_t m = 0; m < N_MEMBERS; m++) {
        for (uint32_t i = 0; i < n; i++)
            values[i] = *member_of(&runs[i], m);
        /* What only the other kind of run counts is 0 in all of these. */
        if (members[m].offset < offsetof(struct activity, syscalls))
            *member_of(&vm->activity, m) = median_of(values, n);
    }
    return 0;
}

/* A test that one of the files lacks leaves its activity uncovered, which is told. One that is unresolved
 * counts as it was measured, with its interval: to leave it out would take it for 0. */
static void add_term(struct predict_vm *vm, const char *name, double count)
{
    const struct atoms_figure *host = atoms_figures_find_any(&vm->host, name);
    const struct atoms_figure *guest = atoms_figures_find_any(&vm->guest, name);
    if (!(count > 0))
        return;
    if (host == NULL || guest == NULL) {
        vm->missing[vm->n_missing++] = name;
        return;
    }
    vm->name[vm->n_terms] = name;
    vm->term[vm->n_terms++] =
        (struct atomic_term){count, atoms_figures_cost(host), atoms_figures_cost(guest)};
}

/* The first use of a page comes with other work than the use before it: where the files have it, the test
 * counts in which the caches hold nothing of the activity. */
static void add_cold_term(struct predict_vm *vm, const char *name, const char *cold, double count)
{
    const bool has_cold =
        atoms_figures_find_any(&vm->host, cold) != NULL && atoms_figures_find_any(&vm->guest, cold) != NULL;
    add_term(vm, has_cold ? cold : name, count);
}

static struct atomic_cost between(struct atomic_cost a, struct atomic_cost b)
{
    return (struct atomic_cost){
        (a.s + b.s) / 2, {fmin(a.interval.low, b.interval.low), fmax(a.interval.high, b.interval.high)}};
}

/* Whether a program's calls follow one another at once, or after work that drives them out of the caches, is
 * not known: the middle counts, with an interval that spans both. */
static void add_syscalls(struct predict_vm *vm, double count)
{
    const struct atoms_figure *host = atoms_figures_find_any(&vm->host, "syscall_cold");
    const struct atoms_figure *guest = atoms_figures_find_any(&vm->guest, "syscall_cold");
    const size_t at = vm->n_terms;
    add_term(vm, "syscall", count);
    if (vm->n_terms > at && host != NULL && guest != NULL) {
        vm->term[at].host = between(vm->term[at].host, atoms_figures_cost(host));
        vm->term[at].guest = between(vm->term[at].guest, atoms_figures_cost(guest));
    }
}

/* Which of integers, floating point and memory a program's own computing is like is not known: the guest may
 * be slower at it by anything between the three. */
static int add_computing(struct predict_vm *vm, struct err *err)
{
    static const char *const names[] = {"integer", "floating", "memory"};
    double least = INFINITY, most = 0, sum_of_logs = 0;
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct atoms_figure *host = atoms_figures_find(&vm->host, names[i]);
        const struct atoms_figure *guest = atoms_figures_find(&vm->guest, names[i]);
        if (host == NULL || guest == NULL)
            continue;
        const double ratio = guest->median_s / host->median_s;
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        sum_of_logs += log(ratio);
        n++;
    }
    if (n == 0)
        return err_set(
            err, -EINVAL,
            "the files have no test of computing in common; make both with fstune atoms and without --only");
    const struct atomic_cost second = {1, {NAN, NAN}}, there = {exp(sum_of_logs / (double)n), {least, most}};
    vm->name[vm->n_terms] = "computing";
    vm->term[vm->n_terms++] = (struct atomic_term){vm->activity.user_s, second, there};
    return 0;
}

static double above_zero(double x)
{
    return x > 0 ? x : 0;
}

/* No activity may be counted twice: the test of a mapping has its two calls, that of a new process its own,
 * that of a flush its call. */
static int add_terms(struct predict_vm *vm, struct err *err)
{
    const struct activity *activity = &vm->activity;
    const double processes = fmax(activity->forks, activity->execs);
    add_syscalls(vm, above_zero(activity->syscalls - activity->maps - 3 * processes - activity->flushes -
                                activity->sleeps));
    add_term(vm, "map", activity->maps / 2);
    add_cold_term(vm, "page_fault", "page_fault_cold", activity->page_faults);
    add_cold_term(vm, "page_use", "page_use_cold",
                  above_zero(activity->used_pages - activity->page_faults - activity->disk_faults));
    add_term(vm, "context_switch", activity->context_switches);
    add_term(vm, "fork", activity->forks);
    add_term(vm, "exec", activity->execs);
    add_term(vm, "exception", activity->signals);
    add_term(vm, "timer", activity->sleeps);
    add_term(vm, "flush", activity->flushes);
    add_term(vm, "cache_read_4k", activity->transferred_bytes / PAGE_BYTES);
    add_term(vm, "direct_read_4k", activity->disk_faults);
    return add_computing(vm, err);
}

int predict_vm(struct predict_vm *vm, const struct settings *settings, struct err *err)
{
    const struct settings_vm *asked = &settings->prediction.vm;
    const bool has_file = asked->activity[0] != '\0', has_program = settings->program != NULL;
    *vm = (struct predict_vm){.settings = settings};
    if (has_file == has_program || (has_program && settings->program[0] == NULL))
        return err_set(err, -EINVAL, "give either a command behind -- or --activity FILE");
    int result = atoms_figures_read_both(asked, &vm->host, &vm->guest, err);
    if (result == 0)
        result = has_file ? read_activity(vm, asked->activity, err) : measure_activity(vm, err);
    if (result == 0)
        result = add_terms(vm, err);
    if (result < 0)
        return result;
    if (atomic_predict(vm->time, vm->term, vm->n_terms, &vm->prediction) < 0)
        return err_set(err, -EINVAL, "a count or a cost is no number of 0 or more; measure again");
    vm->unexplained_share = (vm->time.s - vm->prediction.explained_s) / vm->time.s;
    return 0;
}

void predict_vm_done(struct predict_vm *vm)
{
    atoms_figures_free(&vm->host);
    atoms_figures_free(&vm->guest);
}
