/* Tests of bench/profile/group, on directories that look like groups. */
#include "bench/profile/group.h"
#include "tests/test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/fstune-group-XXXXXX";
static struct err err;
static pid_t found[8];
static size_t n_found;

static void make(const char *name, const char *members)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, name);
    assert_int_equal(mkdir(path, 0700) != 0 && errno != EEXIST, 0);
    snprintf(path, sizeof path, "%s%s/cgroup.procs", root, name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs(members, out);
    fclose(out);
}

FIXTURE(enter)
{
    assert_non_null(mkdtemp(root));
    make("", "17\n18\n");
    make("/below", "");
    make("/below/deep", "4194303\n");
    n_found = 0;
    return 0;
}

FIXTURE(leave)
{
    static const char *const names[] = {
        "/below/deep/cgroup.procs", "/below/deep", "/below/cgroup.procs", "/below", "/cgroup.procs", ""};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s%s", root, names[i]);
        remove(path);
    }
    snprintf(root, sizeof root, "/tmp/fstune-group-XXXXXX");
    return 0;
}

EACH_TEST(enter, leave);

static int take(void *data, pid_t pid, struct err *reason)
{
    found[n_found++] = pid;
    return data != NULL && n_found == 2 ? err_set(reason, -EPERM, "no more") : 0;
}

TEST(processes_of_a_group_and_of_those_below_are_found)
{
    assert_int_equal(group_each(root, take, NULL, &err), 0);
    assert_int_equal(n_found, 3);
    assert_int_equal(found[0] + found[1] + found[2], 17 + 18 + 4194303);
}

TEST(what_the_caller_says_ends_the_walk)
{
    assert_int_equal(group_each(root, take, &err, &err), -EPERM);
    assert_int_equal(n_found, 2);
}

TEST(a_group_that_is_gone_is_an_error)
{
    char gone[64];
    snprintf(gone, sizeof gone, "%s/gone", root);
    assert_int_equal(group_each(gone, take, NULL, &err), -ENOENT);
    assert_int_equal(n_found, 0);
}

TEST(a_group_is_found_by_its_directory_and_nothing_else_is_one)
{
    char path[PATH_MAX];
    assert_int_equal(group_find(root, path, sizeof path, &err), 0);
    assert_string_equal(path, root);
    assert_int_equal(group_find("/tmp", path, sizeof path, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/tmp is no control group"));
    assert_int_equal(group_find(root, path, 5, &err), -ENOENT);
}
