/* Tests of bench/base/units: what is accepted, what is refused, and the round trip. */
#include "bench/base/rng.h"
#include "bench/base/units.h"
#include "tests/test.h"

#include <errno.h>
#include <locale.h>

struct integer_row {
    const char *text;
    int result;
    uint64_t value;
};

/* `untouched` must survive a refusal. */
static void check_integers(int (*parse)(const char *, uint64_t *), const struct integer_row *rows, size_t n)
{
    const uint64_t untouched = 0x123456789abcdef0ULL;
    for (size_t i = 0; i < n; i++) {
        uint64_t value = untouched;
        int r = parse(rows[i].text, &value);
        if (r != rows[i].result || value != (r == 0 ? rows[i].value : untouched))
            fail_msg("\"%s\": result %d, value %llu", rows[i].text, r, (unsigned long long)value);
    }
}

/* Other ways to write them than the printed one, which is read back below. */
TEST(sizes_are_powers_of_1024)
{
    const struct integer_row rows[] = {
        {"4096", 0, 4096},
        {"4K", 0, 4096},
        {"0k", 0, 0},
        {"007", 0, 7},
        {"1M", 0, 1ULL << 20},
        {"2G", 0, 2ULL << 30},
        {"1T", 0, 1ULL << 40},
        {"16777215t", 0, 16777215ULL << 40},
        {"18014398509481983k", 0, 18014398509481983ULL << 10},
    };
    check_integers(units_parse_size, rows, N_OF(rows));
}

TEST(sizes_of_another_form_are_einval)
{
    const char *const texts[] = {"",     "k",     "4q",   "-1",   "+4k",   " 4k", "4k ",  "4 k",  "0x10",
                                 "4kk",  "1e99k", "1e3",  "1.5k", "4,096", "4kb", "4kib", "4KiB", "4b",
                                 "4k\n", "\t4k",  "four", "٤",    "1_000", "0b1", "4p",   "inf",  "nan",
                                 "4.",   ".5",    "4k4",  "4 ",   "--4",   "4-"};
    check_integers(units_parse_size, &(struct integer_row){"99999999999999999999q", -EINVAL, 0}, 1);
    for (size_t i = 0; i < N_OF(texts); i++)
        check_integers(units_parse_size, &(struct integer_row){texts[i], -EINVAL, 0}, 1);
}

TEST(sizes_beyond_64_bits_are_erange)
{
    const char *const texts[] = {"18446744073709551616",       "16777216t",    "18014398509481984k",
                                 "99999999999999999999999999", "17179869184g", "36893488147419103232"};
    for (size_t i = 0; i < N_OF(texts); i++)
        check_integers(units_parse_size, &(struct integer_row){texts[i], -ERANGE, 0}, 1);
}

TEST(durations_need_a_unit)
{
    const struct integer_row rows[] = {
        {"250ms", 0, 250000000},
        {"60s", 0, 60000000000},
        {"10m", 0, 600000000000},
        {"2h", 0, 7200000000000},
        {"100us", 0, 100000},
        {"500ns", 0, 500},
        {"0s", 0, 0},
        {"1.5s", 0, 1500000000},
        {"0.1s", 0, 100000000},
        {"0.3s", 0, 300000000},
        {"0.001ms", 0, 1000},
        {"2.000000001s", 0, 2000000001},
        {"1.25h", 0, 4500000000000},
        {"1.0000000000000000000000000s", 0, 1000000000},
        {"0.99999999999999999999999999999999s", 0, 1000000000},
        {"0.5ns", 0, 1},
        {"0.4ns", 0, 0},
        {"18446744073709551615ns", 0, UINT64_MAX},
        {"18446744073709551616ns", -ERANGE, 0},
        {"18446744073709551615.5ns", -ERANGE, 0},
        {"18446744074s", -ERANGE, 0},
        {"5124096h", -ERANGE, 0},
        {"99999999999999999999999h", -ERANGE, 0},
    };
    const char *const wrong[] = {"10",  "0",    "",       "s",    "-1s",  "+1s",   " 1s",
                                 "1s ", "1 s",  "1S",     "1sec", "1ss",  "1d",    "1.s",
                                 ".5s", "1,5s", "1.5.5s", "1e3s", "0x1s", "1m30s", "infs"};
    check_integers(units_parse_duration, rows, N_OF(rows));
    for (size_t i = 0; i < N_OF(wrong); i++)
        check_integers(units_parse_duration, &(struct integer_row){wrong[i], -EINVAL, 0}, 1);
}

