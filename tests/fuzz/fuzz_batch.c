/* Batches of an agent: whatever comes, what is found in it can be written again and is then the same. */
#include "tests/fuzz/fuzz.h"

#include "models/profile/batch.h"

static bool is_same(const struct events_row *a, const struct events_row *b)
{
    return a->kind == b->kind && a->time_ns == b->time_ns && a->duration_ns == b->duration_ns &&
           a->process == b->process && a->thread == b->thread && a->handle == b->handle &&
           a->flags == b->flags && a->object == b->object && a->offset_bytes == b->offset_bytes &&
           a->n_bytes == b->n_bytes && a->n == b->n;
}

static void check_again(const struct batch_item *item)
{
    static struct batch_writer writer;
    struct batch batch;
    struct batch_item again;
    size_t n_used;
    batch_begin(&writer, BATCH_ROWS, 1);
    FUZZ_CHECK(item->is_name ? batch_add_name(&writer, item->object, item->name)
                             : batch_add_row(&writer, &item->row));
    batch_finish(&writer);
    FUZZ_CHECK(batch_find(writer.bytes, writer.n, &batch, &n_used) == 0 && n_used == writer.n);
    struct batch_reader reader = batch_read(&batch);
    FUZZ_CHECK(batch_next(&reader, &again) == 1 && again.is_name == item->is_name);
    if (item->is_name)
        FUZZ_CHECK(again.object == item->object && strcmp(again.name, item->name) == 0);
    else
        FUZZ_CHECK(is_same(&again.row, &item->row) && events_row_is_sound(&again.row));
    FUZZ_CHECK(batch_next(&reader, &again) == 0);
}

static void read_items(struct batch_reader reader)
{
    struct batch_item item;
    int code;
    while ((code = batch_next(&reader, &item)) == 1)
        check_again(&item);
    FUZZ_CHECK(code == 0 || code == -EBADMSG);
    FUZZ_CHECK(reader.at <= reader.end);
}

/* As it comes over a link; and as a body, whose sum nobody has to guess. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct batch batch;
    size_t at = 0, n_used;
    uint8_t *bytes = (uint8_t *)fuzz_text(data, size);
    int code;
    while ((code = batch_find(bytes + at, size - at, &batch, &n_used)) == 0 || code == -EBADMSG) {
        FUZZ_CHECK(n_used > 0 && n_used <= size - at);
        if (code == 0)
            read_items(batch_read(&batch));
        at += n_used;
    }
    FUZZ_CHECK(code == -EAGAIN || code == -EPROTO);
    read_items((struct batch_reader){.at = bytes, .end = bytes + size});
    free(bytes);
    return 0;
}
