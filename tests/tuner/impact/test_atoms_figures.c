/* Figures of atomic tests: a difference that may be 0 is unresolved, and what was written is read back. */
#include "tests/test.h"
#include "tuner/impact/atoms_figures.h"
#include "tuner/impact/atoms_report.h"

#include <errno.h>
#include <sys/mman.h>

#define N_ROUNDS 9

static struct atoms_figures figures, again;
static struct err err;
static double near[N_ROUNDS] = {5, 5.1, 4.9, 5.2, 4.8, 5, 5.1, 4.9, 90},
              lost[N_ROUNDS] = {-3, 2, -1, 4, 0, 1, -2, 3, -4};

FIXTURE(free_both)
{
    atoms_figures_free(&figures);
    atoms_figures_free(&again);
    return 0;
}

EACH_TEST(NULL, free_both);

static void make_figures(void)
{
    const struct atoms atoms = {
        .sample = {{.atom = atoms_row(ATOMS_SYSTEM, 0), .values_s = near, .n_values = N_ROUNDS},
                   {.atom = atoms_row(ATOMS_SYSTEM, 1), .values_s = lost, .n_values = N_ROUNDS},
                   {.atom = atoms_row(ATOMS_SYSTEM, 2), .result = -EOPNOTSUPP}},
        .n = 3,
        .n_workers = 5};
    atoms_figures_of(&atoms, 0.95, &figures);
}

static int read_text(const char *text)
{
    char path[32];
    int fd = memfd_create("atoms", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    atoms_figures_free(&again);
    int result = atoms_figures_read(path, &again, &err);
    close(fd);
    return result;
}

TEST(an_outlier_moves_the_mean_and_not_the_median)
{
    make_figures();
    assert_int_equal(figures.figure[0].status, ATOMS_MEASURED);
    assert_close(figures.figure[0].median_s, 5, 0);
    assert_true(figures.figure[0].mean_s > 14);
    assert_true(figures.figure[0].median_low_s >= 4.8 && figures.figure[0].median_low_s <= 5);
    assert_true(figures.figure[0].median_high_s >= 5 && figures.figure[0].median_high_s <= 90);
}

TEST(a_difference_that_may_be_0_is_unresolved_and_stands_as_it_is)
{
    make_figures();
    assert_int_equal(figures.figure[1].status, ATOMS_UNRESOLVED);
    assert_true(figures.figure[1].median_low_s < 0);
    assert_int_equal(figures.figure[2].status, ATOMS_NOT_HERE);
    assert_null(atoms_figures_find(&figures, atoms_row(ATOMS_SYSTEM, 1)->name));
    assert_null(atoms_figures_find(&figures, atoms_row(ATOMS_SYSTEM, 2)->name));
    assert_non_null(atoms_figures_find(&figures, atoms_row(ATOMS_SYSTEM, 0)->name));
}

TEST(more_is_wanted_until_half_of_the_interval_is_a_twentieth_of_the_median)
{
    double values[100];
    for (size_t i = 0; i < 100; i++)
        values[i] = 1 + 0.001 * (double)i;
    assert_close(atoms_figures_wanted(values, 100, 0.95), 0, 0);
    for (size_t i = 0; i < 100; i++)
        values[i] = 1 + 0.02 * (double)i;
    /* The interval is from the 40th to the 61st: half of it is a tenth of the median. */
    assert_true(atoms_figures_wanted(values, 100, 0.95) > 200 &&
                atoms_figures_wanted(values, 100, 0.95) < 400);
    assert_close(atoms_figures_wanted(values, 2, 0.95), 2, 0);
    assert_true(atoms_figures_wanted(values, 100, 0.99) > atoms_figures_wanted(values, 100, 0.95));
    make_figures();
    assert_int_equal(atoms_figures_count_narrow(&figures), 1);
}

TEST(what_was_written_is_read_back)
{
    make_figures();
    json_t *document = atoms_figures_json(&figures, false);
    AUTO(auto_free) char *text = json_dumps(document, 0);
    json_decref(document);
    assert_int_equal(read_text(text), 0);
    assert_int_equal(again.n, 3);
    assert_int_equal(again.word_bits, sizeof(void *) * 8);
    assert_int_equal(again.n_workers, 5);
    assert_close(again.figure[0].median_s, 5, 1e-9);
    assert_int_equal(again.figure[1].status, ATOMS_UNRESOLVED);
    assert_int_equal(again.figure[2].status, ATOMS_NOT_HERE);
}

TEST(a_file_with_means_alone_is_read)
{
    assert_int_equal(
        read_text("{\"schema\": \"fstune/atoms/1\", \"atoms\": [{\"name\": \"syscall\", \"mean\": 2e-7, "
                  "\"ci_low\": 1e-7, \"ci_high\": 3e-7}], \"system\": {}}"),
        0);
    assert_close(atoms_figures_find(&again, "syscall")->median_s, 2e-7, 0);
    assert_int_equal(again.n_workers, 1);
}

TEST(what_is_no_file_of_atoms_is_refused)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"{", "no JSON"},
        {"{\"schema\": \"fstune/cost/1\"}", "its schema"},
        {"{\"schema\": \"fstune/atoms/1\", \"atoms\": []}", "no atomic tests"},
        {"{\"schema\": \"fstune/atoms/1\", \"atoms\": [{\"mean\": 1}]}", "no name"},
        {"{\"schema\": \"fstune/atoms/1\", \"atoms\": [{\"name\": \"syscall\", \"mean\": -1}]}", "no time"},
    };
    for (size_t i = 0; i < N_OF(wrong); i++) {
        assert_int_equal(read_text(wrong[i].text), -EINVAL);
        assert_contains(err.text, wrong[i].words);
    }
}

