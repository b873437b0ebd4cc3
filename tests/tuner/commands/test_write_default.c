/* Tests of tuner/commands/write_default: how the limit follows the budget and the device. */
#include "tests/test.h"
#include "tuner/commands/write_default.h"

#define GIB (1ULL << 30)
#define S   1000000000ULL

TEST(the_limit_follows_the_budget_and_the_device)
{
    static const struct {
        uint64_t budget_ns, ssd_bytes, expected;
    } cases[] = {
        {60 * S, 0, 64 * GIB},
        {5 * S, 0, 64 * GIB},
        {300 * S, 0, 320 * GIB},
        {60 * S, 512 * GIB, 32 * GIB},
        {60 * S, 4096 * GIB, 64 * GIB},
        {600 * S, 4096 * GIB, 256 * GIB},
        {60 * S, 500107862016, 29 * GIB}, /* 500 GB: a sixteenth is 29.1 GiB */
        {60 * S, 32 * GIB, 8 * GIB},
        {604800 * S, 0, 645120 * GIB},
    };
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_int_equal(write_default_bytes(cases[i].budget_ns, cases[i].ssd_bytes), cases[i].expected);
}

/* What was given stays, and so does the limit of what is simulated. */
TEST(only_a_limit_that_is_not_given_is_set)
{
    static struct settings settings;
    settings_init(&settings);
    settings.limits.budget_ns = 120 * S;
    settings.limits.max_write_given = true;
    settings.limits.max_write_bytes = 7;
    write_default_settle(&settings);
    assert_int_equal(settings.limits.max_write_bytes, 7);
    settings.limits.max_write_given = false;
    snprintf(settings.file.simulate, sizeof settings.file.simulate, "surface.conf");
    write_default_settle(&settings);
    assert_int_equal(settings.limits.max_write_bytes, 7);
    settings.file.simulate[0] = '\0';
    snprintf(settings.file.path, sizeof settings.file.path, "no/such/folder");
    write_default_settle(&settings);
    assert_int_equal(settings.limits.max_write_bytes, 128 * GIB);
}
