/* Tests of tuner/options/options_set_members: --path, --existing and --destroy-device more than once. */
#include "tests/tuner/options/options_rig.h"

TEST(places_and_sizes_of_devices_are_collected)
{
    assert_int_equal(RECOMMEND("--path=a", "--path=b", "--path=c"), 0);
    assert_int_equal(settings_n_places(&settings), 3);
    assert_string_equal(settings_nth_place(&settings, 0), "a");
    assert_string_equal(settings_nth_place(&settings, 2), "c");
    assert_int_equal(RECOMMEND("--existing=x", "--path=a"), 0);
    assert_int_equal(settings_n_places(&settings), 1);
    assert_string_equal(settings_nth_place(&settings, 0), "x");
    assert_int_equal(RECOMMEND("--existing=x", "--existing=y", "--overwrite", "--destroy-device=1m",
                               "--destroy-device=2m"),
                     0);
    assert_true(settings.file.n_destroy_device == 2 && settings.file.destroy_device_bytes[1] == 2U << 20);
    assert_int_equal(RECOMMEND("--path=1", "--path=2", "--path=3", "--path=4", "--path=5", "--path=6",
                               "--path=7", "--path=8", "--path=9"),
                     -EINVAL);
    assert_int_equal(PARSE(OPTIONS_EXPERIMENT, "--path=a", "--path=b"), -EINVAL);
}
