/* The table of tests, and their measurement in random order. */
#include "bench/atoms/atoms.h"

#include "bench/atoms/atoms_internal.h"
#include "bench/atoms/intercept.h"
#include "bench/base/clock.h"
#include "bench/base/rng.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_REPETITIONS (1ULL << 30)
#define LONGEST_SAMPLES  16 /* as long as asked for, at most, for the sake of `least` */
#define CALIBRATIONS     3  /* the least of so many timings decides the number of repetitions */

static const struct atom *const table[] = {
    &atom_syscall,
    &atom_syscall_cold,
    &atom_exception,
    &atom_switch_one,
    &atom_switch_two,
    &atom_futex,
    &atom_timer,
    &atom_fault_anonymous,
    &atom_fault_cold,
    &atom_fault_file,
    &atom_page_use,
    &atom_page_use_cold,
    &atom_map,
    &atom_shootdown,
    &atom_fork,
    &atom_exec,
    &atom_cache_read,
    &atom_cache_write,
    &atom_direct_read_4k,
    &atom_direct_read_64k,
    &atom_direct_write_4k,
    &atom_direct_read_queued,
    &atom_flush,
    &atom_tcp,
    &atom_udp,
    &atom_integer,
    &atom_floating,
    &atom_memory,
};

_Static_assert(sizeof table / sizeof table[0] <= ATOMS_MAX, "the table has outgrown ATOMS_MAX");

const struct atom *atoms_row(enum atoms_set set, size_t i)
{
    if (set == ATOMS_STORAGE)
        return atom_storage_row(i);
    return i < sizeof table / sizeof table[0] ? table[i] : NULL;
}

void atom_spin(uint64_t delay_ns)
{
    const uint64_t start_ns = delay_ns > 0 ? clock_now_ns(&clock_monotonic) : 0;
    while (delay_ns > 0 && clock_now_ns(&clock_monotonic) - start_ns < delay_ns)
        ;
}

void atom_delay(struct atom_shared *shared)
{
    atom_spin(atomic_load_explicit(&shared->delay_ns, memory_order_relaxed));
}

/* What the thread might use before it was pinned. */
static cpu_set_t allowed;
static bool is_known;

int atom_pin(unsigned rank)
{
    cpu_set_t one;
    /* Written once, before any thread is made that reads it. */
    if (!is_known && sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -errno;
    if (!is_known)
        is_known = true;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || rank-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return sched_setaffinity(0, sizeof one, &one) == 0 ? 0 : -errno;
    }
    return -ENODEV;
}