/* Exactly the literal, so that a share that is printed reads as it was written. */
static void check_share(const char *text, int result, double expected)
{
    double share = -7;
    int r = units_parse_share(text, &share);
    if (r != result || share != (r == 0 ? expected : -7))
        fail_msg("\"%s\": result %d, share %.17g", text, r, share);
}

TEST(other_spellings_of_sizes_are_guessed)
{
    static const char *const rows[][2] = {
        {"10GB", "10g"},   {"10 GiB", "10g"}, {"10Gi/s", "10g"}, {"4KiB", "4k"},
        {"64kB", "64k"},   {"4KB", "4k"},     {"4096B", "4k"},   {"1000 bytes", "1000"},
        {"1.5g", "1536m"}, {"0.5k", "512"},   {"0.1m", "102k"},  {"500MB/s", "500m"},
        {"2tb", "2t"},     {"1.5", ""},       {"4q", ""},        {"GB", ""},
        {"-4kB", ""},      {"0GB", ""},       {"10GBB", ""},     {"10g b/m", ""},
        {"1e3k", ""},      {"", ""},          {"10.GB", ""},     {"99999999999tb", ""},
    };
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++) {
        snprintf(text, sizeof text, "untouched");
        int result = units_guess_size(rows[i][0], text);
        assert_int_equal(result, rows[i][1][0] != '\0' ? 0 : -EINVAL);
        assert_string_equal(text, result == 0 ? rows[i][1] : "untouched");
    }
}

TEST(other_spellings_of_durations_are_guessed)
{
    static const char *const rows[][2] = {
        {"10min", "10m"},      {"10 minutes", "10m"},
        {"90 S", "90s"},       {"1h30m", "90m"},
        {"1h 30min", "90m"},   {"2d", "48h"},
        {"1.5 days", "36h"},   {"5\302\265s", "5us"},
        {"5\316\274s", "5us"}, {"100usec", "100us"},
        {"60secs", "1m"},      {"250MS", "250ms"},
        {"3hrs", "3h"},        {"60", ""},
        {"0min", ""},          {"min", ""},
        {"10parsecs", ""},     {"1e3s", ""},
        {"-5min", ""},         {"", ""},
        {"10min5", ""},        {"999999999999hours", ""},
    };
    char text[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++) {
        snprintf(text, sizeof text, "untouched");
        int result = units_guess_duration(rows[i][0], text);
        if (result != (rows[i][1][0] != '\0' ? 0 : -EINVAL))
            fail_msg("'%s' is %d, '%s'", rows[i][0], result, text);
        assert_string_equal(text, result == 0 ? rows[i][1] : "untouched");
    }
}

TEST(some_shares_may_be_more_than_all)
{
    double share = -7;
    assert_int_equal(units_parse_share_to("150%", 500, &share), 0);
    assert_close(share, 1.5, 0);
    assert_int_equal(units_parse_share_to("500.1%", 500, &share), -ERANGE);
    assert_int_equal(units_parse_share_to("1.5", 500, &share), -EINVAL);
    assert_int_equal(units_parse_share("150%", &share), -ERANGE);
}

