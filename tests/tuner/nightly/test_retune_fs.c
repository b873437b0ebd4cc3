/* Tests of `fstune retune` on a real file system: the file that is kept, signals and kills. */
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

#define N_KILLS 40

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

static void check_refused(const char *command)
{
    char text[128];
    assert_int_equal(system("rm -f h.db* dir/.fstune-media"), 0);
    assert_int_equal(system(command), 0);
    snprintf(text, sizeof text, "sha256sum dir/.fstune-media >before");
    assert_int_equal(system(text), 0);
    rig_run(&run, NULL, "retune", "--config", "n.conf", "--force", NULL);
    assert_int_equal(run.code, 1);
    assert_non_null(strstr(run.err, "is not the file that fstune made there"));
    rig_free(&run);
    assert_int_equal(system("sha256sum --status -c before"), 0);
}

TEST(a_file_that_fstune_did_not_make_is_refused)
{
    check_refused("echo precious >dir/.fstune-media");
    check_refused("ln -s /etc/hostname dir/.fstune-media");
}

TEST(a_kept_file_that_changed_is_refused_and_a_lost_one_made_anew)
{
    json_decref(night());
    assert_int_equal(
        system("chmod u+w dir/.fstune-media && printf x | dd of=dir/.fstune-media conv=notrunc status=none"),
        0);
    rig_run(&run, NULL, "retune", "--config", "n.conf", "--force", NULL);
    assert_int_equal(run.code, 1);
    rig_free(&run);
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

/* A whole snippet ends with its last line. */
static bool is_whole(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "tail -n 1 %s | grep -qx 'FSTUNE_SYNC=end\\|mine'", name);
    return !rig_exists(name) || system(command) == 0;
}

TEST(a_kill_at_any_moment_leaves_the_snippet_whole)
{
    static const char *const arguments[] = {"retune", "--config", "s.nconf", "--quiet", NULL};
    unsigned n_applied = 0;
    rig_simulator("s", "run_cv = 0.02;", rig_peak_bps);
    rig_write("s.nconf",
              "db = \"h.db\"; first_budget = \"20s\"; budget = \"10s\"; simulate = \"s.conf\"; targets = ( { "
              "name = \"vm1\"; pattern = \"randwrite\"; emit = \"shell\"; snippet = \"%s/dir/vm1.env\"; "
              "check = \"sleep 0.02\"; apply = \"sleep 0.02\"; } );",
              here);
    for (unsigned i = 0; i < N_KILLS; i++) {
        rig_write("dir/vm1.env", "mine\n");
        assert_int_equal(system("rm -f h.db*"), 0);
        rig_start(&run, NULL, arguments);
        usleep(20000 + 10000 * i);
        kill(run.pid, SIGKILL);
        rig_finish(&run);
        rig_free(&run);
        assert_true(rig_exists("dir/vm1.env") && is_whole("dir/vm1.env"));
        assert_true(is_whole("dir/vm1.env.previous"));
        n_applied += system("grep -q FSTUNE_API dir/vm1.env") == 0;
    }
    print_message("%u of %d kills came after the new snippet was in place\n", n_applied, N_KILLS);
    rig_run(&run, NULL, "retune", "--config", "s.nconf", NULL);
    if (run.code != 0)
        fail_msg("exit code %d: %s", run.code, run.err);
    rig_free(&run);
}
