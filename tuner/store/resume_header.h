/* tuner/store/resume_header: what the runs of a journal mean, and whether they mean the same here. */
#pragma once

#include "tuner/session/session.h"

#include <jansson.h>

/* The header of a journal of this session; run_ns: length of its runs. NULL when memory ran out. The system
 * is described by session->host. */
json_t *resume_header_make(const struct session *session, uint64_t run_ns);

/* 0, or -EINVAL with the first thing that differs. What was not asked for (seed, length of a run) is the
 * journal's to say. */
int resume_header_check(const struct session *session, const json_t *header, struct err *err);

/* The same with a header of one's own, which is released; NULL is -ENOMEM. */
int resume_header_compare(const struct session *session, json_t *own, const json_t *header, struct err *err);
