/* Tests of models/library: whichever allocation fails, of the library or of GSL under it, nothing but the
 * call fails, and nothing is lost.
 *
 * The program has malloc and its kin itself, so that those of GSL come here, too. */
#include "tests/models/library/library_rig.h"

#include <errno.h>
#include <gsl/gsl_errno.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 0
#else
#define HAS_OWN_MALLOC 1

void *__libc_malloc(size_t n_bytes);
void *__libc_calloc(size_t n, size_t n_bytes);
void *__libc_realloc(void *memory, size_t n_bytes);
void __libc_free(void *memory);
#endif

static volatile bool counts;                   /* volatile: compilers know that malloc changes no variable */
static volatile size_t n_allocations, failing; /* the number of the one that fails; 0: none */
static volatile long n_held;

#if HAS_OWN_MALLOC
static bool fails(void)
{
    return counts && ++n_allocations == failing;
}

static void *hold(void *memory)
{
    n_held += counts && memory != NULL;
    return memory;
}

void *malloc(size_t n_bytes)
{
    return fails() ? NULL : hold(__libc_malloc(n_bytes));
}

void *calloc(size_t n, size_t n_bytes)
{
    return fails() ? NULL : hold(__libc_calloc(n, n_bytes));
}

void *realloc(void *memory, size_t n_bytes)
{
    if (fails())
        return NULL;
    n_held -= counts && memory != NULL;
    return hold(__libc_realloc(memory, n_bytes));
}

void free(void *memory)
{
    n_held -= counts && memory != NULL;
    __libc_free(memory);
}
#endif

static bool can_fail(void)
{
    counts = true;
    fst_space_free(fst_space_new());
    counts = false;
    if (n_allocations == 0)
        print_message("allocations are a sanitizer's or valgrind's here\n");
    return n_allocations > 0;
}

GROUP_NEEDS(can_fail);

static struct fst_space *small_space(void)
{
    struct fst_space *space = fst_space_new();
    if (space != NULL &&
        (fst_space_add_sizes(space, "block", 4096, 65536) < 0 ||
         fst_space_add_choices(space, "direct", 2) < 0 || fst_space_not_with(space, 1, 1, 0, 4096) < 0)) {
        fst_space_free(space);
        return NULL;
    }
    return space;
}

static struct fst_search *small_search(void)
{
    static const struct fst_limit limit = {"memory", 50e3, 0};
    struct fst_options options = FST_OPTIONS;
    options.budget = 30;
    options.run_cost = 1;
    options.limits = &limit;
    options.n_limits = 1;
    struct fst_space *space = small_space();
    struct fst_search *search = space != NULL ? fst_search_new(space, &options) : NULL;
    fst_space_free(space);
    return search;
}

/* Whether a call that failed lacked memory; nothing else may be wrong. */
static bool lacks_memory(int result)
{
    assert_true(result >= 0 || result == -ENOMEM);
    return result < 0;
}

/* A call that lacked memory is made once more. */
static int ask_again(struct fst_search *search, struct fst_run *ret_run)
{
    int asked = fst_ask(search, FST_USED_COSTS, ret_run);
    return lacks_memory(asked) ? fst_ask(search, FST_USED_COSTS, ret_run) : asked;
}

static void save_and_load(const struct fst_search *search)
{
    char *text;
    size_t n;
    int saved = fst_save(search, &text, &n);
    if (saved < 0) {
        assert_true(saved == -ENOMEM || saved == -ENOTSUP);
        return;
    }
    struct fst_search *again = fst_load(text, n);
    assert_true(again != NULL || errno == ENOMEM);
    fst_search_free(again);
    fst_text_free(text);
}

/* A short search from its beginning to its end, saved on its way; how many runs it had. */
static size_t search_once(struct fst_answer *ret_answer)
{
    struct fst_search *search = small_search();
    struct fst_run run;
    size_t n = 0;
    int asked;
    if (search == NULL)
        return 0;
    while ((asked = ask_again(search, &run)) == 1) {
        double effect = run.values[0];
        struct fst_result result = {.value = run.values[0] + 1e4 * run.values[1] + 1e3 * sin((double)n),
                                    .cost = 1,
                                    .std_error = 500,
                                    .n = 6,
                                    .effects = &effect};
        lacks_memory(fst_tell_result(search, &run, &result));
        if (++n == 12)
            save_and_load(search);
    }
    assert_int_equal(asked, 0);
    assert_int_equal(fst_answer(search, ret_answer), 0);
    fst_search_free(search);
    return n;
}

/* Fails the allocation of this number; whether there were so many. gsl_matrix_alloc itself loses the head of
 * a matrix whose numbers find no room (GSL 2.7), and nothing else may be lost. */
static bool search_with_a_failure(size_t number)
{
    struct fst_answer answer;
    n_allocations = 0;
    failing = number;
    n_held = 0;
    counts = true;
    search_once(&answer);
    counts = false;
    if (n_held < 0 || n_held > 1)
        fail_msg("%ld allocations are lost after the failure of number %zu", (long)n_held, number);
    return n_allocations >= number;
}

static void end_the_test(const char *reason, const char *file, int line, int code)
{
    fail_msg("%s (%s:%d, %d)", reason, file, line, code);
}

TEST(every_allocation_may_fail)
{
    gsl_error_handler_t *before = gsl_set_error_handler(end_the_test);
    size_t number = 1;
    while (search_with_a_failure(number))
        number++;
    print_message("%zu allocations\n", number - 1);
    assert_true(number > 300);
    assert_ptr_equal(gsl_set_error_handler(before), end_the_test);
}
