/* Tests of `fstune retune` on a real file system: the file that is kept, signals, and a target whose file
 * system stands still before one that works. Kills: see test_apply_faults and tests/faults/retune_kills. */
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATIENCE_S 60

static struct rig_run run;
static char here[256];
static int root_fd = -1; /* of the mount that stands still */
static pid_t watchdog;

static const char *const night_of_two[] = {"retune", "--config", "two.conf", "--json", "--force", NULL};

/* Also at the exit of a test program that failed: a frozen mount would stay for ever. */
static void clean_up(void)
{
    if (root_fd < 0)
        return;
    kill(watchdog, SIGKILL);
    waitpid(watchdog, NULL, 0);
    ioctl(root_fd, FITHAW, 0);
    close(root_fd);
    root_fd = -1;
    if (system("umount still || umount -l still") != 0)
        fprintf(stderr, "the mount stays\n");
}

FIXTURE(enter)
{
    return atexit(clean_up) != 0 ? -1 : rig_enter(test_state);
}

GROUP(enter, rig_leave);
GROUP_NEEDS(rig_find_program);

FIXTURE(setup)
{
    if (getcwd(here, sizeof here) == NULL || system("rm -rf * && mkdir dir still") != 0)
        return -1;
    rig_write(
        "n.conf",
        "db = \"%s/h.db\"; file_size = \"128m\"; no_lock = true; first_budget = \"8s\"; budget = \"4s\";\n"
        "request_size = \"64k\"; queue_depth = \"1,4\"; api = \"psync,io_uring\";\n"
        "targets = ( { name = \"media\"; path = \"%s/dir\"; pattern = \"randread\"; keep_file = true; } );",
        here, here);
    rig_simulator("s", "run_cv = 0.02;", rig_peak_bps);
    rig_write(
        "two.conf",
        "db = \"%s/h.db\"; request_size = \"64k\"; file_size = \"128m\";\n"
        "targets = ( { name = \"still\"; path = \"%s/still\"; pattern = \"randread\"; first_budget = "
        "\"3s\"; budget = \"3s\"; queue_depth = \"1\"; api = \"psync\"; }, { name = \"fine\"; pattern = "
        "\"randwrite\"; simulate = \"s.conf\"; first_budget = \"20s\"; budget = \"20s\"; } );",
        here, here);
    return 0;
}

FIXTURE(tear_down)
{
    rig_free(&run);
    clean_up();
    return 0;
}

EACH_TEST(setup, tear_down);

static json_t *night(void)
{
    rig_run(&run, NULL, "retune", "--config", "n.conf", "--json", "--force", NULL);
    json_t *document = rig_json(&run);
    rig_free(&run);
    return document;
}

static const json_t *of_target(const json_t *document, size_t i, const char *key)
{
    return json_object_get(json_array_get(json_object_get(document, "targets"), i), key);
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
    assert_int_equal(json_integer_value(of_target(document, 0, "filled_bytes")), 128 << 20);
    assert_int_equal(json_integer_value(of_target(document, 0, "bytes_written")), 128 << 20);
    json_decref(document);
    const ino_t inode = inode_of("dir/.fstune-media");
    document = night();
    assert_int_equal(json_integer_value(of_target(document, 0, "bytes_written")), 0);
    assert_non_null(json_string_value(of_target(document, 0, "evidence")));
    json_decref(document);
    assert_true(inode_of("dir/.fstune-media") == inode);
}

