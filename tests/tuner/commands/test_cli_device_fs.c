/* Tests of the whole program on a block device: a loop device over the test's own file, behind a link. */
#include "tests/tuner/commands/cli_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define DISK_BYTES (64U << 20)
#define WORDS      "--overwrite --destroy-device 67108864 "
#define MEASURE    "measure --quiet --no-lock --existing disk --pattern "
#define SHORT      "--replays 1 --duration 50ms "
#define POINT      "--request-size 16k --queue-depth 1 --direct 1 --api psync " SHORT

static char loop[64];

static int shell(const char *command)
{
    return system(command);
}

FIXTURE(leave)
{
    char command[128];
    snprintf(command, sizeof command, "losetup -d '%s'", loop);
    if (loop[0] != '\0' && shell(command) != 0)
        fprintf(stderr, "%s stays\n", loop);
    loop[0] = '\0';
    return rig_leave(test_state);
}

static bool attach(const char *image)
{
    char command[128];
    snprintf(command, sizeof command, "losetup --find --show --direct-io=on %s 2>/dev/null", image);
    FILE *output = popen(command, "re");
    bool named = output != NULL && fgets(loop, sizeof loop, output) != NULL;
    loop[strcspn(loop, "\n")] = '\0';
    if (output == NULL || pclose(output) != 0 || !named)
        loop[0] = '\0';
    return loop[0] != '\0';
}

/* The image is full of blocks that look random and are no signature; `copy` is what it was. */
FIXTURE(enter)
{
    if (rig_enter(test_state) != 0)
        return -1;
    rig_write_blocks("image", DISK_BYTES);
    return shell("cp image copy") != 0 || (attach("image") && symlink(loop, "disk") != 0) ? -1 : 0;
}

EACH_TEST(enter, leave);
GROUP_NEEDS(rig_find_program);

static void need_disk(void)
{
    if (loop[0] == '\0') {
        print_message("skipped: no loop device can be set up\n");
        skip();
    }
}

static bool is_untouched(void)
{
    return shell("sync image && cmp -s image copy") == 0;
}

TEST(nothing_is_written_without_the_words)
{
    static const struct cli_failure lines[] = {
        {MEASURE "randwrite " POINT, "67108864 bytes (67.1 MB), "},
        {MEASURE "randwrite --overwrite " POINT, "add --destroy-device 67108864"},
        {MEASURE "write --overwrite --destroy-device 64g " POINT, "says 68719476736 bytes"},
        {MEASURE "randrw:99 --overwrite " POINT, "add --destroy-device 67108864"},
        {MEASURE "randwrite --dry-run " POINT, "would destroy all that is on it"},
        {"recommend --no-lock --quiet --existing disk --pattern randwrite --dry-run",
         "would destroy all that is on it"},
        {"experiment --no-lock --quiet --existing disk --pattern randwrite --overwrite",
         "add --destroy-device"},
    };
    need_disk();
    CLI_ALL_FAIL(2, lines);
    assert_true(is_untouched());
}

TEST(words_that_do_not_fit_are_refused)
{
    static const struct cli_failure lines[] = {
        {MEASURE "randwrite --destroy-device 64m " POINT, "--overwrite"},
        {MEASURE "randwrite --overwrite --ignore-signature " POINT, "--destroy-device"},
        {"measure --quiet --existing copy --pattern randwrite " WORDS POINT,
         "is a file and not a block device"},
    };
    need_disk();
    CLI_ALL_FAIL(2, lines);
    assert_true(is_untouched());
}

static bool say_yes(void)
{
    int fd = open("yes", O_RDONLY | O_CLOEXEC);
    return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO;
}

TEST(nobody_is_asked_and_no_answer_counts)
{
    need_disk();
    rig_write("yes", "y\nyes\nYES\n67108864\n");
    rig_run_line_as(cli_next(), say_yes, MEASURE "randwrite " POINT);
    rig_check_error(&run, 2, "add --overwrite --destroy-device 67108864");
    assert_true(is_untouched());
}

TEST(signature_keeps_what_is_there)
{
    need_disk();
    if (shell("mkfs.ext4 -q -F disk >/dev/null 2>&1 && sync image && cp image copy") != 0)
        skip();
    cli_fails(2, "add --ignore-signature", MEASURE "randwrite " WORDS POINT);
    assert_true(is_untouched());
    rig_run_line(cli_next(), MEASURE "randwrite " WORDS "--ignore-signature " POINT);
    assert_int_equal(run.code, 0);
    assert_false(is_untouched());
}

