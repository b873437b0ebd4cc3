/* tuner/store/save: the runs of a command in a history, as they are made (--save).
 *
 * The calls are no-ops without --save. Whatever goes wrong after save_open ends the saving and not the
 * measurement: a warning says that the history is not complete. */
#pragma once

#include "bench/base/err.h"
#include "bench/run/measure.h"
#include "tuner/session/samples.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct session;

/* Opens or makes the history; with --dry-run an existing one is only looked at. As history_open. */
int save_open(struct session *session, struct err *err);
void save_close(struct session *session);

struct history;

/* Instead of save_open and save_begin, for a run that somebody else began in a history of theirs, which is
 * borrowed and outlives the session; they finish it, too. 0 or -ENOMEM. */
int save_attach(struct session *session, struct history *history, int64_t run_id);

/* Of a prepared session: the run begins. */
void save_begin(struct session *session, const char *command);

/* One more replay. */
void save_note(struct session *session, const struct point *point, const struct sample *sample,
               const struct measure_result *result);
/* The same where points alone do not tell replays apart: as conditions of struct history_replay. */
void save_note_under(struct session *session, const char *conditions, const struct point *point,
                     const struct sample *sample, const struct measure_result *result);
/* Those so far do not count among those to come. */
void save_set_aside(struct session *session);

bool save_is_on(const struct session *session);
/* After the answer was printed: keeps it (borrowed; NULL: there is none) and says where, or prints the
 * warning that it could not be kept. exit_code: of the command. */
void save_finish(struct session *session, int exit_code, const json_t *answer);
