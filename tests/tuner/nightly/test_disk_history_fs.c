/* Tests of tuner/nightly/disk_history: files of others are left as they are, and a failure leaves nothing. */
#include "tests/tuner/nightly/disk_rig.h"
#include "tuner/nightly/disk_history.h"

#include <sys/stat.h>

#define KNOWN                                                                                                \
    "{\"format\": \"fstune/disk-history/1\", \"kinds\": [{\"kind\": \"seq-read-large\", \"setting\": "       \
    "\"cached,ahead=4m\", \"gain\": 2.5}]}"

static char other[96];

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void check_text(const char *path, const char *text)
{
    char bytes[512] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof(bytes) - 1, file);
    bytes[n] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

static void serve_with_history(void)
{
    if (rig_open(rig.history) != 0)
        fail_msg("%s", rig.err.text);
}

TEST(what_was_kept_runs_again)
{
    write_file(rig.history, KNOWN);
    serve_with_history();
    CHECK_HAS(rig_ask("status"), "kind seq-read-large: cached,ahead=4m, 2.50 times, settled");
    disk_close(&rig.served);
    assert_string_equal(rig.said, "");
}

TEST(a_file_beside_the_history_stays_as_it_is)
{
    snprintf(other, sizeof(other), "%s.new", rig.history);
    write_file(other, "mine");
    serve_with_history();
    disk_close(&rig.served);
    assert_int_equal(access(rig.history, R_OK), 0);
    check_text(other, "mine");
    unlink(other);
}

TEST(a_link_is_neither_followed_nor_replaced)
{
    struct stat status;
    snprintf(other, sizeof(other), "%s.linked", rig.history);
    write_file(other, KNOWN);
    assert_int_equal(symlink(other, rig.history), 0);
    serve_with_history();
    CHECK_HAS(rig.said, "nothing is kept", "symbolic link");
    disk_close(&rig.served);
    assert_int_equal(lstat(rig.history, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    check_text(other, KNOWN);
    unlink(other);
}

TEST(a_file_that_others_may_write_to_is_not_taken)
{
    write_file(rig.history, KNOWN);
    assert_int_equal(chmod(rig.history, 0666), 0);
    serve_with_history();
    CHECK_HAS(rig.said, "nothing is kept", "others than its owner");
    assert_null(strstr(rig_ask("status"), "kind "));
    disk_close(&rig.served);
    check_text(rig.history, KNOWN);
}

TEST(a_cut_history_stays_as_it_is)
{
    write_file(rig.history, "{\"format\": \"fstune/disk-history/1\", \"kinds\": [{\"ki");
    serve_with_history();
    CHECK_HAS(rig.said, "nothing is kept", "damaged");
    disk_close(&rig.served);
    check_text(rig.history, "{\"format\": \"fstune/disk-history/1\", \"kinds\": [{\"ki");
}
