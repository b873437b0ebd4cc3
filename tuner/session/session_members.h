/* tuner/session/session_members: the targets of a session, of which the first stands in its own fields, and
 * what is true of several that are loaded together. */
#pragma once

#include "tuner/session/session.h"

/* How many targets, and the parts of each. */
uint32_t session_n_members(const struct session *session);
struct target *session_member_target(struct session *session, uint32_t member);
struct target *session_member_existing(struct session *session, uint32_t member);
const struct target_facts *session_member_facts(const struct session *session, uint32_t member);

/* What can be refused before anything is opened: options that know one target only. */
int session_members_check(const struct settings *settings, struct err *err);

/* Opens the directories, or files and devices, of all but the first. */
int session_members_open(struct session *session, struct err *err);

/* The number of a member's own file system, the member itself among them, that come behind the first ones. */
uint32_t session_members_beside(const struct session *session, uint32_t first, uint32_t member);

/* Locks the devices of all but the first, and finds them. */
int session_members_lock(struct session *session, struct err *err);

/* When all are filled: all get the size of the smallest, and are loaded together from here on. */
void session_members_join(struct session *session);

/* Rules and limits, of all members together, or of the one that runs alone. */
uint64_t session_members_warnings(const struct session *session, const struct measure_plan *plan,
                                  const struct measure_result *result);
uint64_t session_members_target_warnings(const struct session *session);
/* The next run waits until what a limit lent this one is made up for. */
void session_members_apply_limits(struct session *session, const struct measure_plan *plan,
                                  struct measure_result *result);

/* known_limits_ceiling of all members together: members on one disk share its limits. */
double session_members_ceiling(const struct session *session, const struct point *point);

/* The part of a run of all that one member did. */
struct measure_result session_member_result(const struct session *session, uint32_t member,
                                            const struct measure_result *all);

/* 0 or the first refusal of target_check_free or target_check_alone. */
int session_members_check_targets(struct session *session, struct err *err);

void session_members_close(struct session *session);
