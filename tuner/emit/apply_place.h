/* tuner/emit/apply_place: the files that tuner/emit/apply works on: NAME, NAME.previous, and while
 * something is under way .fstune-kept.NAME, the text that was in force before it, and the marker
 * .fstune-applying.NAME; and .fstune-lock, which stays. All are taken only where nobody but the directory's
 * owner and we can have put them (see tuner/base/trust and replace_read).
 *
 * NAME.previous is written last: what fails on the way leaves it, and the way back, as they were. */
#pragma once

#include "bench/base/err.h"
#include "tuner/base/replace.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct apply_place {
    int dir_fd; /* -1: not open */
    char name[REPLACE_NAME_SIZE], previous[REPLACE_NAME_SIZE];
    char marker[REPLACE_NAME_SIZE], kept[REPLACE_NAME_SIZE];
    struct replace_text old; /* NAME as it was when this was opened */
};

/* What is under way: nothing, a file where none was, another text, going back. */
enum apply_work { APPLY_WORK_NONE, APPLY_WORK_FIRST, APPLY_WORK_CHANGE, APPLY_WORK_ROLLBACK, APPLY_WORK_N };

/* Waits up to wait_ns for whoever works in the directory of `path`. 0: *ret_fd is held until it is closed;
 * -EBUSY: somebody else still works there; -EINTR; or the errno of opening. interrupted: may be NULL. */
int apply_place_lock(const char *path, uint64_t wait_ns, const atomic_int *interrupted, int *ret_fd,
                     struct err *err);

/* 0, or why nothing can be written there: -EACCES, -EROFS, or what tuner/base/replace says. Closed in any
 * case. */
int apply_place_open(struct apply_place *place, const char *path, struct err *err);
void apply_place_close(struct apply_place *place);

/* named: see replace_commit. */
int apply_place_write(const struct apply_place *place, const char *name, const struct replace_text *text,
                      bool *ret_named, struct err *err);

/* Keeps NAME, and marks what begins: on the disk before NAME is touched. settled: the number that the marker
 * tells. */
int apply_place_begin(const struct apply_place *place, enum apply_work work, int64_t settled,
                      struct err *err);
/* Reads the marker. APPLY_WORK_NONE: there is none. -EBADMSG. */
int apply_place_under_way(const struct apply_place *place, enum apply_work *ret_work, int64_t *ret_settled,
                          struct err *err);
/* Brings back what was in force when `work` began; after a rollback NAME.previous too. */
int apply_place_restore(const struct apply_place *place, enum apply_work work, struct err *err);
/* All of `work` was done: the kept text becomes NAME.previous, or goes. What cannot be done now is done by
 * the next apply_recover, because the marker stays. */
void apply_place_finish(const struct apply_place *place, enum apply_work work);
/* apply_place_finish had begun: the kept text has become NAME.previous, whatever the history remembers. */
bool apply_place_is_finishing(const struct apply_place *place, enum apply_work work);
/* What was in force is in force again: the marker and the kept text go. */
void apply_place_end(const struct apply_place *place);
/* Removes what a process left that was killed outside of any work: files that got no name. Under the lock. */
void apply_place_sweep(const struct apply_place *place);
