/* The sentence of tuner/writes/write_advice: where another way of writing takes over. */
#include "tests/test.h"
#include "tuner/writes/write_advice.h"

#define MB 1000000.0

static struct write_advice_crossings crossings;
static char text[WRITE_ADVICE_LINE_SIZE];

/* Buffered and direct, with direct so many times as slow. */
static const char *line(uint64_t bytes, double ratio)
{
    const struct cawl_advice_burst burst = {.bytes = bytes, .request_bytes = 1};
    const struct cawl_advice_cost cost = {
        .seconds = {[CAWL_ADVICE_BUFFERED] = 1, [CAWL_ADVICE_DIRECT] = ratio}};
    crossings.first = CAWL_ADVICE_BUFFERED;
    write_advice_line(&crossings, &burst, &cost, text, sizeof text);
    return text;
}

FIXTURE(enter)
{
    crossings = (struct write_advice_crossings){0};
    return 0;
}

EACH_TEST(enter, NULL);

TEST(ways_that_never_cross_say_so)
{
    assert_string_equal(line(5000000, 2),
                        "buffered is 2.00 times as fast as direct for a burst of 5.00 MB, and the "
                        "faster one for every burst");
    crossings.n_clear = 1;
    crossings.clear[0] = (struct cawl_advice_crossing){70 * MB, true};
    assert_string_equal(
        line(5000000, 2),
        "buffered is 2.00 times as fast as direct for a burst of 5.00 MB, and clearly faster up to "
        "about 70.0 MB per burst; beyond, by less than 10 %");
}

TEST(every_crossing_is_told_from_where_the_burst_is)
{
    crossings.n = 3;
    crossings.at[0] = (struct cawl_advice_crossing){1 * MB, false};
    crossings.at[1] = (struct cawl_advice_crossing){20 * MB, true};
    crossings.at[2] = (struct cawl_advice_crossing){300 * MB, false};
    assert_non_null(strstr(line(500000, 0.5), "direct is 2.00 times as fast as buffered"));
    assert_non_null(strstr(text,
                           ", and the faster one up to about 1.00 MB per burst; beyond, buffered, beyond "
                           "20.0 MB direct, beyond 300 MB buffered"));
    assert_non_null(strstr(line(5000000, 2),
                           ", and the faster one from about 1.00 MB up to about 20.0 MB per "
                           "burst; below, direct; beyond, direct, beyond 300 MB buffered"));
    assert_non_null(strstr(line(500000000, 2),
                           ", and the faster one from about 300 MB per burst on; below, direct, "
                           "below 20.0 MB buffered, below 1.00 MB direct"));
}
