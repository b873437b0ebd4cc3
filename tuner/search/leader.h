/* tuner/search/leader: what leader.c and leader_files.c have in common. A failure names the client. */
#pragma once

#include "tuner/search/clients.h"

/* To all: the first failure, behind which the others are told all the same. */
int leader_tell_all(struct clients *clients, const struct clients_command *command, struct err *err);

int leader_hear(struct clients *clients, uint32_t rank, int kind, void *data, size_t size, uint64_t until_ns,
                struct err *err);

/* An error of another client, with its name. */
int leader_pass_on(const struct clients *clients, uint32_t rank, int code, const char *text, struct err *err);

/* All are ready; -ECANCELED: one says that it never will be. */
int leader_gather(struct clients *clients, struct err *err);

/* The word to begin, or, where result is an error, that there is nothing to begin. Returns result, or its own
 * failure. */
int leader_start_all(struct clients *clients, int result, uint64_t start_ns, struct err *err);

/* The roles' prepare and join. */
int leader_files_prepare(struct session *session, struct err *err);
int leader_files_join(struct session *session, int result, struct err *err);
