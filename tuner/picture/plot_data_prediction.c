/* Documents of `predict write` as data of a picture. */
#include "bench/base/units.h"
#include "tuner/base/json.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many as costs_s holds. The caller frees them. */
static int read_numbers(const json_t *array, size_t n, double **ret_values)
{
    if (n == 0 || json_array_size(array) != n)
        return -EINVAL;
    double *values = malloc(n * sizeof *values);
    if (values == NULL)
        return -ENOMEM;
    *ret_values = values;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);
        values[i] = json_number_value(value);
        if (!json_is_number(value) || !(values[i] >= 0 && values[i] < 1e18))
            return -EINVAL;
    }
    return 0;
}

static int read_change(const json_t *object, const struct cawl_prediction *prediction,
                       struct cawl_change *ret_change)
{
    const char *name = json_string_value(json_object_get(object, "state"));
    const json_int_t chunk = json_integer_value(json_object_get(object, "chunk"));
    const size_t least = prediction->n_changes > 0 ? ret_change[-1].chunk + 1 : 0;
    size_t run = 0;
    while (name != NULL && run < CAWL_N_RUNS && strcmp(cawl_run_names[run], name) != 0)
        run++;
    if (name == NULL || run == CAWL_N_RUNS || chunk < 0 || (size_t)chunk < least ||
        (size_t)chunk >= prediction->n)
        return -EINVAL;
    *ret_change = (struct cawl_change){.run = (enum cawl_run)run, .chunk = (size_t)chunk};
    return 0;
}

static int read_changes(struct cawl_prediction *prediction, const json_t *array)
{
    const size_t n = json_array_size(array);
    int result = json_is_array(array) ? 0 : -EINVAL;
    prediction->changes = calloc(n + 1, sizeof *prediction->changes);
    if (prediction->changes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < n && result == 0; i++) {
        result = read_change(json_array_get(array, i), prediction, &prediction->changes[i]);
        prediction->n_changes += result == 0;
    }
    return result;
}

static void read_words(struct plot_data *data, const json_t *document)
{
    const json_t *load = json_object_get(document, "load"), *host = json_object_get(document, "host");
    const json_int_t bytes = json_integer_value(json_object_get(load, "bytes"));
    const json_int_t size = json_integer_value(json_object_get(load, "request_size"));
    const char *hostname = json_read_text(host, "hostname", "");
    char in_all[UNITS_TEXT_SIZE], each[UNITS_TEXT_SIZE];
    struct plot_writes *writes = &data->writes;
    snprintf(writes->mode, sizeof writes->mode, "%s", json_read_text(document, "mode", ""));
    snprintf(writes->load, sizeof writes->load, "%zu write%s%s%s%s%s%s", writes->prediction.n,
             writes->prediction.n == 1 ? "" : "s", size > 0 ? " of " : "",
             size > 0 ? units_format_size((uint64_t)size, each) : "", bytes > 0 ? ", " : "",
             bytes > 0 ? units_format_bytes((uint64_t)bytes, in_all) : "", bytes > 0 ? " in all" : "");
    snprintf(data->place, sizeof data->place, "%.60s%s%.60s", json_read_text(host, "file_system", ""),
             hostname[0] != '\0' ? " of " : "", hostname);
}

/* 0 where there is no number above it. */
static double positive(const json_t *object, const char *key)
{
    const double value = json_number_value(json_object_get(object, key));
    return value > 0 && value < 1e18 ? value : 0;
}

int plot_data_prediction(struct plot_data *data, const json_t *document, struct err *err)
{
    struct plot_writes *writes = &data->writes;
    struct cawl_prediction *prediction = &writes->prediction;
    const json_t *limits = json_object_get(document, "limits");
    prediction->n = json_array_size(json_object_get(document, "costs_s"));
    int result = read_numbers(json_object_get(document, "costs_s"), prediction->n, &prediction->costs_s);
    if (result == 0)
        result =
            read_numbers(json_object_get(document, "dirty_bytes"), prediction->n, &prediction->dirty_bytes);
    if (result == 0)
        result = read_changes(prediction, json_object_get(document, "states"));
    if (result == -EINVAL)
        return err_set(err, result, "its costs_s, dirty_bytes or states are damaged");
    if (result < 0)
        return result;
    read_words(data, document);
    writes->naive_s = positive(document, "naive_total_s") / (double)prediction->n;
    writes->limit_bg_bytes = positive(limits, "background_bytes");
    writes->limit_hard_bytes = positive(limits, "hard_bytes");
    return 0;
}
