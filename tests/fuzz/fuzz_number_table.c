/* Tables of numbers: what is read is finite and complete, and written out it reads back the same. */
#include "tests/fuzz/fuzz.h"

#include "tuner/impact/number_table.h"

#include <math.h>

static void check_table_again(const struct number_table *table)
{
    char path[FUZZ_PATH_SIZE];
    struct number_table again = {0};
    FILE *out = fuzz_file(path);
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++) {
        FUZZ_CHECK(isfinite(table->values[i]));
        fprintf(out, "%.17g%c", table->values[i], (i + 1) % table->n_columns == 0 ? '\n' : ',');
    }
    FUZZ_CHECK(fflush(out) == 0 && number_table_read(path, &again, NULL) == 0);
    FUZZ_CHECK(again.n_rows == table->n_rows && again.n_columns == table->n_columns);
    for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
        FUZZ_CHECK(again.values[i] == table->values[i]);
    fclose(out);
    number_table_free(&again);
}

FUZZ_FILE(path)
{
    struct number_table table = {0};
    if (fuzz_refused(number_table_read(path, &table, &fuzz_err))) {
        FUZZ_CHECK(table.values == NULL && table.n_rows == 0);
        return;
    }
    FUZZ_CHECK(table.n_rows > 0 && table.n_columns > 0);
    check_table_again(&table);
    number_table_free(&table);
}
