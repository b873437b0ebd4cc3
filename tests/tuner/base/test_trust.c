/* Tests of tuner/base/trust: who could have put a file where it is found. */
#include "tests/tuner/rig.h"
#include "tuner/base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>

GROUP(rig_enter, rig_leave);

#define STRANGER 65534
#define ANOTHER  65533

static struct err err;

FIXTURE(make_places)
{
    memset(&err, 0, sizeof err);
    if (system("rm -rf a link link2 loop") != 0 || mkdir("a", 0755) != 0 || mkdir("a/b", 0755) != 0)
        return -1;
    rig_write("a/b/file", "text");
    return 0;
}

EACH_TEST(make_places, NULL);

/* The result for a directory; what was opened is the one meant. */
static int opens(const char *path)
{
    struct stat found, meant;
    int fd = -1, result = trust_open_directory(path, &fd, &err);
    if (result == 0) {
        assert_true(fstat(fd, &found) == 0 && stat(path, &meant) == 0);
        assert_true(found.st_dev == meant.st_dev && found.st_ino == meant.st_ino);
        assert_int_equal(fsync(fd), 0);
        close(fd);
    }
    return result;
}

static void need_root(void)
{
    if (geteuid() == 0)
        return;
    print_message("needs root to make things of other users\n");
    skip();
}

TEST(any_spelling_of_an_own_directory_is_opened)
{
    char whole[PATH_MAX + 8];
    assert_non_null(getcwd(whole, PATH_MAX));
    strcat(whole, "/a/b");
    assert_true(symlink("a", "link") == 0 && symlink(whole, "link2") == 0);
    assert_int_equal(opens("a/b"), 0);
    assert_int_equal(opens("."), 0);
    assert_int_equal(opens("/"), 0);
    assert_int_equal(opens("a//b/../b/."), 0);
    assert_int_equal(opens(whole), 0);
    assert_int_equal(opens("link/b"), 0);
    assert_int_equal(opens("link2"), 0);
}

TEST(what_is_no_directory_is_an_error)
{
    char longest[PATH_MAX + 8];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(opens("a/b/file"), -ENOTDIR);
    assert_int_equal(opens("a/b/file/more"), -ENOTDIR);
    assert_int_equal(opens("a/none"), -ENOENT);
    assert_int_equal(opens(longest), -ENAMETOOLONG);
    assert_int_equal(opens(longest + PATH_MAX / 2), -ENAMETOOLONG);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(opens("loop/b"), -ELOOP);
}

TEST(only_on_the_way_is_a_sticky_directory_good_enough)
{
    static const mode_t modes[] = {0777, 0775, 0757, 01777, 03775};
    for (size_t i = 0; i < N_OF(modes); i++) {
        assert_int_equal(chmod("a", modes[i]), 0);
        assert_int_equal(opens("a"), -EPERM);
        assert_int_equal(opens("a/b"), (modes[i] & S_ISVTX) != 0 ? 0 : -EPERM);
    }
}

TEST(a_link_is_judged_by_where_it_leads)
{
    assert_true(symlink("a/b", "link") == 0 && chmod("a", 0777) == 0);
    assert_int_equal(opens("link"), -EPERM);
    assert_int_equal(trust_check_file("link/file", false, &err), -EPERM);
}

TEST(a_link_of_a_stranger_is_not_followed)
{
    need_root();
    assert_true(symlink("a/b", "link") == 0 && lchown("link", STRANGER, STRANGER) == 0);
    assert_int_equal(opens("link"), -EPERM);
    assert_int_equal(trust_check_file("link/file", true, &err), -EPERM);
}

TEST(the_owner_of_the_last_one_may_own_the_way)
{
    need_root();
    assert_int_equal(chown("a/b", STRANGER, STRANGER), 0);
    assert_int_equal(opens("a/b"), 0);
    assert_int_equal(chown("a", STRANGER, STRANGER), 0);
    assert_int_equal(opens("a/b"), 0);
    assert_int_equal(chown("a/b", 0, 0), 0);
    assert_int_equal(opens("a/b"), -EPERM);
    assert_int_equal(chown("a/b", ANOTHER, ANOTHER), 0);
    assert_int_equal(opens("a/b"), -EPERM);
    assert_non_null(strstr(err.text, "several users"));
}

/* struct posix_acl_xattr_header and _entry, little endian: version 2, then tag, permissions, id. */
TEST(a_user_of_an_access_list_counts_as_the_group)
{
    static const unsigned char list[] = {2, 0, 0,    0,    1,    0,    7,  0, 255, 255, 255, 255, 2,   0,  7,
                                         0, 1, 0,    0,    0,    4,    0,  5, 0,   255, 255, 255, 255, 16, 0,
                                         7, 0, 0xff, 0xff, 0xff, 0xff, 32, 0, 5,   0,   255, 255, 255, 255};
    if (setxattr("a/b", "system.posix_acl_access", list, sizeof list, 0) != 0) {
        print_message("this file system keeps no access lists\n");
        skip();
    }
    assert_int_equal(opens("a/b"), -EPERM);
}

TEST(a_file_is_ours_or_of_root_alone)
{
    assert_int_equal(trust_check_file("a/b/file", false, &err), 0);
    assert_int_equal(chmod("a/b/file", 0664), 0);
    assert_int_equal(trust_check_file("a/b/file", false, &err), -EPERM);
    assert_int_equal(chmod("a/b/file", 0646), 0);
    assert_int_equal(trust_check_file("a/b/file", true, &err), -EPERM);
}

TEST(a_file_of_a_stranger_will_do_where_that_is_said)
{
    need_root();
    assert_int_equal(chown("a/b/file", STRANGER, STRANGER), 0);
    assert_int_equal(trust_check_file("a/b/file", false, &err), -EPERM);
    assert_int_equal(chown("a/b", STRANGER, STRANGER), 0);
    assert_int_equal(trust_check_file("a/b/file", false, &err), -EPERM);
    assert_int_equal(trust_check_file("a/b/file", true, &err), 0);
    assert_int_equal(chown("a/b/file", 0, 0), 0);
    assert_int_equal(trust_check_file("a/b/file", true, &err), -EPERM);
}

TEST(a_file_lies_where_nobody_else_writes)
{
    assert_int_equal(chmod("a/b", 01777), 0);
    assert_int_equal(trust_check_file("a/b/file", false, &err), -EPERM);
    assert_non_null(strstr(err.text, "a/b/file: its directory: others than its owner may write to it"));
    assert_int_equal(trust_check_file("a/b/none", false, &err), -EPERM);
}

TEST(a_file_that_is_not_there_is_no_harm)
{
    assert_int_equal(trust_check_file("a/b/none", false, &err), 0);
    assert_int_equal(trust_check_file("a/none/none", false, &err), -ENOENT);
}
