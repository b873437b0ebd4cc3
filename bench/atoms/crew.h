/* bench/atoms/crew: threads that do the activities of a test at the same time. The caller is one of them, so
 * that a crew of one has no thread. */
#pragma once

#include <stdint.h>

#define CREW_MAX 16

struct crew;

/* Of n_workers, 1..CREW_MAX. Ended by crew_close. 0; a negative errno: no memory or no threads. */
int crew_open(uint32_t n_workers, struct crew **ret_crew);

/* work(states[k], n) in each worker k at once; returns when all are done. 0, or what the first worker that
 * failed returned. */
int crew_run(struct crew *crew, int (*work)(void *state, uint64_t n), void *const *states, uint64_t n);

/* Accepts NULL. */
void crew_close(struct crew *crew);