void atom_unpin(void)
{
    if (is_known)
        (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

int atom_start_partner(void (*partner)(void *context), void *context, pid_t *ret_pid)
{
    const pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        signal(SIGINT, SIG_IGN); /* of the terminal; we end it */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
            partner(context);
        _exit(0);
    }
    *ret_pid = pid;
    return 0;
}

void atom_end_partner(pid_t pid)
{
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}

static bool is_wanted(const char *only, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = only; at != NULL && *at != '\0'; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        if (n == length && strncmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return only == NULL;
}

int atom_time(struct crew *crew, int (*work)(void *state, uint64_t n), void *const *states, uint64_t n,
              uint64_t *ret_ns)
{
    const uint64_t start_ns = clock_now_ns(&clock_monotonic);
    int result = crew != NULL ? crew_run(crew, work, states, n) : work(states[0], n);
    *ret_ns = clock_now_ns(&clock_monotonic) - start_ns;
    return result;
}

/* After a preparation journals and devices begin slowly for some milliseconds, which are not counted. */
static int time_prepared(struct crew *crew, const struct atom *atom, int (*work)(void *state, uint64_t n),
                         void *const *states, uint64_t n, uint64_t *ret_ns)
{
    int result = 0;
    if (atom->prepare != NULL) {
        atom->prepare(states[0]);
        result = atom_time(crew, work, states, n / 2, ret_ns);
    }
    return result == 0 ? atom_time(crew, work, states, n, ret_ns) : result;
}

/* Doubles the repetitions until a timing is long enough. */
static int calibrate_repetitions(struct crew *crew, const struct atom *atom, void *const *states,
                                 uint64_t sample_ns, uint64_t *ret_n)
{
    const uint64_t least = atom->least != NULL ? atom->least(states[0]) : 0;
    for (uint64_t n = 2;; n *= 2) {
        uint64_t least_ns = UINT64_MAX, ns;
        for (int i = 0; i < CALIBRATIONS && least_ns > 0; i++) {
            int result = time_prepared(crew, atom, atom->run, states, n, &ns);
            if (result < 0)
                return result;
            least_ns = ns < least_ns ? ns : least_ns;
            if (ns >= 2 * sample_ns) /* more tries would tell nothing new */
                break;
        }
        *ret_n = n;
        const bool is_enough = n >= least || least_ns >= LONGEST_SAMPLES * sample_ns;
        if ((least_ns >= sample_ns && is_enough) || n >= MOST_REPETITIONS)
            return 0;
    }
}

static int open_sample(struct atoms *atoms, const struct atoms_plan *plan, const struct atom *atom)
{
    struct atoms_sample *sample = &atoms->sample[atoms->n];
    *sample = (struct atoms_sample){.atom = atom,
                                    .values_s = calloc(plan->n_rounds, sizeof *sample->values_s),
                                    .n_places = plan->n_rounds};
    if (sample->values_s == NULL)
        return -ENOMEM;
    void **states = atoms->state[atoms->n];
    struct atom_place place = plan->place;
    place.atom = atom;
    place.n_workers = plan->n_workers;
    for (place.worker = 0; place.worker < plan->n_workers && sample->result == 0; place.worker++)
        sample->result = atom->open(&place, &atoms->shared[atoms->n], &states[place.worker]);
    if (sample->result == 0)
        sample->result = calibrate_repetitions(atoms->crew, atom, states, plan->sample_ns, &sample->n);
    atoms->n++;
    return 0;
}

int atoms_open(struct atoms *atoms, const struct atoms_plan *plan, struct err *err)
{
    *atoms = (struct atoms){.start_ns = clock_now_ns(&clock_monotonic)};
    void *shared = mmap(NULL, ATOMS_MAX * sizeof *atoms->shared, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return err_sys(err, -errno, "no memory for the atomic tests");
    atoms->shared = shared;
    atoms->n_workers = plan->n_workers;
    int result = crew_open(plan->n_workers, &atoms->crew);
    if (result < 0)
        return err_sys(err, result, "%u threads cannot be started; give a smaller --queue-depth",
                       plan->n_workers);
    for (size_t i = 0; atoms_row(plan->set, i) != NULL; i++) {
        const struct atom *atom = atoms_row(plan->set, i);
        if (is_wanted(plan->only, atom->name) && open_sample(atoms, plan, atom) < 0)
            return err_set(err, -ENOMEM, "no memory for the atomic tests");
        if (plan->interrupted != NULL && atomic_load(plan->interrupted) != 0)
            return err_set(err, -EINTR, "interrupted");
    }
    return 0;
}

/* One of the two timings of a test: seconds of one activity. */
static int time_half(struct atoms *atoms, size_t i, bool is_base, bool is_held_up, double *ret_s)
{
    const struct atoms_sample *sample = &atoms->sample[i];
    int (*work)(void *state, uint64_t n) = is_base ? sample->atom->base : sample->atom->run;
    uint64_t ns = 0;
    int result = 0;
    if (work != NULL && is_held_up && sample->atom->interceptor != NULL)
        result = intercept_run(sample->atom, work, atoms->state[i][0], sample->n, &atoms->shared[i], &ns);
    else if (work != NULL)
        result = time_prepared(atoms->crew, sample->atom, work, atoms->state[i], sample->n, &ns);
    if (result == 0 && is_base && sample->atom->base_too != NULL) {
        uint64_t too_ns;
        result = time_prepared(atoms->crew, sample->atom, sample->atom->base_too, atoms->state[i], sample->n,
                               &too_ns);
        ns += too_ns;
    }
    *ret_s = (double)ns / (double)(sample->n * atoms->n_workers) / 1e9;
    return result;
}

/* The two timings follow each other, so that a slow spell meets both. */
static int time_once(struct atoms *atoms, size_t i, bool base_first, double *ret_s)
{
    double run_s = 0, base_s = 0;
    int result = 0;
    for (int half = 0; half < 2 && result == 0; half++) {
        const bool is_base = (half == 0) == base_first;
        result = time_half(atoms, i, is_base, false, is_base ? &base_s : &run_s);
    }
    *ret_s = run_s - base_s;
    return result;
}

int atoms_time_delayed(struct atoms *atoms, size_t i, uint64_t delay_ns, double *ret_run_s,
                       double *ret_base_s)
{
    atomic_store(&atoms->shared[i].delay_ns, delay_ns);
    int result = time_half(atoms, i, false, true, ret_run_s);
    if (result == 0)
        result = time_half(atoms, i, true, true, ret_base_s);
    atomic_store(&atoms->shared[i].delay_ns, 0);
    return result;
}

static int make_room(struct atoms_sample *sample)
{
    if (sample->n_values < sample->n_places)
        return 0;
    double *values_s = realloc(sample->values_s, 2 * sample->n_places * sizeof *values_s);
    if (values_s == NULL)
        return -ENOMEM;
    sample->values_s = values_s;
    sample->n_places *= 2;
    return 0;
}

/* One timing of each of these tests, in random order. */
static int time_round(struct atoms *atoms, const struct atoms_plan *plan, const size_t *tests, size_t n,
                      struct rng *rng)
{
    size_t order[ATOMS_MAX];
    rng_order(rng, order, n);
    for (size_t k = 0; k < n; k++) {
        const size_t i = tests[order[k]];
        struct atoms_sample *sample = &atoms->sample[i];
        if (plan->interrupted != NULL && atomic_load(plan->interrupted) != 0)
            return -EINTR;
        if (sample->result != 0)
            continue;
        if (make_room(sample) < 0)
            return -ENOMEM;
        const uint64_t start_ns = clock_now_ns(&clock_monotonic);
        sample->result = time_once(atoms, i, rng_uniform(rng) < 0.5, &sample->values_s[sample->n_values]);
        sample->n_values += sample->result == 0;
        sample->spent_ns += clock_now_ns(&clock_monotonic) - start_ns;
    }
    return 0;
}

/* What more a test wants. */
struct want {
    size_t test;
    double time_ns;
};

static int compare_wants(const void *a, const void *b)
{
    const struct want *left = a, *right = b;
    return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* The tests whose wants cost least time, as many as the time that is left pays for, and one in any case:
 * first come the most tests that can still get an interval that is narrow. Returns how many. */
static size_t choose_tests(const struct atoms *atoms, const struct atoms_plan *plan, uint64_t left_ns,
                           size_t *ret_tests)
{
    struct want wants[ATOMS_MAX] = {0};
    size_t n = 0, n_chosen = 0;
    double sum_ns = 0;
    for (size_t i = 0; i < atoms->n; i++) {
        const struct atoms_sample *sample = &atoms->sample[i];
        double n_wanted = sample->result == 0 && sample->n_values > 0
                              ? plan->wanted(sample->values_s, sample->n_values, plan->confidence_share)
                              : 0;
        if (n_wanted > 0)
            wants[n++] = (struct want){i, n_wanted * (double)sample->spent_ns / (double)sample->n_values};
    }
    qsort(wants, n, sizeof wants[0], compare_wants);
    for (; n_chosen < n && (n_chosen == 0 || sum_ns + wants[n_chosen].time_ns <= (double)left_ns);
         n_chosen++) {
        ret_tests[n_chosen] = wants[n_chosen].test;
        sum_ns += wants[n_chosen].time_ns;
    }
    return n_chosen;
}

int atoms_measure(struct atoms *atoms, const struct atoms_plan *plan)
{
    const uint64_t end_ns = atoms->start_ns + plan->budget_ns;
    size_t tests[ATOMS_MAX], n = atoms->n;
    uint64_t now_ns;
    struct rng rng;
    int result = 0;
    rng_init(&rng, plan->seed);
    for (size_t i = 0; i < n; i++)
        tests[i] = i;
    for (uint32_t round = 0; round < plan->n_rounds && result == 0; round++)
        result = time_round(atoms, plan, tests, n, &rng);
    while (result == 0 && n > 0 && (now_ns = clock_now_ns(&clock_monotonic)) < end_ns) {
        n = choose_tests(atoms, plan, end_ns - now_ns, tests);
        result = time_round(atoms, plan, tests, n, &rng);
    }
    return result;
}

void atoms_close(struct atoms *atoms)
{
    for (size_t i = 0; i < atoms->n; i++) {
        for (uint32_t k = 0; k < atoms->n_workers && atoms->state[i][k] != NULL; k++)
            atoms->sample[i].atom->close(atoms->state[i][k]);
        free(atoms->sample[i].values_s);
    }
    crew_close(atoms->crew);
    if (atoms->shared != NULL)
        munmap(atoms->shared, ATOMS_MAX * sizeof *atoms->shared);
    *atoms = (struct atoms){0};
}
