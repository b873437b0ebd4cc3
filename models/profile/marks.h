/* models/profile/marks: named moments of a program, and what it did from each to the next one.
 *
 * The table is part of the store: it has a fixed size, nobody waits for another, and a name that finds no
 * place is counted. What requests do is counted elsewhere; a mark looks at these totals alone, so that a
 * program without marks pays nothing. Marks of threads at the same moment end each other's section, and what
 * was done just then goes to one of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS_MOST      32
#define MARKS_NAME_SIZE 32 /* with the zero at its end; a longer name is cut */

/* What is counted while a program runs, none of which gets less. */
enum marks_total {
    MARKS_READS,
    MARKS_SEQ_READS,
    MARKS_WRITES,
    MARKS_SEQ_WRITES,
    MARKS_READ_BYTES,
    MARKS_WRITTEN_BYTES,
    MARKS_FLUSHES,
    MARKS_NS, /* of the recording, without its pauses */
    MARKS_N_TOTALS
};

struct mark {
    uint64_t key; /* of the name, which keeps its slot for good; 0: free */
    uint64_t count;
    uint64_t first_ns, last_ns;
    uint64_t since[MARKS_N_TOTALS]; /* from each of its moments to the next mark, whichever that is */
    union {
        char name[MARKS_NAME_SIZE];
        uint64_t name_words[MARKS_NAME_SIZE / sizeof(uint64_t)];
    };
};

struct marks {
    uint64_t n_slots; /* at most MARKS_MOST */
    uint64_t current; /* one more than the slot of the last mark; 0: none, or one that found no place */
    uint64_t n_lost;
    uint64_t told[MARKS_N_TOTALS]; /* totals that have been given to a mark */
};

/* This moment has that name, which is not empty. Returns the key of the name; 0: it found no place. */
uint64_t marks_take(struct marks *marks, struct mark *slots, const char *name, uint64_t now_ns,
                    const uint64_t totals[MARKS_N_TOTALS]);

/* The name of a key, also of one that has no moment any more. False: it is not there. */
bool marks_find_name(const struct marks *marks, const struct mark *slots, uint64_t key,
                     char ret_name[MARKS_NAME_SIZE]);

/* All that have a moment, the earliest first; the last one's section goes on until these totals. */
size_t marks_list(const struct marks *marks, const struct mark *slots, const uint64_t totals[MARKS_N_TOTALS],
                  struct mark ret[MARKS_MOST]);

/* None has a moment any more, and what these totals hold belongs to none. The names stay known: who has a key
 * may ask for its name later, and no thread finds another name in a slot that it is about to use. */
void marks_forget(struct marks *marks, struct mark *slots, const uint64_t totals[MARKS_N_TOTALS]);
