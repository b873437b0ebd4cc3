/* Tests of fstune profile --live as a user sees it: on a terminal, and without one. */
#include "bench/collector/profile.h"
#include "tests/child.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

static char program[4096]; /* this one */

static bool find_us(void)
{
    return readlink("/proc/self/exe", program, sizeof program - 1) > 0 && rig_find_program();
}

GROUP_NEEDS(find_us);
GROUP(rig_enter, rig_leave);

/* This program again, as one to be recorded: it writes these many blocks. */
static void write_blocks(int n)
{
    char block[4096] = {0};
    int fd = open("written", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < n; i++) {
        if (pwrite(fd, block, sizeof block, (off_t)i * (off_t)sizeof block) != sizeof block)
            _exit(9);
    }
    close(fd);
}

/* The last request comes when the program ends, so that the profile ends with it. */
__attribute__((constructor)) static void act_as_program(void)
{
    const char *role = getenv("LIVE_TEST_ROLE");
    if (role == NULL)
        return;
    write_blocks(strcmp(role, "reset") == 0 ? 1000 : 400);
    usleep(strcmp(role, "pause") == 0 ? 300000 : 1200000);
    if (strcmp(role, "reset") == 0) {
        fst_profile_reset();
        write_blocks(400);
        usleep(1200000);
    } else if (strcmp(role, "pause") == 0) {
        fst_profile_stop();
        usleep(1200000);
        fst_profile_start();
        usleep(300000);
    } else
        usleep(1500000);
    write_blocks(1);
    _exit(0);
}

static int terminal = -1, control = -1; /* and its other end */
static char seen[1 << 16];
static size_t n_seen;

static void open_terminal(void)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    n_seen = 0;
    control = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (control < 0 || grantpt(control) != 0 || unlockpt(control) != 0)
        skip(); /* a sandbox without terminals */
    terminal = open(ptsname(control), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
}

/* The terminal becomes that of the child, whose output still goes to files. */
static bool on_terminal(void)
{
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    return setsid() >= 0 && ioctl(terminal, TIOCSCTTY, 0) == 0 && dup2(terminal, STDIN_FILENO) >= 0;
}

/* And its output goes there, too. */
static bool printing_to_terminal(void)
{
    return on_terminal() && dup2(terminal, STDOUT_FILENO) >= 0 && dup2(terminal, STDERR_FILENO) >= 0;
}

/* Until all have closed it; `press` is typed once `after` was seen. */
static void watch_terminal(const char *after, const char *press)
{
    ssize_t n;
    close(terminal);
    while (n_seen < sizeof seen - 1 && (n = read(control, seen + n_seen, sizeof seen - 1 - n_seen)) > 0) {
        n_seen += (size_t)n;
        seen[n_seen] = '\0';
        if (after != NULL && strstr(seen, after) != NULL) {
            assert_int_equal(write(control, press, strlen(press)), strlen(press));
            after = NULL;
        }
    }
    seen[n_seen] = '\0';
    close(control);
}

static const char *last_frame(void)
{
    const char *frame = strstr(seen, "\033[J");
    assert_non_null(frame);
    for (const char *next = frame; (next = strstr(frame + 1, "\033[J")) != NULL;)
        frame = next;
    return frame;
}

static const char *const arguments[] = {
    "profile",
    "--live",
    "--output",
    "profile.json",
    "--",
    "sh",
    "-c",
    "dd if=/dev/zero of=f bs=4k count=300 status=none; sleep 1.3; exec dd if=f of=g bs=8k status=none",
    NULL};

static int64_t requests_of_document(void)
{
    json_t *document = json_load_file("profile.json", 0, NULL);
    assert_non_null(document);
    int64_t n = json_integer_value(json_object_get(document, "events"));
    json_decref(document);
    return n;
}

TEST(figures_stand_on_the_terminal_and_go_at_the_end)
{
    struct rig_run run = {0};
    open_terminal();
    rig_start(&run, on_terminal, arguments);
    watch_terminal(NULL, NULL);
    rig_finish(&run);
    assert_int_equal(run.code, 0);
    assert_non_null(strstr(seen, "sh -c dd if=/dev/zero of=f"));
    assert_non_null(strstr(seen, "write, in sequence "));
    assert_non_null(strstr(seen, "/f "));
    assert_string_equal(last_frame(), "\033[J");
    /* Nothing but in place, and nothing that would have to be put back: no cursor hidden, no other screen. */
    assert_null(strstr(seen, "\033[?"));
    assert_non_null(strstr(run.out, "Pattern "));
    assert_null(strstr(run.out, "\033"));
    rig_free(&run);
}

