/* bench/collector/collector: what all wrappers do around the real call. */
#pragma once

#include "bench/collector/descriptors.h"
#include "bench/collector/sink.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The recording program sets it to the path of the shared memory. */
#define COLLECTOR_VARIABLE "FSTUNE_PROFILE_STORE"

/* Begins a function that stands before libc's of the same name; the headers' own declarations, which may be
 * macros or redirected to a twin for large files, do not get in its way. */
#define WRAPPER(RESULT, NAME, ...)                                                                           \
    RESULT wrapped_##NAME(__VA_ARGS__) __asm__(#NAME);                                                       \
    __attribute__((visibility("default"))) RESULT wrapped_##NAME(__VA_ARGS__)

/* Declares `real`, the function that the program would have called. */
#define REAL(RESULT, NAME, ...)                                                                              \
    static union {                                                                                           \
        void *address;                                                                                       \
        RESULT (*call)(__VA_ARGS__);                                                                         \
    } real;                                                                                                  \
    if (__atomic_load_n(&real.address, __ATOMIC_RELAXED) == NULL)                                            \
    __atomic_store_n(&real.address, collector_real(#NAME), __ATOMIC_RELAXED)

/* Ends the process when there is no such function: the program could not have called it. */
void *collector_real(const char *name);

/* Whether anything is recorded in this process. */
bool collector_is_on(void);
/* Whether it may be recorded later, if it is not now. */
bool collector_is_followed(void);

uint64_t collector_now_ns(void);
uint32_t collector_thread(void);

/* The program is about to forbid itself system calls (seccomp): from now on none is made for the recording,
 * and what was not known before cannot be followed. */
void collector_restrict(void);
/* The strict mode of seccomp takes the clock away, too: nothing more is recorded in this process. */
void collector_leave(void);

/* Whether this is the process whose descriptors are known: not one that shares its memory (vfork). */
bool collector_owns_descriptors(void);

#define COLLECTOR_POSITION (-1LL) /* in the place of an offset: where the descriptor stands */

/* A read or a write that is under way. */
struct collector_call {
    struct descriptor *descriptor; /* NULL: nothing is recorded */
    bool is_other;                 /* recorded as a call on what is no file */
    bool moves;
    bool is_second; /* half of a copy whose other half is in flight already */
    bool is_passed; /* not recorded, but where the descriptor stands is followed */
    int fd;
    unsigned flags;
    uint64_t offset, start_ns;
};

struct collector_call collector_begin(int fd, int64_t offset, unsigned flags);
/* The write of a copy that one call makes: one request in flight, not two. */
struct collector_call collector_begin_second(int fd, int64_t offset, unsigned flags);
/* Keeps errno. Returns result. */
ssize_t collector_end(const struct collector_call *call, ssize_t result);

/* A flush; returns result and keeps errno. */
int collector_flushed(int fd, uint64_t start_ns, int result);
