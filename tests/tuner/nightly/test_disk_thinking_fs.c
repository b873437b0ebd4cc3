/* Tests of tuner/nightly/disk: choosing has its share of a processor and no more. */
#include "bench/base/clock.h"
#include "tests/tuner/nightly/disk_rig.h"

#define BLOCK   (64U << 10)
#define SHARE   1e-6                  /* the rest is longer than the three seconds that are looked at */
#define MOST_NS (20 * CLOCK_NS_PER_S) /* until there is a first thought, on a busy machine */

static struct disk_gate_client client;
static unsigned char block[BLOCK];

static void read_one(uint64_t i)
{
    uint64_t offset = i * 7 % (RIG_IMAGE_BYTES / BLOCK) * BLOCK;
    assert_int_equal(disk_read(&rig.served, &client, block, BLOCK, offset), 0);
}

static void look(uint64_t *ret_thinking_ns, uint64_t *ret_rest_until_ns)
{
    pthread_mutex_lock(&rig.served.gate.lock);
    *ret_thinking_ns = rig.served.thinking_ns;
    *ret_rest_until_ns = rig.served.rest_until_ns;
    pthread_mutex_unlock(&rig.served.gate.lock);
}

TEST(the_next_thought_waits_until_the_last_one_is_paid_for)
{
    const struct disk_options options = {
        .path = rig.path, .regret_share = 0.5, .thinking_share = SHARE, .say = rig_say};
    uint64_t first_ns = 0, later_ns, rest_ns = 0, began_ns = clock_now_ns(&clock_monotonic), i = 0;
    assert_int_equal(disk_open(&rig.served, &options, &rig.err), 0);
    while (first_ns == 0 && clock_now_ns(&clock_monotonic) - began_ns < MOST_NS) {
        read_one(i++);
        look(&first_ns, &rest_ns);
    }
    assert_true(first_ns > 0);
    assert_true(rest_ns - began_ns >= (uint64_t)((double)first_ns * (1 / SHARE - 1)));
    uint64_t end_ns = clock_now_ns(&clock_monotonic) + 3 * CLOCK_NS_PER_S;
    while (clock_now_ns(&clock_monotonic) < (rest_ns < end_ns ? rest_ns : end_ns) - CLOCK_NS_PER_S / 100)
        read_one(i++);
    look(&later_ns, &rest_ns);
    assert_true(later_ns == first_ns);
    CHECK_HAS(rig_ask("status"), "\nthinking: 0.0");
    disk_close(&rig.served);
}
