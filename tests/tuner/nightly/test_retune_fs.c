/* Tests of `fstune retune` on a real file system: the file that is kept, and signals. Kills: see
 * test_apply_faults and tests/faults/retune_kills. */
#include "tests/test.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

GROUP(rig_enter, rig_leave);
GROUP_NEEDS(rig_find_program);

static struct rig_run run;
static char here[256];

FIXTURE(setup)
{
    if (getcwd(here, sizeof here) == NULL || system("rm -rf * && mkdir dir") != 0)
        return -1;
    rig_write(
        "n.conf",
        "db = \"%s/h.db\"; file_size = \"128m\"; no_lock = true; first_budget = \"8s\"; budget = \"4s\";\n"
        "request_size = \"64k\"; queue_depth = \"1,4\"; api = \"psync,io_uring\";\n"
        "targets = ( { name = \"media\"; path = \"%s/dir\"; pattern = \"randread\"; keep_file = true; } );",
        here, here);
    return 0;
}

EACH_TEST(setup, NULL);

static json_t *night(void)
{
    rig_run(&run, NULL, "retune", "--config", "n.conf", "--json", "--force", NULL);
    json_t *document = rig_json(&run);
    rig_free(&run);
    return document;
}

static const json_t *of_target(const json_t *document, const char *key)
{
    return json_object_get(json_array_get(json_object_get(document, "targets"), 0), key);
}

static ino_t inode_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_ino;
}

TEST(a_kept_file_is_filled_once_and_only_read_later)
{
    json_t *document = night();
    assert_int_equal(json_integer_value(of_target(document, "filled_bytes")), 128 << 20);
    assert_int_equal(json_integer_value(of_target(document, "bytes_written")), 128 << 20);
    json_decref(document);
    const ino_t inode = inode_of("dir/.fstune-media");
    document = night();
    assert_int_equal(json_integer_value(of_target(document, "bytes_written")), 0);
    assert_non_null(json_string_value(of_target(document, "evidence")));
    json_decref(document);
    assert_true(inode_of("dir/.fstune-media") == inode);
}

TEST(a_file_that_fstune_did_not_make_or_that_changed_is_refused)
{
    static const char *const cases[] = {
        "echo precious >dir/.fstune-media", "ln -s /etc/hostname dir/.fstune-media",
        "chmod u+w dir/.fstune-media && printf x | dd of=dir/.fstune-media conv=notrunc status=none"};
    for (size_t i = 0; i < RIG_COUNT(cases); i++) {
        bool is_made = i + 1 == RIG_COUNT(cases);
        assert_int_equal(system("rm -f h.db* dir/.fstune-media"), 0);
        if (is_made)
            json_decref(night());
        assert_int_equal(system(cases[i]), 0);
        assert_int_equal(system("sha256sum dir/.fstune-media >before"), 0);
        rig_run(&run, NULL, "retune", "--config", "n.conf", "--force", NULL);
        assert_int_equal(run.code, 1);
        assert_true(is_made || strstr(run.err, "is not the file that fstune made there") != NULL);
        rig_free(&run);
        assert_int_equal(system("sha256sum --status -c before"), 0);
    }
    /* A lost one is made anew. */
    assert_int_equal(unlink("dir/.fstune-media"), 0);
    json_auto_t *document = night();
    assert_int_equal(json_integer_value(of_target(document, "filled_bytes")), 128 << 20);
}

TEST(a_signal_ends_the_night_with_what_it_has)
{
    static const char *const arguments[] = {"retune", "--config", "long.conf", "--json", "--force", NULL};
    /* The whole space, and next to no tolerance: it is not settled before the signal comes. */
    rig_write("long.conf",
              "db = \"%s/h.db\"; file_size = \"128m\"; no_lock = true; first_budget = \"30s\"; tolerance = "
              "\"0.1%%\";\n"
              "targets = ( { name = \"media\"; path = \"%s/dir\"; pattern = \"randread\"; } );",
              here, here);
    rig_start(&run, NULL, arguments);
    usleep(2500000);
    assert_int_equal(kill(run.pid, SIGTERM), 0);
    rig_finish(&run);
    assert_int_equal(run.code, 128 + SIGTERM);
    json_auto_t *document = rig_json(&run);
    assert_true(json_is_true(json_object_get(document, "interrupted")));
    rig_free(&run);
}
