/* Every atomic test repeats its activity as often as it is told, runs again and again, and takes longer by
 * the delays that are put into it. */
#include "bench/atoms/atoms.h"
#include "tests/test.h"

#include <errno.h>
#include <signal.h>

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
    return (struct atoms_plan){
        .place = {.directory = "."}, .sample_ns = 100000, .n_rounds = 3, .seed = 1, .only = only};
}

TEST(every_test_gives_a_value_a_round_or_says_that_it_is_not_here)
{
    const struct atoms_plan plan = plan_of(NULL);
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_int_equal(atoms.n_rounds, plan.n_rounds);
    size_t n_rows = 0, n_measured = 0;
    while (atoms_row(ATOMS_SYSTEM, n_rows) != NULL)
        n_rows++;
    assert_int_equal(atoms.n, n_rows);
    for (size_t i = 0; i < atoms.n; i++) {
        const struct atoms_sample *sample = &atoms.sample[i];
        if (sample->result != -EOPNOTSUPP)
            assert_int_equal(sample->result, 0);
        for (uint32_t round = 0; sample->result == 0 && round < atoms.n_rounds; round++)
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

TEST(a_delay_in_the_activity_is_seen_in_the_time)
{
    const double delay_s = 0.002;
    for (size_t row = 0; atoms_row(ATOMS_SYSTEM, row) != NULL; row++) {
        const struct atom *atom = atoms_row(ATOMS_SYSTEM, row);
        const struct atoms_plan plan = plan_of(atom->name);
        double s;
        if (!atom->can_delay)
            continue;
        atoms_close(&atoms);
        assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
        if (atoms.sample[0].result == -EOPNOTSUPP)
            continue;
        atoms.sample[0].n = 4;
        assert_int_equal(atoms_time_delayed(&atoms, 0, (uint64_t)(delay_s * 1e9), &s), 0);
        /* A machine that is busy adds to it; nothing takes away, but what the base does is noise of far
         * below. */
        assert_true(s > 0.9 * delay_s * atom->delays_each);
    }
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

TEST(an_interrupt_leaves_the_rounds_that_are_complete)
{
    static atomic_int interrupted;
    struct atoms_plan plan = plan_of("syscall");
    plan.interrupted = &interrupted;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    atomic_store(&interrupted, SIGINT);
    assert_int_equal(atoms_measure(&atoms, &plan), -EINTR);
    assert_int_equal(atoms.n_rounds, 0);
}
