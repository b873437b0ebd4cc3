/* tuner/search/resume: a search that goes on where another command left it (--resume).
 *
 *
 * The runs of the journal count as replays of this search, but not as made after the choice. Before they are
 * taken over, the baseline and the point measured most often are measured again; where they disagree, the
 * runs become prior knowledge. The calls are no-ops without --resume. */
#pragma once

#include "tuner/search/tune.h"

#include <jansson.h>
#include <stdio.h>

/* Opens the journal of an opened session; with --dry-run it is only read. A journal of another search is
 * refused: -EINVAL with what differs. Sets the session's seed to the journal's. */
int resume_open(struct session *session, struct err *err);
void resume_close(struct session *session);

/* At the end of tune_init: length of a run, times and numbers of runs go on from the journal. */
int resume_begin(struct tune *tune, struct err *err);

/* Before the search: takes the runs over. As tune_measure. */
int resume_take_over(struct tune *tune, struct err *err);

/* Writes how long runs are from now on. keeps: earlier runs of the journal remain valid. */
void resume_decide(const struct tune *tune, bool keeps);

/* Writes the newest replay of a point to the journal. */
void resume_note(struct tune *tune, size_t point);

/* {"file", "runs": taken over, "seconds": searched before, "agrees"}, or null. */
json_t *resume_json(const struct session *session);
/* Prints the lines of the answer; an interrupted one gets a hint how to go on. */
void resume_text(FILE *out, const struct session *session, bool interrupted);