TEST(a_file_that_fstune_did_not_make_or_that_changed_is_refused)
{
    static const char *const cases[] = {
        "echo precious >dir/.fstune-media", "ln -s /etc/hostname dir/.fstune-media",
        "chmod u+w dir/.fstune-media && printf x | dd of=dir/.fstune-media conv=notrunc status=none"};
    for (size_t i = 0; i < N_OF(cases); i++) {
        bool is_made = i + 1 == N_OF(cases);
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
    assert_int_equal(json_integer_value(of_target(document, 0, "filled_bytes")), 128 << 20);
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

static void freeze(void)
{
    if (geteuid() != 0 || system("truncate -s 512M image && mkfs.ext4 -q image && "
                                 "mount -o loop image still") != 0) {
        print_message("skipped: no file system can be mounted here\n");
        skip();
    }
    root_fd = open("still", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root_fd >= 0);
    assert_int_equal(ioctl(root_fd, FIFREEZE, 0), 0);
    /* Whoever waits for a process that hangs would wait for ever. */
    watchdog = fork();
    if (watchdog == 0) {
        sleep(PATIENCE_S);
        _exit(ioctl(root_fd, FITHAW, 0) == 0 ? 0 : 1);
    }
}

/* In place of the one before; the caller releases its document. */
static json_t *whole_night(void)
{
    rig_free(&run);
    rig_start(&run, NULL, night_of_two);
    rig_finish(&run);
    return rig_json(&run);
}

static const char *text_of(const json_t *document, size_t i, const char *key)
{
    const char *text = json_string_value(of_target(document, i, key));
    return text != NULL ? text : "";
}

/* The process that `text` says was left behind. */
static pid_t left_behind(const char *text)
{
    const char *number = strstr(text, "left to the kernel as process ");
    if (number == NULL)
        fail_msg("%s", text);
    return (pid_t)strtol(number + strlen("left to the kernel as process "), NULL, 10);
}

static void thaw(pid_t pid)
{
    assert_int_equal(ioctl(root_fd, FITHAW, 0), 0);
    for (unsigned i = 0; i < 1000 && kill(pid, 0) == 0; i++)
        usleep(10000);
    assert_false(kill(pid, 0) == 0);
    assert_int_equal(system("[ \"$(ls -A still)\" = lost+found ]"), 0);
}

TEST(a_target_that_stands_still_costs_no_other_its_night)
{
    freeze();
    json_t *document = whole_night();
    assert_int_equal(run.code, 1);
    assert_false(json_is_true(json_object_get(document, "interrupted")));
    assert_string_equal(text_of(document, 0, "verdict"), "failed");
    assert_int_equal(json_integer_value(of_target(document, 0, "exit_code")), 1);
    assert_int_equal(strncmp(text_of(document, 0, "reason"), "does not answer: the device has stalled", 39),
                     0);
    const pid_t pid = left_behind(text_of(document, 0, "reason"));
    assert_true(kill(pid, 0) == 0);
    assert_true(json_is_object(of_target(document, 1, "document")));
    assert_int_not_equal(json_integer_value(of_target(document, 1, "exit_code")), 1);
    assert_non_null(strstr(run.err, "fstune: still: does not answer"));
    json_decref(document);

    document = whole_night();
    assert_string_equal(text_of(document, 0, "verdict"), "skipped");
    assert_non_null(strstr(text_of(document, 0, "reason"), "one that stalled still holds it"));
    assert_true(json_is_object(of_target(document, 1, "document")));
    json_decref(document);

    thaw(pid);
    assert_int_equal(system("sed -i 's/\"3s\"/\"30s\"/g' two.conf"), 0); /* however busy the machine is */
    document = whole_night();
    assert_true(json_is_object(of_target(document, 0, "document")));
    json_decref(document);
}

TEST(a_signal_ends_a_night_that_stands_still_and_every_target_has_a_line)
{
    freeze();
    rig_start(&run, NULL, night_of_two);
    usleep(1500000);
    assert_int_equal(kill(run.pid, SIGINT), 0);
    rig_finish(&run);
    assert_int_equal(run.code, 128 + SIGINT);
    json_auto_t *document = rig_json(&run);
    assert_true(json_is_true(json_object_get(document, "interrupted")));
    assert_string_equal(text_of(document, 0, "reason"), "interrupted before anything could be measured");
    assert_string_equal(text_of(document, 1, "verdict"), "interrupted");
    assert_string_equal(text_of(document, 1, "text"), "not begun: a signal ended the night before");
    thaw(0x7fffffff); /* nobody's */
}
