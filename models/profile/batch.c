/* models/profile/batch: the head, and numbers of variable length. */
#include "models/profile/batch.h"

#include <errno.h>
#include <string.h>

#define MAGIC      "FSb1"
#define MAGIC_SIZE 4
#define KIND_BITS  4
#define KIND_MASK  ((1U << KIND_BITS) - 1)
#define MOST_SHIFT 63

enum { AT_KIND = 4, AT_VERSION = 5, AT_CHECK = 6, AT_LENGTH = 8, AT_NUMBER = 12, AT_SUM = 20 };

static void put(uint8_t *at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t take(const uint8_t *at, unsigned n)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* CRC-32 (IEEE 802.3), half a byte at a time; begins with 0, and goes on from what it returned. */
static uint32_t sum_on(uint32_t sum, const uint8_t *bytes, size_t n)
{
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                       0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    sum = ~sum;
    for (size_t i = 0; i < n; i++) {
        sum = table[(sum ^ bytes[i]) & 15] ^ sum >> 4;
        sum = table[(sum ^ (uint32_t)bytes[i] >> 4) & 15] ^ sum >> 4;
    }
    return ~sum;
}

static uint16_t check_of(const uint8_t *head)
{
    uint32_t sum = sum_on(0, head + AT_KIND, AT_CHECK - AT_KIND);
    return (uint16_t)sum_on(sum, head + AT_LENGTH, AT_SUM - AT_LENGTH);
}

static uint32_t sum_of(const uint8_t *bytes, size_t n)
{
    return sum_on(sum_on(0, bytes, AT_SUM), bytes + BATCH_HEAD_BYTES, n - BATCH_HEAD_BYTES);
}

/* Bytes that are no batch, up to where the next one may begin. */
static int leave_out(const uint8_t *bytes, size_t n, size_t *ret_used)
{
    size_t at = 1;
    while (at < n && memcmp(bytes + at, MAGIC, n - at < MAGIC_SIZE ? n - at : MAGIC_SIZE) != 0)
        at++;
    *ret_used = at;
    return -EBADMSG;
}

int batch_find(const uint8_t *bytes, size_t n, struct batch *ret, size_t *ret_used)
{
    *ret_used = 0;
    if (n == 0)
        return -EAGAIN;
    if (memcmp(bytes, MAGIC, n < MAGIC_SIZE ? n : MAGIC_SIZE) != 0)
        return leave_out(bytes, n, ret_used);
    if (n < BATCH_HEAD_BYTES)
        return -EAGAIN;
    uint64_t length = take(bytes + AT_LENGTH, 4);
    if (take(bytes + AT_CHECK, 2) != check_of(bytes) || length > BATCH_MOST_BYTES - BATCH_HEAD_BYTES)
        return leave_out(bytes, n, ret_used);
    if (bytes[AT_VERSION] != BATCH_VERSION)
        return -EPROTO;
    if (n - BATCH_HEAD_BYTES < length)
        return -EAGAIN;
    size_t whole = BATCH_HEAD_BYTES + (size_t)length;
    if (take(bytes + AT_SUM, 4) != sum_of(bytes, whole) || bytes[AT_KIND] == 0 ||
        bytes[AT_KIND] >= BATCH_N_KINDS)
        return leave_out(bytes, n, ret_used);
    *ret = (struct batch){.kind = (enum batch_kind)bytes[AT_KIND],
                          .number = take(bytes + AT_NUMBER, 8),
                          .body = bytes + BATCH_HEAD_BYTES,
                          .n_bytes = (size_t)length};
    *ret_used = whole;
    return 0;
}

int batch_take_all(uint8_t *bytes, size_t *n, int (*hand)(void *context, const struct batch *batch),
                   void *context)
{
    struct batch batch;
    size_t n_used;
    int found, code = 0;
    while (code == 0 && (found = batch_find(bytes, *n, &batch, &n_used)) != -EAGAIN) {
        code = found == -EPROTO ? found : hand(context, found == 0 ? &batch : NULL);
        *n -= n_used;
        memmove(bytes, bytes + n_used, *n);
    }
    return code;
}

void batch_begin(struct batch_writer *writer, enum batch_kind kind, uint64_t number)
{
    memcpy(writer->bytes, MAGIC, MAGIC_SIZE);
    writer->bytes[AT_KIND] = (uint8_t)kind;
    writer->bytes[AT_VERSION] = BATCH_VERSION;
    put(writer->bytes + AT_NUMBER, number, 8);
    writer->n = BATCH_HEAD_BYTES;
    writer->last = (struct events_row){0};
}

void batch_finish(struct batch_writer *writer)
{
    put(writer->bytes + AT_LENGTH, writer->n - BATCH_HEAD_BYTES, 4);
    put(writer->bytes + AT_CHECK, check_of(writer->bytes), 2);
    put(writer->bytes + AT_SUM, sum_of(writer->bytes, writer->n), 4);
}

bool batch_add_number(struct batch_writer *writer, uint64_t number)
{
    uint8_t text[10];
    size_t n = 0;
    do {
        text[n++] = (uint8_t)((number & 127) | (number > 127 ? 128U : 0U));
        number >>= 7;
    } while (number > 0);
    if (n > sizeof writer->bytes - writer->n)
        return false;
    memcpy(writer->bytes + writer->n, text, n);
    writer->n += n;
    return true;
}

bool batch_add_text(struct batch_writer *writer, const char *text)
{
    size_t before = writer->n, length = strlen(text);
    length = length < EVENTS_TEXT_SIZE ? length : EVENTS_TEXT_SIZE - 1;
    if (!batch_add_number(writer, length) || length > sizeof writer->bytes - writer->n) {
        writer->n = before;
        return false;
    }
    memcpy(writer->bytes + writer->n, text, length);
    writer->n += length;
    return true;
}

bool batch_add_name(struct batch_writer *writer, uint64_t object, const char *name)
{
    size_t before = writer->n;
    if (batch_add_number(writer, 0) && batch_add_number(writer, object) && batch_add_text(writer, name))
        return true;
    writer->n = before;
    return false;
}

/* The members of a row in the order of their bits. */
#define N_MEMBERS 10
static void list_members(const struct events_row *row, uint64_t members[N_MEMBERS])
{
    const uint64_t listed[N_MEMBERS] = {row->time_ns, row->duration_ns, row->process,      row->thread,
                                        row->handle,  row->flags,       row->offset_bytes, row->n_bytes,
                                        row->n,       row->object};
    memcpy(members, listed, sizeof listed);
}

#define AT_OFFSET 6

static void expect(const struct events_row *last, uint64_t members[N_MEMBERS])
{
    list_members(last, members);
    members[AT_OFFSET] += last->n_bytes;
}

bool batch_add_row(struct batch_writer *writer, const struct events_row *row)
{
    uint64_t is[N_MEMBERS], expected[N_MEMBERS], differs = 0;
    size_t before = writer->n;
    list_members(row, is);
    expect(&writer->last, expected);
    for (unsigned i = 0; i < N_MEMBERS; i++)
        differs |= (uint64_t)(is[i] != expected[i]) << i;
    bool has_room = batch_add_number(writer, row->kind | differs << KIND_BITS);
    for (unsigned i = 0; i < N_MEMBERS && has_room; i++) {
        uint64_t difference = is[i] - expected[i];
        if (is[i] != expected[i])
            has_room = batch_add_number(writer, difference << 1 ^ (0 - (difference >> 63)));
    }
    if (has_room)
        writer->last = *row;
    else
        writer->n = before;
    return has_room;
}

struct batch_reader batch_read(const struct batch *batch)
{
    return (struct batch_reader){.at = batch->body, .end = batch->body + batch->n_bytes};
}

int batch_read_number(struct batch_reader *reader, uint64_t *ret)
{
    uint64_t number = 0;
    for (unsigned shift = 0; reader->at < reader->end && shift <= MOST_SHIFT; shift += 7) {
        uint8_t byte = *reader->at++;
        if (shift == MOST_SHIFT && byte > 1)
            break;
        number |= (uint64_t)(byte & 127) << shift;
        if ((byte & 128) == 0) {
            *ret = number;
            return 0;
        }
    }
    return -EBADMSG;
}

int batch_read_text(struct batch_reader *reader, char *text, size_t size)
{
    uint64_t n;
    if (batch_read_number(reader, &n) < 0 || n > (size_t)(reader->end - reader->at) ||
        memchr(reader->at, '\0', (size_t)n) != NULL)
        return -EBADMSG;
    size_t length = n < size ? (size_t)n : size - 1;
    memcpy(text, reader->at, length);
    text[length] = '\0';
    reader->at += n;
    return 0;
}

static int read_row(struct batch_reader *reader, enum events_kind kind, uint64_t differs,
                    struct events_row *ret)
{
    uint64_t members[N_MEMBERS], difference;
    expect(&reader->last, members);
    for (unsigned i = 0; i < N_MEMBERS; i++) {
        if ((differs >> i & 1) == 0)
            continue;
        if (batch_read_number(reader, &difference) < 0)
            return -EBADMSG;
        members[i] += difference >> 1 ^ (0 - (difference & 1));
    }
    if (members[2] > UINT32_MAX || members[3] > UINT32_MAX || members[4] > UINT32_MAX ||
        members[5] > UINT32_MAX)
        return -EBADMSG;
    *ret = (struct events_row){.kind = kind,
                               .time_ns = members[0],
                               .duration_ns = members[1],
                               .process = (uint32_t)members[2],
                               .thread = (uint32_t)members[3],
                               .handle = (uint32_t)members[4],
                               .flags = (uint32_t)members[5],
                               .offset_bytes = members[AT_OFFSET],
                               .n_bytes = members[7],
                               .n = members[8],
                               .object = members[9]};
    reader->last = *ret;
    return events_row_is_sound(ret) ? 1 : -EBADMSG;
}

int batch_next(struct batch_reader *reader, struct batch_item *ret)
{
    uint64_t first;
    if (reader->at == reader->end)
        return 0;
    if (batch_read_number(reader, &first) < 0 || first >> (KIND_BITS + N_MEMBERS) != 0)
        return -EBADMSG;
    ret->is_name = (first & KIND_MASK) == 0;
    if (!ret->is_name)
        return read_row(reader, (enum events_kind)(first & KIND_MASK), first >> KIND_BITS, &ret->row);
    if (first != 0 || batch_read_number(reader, &ret->object) < 0 ||
        batch_read_text(reader, ret->name, sizeof ret->name) < 0)
        return -EBADMSG;
    return 1;
}
