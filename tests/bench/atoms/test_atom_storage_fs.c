/* The basic operations of a storage run on a real file system and leave nothing there. */
#include "bench/atoms/atoms.h"
#include "tests/test.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

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
                               .n_workers = 1,
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
        assert_int_equal(atoms.sample[i].n_values, plan.n_rounds);
        for (uint32_t round = 0; round < atoms.sample[i].n_values; round++)
            assert_true(isfinite(atoms.sample[i].values_s[round]));
    }
}

TEST(operations_run_at_the_same_time)
{
    struct atoms_plan plan = plan_of("read_4k_warm,randwrite_4k_durable,rename,mix_read_randwrite");
    plan.n_workers = 4;
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_int_equal(atoms.n, 4);
    for (size_t i = 0; i < atoms.n; i++) {
        assert_int_equal(atoms.sample[i].result, 0);
        assert_non_null(atoms.state[i][3]);
        assert_null(atoms.state[i][4]);
    }
}

/* Of the nameless file that a test has open. */
static size_t count_cached_pages(void)
{
    size_t n = 0;
    unsigned char *vector = NULL;
    for (int fd = 3; fd < 64 && vector == NULL; fd++) {
        struct stat status;
        if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 0)
            continue;
        const size_t bytes = (size_t)status.st_size, n_pages = bytes / 4096;
        void *pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
        vector = calloc(n_pages, 1);
        assert_true(pages != MAP_FAILED && vector != NULL);
        assert_int_equal(mincore(pages, bytes, vector), 0);
        for (size_t i = 0; i < n_pages; i++)
            n += vector[i] & 1;
        munmap(pages, bytes);
    }
    assert_non_null(vector);
    free(vector);
    return n;
}

TEST(pages_that_other_tests_left_are_forgotten_before_cold_reads)
{
    const struct atoms_plan plan = plan_of("randread_4k_cold,randwrite_4k_durable");
    struct statfs status;
    if (statfs(directory, &status) != 0 || status.f_type == TMPFS_MAGIC)
        skip(); /* tmpfs has no pages that could be forgotten */
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    const struct atom *reads = atoms.sample[0].atom, *writes = atoms.sample[1].atom;
    assert_int_equal(writes->run(atoms.state[1][0], 50), 0);
    assert_true(count_cached_pages() > 0);
    reads->prepare(atoms.state[0][0]);
    assert_int_equal(count_cached_pages(), 0);
}

/* What the kernel has read ahead for one of them would be read from memory by another, or again. */
TEST(workers_that_read_in_order_read_from_the_device)
{
    struct atoms_plan plan = plan_of("read_64k_cold");
    struct rusage before, after;
    struct statfs status;
    uint64_t n_bytes = 0;
    plan.n_workers = 4;
    plan.sample_ns = 50000000; /* a sixteenth of what two windows may take */
    if (statfs(directory, &status) != 0 || status.f_type == TMPFS_MAGIC)
        skip(); /* tmpfs has no device */
    assert_int_equal(atoms_open(&atoms, &plan, &err), 0);
    assert_int_equal(atoms.sample[0].result, 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(atoms_measure(&atoms, &plan), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    if (after.ru_inblock == before.ru_inblock) {
        print_message("this file system does not tell what it reads\n");
        skip();
    }
    /* Half as many again do not count, and windows begin before a timing ends. */
    n_bytes = plan.n_rounds * plan.n_workers * (atoms.sample[0].n + atoms.sample[0].n / 2) * 65536;
    const uint64_t n_read = (uint64_t)(after.ru_inblock - before.ru_inblock) * 512;
    assert_in_range(n_read, n_bytes * 9 / 10, n_bytes * 5 / 2);
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
