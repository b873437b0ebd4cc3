/* A document of `profile` as data of a picture: what came when, the sizes, and what caches would serve. */
#include "tuner/base/json.h"
#include "tuner/picture/plot_data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_NUMBER  1e18
#define MOST_OF_SIZE 1e16 /* so that all sizes together are a number */
#define LEAST_S      1e-9
/* A shorter part of an interval at the end would have a rate by chance; it is told with the one before. */
#define LEAST_LAST_SHARE 0.5

/* 0 where it is no count. */
static double count_at(const json_t *array, size_t i)
{
    double n = json_number_value(json_array_get(array, i));
    return n > 0 && n <= MOST_NUMBER ? n : 0;
}

/* The interval that these counts belong to, with its end. */
static struct plot_load_interval *next_interval(struct plot_load *load, double from_s, double to_s)
{
    size_t n = load->n_intervals;
    bool is_rest = n > 0 && to_s - from_s < LEAST_LAST_SHARE * (load->intervals[0].to_s);
    struct plot_load_interval *interval = &load->intervals[is_rest ? n - 1 : n];
    if (!is_rest)
        *interval = (struct plot_load_interval){.from_s = from_s};
    interval->to_s = to_s;
    load->n_intervals += !is_rest;
    return interval;
}

static void add_interval(struct plot_load *load, const json_t *over_time, size_t i, double interval_s)
{
    static const char *const kinds[PLOT_LOAD_KINDS] = {"seq_read", "rand_read", "seq_write", "rand_write"};
    double from_s = (double)i * interval_s, to_s = fmin(from_s + interval_s, fmax(load->seconds, from_s));
    /* A recording of no length has one interval. */
    struct plot_load_interval *interval =
        next_interval(load, from_s, i == 0 && to_s < LEAST_S ? interval_s : to_s);
    for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
        interval->per_s[kind] += count_at(json_object_get(over_time, kinds[kind]), i);
    interval->bps += count_at(json_object_get(over_time, "bytes"), i);
}

/* Counts become rates. */
static void divide(struct plot_load_interval *interval)
{
    double seconds = interval->to_s - interval->from_s;
    for (size_t kind = 0; kind < PLOT_LOAD_KINDS; kind++)
        interval->per_s[kind] /= seconds;
    interval->bps /= seconds;
}

static int read_intervals(struct plot_load *load, const json_t *over_time, struct err *err)
{
    double interval_s = json_read_number(over_time, "interval_s");
    size_t n = json_array_size(json_object_get(over_time, "bytes"));
    if (n == 0 || n > PLOT_LOAD_INTERVALS || !(interval_s >= LEAST_S) || interval_s > MOST_NUMBER)
        return err_set(err, -ENODATA,
                       "it does not tell what came when; record it again with this version of fstune");
    for (size_t i = 0; i < n; i++)
        add_interval(load, over_time, i, interval_s);
    for (size_t i = 0; i < load->n_intervals; i++)
        divide(&load->intervals[i]);
    load->seconds = load->intervals[load->n_intervals - 1].to_s;
    return 0;
}

static void read_sizes(struct plot_load *load, const json_t *document)
{
    static const char *const names[] = {"read", "write"};
    const json_t *sizes = json_object_get(document, "request_size");
    for (size_t d = 0; d < 2; d++) {
        const json_t *histogram = json_object_get(json_object_get(sizes, names[d]), "histogram");
        for (size_t i = 0; i < PLOT_LOAD_SIZES; i++) {
            load->n_by_size[d][i] = (uint64_t)fmin(count_at(histogram, i), MOST_OF_SIZE);
            load->n[d] += load->n_by_size[d][i];
        }
    }
}

static void read_caches(struct plot_load *load, const json_t *caches)
{
    for (size_t i = 0; i < json_array_size(caches) && load->n_caches < BINS_N; i++) {
        const json_t *cache = json_array_get(caches, i);
        struct blocks_cache *read = &load->caches[load->n_caches];
        *read =
            (struct blocks_cache){json_read_number(cache, "bytes"), json_read_number(cache, "served_share")};
        load->n_caches += read->n_bytes >= 1 && read->n_bytes <= MOST_NUMBER && read->served_share >= 0 &&
                          read->served_share <= 1;
    }
}

static void read_phases(struct plot_load *load, const json_t *phases)
{
    for (size_t i = 1; i < json_array_size(phases) && load->n_phases < PLOT_LOAD_PHASES; i++) {
        double at_s = json_read_number(json_array_get(phases, i), "start_s");
        load->phase_s[load->n_phases] = at_s;
        load->n_phases += at_s > 0 && at_s < load->seconds;
    }
}

static void read_command(struct plot_data *data, const json_t *document)
{
    const json_t *words = json_object_get(document, "command");
    size_t at = 0;
    for (size_t i = 0; i < json_array_size(words) && at < sizeof data->place; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        at += (size_t)snprintf(data->place + at, sizeof data->place - at, "%s%s", i > 0 ? " " : "",
                               word != NULL ? word : "");
    }
    if (at == 0)
        snprintf(data->place, sizeof data->place, "%s", json_read_text(document, "source", ""));
}

int plot_data_profile(struct plot_data *data, const json_t *document, struct err *err)
{
    struct plot_load *load = data->load = calloc(1, sizeof *data->load);
    if (load == NULL)
        return err_set(err, -ENOMEM, "no memory");
    double seconds = json_read_number(document, "seconds");
    load->seconds = seconds > 0 && seconds <= MOST_NUMBER ? seconds : 0;
    int result = read_intervals(load, json_object_get(document, "over_time"), err);
    read_sizes(load, document);
    read_caches(load, json_object_get(document, "caches"));
    read_phases(load, json_object_get(document, "phases"));
    read_command(data, document);
    return result;
}
