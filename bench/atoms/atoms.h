/* bench/atoms/atoms: the atomic tests (Klemenkov 2011): what one activity costs here.
 *
 * A test repeats its activity n times, so that its time is linear in n; where other work comes with each
 * repetition, a second function does that work alone, and the difference counts. A difference may be lost in
 * noise, and even below 0: it is handed out as it is. Where a delay can be put into the activity itself, the
 * test can be shown to be linear in it (delays_each). */
#pragma once

#include "bench/atoms/crew.h"
#include "bench/base/err.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a test works with: where its files go, and the delay that it puts into each activity. */
struct atom;
struct interceptor;

struct atom_place {
    const char *directory;      /* NULL: tests of files are left out */
    const struct atom *atom;    /* the test that is opened */
    uint32_t worker, n_workers; /* of the tests of storage: who of how many that work at the same time */
};

/* Memory that the partner of a test shares, be it a thread or a process. */
struct atom_shared {
    _Atomic uint64_t delay_ns;
    atomic_int turn, stop;
    int fault_fd; /* where has_fault_fd: the userfaultfd that holds up faults */
    bool has_fault_fd;
};

struct atom {
    const char *name, *per;
    uint32_t kind, size_bytes; /* of the tests of storage, which share their functions */
    /* Delays of one activity that one delay of `shared` causes; 0: the test takes none. */
    double delays_each;
    const struct interceptor *interceptor; /* who delays; NULL: the test itself */
    uint32_t delayed_call, delayed_bytes;  /* by intercept_calls: its number; its size, 0: any */
    /* Prepares; *ret_state for the others. 0; -EOPNOTSUPP: not here; other negative errno. */
    int (*open)(const struct atom_place *place, struct atom_shared *shared, void **ret_state);
    void (*prepare)(void *state);             /* before each timing, by one worker; NULL: nothing */
    uint64_t (*least)(const void *state);     /* activities that a timing has; NULL: any number will do */
    int (*run)(void *state, uint64_t n);      /* n activities and what comes with them */
    int (*base)(void *state, uint64_t n);     /* only what comes with them; NULL: nothing does */
    int (*base_too)(void *state, uint64_t n); /* more of that, timed by itself; NULL: no more */
    void (*close)(void *state);               /* accepts NULL */
};

/* The activities of a system; and the basic operations of a storage, whose costs are its system vector. */
enum atoms_set { ATOMS_SYSTEM, ATOMS_STORAGE };

/* All of a set; NULL behind the last. */
const struct atom *atoms_row(enum atoms_set set, size_t i);

#define ATOMS_MAX 40

struct atoms_plan {
    enum atoms_set set;
    struct atom_place place;
    uint64_t sample_ns; /* about how long one timing lasts */
    uint32_t n_rounds;  /* timings of each test, at least */
    /* Preparation and rounds last so long in all, with more rounds of the tests of which more timings are
     * wanted; 0: there are no more. */
    uint64_t budget_ns;
    double (*wanted)(const double *values_s, size_t n, double confidence_share); /* how many; 0: none */
    double confidence_share;                                                     /* that it is asked with */
    uint32_t n_workers; /* 1..CREW_MAX; above 1 of tests of storage only: so many activities are under way at
                           a time */
    uint64_t seed;      /* of the order */
    const char *only;   /* names with commas between; NULL: all */
    const atomic_int *interrupted;
};

/* One test: */
struct atoms_sample {
    const struct atom *atom;
    int result;       /* of its preparation and its runs; where negative there are no values */
    uint64_t n;       /* activities of a timing, of each worker */
    double *values_s; /* [n_values] seconds of one activity, in the order in which they were timed */
    size_t n_values, n_places;
    uint64_t spent_ns; /* by all timings */
};

struct atoms {
    struct atoms_sample sample[ATOMS_MAX];
    void *state[ATOMS_MAX][CREW_MAX];
    struct crew *crew;
    uint32_t n_workers;
    struct atom_shared *shared; /* one for each test */
    size_t n;
    uint64_t start_ns; /* of their preparation */
};

/* Prepares the tests and finds how often each repeats its activity. A test that fails keeps its errno. 0 or a
 * negative errno; atoms_close in any case. */
int atoms_open(struct atoms *atoms, const struct atoms_plan *plan, struct err *err);

/* Rounds of all tests in random order, then of those of which more is wanted. 0; -EINTR with the timings that
 * there are; -ENOMEM. */
int atoms_measure(struct atoms *atoms, const struct atoms_plan *plan);

/* One timing of test i with this delay in each activity: seconds of one activity with what comes with it, and
 * of the latter alone. */
int atoms_time_delayed(struct atoms *atoms, size_t i, uint64_t delay_ns, double *ret_run_s,
                       double *ret_base_s);

void atoms_close(struct atoms *atoms);