TEST(a_line_through_times_in_proportion_is_linear_and_a_bent_one_is_not)
{
    static const struct atom atom = {.name = "x", .delays_each = 0.5};
    static const double delays[] = {0, 1, 2, 3, 4}, straight[] = {1, 1.5, 2, 2.5, 3},
                        bent[] = {1, 1, 1, 1, 9}, steep[] = {1, 2, 3, 4, 5};
    struct atoms_line line;
    assert_int_equal(atoms_line_of(&atom, delays, straight, 5, &line), 0);
    assert_true(line.is_linear);
    assert_close(line.slope, 0.5, 1e-12);
    assert_close(line.intercept_s, 1, 1e-12);
    assert_close(line.r_squared, 1, 1e-12);
    assert_close(line.longest_s, 4, 0);
    assert_int_equal(atoms_line_of(&atom, delays, bent, 5, &line), 0);
    assert_false(line.is_linear);
    assert_int_equal(atoms_line_of(&atom, delays, steep, 5, &line), 0);
    assert_false(line.is_linear);
    assert_int_equal(atoms_line_of(&atom, delays, straight, 2, &line), -EINVAL);
}

TEST(a_test_that_is_not_linear_is_not_used)
{
    make_figures();
    const struct atoms_line lines[] = {{.atom = atoms_row(ATOMS_SYSTEM, 0), .is_linear = false},
                                       {.atom = atoms_row(ATOMS_SYSTEM, 1), .is_linear = true}};
    atoms_lines_judge(lines, N_OF(lines), &figures);
    assert_int_equal(figures.figure[0].status, ATOMS_NOT_LINEAR);
    assert_int_equal(figures.figure[1].status, ATOMS_UNRESOLVED);
    assert_null(atoms_figures_find_any(&figures, figures.figure[0].name));
    json_t *document = atoms_figures_json(&figures, false);
    AUTO(auto_free) char *text = json_dumps(document, 0);
    json_decref(document);
    assert_int_equal(read_text(text), 0);
    assert_int_equal(again.figure[0].status, ATOMS_NOT_LINEAR);
    assert_null(atoms_figures_find_any(&again, figures.figure[0].name));
}
