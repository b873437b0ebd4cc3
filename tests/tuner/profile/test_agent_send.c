/* Tests of tuner/profile/agent_send: what an agent says to a manager, which is played here. */
#include "tuner/profile/agent_send.h"

#include "tests/folder.h"

#include <poll.h>

static struct agent_send out;
static struct wire_address address;
static struct wire here;
static struct err err;
static int listening_fd;
static uint64_t n_lost;
static unsigned obeyed;
static uint8_t heard[4 * BATCH_MOST_BYTES];
static size_t n_heard;

static uint64_t lost(void)
{
    return n_lost;
}

static void obey(enum batch_order order)
{
    obeyed |= 1U << order;
}

GROUP(enter_folder, remove_folder);

static int begin(void **state)
{
    static const char *const command[] = {"a", "command", NULL};
    (void)state;
    out = (struct agent_send){.address = "unix:manager",
                              .command = command,
                              .wait_ns = 1000000000U,
                              .sample_ns = 5,
                              .n_lost = lost,
                              .obey = obey};
    here = (struct wire){-1, -1};
    n_lost = n_heard = obeyed = 0;
    if (wire_resolve("unix:manager", &address, &err) < 0 || wire_listen(&address, &listening_fd, &err) < 0)
        return -1;
    return agent_send_open(&out, &err);
}

static int end(void **state)
{
    (void)state;
    wire_close(&out.link);
    wire_close(&here);
    wire_end_listening(&address, listening_fd);
    return 0;
}

/* The next batch that it says; false: it says nothing for now. */
static bool hear(struct batch *ret)
{
    static uint8_t bytes[BATCH_MOST_BYTES];
    size_t n_used;
    for (int i = 0; i < 20; i++) {
        agent_send_step(&out);
        if (here.in_fd < 0)
            wire_accept(listening_fd, &here);
        ssize_t n = here.in_fd >= 0 ? wire_receive(&here, heard + n_heard, sizeof heard - n_heard) : 0;
        n_heard += n > 0 ? (size_t)n : 0;
        if (batch_find(heard, n_heard, ret, &n_used) == 0) {
            memcpy(bytes, heard, n_used);
            n_heard -= n_used;
            memmove(heard, heard + n_used, n_heard);
            ret->body = bytes + BATCH_HEAD_BYTES;
            return true;
        }
        poll(NULL, 0, 5);
    }
    return false;
}

static void order(enum batch_order what, uint64_t kept, uint64_t from)
{
    static struct batch_writer writer;
    batch_begin(&writer, BATCH_ORDER, kept);
    batch_add_number(&writer, what);
    batch_add_number(&writer, from);
    batch_finish(&writer);
    assert_int_equal(wire_send(&here, writer.bytes, writer.n), (ssize_t)writer.n);
}

static void row(uint64_t time_ns)
{
    agent_send_row(&out, &(struct events_row){.kind = EVENTS_READ, .time_ns = time_ns, .n_bytes = 1, .n = 1});
}

/* The time in the first row of a batch. */
static uint64_t time_in(const struct batch *batch)
{
    struct batch_reader reader = batch_read(batch);
    struct batch_item item;
    uint64_t number;
    assert_int_equal(batch_read_number(&reader, &number), 0);
    do
        assert_int_equal(batch_next(&reader, &item), 1);
    while (item.is_name);
    return item.row.time_ns;
}

TEST_WITH(it_greets_and_waits_for_an_answer, begin, end)
{
    struct batch batch;
    uint64_t number;
    char text[64];
    row(7);
    assert_true(hear(&batch));
    assert_int_equal(batch.kind, BATCH_HELLO);
    struct batch_reader reader = batch_read(&batch);
    assert_int_equal(batch_read_number(&reader, &number), 0);
    assert_true(number == out.number);
    assert_int_equal(batch_read_number(&reader, &number), 0);
    assert_int_equal(number, 5);
    assert_int_equal(batch_read_text(&reader, text, sizeof text), 0);
    assert_string_equal(text, "a command");
    assert_false(hear(&batch));
    order(BATCH_SEND, 0, 0);
    agent_send_mark(&out, BATCH_END, 9, 1);
    assert_true(hear(&batch));
    assert_int_equal(batch.kind, BATCH_ROWS);
    assert_int_equal(time_in(&batch), 7);
    assert_true(hear(&batch));
    assert_int_equal(batch.kind, BATCH_END);
    assert_int_equal(batch.number, 1);
}

TEST_WITH(orders_are_obeyed, begin, end)
{
    struct batch batch;
    assert_true(hear(&batch));
    order(BATCH_SEND, 0, 0);
    order(BATCH_STOP, 0, 0);
    order(BATCH_RESET, 0, 0);
    assert_false(hear(&batch));
    assert_int_equal(obeyed, 1U << BATCH_SEND | 1U << BATCH_STOP | 1U << BATCH_RESET);
}

TEST_WITH(orders_before_a_greeting_was_answered_are_for_somebody_else, begin, end)
{
    struct batch batch;
    row(7);
    agent_send_mark(&out, BATCH_RESTART, 0, 0);
    assert_true(hear(&batch));
    order(BATCH_GO_ON, 2, 0);
    order(BATCH_QUIT, 2, 0);
    assert_false(hear(&batch));
    assert_int_equal(obeyed, 0);
    assert_int_equal(out.backlog.first, 0);
}

TEST_WITH(a_wait_in_vain_is_the_last_one, begin, end)
{
    struct batch batch;
    out.wait_ns = 50000000;
    assert_true(hear(&batch));
    while (agent_send_has_room(&out, 1))
        row(1);
    out.is_ending = true;
    assert_false(agent_send_has_room(&out, 1));
    assert_true(out.is_gone);
}

TEST_WITH(a_link_that_was_cut_goes_on_where_the_manager_says, begin, end)
{
    struct batch batch;
    bool is_whole;
    assert_true(hear(&batch));
    order(BATCH_SEND, 0, 0);
    for (uint64_t i = 0; i < 3; i++) {
        row(i);
        agent_send_mark(&out, BATCH_RESTART, 0, 0);
        assert_true(hear(&batch));
        assert_int_equal(batch.kind, BATCH_ROWS);
        assert_int_equal(time_in(&batch), i);
        assert_true(hear(&batch));
        assert_int_equal(batch.kind, BATCH_RESTART);
        assert_int_equal(batch.number, 2 * i + 1);
    }
    wire_close(&here);
    n_heard = 0;
    for (int i = 0; i < 20 && !(hear(&batch) && batch.kind == BATCH_HELLO); i++) {
    }
    assert_int_equal(batch.kind, BATCH_HELLO);
    order(BATCH_SEND, 1, 2);
    assert_true(hear(&batch));
    assert_int_equal(batch.number, 2);
    assert_int_equal(out.backlog.first, 1);
    order(BATCH_GO_ON, 6, 0);
    out.is_ending = true;
    assert_int_equal(agent_send_finish(&out, &is_whole), 0);
    assert_true(is_whole);
}

TEST_WITH(what_nobody_takes_is_counted, begin, end)
{
    bool is_whole;
    uint64_t n = 0;
    while (agent_send_has_room(&out, 1) && n < 10000000)
        row(n++ * 1000);
    uint64_t held = n;
    for (int i = 0; i < 100000; i++)
        row(n++);
    assert_true(out.n_given_up > 0 && out.n_given_up < 100000);
    out.is_ending = true;
    assert_true(agent_send_finish(&out, &is_whole) >= held - BATCH_MOST_BYTES);
    assert_false(is_whole);
}
