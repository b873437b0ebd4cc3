/* A page is there whole or not at all, and never in the place of something else. */
#include "tests/tuner/rig.h"
#include "tuner/base/publish.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

GROUP(rig_enter, rig_leave);

static struct err err;

static void check_text(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    assert_string_equal(text, expected);
}

TEST(a_new_file_and_an_older_one_are_written)
{
    assert_int_equal(publish_file("page", "one", 3, &err), 0);
    check_text("page", "one");
    assert_int_equal(publish_file("page", "two", 3, &err), 0);
    check_text("page", "two");
    assert_int_equal(unlink("page"), 0);
    assert_int_equal(rig_count_entries("."), 0);
}

TEST(permissions_follow_the_umask_or_the_older_file)
{
    struct stat status;
    mode_t mask = umask(027);
    assert_int_equal(publish_file("page", "one", 3, &err), 0);
    assert_int_equal(stat("page", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(chmod("page", 0604), 0);
    assert_int_equal(publish_file("page", "two", 3, &err), 0);
    assert_int_equal(stat("page", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
    umask(mask);
    assert_int_equal(unlink("page"), 0);
}

TEST(permissions_of_a_strangers_file_are_not_taken_over)
{
    struct stat status;
    if (geteuid() != 0) {
        print_message("needs root to make a file of another user\n");
        skip();
    }
    rig_write("page", "old");
    assert_true(chmod("page", 0666) == 0 && chown("page", 65534, 65534) == 0);
    assert_int_equal(publish_file("page", "new", 3, &err), 0);
    assert_int_equal(stat("page", &status), 0);
    assert_int_equal(status.st_uid, 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    assert_int_equal(unlink("page"), 0);
}

/* Somebody else may have put it where we are about to write. */
TEST(a_link_is_refused_and_what_it_leads_to_stays)
{
    struct stat status;
    rig_write("target", "old");
    assert_int_equal(symlink("target", "link"), 0);
    assert_int_equal(publish_file("link", "new", 3, &err), -ELOOP);
    assert_non_null(strstr(err.text, "link: it is a symbolic link"));
    check_text("target", "old");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_true(unlink("link") == 0 && unlink("target") == 0);
}

TEST(what_is_no_regular_file_is_refused)
{
    static const struct {
        const char *path;
        int result;
    } cases[] = {
        {"dir", -EISDIR}, {"fifo", -EINVAL}, {"/dev/null", -EINVAL}, {"", -EINVAL}, {"absent/page", -ENOENT}};
    assert_true(mkdir("dir", 0755) == 0 && mkfifo("fifo", 0644) == 0);
    for (size_t i = 0; i < N_OF(cases); i++) {
        err = (struct err){0};
        assert_int_equal(publish_file(cases[i].path, "new", 3, &err), cases[i].result);
        assert_true(strstr(err.text, cases[i].path) != NULL);
    }
    assert_int_equal(rig_count_entries("."), 2);
    assert_true(rmdir("dir") == 0 && unlink("fifo") == 0);
}

TEST(a_name_beside_which_nothing_can_be_written_is_refused_before)
{
    assert_int_equal(publish_check("absent/page", &err), -ENOENT);
    assert_non_null(strstr(err.text, "absent/page: no file can be made beside it"));
    assert_int_equal(publish_check("page", &err), 0);
    rig_write("page", "old");
    assert_int_equal(publish_check("./page", &err), 0);
    assert_int_equal(publish_check("page/under", &err), -ENOTDIR);
    assert_int_equal(unlink("page"), 0);
    assert_int_equal(mkdir("mine", 0500), 0);
    assert_int_equal(publish_check("mine/page", &err), geteuid() == 0 ? 0 : -EACCES);
    assert_int_equal(rmdir("mine"), 0);
}

TEST(a_failed_write_leaves_the_older_file_and_nothing_else)
{
    struct rlimit before, small;
    rig_write("page", "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 8;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int result = publish_file("page", "much longer than that", 21, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(result, -EFBIG);
    check_text("page", "old");
    assert_int_equal(rig_count_entries("."), 1);
}

static int print_word(FILE *out, const void *what, struct err *print_err)
{
    const char *word = what;
    fputs(word, out);
    return word[0] == '!' ? err_set(print_err, -EIO, "no word") : 0;
}

TEST(what_a_function_prints_is_written_unless_it_fails)
{
    assert_int_equal(publish_print("words", print_word, "one", &err), 0);
    assert_int_equal(publish_print("words", print_word, "!two", &err), -EIO);
    assert_string_equal(err.text, "no word");
    check_text("words", "one");
    assert_int_equal(publish_print("absent/words", print_word, "one", &err), -ENOENT);
    assert_int_equal(unlink("words"), 0);
}
