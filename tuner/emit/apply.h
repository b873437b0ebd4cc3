/* tuner/emit/apply: puts a snippet where it is used, and takes it back.
 *
 * The new text is staged beside the file and checked there; then it takes the file's name in one step, and
 * once all is done the old text stays as NAME.previous. At every moment the file is whole: the old one or the
 * new one. What is under way is marked beside it (see tuner/emit/apply_place), which outlives a kill and a
 * loss of power.
 *
 * apply_lock is held around whatever reads what is in force and then calls one of these. */
#pragma once

#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct apply_order {
    const char *path;                     /* of the snippet */
    const char *text;                     /* for apply_snippet */
    const char *check, *apply, *rollback; /* commands for /bin/sh, "" for none */
    uint64_t timeout_ns;                  /* of each */
    const char *facts;                    /* "NAME=VALUE" for their environment, each with a zero behind it */
    size_t n_facts;                       /* bytes */
    const atomic_int *interrupted;        /* may be NULL. Taking back is not interrupted. */
    /* Number of the newest decision that was remembered; each new one has a greater number. */
    int64_t settled;
    /* Remembers that the file is in force which the call put there; where it fails, that is taken back.
     * NULL: nothing to remember. */
    int (*settle)(void *context, struct err *err);
    void *context;
};

/* Commands run in surroundings that are the same every night: a fixed PATH, LANG=C, HOME=/, FSTUNE_SNIPPET
 * (the staged file for check, else the file) and the facts. 0: the new file is there, and its command
 * succeeded; else -ELOOP, -EPERM, -EINVAL: the path is not ours to write; -EREMOTEIO: a command failed, and
 * the text has the last line that it printed; -ETIMEDOUT, -EINTR: its group was killed; other negative errno;
 * one line says which, and what is in force now. */
int apply_snippet(const struct apply_order *order, struct err *err);

/* One command in those surroundings, for who replaces the file otherwise; path, timeout_ns, facts and
 * interrupted of the order count. what: its name in the text of an error. "": 0. As apply_snippet. */
int apply_run(const struct apply_order *order, const char *what, const char *command, struct err *err);

/* Waits for another fstune that works beside the file, as long as its commands may take. 0: nobody else works
 * there until *ret_fd is closed; -EBUSY; -EINTR; or the errno of opening the directory. */
int apply_lock(const struct apply_order *order, int *ret_fd, struct err *err);

/* To be called before anything else is done about the file. What was stopped in the middle is taken back, and
 * the rollback command run - unless a decision was remembered since it began (order->settled is greater than
 * then): then all was done but tidying up. *ret_recovered: whether something was taken back. Also says what
 * makes the file impossible to write: -EACCES, -EROFS and those of apply_snippet. 0 or a negative errno. */
int apply_recover(const struct apply_order *order, bool *ret_recovered, struct err *err);

/* Exchanges the file and NAME.previous, runs the rollback command (the apply command where there is none),
 * and settles; where one of them fails the files are exchanged back. 0; -ENOENT: nothing was kept. */
int apply_rollback(const struct apply_order *order, struct err *err);

/* Whether a file could be put there: 0, or why not, as apply_recover. Touches nothing. */
int apply_check(const char *path, struct err *err);

/* Whether apply_rollback would find something: 0 or -ENOENT, or why the file is not ours. Touches nothing. */
int apply_can_roll_back(const char *path, struct err *err);
