/* Every atomic test repeats its activity as often as it is told, runs again and again, and takes longer by
 * the delays that are put into it. */
#include "bench/atoms/atoms.h"
#include "bench/atoms/intercept.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

static struct atoms atoms;
static struct err err;

FIXTURE(close_atoms)
{
    atoms_close(&atoms);
    return 0;
}

EACH_TEST(NULL, close_atoms);

static struct atoms_plan plan_of(const char *only)
{
    return (struct atoms_plan){.place = {.directory = "."},
                               .sample_ns = 100000,
                               .n_rounds = 3,
                               .n_workers = 1,
                               .seed = 1,
                               .only = only};
}

TEST(every_test_gives_a_value_a_round_or_says_that_it_is_not_here)
{
    const struct atoms_plan plan = plan_of(NULL);
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    size_t n_rows = 0, n_measured = 0;
    while (atoms_row(ATOMS_SYSTEM, n_rows) != NULL)
        n_rows++;
    assert_int_equal(atoms.n, n_rows);
    for (size_t i = 0; i < atoms.n; i++) {
        const struct atoms_sample *sample = &atoms.sample[i];
        if (sample->result != -EOPNOTSUPP)
            assert_int_equal(sample->result, 0);
        assert_int_equal(sample->n_values, sample->result == 0 ? plan.n_rounds : 0);
        for (uint32_t round = 0; round < sample->n_values; round++)
            assert_true(isfinite(sample->values_s[round]) && sample->values_s[round] != 0);
        n_measured += sample->result == 0;
    }
    assert_true(n_measured >= 12); /* those that need no disk, network or second processor */
}

TEST(names_are_words_and_differ)
{
    for (size_t i = 0; atoms_row(ATOMS_SYSTEM, i) != NULL; i++) {
        assert_int_equal(strspn(atoms_row(ATOMS_SYSTEM, i)->name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(atoms_row(ATOMS_SYSTEM, i)->name));
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(atoms_row(ATOMS_SYSTEM, i)->name, atoms_row(ATOMS_SYSTEM, other)->name);
    }
}

#define N_DELAYED 4

/* Whether the test is here and can be delayed here. */
static bool open_delayed(const struct atom *atom)
{
    const struct atoms_plan plan = plan_of(atom->name);
    atoms_close(&atoms);
    if (atom->delays_each <= 0)
        return false;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    atoms.sample[0].n = N_DELAYED;
    return atoms.sample[0].result != -EOPNOTSUPP;
}

TEST(a_delay_in_the_activity_is_seen_in_the_time)
{
    static const uint64_t delay_ns = 2000000;
    size_t n_seen = 0;
    for (size_t row = 0; atoms_row(ATOMS_SYSTEM, row) != NULL; row++) {
        const struct atom *atom = atoms_row(ATOMS_SYSTEM, row);
        double run_s, base_s;
        if (!open_delayed(atom))
            continue;
        int result = atoms_time_delayed(&atoms, 0, delay_ns, &run_s, &base_s);
        if (result == -EOPNOTSUPP)
            continue;
        assert_int_equal(result, 0);
        /* The delays are done one after the other while the run is timed: they cannot take less. */
        assert_true(run_s * 1e9 >= (double)delay_ns * atom->delays_each);
        n_seen++;
    }
    assert_true(n_seen >= 4); /* those that delay themselves */
}

static const struct interceptor *counted;
static unsigned n_reports;

static int begin_counted(const struct atom *atom, struct atom_shared *shared, int *ret_fd)
{
    return counted->begin(atom, shared, ret_fd);
}

static int answer_counted(int fd, struct atom_shared *shared)
{
    n_reports++;
    return counted->answer(fd, shared);
}

TEST(each_activity_is_held_up_once_and_what_comes_with_it_is_not)
{
    static const struct interceptor counting = {begin_counted, answer_counted};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("a sanitizer makes calls of its own, which are held up, too\n");
    skip();
#endif
    for (size_t row = 0; atoms_row(ATOMS_SYSTEM, row) != NULL; row++) {
        struct atom atom = *atoms_row(ATOMS_SYSTEM, row);
        double run_s, base_s;
        if (atom.interceptor == NULL || !open_delayed(&atom))
            continue;
        counted = atom.interceptor;
        atom.interceptor = &counting;
        atoms.sample[0].atom = &atom;
        n_reports = 0;
        int result = atoms_time_delayed(&atoms, 0, 0, &run_s, &base_s);
        if (result == 0)
            assert_int_equal(n_reports, N_DELAYED);
        else
            assert_int_equal(result, -EOPNOTSUPP);
        atoms_close(&atoms);
    }
}

TEST(nothing_is_held_up_afterwards)
{
    double run_s, base_s;
    if (!open_delayed(atoms_row(ATOMS_SYSTEM, 0)))
        skip();
    assert_string_equal(atoms.sample[0].atom->name, "syscall");
    (void)atoms_time_delayed(&atoms, 0, 0, &run_s, &base_s);
    assert_int_equal(prctl(PR_GET_SECCOMP), 0);
    assert_int_equal(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
}

TEST(only_the_tests_that_are_named_are_prepared)
{
    const struct atoms_plan plan = plan_of("syscall,integer");
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms.n, 2);
    assert_string_equal(atoms.sample[0].atom->name, "syscall");
}

TEST(tests_of_files_need_a_directory)
{
    struct atoms_plan plan = plan_of("cache_read_4k,flush,direct_read_4k");
    plan.place.directory = NULL;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    for (size_t i = 0; i < atoms.n; i++)
        assert_int_equal(atoms.sample[i].result, -EOPNOTSUPP);
}

TEST(an_interrupt_leaves_the_timings_that_there_are)
{
    static atomic_int interrupted;
    struct atoms_plan plan = plan_of("syscall");
    plan.interrupted = &interrupted;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    atomic_store(&interrupted, SIGINT);
    assert_int_equal(atoms_measure(&atoms, &plan), -EINTR);
    assert_int_equal(atoms.sample[0].n_values, 0);
}

/* Of a timer, more than any time suffices for; of a system call, ten. */
static double want_much_of_timers(const double *values_s, size_t n, double confidence_share)
{
    (void)confidence_share;
    return values_s[0] > 1e-5 ? 1e9 : n < 10 ? (double)(10 - n) : 0;
}

TEST(what_lacks_least_comes_first_until_the_time_is_over)
{
    struct atoms_plan plan = plan_of("syscall,timer");
    plan.budget_ns = 400000000;
    plan.wanted = want_much_of_timers;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_int_equal(atoms.sample[0].n_values, 10);
    assert_true(atoms.sample[1].n_values > 2 * plan.n_rounds);
    for (size_t round = 0; round < atoms.sample[1].n_values; round++)
        assert_true(isfinite(atoms.sample[1].values_s[round]) && atoms.sample[1].values_s[round] != 0);
}

static double want_no_more(const double *values_s, size_t n, double confidence_share)
{
    (void)confidence_share;
    (void)values_s;
    (void)n;
    return 0;
}

TEST(where_nothing_lacks_the_time_is_not_used_up)
{
    struct atoms_plan plan = plan_of("syscall");
    plan.budget_ns = 3600000000000;
    plan.wanted = want_no_more;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_int_equal(atoms.sample[0].n_values, plan.n_rounds);
}
