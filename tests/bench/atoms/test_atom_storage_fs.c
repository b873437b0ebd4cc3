/* The basic operations of a storage run on a real file system and leave nothing there. */
#include "bench/atoms/atoms.h"
#include "tests/test.h"

#include <errno.h>

static struct atoms atoms;
static struct err err;
static char directory[] = "fstune-storage-XXXXXX";

FIXTURE(make_directory)
{
    return mkdtemp(directory) == NULL;
}

FIXTURE(remove_directory)
{
    return rmdir(directory); /* fails unless it is empty */
}

FIXTURE(close_atoms)
{
    atoms_close(&atoms);
    return 0;
}

GROUP(make_directory, remove_directory);
EACH_TEST(NULL, close_atoms);

static struct atoms_plan plan_of(const char *only)
{
    return (struct atoms_plan){.set = ATOMS_STORAGE,
                               .place = {.directory = directory},
                               .sample_ns = 200000,
                               .n_rounds = 2,
                               .seed = 1,
                               .only = only};
}

TEST(every_operation_gives_a_value_a_round)
{
    const struct atoms_plan plan = plan_of(NULL);
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_true(atoms.n > 30);
    for (size_t i = 0; i < atoms.n; i++) {
        assert_int_equal(atoms.sample[i].result, 0);
        for (uint32_t round = 0; round < atoms.n_rounds; round++)
            assert_true(isfinite(atoms.sample[i].values_s[round]));
    }
}

TEST(the_files_of_tests_are_opened_again_after_they_were_closed)
{
    for (int i = 0; i < 2; i++) {
        const struct atoms_plan plan = plan_of("read_4k_warm,read_4k_cold,randwrite_4k_warm");
        assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
        assert_int_equal(atoms_measure(&atoms, &plan), 0);
        for (size_t k = 0; k < atoms.n; k++)
            assert_int_equal(atoms.sample[k].result, 0);
        atoms_close(&atoms);
    }
}

TEST(a_directory_that_is_not_there_gives_no_values)
{
    struct atoms_plan plan = plan_of("stat,read_4k_warm");
    plan.place.directory = "/absent";
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    for (size_t i = 0; i < atoms.n; i++)
        assert_int_equal(atoms.sample[i].result, -ENOENT);
}
