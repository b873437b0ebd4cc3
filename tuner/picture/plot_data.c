/* tuner/picture/plot_data: points by their levels, and the figures made of single runs. */
#include "tuner/picture/plot_data.h"

#include "bench/base/units.h"
#include "tuner/base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_SLOTS (1U << 16) /* more than three times the points, a power of two */

const struct plot_factor plot_factors[PLOT_FACTOR_N] = {
    [PLOT_FACTOR_PATTERN] = {"pattern", "pattern", PLOT_WORDS, ""},
    [PLOT_FACTOR_REQUEST_SIZE] = {"request_size", "request size", PLOT_SIZE, ""},
    [PLOT_FACTOR_WRITE_REQUEST_SIZE] = {"write_request_size", "size of writes", PLOT_SIZE, "size of writes "},
    [PLOT_FACTOR_QUEUE_DEPTH] = {"queue_depth", "queue depth", PLOT_COUNT, "depth "},
    [PLOT_FACTOR_DIRECT] = {"direct", "direct I/O", PLOT_COUNT, ""},
    [PLOT_FACTOR_API] = {"api", "I/O API", PLOT_WORDS, ""},
    [PLOT_FACTOR_THREADS] = {"threads", "threads", PLOT_COUNT, NULL},
    [PLOT_FACTOR_SYNC] = {"sync", "sync", PLOT_WORDS, "sync "},
    [PLOT_FACTOR_FILE_SIZE] = {"file_size", "file size", PLOT_SIZE, "file size "},
    [PLOT_FACTOR_FILES] = {"files", "files", PLOT_COUNT, NULL},
    [PLOT_FACTOR_CACHE] = {"cache", "cache", PLOT_WORDS, "cache "},
    [PLOT_FACTOR_ALIGNMENT] = {"alignment", "alignment", PLOT_SIZE, "alignment "},
    [PLOT_FACTOR_RESULT] = {"result", "result", PLOT_WORDS, ""},
};

size_t plot_factor_find(const char *key)
{
    for (size_t i = 0; i < PLOT_FACTOR_N; i++) {
        const char *a = plot_factors[i].key, *b = key;
        while (*a != '\0' && (*a == *b || (*a == '_' && *b == '-'))) {
            a++;
            b++;
        }
        if (*a == '\0' && *b == '\0')
            return i;
    }
    return PLOT_FACTOR_N;
}

/* 0 or -ENOMEM. */
static int append(void *array, size_t *n, size_t *capacity, const void *element, size_t size)
{
    void *added = grow_array(array, *n, capacity, size);
    if (added == NULL)
        return -ENOMEM;
    memcpy(added, element, size);
    (*n)++;
    return 0;
}

/* Words sort as the program knows them, others in the order of their coming. */
static double rank_of(size_t factor, const char *text, size_t n_before)
{
    enum api api;
    enum sync sync;
    if (factor == PLOT_FACTOR_API && factors_parse_api(text, &api) == 0)
        return api;
    if (factor == PLOT_FACTOR_SYNC && factors_parse_sync(text, &sync) == 0)
        return sync;
    return 100 + (double)n_before;
}

static int make_level(size_t factor, const char *text, size_t n_before, struct plot_level *ret_level)
{
    uint64_t number = 0;
    int result = 0;
    *ret_level = (struct plot_level){0};
    if (plot_factors[factor].scale == PLOT_SIZE)
        result = units_parse_size(text, &number);
    else if (plot_factors[factor].scale == PLOT_COUNT)
        result = units_parse_count(text, UINT32_MAX, &number);
    if (result < 0 || text[0] == '\0' || (factor == PLOT_FACTOR_DIRECT && number > 1))
        return -EINVAL;
    ret_level->number =
        plot_factors[factor].scale == PLOT_WORDS ? rank_of(factor, text, n_before) : (double)number;
    if (factor == PLOT_FACTOR_DIRECT)
        snprintf(ret_level->text, sizeof ret_level->text, "%s", number == 1 ? "direct" : "buffered");
    else if (plot_factors[factor].scale == PLOT_SIZE)
        units_format_size(number, ret_level->text);
    else
        snprintf(ret_level->text, sizeof ret_level->text, "%s", text);
    return 0;
}

int plot_data_level(struct plot_data *data, size_t factor, const char *text, uint16_t *ret_level)
{
    struct plot_level level;
    struct plot_levels *levels = &data->levels[factor];
    int result = make_level(factor, text, levels->n, &level);
    if (result < 0)
        return result;
    for (size_t i = 0; i < levels->n; i++) {
        if (strcmp(levels->level[i].text, level.text) == 0) {
            *ret_level = (uint16_t)i;
            return 0;
        }
    }
    if (levels->n == PLOT_MAX_LEVELS)
        return -EFBIG;
    *ret_level = (uint16_t)levels->n;
    return append(&levels->level, &levels->n, &levels->capacity, &level, sizeof level);
}

static const struct plot_point unknown = {
    .mean_bps = NAN,
    .ci_low_bps = NAN,
    .ci_high_bps = NAN,
    .std_bps = NAN,
    .latency_mean_ns = NAN,
    .replays = NAN,
    .p50 = {NAN, NAN, NAN},
    .p99 = {NAN, NAN, NAN},
    .p999 = {NAN, NAN, NAN},
};

static uint32_t hash_of(const uint16_t level[PLOT_FACTOR_N])
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < PLOT_FACTOR_N; i++)
        hash = (hash ^ level[i]) * 16777619U;
    return hash ^ (hash >> 16);
}

