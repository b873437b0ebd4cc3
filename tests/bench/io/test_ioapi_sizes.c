/* Calls of two sizes through every row of ioapi_table that takes them: all but pvec. */
#include "tests/bench/io/ioapi_rig.h"

#define REQUEST_BYTES 4096

/* Calls of unlike sizes in one queue: each moves its own bytes and no more. */
static void calls_of_two_sizes_move_their_own_bytes(void **state)
{
    (void)state;
    enum { n = 24, large = 4 * REQUEST_BYTES };
    AUTO(auto_close) int fd = rig_file(".", 0);
    static unsigned char file[n * large];
    uint64_t offsets[n];
    struct rig_outcome outcome;
    AUTO(rig_close) struct rig rig;
    size_t n_whole[2] = {0};
    if (row->api == API_PVEC)
        skip(); /* one vector, one size */
    rig_fill(file, 0, sizeof(file), 5);
    assert_int_equal(pwrite(fd, file, sizeof(file), 0), sizeof(file));
    if (row->probe(NULL) < 0)
        skip();
    assert_int_equal(rig_open(&rig, row, fd, 8, large, false), 0);
    rig.salt = 5;
    for (uint32_t slot = 0; slot < rig.config.n_calls; slot += 2)
        rig.calls[slot].size_bytes = REQUEST_BYTES;
    rig_shuffle(offsets, n, large);
    assert_int_equal(rig_run(&rig, false, offsets, n, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.n_whole, n);
    rig.salt = 6;
    assert_int_equal(rig_run(&rig, true, offsets, n, RIG_DEPTH_MAX, &outcome), 0);
    assert_int_equal(outcome.n_whole, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char block[large];
        assert_int_equal(pread(fd, block, large, (off_t)(i * large)), large);
        bool is_large = rig_matches(block, i * large, large, 6);
        n_whole[is_large]++;
        if (!is_large) {
            assert_true(rig_matches(block, i * large, REQUEST_BYTES, 6));
            assert_true(
                rig_matches(block + REQUEST_BYTES, i * large + REQUEST_BYTES, large - REQUEST_BYTES, 5));
        }
    }
    assert_true(n_whole[0] > 0 && (rig.config.n_calls == 1 || n_whole[1] > 0));
}

static const struct rig_case cases[] = {
    RIG_CASE(calls_of_two_sizes_move_their_own_bytes),
};

int main(void)
{
    return rig_run_cases("bench/ioapi_sizes", cases, N_OF(cases));
}
