/* The neighbour passes its observation points in order, alone or beside a command, and nothing of either is
 * left behind. */
#include "bench/observe/neighbour.h"
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define N_POINTS 4

static struct reference reference;
static struct observer observer;
static struct err err;
static char directory[] = "/tmp/fstune-neighbour-XXXXXX";
static double times_s[N_POINTS];

FIXTURE(make_directory)
{
    return mkdtemp(directory) == NULL;
}

FIXTURE(remove_directory)
{
    return rmdir(directory); /* fails unless it is empty */
}

FIXTURE(close_both)
{
    observer_close(&observer);
    reference_close(&reference);
    return 0;
}

GROUP(make_directory, remove_directory);
EACH_TEST(NULL, close_both);

static void open_both(enum reference_kind kind, enum observer_kind how)
{
    err = (struct err){0};
    assert_int_equal(reference_open(&reference, kind, directory, N_POINTS, &err), 0);
    int result = observer_open(&observer, how, reference.planted, N_POINTS, &err);
    if (result == -EPERM) {
        print_message("%s\n", err.text);
        skip();
    }
    assert_int_equal(result, 0);
    reference.n_steps = 8;
}

static int run_beside(const char *const *command, struct neighbour_run *run)
{
    struct neighbour neighbour = {
        .reference = &reference, .observer = &observer, .interrupt_fd = -1, .settle_ns = 50000000};
    *run = (struct neighbour_run){.times_s = times_s};
    return neighbour_run(&neighbour, command, run, &err);
}

static void check_times(void)
{
    assert_close(times_s[0], 0, 0);
    for (size_t i = 1; i < N_POINTS; i++)
        assert_true(times_s[i] > times_s[i - 1]);
}

static void check_run(enum reference_kind kind, enum observer_kind how)
{
    struct neighbour_run run;
    open_both(kind, how);
    assert_int_equal(run_beside(NULL, &run), 0);
    check_times();
    for (size_t i = 0; i < reference_n_steps(&reference); i++)
        assert_true(reference.board->step_ns[i] > 0);
    /* A second run is seen anew. */
    times_s[1] = -1;
    assert_int_equal(run_beside(NULL, &run), 0);
    check_times();
}

TEST(fanotify_sees_every_point)
{
    check_run(REFERENCE_FILES, OBSERVER_FANOTIFY);
}

TEST(inotify_sees_every_point)
{
    check_run(REFERENCE_FILES, OBSERVER_INOTIFY);
}

TEST(the_reference_sees_itself)
{
    check_run(REFERENCE_CPU, OBSERVER_SELF);
}

TEST(a_reference_of_memory_runs)
{
    check_run(REFERENCE_MEMORY, OBSERVER_SELF);
}

TEST(a_point_that_was_not_passed_makes_no_run)
{
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_INOTIFY);
    observer.key[2].watch = -5; /* as if the event were lost */
    assert_int_equal(run_beside(NULL, &run), -EOVERFLOW);
    assert_contains(err.text, "point 2");
}

TEST(where_one_look_saw_two_points_the_references_own_times_count)
{
    static const uint64_t fine_ns[] = {1, 2, 3}, late_ns[] = {1, 3, 3}, lost_ns[] = {1, 0, 3},
                          own_ns[] = {4, 5, 6};
    const uint64_t *times_ns;
    assert_int_equal(neighbour_choose_times(fine_ns, own_ns, 3, &times_ns, &err), 0);
    assert_ptr_equal(times_ns, fine_ns);
    assert_int_equal(neighbour_choose_times(late_ns, own_ns, 3, &times_ns, &err), 0);
    assert_ptr_equal(times_ns, own_ns);
    assert_int_equal(neighbour_choose_times(lost_ns, own_ns, 3, &times_ns, &err), -EOVERFLOW);
    assert_int_equal(neighbour_check_points(late_ns, 3, true, &err), 0);
    assert_int_equal(neighbour_check_points(lost_ns, 3, true, &err), -EOVERFLOW);
}

