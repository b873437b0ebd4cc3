/* Tests of tuner/options/options_set_rate and skew_text: --rate, --skew, --compressible, --dedupe. */
#include "tests/tuner/options/options_rig.h"
#include "tuner/options/skew_text.h"

static void check_rates(const char *text, enum settings_rate_unit unit, size_t n, const double *values)
{
    assert_int_equal(MEASURE("--rate", text), 0);
    const struct settings_rates *rates = &settings.workload.rates;
    assert_int_equal(rates->unit, unit);
    assert_int_equal(rates->n, n);
    for (size_t i = 0; i < n; i++)
        assert_close(rates->value[i], values[i], 1e-9 * values[i]);
}

TEST(rates_are_shares_bytes_or_requests)
{
    check_rates("10%..100%", SETTINGS_RATE_SHARE, 10,
                (double[]){0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1});
    check_rates("25%..50%", SETTINGS_RATE_SHARE, 4, (double[]){0.25, 0.35, 0.45, 0.5});
    check_rates("5%,50%,110%", SETTINGS_RATE_SHARE, 3, (double[]){0.05, 0.5, 1.1});
    check_rates("1m..5m", SETTINGS_RATE_BPS, 4, (double[]){1 << 20, 2 << 20, 4 << 20, 5 << 20});
    check_rates("200m", SETTINGS_RATE_BPS, 1, (double[]){200 << 20});
    check_rates("100iops..400iops,1000iops", SETTINGS_RATE_IOPS, 4, (double[]){100, 200, 400, 1000});
    check_rates("50%..50%", SETTINGS_RATE_SHARE, 1, (double[]){0.5});
}

TEST(rates_that_mean_nothing_are_refused)
{
    static const char *const wrong[] = {"",      "0%",        "50",     "iops",  "0iops",
                                        "1.5%",  "50%,50%",   "10%,1g", "2g,1g", "90%..10%",
                                        "1k..%", "1%..1000%", "5%,",    "-5%"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        if (MEASURE("--rate", wrong[i]) != -EINVAL || err.text[0] == '\0')
            fail_msg("'%s' was taken, or refused without a word: '%s'", wrong[i], err.text);
    }
}

TEST(a_skew_is_read_and_written)
{
    static const char *const texts[] = {"zipf:0.99", "zipf:1", "zipf:10", "hot:10%:90%", "hot:0.1%:99.9%"};
    char text[SKEW_TEXT_SIZE];
    for (size_t i = 0; i < N_OF(texts); i++) {
        assert_int_equal(RECOMMEND("--skew", texts[i]), 0);
        assert_string_equal(skew_text_format(&settings.workload.skew, text), texts[i]);
    }
    assert_int_equal(RECOMMEND("--skew", "hot:0.2:80%"), 0);
    assert_string_equal(skew_text_format(&settings.workload.skew, text), "hot:20%:80%");
    assert_string_equal(skew_text_format(&(struct skew){0}, text), "");
}

TEST(a_skew_that_is_none_is_refused)
{
    static const char *const wrong[] = {"zipf",        "zipf:",    "zipf:0",     "zipf:11", "zipf:nan",
                                        "zipf:1e1",    "hot:10%",  "hot:10:90",  "hot::",   "hot:0%:90%",
                                        "hot:5%:100%", "zipf:0x1", "zipf:0.99 ", "even"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        if (RECOMMEND("--skew", wrong[i]) != -EINVAL || strstr(err.text, "zipf:0.99") == NULL)
            fail_msg("'%s': '%s'", wrong[i], err.text);
    }
}

TEST(shares_of_content_are_read)
{
    assert_int_equal(RECOMMEND("--compressible", "50%", "--dedupe=0.3"), 0);
    assert_close(settings.workload.content.zero_share, 0.5, 1e-12);
    assert_close(settings.workload.content.repeat_share, 0.3, 1e-12);
    assert_int_equal(RECOMMEND("--compressible", "99%"), -EINVAL);
    assert_int_equal(RECOMMEND("--dedupe", "50"), -EINVAL);
}

TEST(a_key_that_stands_twice_in_a_load_is_refused)
{
    static const char *const twice[] = {"rate=1m,rate=2m", "sync=each,rate=1m,sync=none", "direct=0,direct=0",
                                        "queue_depth=1,direct=1,queue_depth=1"};
    for (size_t i = 0; i < N_OF(twice); i++) {
        char load[128];
        snprintf(load, sizeof load, "write:8k,%s", twice[i]);
        assert_int_equal(RECOMMEND("--beside", load), -EINVAL);
        assert_non_null(strstr(err.text, "twice"));
    }
    assert_int_equal(RECOMMEND("--beside=write:8k,rate=1m", "--beside=write:8k,rate=1m"), 0);
}
