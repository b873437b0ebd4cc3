/* Stamps in blocks, and what is known of every block. */
#include "bench/io/verify.h"

#include "bench/base/full_io.h"
#include "bench/base/rng.h"
#include "bench/host/hostinfo.h"
#include "bench/io/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Share of the memory that may be used: pages are taken as blocks are touched, when it is too late to
 * refuse. */
#define ROOM_SHARE 0.5

/* The file is read back in parts of this size, without the parts in which no block is fresh. */
#define PART_BYTES 65536U

/* The word of a block: the number of its writes below, then how many reads and writes are under way, then
 * flags. */
#define N_WRITES   UINT64_C(0xffffffff)
#define READER     (UINT64_C(1) << 32)
#define READERS    (UINT64_C(0x3fff) << 32)
#define WRITER     (UINT64_C(1) << 46)
#define WRITERS    (UINT64_C(0x3fff) << 46)
#define IS_RACED   (UINT64_C(1) << 60) /* the reads under way met a write */
#define IS_MUDDLED (UINT64_C(1) << 61) /* the last writes met each other, or failed */
#define IS_FRESH   (UINT64_C(1) << 62) /* written, and not yet read back */

int verify_open(struct verify *verify, uint64_t size_bytes, uint32_t n_files, uint64_t seed, struct err *err)
{
    uint64_t n_blocks = size_bytes / VERIFY_BLOCK_BYTES;
    struct hostinfo_memory_room room;
    hostinfo_find_memory_room(&room);
    bool fits = (double)(n_blocks * sizeof *verify->states) <= ROOM_SHARE * room.bytes;
    /* Pages are taken as blocks are touched. */
    void *states = fits ? arena_map(n_blocks * sizeof *verify->states, MAP_NORESERVE) : MAP_FAILED;
    if (states == MAP_FAILED)
        return err_set(
            err, -ENOMEM,
            "no memory for --verify, which needs 1/64 of the file's size; use a smaller --file-size");
    verify->file_bytes = n_files > 1 ? size_bytes / n_files : 0;
    verify->n_blocks = n_blocks;
    verify->states = states;
    verify->key = rng_derive(seed, 77);
    return 0;
}

void verify_close(struct verify *verify)
{
    if (verify->states != NULL)
        munmap(verify->states, verify->n_blocks * sizeof *verify->states);
    verify->states = NULL;
}

/* Four sums side by side, because a product waits for the one before it. Every step can be undone, so that
 * damage within one word never goes unseen. */
static uint64_t checksum(const unsigned char *block)
{
    uint64_t sums[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < VERIFY_BLOCK_BYTES; i += 8) {
        uint64_t word = 0, *sum = &sums[i / 8 % 4];
        memcpy(&word, block + i, sizeof word);
        if (i == offsetof(struct verify_stamp, checksum))
            word = 0;
        uint64_t product = (*sum ^ word) * 0x9e3779b97f4a7c15ULL;
        *sum = product << 29 | product >> 35;
    }
    uint64_t all = 0;
    for (size_t i = 0; i < 4; i++)
        all = (all ^ sums[i]) * 0xff51afd7ed558ccdULL;
    return all ^ all >> 32;
}

static uint64_t with_write_begun(uint64_t state)
{
    bool alone = (state & WRITERS) == 0;
    uint64_t flags = (state & IS_RACED) | IS_FRESH;
    if (!alone)
        flags |= IS_MUDDLED;
    if ((state & READERS) != 0)
        flags |= IS_RACED;
    return ((state + 1) & N_WRITES) | (state & (READERS | WRITERS)) | flags;
}

/* Returns the number of this write. */
static uint64_t begin_write(atomic_ullong *place)
{
    unsigned long long before = atomic_load(place), after;
    do
        after = with_write_begun(before) + WRITER;
    while (!atomic_compare_exchange_weak(place, &before, after));
    return after & N_WRITES;
}

static void begin_read(atomic_ullong *place)
{
    unsigned long long before = atomic_load(place), after;
    do
        after = (before + READER) | ((before & WRITERS) != 0 ? IS_RACED : 0);
    while (!atomic_compare_exchange_weak(place, &before, after));
}

/* Returns the state while the read was still under way. */
static uint64_t end_read(atomic_ullong *place)
{
    unsigned long long before = atomic_load(place), after;
    do {
        after = before - READER;
        if ((after & READERS) == 0)
            after &= ~IS_RACED;
    } while (!atomic_compare_exchange_weak(place, &before, after));
    return before;
}

