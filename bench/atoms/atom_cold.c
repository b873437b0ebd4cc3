/* System calls between which the program uses so much memory that the caches hold nothing of the call. */
#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVICTOR_BYTES (2U << 20) /* more than second-level caches have */
#define LINE_BYTES    64U

static volatile unsigned char kept;

int atom_evictor_new(void **ret_evictor)
{
    unsigned char *evictor = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), EVICTOR_BYTES);
    if (evictor == NULL)
        return -ENOMEM;
    /* Or every fork of another test would copy its page tables. */
    (void)madvise(evictor, EVICTOR_BYTES, MADV_DONTFORK);
    memset(evictor, 1, EVICTOR_BYTES);
    *ret_evictor = evictor;
    return 0;
}

void atom_evict(const void *evictor)
{
    const unsigned char *bytes = evictor;
    unsigned char sum = 0;
    for (size_t i = 0; bytes != NULL && i < EVICTOR_BYTES; i += LINE_BYTES)
        sum = (unsigned char)(sum + bytes[i]);
    kept = sum;
}

static int open_cold(const struct atom_place *place, struct atom_shared *shared, void **ret_state)
{
    (void)place;
    (void)shared;
    return atom_evictor_new(ret_state);
}

static int run_cold_syscalls(void *state, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        atom_evict(state);
        (void)syscall(SYS_getppid);
    }
    return 0;
}

static int run_evictions(void *state, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        atom_evict(state);
    return 0;
}

ATOM(syscall_cold, "syscall_cold", "one system call of which the caches hold nothing", open_cold,
     run_cold_syscalls, free, ATOM_DELAYS_CALLS(SYS_getppid), .base = run_evictions);
