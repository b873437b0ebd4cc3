/* The CSV files of a simulated surface. */
#include "tuner/session/simulator.h"

#include "bench/base/factors.h"
#include "bench/base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELDS 8
/* Wide enough for every disk, and narrow enough for virtual times to fit into 64 bits. */
#define MIN_BPS     1.0
#define MAX_BPS     1e15
#define MAX_SECONDS 1e9
#define MIN_FACTOR  1e-6
#define MAX_FACTOR  1e6

static const char points_header[] = "pattern,request_size,queue_depth,direct,api,threads,throughput_bps";
/* A column that may follow: empty or absent, writes have the size of reads. */
static const char points_option[] = ",write_request_size";
static const char trace_header[] = "seconds,factor";

struct table {
    const char *path;
    const char *header, *option; /* what may follow the header: one column, or NULL */
    size_t n_fields;
    size_t item_size;
    unsigned line;
    char *items;
    size_t n, capacity;
    int (*parse)(const struct table *table, char **fields, void *item, struct err *err);
};

static int bad_field(const struct table *table, const char *what, const char *text, struct err *err)
{
    return err_set(err, -EINVAL, "%s:%u: '%.40s' is not a valid %s", table->path, table->line, text, what);
}

/* A plain decimal number in these bounds. */
static int parse_number(const char *text, double low, double high, double *ret_number)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9')
        return -EINVAL;
    double number = strtod(text, &end);
    if (*end != '\0' || !(number >= low && number <= high) || strpbrk(text, "xX") != NULL)
        return -EINVAL;
    *ret_number = number;
    return 0;
}

static int parse_cell(const struct table *table, char **fields, void *item, struct err *err)
{
    struct simulator_cell *cell = item;
    struct pattern pattern;
    struct err why = {0};
    uint64_t depth = 0, direct = 0, threads = 0, write_size = 0;
    *cell = (struct simulator_cell){.n_rows = 1, .point = {.sync = SYNC_END}};
    if (pattern_parse(fields[0], &pattern, &why) < 0)
        return bad_field(table, "pattern", fields[0], err);
    if (units_parse_size(fields[1], &cell->point.request_size_bytes) < 0)
        return bad_field(table, "request_size", fields[1], err);
    if (units_parse_count(fields[2], FACTORS_QUEUE_DEPTH_MAX, &depth) < 0)
        return bad_field(table, "queue_depth", fields[2], err);
    if (units_parse_count(fields[3], 1, &direct) < 0)
        return bad_field(table, "direct", fields[3], err);
    if (factors_parse_api(fields[4], &cell->point.api) < 0)
        return bad_field(table, "api", fields[4], err);
    if (units_parse_count(fields[5], FACTORS_THREADS_MAX, &threads) < 0)
        return bad_field(table, "threads", fields[5], err);
    if (parse_number(fields[6], MIN_BPS, MAX_BPS, &cell->throughput_bps) < 0)
        return bad_field(table, "throughput_bps", fields[6], err);
    if (table->n_fields == 8 && fields[7][0] != '\0' && units_parse_size(fields[7], &write_size) < 0)
        return bad_field(table, "write_request_size", fields[7], err);
    factors_set_write_size(&cell->point, write_size);
    cell->point.queue_depth = (uint32_t)depth;
    cell->point.direct = (uint32_t)direct;
    cell->point.threads = (uint32_t)threads;
    snprintf(cell->pattern, sizeof cell->pattern, "%s", pattern.name);
    if (factors_check(&cell->point, &why) < 0)
        return err_set(err, -EINVAL, "%s:%u: %.200s", table->path, table->line, why.text);
    return 0;
}

static int parse_step(const struct table *table, char **fields, void *item, struct err *err)
{
    struct simulator_trace_step *step = item;
    if (parse_number(fields[0], 0, MAX_SECONDS, &step->seconds) < 0)
        return bad_field(table, "number of seconds", fields[0], err);
    if (parse_number(fields[1], MIN_FACTOR, MAX_FACTOR, &step->factor) < 0)
        return bad_field(table, "factor", fields[1], err);
    const struct simulator_trace_step *steps = (const struct simulator_trace_step *)table->items;
    if (table->n > 0 && steps[table->n - 1].seconds >= step->seconds)
        return err_set(err, -EINVAL, "%s:%u: seconds must ascend", table->path, table->line);
    return 0;
}

static int grow(struct table *table, struct err *err)
{
    if (table->n < table->capacity)
        return 0;
    size_t capacity = table->capacity == 0 ? 256 : 2 * table->capacity;
    char *items = realloc(table->items, capacity * table->item_size);
    if (items == NULL)
        return err_set(err, -ENOMEM, "no memory for %s", table->path);
    table->items = items;
    table->capacity = capacity;
    return 0;
}