/* Where a call begins, files following one another. */
static uint64_t start_of(const struct verify *verify, const struct io_call *call)
{
    return call->file * verify->file_bytes + call->offset_bytes;
}

static atomic_ullong *state_at(const struct verify *verify, uint64_t offset_bytes)
{
    return &verify->states[offset_bytes / VERIFY_BLOCK_BYTES];
}

static void stamp_block(const struct verify *verify, unsigned char *block, uint64_t offset_bytes)
{
    struct verify_stamp stamp = {.key = verify->key, .offset_bytes = offset_bytes};
    stamp.n_writes = begin_write(state_at(verify, offset_bytes));
    memcpy(block, &stamp, sizeof stamp);
    stamp.checksum = checksum(block);
    memcpy(block, &stamp.checksum, sizeof stamp.checksum);
}

void verify_begin(struct verify *verify, const struct io_call *call)
{
    unsigned char *buffer = call->buffer;
    uint64_t start = start_of(verify, call);
    for (uint64_t i = 0; i < call->size_bytes; i += VERIFY_BLOCK_BYTES) {
        if (call->is_write)
            stamp_block(verify, buffer + i, start + i);
        else
            begin_read(state_at(verify, start + i));
    }
}

void verify_stamp(struct verify *verify, void *buffer, uint64_t offset_bytes, uint64_t size_bytes)
{
    unsigned char *bytes = buffer;
    for (uint64_t i = 0; i < size_bytes; i += VERIFY_BLOCK_BYTES) {
        stamp_block(verify, bytes + i, offset_bytes + i);
        atomic_fetch_sub(state_at(verify, offset_bytes + i), WRITER);
    }
}

#define PLACE_SIZE 64

static const char *place_text(const struct verify *verify, uint64_t offset_bytes, char text[PLACE_SIZE])
{
    if (verify->file_bytes == 0)
        snprintf(text, PLACE_SIZE, "offset %" PRIu64, offset_bytes);
    else
        snprintf(text, PLACE_SIZE, "offset %" PRIu64 " of file %" PRIu64, offset_bytes % verify->file_bytes,
                 offset_bytes / verify->file_bytes);
    return text;
}

/* Whose fault it is depends on what differs: the key first, because without it the rest means nothing. */
static int compare_block(const struct verify *verify, const unsigned char *block, uint64_t offset_bytes,
                         uint64_t n_writes, struct err *err)
{
    struct verify_stamp stamp;
    char here[PLACE_SIZE], there[PLACE_SIZE];
    memcpy(&stamp, block, sizeof stamp);
    uint64_t sum = checksum(block);
    if (stamp.key == verify->key && stamp.checksum == sum && stamp.offset_bytes == offset_bytes &&
        stamp.n_writes == n_writes)
        return 0;
    place_text(verify, offset_bytes, here);
    if (stamp.key != verify->key)
        return err_set(err, -EBADMSG,
                       "the block at %s was not written by this command: expected key %016" PRIx64
                       " of write %" PRIu64 ", found %016" PRIx64,
                       here, verify->key, n_writes, stamp.key);
    if (stamp.checksum != sum)
        return err_set(err, -EBADMSG,
                       "the block at %s (write %" PRIu64 ") is damaged: expected checksum %016" PRIx64
                       ", found %016" PRIx64,
                       here, stamp.n_writes, stamp.checksum, sum);
    if (stamp.offset_bytes != offset_bytes)
        return err_set(err, -EBADMSG,
                       "the block at %s is misplaced: expected write %" PRIu64
                       " to this place, found write %" PRIu64 " to %s",
                       here, n_writes, stamp.n_writes, place_text(verify, stamp.offset_bytes, there));
    return err_set(err, -EBADMSG,
                   "the block at %s is stale: expected write %" PRIu64 ", found write %" PRIu64, here,
                   n_writes, stamp.n_writes);
}

/* Judges one block that was read in this state; 0 also where nothing can be said. */
static int judge_block(const struct verify *verify, const unsigned char *block, uint64_t offset_bytes,
                       uint64_t state, uint64_t *n_compared, struct err *err)
{
    if ((state & (WRITERS | IS_RACED | IS_MUDDLED)) != 0 || (state & N_WRITES) == 0)
        return 0;
    ++*n_compared;
    return compare_block(verify, block, offset_bytes, state & N_WRITES, err);
}

