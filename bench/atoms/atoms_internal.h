/* bench/atoms/atoms_internal: the tests, and what they share with one another and nobody else. */
#pragma once

#include "bench/atoms/atoms.h"

#include <sys/types.h>

extern const struct atom atom_syscall, atom_syscall_cold, atom_exception, atom_timer, atom_integer,
    atom_floating, atom_memory, atom_switch_one, atom_switch_two, atom_futex, atom_fault_anonymous,
    atom_fault_file, atom_page_use, atom_fault_cold, atom_page_use_cold, atom_map, atom_shootdown, atom_fork,
    atom_exec, atom_cache_read, atom_cache_write, atom_direct_read_4k, atom_direct_read_64k,
    atom_direct_write_4k, atom_direct_read_queued, atom_flush, atom_tcp, atom_udp;

/* A test: its name, what its figure is of, and its functions. Behind them how its operation is delayed from
 * outside, where that is known, and .base, where something else of the loop is taken off. */
#define ATOM(row, title, operation, to_open, to_run, to_close, ...)                                          \
    const struct atom atom_##row = {.name = (title),                                                         \
                                    .per = (operation),                                                      \
                                    .open = (to_open),                                                       \
                                    .run = (to_run),                                                         \
                                    .close = (to_close),                                                     \
                                    __VA_ARGS__}
#define ATOM_DELAYS_CALLS(call) .delays_each = 1, .interceptor = &intercept_calls, .delayed_call = (call)
#define ATOM_DELAYS_FAULTS      .delays_each = 1, .interceptor = &intercept_faults

/* The basic operations of a storage; NULL behind the last. */
const struct atom *atom_storage_row(size_t i);

/* Keeps the processor busy for so long; 0: not at all. */
void atom_spin(uint64_t delay_ns);

/* How long crew_run takes, where crew is NULL, work(states[0], n). What it returns. */
int atom_time(struct crew *crew, int (*work)(void *state, uint64_t n), void *const *states, uint64_t n,
              uint64_t *ret_ns);

/* Does the shared delay. */
void atom_delay(struct atom_shared *shared);

/* Memory that fills the caches when all of it is read. Ends by free(). 0; -ENOMEM. */
int atom_evictor_new(void **ret_evictor);
/* Reads it; NULL: does nothing. */
void atom_evict(const void *evictor);

/* Puts the calling thread on the processor of that rank among those it may use; -ENODEV: there are not so
 * many. */
int atom_pin(unsigned rank);
/* Back on all that it might use before the first atom_pin. */
void atom_unpin(void);

/* A process that runs partner(context) and ends with us. */
int atom_start_partner(void (*partner)(void *context), void *context, pid_t *ret_pid);
void atom_end_partner(pid_t pid);