TEST(plan_says_what_is_destroyed)
{
    need_disk();
    rig_run_line(cli_next(), "measure --no-lock --existing disk --pattern randwrite --dry-run " WORDS POINT);
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(run.out, "block device disk of 64m, whose contents are destroyed, at most "));
    json_t *plan =
        cli_json(0, "measure --no-lock --existing disk --pattern randwrite --dry-run --json " WORDS POINT);
    assert_true(json_is_true(json_at(plan, "block_device")));
    assert_int_equal(cli_integer(plan, "file_bytes"), DISK_BYTES);
    assert_true(is_untouched());
}

TEST(writes_go_to_the_device)
{
    struct stat image;
    need_disk();
    json_t *document = cli_json(0, MEASURE "randwrite --json " WORDS POINT);
    cli_has_text(document, "system.file_system", "block device");
    cli_has_text(document, "system.path", loop);
    cli_has_text(document, "system.mount_source", loop);
    assert_int_equal(cli_integer(document, "system.device_bytes"), DISK_BYTES);
    assert_true(json_is_string(json_at(document, "system.write_cache")));
    assert_true(json_is_number(json_at(document, "system.discard_max_bytes")));
    assert_true(json_is_true(json_at(document, "system.direct_write_proved")));
    assert_false(is_untouched());
    assert_int_equal(stat("image", &image), 0);
    assert_int_equal(image.st_size, DISK_BYTES);
}

TEST(reading_changes_nothing)
{
    need_disk();
    json_t *document =
        cli_json(CLI_ANY, "recommend --quiet --no-lock --existing disk --pattern randread --budget 2s "
                          "--request-size 16k,64k --queue-depth 1,4 --json");
    CHECK_JSON(document, "search.bytes_written=0", "system.cache=cold");
    document = cli_json(CLI_ANY, "doctor --quiet --no-lock --existing disk --json");
    cli_has_text(document, "system.path", loop);
    assert_true(cli_number(document, "noise_floor.replays") > 0);
    rig_run_line(cli_next(),
                 "experiment --quiet --no-lock --existing disk --pattern randread --queue-depth 1,2 "
                 "--replays 2 --duration 50ms");
    assert_int_equal(run.code, 0);
    assert_true(is_untouched());
}

TEST(snippet_is_for_the_device_that_was_measured)
{
    need_disk();
    rig_run_line(cli_next(), "recommend --quiet --no-lock --existing disk --pattern randread --budget 2s "
                             "--request-size 16k --queue-depth 1,4 --json");
    rig_write("answer.json", "%s", run.out);
    rig_run_line(cli_next(), "emit qemu --from answer.json");
    assert_non_null(strstr(run.out, "driver=host_device,node-name=fst-f0,filename=/dev/loop"));
    rig_run_line(cli_next(), "emit libvirt --from answer.json --image /dev/nvme9n1");
    assert_non_null(strstr(run.out, "<disk type='block' device='disk'>"));
    cli_fails(2, "never touches one", "emit fio --from answer.json");
}

TEST(killed_program_leaves_the_device_free)
{
    static const char *const writing[] = {"measure",
                                          "--quiet",
                                          "--no-lock",
                                          "--existing",
                                          "disk",
                                          "--pattern",
                                          "randwrite",
                                          "--overwrite",
                                          "--destroy-device",
                                          "64m",
                                          "--request-size",
                                          "16k",
                                          "--queue-depth",
                                          "1",
                                          "--direct",
                                          "1",
                                          "--api",
                                          "psync",
                                          "--duration",
                                          "20s",
                                          NULL};
    need_disk();
    rig_start(cli_next(), NULL, writing);
    usleep(1500000);
    int fd = open("disk", O_RDONLY | O_EXCL | O_CLOEXEC);
    assert_true(fd < 0);
    assert_int_equal(kill(run.pid, SIGKILL), 0);
    rig_finish(&run);
    fd = open("disk", O_RDONLY | O_EXCL | O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
}

/* In turn: the kernel takes the image away once nobody has the device open. */
TEST(device_that_is_detached_meanwhile_is_measured_to_the_end)
{
    static const char *const reading[] = {"measure", "--quiet",       "--no-lock", "--existing",
                                          "disk",    "--pattern",     "randread",  "--request-size",
                                          "16k",     "--queue-depth", "1",         "--direct",
                                          "1",       "--api",         "psync",     "--replays",
                                          "5",       "--duration",    "500ms",     NULL};
    char command[128];
    need_disk();
    rig_start(cli_next(), NULL, reading);
    usleep(500000);
    snprintf(command, sizeof command, "losetup -d '%s'", loop);
    assert_int_equal(shell(command), 0);
    rig_finish(&run);
    loop[0] = '\0';
    assert_int_equal(run.code, 0);
    assert_true(is_untouched());
}
