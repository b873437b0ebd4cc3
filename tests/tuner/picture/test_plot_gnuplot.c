/* gnuplot is run on a script, and a picture is whole or not there. A shell script stands for gnuplot. */
#include "tests/test.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/publish.h"
#include "tuner/picture/plot_deliver.h"

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char directory[] = "/tmp/fstune-plot-XXXXXX";
static char path[64], *picture;
static size_t size;
static struct err err;

FIXTURE(setup)
{
    umask(022);
    if (mkdtemp(directory) == NULL || interrupt_setup(&err) < 0)
        return -1;
    snprintf(path, sizeof path, "%s/picture.png", directory);
    return setenv("PATH", directory, 1);
}

FIXTURE(teardown)
{
    char name[64];
    snprintf(name, sizeof name, "%s/gnuplot", directory);
    unlink(name);
    unlink(path);
    return rmdir(directory);
}

GROUP(setup, teardown);

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
    return plot_gnuplot_run("set x\nplot y\n", &picture, &size, &err);
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

FIXTURE(forget);

TEST_WITH(what_gnuplot_prints_is_the_picture_of_its_script, NULL, forget)
{
    assert_int_equal(run("while read -r line; do echo \"<$line>\"; done"), 0);
    assert_string_equal(picture, "<set x>\n<plot y>\n");
    assert_int_equal(size, strlen(picture));
}

TEST(a_missing_gnuplot_is_named_with_its_package)
{
    need_spawn_errors();
    assert_int_equal(run(NULL), -ENOENT);
    assert_contains(err.text, "gnuplot-nox");
}

TEST(a_failed_gnuplot_is_quoted_and_gives_no_picture)
{
    assert_int_equal(run("echo half; printf 'gnuplot> plot y\\n        ^\\n   line 2: no y\\n' >&2; exit 1"),
                     -EIO);
    assert_null(picture);
    assert_contains(err.text, "line 2: no y");
    assert_int_equal(run("exit 0"), -EIO);
    assert_contains(err.text, "drew nothing");
    assert_int_equal(run("echo half; kill -9 $$"), -EIO);
}

TEST(a_signal_ends_gnuplot_and_leaves_nothing)
{
    atomic_store(&interrupt_signal, 2);
    assert_int_equal(run("while :; do :; done"), -EINTR);
    assert_int_equal(publish_file(path, "new", 3, &err), -EINTR);
    atomic_store(&interrupt_signal, 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

TEST(a_full_disk_leaves_the_old_picture)
{
    const struct rlimit none = {0, RLIM_INFINITY};
    struct rlimit before;
    struct stat status;
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

TEST(a_directory_that_is_not_there_is_named)
{
    assert_int_equal(publish_file("/nonexistent/a.png", "x", 1, &err), -ENOENT);
    assert_contains(err.text, "/nonexistent/a.png");
}

FIXTURE(forget)
{
    free(picture);
    picture = NULL;
    return 0;
}
