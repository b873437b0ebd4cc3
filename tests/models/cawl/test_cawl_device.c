/* models/cawl/cawl_device: what is written in which time, with credit and without. */
#include "models/cawl/cawl_internal.h"

#include "tests/models/cawl/cawl_rig.h"

static struct cawl_device device_of(struct cawl_options options, bool allocates)
{
    struct cawl_host host = cawl_rig_host();

    return cawl_device_of(&host, &options, allocates);
}

TEST(without_credit_time_is_in_proportion)
{
    struct cawl_device device = device_of((struct cawl_options){0}, true);

    assert_close(cawl_device_seconds(&device, 25), 2.5, 1e-12);
    assert_close(cawl_device_bytes(&device, 2.5), 25, 1e-12);
    assert_close(cawl_device_seconds(&device, 0), 0, 0);
    cawl_device_busy(&device, 7);
    cawl_device_idle(&device, 7);
    assert_close(cawl_device_bytes(&device, 2.5), 25, 1e-12);
}

TEST(bytes_and_seconds_are_inverse)
{
    struct cawl_device device = device_of((struct cawl_options){.burst_bytes = 60, .burst_bps = 40}, true);

    for (double seconds = 0; seconds < 5; seconds += 0.37)
        assert_close(cawl_device_seconds(&device, cawl_device_bytes(&device, seconds)), seconds, 1e-12);
    assert_close(cawl_device_bytes(&device, 2), 80, 1e-12);
    assert_close(cawl_device_bytes(&device, 3), 90, 1e-12);
}

TEST(in_pieces_it_writes_as_much_as_at_once)
{
    struct cawl_device device = device_of((struct cawl_options){.burst_bytes = 60, .burst_bps = 40}, true);
    double at_once = cawl_device_bytes(&device, 3.5), sum = 0;

    for (int i = 0; i < 7; i++) {
        sum += cawl_device_bytes(&device, 0.5);
        cawl_device_busy(&device, 0.5);
    }
    assert_close(sum, at_once, 1e-9);
    assert_close(device.credit_bytes, 0, 1e-9);
    cawl_device_idle(&device, 2);
    assert_close(device.credit_bytes, 20, 1e-9);
    cawl_device_idle(&device, 100);
    assert_close(device.credit_bytes, 60, 0);
}

TEST(late_allocation_can_make_the_credit_last_for_ever)
{
    const struct cawl_options options = {.burst_bytes = 60, .burst_bps = 40, .allocation_bps = 8};
    struct cawl_device device = device_of(options, true);

    assert_close(cawl_device_bytes(&device, 1000), 1000 / (1 / 40.0 + 1 / 8.0), 1e-9);
    device = device_of(options, false);
    assert_close(cawl_device_bytes(&device, 2), 80, 1e-12);
}

TEST(writers_share_rate_and_credit)
{
    struct cawl_device device =
        device_of((struct cawl_options){.burst_bytes = 60, .burst_bps = 40, .n_writers = 2}, true);

    assert_close(cawl_device_bytes(&device, 3), 45, 1e-12);
}