TEST(shares_need_a_form_that_cannot_be_misread)
{
    const struct {
        const char *text;
        int result;
        double share;
    } rows[] = {
        {"3%", 0, 0.03},
        {"0.03", 0, 0.03},
        {"95%", 0, 0.95},
        {"0.95", 0, 0.95},
        {"0", 0, 0.0},
        {"0%", 0, 0.0},
        {"0.0", 0, 0.0},
        {"1.0", 0, 1.0},
        {"1.000", 0, 1.0},
        {"100%", 0, 1.0},
        {"100.0%", 0, 1.0},
        {"2.5%", 0, 0.025},
        {"99.9%", 0, 0.999},
        {"0.1%", 0, 0.001},
        {"0.1", 0, 0.1},
        {"0.0001", 0, 0.0001},
        {"0.03000000000000000000000000000001", 0, 0.03},
        {"101%", -ERANGE, 0},
        {"100.1%", -ERANGE, 0},
        {"18446744073709551616%", -ERANGE, 0},
    };
    const char *const wrong[] = {"1",   "3",    "1.5",  "3.0", "100", "",     "%",
                                 "-3%", "+3%",  " 3%",  "3 %", "3% ", "3%%",  ".03",
                                 "0.",  "0,03", "3e-2", "nan", "inf", "0x1%", "18446744073709551616"};
    for (size_t i = 0; i < N_OF(rows); i++)
        check_share(rows[i].text, rows[i].result, rows[i].share);
    for (size_t i = 0; i < N_OF(wrong); i++)
        check_share(wrong[i], -EINVAL, 0);
}

TEST(counts_are_digits_up_to_a_maximum)
{
    const struct {
        const char *text;
        uint64_t max;
        int result;
    } rows[] = {
        {"0", 0, 0},
        {"1", 0, -ERANGE},
        {"64", 64, 0},
        {"65", 64, -ERANGE},
        {"", 64, -EINVAL},
        {"-1", 64, -EINVAL},
        {"+1", 64, -EINVAL},
        {" 1", 64, -EINVAL},
        {"1 ", 64, -EINVAL},
        {"1k", 64, -EINVAL},
        {"1.0", 64, -EINVAL},
        {"0x1", 64, -EINVAL},
        {"18446744073709551615", UINT64_MAX, 0},
        {"18446744073709551616", UINT64_MAX, -ERANGE},
        {"18446744073709551616x", UINT64_MAX, -EINVAL},
    };
    for (size_t i = 0; i < N_OF(rows); i++) {
        uint64_t count = 77;
        assert_int_equal(units_parse_count(rows[i].text, rows[i].max, &count), rows[i].result);
        if (rows[i].result < 0)
            assert_int_equal(count, 77);
        else
            assert_int_equal(count, strtoull(rows[i].text, NULL, 10));
    }
}

