/* Page size, cache and memory map with which SQLite answers look-ups fastest. Each setting gets a database of
 * its own, is measured several times in a row, and is told as a mean with its standard error. How safe data
 * are is no setting to be tuned: `synchronous` stays as it is.
 *
 *     cc sqlite_settings.c $(pkg-config --cflags --libs fstune sqlite3) -lm -o sqlite_settings
 *     ./sqlite_settings FILE SECONDS          FILE is made, and removed at the end
 */
#include <fstune/fstune.h>
#include <sqlite3.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROWS    20000
#define REPEATS 5

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A new database with this page size. */
static sqlite3 *make_database(const char *path, double page_size, double cache_bytes, double map_bytes)
{
    char words[512];
    sqlite3 *database = NULL;
    unlink(path);
    if (sqlite3_open(path, &database) == SQLITE_OK) {
        snprintf(words, sizeof words,
                 "PRAGMA page_size=%.0f; PRAGMA cache_size=-%.0f; PRAGMA mmap_size=%.0f;"
                 "CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB);"
                 "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < %d)"
                 " INSERT INTO t SELECT k, randomblob(100) FROM n;",
                 page_size, cache_bytes / 1024, map_bytes, ROWS);
        if (sqlite3_exec(database, words, NULL, NULL, NULL) == SQLITE_OK)
            return database;
    }
    sqlite3_close(database);
    return NULL;
}

/* Look-ups per second over a hundredth of a second; 0 where one failed. */
static double lookup_rate(sqlite3 *database)
{
    sqlite3_stmt *statement = NULL;
    double start = now_seconds(), seconds = 0;
    long n = 0;
    if (sqlite3_prepare_v2(database, "SELECT v FROM t WHERE k = ?", -1, &statement, NULL) != SQLITE_OK)
        return 0;
    for (; (seconds = now_seconds() - start) < 0.01; n++) {
        sqlite3_bind_int(statement, 1, 1 + rand() % ROWS);
        if (sqlite3_step(statement) != SQLITE_ROW)
            break;
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return seconds < 0.01 ? 0 : (double)n / seconds;
}

/* Mean of REPEATS measurements and its standard error; 0 where one failed. */
static int measure(const char *path, const double *values, struct fst_result *ret_result)
{
    double sum = 0, squares = 0;
    sqlite3 *database = make_database(path, values[0], values[1], values[2]);
    for (int i = 0; database != NULL && i < REPEATS; i++) {
        double rate = lookup_rate(database);
        if (!(rate > 0)) {
            sqlite3_close(database);
            return 0;
        }
        sum += rate;
        squares += rate * rate;
    }
    if (database == NULL)
        return 0;
    sqlite3_close(database);
    double mean = sum / REPEATS, variance = fmax(0, squares - sum * mean) / (REPEATS - 1);
    ret_result->value = mean;
    ret_result->std_error = sqrt(variance / REPEATS);
    ret_result->n = REPEATS;
    return 1;
}

/* Of settings that are as good, the one with less memory is recommended. */
static double memory_of(const double *values, void *context)
{
    (void)context;
    return values[1] + values[2];
}

static struct fst_search *new_search(double seconds)
{
    static const double maps[] = {0, 1 << 20, 64 << 20};
    struct fst_space *space = fst_space_new();
    struct fst_options options = FST_OPTIONS;
    struct fst_search *search = NULL;
    options.budget = seconds;
    options.price = memory_of;
    if (space != NULL && fst_space_add_sizes(space, "page", 1024, 32768) == 0 &&
        fst_space_add_sizes(space, "cache", 64 << 10, 16 << 20) == 0 &&
        fst_space_add_levels(space, "map", maps, 3) == 0)
        search = fst_search_new(space, &options);
    fst_space_free(space);
    return search;
}

int main(int argc, char **argv)
{
    struct fst_search *search = argc == 3 ? new_search(atof(argv[2])) : NULL;
    struct fst_answer answer;
    struct fst_run run;
    if (search == NULL) {
        fputs("usage: sqlite_settings FILE SECONDS\n", stderr);
        return 2;
    }
    double start = now_seconds(), from;
    while (fst_ask(search, now_seconds() - start, &run) == 1) {
        struct fst_result result = {0};
        from = now_seconds();
        int measured = measure(argv[1], run.values, &result);
        result.cost = now_seconds() - from;
        if (measured)
            fst_tell_result(search, &run, &result);
        else
            fst_fail(search, &run, result.cost);
    }
    unlink(argv[1]);
    if (fst_answer(search, &answer) < 0) {
        fputs("nothing could be measured\n", stderr);
        return 1;
    }
    printf("PRAGMA page_size=%.0f; PRAGMA cache_size=-%.0f; PRAGMA mmap_size=%.0f;\n",
           answer.recommended.values[0], answer.recommended.values[1] / 1024, answer.recommended.values[2]);
    printf("%.0f look-ups per second, at least %.0f %% of the best%s\n", answer.recommended.value,
           100 * (1 - answer.shortfall), answer.conclusive ? "" : ", not conclusive");
    fst_search_free(search);
    return 0;
}
