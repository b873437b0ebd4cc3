/* Tests of models/profile/backlog: what is kept, what is sent, and again from where. */
#include "models/profile/backlog.h"
#include "tests/test.h"

#include <errno.h>

static struct backlog backlog;

static void begin(size_t n)
{
    static struct batch_writer writer;
    memset(&backlog, 0, sizeof backlog);
    for (size_t i = 0; i < n; i++) {
        batch_begin(&writer, BATCH_ROWS, backlog.next);
        batch_add_number(&writer, i);
        batch_finish(&writer);
        backlog_put(&backlog, &writer);
    }
}

/* Sends a whole one. Returns its number. */
static uint64_t send_one(void)
{
    struct batch batch;
    size_t n, n_used;
    const uint8_t *bytes = backlog_pending(&backlog, &n);
    assert_non_null(bytes);
    assert_int_equal(batch_find(bytes, n, &batch, &n_used), 0);
    backlog_sent(&backlog, n);
    return batch.number;
}

TEST(batches_are_kept_until_they_are_released)
{
    size_t n;
    begin(3);
    assert_int_equal(send_one(), 0);
    assert_int_equal(send_one(), 1);
    assert_int_equal(backlog_room(&backlog), BACKLOG_BATCHES - 3);
    backlog_release(&backlog, 1);
    assert_int_equal(backlog_room(&backlog), BACKLOG_BATCHES - 2);
    assert_int_equal(send_one(), 2);
    assert_null(backlog_pending(&backlog, &n));
    backlog_release(&backlog, UINT64_MAX);
    assert_int_equal(backlog_room(&backlog), BACKLOG_BATCHES);
    assert_int_equal(backlog.first, 3);
}

TEST(a_new_link_begins_with_a_whole_batch)
{
    begin(3);
    assert_int_equal(send_one(), 0);
    backlog_sent(&backlog, 5);
    assert_int_equal(backlog_go_back(&backlog, 0, true), 0);
    assert_int_equal(send_one(), 0);
    assert_int_equal(send_one(), 1);
}

TEST(what_is_on_its_way_is_ended_before_sending_goes_back)
{
    size_t n;
    begin(3);
    assert_int_equal(send_one(), 0);
    backlog_sent(&backlog, 5);
    assert_int_equal(backlog_go_back(&backlog, 0, false), 0);
    assert_non_null(backlog_pending(&backlog, &n));
    backlog_sent(&backlog, n);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(send_one(), i);
    assert_null(backlog_pending(&backlog, &n));
}

TEST(what_is_on_its_way_is_not_released)
{
    size_t n;
    begin(2);
    backlog_sent(&backlog, 5);
    backlog_release(&backlog, 2);
    assert_int_equal(backlog.first, 0);
    assert_non_null(backlog_pending(&backlog, &n));
    backlog_sent(&backlog, n);
    backlog_release(&backlog, 2);
    assert_int_equal(backlog.first, 2);
}

TEST(what_is_not_kept_cannot_be_sent_again)
{
    begin(3);
    backlog_release(&backlog, 2);
    assert_int_equal(backlog_go_back(&backlog, 1, true), -EINVAL);
    assert_int_equal(backlog_go_back(&backlog, 4, true), -EINVAL);
    assert_int_equal(backlog_go_back(&backlog, 3, true), 0);
}
