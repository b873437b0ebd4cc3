/* Tests of tuner/base/text: figures that may be unknown or negative. */
#include "bench/base/units.h"
#include "tests/test.h"
#include "tuner/base/text.h"

GROUP(NULL, NULL);

TEST(a_duration_may_be_unknown_and_a_difference_negative)
{
    char text[UNITS_TEXT_SIZE];
    assert_string_equal(text_short_duration(71300, text), "71.3 us");
    assert_string_equal(text_short_duration(-1.2e6, text), "-1.20 ms");
    assert_string_equal(text_short_duration(0, text), "0 ns");
    assert_string_equal(text_short_duration(NAN, text), "-");
    assert_string_equal(text_short_duration(INFINITY, text), "-");
}
