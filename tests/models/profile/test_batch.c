/* Tests of models/profile/batch: what was written is read again, and damage is not. */
#include "models/profile/batch.h"
#include "tests/test.h"

#include <errno.h>
#include <limits.h>

static struct batch_writer writer;
static struct batch batch;
static struct batch_item item;
static size_t n_used;

static const struct events_row rows[] = {
    {.kind = EVENTS_READ,
     .time_ns = 1000,
     .duration_ns = 50,
     .process = 7,
     .thread = 8,
     .handle = 1,
     .flags = 1,
     .object = UINT64_MAX,
     .offset_bytes = 4096,
     .n_bytes = 4096,
     .n = 1},
    {.kind = EVENTS_WRITE,
     .time_ns = 900,
     .duration_ns = 60,
     .process = 7,
     .thread = 8,
     .handle = 1,
     .flags = 1,
     .object = UINT64_MAX,
     .offset_bytes = 8192,
     .n_bytes = 4096,
     .n = 1},
    {.kind = EVENTS_FLUSH, .time_ns = 2000, .n = 1},
    {.kind = EVENTS_REAP, .time_ns = INT64_MAX, .n = UINT64_MAX},
    {.kind = EVENTS_CPU, .process = UINT32_MAX, .object = 5, .offset_bytes = UINT64_MAX, .n = 3},
    {.kind = EVENTS_MEMORY, .flags = EVENTS_AT_PEAK, .n_bytes = EVENTS_FILE_BYTES, .n = 4},
    {.kind = EVENTS_FRAME, .handle = 65536, .n = 65535, .object = 9, .offset_bytes = 77},
    {.kind = EVENTS_NETWORK, .thread = 4, .flags = EVENTS_OUT, .n_bytes = 5, .n = 6}};

static bool is_same(const struct events_row *a, const struct events_row *b)
{
    return a->kind == b->kind && a->time_ns == b->time_ns && a->duration_ns == b->duration_ns &&
           a->process == b->process && a->thread == b->thread && a->handle == b->handle &&
           a->flags == b->flags && a->object == b->object && a->offset_bytes == b->offset_bytes &&
           a->n_bytes == b->n_bytes && a->n == b->n;
}

static void write_all(void)
{
    batch_begin(&writer, BATCH_ROWS, 41);
    assert_true(batch_add_number(&writer, UINT64_MAX));
    assert_true(batch_add_name(&writer, 5, "/a name; of a file"));
    for (size_t i = 0; i < N_OF(rows); i++)
        assert_true(batch_add_row(&writer, &rows[i]));
    batch_finish(&writer);
}

TEST(what_was_written_is_read_again)
{
    uint64_t number;
    write_all();
    assert_int_equal(batch_find(writer.bytes, writer.n, &batch, &n_used), 0);
    assert_int_equal(n_used, writer.n);
    assert_int_equal(batch.kind, BATCH_ROWS);
    assert_int_equal(batch.number, 41);
    struct batch_reader reader = batch_read(&batch);
    assert_int_equal(batch_read_number(&reader, &number), 0);
    assert_true(number == UINT64_MAX);
    assert_int_equal(batch_next(&reader, &item), 1);
    assert_true(item.is_name);
    assert_int_equal(item.object, 5);
    assert_string_equal(item.name, "/a name; of a file");
    for (size_t i = 0; i < N_OF(rows); i++) {
        assert_int_equal(batch_next(&reader, &item), 1);
        assert_false(item.is_name);
        assert_true(is_same(&item.row, &rows[i]));
    }
    assert_int_equal(batch_next(&reader, &item), 0);
}

/* Of a usual row, against 80 bytes in memory. */
TEST(a_sequential_read_takes_few_bytes)
{
    struct events_row row = rows[0];
    batch_begin(&writer, BATCH_ROWS, 1);
    assert_true(batch_add_row(&writer, &row));
    size_t before = writer.n;
    for (int i = 0; i < 100; i++) {
        row.time_ns += 5000 + (uint64_t)i;
        row.duration_ns += 3;
        row.offset_bytes += row.n_bytes;
        assert_true(batch_add_row(&writer, &row));
    }
    assert_true(writer.n - before <= 800);
}

