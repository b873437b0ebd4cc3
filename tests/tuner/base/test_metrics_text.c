/* Tests of tuner/base/metrics_text: what a label holds cannot end it. */
#include "tests/test.h"
#include "tuner/base/metrics_text.h"

TEST(a_label_escapes_what_would_end_it)
{
    char text[128] = "";
    FILE *out = fmemopen(text, sizeof(text), "w");
    assert_non_null(out);
    metrics_text_head(out, "a_total", "counter", "How many.");
    metrics_text_value(out, "/a \"b\"\\c\nd");
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "# HELP a_total How many.\n# TYPE a_total counter\n/a \\\"b\\\"\\\\c\\nd");
}
