/* tests/test: tests that register themselves with cmocka, in the order of their lines, and a comparison of
 * doubles in double precision (cmocka 1.1.5 compares floats). tests/test.c has the main function. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A test: TEST(name_that_states_a_fact) { ... }. `*test_state` is what its setup left for it. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
/* A test with a setup and a teardown of its own; either may be NULL. */
#define TEST_WITH(name, setup, teardown)                                                                     \
    static void name(void **test_state);                                                                     \
    __attribute__((constructor)) static void test_register_##name(void)                                      \
    {                                                                                                        \
        test_register(__FILE__, __LINE__, #name, name, setup, teardown, NULL);                               \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **test_state)

/* The head of a setup or teardown, which returns 0, or anything else where it failed. */
#define FIXTURE(name) static int name(__attribute__((unused)) void **test_state)

/* Once a file, where they are wanted; each may be NULL. GROUP: before the first test and after the last.
 * EACH_TEST: around every TEST, but not around a TEST_WITH. GROUP_NEEDS: unless the function returns true,
 * having said why, all tests are skipped. */
#define GROUP(setup, teardown)     const struct test_fixtures test_group = {setup, teardown}
#define EACH_TEST(setup, teardown) const struct test_fixtures test_each = {setup, teardown}
#define GROUP_NEEDS(function)      bool (*const test_needs)(void) = function

struct test_fixtures {
    CMFixtureFunction setup, teardown;
};

extern const struct test_fixtures test_group, test_each;
extern bool (*const test_needs)(void);

/* `state` is what *test_state of the setup is at first. */
void test_register(const char *file, int line, const char *name, CMUnitTestFunction function,
                   CMFixtureFunction setup, CMFixtureFunction teardown, void *state);

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* How many trials a test makes that asks how often something holds of n. A sanitizer looks for other faults,
 * in ten times the time: half will do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRIALS(n) (((n) + 1) / 2)
#else
#define TRIALS(n) (n)
#endif

/* Before a declaration: release(&variable) is called where the variable's block ends. Not when a check fails
 * or skips, which leaves the test by a jump. */
#define AUTO(release) __attribute__((cleanup(release)))

/* For what malloc, open and fopen return. */
static inline void auto_free(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof(memory));
    free(memory);
}

static inline void auto_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void auto_fclose(FILE **file)
{
    fclose(*file);
}

/* A stream into *ret_text, which is a text once the stream is closed, and is to be freed. */
static inline FILE *memory_stream(char **ret_text)
{
    static size_t n_bytes; /* which nobody asks for */
    FILE *stream = open_memstream(ret_text, &n_bytes);
    assert_non_null(stream);
    return stream;
}

/* Fails, printing both values, unless |actual - expected| <= tolerance; NaN on either side fails. */
#define assert_close(actual, expected, tolerance)                                                            \
    check_close((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)

static inline void check_close(double actual, double expected, double tolerance, const char *what,
                               const char *file, int line)
{
    /* Equality first: two infinities of one sign are equal, their difference is NaN. */
    if (actual == expected || fabs(actual - expected) <= tolerance)
        return;
    print_error("%s: %.17g is not within %.3g of %.17g\n", what, actual, tolerance, expected);
    _fail(file, line);
}

static inline void assert_contains(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("'%s' is missing in:\n%s", part, text != NULL ? text : "(null)");
}

static inline void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' stands in:\n%s", part, text);
}

static inline void check_has(const char *text, const char *const *parts)
{
    for (; *parts != NULL; parts++) {
        if (**parts == '-')
            assert_lacks(text, *parts + 1);
        else
            assert_contains(text, *parts);
    }
}

/* The text has each part; with '-' in front, has it not. */
#define CHECK_HAS(text, ...) check_has(text, (const char *const[]){__VA_ARGS__, NULL})

/* How often the part stands in the text. */
static inline size_t count_of(const char *text, const char *part)
{
    size_t n_occurrences = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n_occurrences++;
    return n_occurrences;
}

/* What the linker puts in place of a function; a line LINK of the test names it. */
#define WRAP(type, name, parameters)                                                                         \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters

/* Skips where a start of a program cannot fail: valgrind makes a fork of posix_spawn's vfork, and the child's
 * errno does not come back. */
static inline void need_spawn_errors(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload == NULL || strstr(preload, "vgpreload") == NULL)
        return;
    print_message("under valgrind, posix_spawn does not tell that a program is missing\n");
    skip();
}
