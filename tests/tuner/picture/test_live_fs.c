/* Tests of fstune profile --live as a user sees it: on a terminal, and without one. */
#include "tests/child.h"
#include "tests/tuner/rig.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

GROUP_NEEDS(rig_find_program);
GROUP(rig_enter, rig_leave);

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
