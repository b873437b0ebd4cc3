/* The tables of a simulated surface: rows in range and in order, and written out they read back the same. */
#include "tests/fuzz/fuzz.h"

#include "tuner/session/simulator.h"

#include <inttypes.h>

static void check_cell(const struct simulator_cell *cell)
{
    struct pattern pattern;
    FUZZ_CHECK(pattern_parse(cell->pattern, &pattern, NULL) == 0);
    FUZZ_CHECK(strcmp(pattern.name, cell->pattern) == 0);
    FUZZ_CHECK(factors_check(&cell->point, NULL) == 0 && cell->point.sync == SYNC_END);
    FUZZ_CHECK(cell->n_rows >= 1);
    FUZZ_CHECK(cell->throughput_bps >= 1 && cell->throughput_bps <= 1e15);
}

static void write_cells(FILE *out, const struct simulator_cell *cells, size_t n)
{
    fputs("pattern,request_size,queue_depth,direct,api,threads,throughput_bps,write_request_size\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct point *point = &cells[i].point;
        fprintf(out, "%s,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%s,%" PRIu32 ",%.17g,%" PRIu64 "\n",
                cells[i].pattern, point->request_size_bytes, point->queue_depth, point->direct,
                api_names[point->api], point->threads, cells[i].throughput_bps,
                factors_write_size_bytes(point));
    }
}

static void check_cells_again(const struct simulator_cell *cells, size_t n)
{
    char path[FUZZ_PATH_SIZE];
    size_t n_again = 0;
    struct simulator_cell *again = NULL;
    FILE *out = fuzz_file(path);
    write_cells(out, cells, n);
    FUZZ_CHECK(fflush(out) == 0);
    FUZZ_CHECK(simulator_table_read(path, &again, &n_again, NULL) == 0 && n_again == n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(strcmp(again[i].pattern, cells[i].pattern) == 0);
        FUZZ_CHECK(factors_equal(&again[i].point, &cells[i].point));
        FUZZ_CHECK(again[i].throughput_bps == cells[i].throughput_bps);
    }
    fclose(out);
    free(again);
}

static void check_table(const char *path)
{
    struct simulator_cell *cells = NULL;
    size_t n = 0;
    if (fuzz_refused(simulator_table_read(path, &cells, &n, &fuzz_err))) {
        FUZZ_CHECK(cells == NULL && n == 0);
        return;
    }
    FUZZ_CHECK(n > 0);
    for (size_t i = 0; i < n; i++)
        check_cell(&cells[i]);
    for (size_t i = 1; i < n; i++)
        FUZZ_CHECK(strcmp(cells[i - 1].pattern, cells[i].pattern) < 0 ||
                   !factors_equal(&cells[i - 1].point, &cells[i].point));
    check_cells_again(cells, n);
    free(cells);
}

static void check_trace(const char *path)
{
    struct simulator_trace_step *steps = NULL;
    size_t n = 0;
    if (fuzz_refused(simulator_trace_read(path, &steps, &n, &fuzz_err))) {
        FUZZ_CHECK(steps == NULL && n == 0);
        return;
    }
    FUZZ_CHECK(n > 0 && steps[0].seconds >= 0);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(steps[i].factor >= 1e-6 && steps[i].factor <= 1e6 && steps[i].seconds <= 1e9);
        FUZZ_CHECK(i == 0 || steps[i - 1].seconds < steps[i].seconds);
    }
    free(steps);
}

FUZZ_FILE(path)
{
    check_table(path);
    check_trace(path);
}
