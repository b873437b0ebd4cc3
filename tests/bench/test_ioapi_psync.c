/* tests/bench/test_ioapi_psync: the transfer at once, which the pump uses at depth 1. What all ways of doing
 * I/O have in common is in test_ioapi.c. */
#include "tests/bench/ioapi_rig.h"

#include <errno.h>

#define REQUEST_BYTES 4096

static void what_a_transfer_writes_a_transfer_reads(void **state)
{
    int fd = rig_file("/tmp", 0);
    struct rig rig;
    (void)state;
    assert_int_equal(rig_open(&rig, &ioapi_psync, fd, 1, REQUEST_BYTES, true), 0);
    struct io_call call = rig.calls[0];
    call.is_write = true;
    call.offset_bytes = REQUEST_BYTES;
    rig_fill(call.buffer, call.offset_bytes, REQUEST_BYTES, 7);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call), REQUEST_BYTES);
    call.is_write = false;
    memset(call.buffer, 0, REQUEST_BYTES);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call), REQUEST_BYTES);
    assert_true(rig_matches(call.buffer, call.offset_bytes, REQUEST_BYTES, 7));
    rig_close(&rig);
    close(fd);
}

static void short_and_failed_transfers_are_outcomes(void **state)
{
    int fd = rig_file("/tmp", 0), read_only = rig_reopen(fd, O_RDONLY);
    struct rig rig;
    (void)state;
    assert_int_equal(ftruncate(fd, 512), 0);
    assert_int_equal(rig_open(&rig, &ioapi_psync, read_only, 1, REQUEST_BYTES, false), 0);
    struct io_call call = rig.calls[0];
    call.is_write = false;
    call.offset_bytes = 0;
    assert_int_equal(ioapi_psync.transfer(rig.io, &call), 512);
    call.is_write = true;
    assert_int_equal(ioapi_psync.transfer(rig.io, &call), -EBADF);
    rig_close(&rig);
    close(read_only);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_transfer_writes_a_transfer_reads),
        cmocka_unit_test(short_and_failed_transfers_are_outcomes),
    };
    return cmocka_run_group_tests_name("bench/ioapi_psync", tests, NULL, NULL);
}
