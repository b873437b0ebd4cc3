/* The task vector from a table, the system vector from a file, and their product. */
#include "tuner/impact/predict_task.h"

#include "bench/base/units.h"
#include "tuner/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE  256
#define N_SIZES    3
#define MOST_COUNT 1e15 /* more would take a machine years */

static const char *const kinds[PREDICT_TASK_KINDS] = {"read", "randread", "write", "randwrite"};

/* As the tests of storage are named. */
static const struct {
    const char *name;
    double bytes;
} sizes[N_SIZES] = {{"4k", 4096}, {"64k", 65536}, {"1m", 1048576}};

static const struct {
    const char *name;
    size_t kinds[2];
} mixes[] = {{"mix_read_randread", {0, 1}},      {"mix_read_write", {0, 2}},
             {"mix_read_randwrite", {0, 3}},     {"mix_randread_write", {1, 2}},
             {"mix_randread_randwrite", {1, 3}}, {"mix_write_randwrite", {2, 3}}};

/* "randread_8k_cold": PREDICT_TASK_KINDS where it is no such name. */
static size_t parse_operation(const char *name, uint64_t *ret_bytes, char state[ATOMS_NAME_SIZE])
{
    char size[UNITS_TEXT_SIZE];
    for (size_t kind = 0; kind < PREDICT_TASK_KINDS; kind++) {
        const size_t length = strlen(kinds[kind]);
        if (strncmp(name, kinds[kind], length) != 0 || name[length] != '_')
            continue;
        const char *at = name + length + 1;
        const size_t digits = strcspn(at, "_");
        snprintf(size, sizeof size, "%.*s", (int)(digits < sizeof size ? digits : 0), at);
        if (at[digits] != '_' || units_parse_size(size, ret_bytes) < 0 || *ret_bytes == 0)
            return PREDICT_TASK_KINDS;
        snprintf(state, ATOMS_NAME_SIZE, "%s", at + digits + 1);
        return kind;
    }
    return PREDICT_TASK_KINDS;
}

static int find_cost(const struct predict_task *task, const char *name, size_t *ret_kind,
                     struct atomic_cost *ret_cost)
{
    char state[ATOMS_NAME_SIZE], measured[2 * ATOMS_NAME_SIZE];
    double bytes[N_SIZES];
    struct atomic_cost costs[N_SIZES];
    uint64_t size_bytes = 0;
    size_t n = 0;
    const struct atoms_figure *own = atoms_figures_find(&task->system, name);
    *ret_kind = parse_operation(name, &size_bytes, state);
    for (size_t i = 0; own == NULL && *ret_kind < PREDICT_TASK_KINDS && i < N_SIZES; i++) {
        snprintf(measured, sizeof measured, "%s_%s_%s", kinds[*ret_kind], sizes[i].name, state);
        const struct atoms_figure *figure = atoms_figures_find(&task->system, measured);
        if (figure == NULL)
            continue;
        bytes[n] = sizes[i].bytes;
        costs[n++] = atoms_figures_cost(figure);
    }
    if (own == NULL && n == 0)
        return -ENOENT;
    *ret_cost =
        own != NULL ? atoms_figures_cost(own) : task_vector_cost_at(bytes, costs, n, (double)size_bytes);
    return 0;
}

int predict_task_add(struct predict_task *task, const char *name, double count, struct err *err)
{
    struct task_operation operation = {.count = count};
    if (task->n == PREDICT_TASK_MAX_OPERATIONS)
        return err_set(err, -EINVAL, "more than %d operations; add up those of one name",
                       PREDICT_TASK_MAX_OPERATIONS);
    if (strncmp(name, "mix_", 4) == 0)
        return err_set(err, -EINVAL, "%.40s is no operation; changes between kinds are counted by fstune",
                       name);
    if (find_cost(task, name, &operation.kind, &operation.cost) < 0)
        return err_set(err, -EINVAL,
                       "the system vector has no figure of '%.40s'; fstune atoms --io lists the names, as "
                       "randread_8k_cold",
                       name);
    snprintf(task->name[task->n], ATOMS_NAME_SIZE, "%s", name);
    task->operation[task->n++] = operation;
    return 0;
}

static bool read_count(const char *text, double *ret)
{
    char *end;
    if (text[0] == '\0' || text[strspn(text, "+.0123456789eE")] != '\0')
        return false;
    *ret = strtod(text, &end);
    return *end == '\0' && *ret >= 0 && *ret <= MOST_COUNT;
}

static int take_task_line(struct predict_task *task, char *line, size_t number, struct err *err)
{
    double count;
    char *rest = line;
    line[strcspn(line, "\r")] = '\0';
    const char *name = strsep(&rest, ",");
    const bool is_header = number == 1 && strcmp(name, "operation") == 0;
    if (name[0] == '\0' || name[0] == '#' || is_header)
        return 0;
    if (rest == NULL || !read_count(rest, &count))
        return err_set(err, -EINVAL, "'%.40s' is no count; write operation,count as randread_8k_cold,1000",
                       rest != NULL ? rest : "");
    return predict_task_add(task, name, count, err);
}

static int read_table(struct predict_task *task, const char *path, struct err *err)
{
    char line[LINE_SIZE];
    int result = 0;
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return err_sys(err, -errno, "%.200s: cannot be opened", path);
    for (size_t number = 1; result == 0; number++) {
        result = text_line(in, line, sizeof line);
        if (result == -ENODATA)
            break;
        result = result < 0 ? err_set(err, -EINVAL, "is too long, or no text")
                            : take_task_line(task, line, number, err);
        if (result < 0)
            err_prefix(err, "%.200s:%zu", path, number);
    }
    fclose(in);
    return result == -ENODATA ? 0 : result;
}

/* Only a change whose cost is told from 0, on whichever side, corrects anything. */
static void take_mixes(struct predict_task *task)
{
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        const struct atoms_figure *figure = atoms_figures_find_any(&task->system, mixes[i].name);
        if (figure == NULL || (figure->median_low_s <= 0 && figure->median_high_s >= 0))
            continue;
        task->mix_name[task->n_mixes] = mixes[i].name;
        task->mix[task->n_mixes++] =
            (struct task_mix){{mixes[i].kinds[0], mixes[i].kinds[1]}, atoms_figures_cost(figure)};
    }
}

static bool is_json(const char *path)
{
    const size_t n = strlen(path);
    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

int predict_task(struct predict_task *task, const struct settings *settings, struct err *err)
{
    const struct settings_task *asked = &settings->prediction.task;
    *task = (struct predict_task){.settings = settings, .depth = NAN};
    if (asked->task[0] == '\0' || asked->system[0] == '\0')
        return err_set(err, -EINVAL,
                       "--%s is missing; give the task's operations (--task) and what fstune atoms --io "
                       "--output wrote (--system)",
                       asked->task[0] == '\0' ? "task" : "system");
    int result = atoms_figures_read(asked->system, &task->system, err);
    if (result < 0)
        return err_prefix(err, "--system");
    result = is_json(asked->task) ? predict_task_read_profile(task, asked->task, err)
                                  : read_table(task, asked->task, err);
    if (result < 0)
        return err_prefix(err, "--task");
    if (task->n == 0)
        return err_set(err, -EINVAL, "--task: %.200s: no operations stand there", asked->task);
    take_mixes(task);
    result = task_vector_predict(task->operation, task->n, task->mix, task->n_mixes, &task->prediction);
    return result < 0 ? err_set(err, result, "a count or a cost is no number of 0 or more; measure again")
                      : 0;
}

void predict_task_done(struct predict_task *task)
{
    atoms_figures_free(&task->system);
}