TEST(ctrl_c_removes_the_figures_and_keeps_the_profile)
{
    static const char *const endless[] = {
        "profile", "--live", "--output", "profile.json",
        "--",      "sh",     "-c",       "dd if=/dev/zero of=f bs=4k count=300 status=none; exec sleep 100",
        NULL};
    struct rig_run run = {0};
    open_terminal();
    rig_start(&run, on_terminal, endless);
    watch_terminal("write, in sequence", "\003");
    rig_finish(&run);
    assert_int_equal(run.code, 128 + SIGINT);
    assert_string_equal(last_frame(), "\033[J");
    assert_int_equal(requests_of_document(), 300);
    rig_free(&run);
}

TEST(a_program_that_is_killed_leaves_the_terminal_clean)
{
    static const char *const killed[] = {
        "profile", "--live", "--output", "profile.json", "--", "sh", "-c", "sleep 1.3; kill -9 $$", NULL};
    struct rig_run run = {0};
    open_terminal();
    rig_start(&run, on_terminal, killed);
    watch_terminal(NULL, NULL);
    rig_finish(&run);
    assert_int_equal(run.code, 5);
    assert_string_equal(last_frame(), "\033[J");
    rig_free(&run);
}

TEST(beside_what_the_program_prints_there_are_lines)
{
    struct rig_run run = {0};
    open_terminal();
    rig_start(&run, printing_to_terminal, arguments);
    watch_terminal(NULL, NULL);
    rig_finish(&run);
    assert_int_equal(run.code, 0);
    assert_null(strstr(seen, "\033["));
    assert_non_null(strstr(seen, "fstune: a line each second"));
    assert_non_null(strstr(seen, "   1 s: "));
    assert_int_equal(requests_of_document(), 300 + 2 * 150);
    assert_non_null(strstr(seen, " 600 requests, 3.69 MB: "));
    rig_free(&run);
}

TEST(the_document_stays_alone_on_standard_output)
{
    struct rig_run run = {0};
    rig_run(&run, NULL, "profile", "--live", "--json", "--", "sh", "-c",
            "dd if=/dev/zero of=f bs=4k count=300 status=none; sleep 1.3", NULL);
    assert_int_equal(run.code, 0);
    json_decref(rig_json(&run));
    assert_non_null(strstr(run.err, "   1 s: "));
    assert_non_null(strstr(run.err, " 300 requests, 1.23 MB: write\n"));
    assert_null(strstr(run.err, "\033"));
    rig_free(&run);
}

TEST(an_import_has_nothing_to_show)
{
    rig_refused("profile --live --import msr absent.csv", 2, "--live: shows a program while it runs");
}

static json_t *profiled;

/* The mean of the last line, requests a second. The role's document is kept. */
static double mean_of(struct rig_run *run, const char *role, const char *source, const char *duration)
{
    double mean = -1;
    setenv("LIVE_TEST_ROLE", role, 1);
    rig_run(run, NULL, "profile", "--live", "--json", "--source", source, "--duration", duration, "--",
            program, NULL);
    unsetenv("LIVE_TEST_ROLE");
    if (run->code == 2 && strstr(run->err, "by the kernel") != NULL) {
        rig_free(run);
        skip();
    }
    assert_int_equal(run->code, 0);
    json_decref(profiled);
    profiled = rig_json(run);
    const char *line = strstr(run->err, "  mean: ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " mean: %lf/s", &mean), 1);
    return mean;
}

/* As the profile says it. */
static double mean_of_document(void)
{
    double seconds = json_number_value(json_object_get(profiled, "seconds")) -
                     json_number_value(json_object_get(profiled, "paused_s"));
    return json_number_value(json_object_get(profiled, "events")) / seconds;
}

TEST(a_program_that_begins_anew_has_its_figures_begin_anew)
{
    struct rig_run run = {0};
    double mean = mean_of(&run, "reset", "preload", "1m"), second = 0;
    const char *line = strchr(run.err, '\n');
    CHECK_JSON(profiled, "events=401");
    assert_close(mean, mean_of_document(), 0.25 * mean_of_document());
    assert_non_null(line);
    assert_int_equal(sscanf(line + 1, "%*[^:]: %lf/s", &second), 1);
    assert_true(second > 0);
    rig_free(&run);
}

TEST(a_pause_is_in_no_mean)
{
    struct rig_run run = {0};
    double mean = mean_of(&run, "pause", "preload", "1m");
    assert_close(mean, mean_of_document(), 0.25 * mean_of_document());
    rig_free(&run);
}

static void check_duration(const char *source)
{
    struct rig_run run = {0};
    double mean = mean_of(&run, "duration", source, "1300ms");
    CHECK_JSON(profiled, "events=400");
    assert_close(mean, 400 / 1.3, 0.25 * 400 / 1.3);
    assert_non_null(strstr(run.err, " 1 s: "));
    assert_null(strstr(run.err, " 2 s: "));
    rig_free(&run);
}

TEST(the_mean_ends_with_the_recording)
{
    check_duration("preload");
    check_duration("trace");
}