TEST(each_damaged_bit_is_seen)
{
    write_all();
    for (size_t bit = 0; bit < 8 * writer.n; bit++) {
        writer.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        int code = batch_find(writer.bytes, writer.n, &batch, &n_used);
        assert_true(code == -EBADMSG && n_used > 0);
        writer.bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

static unsigned n_whole, n_none;

static int count(void *context, const struct batch *found)
{
    n_whole += found != NULL;
    n_none += found == NULL;
    return n_whole == *(unsigned *)context ? -ECANCELED : 0;
}

TEST(all_that_came_is_taken_and_the_beginning_of_the_next_one_stays)
{
    static uint8_t came[4 * BATCH_MOST_BYTES];
    unsigned most = UINT_MAX;
    size_t n = 0, part = 7;
    write_all();
    for (int i = 0; i < 3; i++, n += writer.n)
        memcpy(came + n, writer.bytes, writer.n);
    came[writer.n + 20] ^= 1; /* the second one is damaged */
    memcpy(came + n, writer.bytes, part);
    n += part;
    n_whole = n_none = 0;
    assert_int_equal(batch_take_all(came, &n, count, &most), 0);
    assert_int_equal(n_whole, 2);
    assert_true(n_none > 0);
    assert_int_equal(n, part);
    assert_memory_equal(came, writer.bytes, part);
}

TEST(who_takes_may_end_it)
{
    static uint8_t came[2 * BATCH_MOST_BYTES];
    unsigned most = 1;
    write_all();
    memcpy(came, writer.bytes, writer.n);
    memcpy(came + writer.n, writer.bytes, writer.n);
    size_t n = 2 * writer.n;
    n_whole = n_none = 0;
    assert_int_equal(batch_take_all(came, &n, count, &most), -ECANCELED);
    assert_int_equal(n, writer.n);
}

TEST(a_part_of_a_batch_waits_for_the_rest)
{
    write_all();
    for (size_t n = 0; n < writer.n; n++)
        assert_int_equal(batch_find(writer.bytes, n, &batch, &n_used), -EAGAIN);
}

TEST(what_stands_before_a_batch_is_left_out)
{
    uint8_t bytes[BATCH_MOST_BYTES + 16] = "FSb0 nonsense FS";
    write_all();
    memcpy(bytes + 16, writer.bytes, writer.n);
    size_t at = 0, n = 16 + writer.n;
    int code;
    while ((code = batch_find(bytes + at, n - at, &batch, &n_used)) == -EBADMSG)
        at += n_used;
    assert_int_equal(code, 0);
    assert_int_equal(at, 16);
}

TEST(another_version_is_told_apart_from_damage)
{
    batch_begin(&writer, BATCH_HELLO, 0);
    writer.bytes[5] = BATCH_VERSION + 1;
    batch_finish(&writer);
    assert_int_equal(batch_find(writer.bytes, writer.n, &batch, &n_used), -EPROTO);
}

TEST(a_full_batch_stays_as_it_is)
{
    size_t n = 0;
    batch_begin(&writer, BATCH_ROWS, 1);
    while (batch_add_row(&writer, &rows[n % N_OF(rows)]))
        n++;
    size_t before = writer.n;
    assert_true(before > BATCH_MOST_BYTES - 110 && before <= BATCH_MOST_BYTES);
    batch_finish(&writer);
    assert_int_equal(batch_find(writer.bytes, writer.n, &batch, &n_used), 0);
    struct batch_reader reader = batch_read(&batch);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(batch_next(&reader, &item), 1);
    assert_int_equal(batch_next(&reader, &item), 0);
}

static int read_body(const char *body, size_t n)
{
    struct batch_reader reader = {.at = (const uint8_t *)body, .end = (const uint8_t *)body + n};
    return batch_next(&reader, &item);
}

TEST(rows_that_no_agent_writes_are_refused)
{
    static const struct {
        const char *body;
        size_t n;
    } bad[] = {{"\x80", 1},                                      /* a number that does not end */
               {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10}, /* a larger one than there is */
               {"\x81\x80\x01", 3},                              /* members that a row does not have */
               {"\x11", 1},                                      /* a time that is missing */
               {"\x11\x01", 2},                                  /* a time before the beginning */
               {"\x00\x05\x04"
                "abc",
                6}, /* a name that is cut off */
               {"\x00\x05\x03"
                "a\0c",
                6}}; /* a name with an end in it */
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(read_body(bad[i].body, bad[i].n), -EBADMSG);
    /* Behind the largest file. */
    const struct events_row far = {
        .kind = EVENTS_READ, .offset_bytes = EVENTS_FILE_BYTES, .n_bytes = 1, .n = 1};
    batch_begin(&writer, BATCH_ROWS, 0);
    assert_true(batch_add_row(&writer, &far));
    assert_int_equal(read_body((char *)writer.bytes + BATCH_HEAD_BYTES, writer.n - BATCH_HEAD_BYTES),
                     -EBADMSG);
}
