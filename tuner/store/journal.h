/* tuner/store/journal: the runs of a search in a file, so that another command can go on with it (--resume)
 * or learn from it (--prior).
 *
 * JSON lines. The first, {"schema": "fstune/journal/1", ...}, says what the runs mean. Every further line is
 * - one run, or
 * - {"mark": "disagrees"}: what was measured before no longer held, and counts as prior knowledge only, or
 * - {"length": ...}: how long runs are from there on; those before are dropped unless it "keeps" them.
 * A last line that is cut off or broken is what an end in the middle of writing leaves behind: it does not
 * count, and neither do zeros and what follows them, as some file systems show after a crash. A header that
 * is cut off makes the journal an empty one. Everything else is untrusted input: sizes are limited, every
 * number is checked. */
#pragma once

#include "bench/base/err.h"
#include "tuner/session/samples.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_SCHEMA   "fstune/journal/1"
#define JOURNAL_MAX_SIZE (64U << 20)
#define JOURNAL_MAX_RUNS 200000

struct journal_run {
    uint64_t number;   /* runs of the search before this one, failed and repeated ones too */
    double at_seconds; /* of searching when it was over, all commands of this journal together */
    struct point point;
    struct sample sample; /* `confirming` as it was then */
};

/* What the pilot of a search decided. */
struct journal_length {
    uint64_t run_ns, warmup_limit_ns, warmup_least_ns; /* run_ns 0: nothing yet */
    bool keeps;                                        /* the runs before it are of this length too */
};

struct journal {
    int fd;         /* to append to; -1: read only, or given up */
    json_t *header; /* an object; NULL: not written yet */
    struct journal_run *runs;
    size_t n_runs, capacity;
    double spent_seconds; /* the largest at_seconds and, one further, number of all runs ever written: */
    uint64_t next_number; /* lines may have been exchanged, and runs dropped */
    struct journal_length length;
    size_t first;         /* runs before it are prior knowledge only */
    uint64_t whole_bytes; /* up to the last complete line */
    bool torn;            /* something follows them */
    int failed;           /* the negative errno of a failed write; nothing is written any more */
};

/* Reads text into a journal; an empty text is an empty journal. 0; -EINVAL with the line that is wrong;
 * -ENOMEM. journal_done accepts a zeroed one, and closes fd when it is > 0. */
int journal_parse(struct journal *journal, const char *text, size_t size, struct err *err);
void journal_done(struct journal *journal);

/* Reads the regular file `path` whole into a string (with a 0 behind it) that the caller frees; at most
 * JOURNAL_MAX_SIZE bytes. flags: of open(). 0, -EINVAL, -ENOMEM, or the errno of what failed. */
int journal_load(const char *path, int flags, int *ret_fd, char **ret_text, size_t *ret_size,
                 struct err *err);

/* Opens the journal at `path` for going on, locked against a second command; a missing one is created, with
 * permissions for its owner alone. A file that is not a journal is refused and left as it is.
 * read_only: nothing is created or locked (a missing file that could be created is an empty journal). */
int journal_open(struct journal *journal, const char *path, bool read_only, struct err *err);

/* Takes a header (a new reference), cuts off what is torn, and writes the header to a journal without one. */
int journal_begin(struct journal *journal, json_t *header, struct err *err);

/* One more line. After a failure `failed` is set, and nothing more is written. */
void journal_append(struct journal *journal, const struct journal_run *run);
void journal_mark(struct journal *journal);
/* length: run_ns from MEASURE_MIN_DURATION_NS on, the others from 0; all up to an hour. */
void journal_decide(struct journal *journal, const struct journal_length *length);

/* One run as an object of JSON, NULL when memory ran out; and back: 0, or -EINVAL when something is missing,
 * of another type or out of its range. */
json_t *journal_line_make(const struct journal_run *run);
int journal_line_read(const json_t *object, struct journal_run *ret_run);

/* A point of JSON, as in a journal's line or in a row of a recommendation. 0 or -EINVAL. */
int journal_point(const json_t *object, struct point *ret_point);

/* The member's number where it is a number above 0 and at most 1e18, else NaN. */
double journal_number(const json_t *object, const char *key);
