/* A simulated surface's description (libconfig) and its truth. The table itself is read in simulator_table.c.
 */
#include "tuner/session/simulator.h"

#include "tuner/options/config.h"

#include <errno.h>
#include <libconfig.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct noise_key {
    const char *name;
    size_t place;
    double low, high, standard;
};

static const struct noise_key noise_keys[] = {
    {"op_cv", offsetof(struct simulator_noise, op_cv), 0, 10, 0},
    {"op_ar1", offsetof(struct simulator_noise, op_ar1), 0, 0.9999, 0},
    {"run_cv", offsetof(struct simulator_noise, run_cv), 0, 10, 0},
    {"run_cv_seconds", offsetof(struct simulator_noise, run_cv_seconds), 0, 1e6, 0},
    {"outlier_probability", offsetof(struct simulator_noise, outlier_probability), 0, 1, 0},
    {"outlier_factor", offsetof(struct simulator_noise, outlier_factor), 1e-3, 1e6, 1},
    {"level_share", offsetof(struct simulator_noise, level_share), 0, 1, 0},
    {"level_probability", offsetof(struct simulator_noise, level_probability), 0, 1, 0},
    {"level_factor", offsetof(struct simulator_noise, level_factor), 1, 1e6, 1},
    {"drift_per_hour", offsetof(struct simulator_noise, drift_per_hour), -1e3, 1e3, 0},
    {"warmup_seconds", offsetof(struct simulator_noise, warmup_seconds), 0, 1e6, 0},
    {"warmup_factor", offsetof(struct simulator_noise, warmup_factor), 1e-3, 1e3, 1},
    {"pulse_seconds", offsetof(struct simulator_noise, pulse_seconds), 0, 1e6, 0},
    {"pulse_share", offsetof(struct simulator_noise, pulse_share), 1e-3, 1, 1},
    {"setup_seconds", offsetof(struct simulator_noise, setup_seconds), 0, 1e4, 0},
};
static const size_t n_noise_keys = sizeof noise_keys / sizeof noise_keys[0];

static double *noise_value(struct simulator_noise *noise, const struct noise_key *key)
{
    return (double *)((char *)noise + key->place);
}

static int number_of(const config_setting_t *setting, double *ret_number)
{
    int type = config_setting_type(setting);
    if (type == CONFIG_TYPE_FLOAT)
        *ret_number = config_setting_get_float(setting);
    else if (type == CONFIG_TYPE_INT)
        *ret_number = config_setting_get_int(setting);
    else
        return -EINVAL;
    return 0;
}

static int read_noise_entry(struct simulator_noise *noise, const config_setting_t *entry, const char *path,
                            struct err *err)
{
    const char *name = config_setting_name(entry);
    unsigned line = config_setting_source_line(entry);
    for (size_t i = 0; i < n_noise_keys; i++) {
        double number = 0;
        if (strcmp(name, noise_keys[i].name) != 0)
            continue;
        if (number_of(entry, &number) < 0 || !(number >= noise_keys[i].low && number <= noise_keys[i].high))
            return err_set(err, -EINVAL, "%s:%u: %s must be a number from %g to %g", path, line, name,
                           noise_keys[i].low, noise_keys[i].high);
        *noise_value(noise, &noise_keys[i]) = number;
        return 0;
    }
    return err_set(err, -EINVAL, "%s:%u: unknown key noise.%s", path, line, name);
}