TEST(a_command_that_ends_is_started_again)
{
    static const char *const command[] = {"/bin/sh", "-c", "exit 0", NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    reference.n_steps = 256;
    assert_int_equal(run_beside(command, &run), 0);
    assert_true(run.work.completed > 1);
}

TEST(the_command_and_what_it_started_end_with_the_run)
{
    char line[128], pid_file[64], text[16] = "";
    snprintf(pid_file, sizeof pid_file, "%s/pid", directory);
    snprintf(line, sizeof line, "trap '' TERM; sleep 1000 & echo $! >%s; wait", pid_file);
    const char *const command[] = {"/bin/sh", "-c", line, NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    assert_int_equal(run_beside(command, &run), 0);
    AUTO(auto_fclose) FILE *in = fopen(pid_file, "re");
    assert_non_null(in);
    assert_non_null(fgets(text, sizeof text, in));
    unlink(pid_file);
    assert_int_equal(kill((pid_t)strtol(text, NULL, 10), 0), -1);
    assert_int_equal(errno, ESRCH);
}

/* Each of its runs leaves a process that holds the pipe open. */
TEST(what_a_command_leaves_each_time_ends_as_well)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    static const char *const command[] = {"/bin/sh", "-c", "sleep 30 & exit 0", NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    reference.n_steps = 256;
    int saved = dup(STDERR_FILENO);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    int result = run_beside(command, &run);
    dup2(saved, STDERR_FILENO);
    close(saved);
    struct pollfd end = {.fd = fds[0], .events = POLLIN};
    int n_ended = poll(&end, 1, 5000);
    close(fds[0]);
    assert_int_equal(result, 0);
    assert_true(run.work.completed > 1);
    assert_int_equal(n_ended, 1);
}

/* In a process that is killed while its command and the reference run. */
static void be_killed_beside(const char *const *command, int told_fd)
{
    struct neighbour_run run;
    dup2(told_fd, STDERR_FILENO);
    close(told_fd);
    reference.n_steps = REFERENCE_MAX_STEPS;
    (void)run_beside(command, &run);
    _exit(1);
}

TEST(nothing_of_a_command_is_left_when_we_are_killed)
{
    static const char *const command[] = {"/bin/sh", "-c", "sleep 60 & printf x >&2; wait", NULL};
    char byte;
    int fds[2];
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t owner = fork();
    if (owner == 0)
        be_killed_beside(command, fds[1]);
    close(fds[1]);
    ssize_t n = read(fds[0], &byte, 1);
    usleep(100000); /* until its guard is there */
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    struct pollfd end = {.fd = fds[0], .events = POLLIN};
    int n_ended = poll(&end, 1, 20000);
    close(fds[0]);
    assert_int_equal(n, 1);
    assert_int_equal(n_ended, 1);
}

/* The line adds the number of what leaves the group to the file that it is given, each time that it runs. */
static void check_that_it_ends(const char *before, const char *behind, struct neighbour_run *run)
{
    char line[160], pid_file[64], text[16] = "";
    snprintf(pid_file, sizeof pid_file, "%s/pid", directory);
    snprintf(line, sizeof line, "%s%s%s", before, pid_file, behind);
    const char *const command[] = {"/bin/sh", "-c", line, NULL};
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    reference.n_steps = 128;
    assert_int_equal(run_beside(command, run), 0);
    AUTO(auto_fclose) FILE *in = fopen(pid_file, "re");
    assert_non_null(in);
    unlink(pid_file);
    assert_non_null(fgets(text, sizeof text, in));
    do {
        const pid_t pid = (pid_t)strtol(text, NULL, 10);
        for (int i = 0; i < 30000 && kill(pid, 0) == 0; i++)
            usleep(1000); /* until its new parent has taken note */
        assert_int_equal(kill(pid, 0), -1);
    } while (fgets(text, sizeof text, in) != NULL);
}

TEST(what_left_the_command_s_group_is_counted_and_ends_as_well)
{
    struct neighbour_run run;
    check_that_it_ends("setsid sh -c 'echo $$ >>", "; while :; do :; done' & wait", &run);
    assert_true(run.work.cpu_s > 0);
}

TEST(a_daemon_of_the_command_ends_with_it)
{
    struct neighbour_run run;
    check_that_it_ends("(setsid sh -c 'echo $$ >>", "; sleep 1000; exit 0' &); sleep 1000", &run);
}

TEST(a_daemon_of_a_command_that_ends_itself_ends_with_it)
{
    struct neighbour_run run;
    check_that_it_ends("(setsid sh -c 'echo $$ >>", "; sleep 1000; exit 0' &); sleep 0.03", &run);
}

TEST(what_the_command_computed_is_counted)
{
    static const char *const command[] = {"/bin/sh", "-c", "while :; do :; done", NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    reference.n_steps = 128;
    assert_int_equal(run_beside(command, &run), 0);
    assert_true(run.work.cpu_s > 0);
    assert_close(run.work.completed, 0, 0);
}

TEST(a_command_that_fails_is_an_error_with_its_code)
{
    static const char *const command[] = {"/bin/sh", "-c", "exit 3", NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    assert_int_equal(run_beside(command, &run), -ECANCELED);
    assert_contains(err.text, "exit code 3");
}

TEST(a_command_that_is_not_there_is_an_error)
{
    static const char *const command[] = {"/absent/program", NULL};
    struct neighbour_run run;
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    assert_int_equal(run_beside(command, &run), -ENOENT);
}

TEST(an_interrupt_ends_a_run)
{
    static atomic_int interrupted = SIGINT;
    struct neighbour_run run = {.times_s = times_s};
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    struct neighbour neighbour = {
        .reference = &reference, .observer = &observer, .interrupt_fd = -1, .interrupted = &interrupted};
    assert_int_equal(neighbour_run(&neighbour, NULL, &run, &err), -EINTR);
}

TEST(a_neighbour_that_does_not_end_is_given_up)
{
    struct neighbour_run run = {.times_s = times_s};
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    reference.n_steps = REFERENCE_MAX_STEPS;
    struct neighbour neighbour = {
        .reference = &reference, .observer = &observer, .interrupt_fd = -1, .timeout_ns = 1};
    assert_int_equal(neighbour_run(&neighbour, NULL, &run, &err), -ETIMEDOUT);
}

TEST(a_directory_that_is_not_there_is_refused)
{
    assert_int_equal(reference_open(&reference, REFERENCE_FILES, "/absent", N_POINTS, &err), -ENOENT);
}

TEST(its_size_follows_the_time_that_it_may_take)
{
    open_both(REFERENCE_CPU, OBSERVER_SELF);
    assert_int_equal(reference_size(&reference, 1, &err), 0);
    const uint32_t least = reference.n_steps;
    assert_int_equal(reference_size(&reference, 3600000000000ULL, &err), 0);
    assert_true(least > 0 && least < reference.n_steps);
    assert_int_equal(reference.n_steps, REFERENCE_MAX_STEPS);
}

static void open_command(const char *command)
{
    err = (struct err){0};
    assert_int_equal(reference_open_command(&reference, command, directory, N_POINTS, NULL, &err), 0);
    int result = observer_open(&observer, OBSERVER_N, reference.planted, reference.n_planted, &err);
    assert_int_equal(result, 0);
}

TEST(a_command_passes_its_start_the_files_that_it_opens_and_its_end)
{
    struct neighbour_run run;
    /* The shell itself opens them: of a process that has ended nobody knows whose it was. */
    open_command(
        "exec 3</etc/passwd; sleep 0.05; exec 3</etc/group; sleep 0.05; exec 3</etc/hostname; sleep 0.05");
    if (observer.kind != OBSERVER_FANOTIFY || reference.n_planted == 0) {
        print_message("opens of other programs cannot be seen here\n");
        skip();
    }
    assert_int_equal(reference.n_points, N_POINTS);
    assert_int_equal(run_beside(NULL, &run), 0);
    assert_close(times_s[0], 0, 0);
    for (size_t i = 1; i < N_POINTS; i++)
        assert_true(times_s[i] > times_s[i - 1]);
    /* The sleeps lie between. */
    assert_true(times_s[N_POINTS - 1] >= 0.15);
}

TEST(a_command_that_is_not_observed_has_a_start_and_an_end)
{
    struct neighbour_run run;
    open_command("exit 0");
    for (size_t i = 0; i < reference.n_planted; i++)
        close(reference.planted[i]);
    reference.n_planted = 0;
    reference.n_points = 2;
    assert_int_equal(run_beside(NULL, &run), 0);
    assert_true(times_s[1] > 0);
}

TEST(a_reference_that_fails_is_an_error)
{
    assert_int_equal(reference_open_command(&reference, "exit 3", directory, N_POINTS, NULL, &err),
                     -ECANCELED);
    assert_contains(err.text, "exit code 3");
}