static int parse_header(struct table *table, const char *line, struct err *err)
{
    size_t length = strlen(table->header);
    if (strncmp(line, table->header, length) == 0) {
        if (line[length] == '\0')
            return 0;
        if (table->option != NULL && strcmp(line + length, table->option) == 0) {
            table->n_fields++;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "%s:1: the first line must be %s", table->path, table->header);
}

static int parse_line(struct table *table, char *line, struct err *err)
{
    char *fields[MAX_FIELDS];
    size_t n = 0;
    for (char *rest = line, *field; (field = strsep(&rest, ",")) != NULL; n++) {
        if (n < MAX_FIELDS)
            fields[n] = field;
    }
    if (n != table->n_fields)
        return err_set(err, -EINVAL, "%s:%u: %zu fields instead of %zu", table->path, table->line, n,
                       table->n_fields);
    int result = grow(table, err);
    if (result < 0)
        return result;
    result = table->parse(table, fields, table->items + table->n * table->item_size, err);
    if (result == 0)
        table->n++;
    return result;
}

static int read_lines(struct table *table, FILE *file, struct err *err)
{
    char *line = NULL;
    size_t size = 0;
    int result = 0;
    ssize_t length;
    while (result == 0 && (length = getline(&line, &size, file)) > 0) {
        table->line++;
        if (strlen(line) != (size_t)length) {
            result = err_set(err, -EINVAL, "%s:%u: holds a zero byte", table->path, table->line);
            break;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (table->line == 1) {
            result = parse_header(table, line, err);
        } else if (line[0] != '\0') {
            result = parse_line(table, line, err);
        }
    }
    if (result == 0 && ferror(file))
        result = err_sys(err, -EIO, "cannot read %s", table->path);
    if (result == 0 && table->n == 0)
        result = err_set(err, -EINVAL, "%s: no row of data", table->path);
    free(line);
    return result;
}

static int read_table(struct table *table, struct err *err)
{
    FILE *file = fopen(table->path, "re");
    if (file == NULL)
        return err_sys(err, -errno, "cannot open %s", table->path);
    int result = read_lines(table, file, err);
    fclose(file);
    if (result < 0)
        free(table->items);
    return result;
}

int simulator_table_compare(const void *left, const void *right)
{
    static const enum factor factors[] = {FACTOR_DIRECT,       FACTOR_API,        FACTOR_THREADS,
                                          FACTOR_REQUEST_SIZE, FACTOR_WRITE_SIZE, FACTOR_QUEUE_DEPTH};
    const struct simulator_cell *a = left, *b = right;
    int order = strcmp(a->pattern, b->pattern);
    for (size_t i = 0; i < sizeof factors / sizeof factors[0] && order == 0; i++) {
        uint64_t level_a = factors_level(&a->point, factors[i]),
                 level_b = factors_level(&b->point, factors[i]);
        order = (level_a > level_b) - (level_a < level_b);
    }
    return order;
}

/* Averages rows of one point; returns how many cells remain. */
static size_t merge_cells(struct simulator_cell *cells, size_t n)
{
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        struct simulator_cell *last = &cells[kept];
        if (simulator_table_compare(last, &cells[i]) != 0) {
            cells[++kept] = cells[i];
            continue;
        }
        last->n_rows++;
        last->throughput_bps += (cells[i].throughput_bps - last->throughput_bps) / (double)last->n_rows;
    }
    return kept + 1;
}

int simulator_table_read(const char *path, struct simulator_cell **ret_cells, size_t *ret_n, struct err *err)
{
    struct table table = {.path = path,
                          .header = points_header,
                          .option = points_option,
                          .n_fields = 7,
                          .item_size = sizeof(struct simulator_cell),
                          .parse = parse_cell};
    int result = read_table(&table, err);
    if (result < 0)
        return result;
    struct simulator_cell *cells = (struct simulator_cell *)table.items;
    qsort(cells, table.n, sizeof *cells, simulator_table_compare);
    *ret_n = merge_cells(cells, table.n);
    *ret_cells = cells;
    return 0;
}

int simulator_trace_read(const char *path, struct simulator_trace_step **ret_steps, size_t *ret_n,
                         struct err *err)
{
    struct table table = {.path = path,
                          .header = trace_header,
                          .n_fields = 2,
                          .item_size = sizeof(struct simulator_trace_step),
                          .parse = parse_step};
    int result = read_table(&table, err);
    if (result < 0)
        return result;
    *ret_steps = (struct simulator_trace_step *)table.items;
    *ret_n = table.n;
    return 0;
}
