/* tuner/session/candidates: the points that a search may choose from: the asked levels, less what is illegal
 * or cannot be measured here. */
#pragma once

#include "bench/base/err.h"
#include "bench/base/factors.h"
#include "models/surrogate/space.h"
#include "tuner/session/session.h"

#include <stddef.h>

struct candidates {
    struct point *points;
    size_t n;
};

/* Levels default to interfaces.md section 3, or to the surface's table. What leaves the space is noted once
 * per reason in session->dropped. The session may be unprepared (--dry-run): then file_bytes stands for the
 * target's size and direct I/O counts as possible. 0; -EINVAL when nothing is left or a factor has a level
 * that the surface's table does not have; -ENOMEM. */
int candidates_build(struct candidates *candidates, struct session *session, uint64_t file_bytes,
                     struct err *err);
void candidates_free(struct candidates *candidates);

/* Why this point cannot be measured here; 0 when it can. Used for single points (measure, baseline) as well.
 */
int candidates_check(struct session *session, const struct point *point, uint64_t file_bytes,
                     struct err *err);

/* The same; why is noted in session->dropped, once per reason. */
int candidates_admit(struct session *session, const struct point *point, uint64_t file_bytes);

/* Adds the levels that the surface's table has for a pattern to those that are there. 0; -EINVAL: it has no
 * row for it; -ERANGE. */
int candidates_table_levels(const struct session *session, const struct pattern *pattern,
                            struct levels levels[FACTOR_N], struct err *err);

/* As numbers for the models: log2 size, log2 depth, log2 threads, then the categories direct, API, sync;
 * with split sizes log2 of the size of writes; log2 of the number of clients, where that is varied. */
#define CANDIDATES_DIMS (FACTOR_N + 1) /* at most */
int candidates_space(const struct candidates *candidates, struct space *ret_space);
