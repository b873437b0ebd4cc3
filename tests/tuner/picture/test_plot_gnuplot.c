/* gnuplot is run on a script, and a picture is whole or not there. A shell script stands for gnuplot. */
#include "tests/check.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"
#include "tuner/picture/plot_gnuplot.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/fstune-plot-XXXXXX";
static char path[64], *picture;
static size_t size;
static struct err err;

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(directory) == NULL || interrupt_setup(&err) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/picture.png", directory);
    return setenv("PATH", directory, 1);
}

static int teardown(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof name, "%s/gnuplot", directory);
    unlink(name);
    unlink(path);
    return rmdir(directory);
}

/* Makes a gnuplot of these commands, or none. */
static int run(const char *commands)
{
    char name[64];
    snprintf(name, sizeof name, "%s/gnuplot", directory);
    unlink(name);
    if (commands != NULL) {
        FILE *file = fopen(name, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n%s\n", commands);
        fclose(file);
        assert_int_equal(chmod(name, 0700), 0);
    }
    free(picture);
    picture = NULL;
    err = (struct err){0};
    return plot_gnuplot_run("set x\nplot y\n", 13, &picture, &size, &err);
}

static size_t n_files(void)
{
    DIR *all = opendir(directory);
    size_t n = 0;
    while (readdir(all) != NULL)
        n++;
    closedir(all);
    return n - 2;
}

static void what_gnuplot_prints_is_the_picture_of_its_script(void **state)
{
    (void)state;
    assert_int_equal(run("while read -r line; do echo \"<$line>\"; done"), 0);
    assert_string_equal(picture, "<set x>\n<plot y>\n");
    assert_int_equal(size, strlen(picture));
}

static void a_missing_gnuplot_is_named_with_its_package(void **state)
{
    (void)state;
    need_spawn_errors();
    assert_int_equal(run(NULL), -ENOENT);
    assert_non_null(strstr(err.text, "gnuplot-nox"));
}

static void a_failed_gnuplot_is_quoted_and_gives_no_picture(void **state)
{
    (void)state;
    assert_int_equal(run("echo half; printf 'gnuplot> plot y\\n        ^\\n   line 2: no y\\n' >&2; exit 1"),
                     -EIO);
    assert_null(picture);
    assert_non_null(strstr(err.text, "line 2: no y"));
    assert_int_equal(run("exit 0"), -EIO);
    assert_non_null(strstr(err.text, "drew nothing"));
    assert_int_equal(run("echo half; kill -9 $$"), -EIO);
}

static void a_signal_ends_gnuplot_and_leaves_nothing(void **state)
{
    (void)state;
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(run("while :; do :; done"), -EINTR);
    assert_int_equal(publish_file(path, "new", 3, &err), -EINTR);
    atomic_store(&interrupt_signal, 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void a_full_disk_leaves_the_old_picture(void **state)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit before;
    struct stat status;
    (void)state;
    run(NULL);
    assert_int_equal(publish_file(path, "old picture", 11, &err), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &none);
    int result = publish_file(path, "new", 3, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(result, -EFBIG);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 11);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(n_files(), 1);
}

static void a_directory_that_is_not_there_is_named(void **state)
{
    (void)state;
    assert_int_equal(publish_file("/nonexistent/a.png", "x", 1, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/a.png"));
}

static int forget(void **state)
{
    (void)state;
    free(picture);
    picture = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_gnuplot_prints_is_the_picture_of_its_script, forget),
        cmocka_unit_test(a_missing_gnuplot_is_named_with_its_package),
        cmocka_unit_test(a_failed_gnuplot_is_quoted_and_gives_no_picture),
        cmocka_unit_test(a_signal_ends_gnuplot_and_leaves_nothing),
        cmocka_unit_test(a_full_disk_leaves_the_old_picture),
        cmocka_unit_test(a_directory_that_is_not_there_is_named),
    };
    umask(022);
    return cmocka_run_group_tests(tests, setup, teardown);
}