TEST(sizes_are_printed_exactly)
{
    const struct integer_row rows[] = {
        {"0", 0, 0},
        {"1", 0, 1},
        {"512", 0, 512},
        {"4608", 0, 4608},
        {"4k", 0, 4096},
        {"1023k", 0, 1023 << 10},
        {"1m", 0, 1 << 20},
        {"1536k", 0, 3 << 19},
        {"2g", 0, 2ULL << 30},
        {"1t", 0, 1ULL << 40},
        {"1024t", 0, 1ULL << 50},
        {"18446744073709551615", 0, UINT64_MAX},
    };
    char buffer[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_string_equal(units_format_size(rows[i].value, buffer), rows[i].text);
    check_integers(units_parse_size, rows, N_OF(rows));
}

TEST(printed_sizes_are_read_back)
{
    struct rng rng;
    rng_init(&rng, 1);
    for (int i = 0; i < 10000; i++) {
        uint64_t bytes = rng_next(&rng) >> (rng_next(&rng) % 64) << (rng_next(&rng) % 64), back = ~bytes;
        char buffer[UNITS_TEXT_SIZE];
        assert_int_equal(units_parse_size(units_format_size(bytes, buffer), &back), 0);
        assert_int_equal(back, bytes);
    }
}

struct real_row {
    double value;
    const char *text;
};

TEST(rates_have_three_digits_and_decimal_units)
{
    const struct real_row rows[] = {
        {0, "0 B/s"},
        {5, "5 B/s"},
        {512, "512 B/s"},
        {0.5, "0.500 B/s"},
        {57.34, "57.3 B/s"},
        {999, "999 B/s"},
        {999.4, "999 B/s"},
        {999.6, "1.00 kB/s"},
        {1000, "1.00 kB/s"},
        {873e3, "873 kB/s"},
        {9.994e6, "9.99 MB/s"},
        {9.996e6, "10.0 MB/s"},
        {99.94e6, "99.9 MB/s"},
        {99.96e6, "100 MB/s"},
        {999.6e6, "1.00 GB/s"},
        {1.21e9, "1.21 GB/s"},
        {1.05e9, "1.05 GB/s"},
        {1.006e12, "1.01 TB/s"},
        {4.2e15, "4.20 PB/s"},
        {9e20, "900 EB/s"},
        {1e21, "> 999 EB/s"},
        {1e300, "> 999 EB/s"},
        {-1, "n/a"},
        {NAN, "n/a"},
        {INFINITY, "n/a"},
        {0.0001, "0.000 B/s"},
    };
    char buffer[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_string_equal(units_format_rate(rows[i].value, buffer), rows[i].text);
}

TEST(bytes_have_three_digits_and_decimal_units)
{
    char buffer[UNITS_TEXT_SIZE];
    assert_string_equal(units_format_bytes(0, buffer), "0 B");
    assert_string_equal(units_format_bytes(999, buffer), "999 B");
    assert_string_equal(units_format_bytes(4096, buffer), "4.10 kB");
    assert_string_equal(units_format_bytes(46100000000, buffer), "46.1 GB");
    assert_string_equal(units_format_bytes(1ULL << 30, buffer), "1.07 GB");
    assert_string_equal(units_format_bytes(UINT64_MAX, buffer), "18.4 EB");
}

TEST(durations_have_three_digits_then_minutes_then_hours)
{
    const struct integer_row rows[] = {
        {"0 ns", 0, 0},
        {"183 ns", 0, 183},
        {"183 us", 0, 183000},
        {"12.1 ms", 0, 12100000},
        {"999 us", 0, 999400},
        {"1.00 ms", 0, 999600},
        {"38.0 s", 0, 38000000000},
        {"59.9 s", 0, 59949999999},
        {"1m 0s", 0, 59950000000},
        {"1m 40s", 0, 99600000000},
        {"10m 0s", 0, 600000000000},
        {"59m 59s", 0, 3599499999999},
        {"1h 0m", 0, 3599500000000},
        {"2h 5m", 0, 7500000000000},
        {"2h 6m", 0, 7530000000000},
        {"49h 0m", 0, 49 * 3600000000000},
    };
    char buffer[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_string_equal(units_format_duration(rows[i].value, buffer), rows[i].text);
    assert_true(strlen(units_format_duration(UINT64_MAX, buffer)) < UNITS_TEXT_SIZE);
}

TEST(counts_have_three_digits)
{
    const struct real_row rows[] = {
        {0, "0"},          {7, "7"},           {57.34, "57.3"}, {999, "999"},
        {366000, "366 k"}, {1.21e6, "1.21 M"}, {3e9, "3.00 G"}, {NAN, "n/a"},
    };
    char buffer[UNITS_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_string_equal(units_format_count(rows[i].value, buffer), rows[i].text);
}

TEST(a_decimal_comma_changes_nothing)
{
    const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "ru_RU.UTF-8", "fr_FR.UTF-8"};
    char buffer[UNITS_TEXT_SIZE];
    size_t i = 0;
    while (i < N_OF(locales) && !setlocale(LC_ALL, locales[i]))
        i++;
    if (i == N_OF(locales))
        skip();
    snprintf(buffer, sizeof(buffer), "%.1f", 1.5);
    assert_string_equal(buffer, "1,5");
    double share = 0;
    uint64_t ns = 0;
    int share_result = units_parse_share("0.03", &share), ns_result = units_parse_duration("1.5s", &ns);
    units_format_rate(1.21e9, buffer);
    setlocale(LC_ALL, "C");
    assert_int_equal(share_result, 0);
    assert_close(share, 0.03, 0);
    assert_int_equal(ns_result, 0);
    assert_int_equal(ns, 1500000000);
    assert_string_equal(buffer, "1.21 GB/s");
}