int plot_data_point(struct plot_data *data, const uint16_t level[PLOT_FACTOR_N], size_t *ret_point)
{
    if (data->slots == NULL)
        data->slots = calloc(N_SLOTS, sizeof *data->slots);
    if (data->slots == NULL)
        return -ENOMEM;
    uint32_t slot = hash_of(level) % N_SLOTS;
    for (; data->slots[slot] != 0; slot = (slot + 1) % N_SLOTS) {
        *ret_point = data->slots[slot] - 1;
        if (memcmp(data->points[*ret_point].level, level, sizeof unknown.level) == 0)
            return 0;
    }
    if (data->n_points == PLOT_MAX_POINTS)
        return -EFBIG;
    struct plot_point point = unknown;
    memcpy(point.level, level, sizeof point.level);
    *ret_point = data->n_points;
    int result = append(&data->points, &data->n_points, &data->points_capacity, &point, sizeof point);
    if (result == 0)
        data->slots[slot] = (uint32_t)data->n_points;
    return result;
}

int plot_data_add_run(struct plot_data *data, const struct plot_run *run)
{
    if (data->n_runs == PLOT_MAX_RUNS)
        return -EFBIG;
    return append(&data->runs, &data->n_runs, &data->runs_capacity, run, sizeof *run);
}

int plot_data_add_night(struct plot_data *data, const struct plot_night *night)
{
    return append(&data->nights, &data->n_nights, &data->nights_capacity, night, sizeof *night);
}

int plot_data_add_event(struct plot_data *data, const struct plot_event *event)
{
    return append(&data->events, &data->n_events, &data->events_capacity, event, sizeof *event);
}

/* Gives the levels of a factor ascending numbers, everywhere. 0 or -ENOMEM. */
static int sort_levels(struct plot_data *data, size_t factor)
{
    struct plot_levels *levels = &data->levels[factor];
    uint16_t rank[PLOT_MAX_LEVELS];
    struct plot_level *sorted = malloc((levels->n + 1) * sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < levels->n; i++) {
        size_t before = 0;
        for (size_t j = 0; j < levels->n; j++)
            before += levels->level[j].number < levels->level[i].number ||
                      (j < i && levels->level[j].number == levels->level[i].number);
        sorted[before] = levels->level[i];
        rank[i] = (uint16_t)before;
    }
    for (size_t i = 0; i < data->n_points; i++) {
        uint16_t *level = &data->points[i].level[factor];
        *level = *level == PLOT_NO_LEVEL ? *level : rank[*level];
    }
    free(levels->level);
    levels->level = sorted;
    levels->capacity = levels->n + 1;
    return 0;
}

/* What single runs or rows say, where the file does not say it itself. */
static void finish_point(struct plot_point *point, double confidence)
{
    if (point->bps.n == 0)
        return;
    struct interval interval = student_interval(point->bps, confidence);
    bool alone = point->bps.n == 1;
    point->mean_bps = point->bps.mean;
    /* A row of a table with a scatter stands for runs whose number it does not say. */
    if (!alone || !isfinite(point->std_bps))
        point->replays = (double)point->bps.n;
    point->std_bps = alone ? point->std_bps : point->bps.std;
    point->ci_low_bps = alone ? point->ci_low_bps : interval.low;
    point->ci_high_bps = alone ? point->ci_high_bps : interval.high;
}

int plot_data_read(struct plot_data *data, const char *text, size_t size, struct err *err)
{
    static const char journal[] = "{\"schema\":\"" JOURNAL_SCHEMA;
    *data = (struct plot_data){.confidence_share = 0.95, .burst_seconds = NAN, .pattern = PLOT_NO_LEVEL};
    size_t blank = strspn(text, " \t\r\n");
    int result;
    if (strlen(text) != size)
        return err_set(err, -EINVAL, "it is no text");
    if (strncmp(text, journal, sizeof journal - 1) == 0)
        result = plot_data_journal(data, text, size, err);
    else if (text[blank] == '{')
        result = plot_data_json(data, text, err);
    else
        result = plot_data_csv(data, text, err);
    for (size_t i = 0; i < data->n_points && result == 0; i++)
        finish_point(&data->points[i], data->confidence_share);
    for (size_t factor = 0; factor < PLOT_FACTOR_N && result == 0; factor++)
        result = sort_levels(data, factor);
    return result == -ENOMEM ? err_set(err, result, "no memory") : result;
}

/* The caller frees the text, of which the pages that are not read are never touched. */
static int read_whole_input(int fd, char **ret_text, size_t *ret_size)
{
    char *text = malloc(JOURNAL_MAX_SIZE + 2);
    size_t size = 0;
    ssize_t n;
    if (text == NULL)
        return -ENOMEM;
    while ((n = read(fd, text + size, JOURNAL_MAX_SIZE + 1 - size)) > 0)
        size += (size_t)n;
    text[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    if (n < 0)
        return -errno;
    return size > JOURNAL_MAX_SIZE ? -EFBIG : 0;
}

int plot_data_load(struct plot_data *data, const char *path, struct err *err)
{
    char *text = NULL;
    size_t size = 0;
    bool is_input = strcmp(path, "-") == 0;
    *data = (struct plot_data){0};
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, -errno, "cannot be opened");
    int result = read_whole_input(fd, &text, &size);
    if (!is_input)
        close(fd);
    result = result < 0 ? err_sys(err, result, "cannot be read") : plot_data_read(data, text, size, err);
    free(text);
    return result;
}

void plot_data_done(struct plot_data *data)
{
    for (size_t i = 0; i < PLOT_FACTOR_N; i++)
        free(data->levels[i].level);
    free(data->points);
    free(data->slots);
    free(data->runs);
    free(data->front);
    free(data->nights);
    free(data->events);
    free(data->figures);
    free(data->load);
    cawl_prediction_done(&data->writes.prediction);
    *data = (struct plot_data){0};
}
