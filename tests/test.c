/* tests/test: collects what TEST registers and runs it. usage: test_NAME [PATTERN], where PATTERN names tests
 * with * and ?. */
#include "tests/test.h"

#include <gsl/gsl_errno.h>

#define MAX_TESTS 200

/* A program that has none of these, or a main function of its own, gets along without. */
#pragma weak gsl_set_error_handler_off
__attribute__((weak)) const struct test_fixtures test_group, test_each;
__attribute__((weak)) bool (*const test_needs)(void);

/* Entries after the last test stay empty; cmocka passes over them. */
static struct CMUnitTest tests[MAX_TESTS];
static int lines[MAX_TESTS];
static size_t n_tests;
static const char *source;

/* Compilers may order the calls as they like, so every test is put at its place. */
void test_register(const char *file, int line, const char *name, CMUnitTestFunction function,
                   CMFixtureFunction setup, CMFixtureFunction teardown, void *state)
{
    size_t place = n_tests++;
    if (n_tests > MAX_TESTS)
        abort();
    for (; place > 0 && lines[place - 1] > line; place--) {
        tests[place] = tests[place - 1];
        lines[place] = lines[place - 1];
    }
    if (setup == NULL && teardown == NULL) {
        setup = test_each.setup;
        teardown = test_each.teardown;
    }
    tests[place] = (struct CMUnitTest){name, function, setup, teardown, state};
    lines[place] = line;
    source = file;
}

/* tests/bench/io/test_pump.c is the group bench/io/pump. */
static void name_the_group(char *name, size_t size)
{
    const char *part = strstr(source, "tests/"), *file = strrchr(source, '/');
    part = part == NULL ? source : part + strlen("tests/");
    file = file == NULL ? part : file + 1;
    int length = (int)(file - part);
    if (strncmp(file, "test_", 5) == 0)
        file += 5;
    snprintf(name, size, "%.*s%.*s", length, part, (int)strcspn(file, "."), file);
}

__attribute__((weak)) int main(int argc, char **argv)
{
    char name[256];
    if (n_tests == 0) {
        fprintf(stderr, "%s has no tests\n", argv[0]);
        return 1;
    }
    if (test_needs != NULL && !test_needs())
        return 77;
    /* As the program does: GSL returns its errors. */
    if (gsl_set_error_handler_off != NULL)
        gsl_set_error_handler_off();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    name_the_group(name, sizeof name);
    return cmocka_run_group_tests_name(name, tests, test_group.setup, test_group.teardown);
}
