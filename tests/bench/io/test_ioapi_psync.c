/* tests/bench/io/test_ioapi_psync: the transfer at once, which the pump uses at depth 1. What all ways of
 * doing I/O have in common is in test_ioapi.c. */
#include "tests/bench/io/ioapi_rig.h"

#include <errno.h>

#define REQUEST_BYTES 4096

static struct rig rig;
static int file;

FIXTURE(enter)
{
    file = rig_file("/tmp", 0);
    return rig_open(&rig, &ioapi_psync, file, 1, REQUEST_BYTES, true);
}

FIXTURE(leave)
{
    rig_close(&rig);
    return close(file);
}

EACH_TEST(enter, leave);

/* One call where it already points to. */
static int64_t transfer(struct io_call *call)
{
    size_t n = ioapi_psync.transfer(rig.io, call, &call->offset_bytes, 1, NULL);
    assert_int_equal(n, call->result == (int64_t)call->size_bytes ? 1 : 0);
    return call->result;
}

TEST(what_a_transfer_writes_a_transfer_reads)
{
    struct io_call call = rig.calls[0];
    call.is_write = true;
    call.offset_bytes = REQUEST_BYTES;
    rig_fill(call.buffer, call.offset_bytes, REQUEST_BYTES, 7);
    assert_int_equal(transfer(&call), REQUEST_BYTES);
    call.is_write = false;
    memset(call.buffer, 0, REQUEST_BYTES);
    assert_int_equal(transfer(&call), REQUEST_BYTES);
    assert_true(rig_matches(call.buffer, call.offset_bytes, REQUEST_BYTES, 7));
}

TEST(short_and_failed_transfers_are_outcomes)
{
    AUTO(auto_close) int read_only = rig_reopen(file, O_RDONLY);
    struct io_call call = rig.calls[0];
    call.fd = read_only;
    assert_int_equal(ftruncate(file, 512), 0);
    assert_int_equal(transfer(&call), 512);
    rig_fill(call.buffer, 0, REQUEST_BYTES, 7);
    call.is_write = true;
    assert_int_equal(transfer(&call), -EBADF);
}

TEST(a_row_of_transfers_ends_at_the_first_that_is_not_whole)
{
    static const uint64_t offsets_bytes[] = {2 * REQUEST_BYTES, 0, 3 * REQUEST_BYTES, REQUEST_BYTES};
    struct io_call call = rig.calls[0];
    assert_int_equal(ftruncate(file, 3 * REQUEST_BYTES + 512), 0);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call, offsets_bytes, 2, NULL), 2);
    assert_int_equal(call.result, REQUEST_BYTES);
    assert_int_equal(call.offset_bytes, 0);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call, offsets_bytes, 4, NULL), 2);
    assert_int_equal(call.result, 512);
    assert_int_equal(call.offset_bytes, 3 * REQUEST_BYTES);
}

TEST(a_row_of_transfers_is_stopped_by_the_flag)
{
    static const uint64_t offsets_bytes[] = {0, 0};
    struct io_call call = rig.calls[0];
    atomic_int stop = 0;
    assert_int_equal(ftruncate(file, REQUEST_BYTES), 0);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call, offsets_bytes, 2, &stop), 2);
    atomic_store(&stop, 1);
    assert_int_equal(ioapi_psync.transfer(rig.io, &call, offsets_bytes, 2, &stop), 0);
}