static int read_noise(struct simulator_noise *noise, config_t *config, const char *path, struct err *err)
{
    for (size_t i = 0; i < n_noise_keys; i++)
        *noise_value(noise, &noise_keys[i]) = noise_keys[i].standard;
    config_setting_t *group = config_lookup(config, "noise");
    if (group == NULL)
        return 0;
    if (!config_setting_is_group(group))
        return err_set(err, -EINVAL, "%s:%u: noise must be a group { ... }", path,
                       config_setting_source_line(group));
    for (int i = 0; i < config_setting_length(group); i++) {
        int result = read_noise_entry(noise, config_setting_get_elem(group, (unsigned)i), path, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int check_keys(config_t *config, const char *path, struct err *err)
{
    static const char *const known[] = {"name", "points", "noise", "trace"};
    config_setting_t *root = config_root_setting(config);
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *entry = config_setting_get_elem(root, (unsigned)i);
        bool found = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            found |= strcmp(config_setting_name(entry), known[k]) == 0;
        if (!found)
            return err_set(err, -EINVAL, "%s:%u: unknown key %s; a surface has name, points, noise, trace",
                           path, config_setting_source_line(entry), config_setting_name(entry));
    }
    return 0;
}

/* 0 and the text, or NULL where there is no such key. */
static int read_text(const config_t *config, const char *key, const char *path, const char **ret_text,
                     struct err *err)
{
    const config_setting_t *setting = config_lookup(config, key);
    if (setting != NULL && config_setting_type(setting) != CONFIG_TYPE_STRING)
        return err_set(err, -EINVAL, "%s:%u: %s must be a text in quotes", path,
                       config_setting_source_line(setting), key);
    *ret_text = setting != NULL ? config_setting_get_string(setting) : NULL;
    return 0;
}

/* Path of a file named in the description, relative to the description. */
static int beside(const char *description, const char *name, char *buffer, size_t size)
{
    const char *slash = strrchr(description, '/');
    int folder = slash == NULL || name[0] == '/' ? 0 : (int)(slash - description + 1);
    int length = snprintf(buffer, size, "%.*s%s", folder, description, name);
    return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int read_tables(struct simulator *simulator, config_t *config, const char *path, struct err *err)
{
    const char *points = NULL, *trace = NULL;
    char file[4096];
    int result = read_text(config, "points", path, &points, err);
    if (result == 0)
        result = read_text(config, "trace", path, &trace, err);
    if (result < 0)
        return result;
    if (points == NULL)
        return err_set(err, -EINVAL, "%s: points = \"FILE.csv\" is missing", path);
    if (beside(path, points, file, sizeof file) < 0)
        return err_set(err, -ENAMETOOLONG, "%s: the path of settings is too long", path);
    result = simulator_table_read(file, &simulator->cells, &simulator->n_cells, err);
    if (result < 0 || trace == NULL)
        return result;
    if (beside(path, trace, file, sizeof file) < 0)
        return err_set(err, -ENAMETOOLONG, "%s: the path of trace is too long", path);
    return simulator_trace_read(file, &simulator->trace, &simulator->world.n_trace, err);
}

static int read_description(struct simulator *simulator, config_t *config, const char *path, struct err *err)
{
    const char *name = NULL;
    int result = check_keys(config, path, err);
    if (result == 0)
        result = read_noise(&simulator->world.noise, config, path, err);
    if (result == 0)
        result = read_tables(simulator, config, path, err);
    if (result == 0)
        result = read_text(config, "name", path, &name, err);
    if (result < 0)
        return result;
    snprintf(simulator->name, sizeof simulator->name, "%s", name != NULL ? name : path);
    simulator->world.trace = simulator->trace;
    simulator->world.now_ns = &simulator->now_ns;
    return 0;
}

int simulator_open(struct simulator *simulator, const char *path, struct err *err)
{
    config_t config;
    *simulator = (struct simulator){0};
    int result = config_load(&config, path, err);
    if (result < 0)
        return result;
    result = read_description(simulator, &config, path, err);
    config_destroy(&config);
    if (result < 0)
        simulator_close(simulator);
    return result;
}

void simulator_close(struct simulator *simulator)
{
    free(simulator->cells);
    free(simulator->trace);
    simulator->cells = NULL;
    simulator->trace = NULL;
    simulator->n_cells = 0;
}

/* First cell whose pattern is not below this name; with `after`, the first that is above it. */
static size_t bound_of_pattern(const struct simulator *simulator, const char *name, bool after)
{
    size_t low = 0, high = simulator->n_cells;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(simulator->cells[middle].pattern, name);
        if (order < 0 || (after && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void simulator_cells_of(const struct simulator *simulator, const struct pattern *pattern, size_t *ret_first,
                        size_t *ret_n)
{
    *ret_first = bound_of_pattern(simulator, pattern->name, false);
    *ret_n = bound_of_pattern(simulator, pattern->name, true) - *ret_first;
}

static bool same_group(const struct point *a, const struct point *b)
{
    return a->direct == b->direct && a->api == b->api && a->threads == b->threads &&
           a->write_size_bytes == b->write_size_bytes;
}

static const struct simulator_cell *find_cell(const struct simulator *simulator,
                                              const struct pattern *pattern, const struct point *point)
{
    struct simulator_cell key = {.point = *point};
    snprintf(key.pattern, sizeof key.pattern, "%s", pattern->name);
    return bsearch(&key, simulator->cells, simulator->n_cells, sizeof key, simulator_table_compare);
}

/* Nearest tabulated levels around one level of the point's group; 0 where there is none on that side. */
static void bracket(const struct simulator_cell *cells, size_t n, const struct point *point, bool depth,
                    uint64_t *ret_low, uint64_t *ret_high)
{
    uint64_t wanted = depth ? point->queue_depth : point->request_size_bytes;
    *ret_low = *ret_high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t level = depth ? cells[i].point.queue_depth : cells[i].point.request_size_bytes;
        if (!same_group(&cells[i].point, point))
            continue;
        if (level <= wanted && level > *ret_low)
            *ret_low = level;
        if (level >= wanted && (*ret_high == 0 || level < *ret_high))
            *ret_high = level;
    }
}

static double weight_of(uint64_t low, uint64_t high, uint64_t wanted)
{
    return low == high ? 0 : log2((double)wanted / (double)low) / log2((double)high / (double)low);
}

static int interpolate(const struct simulator *simulator, const struct pattern *pattern,
                       const struct point *point, double *ret_log)
{
    uint64_t size[2], depth[2];
    size_t first = 0, n = 0;
    simulator_cells_of(simulator, pattern, &first, &n);
    const struct simulator_cell *cells = simulator->cells + first;
    bracket(cells, n, point, false, &size[0], &size[1]);
    bracket(cells, n, point, true, &depth[0], &depth[1]);
    if (size[0] == 0 || size[1] == 0 || depth[0] == 0 || depth[1] == 0)
        return -ENODATA;
    double ws = weight_of(size[0], size[1], point->request_size_bytes);
    double wd = weight_of(depth[0], depth[1], point->queue_depth);
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        double weight = (corner & 1 ? ws : 1 - ws) * (corner & 2 ? wd : 1 - wd);
        struct point at = *point;
        at.request_size_bytes = size[corner & 1];
        at.queue_depth = (uint32_t)depth[corner >> 1];
        if (weight <= 0)
            continue;
        const struct simulator_cell *cell = find_cell(simulator, pattern, &at);
        if (cell == NULL)
            return -ENODATA;
        sum += weight * log(cell->throughput_bps);
    }
    *ret_log = sum;
    return 0;
}

int simulator_truth_bps(void *context, const struct pattern *pattern, const struct point *point,
                        double *ret_bps, struct err *err)
{
    const struct simulator *simulator = context;
    double log_bps = 0;
    char text[FACTORS_TEXT_SIZE];
    const struct simulator_cell *cell = find_cell(simulator, pattern, point);
    if (cell != NULL) {
        *ret_bps = cell->throughput_bps;
        return 0;
    }
    if (factors_is_split(point) || interpolate(simulator, pattern, point, &log_bps) < 0)
        return err_set(err, -ENODATA,
                       "surface \"%s\" has no setting %s for pattern %s; choose factors inside its table",
                       simulator->name, factors_format(point, text), pattern->name);
    *ret_bps = exp(log_bps);
    return 0;
}
