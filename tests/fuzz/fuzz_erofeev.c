/* Results of Erofeev's benchmark: what is read can be reported in every format, and reads back the same. */
#include "tests/fuzz/fuzz.h"

#include "tuner/experiment/erofeev.h"
#include "tuner/experiment/report_experiment.h"

#include <math.h>

#define MAY_BE_REFUSED 1

static char *written(const json_t *document, enum settings_format format, int expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    FUZZ_CHECK(out != NULL);
    int code = report_experiment(out, document, format, &fuzz_err);
    fclose(out);
    (void)fuzz_refused(code);
    FUZZ_CHECK(code == expected || (expected == MAY_BE_REFUSED && (code == 0 || code == -EINVAL)));
    FUZZ_CHECK(code == 0 || size == 0);
    return text;
}

static double figure(const json_t *point, const char *key)
{
    return json_number_value(json_object_get(point, key));
}

static void check_again(const json_t *document, const char *text)
{
    json_t *again = NULL;
    FILE *in = fmemopen((char *)text, strlen(text), "r");
    FUZZ_CHECK(in != NULL);
    FUZZ_CHECK(erofeev_read(in, "again", &again, NULL) == 0);
    fclose(in);
    const json_t *points = json_object_get(document, "points"), *same = json_object_get(again, "points");
    FUZZ_CHECK(json_equal(json_object_get(document, "factors"), json_object_get(again, "factors")));
    FUZZ_CHECK(json_equal(json_object_get(document, "fixed"), json_object_get(again, "fixed")));
    FUZZ_CHECK(json_array_size(points) == json_array_size(same));
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *a = json_array_get(points, i), *b = json_array_get(same, i);
        FUZZ_CHECK(json_equal(json_object_get(a, "levels"), json_object_get(b, "levels")));
        FUZZ_CHECK(fabs(figure(a, "mean") - figure(b, "mean")) <= 0.5);
        FUZZ_CHECK(fabs(figure(a, "std") - figure(b, "std")) <= 0.5);
    }
    json_decref(again);
}

static void check_document(const json_t *document)
{
    char *text = written(document, FORMAT_EROFEEV, 0);
    check_again(document, text);
    free(text);
    free(written(document, FORMAT_TEXT, 0));
    free(written(document, FORMAT_JSON, 0));
    free(written(document, FORMAT_CSV, -ENODATA));
    free(written(document, FORMAT_CSV_WIDE, 0));
    /* Which of the factors decide others is the matrix's own business. */
    free(written(document, FORMAT_CSV_MATRIX, MAY_BE_REFUSED));
}

FUZZ_FILE(path)
{
    json_t *document = NULL;
    if (fuzz_refused(erofeev_import(path, &document, &fuzz_err)))
        FUZZ_CHECK(document == NULL);
    else
        check_document(document);
    json_decref(document);
}