static void count(struct verify *verify, uint64_t n_compared, uint64_t n_read)
{
    atomic_fetch_add(&verify->n_compared, n_compared);
    atomic_fetch_add(&verify->n_passed_over, n_read - n_compared);
}

static int end_reads(struct verify *verify, const struct io_call *call, struct err *err)
{
    const unsigned char *buffer = call->buffer;
    uint64_t n_compared = 0, start = start_of(verify, call);
    int result = 0;
    for (uint64_t i = 0; i < call->size_bytes; i += VERIFY_BLOCK_BYTES) {
        uint64_t at = start + i, state = end_read(state_at(verify, at));
        if (result == 0)
            result = judge_block(verify, buffer + i, at, state, &n_compared, err);
    }
    count(verify, n_compared, call->size_bytes / VERIFY_BLOCK_BYTES);
    return result;
}

int verify_end(struct verify *verify, const struct io_call *call, struct err *err)
{
    if (!call->is_write)
        return end_reads(verify, call, err);
    uint64_t start = start_of(verify, call);
    for (uint64_t i = 0; i < call->size_bytes; i += VERIFY_BLOCK_BYTES)
        atomic_fetch_sub(state_at(verify, start + i), WRITER);
    return 0;
}

void verify_abandon(struct verify *verify, const struct io_call *call)
{
    uint64_t start = start_of(verify, call);
    for (uint64_t i = 0; i < call->size_bytes; i += VERIFY_BLOCK_BYTES) {
        atomic_ullong *place = state_at(verify, start + i);
        if (!call->is_write) {
            (void)end_read(place);
            continue;
        }
        atomic_fetch_or(place, IS_MUDDLED);
        atomic_fetch_sub(place, WRITER);
    }
}

static bool has_fresh(const struct verify *verify, uint64_t first, uint64_t n)
{
    uint64_t all = 0;
    for (uint64_t i = first; i < first + n; i++)
        all |= atomic_load_explicit(&verify->states[i], memory_order_relaxed);
    return (all & IS_FRESH) != 0;
}

static int compare_part(struct verify *verify, const unsigned char *part, uint64_t first, uint64_t n,
                        struct err *err)
{
    uint64_t n_compared = 0, n_fresh = 0;
    int result = 0;
    for (uint64_t i = 0; i < n && result == 0; i++) {
        uint64_t state = atomic_fetch_and(&verify->states[first + i], ~IS_FRESH);
        if ((state & IS_FRESH) == 0)
            continue;
        n_fresh++;
        result = judge_block(verify, part + i * VERIFY_BLOCK_BYTES, (first + i) * VERIFY_BLOCK_BYTES, state,
                             &n_compared, err);
    }
    count(verify, n_compared, n_fresh);
    return result;
}

static int read_part(struct verify *verify, const int *fds, unsigned char *part, uint64_t first, uint64_t n,
                     struct err *err)
{
    char place[PLACE_SIZE];
    uint64_t at = first * VERIFY_BLOCK_BYTES, file = verify->file_bytes != 0 ? at / verify->file_bytes : 0;
    int result = full_io_read(fds[file], part, n * VERIFY_BLOCK_BYTES, at - file * verify->file_bytes);
    if (result < 0)
        return err_io(err, result, "cannot be read back at %s", place_text(verify, at, place));
    return compare_part(verify, part, first, n, err);
}

int verify_read_back(struct verify *verify, const int *fds, const atomic_int *interrupted,
                     uint64_t *ret_bytes, struct err *err)
{
    const uint64_t per_part = PART_BYTES / VERIFY_BLOCK_BYTES;
    unsigned char *part = malloc(PART_BYTES);
    int result = 0;
    *ret_bytes = 0;
    if (part == NULL)
        return err_set(err, -ENOMEM, "no memory for reading back");
    for (uint64_t first = 0; first < verify->n_blocks && result == 0; first += per_part) {
        uint64_t left = verify->n_blocks - first, n = left < per_part ? left : per_part;
        if (interrupted != NULL && atomic_load(interrupted) != 0)
            result = err_set(err, -EINTR, "interrupted");
        else if (has_fresh(verify, first, n)) {
            result = read_part(verify, fds, part, first, n, err);
            *ret_bytes += n * VERIFY_BLOCK_BYTES;
        }
    }
    free(part);
    return result;
}
