/* models/profile/batch: events and orders as they go over a link: short, numbered, and with a sum by which
 * damage is seen.
 *
 * A batch is a head of BATCH_HEAD_BYTES and a body. All numbers of the head are little-endian:
 *
 *   0  magic "FSb1"        8  length of the body (32 bits)
 *   4  kind (8 bits)      12  number (64 bits)
 *   5  version (8 bits)   20  CRC-32 of the head before it and of the body
 *   6  the lower half of the CRC-32 of the bytes 4, 5 and 8 to 19, so that a damaged length is seen at once
 *
 * Numbers in the body have 7 bits a byte, the lowest first, and the highest bit where more follow. A row is
 * the number `kind | members << 4`, with a bit for each member that differs from what is expected, and for
 * each of these the difference, its sign in the lowest bit: a sequential read takes some eight bytes. What is
 * expected are the members of the row before it in this batch, and an offset where that one ended; so each
 * batch can be read without the others. Kind 0 is a name: a number, the length, the text. */
#pragma once

#include "models/profile/events_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATCH_VERSION    3
#define BATCH_HEAD_BYTES 24
#define BATCH_MOST_BYTES 16384 /* with its head */

enum batch_kind {
    BATCH_HELLO = 1, /* of the agent: its number, ns that a sample stands for; the command as a text. Once
                        more where its number is above the end's: the agent knows that all is kept */
    BATCH_ROWS,      /* events lost until now; rows and names */
    BATCH_RESTART,   /* the recording begins anew */
    BATCH_END,       /* events lost; ns since the beginning; how the program ended, as waitpid has it, plus 1;
                        0: it goes on */
    BATCH_ORDER,     /* of the manager, which has all batches below the number safe: enum batch_order, and of
                        BATCH_SEND the number of the batch to go on with */
    BATCH_N_KINDS
};

enum batch_order {
    BATCH_GO_ON,
    BATCH_SEND,
    BATCH_START,
    BATCH_STOP,
    BATCH_RESET,
    BATCH_QUIT,
    BATCH_N_ORDERS
};

struct batch {
    enum batch_kind kind;
    uint64_t number;
    const uint8_t *body;
    size_t n_bytes;
};

/* Looks at the beginning of what has come. 0: a batch, which is the first *ret_used bytes; -EAGAIN: more has
 * to come first; -EBADMSG: the first *ret_used bytes are none, and are to be left out; -EPROTO: it is one of
 * another version. */
int batch_find(const uint8_t *bytes, size_t n, struct batch *ret, size_t *ret_used);

/* Hands the batches among the *n bytes over, one after the other, and NULL for bytes that are none; what
 * has yet to come whole is moved to the beginning, and *n is its size. 0; -EPROTO as above; or what `hand`
 * returned where that was not 0, which ends it. */
int batch_take_all(uint8_t *bytes, size_t *n, int (*hand)(void *context, const struct batch *batch),
                   void *context);

struct batch_writer {
    uint8_t bytes[BATCH_MOST_BYTES];
    size_t n;
    struct events_row last;
};

void batch_begin(struct batch_writer *writer, enum batch_kind kind, uint64_t number);
/* False: there is no room, and nothing has changed. */
bool batch_add_number(struct batch_writer *writer, uint64_t number);
bool batch_add_text(struct batch_writer *writer, const char *text);
bool batch_add_row(struct batch_writer *writer, const struct events_row *row);
bool batch_add_name(struct batch_writer *writer, uint64_t object, const char *name);
/* Completes the head: writer->bytes has writer->n bytes to send. */
void batch_finish(struct batch_writer *writer);

struct batch_reader {
    const uint8_t *at, *end;
    struct events_row last;
};

struct batch_reader batch_read(const struct batch *batch);
/* 0 or -EBADMSG. A longer text loses its tail. */
int batch_read_number(struct batch_reader *reader, uint64_t *ret);
int batch_read_text(struct batch_reader *reader, char *text, size_t size);

/* A row, or the name of an object. */
struct batch_item {
    bool is_name;
    struct events_row row;
    uint64_t object;
    char name[EVENTS_TEXT_SIZE];
};

/* 1: an item; 0: the end; -EBADMSG: no agent writes this. */
int batch_next(struct batch_reader *reader, struct batch_item *ret);
