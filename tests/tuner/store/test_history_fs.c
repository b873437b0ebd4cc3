/* Tests of a history on a real file system: writers killed at random moments, a disk that is full.
 * HISTORY_KILLS in the environment: how many kills of the tight writer, 20 by default
 * (tests/study/history_kills). */
#include "tests/tuner/store/history_rig.h"

#include "bench/base/clock.h"
#include "bench/base/rng.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

GROUP(rig_enter, rig_leave);

#define KILLS      20
#define PATH       "killed.db"
#define LONGEST_NS 60000000ULL
/* The end of a run waits for the disk, so that most kills would meet it where runs are short. */
#define SHORT_RUN    20
#define LONG_RUN     5000
#define FINISHED_BIT (1ULL << 63)

/* What the writer reports, after the call came back: the run and the number of the replay, or that the run is
 * finished. */
struct report {
    int64_t run_id;
    uint64_t number;
};

static bool tell(int fd, int64_t run_id, uint64_t number)
{
    const struct report report = {run_id, number};
    return write(fd, &report, sizeof report) == (ssize_t)sizeof report;
}

static int write_for_ever(int fd, uint64_t run_replays)
{
    if (open_at(&history, PATH, true) != 0)
        return 1;
    for (;;) {
        int64_t run_id;
        if (history_begin_run(&history, &child_header, &run_id, &err) != 0)
            return 2;
        for (uint64_t i = 0; i < run_replays; i++) {
            struct history_replay replay = replay_of(i, i % 2 == 0 ? &fast : &slow, 1e8 + (double)i);
            if (history_add_replay(&history, run_id, &replay, &err) != 0 || !tell(fd, run_id, i))
                return 3;
        }
        json_t *answer = answer_of(1e8);
        if (history_finish_run(&history, run_id, HISTORY_DONE, 0, answer, &err) != 0 ||
            !tell(fd, run_id, FINISHED_BIT))
            return 4;
        json_decref(answer);
    }
}

/* What was reported is there; the last report may be older than the last write, never newer. */
static void check_reported(const struct report *last, uint64_t run_replays, bool finished)
{
    struct history_replay *replays;
    size_t n;
    if (open_at(&history, PATH, true) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(n_findings(), 0);
    if (last->run_id == 0) {
        history_close(&history);
        return;
    }
    const struct history_info info = info_of(last->run_id);
    assert_int_equal(history_replays(&history, last->run_id, &replays, &n, &err), 0);
    assert_true(n > 0);
    assert_true(finished ? n == run_replays && info.status == HISTORY_DONE && info.has_point
                         : n > last->number);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(replays[i].number, i);
        assert_close(replays[i].sample.throughput_bps, 1e8 + (double)i, 1e-6);
    }
    free(replays);
    history_close(&history);
}

/* await: the time until the kill begins with the first report, else with the writer. */
static void kill_once(struct rng *rng, uint64_t run_replays, bool await, size_t *n_reports)
{
    int pipes[2], status;
    struct report report, last = {0, 0};
    bool finished = false;
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pipes[0]);
        _exit(write_for_ever(pipes[1], run_replays));
    }
    close(pipes[1]);
    if (await) {
        struct pollfd first = {.fd = pipes[0], .events = POLLIN};
        poll(&first, 1, 10000);
    }
    clock_sleep_until_ns(&clock_monotonic,
                         clock_now_ns(&clock_monotonic) + (uint64_t)(rng_uniform(rng) * (double)LONGEST_NS));
    kill(pid, SIGKILL);
    while (read(pipes[0], &report, sizeof report) == (ssize_t)sizeof report) {
        finished = (report.number & FINISHED_BIT) != 0;
        last = report;
        ++*n_reports;
    }
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    check_reported(&last, run_replays, finished);
}

TEST(nothing_that_was_reported_is_lost_by_kills)
{
    const char *request = getenv("HISTORY_KILLS");
    uint64_t n = request != NULL ? strtoull(request, NULL, 10) : KILLS;
    size_t n_reports = 0;
    struct rng rng;
    rng_init(&rng, rng_seed_from_system());
    for (uint64_t i = 0; i < n; i++) {
        /* Half of them meet a new file. */
        if (i % 2 == 0) {
            unlink(PATH);
            unlink(PATH "-wal");
            unlink(PATH "-shm");
            unlink(PATH "-journal");
        }
        kill_once(&rng, i % 4 < 2 ? LONG_RUN : SHORT_RUN, i % 3 > 0, &n_reports);
    }
    print_message("# %llu kills of a tight writer, %zu reports of saved replays and runs, none lost\n",
                  (unsigned long long)n, n_reports);
    assert_true(n_reports >= n / 2);
}

TEST(killed_commands_leave_what_they_measured)
{
    int status;
    status = system("$KILLS_SCRIPT --smoke .");
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 127)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The room ends while the file is made, at the run's beginning, on the way, at its end: KiB of 1 MiB. */
TEST(a_lost_history_names_the_file_the_first_reason_and_the_remedy)
{
    char fill[64];
    size_t n_lost = 0, n_wrong = 0, n_broken = 0;
    assert_int_equal(mkdir("tight", 0700), 0);
    rig_simulator("peak", "run_cv = 0.02; setup_seconds = 0.05;", rig_peak_bps);
    for (size_t kib = 840; kib <= 960; kib += 12) {
        struct rig_run run;
        if (mount("tmpfs", "tight", "tmpfs", 0, "size=1m,mode=700") != 0) {
            rmdir("tight");
            skip();
        }
        snprintf(fill, sizeof fill, "head -c %zuK /dev/zero >tight/fill", kib);
        assert_int_equal(system(fill), 0);
        rig_run_line(&run, "measure --quiet --pattern randwrite --simulate peak.conf --request-size 64k "
                           "--queue-depth 4 --direct 1 --api io_uring --replays 3 --duration 100ms --save "
                           "tight/h.db");
        n_lost += run.err[0] != '\0';
        n_wrong += run.err[0] != '\0' &&
                   (strstr(run.err, "tight/h.db") == NULL || strstr(run.err, "the disk is full") == NULL ||
                    strstr(run.err, "make room") == NULL);
        rig_free(&run);
        /* What was begun is a history still; reading needs room for the index of its log. */
        unlink("tight/fill");
        n_broken += run.code == 0 && open_at(&history, "tight/h.db", false) != 0;
        history_close(&history);
        umount("tight");
    }
    rmdir("tight");
    assert_true(n_lost > 4);
    assert_int_equal(n_wrong, 0);
    assert_int_equal(n_broken, 0);
}

static bool find_what_is_needed(void)
{
    char script[PATH_MAX], program[PATH_MAX];
    if (!rig_find_program() || realpath("tests/study/history_kills", script) == NULL ||
        realpath(getenv("FSTUNE"), program) == NULL)
        return false;
    setenv("FSTUNE", program, 1);
    setenv("KILLS_SCRIPT", script, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    return true;
}

GROUP_NEEDS(find_what_is_needed);
