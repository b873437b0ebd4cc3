/* bench/observe/reference: the program whose delay tells what another one costs: a command of the user's, or
 * a light one of our own, in a process of its own, that does the same work in the same order in every run:
 *
 *   files   reads files that were dropped from the page cache, sums their bytes up, creates files, writes and
 *           syncs them
 *   cpu     sums up what fits into the first-level cache
 *   memory  copies what fits into no cache
 *
 * Its work is cut into equal intervals, and between them it opens a planted file each: the observation
 * points. All files are nameless, so nothing is left behind, however the program ends. The points of a
 * command are its start, files that it opens, and its end. */
#pragma once

#include "bench/base/err.h"
#include "bench/observe/observer.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum reference_kind { REFERENCE_FILES, REFERENCE_CPU, REFERENCE_MEMORY, REFERENCE_COMMAND, REFERENCE_N };

extern const char *const reference_names[REFERENCE_N]; /* "command" is no name for users */

#define REFERENCE_MAX_STEPS  1024 /* of an interval */
#define REFERENCE_READ_FILES 32

/* What the process tells, in memory that it shares with us. */
struct reference_board {
    int result;                              /* 0 or a negative errno, once it has ended */
    uint64_t passed_ns[OBSERVER_MAX_POINTS]; /* its own stamps, just before it opens the planted file */
    uint64_t step_ns[];                      /* how long each step took */
};

struct reference {
    enum reference_kind kind;
    const char *directory; /* borrowed */
    int dir_fd;
    size_t n_points;
    uint32_t n_steps;                 /* of an interval; set by reference_size; 0: of a command */
    int planted[OBSERVER_MAX_POINTS]; /* descriptors of the files whose opens are observed */
    size_t n_planted;
    const char *command; /* for the shell; borrowed; NULL: our own program */
    uint64_t survey_ns;  /* how long the command took in its first run */
    int read_fds[REFERENCE_READ_FILES];
    size_t n_read; /* 0 but for files */
    unsigned char *buffer;
    struct reference_board *board;
};

/* 2 <= n_points <= OBSERVER_MAX_POINTS. 0 or a negative errno; reference_close in any case. */
int reference_open(struct reference *reference, enum reference_kind kind, const char *directory,
                   size_t n_points, struct err *err);

/* The same with a command, which runs once for that. Its points may be fewer than asked for. -ECANCELED: it
 * failed; -EINTR. */
int reference_open_command(struct reference *reference, const char *command, const char *directory,
                           size_t n_points, const atomic_int *interrupted, struct err *err);

/* Chooses the number of steps with which a run takes about so long here; a few steps are made for it. */
int reference_size(struct reference *reference, uint64_t run_ns, struct err *err);

/* Starts a run in a process of its own, which ends with us. The board is filled meanwhile. */
int reference_start(struct reference *reference, pid_t *ret_pid, struct err *err);

/* Steps of a whole run. */
size_t reference_n_steps(const struct reference *reference);

/* Bytes that a run writes. */
uint64_t reference_written_bytes(const struct reference *reference);

void reference_close(struct reference *reference);
