/* tuner/nightly/retune_steps: the parts of a target's night, for tuner/nightly/retune alone. All return 0 or
 * a negative errno, unless they say otherwise. */
#pragma once

#include "tuner/nightly/retune.h"
#include "tuner/store/sql.h"

/* --- retune_ready: whether a night may be measured now --- */

#define RETUNE_READY_WHY_SIZE 256
/* Nights in a row without a measurement after which somebody should look (exit code 3). */
#define RETUNE_READY_PATIENCE 7

/* True: measure. False: why not, with the figure and its limit, for people. What is not known (NaN) is no
 * reason to wait. */
bool retune_ready(const struct host_load_facts *facts, const struct retune_ready_limits *limits,
                  char why[RETUNE_READY_WHY_SIZE]);

/* --- retune_turn: nights of many hosts on one storage ---
 *
 * A storage that other hosts have, too, is measured by so many nights at once as the target says. A turn is
 * an advisory lock of a session at the fleet's server, which gives it back when the session ends, however the
 * process does; a server that is started anew gives back all of them. */

struct retune_turn {
    struct sql server; /* its session; zeroed: there is no turn */
};

/* Waits for a turn, where the target names a fleet's server and its storage is shared, and says on standard
 * error that it waits. Sets backend and waited_ns. True: measure; also after a signal, which ends the night.
 * False: outcome->text says why not. */
bool retune_turn_take(const struct retune_world *world, struct retune_outcome *outcome,
                      struct retune_turn *ret_turn);
/* Accepts a zeroed one. */
void retune_turn_give(struct retune_turn *turn);

/* --- retune_record: decisions of this machine about a target, in the history --- */

/* Adds the history's name to an error of it, and where its disk is full the remedy. Returns result. */
int retune_record_blame(const struct retune_world *world, int result, struct err *err);
/* The newest decision about the current setting; zeroed, with id 0, where there is none. */
int retune_record_settled(const struct retune_world *world, const char *target, struct history_change *ret,
                          struct err *err);
/* A night's decision, from outcome->night where it was measured. run_id: 0 for none. */
struct history_change retune_record_change(const struct retune_outcome *outcome, enum history_kind kind,
                                           int64_t run_id, const char *text);
int retune_record_add(const struct retune_world *world, struct history_change change, struct err *err);
/* Adds that this night was not measured, and counts such nights in a row. */
int retune_record_skip(const struct retune_world *world, struct retune_outcome *outcome, struct err *err);
/* What the new setting of a night, of the verdicts first and change, comes to by what was decided before:
 * sets action, and the text that says why it is spared or held back. RETUNE_APPLIED: it should be applied. */
int retune_record_intend(const struct retune_world *world, struct retune_outcome *outcome, struct err *err);

/* --- retune_act: what is done with a night's answer --- */

/* Applies or records the advice of outcome->night, and records the night. run_id: of the history, 0: none.
 * Sets action and text. */
int retune_act(const struct retune_world *world, struct retune_outcome *outcome, int64_t run_id,
               struct err *err);
/* Brings back what a night that was stopped in the middle of applying has left; nothing to do mostly. */
int retune_act_recover(const struct retune_world *world, const struct retune_target *target, struct err *err);

/* --- retune_keep: the file of a target with `keep_file`, filled once and read by every night after ---
 *
 * It is named .fstune-NAME, in the directory that is measured. What it is like stands beside the history, in
 * DB.NAME.kept: a file that does not match it is never touched. */

/* Makes the file where there is none (*ret_filled_bytes: what that wrote; else 0) and points settings, a copy
 * of the target's, to it. -ESTALE: something else has its name; -EWOULDBLOCK: another fstune measures the
 * device. */
int retune_keep(const struct retune_world *world, const struct retune_target *target,
                struct settings *settings, uint64_t *ret_filled_bytes, struct err *err);

/* --- retune_process: a process for each target ---
 *
 * A request that the kernel does not finish holds that process and its own target; the night goes on, and the
 * program ends in time. */

/* As retune_target, in a process of its own, which opens the history by itself: world->history is not
 * touched. No other thread may run. What does not answer in time is ended, or left to the kernel where it
 * cannot be, and the outcome says so. */
bool retune_process_run(const struct retune_world *world, struct retune_outcome *outcome,
                        bool after_own_work);
