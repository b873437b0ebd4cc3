/* tuner/apply: puts a snippet where it is used, and takes it back.
 *
 * The new text is staged beside the file and checked there; then the old text is kept as NAME.previous, and
 * the new one takes its name in one step. At every moment the file is whole: the old one or the new one. */
#ifndef FSTUNE_TUNER_APPLY_H
#define FSTUNE_TUNER_APPLY_H

#include "bench/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct apply_order {
    const char *path;                     /* of the snippet */
    const char *text;                     /* for apply_snippet */
    const char *check, *apply, *rollback; /* commands, "" for none; see tuner/apply_hook */
    uint64_t timeout_ns;                  /* of each */
    const char *const *facts;             /* "NAME=VALUE" for their environment, at most 12; NULL ends them */
    const atomic_int *interrupted;        /* may be NULL. Taking back is not interrupted. */
    /* Remembers that the new file is in force; where it fails, the file is taken back. NULL: nothing to
     * remember. */
    int (*settle)(void *context, struct err *err);
    void *context;
};

/* What is in force after a call, whatever it returned. */
enum apply_state {
    APPLY_OLD,        /* what was in force before; the file was not touched */
    APPLY_NEW,        /* the new file, and its command succeeded */
    APPLY_TAKEN_BACK, /* the new file was in place, its command failed, and the old one is back */
    APPLY_STUCK       /* the new file is in place, its command failed, and so did taking it back */
};

/* Commands get FSTUNE_SNIPPET (the staged file for check, else the file) and the facts. 0 with APPLY_NEW;
 * else -ELOOP, -EPERM, -EINVAL: the path is not ours to write; -EREMOTEIO, -ETIMEDOUT, -EINTR: a command
 * failed; other negative errno; one line says which, and what the state is. */
int apply_snippet(const struct apply_order *order, enum apply_state *ret_state, struct err *err);

/* To be called before anything else is done about the file. While a snippet is applied, a marker beside it
 * (.fstune-applying.NAME) says so; it outlives a kill or a loss of power. Then the old file is brought back,
 * and the rollback command run - unless the marker is older than settled_s (seconds since 1970; 0: never),
 * when the last change was remembered: then all was done but removing it. *ret_recovered: whether there was
 * something to do. 0 or a negative errno. */
int apply_recover(const struct apply_order *order, double settled_s, bool *ret_recovered, struct err *err);

/* Exchanges the file and NAME.previous, and runs the rollback command (the apply command where there is
 * none); where that fails they are exchanged back. 0 with APPLY_NEW; -ENOENT: nothing was kept. */
int apply_rollback(const struct apply_order *order, enum apply_state *ret_state, struct err *err);

#endif
